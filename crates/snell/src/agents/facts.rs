//! Types of the fields of a row that the store and the command line read.

/// Variables that a product, or its launcher, sets for hooks.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AgentVariables {
    /// The number of its process.
    pub pid: Option<&'static str>,
    /// The session's id, as the launcher gives it to all that it starts.
    pub launcher_session_id: Option<&'static str>,
    /// The session's id, as the product itself has it.
    pub session_id: Option<&'static str>,
    /// The project's directory.
    pub project_dir: Option<&'static str>,
    /// How often in a row a hook may keep it from ending its turn; 0 means without end.
    pub stop_block_cap: Option<&'static str>,
}

/// Values of `notification_type` that change a product's state.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct NotificationKinds {
    /// It cannot go on before its user answers.
    pub needs_input: &'static [&'static str],
    /// Its user answered.
    pub input_given: &'static [&'static str],
    /// It waits for a prompt.
    pub idle: &'static [&'static str],
    /// Parts of the message of a notification without a type that asks for permission.
    pub permission_phrases: &'static [&'static str],
}

/// A tool by which a product asks its user something.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct QuestionTool {
    /// The tool's name.
    pub name: &'static str,
    /// Where its input has the question.
    pub form: QuestionForm,
}

/// Where the input of a tool has its question.
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
