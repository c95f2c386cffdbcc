//! Reads what agents have written since the last time, in small steps.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use snell::{FileAccess, RegularFile, Timestamp};

use super::formats::{LineUsage, UsageFileState, UsageReader, limit_text};
use super::source_files::{self, UsageDirectory, UsageFile};
use crate::db::usage::{UsageBatch, UsageFilePosition};
use crate::derive::project::find_project_root;
use crate::derive::transcript::{LineReader, LineStep, TranscriptCursor};
use crate::error::Result;
use crate::store::Store;

/// How much one step reads, apart from the line at its end.
const STEP_BYTES: u64 = 4 * 1024 * 1024;

/// Longer than any project's directory.
const MAX_CWD_BYTES: usize = 4096;

/// The files that have changed since they were read, and how far they are read.
#[derive(Debug, Default)]
pub struct UsageScan {
    files: VecDeque<UsageFile>,
    progress: UsageProgress,
    /// The project of each directory.
    projects: HashMap<String, String>,
}

/// How much of a scan is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsageProgress {
    /// The bytes that were read.
    pub read_bytes: u64,
    /// The bytes to read in all.
    pub all_bytes: u64,
    /// The files that are left.
    pub files_left: usize,
}

/// The new part of a file.
struct FilePart {
    position: UsageFilePosition,
    found: UsageBatch,
    read_bytes: u64,
    has_more: bool,
}

impl UsageScan {
    /// Finds the files that have changed, in these directories and among the transcripts that events named.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn start(store: &mut Store, directories: &[UsageDirectory]) -> Result<Self> {
        let positions = store.usage_table().list_usage_positions()?;
        let host = store.host().map(str::to_owned);
        let named = store.usage_table().list_named_transcripts(host.as_deref())?;
        let named = named.iter().flat_map(|(product, path)| source_files::list_named_files(product, path));
        let mut files: HashMap<String, UsageFile> = HashMap::new();
        for file in directories.iter().flat_map(UsageDirectory::list_files).chain(named) {
            let position = positions.get(&file.path).and_then(|text| text.parse::<TranscriptCursor>().ok());
            if !position.is_some_and(|position| position.is_at_end_of(&file.metadata)) {
                files.insert(file.path.clone(), file);
            }
        }
        let mut files: Vec<_> = files.into_values().collect();
        files.sort_by_cached_key(|file| (file.metadata.modified().ok(), file.path.clone()));
        let unread = |file: &UsageFile| file.metadata.len().saturating_sub(read_offset(positions.get(&file.path)));
        let all_bytes = files.iter().map(unread).sum();
        let progress = UsageProgress { all_bytes, files_left: files.len(), read_bytes: 0 };
        Ok(Self { files: files.into(), progress, projects: HashMap::new() })
    }

    /// How much is done.
    pub fn progress(&self) -> UsageProgress {
        self.progress
    }

    /// Reads a part of one file. Returns whether more is left.
    ///
    /// # Errors
    ///
    /// When the database cannot be written. The same step can be tried again.
    pub fn run_step(&mut self, store: &mut Store) -> Result<bool> {
        let Some(file) = self.files.front() else {
            return Ok(false);
        };
        let stored = store.usage_table().find_usage_file(&file.path)?;
        // A file that is missing or cannot be read has no requests for now.
        let part = read_part(file, stored.as_ref()).ok();
        let Some(FilePart { position, mut found, read_bytes, has_more }) = part else {
            self.finish_file();
            return Ok(!self.files.is_empty());
        };
        let written = file.metadata.modified().ok().and_then(|written| Timestamp::try_from(written).ok());
        for request in &mut found.requests {
            request.at = request.at.or(written);
            request.project = self.find_project(&request.project);
        }
        // An incomplete line at the end of a file is read again each time.
        let is_news = position.before.as_ref() != Some(&position.position);
        found.file = Some(position);
        // If another process has read the same part meanwhile, its position is used the next time.
        if is_news && !store.usage_table().save_usage(&found)? {
            return Ok(true);
        }
        let sessions: BTreeSet<_> = found.requests.into_iter().map(|request| request.session_id).collect();
        store.refresh_session_cards(&sessions)?;
        self.progress.read_bytes += read_bytes;
        if !has_more {
            self.finish_file();
        }
        Ok(!self.files.is_empty())
    }

    fn finish_file(&mut self) {
        self.files.pop_front();
        self.progress.files_left = self.files.len();
    }

    fn find_project(&mut self, cwd: &str) -> String {
        if !Path::new(cwd).is_absolute() || cwd.len() > MAX_CWD_BYTES {
            return String::new();
        }
        let root = || find_project_root(Path::new(cwd)).to_string_lossy().into_owned();
        self.projects.entry(cwd.to_owned()).or_insert_with(root).clone()
    }
}

fn read_offset(position: Option<&String>) -> u64 {
    position.and_then(|text| text.parse::<TranscriptCursor>().ok()).map_or(0, |position| position.offset)
}

/// Reads on from the stored position; from the start if the file is another one now, or was rewritten.
fn read_part(source: &UsageFile, stored: Option<&(String, String)>) -> io::Result<FilePart> {
    let file = RegularFile::open(Path::new(&source.path), FileAccess::Read)?.into_file();
    let mut from = TranscriptCursor::from_offset(&file, 0)?;
    let mut state = UsageFileState::default();
    if let Some((position, stored_state)) = stored
        && let Ok(position) = position.parse::<TranscriptCursor>()
        && position.is_valid_for(&file)?
    {
        from = position;
        state = serde_json::from_str(stored_state).unwrap_or_default();
    }
    let (found, position, has_more) = match source.format.reader {
        UsageReader::Lines(read) => read_lines(&file, &from, &mut |line| read(line, &mut state))?,
        UsageReader::LinesOfSession { read, session_level, agent_level } => {
            let name_of = |level: usize| {
                let directory = Path::new(&source.path).ancestors().nth(level)?.file_name()?;
                Some(limit_text(directory.to_string_lossy().into_owned()))
            };
            state.session_id = name_of(session_level).unwrap_or_default();
            state.turn = name_of(agent_level).unwrap_or_default();
            read_lines(&file, &from, &mut |line| read(line, &mut state))?
        }
        UsageReader::Document(read) => read_document(&file, &mut |document| read(document, &mut state))?,
    };
    let read_bytes = position.offset.saturating_sub(from.offset);
    let position = UsageFilePosition {
        path: source.path.clone(),
        before: stored.map(|(position, _)| position.clone()),
        position: position.to_string(),
        state: serde_json::to_string(&state).unwrap_or_default(),
    };
    Ok(FilePart { position, found, read_bytes, has_more })
}

/// Reads a whole file again. A longer one than a step is no document of an agent.
fn read_document(file: &File, read: &mut dyn FnMut(&[u8]) -> LineUsage) -> io::Result<ReadLines> {
    let mut document = Vec::new();
    file.take(STEP_BYTES).read_to_end(&mut document)?;
    let LineUsage { requests, turn } = read(&document);
    let found = UsageBatch { requests, turns: turn.into_iter().collect(), ..UsageBatch::default() };
    let length = file.metadata()?.len();
    Ok((found, TranscriptCursor::from_offset(file, length)?, false))
}

type ReadLines = (UsageBatch, TranscriptCursor, bool);

fn read_lines(
    file: &File,
    from: &TranscriptCursor,
    read_line: &mut dyn FnMut(&[u8]) -> LineUsage,
) -> io::Result<ReadLines> {
    let mut found = UsageBatch::default();
    let mut lines = LineReader::new(file, from)?;
    let mut has_more = false;
    loop {
        match lines.next_line()? {
            LineStep::Line(line) => {
                let LineUsage { requests, turn } = read_line(line);
                found.requests.extend(requests);
                found.turns.extend(turn);
            }
            LineStep::Skipped => {}
            LineStep::End => break,
        }
        if lines.offset() - from.offset >= STEP_BYTES {
            has_more = !lines.is_at_end()?;
            break;
        }
    }
    Ok((found, TranscriptCursor::after_lines(file, &lines)?, has_more))
}
