//! Finds sessions without hook events by their transcripts.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use snell::{Timestamp, TranscriptFormat};

use super::session_file::{self, SessionProcess};
use crate::db::journal::Journal;
use crate::db::model::{
    AgentRow, AgentState, ConversationRow, ProcessIdentity, StateConfidence, StateSource, to_stored_precision,
};
use crate::db::rows::{Rows, TranscriptProgress};
use crate::derive::project;
use crate::derive::{self, TranscriptDelta};
use crate::error::Result;
use crate::store::{Store, read_transcript_delta};

/// A transcript with a write in this time may belong to a live session.
const RECENT_WINDOW: Duration = Duration::from_secs(60 * 60);

/// With a write in this time the session is live, even without a known process, if Claude Code keeps no session files.
const ACTIVE_WINDOW: Duration = Duration::from_secs(2 * 60);

/// The largest number of transcripts: those of one hour.
const MAX_TRANSCRIPTS: usize = 1_000;

/// The prefix of sub-agents' transcripts, which are beside those of their agents.
const SUBAGENT_PREFIX: &str = "agent-";

/// A transcript of a session without hook events.
struct UnreportedTranscript {
    session_id: String,
    path: String,
    written: Timestamp,
    is_very_recent: bool,
}

/// A session without hook events, and its transcript's data.
struct DiscoveredSession {
    session_id: String,
    delta: TranscriptDelta,
    cwd: PathBuf,
    process: Option<ProcessIdentity>,
    written: Timestamp,
}

impl Store {
    /// Finds sessions of Claude Code without hook events by their transcripts in these directories (each has one
    /// directory per project). Returns how many are new.
    ///
    /// # Errors
    ///
    /// When the database cannot be read or written.
    pub fn discover_sessions(&mut self, directories: &[PathBuf], now: Timestamp) -> Result<usize> {
        let found: Vec<_> = directories.iter().flat_map(|directory| list_recent_transcripts(directory)).collect();
        if found.is_empty() {
            return Ok(0);
        }
        let (unknown, taken) = self.read_rows(&mut |rows| {
            let mut unknown = Vec::new();
            let taken: Vec<_> = rows.list_live_agents()?.into_iter().filter_map(|agent| agent.process).collect();
            for transcript in &found {
                if rows.find_session_binding(&transcript.session_id)?.is_none() {
                    unknown.push(transcript);
                }
            }
            Ok((unknown, taken))
        })?;
        let sessions = unknown.into_iter().filter_map(|transcript| transcript.read_session(&taken));
        let discovered = keep_newest_of_process(sessions.collect());
        if discovered.is_empty() {
            return Ok(0);
        }
        let host = self.host.clone();
        self.run_transaction("discovered", now, &mut |journal| {
            let mut count = 0;
            for session in &discovered {
                // A hook may have reported it meanwhile.
                if journal.find_session_binding(&session.session_id)?.is_none() {
                    session.insert_session(journal, host.as_deref(), now)?;
                    count += 1;
                }
            }
            Ok(count)
        })
    }
}

/// Transcripts below this directory with recent writes.
fn list_recent_transcripts(directory: &Path) -> Vec<UnreportedTranscript> {
    let projects = fs::read_dir(directory).into_iter().flatten().flatten();
    let files = projects.flat_map(|project| fs::read_dir(project.path()).into_iter().flatten().flatten());
    files.filter_map(|file| inspect_transcript(&file.path())).take(MAX_TRANSCRIPTS).collect()
}

fn inspect_transcript(path: &Path) -> Option<UnreportedTranscript> {
    let session_id = path.file_stem()?.to_str()?;
    if path.extension()? != "jsonl" || session_id.starts_with(SUBAGENT_PREFIX) {
        return None;
    }
    let written = fs::metadata(path).and_then(|metadata| metadata.modified()).ok()?;
    let since = SystemTime::now().duration_since(written).unwrap_or_default();
    (since < RECENT_WINDOW).then_some(UnreportedTranscript {
        session_id: session_id.to_owned(),
        path: path.to_str()?.to_owned(),
        written: to_stored_precision(Timestamp::try_from(written).ok()?),
        is_very_recent: since < ACTIVE_WINDOW,
    })
}

/// A process has one session at a time: the one with the newest transcript.
fn keep_newest_of_process(mut sessions: Vec<DiscoveredSession>) -> Vec<DiscoveredSession> {
    sessions.sort_by_key(|session| std::cmp::Reverse(session.written));
    let mut seen = Vec::new();
    sessions.retain(|session| match session.process {
        Some(process) if seen.contains(&process) => false,
        process => {
            seen.extend(process);
            true
        }
    });
    sessions
}

/// The project's directory by the name of a transcript's directory, which has hyphens instead of slashes.
fn decode_project_dir(path: &str) -> Option<PathBuf> {
    let name = Path::new(path).parent()?.file_name()?.to_str()?;
    let directory = PathBuf::from(name.replace('-', "/"));
    (directory.is_absolute() && directory.is_dir()).then_some(directory)
}

impl UnreportedTranscript {
    /// The transcript's data, if its session is live. Processes that are taken belong to other agents.
    fn read_session(&self, taken: &[ProcessIdentity]) -> Option<DiscoveredSession> {
        let ids = [self.session_id.clone()];
        let caught_up = read_transcript_delta(
            self.path.clone(),
            TranscriptFormat::ClaudeJsonl,
            TranscriptProgress::default(),
            &ids,
        );
        let read = caught_up.read.as_ref()?;
        // A file without entries of this session is something else.
        read.activity.as_ref()?;
        let cwd = read.cwd.as_deref().map(PathBuf::from).or_else(|| decode_project_dir(&self.path))?;
        let is_own = |process: &ProcessIdentity| {
            !taken.iter().any(|other| other.pid == process.pid)
                && session_file::read_session_id(*process, &self.path).is_none_or(|id| id == self.session_id)
        };
        let in_directory = || ProcessIdentity::find_claude_in_directory(&cwd).filter(is_own);
        let (process, is_live) = match session_file::find_session_process(&self.session_id, &self.path) {
            SessionProcess::Live(process) => (Some(process), true),
            SessionProcess::Ended => (in_directory(), false),
            SessionProcess::Unknown => (in_directory(), self.is_very_recent),
        };
        (is_live || process.is_some()).then(|| DiscoveredSession {
            session_id: self.session_id.clone(),
            delta: caught_up,
            cwd,
            process,
            written: self.written,
        })
    }
}

impl DiscoveredSession {
    fn insert_session(&self, rows: &mut Journal<'_>, host: Option<&str>, now: Timestamp) -> Result<()> {
        let root = project::find_project_root(&self.cwd);
        let project_id =
            rows.find_or_create_project(&root.to_string_lossy(), &project::derive_project_name(&root), now)?;
        let mut agent = AgentRow {
            product: Some("claude".to_owned()),
            session_id: Some(self.session_id.clone()),
            process: self.process,
            // No other process there could be it.
            process_is_certain: self.process.is_some(),
            host: host.map(str::to_owned),
            ..AgentRow::new(project_id, self.written)
        };
        agent.set_state(
            AgentState::Idle,
            StateSource::Transcript,
            "found by its transcript, without hook events",
            self.written,
        );
        agent.confidence = StateConfidence::Low;
        rows.save_agent(&mut agent)?;
        let mut conversation = ConversationRow::new(&self.session_id, agent.agent_id, self.written);
        rows.save_conversation(&mut conversation)?;
        rows.bind_session_id(&self.session_id, conversation.conversation_id)?;
        agent.conversation_id = Some(conversation.conversation_id);
        derive::apply_transcript_delta(rows, &mut agent, Some(&mut conversation), &self.delta, self.written)?;
        rows.save_conversation(&mut conversation)?;
        rows.save_agent(&mut agent)
    }
}
