//! The file in which Claude Code keeps the status of a process: `sessions/PID.json`, beside its transcripts.
//!
//! A prompt that the user takes back before the first word of the answer fires no event, and leaves no line in the
//! transcript. This file shows it.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use snell::{FileAccess, RegularFile, Timestamp};

use crate::db::model::{AgentRow, ProcessIdentity};

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

pub(super) fn locate_file(agent: &AgentRow, transcript: &str) -> Option<PathBuf> {
    let pid = agent.process?.pid;
    Some(locate_directory(transcript)?.join(format!("{pid}.json")))
}

fn locate_directory(transcript: &str) -> Option<PathBuf> {
    Some(Path::new(transcript).ancestors().nth(3)?.join("sessions"))
}

/// The process of a session by the session files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionProcess {
    /// It runs.
    Live(ProcessIdentity),
    /// There are session files, but none of a live process is about the session.
    Ended,
    /// This version of Claude Code keeps no session files.
    Unknown,
}

/// Finds the process of a session.
pub(super) fn find_session_process(session_id: &str, transcript: &str) -> SessionProcess {
    let Some(files) = locate_directory(transcript).and_then(|directory| fs::read_dir(directory).ok()) else {
        return SessionProcess::Unknown;
    };
    let find_process = |path: &Path| {
        let pid = path.file_stem()?.to_str()?.parse().ok()?;
        let process = ProcessIdentity::from_pid(pid);
        (!process.is_gone() && read_file(path)?.session_id == session_id).then_some(process)
    };
    let mut files = files.flatten().map(|file| file.path());
    files.find_map(|path| find_process(&path)).map_or(SessionProcess::Ended, SessionProcess::Live)
}

/// The session of a process, if it has a session file.
pub(super) fn read_session_id(process: ProcessIdentity, transcript: &str) -> Option<String> {
    let path = locate_directory(transcript)?.join(format!("{}.json", process.pid));
    read_file(&path).map(|wire| wire.session_id)
}

fn read_file(path: &Path) -> Option<SessionFileWire> {
    let file = RegularFile::open(path, FileAccess::Read).ok()?.into_file();
    let mut text = Vec::new();
    file.take(MAX_FILE_BYTES).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}
