//! An agent's transcript, read as it grows.
//!
//! Claude Code appends one line of JSON to a file for whatever is said or done in a session. Hooks carry little of what
//! the agent says and nothing of an interruption, so the words are taken from there. Each call reads on from where the
//! last one ended, which a [`TranscriptCursor`] remembers between processes:
//!
//! ```text
//!  file ──► lines (whole ones, within limits) ──► entries (own session, no subagents) ──► Read
//!    └───────────────────────── mark: how far, and of which file ◄──────────────────────────┘
//! ```

mod cursor;
mod entry;
mod line_reader;

#[cfg(test)]
mod tests;

use std::io;
use std::path::Path;

use snell::{FileAccess, RegularFile};

pub use cursor::{CursorParseError, FileId, TranscriptCursor};
pub use entry::{ActivityKind, ContextUsage, TranscriptActivity, TranscriptEntry};

use entry::ParsedLine;
use line_reader::{LineReader, LineStep};

/// How much one call reads, apart from the line it is in the middle of. The first reading of a larger file begins this
/// far from its end.
pub const MAX_READ_BYTES: u64 = 8 * 1024 * 1024;

/// The longest line that is looked at.
pub const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// The longest text that is kept of an entry.
pub const MAX_TEXT_BYTES: usize = 64 * 1024;

/// What was new in a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TranscriptChunk {
    /// What was said and what happened, in order.
    pub entries: Vec<TranscriptEntry>,
    /// How full the context was at the last of the agent's messages that says so.
    pub usage: Option<ContextUsage>,
    /// What the agent was doing last, as far as that shows.
    pub activity: Option<TranscriptActivity>,
    /// The directory that it was in last.
    pub cwd: Option<String>,
    /// Where to read on.
    pub cursor: TranscriptCursor,
    /// Whether a limit ended the call before the end of the file; the next call goes on.
    pub more: bool,
    /// Whether the file was replaced, truncated or rewritten, so that it was read as a new one: entries that were
    /// read before may come again.
    pub restarted: bool,
}

/// Reads what was appended to the transcript at `path` since `from`; all of it for [`TranscriptCursor::default`].
///
/// Only whole lines count: one that is still being written is left for the next call. What cannot be understood is
/// skipped, and so is a line of a session for which `is_own` answers `false`; one that names no session counts.
///
/// # Errors
///
/// If the file cannot be read, or is no regular file; a named pipe is never waited for.
pub fn read_transcript(
    path: &Path,
    from: &TranscriptCursor,
    is_own: &dyn Fn(&str) -> bool,
) -> io::Result<TranscriptChunk> {
    let file = RegularFile::open(path, FileAccess::Read)?.into_file();
    let continues = from.file.is_some() && from.is_valid_for(&file)?;
    let start = if continues { from.clone() } else { TranscriptCursor::initial(&file)? };
    let mut read = TranscriptChunk {
        entries: Vec::new(),
        usage: None,
        activity: None,
        cwd: None,
        cursor: start.clone(),
        more: false,
        restarted: !continues && from.offset > 0,
    };
    let mut lines = LineReader::new(&file, &start)?;
    loop {
        match lines.next_line()? {
            LineStep::Line(line) => read.add_line(entry::parse_line(line, is_own)),
            LineStep::Skipped => {}
            LineStep::End => break,
        }
        if lines.offset() - start.offset >= MAX_READ_BYTES {
            read.more = !lines.is_at_end()?;
            break;
        }
    }
    let cursor = TranscriptCursor::from_offset(&file, lines.offset())?;
    read.cursor = TranscriptCursor { in_long_line: lines.is_in_long_line(), ..cursor };
    Ok(read)
}

impl TranscriptChunk {
    fn add_line(&mut self, found: ParsedLine) {
        self.entries.extend(found.entry);
        let counted = self.usage.take().filter(|_| !found.compacted);
        self.usage = found.usage.or(counted);
        self.activity = found.activity.or(self.activity.take());
        self.cwd = found.cwd.or(self.cwd.take());
    }
}
