//! The file in which Claude Code keeps the status of a process: `sessions/PID.json`, beside its transcripts.
//!
//! A prompt that the user takes back before the first word of the answer fires no event, and leaves no line in the
//! transcript. This file shows it.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use snell::{FileAccess, RegularFile, Timestamp};

use crate::db::model::AgentRow;

/// The status of a process that waits for a prompt, and has no work in the background.
const IDLE_STATUS: &str = "idle";

/// A longer file is not such a file.
const MAX_FILE_BYTES: u64 = 64 * 1024;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionFileWire {
    session_id: String,
    status: Option<String>,
    status_updated_at: Option<i64>,
}

/// The status of an agent by its session file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionFileStatus {
    /// There is no file, or it is about another session.
    Unknown,
    /// It works, or waits for an answer.
    Busy,
    /// It has waited for a prompt since then.
    IdleSince(Timestamp),
}

/// Reads the status of an agent. `transcript` is `PROJECTS/PROJECT/SESSION.jsonl`.
pub(super) fn read_status(agent: &AgentRow, transcript: &str) -> SessionFileStatus {
    let Some(wire) = locate_file(agent, transcript).and_then(|path| read_file(&path)) else {
        return SessionFileStatus::Unknown;
    };
    if agent.session_id.as_deref() != Some(&wire.session_id) || wire.status.is_none() {
        return SessionFileStatus::Unknown;
    }
    let since = wire.status_updated_at.and_then(|ms| Timestamp::from_millisecond(ms).ok());
    match since.filter(|_| wire.status.as_deref() == Some(IDLE_STATUS)) {
        Some(since) => SessionFileStatus::IdleSince(since),
        None => SessionFileStatus::Busy,
    }
}

fn locate_file(agent: &AgentRow, transcript: &str) -> Option<PathBuf> {
    let pid = agent.process?.pid;
    let directory = Path::new(transcript).ancestors().nth(3)?;
    Some(directory.join("sessions").join(format!("{pid}.json")))
}

fn read_file(path: &Path) -> Option<SessionFileWire> {
    let file = RegularFile::open(path, FileAccess::Read).ok()?.into_file();
    let mut text = Vec::new();
    file.take(MAX_FILE_BYTES).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}
