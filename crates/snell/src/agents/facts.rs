//! Types of the fields of a row that the store and the command line read.

/// An event whose name differs from the canonical one.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AgentEventRow {
    /// The product's name.
    pub native: &'static str,
    /// The canonical name, or a name of Claude Code's that is not canonical.
    pub canonical: &'static str,
    /// The canonical tool, if the event is about one tool.
    pub tool: Option<&'static str>,
}

impl EventShape {
    pub(super) const fn new(keys: &'static [&'static str], event: &'static str) -> Self {
        Self { keys, event }
    }
}

impl AgentEventRow {
    pub(super) const fn new(native: &'static str, canonical: &'static str) -> Self {
        Self { native, canonical, tool: None }
    }

    pub(super) const fn for_tool(native: &'static str, canonical: &'static str, tool: &'static str) -> Self {
        Self { native, canonical, tool: Some(tool) }
    }
}

/// The shape of a payload that does not name its event.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct EventShape {
    /// Keys that the payload has.
    pub keys: &'static [&'static str],
    /// The product's name of the event.
    pub event: &'static str,
}

/// How the row of a product is known to be right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvidenceLevel {
    /// Tests run the real program.
    Run,
    /// By its documentation and by recorded payloads.
    Documented,
}

/// The sessions of a product's sub-agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubagentSessions {
    /// Their events have the session of their parent, or name it.
    Linked,
    /// They have sessions of their own. Only the event that starts a sub-agent names both.
    Unlinked,
}

/// The use that a product makes of the standard error of a hook that succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StderrUse {
    /// It is kept in a log, or dropped.
    Hidden,
    /// The user sees it on every event, so Snell writes nothing there.
    ShownToUser,
}

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
    /// Variables that tell whether a user can answer, each with its value if none can. The first one that is set counts.
    pub unattended: &'static [(&'static str, &'static str)],
}

/// Values of `notification_type` that change a product's state.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct NotificationKinds {
    /// The agent waits for an answer of its user.
    pub needs_input: &'static [&'static str],
    /// Those of them that ask for the permission to use a tool.
    pub permission: &'static [&'static str],
    /// The user answered.
    pub input_given: &'static [&'static str],
    /// The agent waits for a prompt.
    pub idle: &'static [&'static str],
    /// Parts of the message of a permission request that has no type.
    pub permission_phrases: &'static [&'static str],
}

impl NotificationKinds {
    /// No notification changes the state.
    pub(super) const NONE: Self =
        Self { needs_input: &[], permission: &[], input_given: &[], idle: &[], permission_phrases: &[] };

    /// Claude Code's types, which several products took over.
    pub(super) const CLAUDE_LIKE: Self = Self {
        needs_input: &["permission_prompt", "elicitation_dialog", "elicitation_url_dialog", "agent_needs_input"],
        permission: &["permission_prompt"],
        input_given: &["elicitation_complete", "elicitation_response"],
        idle: &["idle_prompt"],
        // Earlier versions gave no type.
        permission_phrases: &["needs your permission", "needs your approval"],
    };
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

impl QuestionTool {
    /// The canonical tools: decoded calls of every product have their names.
    pub(super) const CANONICAL: &'static [Self] = &[
        Self { name: "AskUserQuestion", form: QuestionForm::List { key: "questions", text: "question" } },
        Self { name: "ExitPlanMode", form: QuestionForm::Text("plan") },
    ];
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
