//! What the store knows, as types: agents, their states, conversations, turns.

use serde::{Deserialize, Serialize};
use snell::Timestamp;

use crate::derive::intent::TurnIntent;
use crate::views::session_snapshot::ReminderRecord;

/// Words that stand in the database and in JSON: an enum, and its spelling.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$on:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$on])* #[serde(rename = $word)] $variant),+ }

        impl $name {
            /// Every one of them.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// How it is written.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// Reads what [`Self::as_str`] writes.
            pub fn parse(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.as_str() == word)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}
pub(crate) use words;

words! {
    /// What an agent is doing.
    AgentState {
        /// It waits for a prompt.
        Idle = "idle",
        /// It works.
        Processing = "processing",
        /// It cannot go on before its user answers.
        AwaitingInput = "awaiting_input",
        /// It is gone.
        Ended = "ended",
    }
}

words! {
    /// How a state is known.
    StateSource {
        /// The agent said so.
        Hook = "hook",
        /// Its transcript shows it.
        Transcript = "transcript",
        /// Its process shows it.
        Process = "process",
        /// Somebody looked at its terminal.
        Poll = "poll",
    }
}

words! {
    /// How sure a state is.
    StateConfidence {
        /// The agent said so itself.
        High = "high",
        /// It follows from what the agent left behind.
        Medium = "medium",
        /// It is a guess.
        Low = "low",
    }
}

words! {
    /// Who speaks in a turn.
    TurnActor {
        /// The person.
        User = "USER",
        /// The agent.
        Agent = "AGENT",
    }
}

words! {
    /// Whose clock a turn's time is from.
    TimestampSource {
        /// The clock of whoever received the event.
        Server = "server",
        /// The transcript.
        Jsonl = "jsonl",
    }
}

words! {
    /// How the agent of an event was found. The strategies are tried in this order.
    CorrelationMethod {
        /// Its session is known in memory.
        SessionId = "session_id",
        /// Its session is known in the store.
        DbSessionId = "db_session_id",
        /// The launcher's id is known.
        HeadspaceSessionId = "headspace_session_id",
        /// It sits in the same tmux pane.
        TmuxPaneId = "tmux_pane_id",
        /// It sits in the same project, and nothing shows it to be busy elsewhere.
        WorkingDirectory = "working_directory",
        /// It is new.
        Created = "created",
    }
}

words! {
    /// Where a figure for how full the context is comes from.
    ContextSource {
        /// The agent's own status line.
        StatusLine = "statusline",
        /// The token counts in its transcript.
        Transcript = "transcript",
    }
}

/// One running coding agent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AgentRow {
    /// Its number. Zero while it has none.
    pub(crate) agent_id: i64,
    /// The project it works in.
    pub(crate) project_id: i64,
    /// Which agent it is: `claude`, `gemini` …
    pub(crate) product: Option<String>,
    /// The agent's own id of its current session.
    pub(crate) session_id: Option<String>,
    /// Its current conversation.
    pub(crate) conversation_id: Option<i64>,
    /// What it is working on.
    pub(crate) command_id: Option<i64>,
    /// When the last event came that said what it is doing.
    pub(crate) state_reported_at: Option<Timestamp>,
    /// What it is doing.
    pub(crate) state: AgentState,
    /// Since when.
    pub(crate) state_since: Timestamp,
    /// How that is known.
    pub(crate) state_source: StateSource,
    /// How sure that is.
    pub(crate) confidence: StateConfidence,
    /// Why, in words.
    pub(crate) why: String,
    /// The tool that is running or waits for permission.
    pub(crate) current_tool: Option<String>,
    /// The tmux session it was first seen in.
    pub(crate) tmux_session: Option<String>,
    /// The tmux pane it was last seen in.
    pub(crate) tmux_pane: Option<String>,
    /// The tmux server that the pane belongs to.
    pub(crate) tmux_server: Option<String>,
    /// Its process.
    pub(crate) process: Option<ProcessIdentity>,
    /// Whether that is certain: the agent said so, or it was seen twice. What calls us once may be a mere messenger.
    pub(crate) process_is_certain: bool,
    /// The host it runs on.
    pub(crate) host: Option<String>,
    /// The id its launcher gave it.
    pub(crate) headspace_session_id: Option<String>,
    /// How full its context is, in percent.
    pub(crate) context_percent: Option<f64>,
    /// Where that figure is from.
    pub(crate) context_source: Option<ContextSource>,
    /// How many tokens fit into its context, where its user says so.
    pub(crate) context_window: Option<u32>,
    /// What was said last.
    pub(crate) last_words: Option<String>,
    /// When it was first seen.
    pub(crate) started_at: Timestamp,
    /// When it was last heard of.
    pub(crate) last_seen_at: Timestamp,
    /// When it ended.
    pub(crate) ended_at: Option<Timestamp>,
    /// Why it ended.
    pub(crate) end_reason: Option<String>,
}

impl AgentRow {
    /// An agent of which nothing is known but where it works. It has no number yet.
    pub(crate) fn new(project_id: i64, at: Timestamp) -> Self {
        Self {
            agent_id: 0,
            project_id,
            product: None,
            session_id: None,
            conversation_id: None,
            command_id: None,
            state_reported_at: None,
            state: AgentState::Idle,
            state_since: at,
            state_source: StateSource::Hook,
            confidence: StateConfidence::High,
            why: "it was seen for the first time".into(),
            current_tool: None,
            tmux_session: None,
            tmux_pane: None,
            tmux_server: None,
            process: None,
            process_is_certain: false,
            host: None,
            headspace_session_id: None,
            context_percent: None,
            context_source: None,
            context_window: None,
            last_words: None,
            started_at: at,
            last_seen_at: at,
            ended_at: None,
            end_reason: None,
        }
    }

    /// Notes what was seen of the agent. Only it can be sure of itself.
    pub(crate) fn set_state(&mut self, state: AgentState, source: StateSource, why: impl Into<String>, at: Timestamp) {
        if self.state != state {
            self.state_since = at;
        }
        self.state = state;
        self.state_source = source;
        self.confidence = match source {
            StateSource::Hook => StateConfidence::High,
            StateSource::Transcript | StateSource::Process | StateSource::Poll => StateConfidence::Medium,
        };
        self.why = why.into();
        self.ended_at = (state == AgentState::Ended).then_some(at);
        self.end_reason = None;
        if matches!(state, AgentState::Idle | AgentState::Ended) {
            self.current_tool = None;
        }
    }

    /// The same, as the database gives it back.
    pub(crate) fn to_stored_precision(&self) -> Self {
        Self {
            state_reported_at: self.state_reported_at.map(to_stored_precision),
            state_since: to_stored_precision(self.state_since),
            started_at: to_stored_precision(self.started_at),
            last_seen_at: to_stored_precision(self.last_seen_at),
            ended_at: self.ended_at.map(to_stored_precision),
            ..self.clone()
        }
    }

    /// Notes that nothing is left in its context of what was said before.
    pub(crate) fn clear_context(&mut self) {
        (self.context_percent, self.context_source) = (None, None);
    }

    /// Notes that what was last seen of the agent is no more than a guess.
    pub(crate) fn mark_low_confidence(&mut self) {
        self.confidence = StateConfidence::Low;
    }

    /// Notes that the agent is gone.
    pub(crate) fn mark_ended(&mut self, source: StateSource, why: impl Into<String>, reason: &str, at: Timestamp) {
        self.set_state(AgentState::Ended, source, why, at);
        self.end_reason = Some(reason.to_owned());
    }
}

/// An agent was seen to do something else than before, and no event of its own says so.
#[derive(Clone, Debug)]
pub(crate) struct SightingRow<'a> {
    pub(crate) agent: &'a AgentRow,
    /// What it did before; nothing if it was seen for the first time.
    pub(crate) before: Option<AgentState>,
    pub(crate) at: Timestamp,
}

impl ConversationRow {
    /// A conversation that was just heard of. It has no number yet.
    pub(crate) fn new(session_id: &str, agent_id: i64, at: Timestamp) -> Self {
        Self {
            conversation_id: 0,
            session_id: session_id.to_owned(),
            agent_id,
            role: None,
            mode: None,
            tmux_pane: None,
            model: None,
            permission_mode: None,
            mission_execution_id: None,
            started_at: at,
            last_seen_at: at,
            ended_at: None,
            end_reason: None,
            status_text: None,
            status_set_at: None,
            pinged_at: None,
            reminders: ReminderHistory::default(),
        }
    }

    /// The same, as the database gives it back.
    pub(crate) fn to_stored_precision(&self) -> Self {
        Self {
            started_at: to_stored_precision(self.started_at),
            last_seen_at: to_stored_precision(self.last_seen_at),
            ended_at: self.ended_at.map(to_stored_precision),
            status_set_at: self.status_set_at.map(to_stored_precision),
            pinged_at: self.pinged_at.map(to_stored_precision),
            ..self.clone()
        }
    }

    pub(crate) fn mark_ended(&mut self, reason: &str, at: Timestamp) {
        self.ended_at = Some(at);
        self.end_reason = Some(reason.to_owned());
    }
}

/// A time as it is kept: in whole microseconds.
pub(crate) fn to_stored_precision(time: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(time.as_microsecond()).unwrap_or(time)
}

/// A process, told from later ones with the same number by when it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIdentity {
    /// Its number.
    pub pid: u32,
    /// When it began, in the system's own count; unknown where the sender did not say.
    pub started: Option<u64>,
}

/// One conversation of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConversationRow {
    /// Its number. Zero while it has none.
    pub(crate) conversation_id: i64,
    /// The launcher's id of the session, else the agent's own.
    pub(crate) session_id: String,
    /// The agent that holds it.
    pub(crate) agent_id: i64,
    /// The role that its launcher gave it.
    pub(crate) role: Option<String>,
    /// The mode that its launcher gave it: interactive, mission, background.
    pub(crate) mode: Option<String>,
    /// The pane it was last seen in.
    pub(crate) tmux_pane: Option<String>,
    /// The model in use.
    pub(crate) model: Option<String>,
    /// The agent's permission mode.
    pub(crate) permission_mode: Option<String>,
    /// The mission that it carries out.
    pub(crate) mission_execution_id: Option<String>,
    /// When it began.
    pub(crate) started_at: Timestamp,
    /// When it was last heard of.
    pub(crate) last_seen_at: Timestamp,
    /// When it ended.
    pub(crate) ended_at: Option<Timestamp>,
    /// Why it ended.
    pub(crate) end_reason: Option<String>,
    /// What its agent says that it is working on.
    pub(crate) status_text: Option<String>,
    /// Since when it says so.
    pub(crate) status_set_at: Option<Timestamp>,
    /// When its agent last gave a sign of itself.
    pub(crate) pinged_at: Option<Timestamp>,
    /// What its agent was told about itself.
    pub(crate) reminders: ReminderHistory,
}

/// What an agent was told about itself, so that it is told once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReminderHistory {
    /// The highest threshold of context use, in percent, that it was told of when it stopped.
    pub(crate) stop_level: u8,
    /// The same, with a prompt.
    pub(crate) prompt_level: u8,
    /// That it should say what it is working on.
    pub(crate) status: bool,
    /// That it should give a sign of itself before it ends.
    pub(crate) ping: bool,
}

impl ReminderHistory {
    /// Notes what the agent was told.
    pub(crate) fn record_shown(&mut self, shown: &ReminderRecord) {
        self.stop_level = shown.stop_level.unwrap_or(self.stop_level);
        self.prompt_level = shown.prompt_level.unwrap_or(self.prompt_level);
        self.status |= shown.status;
        self.ping |= shown.ping;
    }

    /// Notes what the agent was told with an event that a later one has outrun: that takes nothing back.
    pub(crate) fn record_outrun(&mut self, shown: &ReminderRecord) {
        let before = *self;
        self.record_shown(shown);
        self.stop_level = self.stop_level.max(before.stop_level);
        self.prompt_level = self.prompt_level.max(before.prompt_level);
    }
}

/// Something that was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TurnRow {
    /// Its number. Zero while it has none.
    pub(crate) turn_id: i64,
    /// The agent of the conversation.
    pub(crate) agent_id: i64,
    /// What it belongs to.
    pub(crate) command_id: i64,
    /// Who speaks.
    pub(crate) actor: TurnActor,
    /// What for.
    pub(crate) intent: TurnIntent,
    /// The words.
    pub(crate) text: String,
    /// When.
    pub(crate) timestamp: Timestamp,
    /// By whose clock.
    pub(crate) timestamp_source: TimestampSource,
    /// The words without their blanks, as a number.
    pub(crate) content_hash: i64,
}
