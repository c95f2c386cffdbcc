//! A transcript as Claude Code writes it.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use snell_test_support::payload::merge_fields;

use crate::support::CliSandbox;

/// The transcript of a session.
pub struct TranscriptFixture {
    pub path: PathBuf,
    session: String,
    cwd: PathBuf,
}

impl TranscriptFixture {
    /// An empty one, where Claude Code keeps those of the sandbox's project.
    pub fn new(sandbox: &CliSandbox, session: &str) -> Self {
        let directory = sandbox.home().join(".claude/projects/-project");
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join(format!("{session}.jsonl"));
        fs::write(&path, "").unwrap();
        Self { path, session: session.to_owned(), cwd: sandbox.project() }
    }

    /// What hooks say of the session.
    pub fn build_payload(&self, more: Value) -> Value {
        merge_fields(json!({"session_id": self.session, "cwd": self.cwd, "transcript_path": self.path}), &more)
    }

    /// The user says something; answers when that was.
    pub fn append_prompt(&self, text: &str, at: Timestamp) -> Timestamp {
        self.append_message("user", &json!({"role": "user", "content": text}), at)
    }

    /// The agent says its last words of a turn; answers when that was.
    pub fn append_final_answer(&self, text: &str, at: Timestamp) -> Timestamp {
        self.append_answer(text, "end_turn", at)
    }

    /// The agent says something, and this is why it then stops.
    pub fn append_answer(&self, text: &str, stop_reason: &str, at: Timestamp) -> Timestamp {
        let content = [json!({"type": "text", "text": text})];
        let message = json!({"role": "assistant", "content": content, "stop_reason": stop_reason});
        self.append_message("assistant", &message, at)
    }

    /// The user interrupts the agent.
    pub fn append_interruption(&self, at: Timestamp) -> Timestamp {
        let content = [json!({"type": "text", "text": "[Request interrupted by user for tool use]"})];
        self.append_message("user", &json!({"role": "user", "content": content}), at)
    }

    /// The model's service answers with an error.
    pub fn append_api_error(&self, text: &str, at: Timestamp) -> Timestamp {
        let message = json!({"role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": text}]});
        let line = json!({"type": "assistant", "sessionId": self.session, "cwd": self.cwd, "timestamp": at.to_string(),
            "isApiErrorMessage": true, "message": message});
        let mut file = OpenOptions::new().append(true).open(&self.path).unwrap();
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
        at
    }

    /// The user refuses a tool call.
    pub fn append_refusal(&self, at: Timestamp) -> Timestamp {
        let content = [json!({"type": "tool_result", "tool_use_id": "t1", "is_error": true,
            "content": "The user doesn't want to proceed with this tool use."})];
        self.append_message("user", &json!({"role": "user", "content": content}), at)
    }

    fn append_message(&self, kind: &str, message: &Value, at: Timestamp) -> Timestamp {
        let line = json!({"type": kind, "sessionId": self.session, "cwd": self.cwd, "timestamp": at.to_string(),
            "message": message});
        let mut file = OpenOptions::new().append(true).open(&self.path).unwrap();
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
        at
    }
}

/// Now, as precisely as Claude Code writes it.
pub fn read_current_time() -> Timestamp {
    Timestamp::from_millisecond(Timestamp::now().as_millisecond()).unwrap()
}

pub fn seconds_ago(seconds: i64) -> Timestamp {
    read_current_time() - SignedDuration::from_secs(seconds)
}
