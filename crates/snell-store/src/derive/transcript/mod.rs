//! An agent's transcript, read as it grows.
//!
//! Agents append one line of JSON to a file for each message and action of a session. Hooks have little of the agent's
//! texts and few interruptions, so the store reads those from the file: `entry` parses lines of Claude Code, `line_rows`
//! those of products with a table. Each call continues where the last one ended, which a [`TranscriptCursor`] records
//! across processes:
//!
//! ```text
//! file ──► lines (complete ones, within limits) ──► entries (own session, no sub-agents) ──► chunk
//!   └──────────────────────── cursor: position and identity of the file ◄────────────────────┘
//! ```

mod cursor;
mod entry;
mod line_reader;
mod line_rows;
mod location;

#[cfg(test)]
mod tests;

use std::io;
use std::path::Path;

use snell::{FileAccess, RegularFile, Timestamp, TranscriptFormat};

pub use cursor::{CursorParseError, FileId, TranscriptCursor};
pub(crate) use line_reader::{LineReader, LineStep};
pub(crate) use location::{find_session_id, locate_transcript};

pub use entry::{ActivityKind, ContextUsage, TranscriptActivity, TranscriptCall, TranscriptEntry};

use entry::ParsedLine;

/// How much one call reads, apart from the line at its end. The first read of a larger file begins this far from its
/// end.
pub const MAX_READ_BYTES: u64 = 8 * 1024 * 1024;

/// Longer lines are skipped.
pub const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// Longer texts of an entry are truncated.
pub const MAX_TEXT_BYTES: usize = 64 * 1024;

/// The new part of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TranscriptChunk {
    /// Its entries, in order.
    pub entries: Vec<TranscriptEntry>,
    /// The context size at the agent's last message that has one.
    pub usage: Option<ContextUsage>,
    /// The agent's activities, in order.
    pub activities: Vec<TranscriptActivity>,
    /// The agent's last directory.
    pub cwd: Option<String>,
    /// The session's model by its own line. Unlike the model of a count, it has the mark of a larger context.
    pub model: Option<String>,
    /// The position for the next call.
    pub cursor: TranscriptCursor,
    /// Whether a limit ended the call before the end of the file; the next call continues.
    pub more: bool,
    /// Whether the file was replaced, truncated or rewritten, and read from its start: entries may come again.
    pub restarted: bool,
}

/// Reads the part of the transcript at `path` that was appended since `from`; all of it for
/// [`TranscriptCursor::default`].
///
/// Only complete lines are read: one that is still being written is left for the next call. Invalid lines are skipped,
/// and so are lines of a session for which `is_own` returns `false`. Lines without a session are kept.
///
/// # Errors
///
/// If the file cannot be read, or is not a regular file; a named pipe is refused without waiting.
pub fn read_transcript(
    path: &Path,
    format: TranscriptFormat,
    from: &TranscriptCursor,
    is_own: &dyn Fn(&str) -> bool,
) -> io::Result<TranscriptChunk> {
    let parse_line = |line: &[u8]| match format {
        TranscriptFormat::ClaudeJsonl => entry::parse_line(line, is_own),
        TranscriptFormat::JsonLines(lines) => line_rows::parse_line(line, lines),
        TranscriptFormat::Unsupported => ParsedLine::default(),
    };
    let file = RegularFile::open(path, FileAccess::Read)?.into_file();
    let continues = from.file.is_some() && from.is_valid_for(&file)?;
    let start = if continues { from.clone() } else { TranscriptCursor::initial(&file)? };
    let mut read = TranscriptChunk {
        entries: Vec::new(),
        usage: None,
        activities: Vec::new(),
        cwd: None,
        model: None,
        cursor: start.clone(),
        more: false,
        restarted: !continues && from.offset > 0,
    };
    let written = file.metadata()?.modified().ok().and_then(|modified| Timestamp::try_from(modified).ok());
    let mut lines = LineReader::new(&file, &start)?;
    loop {
        match lines.next_line()? {
            LineStep::Line(line) => read.add_line(parse_line(line), written),
            LineStep::Skipped => {}
            LineStep::End => break,
        }
        if lines.offset() - start.offset >= MAX_READ_BYTES {
            read.more = !lines.is_at_end()?;
            break;
        }
    }
    read.cursor = TranscriptCursor::after_lines(&file, &lines)?;
    Ok(read)
}

impl TranscriptChunk {
    /// The agent's last activity.
    pub fn last_activity(&self) -> Option<&TranscriptActivity> {
        self.activities.last()
    }

    fn add_line(&mut self, found: ParsedLine, written: Option<Timestamp>) {
        self.entries.extend(found.entry);
        let counted = self.usage.take().filter(|_| !found.compacted);
        self.usage = found.usage.or(counted);
        let at = found.at.or(written);
        let has_own_time = found.at.is_some();
        let time = |kind| TranscriptActivity { kind, at, has_own_time };
        self.activities.extend(found.activities.into_iter().map(time));
        self.cwd = found.cwd.or(self.cwd.take());
        self.model = found.model.or(self.model.take());
    }
}
