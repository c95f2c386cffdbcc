//! The files and processes that show a change of an agent's state before its next event.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::session_file;
use crate::db::model::{AgentRow, AgentState, ProcessIdentity};
use crate::derive::process::ProcessFingerprint;
use crate::error::Result;
use crate::store::Store;

/// An agent to watch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WatchTarget {
    /// The agent.
    pub agent_id: i64,
    /// Its transcript and its session file. An idle agent may get a prompt that no event reports.
    files: Vec<PathBuf>,
    process: Option<ProcessIdentity>,
}

/// Which file is at a path, and its last change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileFingerprint {
    device: u64,
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
}

impl WatchTarget {
    /// The files that show a change.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Looks at the files. Opens none, so a named pipe cannot block it.
    pub fn read_files(&self) -> Vec<Option<FileFingerprint>> {
        self.files.iter().map(|path| FileFingerprint::read(path)).collect()
    }

    /// Looks at the process; nothing if it is unknown.
    pub fn read_process(&self) -> Option<ProcessFingerprint> {
        self.process.map(ProcessIdentity::read_fingerprint)
    }
}

impl FileFingerprint {
    fn read(path: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(path).ok()?;
        Some(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        })
    }
}

impl Store {
    /// The agents of this host whose files or processes can show a change of their state.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn list_watch_targets(&mut self) -> Result<Vec<WatchTarget>> {
        let agents = self.read_rows(&mut |rows| {
            let mut agents = Vec::new();
            for agent in rows.list_live_agents()? {
                let is_watched = agent.state != AgentState::Ended;
                let transcript = match agent.session_id.as_ref().filter(|_| is_watched) {
                    Some(session) => rows.load_transcript_progress(session)?.path,
                    None => None,
                };
                agents.push((agent, transcript));
            }
            Ok(agents)
        })?;
        let local = agents.into_iter().filter(|(agent, _)| self.is_local_agent(agent));
        Ok(local.filter_map(|(agent, transcript)| build_target(&agent, transcript)).collect())
    }
}

fn build_target(agent: &AgentRow, transcript: Option<String>) -> Option<WatchTarget> {
    let session_file = transcript.as_deref().and_then(|transcript| session_file::locate_file(agent, transcript));
    let files: Vec<_> = transcript.map(PathBuf::from).into_iter().chain(session_file).collect();
    let process = agent.process.filter(|_| agent.process_is_certain);
    let has_evidence = !files.is_empty() || process.is_some();
    has_evidence.then_some(WatchTarget { agent_id: agent.agent_id, files, process })
}
