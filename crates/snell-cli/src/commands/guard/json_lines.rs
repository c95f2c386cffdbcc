//! JSON Lines: a call on each line in, a judgement on each line out, in the same order.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};

use anyhow::Context;
use serde::Serialize;

use super::location::GuardLocations;
use super::wire::{GuardAnswerWire, GuardCallWire, GuardErrorWire};
use crate::commands::run::MAX_PAYLOAD_BYTES;
use crate::output;

/// The size of the read buffer.
const READ_BUFFER_BYTES: usize = 64 * 1024;

/// The line buffer shrinks to this size after a longer line.
const MAX_RETAINED_BYTES: usize = 1024 * 1024;

/// How many lines were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct JudgedLineCounts {
    /// Lines that are not blank.
    pub(super) all: u64,
    /// Lines that are not calls.
    pub(super) bad: u64,
}

/// Judges every line of standard input. Each answer is flushed before the next line is awaited.
pub(super) fn judge_lines(places: &mut GuardLocations) -> anyhow::Result<JudgedLineCounts> {
    let mut counted = JudgedLineCounts::default();
    match judge_stdin(places, &mut counted) {
        Err(JsonLinesError::Read(error)) => Err(error).context("cannot read the calls from stdin"),
        // A closed output is not an error: the reader has enough.
        Err(JsonLinesError::Write(error)) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("cannot write the answers")
        }
        _ => Ok(counted),
    }
}

fn judge_stdin(places: &mut GuardLocations, counted: &mut JudgedLineCounts) -> Result<(), JsonLinesError> {
    let mut lines = JsonLineReader::new(io::stdin().lock(), MAX_PAYLOAD_BYTES);
    let mut answers = JsonLineWriter { to: output::stdout_writer(), is_terminal: output::is_terminal() };
    while let Some(line) = lines.next_line(|| answers.to.flush())? {
        counted.all += 1;
        let written = match judge_line(line.text, places, &mut answers) {
            Ok(written) => written,
            Err(fault) => {
                counted.bad += 1;
                answers.write_answer(&GuardErrorWire { error: &fault, line: line.number })
            }
        };
        written.map_err(JsonLinesError::Write)?;
    }
    answers.to.flush().map_err(JsonLinesError::Write)
}

/// Judges a line and writes the answer, or what is wrong with the line.
fn judge_line(
    text: Option<&[u8]>,
    places: &mut GuardLocations,
    answers: &mut JsonLineWriter<impl Write>,
) -> Result<io::Result<()>, String> {
    let text = text.ok_or_else(|| format!("the line is longer than {MAX_PAYLOAD_BYTES} bytes"))?;
    let call = GuardCallWire::parse(text)?;
    let (guard, cwd) = places.guard_for_cwd(call.cwd.as_deref()).map_err(|error| format!("{error:#}"))?;
    let judgement = guard.for_agent(call.agent.as_deref()).judge(&call.tool, &call.input, Some(cwd));
    Ok(answers.write_answer(&GuardAnswerWire::from_judgement(&judgement)))
}

/// Writes answers, one per line.
struct JsonLineWriter<W: Write> {
    to: W,
    is_terminal: bool,
}

impl<W: Write> JsonLineWriter<W> {
    fn write_answer(&mut self, answer: &impl Serialize) -> io::Result<()> {
        if self.is_terminal {
            let shown = output::escape_invisible_json(&serde_json::to_string(answer)?);
            self.to.write_all(shown.as_bytes())?;
        } else {
            serde_json::to_writer(&mut self.to, answer)?;
        }
        self.to.write_all(b"\n")
    }
}

/// Why reading or writing stopped.
#[derive(Debug)]
enum JsonLinesError {
    Read(io::Error),
    Write(io::Error),
}

/// A line that is not blank.
struct JsonLine<'a> {
    number: u64,
    /// `None` if the line exceeds the limit.
    text: Option<&'a [u8]>,
}

/// Reads lines of bytes; keeps at most the limit of each.
struct JsonLineReader<R: Read> {
    from: BufReader<R>,
    line: Vec<u8>,
    number: u64,
    limit: u64,
}

impl<R: Read> JsonLineReader<R> {
    fn new(from: R, limit: u64) -> Self {
        Self { from: BufReader::with_capacity(READ_BUFFER_BYTES, from), line: Vec::new(), number: 0, limit }
    }

    /// The next line that is not blank. `before_waiting` is called before each line that is not complete yet.
    fn next_line(
        &mut self,
        mut before_waiting: impl FnMut() -> io::Result<()>,
    ) -> Result<Option<JsonLine<'_>>, JsonLinesError> {
        loop {
            if !self.from.buffer().contains(&b'\n') {
                before_waiting().map_err(JsonLinesError::Write)?;
            }
            self.line.clear();
            self.line.shrink_to(MAX_RETAINED_BYTES);
            // One byte beyond the limit shows that the line is longer.
            let mut within = self.from.by_ref().take(self.limit + 1);
            if within.read_until(b'\n', &mut self.line).map_err(JsonLinesError::Read)? == 0 {
                return Ok(None);
            }
            self.number += 1;
            let is_ended = self.line.pop_if(|byte| *byte == b'\n').is_some();
            if !is_ended && self.line.len() as u64 > self.limit {
                self.from.skip_until(b'\n').map_err(JsonLinesError::Read)?;
                return Ok(Some(JsonLine { number: self.number, text: None }));
            }
            if self.number == 1 && self.line.starts_with("\u{feff}".as_bytes()) {
                self.line.drain(..3);
            }
            if !self.line.trim_ascii().is_empty() {
                return Ok(Some(JsonLine { number: self.number, text: Some(&self.line) }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns one chunk at a time, as a pipe does.
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
        let mut lines = JsonLineReader::new(ChunkedReader(pieces.to_vec()), 5);
        let mut found = Vec::new();
        while let Some(line) = lines.next_line(|| Ok(())).unwrap() {
            let text = line.text.map(|text| String::from_utf8(text.to_vec()).unwrap());
            found.push((line.number, text));
        }
        found
    }

    #[test]
    fn lines_are_split_in_any_chunks() {
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
    fn answers_are_flushed_before_waiting() {
        let mut lines = JsonLineReader::new(ChunkedReader(vec!["a\nb\nc", "\n"]), 5);
        let mut read = Vec::new();
        let mut waits = 0;
        while let Some(line) = lines
            .next_line(|| {
                waits += 1;
                Ok(())
            })
            .unwrap()
        {
            read.push((line.number, waits));
        }
        assert_eq!(read, [(1, 1), (2, 1), (3, 2)]);
        assert_eq!(waits, 3);
    }
}
