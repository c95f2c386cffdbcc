//! JSON Lines: a call on each line in, a judgement on each line out, in the same order.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};

use anyhow::Context;
use serde::Serialize;

use super::location::GuardLocations;
use super::wire::{GuardAnswerWire, GuardCallWire, GuardErrorWire};
use crate::commands::run::MAX_PAYLOAD_BYTES;
use crate::output;

/// How much is read at once.
const READ_BUFFER_BYTES: usize = 64 * 1024;

/// A line that was longer than this leaves no room behind that is never needed again.
const MAX_RETAINED_BYTES: usize = 1024 * 1024;

/// How many lines there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct JudgedLineCounts {
    /// Lines with something on them.
    pub(super) all: u64,
    /// Those of them that are no calls.
    pub(super) bad: u64,
}

/// Judges every line of standard input. Whoever writes one line and waits has its answer before the next.
pub(super) fn judge_lines(places: &mut GuardLocations) -> anyhow::Result<JudgedLineCounts> {
    let mut lines = JsonLineReader::new(io::stdin().lock());
    let mut answers = JsonLineWriter::new(output::stdout_writer());
    let mut counted = JudgedLineCounts::default();
    loop {
        let line = match lines.next_line(|| answers.flush()) {
            Err(JsonLinesError::Read(error)) => return Err(error).context("cannot read the calls from stdin"),
            Err(JsonLinesError::Write(error)) => return handle_write_error(error, counted),
            Ok(None) => break,
            Ok(Some(line)) => line,
        };
        counted.all += 1;
        let written = match judge_line(line.text, places, &mut answers) {
            Ok(written) => written,
            Err(fault) => {
                counted.bad += 1;
                answers.write_answer(&GuardErrorWire { error: &fault, line: line.number })
            }
        };
        if let Err(error) = written {
            return handle_write_error(error, counted);
        }
    }
    match answers.flush() {
        Ok(()) => Ok(counted),
        Err(error) => handle_write_error(error, counted),
    }
}

/// Judges a line and writes the answer; else says what is wrong with the line.
fn judge_line(
    text: JsonLineText<'_>,
    places: &mut GuardLocations,
    answers: &mut JsonLineWriter<impl Write>,
) -> Result<io::Result<()>, String> {
    let JsonLineText::Whole(text) = text else {
        return Err(format!("it is longer than {MAX_PAYLOAD_BYTES} bytes"));
    };
    let call = GuardCallWire::parse(text)?;
    let (guard, cwd) = places.guard_for_cwd(call.cwd.as_deref()).map_err(|error| format!("{error:#}"))?;
    let judgement = guard.judge(&call.tool, &call.input, Some(cwd));
    Ok(answers.write_answer(&GuardAnswerWire::from_judgement(&judgement)))
}

/// Whoever reads the answers may have seen enough; anything else is a failure.
fn handle_write_error(error: io::Error, counted: JudgedLineCounts) -> anyhow::Result<JudgedLineCounts> {
    if error.kind() == ErrorKind::BrokenPipe {
        return Ok(counted);
    }
    Err(error).context("cannot write the answers")
}

/// Answers, a line each.
struct JsonLineWriter<W: Write> {
    to: W,
    is_terminal: bool,
}

impl<W: Write> JsonLineWriter<W> {
    fn new(to: W) -> Self {
        Self { to, is_terminal: output::is_terminal() }
    }

    fn write_answer(&mut self, answer: &impl Serialize) -> io::Result<()> {
        if self.is_terminal {
            let shown = output::escape_invisible_json(&serde_json::to_string(answer)?);
            self.to.write_all(shown.as_bytes())?;
        } else {
            serde_json::to_writer(&mut self.to, answer)?;
        }
        self.to.write_all(b"\n")
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Why it does not go on.
#[derive(Debug)]
enum JsonLinesError {
    Read(io::Error),
    Write(io::Error),
}

/// A line with something on it.
struct JsonLine<'a> {
    number: u64,
    text: JsonLineText<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JsonLineText<'a> {
    Whole(&'a [u8]),
    TooLong,
}

/// Lines of bytes, none of which is held beyond the limit.
struct JsonLineReader<R: Read> {
    from: BufReader<R>,
    line: Vec<u8>,
    number: u64,
    limit: usize,
}

impl<R: Read> JsonLineReader<R> {
    fn new(from: R) -> Self {
        Self::with_limit(from, usize::try_from(MAX_PAYLOAD_BYTES).unwrap_or(usize::MAX))
    }

    fn with_limit(from: R, limit: usize) -> Self {
        Self { from: BufReader::with_capacity(READ_BUFFER_BYTES, from), line: Vec::new(), number: 0, limit }
    }

    /// The next line that is not blank. `before_waiting` is called whenever everything that has come was looked at.
    fn next_line(
        &mut self,
        mut before_waiting: impl FnMut() -> io::Result<()>,
    ) -> Result<Option<JsonLine<'_>>, JsonLinesError> {
        loop {
            let Some(is_whole) = self.read_line(&mut before_waiting)? else {
                return Ok(None);
            };
            self.number += 1;
            if !is_whole {
                break;
            }
            if self.number == 1 && self.line.starts_with("\u{feff}".as_bytes()) {
                self.line.drain(..3);
            }
            if !self.line.trim_ascii().is_empty() {
                break;
            }
        }
        let text = if self.line.len() > self.limit { JsonLineText::TooLong } else { JsonLineText::Whole(&self.line) };
        Ok(Some(JsonLine { number: self.number, text }))
    }

    /// Reads up to the next end of a line, and answers whether it is within the limit; nothing if there is no more.
    fn read_line(
        &mut self,
        before_waiting: &mut impl FnMut() -> io::Result<()>,
    ) -> Result<Option<bool>, JsonLinesError> {
        self.line.clear();
        self.line.shrink_to(MAX_RETAINED_BYTES);
        let mut has_begun = false;
        loop {
            if self.from.buffer().is_empty() {
                before_waiting().map_err(JsonLinesError::Write)?;
            }
            let come = match self.from.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                come => come.map_err(JsonLinesError::Read)?,
            };
            if come.is_empty() {
                return Ok(has_begun.then_some(self.line.len() <= self.limit));
            }
            has_begun = true;
            let end = come.iter().position(|byte| *byte == b'\n');
            let piece = &come[..end.unwrap_or(come.len())];
            // One byte beyond the limit tells that there were more.
            let room = (self.limit + 1).saturating_sub(self.line.len());
            self.line.extend_from_slice(&piece[..piece.len().min(room)]);
            let taken = end.map_or(come.len(), |end| end + 1);
            self.from.consume(taken);
            if end.is_some() {
                return Ok(Some(self.line.len() <= self.limit));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out one piece at a time, as a pipe does.
    struct ChunkedReader(Vec<&'static str>);

    impl Read for ChunkedReader {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Ok(0);
            }
            let piece = self.0.remove(0);
            to[..piece.len()].copy_from_slice(piece.as_bytes());
            Ok(piece.len())
        }
    }

    fn read_all_lines(pieces: &[&'static str]) -> Vec<(u64, Option<String>)> {
        let mut lines = JsonLineReader::with_limit(ChunkedReader(pieces.to_vec()), 5);
        let mut found = Vec::new();
        while let Some(line) = lines.next_line(|| Ok(())).unwrap() {
            let text = match line.text {
                JsonLineText::Whole(text) => Some(String::from_utf8(text.to_vec()).unwrap()),
                JsonLineText::TooLong => None,
            };
            found.push((line.number, text));
        }
        found
    }

    #[test]
    fn lines_are_told_apart_however_they_come() {
        let line = |number, text: &str| (number, Some(text.to_owned()));
        let rows: &[(&[&'static str], &[_])] = &[
            (&[], &[]),
            (&["\n", "\r\n  \n"], &[]),
            (&["a\nb"], &[line(1, "a"), line(2, "b")]),
            (&["a", "b\r", "\n\nc\n"], &[line(1, "ab\r"), line(3, "c")]),
            (&["\u{feff}a\n\u{feff}b\n"], &[line(1, "a"), line(2, "\u{feff}b")]),
            (&["12345\n123456\n1"], &[line(1, "12345"), (2, None), line(3, "1")]),
            (&["123", "456", "789", "\n1"], &[(1, None), line(2, "1")]),
            (&["123456"], &[(1, None)]),
        ];
        for (pieces, expected) in rows {
            assert_eq!(read_all_lines(pieces), *expected, "{pieces:?}");
        }
    }

    #[test]
    fn nothing_is_waited_for_before_everything_is_told() {
        let mut lines = JsonLineReader::with_limit(ChunkedReader(vec!["a\nb\nc", "\n"]), 5);
        let mut told = Vec::new();
        let mut waits = 0;
        while let Some(line) = lines
            .next_line(|| {
                waits += 1;
                Ok(())
            })
            .unwrap()
        {
            told.push((line.number, waits));
        }
        assert_eq!(told, [(1, 1), (2, 1), (3, 2)]);
        assert_eq!(waits, 3);
    }
}
