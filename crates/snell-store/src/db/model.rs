//! The types of the store: agents, their states, conversations, turns.

use serde::{Deserialize, Serialize};
use snell::Timestamp;

use crate::db::agent_activity::{AgentActivity, BackgroundWork};
use crate::derive::intent::TurnIntent;
use crate::views::session_snapshot::ReminderRecord;

/// Declares an enum with the words for its variants in the database and in JSON.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$on:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$on])* #[serde(rename = $word)] $variant),+ }

        impl $name {
            /// All variants.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Its word in the database and in JSON.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// Parses the word from [`Self::as_str`].
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
    /// The state of an agent.
    AgentState {
        /// It waits for a prompt.
        Idle = "idle",
        /// It works.
        Processing = "processing",
        /// It waits for the user's answer.
        AwaitingInput = "awaiting_input",
        /// It has ended.
        Ended = "ended",
    }
}

words! {
    /// The source of a state.
    StateSource {
        /// A hook event.
        Hook = "hook",
        /// Its transcript.
        Transcript = "transcript",
        /// Its process.
        Process = "process",
        /// Its tmux pane.
        Poll = "poll",
    }
}

words! {
    /// The confidence in a state.
    StateConfidence {
        /// The agent reported it.
        High = "high",
        /// It follows from the agent's transcript or process.
        Medium = "medium",
        /// It is a guess.
        Low = "low",
    }
}

words! {
    /// The author of a turn.
    TurnActor {
        /// The user.
        User = "USER",
        /// The agent.
        Agent = "AGENT",
    }
}

words! {
    /// The clock of a turn's time.
    TimestampSource {
        /// The clock of the program that received the event.
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
        /// An agent in the same tmux pane.
        TmuxPaneId = "tmux_pane_id",
        /// An agent in the same project that is not busy elsewhere.
        WorkingDirectory = "working_directory",
        /// A new agent.
        Created = "created",
    }
}

words! {
    /// The source of a context percentage.
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
    /// Its id; 0 before it is stored.
    pub(crate) agent_id: i64,
    /// The project it works in.
    pub(crate) project_id: i64,
    /// Its product: `claude`, `gemini` …
    pub(crate) product: Option<String>,
    /// The agent's own id of its current session.
    pub(crate) session_id: Option<String>,
    /// Its current conversation.
    pub(crate) conversation_id: Option<i64>,
    /// Its current command.
    pub(crate) command_id: Option<i64>,
    /// The time of the last event that reported a state.
    pub(crate) state_reported_at: Option<Timestamp>,
    /// Its state.
    pub(crate) state: AgentState,
    /// The time of the last change of state.
    pub(crate) state_since: Timestamp,
    /// The source of the state.
    pub(crate) state_source: StateSource,
    /// The confidence in the state.
    pub(crate) confidence: StateConfidence,
    /// The reason for the state, in words.
    pub(crate) why: String,
    /// The tool that is running or waits for permission.
    pub(crate) current_tool: Option<String>,
    /// The work that runs although its turn has ended.
    pub(crate) background: Option<BackgroundWork>,
    /// Its last sign of life, if it works and has shown none for a while.
    pub(crate) silent_since: Option<Timestamp>,
    /// The tmux session it was first seen in.
    pub(crate) tmux_session: Option<String>,
    /// The tmux pane it was last seen in.
    pub(crate) tmux_pane: Option<String>,
    /// The tmux server that the pane belongs to.
    pub(crate) tmux_server: Option<String>,
    /// Its process.
    pub(crate) process: Option<ProcessIdentity>,
    /// Whether that process is certain: the agent reported it, or it was seen twice. A process that was seen once may
    /// be a wrapper.
    pub(crate) process_is_certain: bool,
    /// The host it runs on.
    pub(crate) host: Option<String>,
    /// The id its launcher gave it.
    pub(crate) headspace_session_id: Option<String>,
    /// Its context usage, in percent.
    pub(crate) context_percent: Option<f64>,
    /// The source of that percentage.
    pub(crate) context_source: Option<ContextSource>,
    /// The size of its context in tokens, if the user set it.
    pub(crate) context_window: Option<u32>,
    /// Its last message.
    pub(crate) last_words: Option<String>,
    /// When it was first seen.
    pub(crate) started_at: Timestamp,
    /// The time of its last event.
    pub(crate) last_seen_at: Timestamp,
    /// When it ended.
    pub(crate) ended_at: Option<Timestamp>,
    /// Why it ended.
    pub(crate) end_reason: Option<String>,
}

impl AgentRow {
    /// A new agent in a project, without an id.
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
            background: None,
            silent_since: None,
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

    /// Sets the agent's state. Only the agent itself can report it with certainty.
    pub(crate) fn set_state(&mut self, state: AgentState, source: StateSource, why: impl Into<String>, at: Timestamp) {
        let before = self.activity();
        self.state = state;
        self.state_source = source;
        self.confidence = match source {
            StateSource::Hook => StateConfidence::High,
            StateSource::Transcript | StateSource::Process | StateSource::Poll => StateConfidence::Medium,
        };
        self.why = why.into();
        self.background = None;
        self.silent_since = None;
        if self.activity() != before {
            self.state_since = at;
        }
        self.ended_at = (state == AgentState::Ended).then_some(at);
        self.end_reason = None;
        if matches!(state, AgentState::Idle | AgentState::Ended) {
            self.current_tool = None;
        }
    }

    /// Sets that the agent's turn has ended, and this work runs on.
    pub(crate) fn set_background_work(
        &mut self,
        work: BackgroundWork,
        source: StateSource,
        why: impl Into<String>,
        at: Timestamp,
    ) {
        let since = if self.background.is_some() { self.state_since } else { at };
        self.set_state(AgentState::Processing, source, why, at);
        (self.background, self.state_since) = (Some(work), since);
    }

    /// Its state, as people see it.
    pub(crate) fn activity(&self) -> AgentActivity {
        AgentActivity::from_state(self.state, self.background)
    }

    /// The same row as the database returns it.
    pub(crate) fn to_stored_precision(&self) -> Self {
        Self {
            silent_since: self.silent_since.map(to_stored_precision),
            state_reported_at: self.state_reported_at.map(to_stored_precision),
            state_since: to_stored_precision(self.state_since),
            started_at: to_stored_precision(self.started_at),
            last_seen_at: to_stored_precision(self.last_seen_at),
            ended_at: self.ended_at.map(to_stored_precision),
            ..self.clone()
        }
    }

    /// Resets the context usage, because the context was emptied.
    pub(crate) fn clear_context(&mut self) {
        (self.context_percent, self.context_source) = (None, None);
    }

    /// Marks the state as a guess.
    pub(crate) fn mark_low_confidence(&mut self) {
        self.confidence = StateConfidence::Low;
    }

    /// Marks the agent as ended.
    pub(crate) fn mark_ended(&mut self, source: StateSource, why: impl Into<String>, reason: &str, at: Timestamp) {
        self.set_state(AgentState::Ended, source, why, at);
        self.end_reason = Some(reason.to_owned());
    }
}

/// A change of state without an event of the agent.
#[derive(Clone, Debug)]
pub(crate) struct SightingRow<'a> {
    pub(crate) agent: &'a AgentRow,
    /// Its state before; nothing for a new agent.
    pub(crate) before: Option<AgentState>,
    pub(crate) at: Timestamp,
}

impl ConversationRow {
    /// A new conversation, without an id.
    pub(crate) fn new(session_id: &str, agent_id: i64, at: Timestamp) -> Self {
        Self {
            conversation_id: 0,
            session_id: session_id.to_owned(),
            agent_id,
            role: None,
            mode: None,
            tmux_pane: None,
            model: None,
            reported_window: None,
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

    /// The same row as the database returns it.
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

/// A time as it is stored: in whole microseconds.
pub(crate) fn to_stored_precision(time: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(time.as_microsecond()).unwrap_or(time)
}

/// A process. Its start time distinguishes it from later ones with the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProcessIdentity {
    /// Its process id.
    pub pid: u32,
    /// Its start time, in the system's own units; unknown if the sender did not report it.
    pub started: Option<u64>,
}

/// One conversation of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConversationRow {
    /// Its id; 0 before it is stored.
    pub(crate) conversation_id: i64,
    /// The launcher's id of the session, else the agent's own.
    pub(crate) session_id: String,
    /// Its agent.
    pub(crate) agent_id: i64,
    /// The role that its launcher gave it.
    pub(crate) role: Option<String>,
    /// The mode from its launcher: interactive, mission, background.
    pub(crate) mode: Option<String>,
    /// The pane it was last seen in.
    pub(crate) tmux_pane: Option<String>,
    /// The model in use.
    pub(crate) model: Option<String>,
    /// The size of its context in tokens, as its agent reports it.
    pub(crate) reported_window: Option<u32>,
    /// The agent's permission mode.
    pub(crate) permission_mode: Option<String>,
    /// The mission that it carries out.
    pub(crate) mission_execution_id: Option<String>,
    /// When it began.
    pub(crate) started_at: Timestamp,
    /// The time of its last event.
    pub(crate) last_seen_at: Timestamp,
    /// When it ended.
    pub(crate) ended_at: Option<Timestamp>,
    /// Why it ended.
    pub(crate) end_reason: Option<String>,
    /// Its agent's own report of its work.
    pub(crate) status_text: Option<String>,
    /// The time of that report.
    pub(crate) status_set_at: Option<Timestamp>,
    /// The time of its agent's last ping.
    pub(crate) pinged_at: Option<Timestamp>,
    /// The reminders that its agent got.
    pub(crate) reminders: ReminderHistory,
}

/// The reminders that an agent got, so that it gets each once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReminderHistory {
    /// The highest threshold of context usage, in percent, that a reminder at a stop named.
    pub(crate) stop_level: u8,
    /// The same, for reminders with a prompt.
    pub(crate) prompt_level: u8,
    /// The reminder to report a status.
    pub(crate) status: bool,
    /// The reminder to ping before it ends.
    pub(crate) ping: bool,
}

impl ReminderHistory {
    /// Notes a reminder that the agent got.
    pub(crate) fn record_shown(&mut self, shown: &ReminderRecord) {
        self.stop_level = shown.stop_level.unwrap_or(self.stop_level);
        self.prompt_level = shown.prompt_level.unwrap_or(self.prompt_level);
        self.status |= shown.status;
        self.ping |= shown.ping;
    }

    /// Notes a reminder that came with an event older than the last one: it resets nothing.
    pub(crate) fn record_outrun(&mut self, shown: &ReminderRecord) {
        let before = *self;
        self.record_shown(shown);
        self.stop_level = self.stop_level.max(before.stop_level);
        self.prompt_level = self.prompt_level.max(before.prompt_level);
    }
}

/// A turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TurnRow {
    /// Its id; 0 before it is stored.
    pub(crate) turn_id: i64,
    /// The agent of the conversation.
    pub(crate) agent_id: i64,
    /// Its command.
    pub(crate) command_id: i64,
    /// Its author.
    pub(crate) actor: TurnActor,
    /// Its intent.
    pub(crate) intent: TurnIntent,
    /// Its text.
    pub(crate) text: String,
    /// Its time.
    pub(crate) timestamp: Timestamp,
    /// The clock of that time.
    pub(crate) timestamp_source: TimestampSource,
    /// The hash of the text without white space.
    pub(crate) content_hash: i64,
}
