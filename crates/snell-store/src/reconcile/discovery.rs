//! Finds sessions without hook events by their transcripts.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use snell::{AgentProduct, Timestamp, TranscriptFiles, TranscriptFormat};

use super::session_file::{self, SessionProcess};
use crate::db::journal::Journal;
use crate::db::model::{
    AgentRow, AgentState, ConversationRow, ProcessIdentity, StateConfidence, StateSource, to_stored_precision,
};
use crate::db::rows::{Rows, TranscriptProgress};
use crate::derive::project;
use crate::derive::transcript::find_session_id;
use crate::derive::{self, TranscriptDelta};
use crate::error::Result;
use crate::store::{Store, read_transcript_delta};

/// A transcript with a write in this time may belong to a live session.
const RECENT_WINDOW: Duration = Duration::from_secs(60 * 60);

/// With a write in this time the session is live, even without a known process, if its agent keeps no session files.
const ACTIVE_WINDOW: Duration = Duration::from_secs(2 * 60);

/// Directories below the first level are not listed if they have had no new file for this long. Some agents keep one for
/// each day.
const DIRECTORY_WINDOW: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The largest number of transcripts: those of one hour.
const MAX_TRANSCRIPTS: usize = 1_000;

/// The prefix of sub-agents' transcripts, which are beside those of their agents.
const SUBAGENT_PREFIX: &str = "agent-";

/// A directory with transcripts of one product.
#[derive(Clone, Debug, PartialEq)]
pub struct TranscriptDirectory {
    /// The product.
    pub product: &'static AgentProduct,
    /// The directory.
    pub path: PathBuf,
}

/// A transcript of a session without hook events.
struct UnreportedTranscript {
    product: &'static AgentProduct,
    session_id: String,
    path: String,
    written: Timestamp,
    is_very_recent: bool,
}

/// A session without hook events, and its transcript's data.
struct DiscoveredSession {
    product: &'static AgentProduct,
    session_id: String,
    delta: TranscriptDelta,
    cwd: PathBuf,
    process: Option<ProcessIdentity>,
    written: Timestamp,
}

impl Store {
    /// Finds sessions without hook events by their transcripts in these directories. Returns how many are new.
    ///
    /// # Errors
    ///
    /// When the database cannot be read or written.
    pub fn discover_sessions(&mut self, directories: &[TranscriptDirectory], now: Timestamp) -> Result<usize> {
        let found: Vec<_> = directories.iter().flat_map(|directory| list_recent_transcripts(directory, now)).collect();
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
fn list_recent_transcripts(directory: &TranscriptDirectory, now: Timestamp) -> Vec<UnreportedTranscript> {
    let Some((files, depth)) = directory.product.transcript_files.and_then(|files| Some((files, files.depth?))) else {
        return Vec::new();
    };
    let mut parents = vec![directory.path.clone()];
    for level in 0..depth {
        let children = parents.iter().flat_map(|parent| list_children(parent));
        let is_live =
            |path: &PathBuf| level == 0 || measure_age(path, now).is_some_and(|(_, age)| age < DIRECTORY_WINDOW);
        parents = children.filter(is_live).collect();
    }
    let files_there = parents.iter().flat_map(|parent| list_children(parent));
    let inspected = files_there.filter_map(|path| inspect_transcript(directory.product, &files, &path, now));
    inspected.take(MAX_TRANSCRIPTS).collect()
}

fn list_children(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// The time of the last write, and how long ago it was.
fn measure_age(path: &Path, now: Timestamp) -> Option<(Timestamp, Duration)> {
    let written = Timestamp::try_from(fs::metadata(path).and_then(|metadata| metadata.modified()).ok()?).ok()?;
    Some((written, Duration::try_from(now.duration_since(written)).unwrap_or_default()))
}

fn inspect_transcript(
    product: &'static AgentProduct,
    files: &TranscriptFiles,
    path: &Path,
    now: Timestamp,
) -> Option<UnreportedTranscript> {
    let name = path.file_name()?.to_str()?;
    if !name.ends_with(files.suffix) || name.starts_with(SUBAGENT_PREFIX) {
        return None;
    }
    let (written, since) = measure_age(path, now)?;
    if since >= RECENT_WINDOW {
        return None;
    }
    Some(UnreportedTranscript {
        product,
        session_id: find_session_id(files.session, path)?,
        path: path.to_str()?.to_owned(),
        written: to_stored_precision(written),
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

impl UnreportedTranscript {
    /// The agent's directory, if its transcript does not name it. Claude Code names the transcript's directory after it, with
    /// hyphens instead of slashes. Of other agents, only the transcript's own directory is known.
    fn guess_directory(&self) -> Option<PathBuf> {
        let parent = Path::new(&self.path).parent()?;
        if self.product.transcript != TranscriptFormat::ClaudeJsonl {
            return Some(parent.to_owned());
        }
        let directory = PathBuf::from(parent.file_name()?.to_str()?.replace('-', "/"));
        (directory.is_absolute() && directory.is_dir()).then_some(directory)
    }

    /// The transcript's data, if its session is live. Processes that are taken belong to other agents.
    fn read_session(&self, taken: &[ProcessIdentity]) -> Option<DiscoveredSession> {
        let ids = [self.session_id.clone()];
        let format = self.product.transcript;
        let caught_up = read_transcript_delta(self.path.clone(), format, TranscriptProgress::default(), &ids);
        let read = caught_up.read.as_ref()?;
        // A file without entries of this session is something else.
        read.last_activity()?;
        let cwd = read.cwd.as_deref().map(PathBuf::from).or_else(|| self.guess_directory())?;
        if self.product.transcript != TranscriptFormat::ClaudeJsonl {
            let Self { product, session_id, written, .. } = self;
            let (product, session_id, written) = (*product, session_id.clone(), *written);
            let session = DiscoveredSession { product, session_id, delta: caught_up, cwd, process: None, written };
            return self.is_very_recent.then_some(session);
        }
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
            product: self.product,
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
            product: Some(self.product.name.to_owned()),
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
