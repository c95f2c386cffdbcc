//! Sessions that no hook ever reported: their transcripts are found where their agent writes them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use snell::Timestamp;

use crate::error::Result;
use crate::ingest::{self, CaughtUp};
use crate::journal::Journal;
use crate::model::{Agent, Confidence, Conversation, Process, Source, State, as_kept};
use crate::project;
use crate::rows::{Reached, Rows};
use crate::store::{Store, read_on};

/// Transcripts that were written to so recently belong to sessions that may go on.
const RECENT: Duration = Duration::from_secs(60 * 60);

/// Of these the session goes on, even if no process shows that it does.
const VERY_RECENT: Duration = Duration::from_secs(5 * 60);

/// No more are looked at: they are those of one hour.
const MAX_TRANSCRIPTS: usize = 1_000;

/// What subagents write stands beside what their agents write.
const SUBAGENT: &str = "agent-";

/// A transcript of a session that nobody has told of.
struct Unreported {
    session_id: String,
    path: String,
    written: Timestamp,
    is_very_recent: bool,
}

/// A session that nobody has told of, and what its transcript shows.
struct Discovered {
    session_id: String,
    caught_up: CaughtUp,
    cwd: PathBuf,
    process: Option<Process>,
    written: Timestamp,
}

impl Store {
    /// Finds sessions of Claude Code that no hook ever reported, by their transcripts in these directories (each holds one
    /// directory for each project). Answers how many are new.
    ///
    /// # Errors
    ///
    /// When the database cannot be read or written.
    pub fn discover(&mut self, directories: &[PathBuf], now: Timestamp) -> Result<usize> {
        let found: Vec<_> = directories.iter().flat_map(|directory| recent(directory)).collect();
        if found.is_empty() {
            return Ok(0);
        }
        let mut unknown = Vec::new();
        self.backend.look(&mut |rows| {
            unknown.clear();
            for (index, transcript) in found.iter().enumerate() {
                if rows.known_session(&transcript.session_id)?.is_none() {
                    unknown.push(index);
                }
            }
            Ok(())
        })?;
        let discovered: Vec<_> = unknown.into_iter().filter_map(|index| found[index].read()).collect();
        if discovered.is_empty() {
            return Ok(0);
        }
        let host = self.host.clone();
        let mut count = 0;
        self.change("discovered", now, &mut |journal| {
            count = 0;
            for session in &discovered {
                // A hook may have told of it meanwhile.
                if journal.known_session(&session.session_id)?.is_none() {
                    session.enter(journal, host.as_deref(), now)?;
                    count += 1;
                }
            }
            Ok(())
        })?;
        Ok(count)
    }
}

/// Transcripts below this directory that were written to recently.
fn recent(directory: &Path) -> Vec<Unreported> {
    let projects = fs::read_dir(directory).into_iter().flatten().flatten();
    let files = projects.flat_map(|project| fs::read_dir(project.path()).into_iter().flatten().flatten());
    files
        .filter_map(|file| unreported(&file.path()))
        .take(MAX_TRANSCRIPTS)
        .collect()
}

fn unreported(path: &Path) -> Option<Unreported> {
    let session_id = path.file_stem()?.to_str()?;
    if path.extension()? != "jsonl" || session_id.starts_with(SUBAGENT) {
        return None;
    }
    let written = fs::metadata(path).and_then(|metadata| metadata.modified()).ok()?;
    let since = SystemTime::now().duration_since(written).unwrap_or_default();
    (since < RECENT).then_some(Unreported {
        session_id: session_id.to_owned(),
        path: path.to_str()?.to_owned(),
        written: as_kept(Timestamp::try_from(written).ok()?),
        is_very_recent: since < VERY_RECENT,
    })
}

/// The directory that a transcript's own directory is named after, with hyphens for what parts its names.
fn named_by(path: &str) -> Option<PathBuf> {
    let name = Path::new(path).parent()?.file_name()?.to_str()?;
    let directory = PathBuf::from(name.replace('-', "/"));
    (directory.is_absolute() && directory.is_dir()).then_some(directory)
}

impl Unreported {
    /// What it shows, if it is the transcript of a session that goes on.
    fn read(&self) -> Option<Discovered> {
        let ids = [self.session_id.clone()];
        let caught_up = read_on(self.path.clone(), Reached::default(), &ids);
        let read = caught_up.read.as_ref()?;
        // A file in which nothing of this session stands is something else.
        read.activity.as_ref()?;
        let cwd = read
            .cwd
            .as_deref()
            .map(PathBuf::from)
            .or_else(|| named_by(&self.path))?;
        let process = Process::of_claude_in(&cwd);
        (self.is_very_recent || process.is_some()).then(|| Discovered {
            session_id: self.session_id.clone(),
            caught_up,
            cwd,
            process,
            written: self.written,
        })
    }
}

impl Discovered {
    fn enter(&self, rows: &mut Journal<'_>, host: Option<&str>, now: Timestamp) -> Result<()> {
        let root = project::root_of(&self.cwd);
        let project_id = rows.project(&root.to_string_lossy(), &project::name_of(&root), now)?;
        let mut agent = Agent {
            product: Some("claude".to_owned()),
            session_id: Some(self.session_id.clone()),
            process: self.process,
            // Nothing else runs there that could be it.
            process_is_certain: self.process.is_some(),
            host: host.map(str::to_owned),
            ..Agent::first_seen(project_id, self.written)
        };
        agent.turn_to(
            State::Idle,
            Source::Transcript,
            "its transcript was found; no hook told of it",
            self.written,
        );
        agent.confidence = Confidence::Low;
        rows.save_agent(&mut agent)?;
        let mut conversation = Conversation::begun(&self.session_id, agent.agent_id, self.written);
        rows.save_conversation(&mut conversation)?;
        rows.bind_session_id(&self.session_id, conversation.conversation_id)?;
        agent.conversation_id = Some(conversation.conversation_id);
        ingest::catch_up(rows, &mut agent, &self.session_id, &self.caught_up, self.written)?;
        rows.save_agent(&mut agent)
    }
}
