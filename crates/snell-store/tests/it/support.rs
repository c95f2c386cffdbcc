//! A store in a test's own directory, and events as agents send them.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use snell::{Event, Timestamp};
use snell_store::{
    AgentFilter, AgentView, DatabaseLocation, EventRecord, EventSender, ExportLine, IngestReceipt, LogEntry, LogFilter,
    ProcessIdentity, SessionView, Store, TurnView,
};
use tempfile::TempDir;

use crate::engines::TestDatabase;

/// The time at which the tests start.
const BEGINNING: i64 = 1_767_607_200;

/// This many seconds after the start.
pub fn make_timestamp(seconds: i64) -> Timestamp {
    Timestamp::from_second(BEGINNING + seconds).unwrap()
}

/// An event as an agent sends it, with its sender.
#[derive(Clone, Debug)]
pub struct SentEvent {
    name: String,
    fields: Value,
    seconds: i64,
    delayed: bool,
    pub sender: EventSender,
}

pub fn build_event(name: &str, session: &str) -> SentEvent {
    SentEvent {
        name: name.to_owned(),
        fields: json!({"session_id": session}),
        seconds: 0,
        delayed: false,
        sender: EventSender::default(),
    }
}

/// A prompt.
pub fn build_prompt(session: &str, text: &str) -> SentEvent {
    build_event("UserPromptSubmit", session).with_field("prompt", text)
}

/// The end of a turn, with the agent's last message.
pub fn build_stop(session: &str, words: &str) -> SentEvent {
    build_event("Stop", session).with_field("last_assistant_message", words)
}

impl SentEvent {
    pub fn with_field(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.fields[field] = value.into();
        self
    }

    /// Adds all of these fields.
    pub fn with_fields(mut self, fields: &Value) -> Self {
        for (name, value) in fields.as_object().unwrap() {
            self.fields[name] = value.clone();
        }
        self
    }

    pub fn at_second(mut self, seconds: i64) -> Self {
        self.seconds = seconds;
        self
    }

    pub fn with_delay(mut self) -> Self {
        self.delayed = true;
        self
    }

    pub fn with_pane(mut self, pane: &str) -> Self {
        self.sender.tmux_pane = Some(pane.to_owned());
        self
    }

    pub fn with_tmux_server(mut self, server: &str) -> Self {
        self.sender.tmux_server = Some(server.to_owned());
        self
    }

    pub fn with_tmux_session(mut self, session: &str) -> Self {
        self.sender.tmux_session = Some(session.to_owned());
        self
    }

    pub fn with_process(mut self, process: &LiveProcess) -> Self {
        self.sender.process = Some(process.process);
        self
    }

    pub fn with_host(mut self, host: &str) -> Self {
        self.sender.host = Some(host.to_owned());
        self
    }

    pub fn with_launcher(mut self, id: &str) -> Self {
        self.sender.launcher_session_id = Some(id.to_owned());
        self
    }

    pub fn with_headspace(mut self, id: &str) -> Self {
        self.sender.headspace_session_id = Some(id.to_owned());
        self
    }

    /// The record of this event in a directory, unless it names another one.
    pub fn into_record_in(self, directory: &Path) -> EventRecord {
        let mut fields = self.fields;
        fields["hook_event_name"] = self.name.into();
        if fields.get("cwd").is_none() {
            fields["cwd"] = directory.to_str().unwrap().into();
        }
        if fields["session_id"] == "" {
            fields.as_object_mut().unwrap().remove("session_id");
        }
        let (event, _) = Event::from_json(None, fields.to_string().as_bytes()).unwrap();
        let mut observation = EventRecord::new(&event, make_timestamp(self.seconds));
        observation.sender = self.sender;
        observation.delayed = self.delayed;
        observation
    }
}

/// A store in a directory of its own.
#[derive(Debug)]
pub struct TestStore {
    root: TempDir,
    pub store: Store,
    database: TestDatabase,
}

impl TestStore {
    pub fn new() -> Self {
        Self::with_database(TestDatabase::new())
    }

    pub fn with_database(database: TestDatabase) -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("project/.git")).unwrap();
        let store = Store::open_at(&database.location(root.path())).unwrap().store;
        Self { root, store, database }
    }

    /// Continues as another process, with empty caches.
    pub fn reopen(mut self) -> Self {
        self.store = self.open_another();
        self
    }

    /// The same database, as another process opens it.
    pub fn open_another(&self) -> Store {
        Store::open_at(&self.location()).unwrap().store
    }

    pub fn location(&self) -> DatabaseLocation {
        self.database.location(self.root.path())
    }

    pub fn path_of(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub fn project_dir(&self) -> PathBuf {
        self.path_of("project")
    }

    /// Makes another project.
    pub fn create_other_project(&self, name: &str) -> String {
        fs::create_dir_all(self.path_of(name).join(".git")).unwrap();
        self.path_of(name).to_str().unwrap().to_owned()
    }

    pub fn ingest_event(&mut self, sent: SentEvent) -> IngestReceipt {
        let observation = sent.into_record_in(&self.project_dir());
        self.store.ingest(observation).unwrap()
    }

    pub fn list_agents(&mut self) -> Vec<AgentView> {
        let all = AgentFilter { ended_after: Some(Timestamp::UNIX_EPOCH), ..AgentFilter::default() };
        let mut agents = self.store.list_agents(&all).unwrap();
        agents.sort_by_key(|agent| agent.agent_id);
        agents
    }

    /// The only agent there is.
    pub fn expect_single_agent(&mut self) -> AgentView {
        let mut agents = self.list_agents();
        assert_eq!(agents.len(), 1, "{agents:?}");
        agents.remove(0)
    }

    /// All events, the oldest first.
    pub fn list_events(&mut self) -> Vec<LogEntry> {
        let filter = LogFilter { after_id: Some(0), limit: u32::MAX, ..LogFilter::default() };
        self.store.query_log(&filter).unwrap()
    }

    pub fn expect_session(&mut self, id: &str) -> SessionView {
        let mut found = self.store.find_sessions(id).unwrap();
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    }

    /// The turns of a session, in order.
    pub fn list_turns(&mut self, session: &str) -> Vec<TurnView> {
        let session = self.expect_session(session);
        let mut turns = Vec::new();
        let mut listener = |exported| {
            if let ExportLine::Turn(turn) = exported {
                turns.push(turn);
            }
            true
        };
        self.store.export_session(&session, &mut listener).unwrap();
        turns
    }

    /// The turns of a session, as `ACTOR intent: text`.
    pub fn list_turn_texts(&mut self, session: &str) -> Vec<String> {
        let show = |turn: &TurnView| format!("{} {}: {}", turn.actor, turn.intent.as_str(), turn.text);
        self.list_turns(session).iter().map(show).collect()
    }

    /// The first column of a query's result, as another program reads it.
    pub fn query_texts(&self, sql: &str) -> Vec<String> {
        self.database.query_texts(self.root.path(), sql)
    }

    /// Appends lines to a transcript, and returns its path.
    pub fn write_transcript(&self, lines: &[Value]) -> String {
        let path = self.path_of("transcript.jsonl");
        let mut file = fs::OpenOptions::new().create(true).append(true).open(&path).unwrap();
        for line in lines {
            writeln!(file, "{line}").unwrap();
        }
        path.to_str().unwrap().to_owned()
    }
}

/// A line of a transcript: a message of the agent.
pub fn build_answer_line(session: &str, seconds: i64, text: &str) -> Value {
    json!({
        "type": "assistant", "sessionId": session, "timestamp": make_timestamp(seconds).to_string(), "uuid": format!("a{seconds}"),
        "isSidechain": false,
        "message": {"role": "assistant", "model": "claude-opus-4-5", "content": [{"type": "text", "text": text}]},
    })
}

/// A line of a transcript: a message of the agent with a token count.
pub fn build_usage_line(session: &str, seconds: i64, tokens: u64) -> Value {
    let mut line = build_answer_line(session, seconds, "Well.");
    line["message"]["usage"] = json!({"input_tokens": tokens});
    line
}

/// A line of a transcript: a prompt.
pub fn build_prompt_line(session: &str, seconds: i64, text: &str) -> Value {
    json!({
        "type": "user", "sessionId": session, "timestamp": make_timestamp(seconds).to_string(), "uuid": format!("u{seconds}"),
        "isSidechain": false, "message": {"role": "user", "content": text},
    })
}

/// A line of a transcript: the user interrupted the agent.
pub fn build_interruption_line(session: &str, seconds: i64) -> Value {
    json!({
        "type": "user", "sessionId": session, "timestamp": make_timestamp(seconds).to_string(), "isSidechain": false,
        "message": {"role": "user", "content": [{"type": "text", "text": "[Request interrupted by user]"}]},
    })
}

/// A line of a transcript: an API error.
pub fn build_api_error_line(session: &str, seconds: i64, text: &str) -> Value {
    json!({
        "type": "assistant", "sessionId": session, "timestamp": make_timestamp(seconds).to_string(), "isSidechain": false,
        "isApiErrorMessage": true,
        "message": {"role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": text}]},
    })
}

/// A process that lives until the test ends it, and its identity.
#[derive(Debug)]
pub struct LiveProcess {
    child: snell_test_support::process::LiveProcess,
    pub process: ProcessIdentity,
}

impl LiveProcess {
    pub fn new() -> Self {
        let child = snell_test_support::process::LiveProcess::new();
        let process = ProcessIdentity::from_pid(child.pid());
        Self { child, process }
    }

    /// Ends it, and waits until it is gone.
    pub fn terminate(&mut self) {
        self.child.terminate();
    }
}
