//! The complete lines of a file that may still grow, within a memory limit.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};

use super::{MAX_LINE_BYTES, TranscriptCursor};

/// How much is read from the file at once.
const BUFFER_BYTES: usize = 64 * 1024;

/// Reads lines and knows its position: always at the start of a line, or inside one that is skipped.
#[derive(Debug)]
pub(crate) struct LineReader<'a> {
    reader: BufReader<&'a File>,
    line: Vec<u8>,
    offset: u64,
    in_long_line: bool,
}

/// One step of reading.
#[derive(Debug)]
pub(crate) enum LineStep<'a> {
    /// A line without its line feed.
    Line(&'a [u8]),
    /// A piece of a line that is too long.
    Skipped,
    /// The end, or an incomplete line.
    End,
}

/// The next bytes from the buffer.
enum BufferPiece {
    LineEnd,
    Within,
    Nothing,
}

impl<'a> LineReader<'a> {
    /// Reads on from a position in the file.
    pub(crate) fn new(mut file: &'a File, from: &TranscriptCursor) -> io::Result<Self> {
        let TranscriptCursor { offset, in_long_line, .. } = *from;
        file.seek(SeekFrom::Start(offset))?;
        Ok(Self { reader: BufReader::with_capacity(BUFFER_BYTES, file), line: Vec::new(), offset, in_long_line })
    }

    /// The end of the last complete line, or of the last piece of a skipped one.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    pub(crate) fn is_in_long_line(&self) -> bool {
        self.in_long_line
    }

    pub(crate) fn is_at_end(&mut self) -> io::Result<bool> {
        Ok(self.reader.fill_buf()?.is_empty())
    }

    pub(crate) fn next_line(&mut self) -> io::Result<LineStep<'_>> {
        self.line.clear();
        loop {
            let ended = match self.take_piece()? {
                BufferPiece::Nothing => return Ok(LineStep::End),
                BufferPiece::Within => false,
                BufferPiece::LineEnd => true,
            };
            let too_long = self.line.len() > MAX_LINE_BYTES + usize::from(ended);
            if ended || too_long || self.in_long_line {
                self.offset += self.line.len() as u64;
                let skip = too_long || self.in_long_line;
                self.in_long_line = skip && !ended;
                return Ok(if skip { LineStep::Skipped } else { LineStep::Line(strip_line_feed(&self.line)) });
            }
        }
    }

    /// Moves bytes from the buffer to the line, up to and including the next line feed.
    fn take_piece(&mut self) -> io::Result<BufferPiece> {
        let available = loop {
            match self.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(_) => break self.reader.buffer(),
            }
        };
        if available.is_empty() {
            return Ok(BufferPiece::Nothing);
        }
        let line_end = available.iter().position(|byte| *byte == b'\n');
        let taken = line_end.map_or(available.len(), |at| at + 1);
        self.line.extend_from_slice(&available[..taken]);
        self.reader.consume(taken);
        Ok(if line_end.is_some() { BufferPiece::LineEnd } else { BufferPiece::Within })
    }
}

fn strip_line_feed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}
