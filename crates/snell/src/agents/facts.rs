//! Types of the fields of a row that the store and the command line read.

/// Environment variables that a product, or its launcher, sets for hooks.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AgentVariables {
    /// The process id of the product.
    pub pid: Option<&'static str>,
    /// The session's id from the launcher, which all its child processes inherit.
    pub launcher_session_id: Option<&'static str>,
    /// The session's id from the product itself.
    pub session_id: Option<&'static str>,
    /// The project's directory.
    pub project_dir: Option<&'static str>,
    /// How often in a row a hook may keep the agent from stopping. 0 means no limit.
    pub stop_block_cap: Option<&'static str>,
}

/// Values of `notification_type` that change a product's state.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct NotificationKinds {
    /// The agent waits for an answer of its user.
    pub needs_input: &'static [&'static str],
    /// The user answered.
    pub input_given: &'static [&'static str],
    /// The agent waits for a prompt.
    pub idle: &'static [&'static str],
    /// Parts of the message of a permission request that has no type.
    pub permission_phrases: &'static [&'static str],
}

/// A tool with which a product asks its user something.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct QuestionTool {
    /// The tool's name.
    pub name: &'static str,
    /// Where the question is in its input.
    pub form: QuestionForm,
}

/// Where the question is in the input of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuestionForm {
    /// A list of objects, each with its question under `text`.
    List {
        /// The key of the list.
        key: &'static str,
        /// The key of the question in each object.
        text: &'static str,
    },
    /// A string under this key.
    Text(&'static str),
}

/// The format of a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TranscriptFormat {
    /// One JSON object per line, as Claude Code writes it.
    ClaudeJsonl,
    /// A format that Snell does not read.
    Unsupported,
}
