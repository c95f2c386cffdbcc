//! The activity of an agent: its state as people see it, and the work that it left running in the background.

use serde::Serialize;

use crate::db::model::{AgentState, words};

words! {
    /// The state of an agent, as people see it. The API calls an agent with work in the background `processing`.
    AgentActivity {
        /// It waits for the user's answer.
        AwaitingInput = "awaiting_input",
        /// It works.
        Processing = "processing",
        /// Its turn has ended, and work that it started runs on or will wake it.
        Background = "background",
        /// It waits for a prompt.
        Idle = "idle",
        /// It has ended.
        Ended = "ended",
    }
}

impl AgentActivity {
    /// The activity of an agent in this state.
    pub(crate) fn from_state(state: AgentState, background: Option<BackgroundWork>) -> Self {
        match state {
            AgentState::Processing if background.is_some() => Self::Background,
            state => state.into(),
        }
    }

    /// The state in the database and in the API.
    pub fn state(self) -> AgentState {
        match self {
            Self::AwaitingInput => AgentState::AwaitingInput,
            Self::Processing | Self::Background => AgentState::Processing,
            Self::Idle => AgentState::Idle,
            Self::Ended => AgentState::Ended,
        }
    }
}

/// The activity of an agent without work in the background.
impl From<AgentState> for AgentActivity {
    fn from(state: AgentState) -> Self {
        match state {
            AgentState::Processing => Self::Processing,
            AgentState::Idle => Self::Idle,
            AgentState::AwaitingInput => Self::AwaitingInput,
            AgentState::Ended => Self::Ended,
        }
    }
}

/// The work that runs after the end of a turn. All counts are 0 if an older version of Snell stored it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BackgroundWork {
    /// Sub-agents that run.
    pub subagents: u32,
    /// Commands and monitors that run.
    pub commands: u32,
    /// Wake-ups that are scheduled.
    pub wakeups: u32,
}

impl BackgroundWork {
    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// The counts in words: `2 sub-agents, 1 command`.
    pub fn describe(self) -> String {
        let counts = [(self.subagents, "sub-agent"), (self.commands, "command"), (self.wakeups, "wake-up")];
        let known = counts.iter().filter(|(count, _)| *count > 0);
        let words = known.map(|(count, noun)| format!("{count} {noun}{}", if *count == 1 { "" } else { "s" }));
        words.collect::<Vec<_>>().join(", ")
    }
}
