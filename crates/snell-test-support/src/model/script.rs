//! Lines for a model: turns of tool calls and texts.

use serde_json::Value;

/// Words in the first prompt of a sub-agent. They tell its requests from those of its parent.
pub const SUBAGENT_WORDS: &str = "sub-task of the script";

/// A tool call in terms that every agent has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptedCall {
    /// Runs a line of shell.
    Shell(String),
    /// Creates a file.
    WriteFile {
        /// Its path.
        path: String,
        /// Its text.
        content: String,
    },
    /// Starts a sub-agent, which plays [`ModelScript::subagent_turns`].
    Subagent,
    /// Asks the user a question.
    Question(String),
    /// Calls a tool by the agent's own name for it, with its own arguments.
    Native {
        /// The name.
        name: &'static str,
        /// The arguments.
        input: Value,
    },
    /// Runs a line of shell by another tool of the agent.
    OtherShell {
        /// Which one of [`crate::agents::AgentToolSet::other_shells`].
        index: usize,
        /// The line.
        command: String,
    },
}

impl ScriptedCall {
    /// Runs a line of shell.
    pub fn shell(command: impl Into<String>) -> Self {
        Self::Shell(command.into())
    }
}

/// An answer of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelTurn {
    /// Tool calls at the same time.
    Calls(Vec<ScriptedCall>),
    /// A text, which ends the agent's turn.
    Text(String),
    /// A text. Nothing is sent until the test calls [`crate::model::ScriptedModel::release`].
    HeldText(String),
    /// A text. Only the first half is sent until the test calls [`crate::model::ScriptedModel::release`].
    HalfHeldText(String),
    /// An error that the agent does not retry.
    Refused,
}

/// All answers of a model.
#[derive(Clone, Debug, Default)]
pub struct ModelScript {
    /// The answers to the agent itself, in order, across its prompts.
    pub turns: Vec<ModelTurn>,
    /// The answers to its sub-agent.
    pub subagent_turns: Vec<ModelTurn>,
}

impl ModelScript {
    /// A script without turns.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a turn with one line of shell.
    #[must_use]
    pub fn shell(self, command: impl Into<String>) -> Self {
        self.call(ScriptedCall::Shell(command.into()))
    }

    /// Adds a turn with one call.
    #[must_use]
    pub fn call(self, call: ScriptedCall) -> Self {
        self.turn(ModelTurn::Calls(vec![call]))
    }

    /// Adds a turn with a text.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.turn(ModelTurn::Text(text.into()))
    }

    /// Adds a turn.
    #[must_use]
    pub fn turn(mut self, turn: ModelTurn) -> Self {
        self.turns.push(turn);
        self
    }

    /// Sets the answers to the sub-agent.
    #[must_use]
    pub fn subagent(mut self, turns: Vec<ModelTurn>) -> Self {
        self.subagent_turns = turns;
        self
    }
}
