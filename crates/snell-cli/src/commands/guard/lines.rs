//! JSON Lines: a call on each line in, a judgement on each line out, in the same order.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};

use anyhow::Context;
use serde::Serialize;

use super::place::Places;
use super::wire::{Answer, CallWire, NoAnswer};
use crate::commands::run::MAX_PAYLOAD_BYTES;
use crate::output;

/// How much is read at once.
const READ_BYTES: usize = 64 * 1024;

/// A line that was longer than this leaves no room behind that is never needed again.
const KEPT_BYTES: usize = 1024 * 1024;

/// How many lines there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    /// Lines with something on them.
    pub(super) all: u64,
    /// Those of them that are no calls.
    pub(super) bad: u64,
}

/// Judges every line of standard input. Whoever writes one line and waits has its answer before the next.
pub(super) fn judge_all(places: &mut Places) -> anyhow::Result<Counted> {
    let mut lines = Lines::of(io::stdin().lock());
    let mut answers = Answers::new(output::stream());
    let mut counted = Counted::default();
    loop {
        let line = match lines.next(|| answers.flush()) {
            Err(Stopped::Unread(error)) => return Err(error).context("cannot read the calls from stdin"),
            Err(Stopped::Unwritten(error)) => return ended(error, counted),
            Ok(None) => break,
            Ok(Some(line)) => line,
        };
        counted.all += 1;
        let written = match judged(line.text, places, &mut answers) {
            Ok(written) => written,
            Err(fault) => {
                counted.bad += 1;
                answers.write(&NoAnswer {
                    error: &fault,
                    line: line.number,
                })
            }
        };
        if let Err(error) = written {
            return ended(error, counted);
        }
    }
    match answers.flush() {
        Ok(()) => Ok(counted),
        Err(error) => ended(error, counted),
    }
}

/// Judges a line and writes the answer; else says what is wrong with the line.
fn judged(text: Text<'_>, places: &mut Places, answers: &mut Answers<impl Write>) -> Result<io::Result<()>, String> {
    let Text::Whole(text) = text else {
        return Err(format!("it is longer than {MAX_PAYLOAD_BYTES} bytes"));
    };
    let call = CallWire::read(text)?;
    let (guard, cwd) = places.at(call.cwd.as_deref()).map_err(|error| format!("{error:#}"))?;
    let judgement = guard.judge(&call.tool, &call.input, Some(cwd));
    Ok(answers.write(&Answer::of(&judgement)))
}

/// Whoever reads the answers may have seen enough; anything else is a failure.
fn ended(error: io::Error, counted: Counted) -> anyhow::Result<Counted> {
    if error.kind() == ErrorKind::BrokenPipe {
        return Ok(counted);
    }
    Err(error).context("cannot write the answers")
}

/// Answers, a line each.
struct Answers<W: Write> {
    to: W,
    is_terminal: bool,
}

impl<W: Write> Answers<W> {
    fn new(to: W) -> Self {
        Self {
            to,
            is_terminal: output::is_terminal(),
        }
    }

    fn write(&mut self, answer: &impl Serialize) -> io::Result<()> {
        if self.is_terminal {
            let shown = output::harmless_json(&serde_json::to_string(answer)?);
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
enum Stopped {
    Unread(io::Error),
    Unwritten(io::Error),
}

/// A line with something on it.
struct Line<'a> {
    number: u64,
    text: Text<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Text<'a> {
    Whole(&'a [u8]),
    TooLong,
}

/// Lines of bytes, none of which is held beyond the limit.
struct Lines<R: Read> {
    from: BufReader<R>,
    line: Vec<u8>,
    number: u64,
    limit: usize,
}

impl<R: Read> Lines<R> {
    fn of(from: R) -> Self {
        Self::within(from, usize::try_from(MAX_PAYLOAD_BYTES).unwrap_or(usize::MAX))
    }

    fn within(from: R, limit: usize) -> Self {
        Self {
            from: BufReader::with_capacity(READ_BYTES, from),
            line: Vec::new(),
            number: 0,
            limit,
        }
    }

    /// The next line that is not blank. `before_waiting` is called whenever everything that has come was looked at.
    fn next(&mut self, mut before_waiting: impl FnMut() -> io::Result<()>) -> Result<Option<Line<'_>>, Stopped> {
        loop {
            let Some(is_whole) = self.read(&mut before_waiting)? else {
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
        let text = if self.line.len() > self.limit {
            Text::TooLong
        } else {
            Text::Whole(&self.line)
        };
        Ok(Some(Line {
            number: self.number,
            text,
        }))
    }

    /// Reads up to the next end of a line, and answers whether it is within the limit; nothing if there is no more.
    fn read(&mut self, before_waiting: &mut impl FnMut() -> io::Result<()>) -> Result<Option<bool>, Stopped> {
        self.line.clear();
        self.line.shrink_to(KEPT_BYTES);
        let mut has_begun = false;
        loop {
            if self.from.buffer().is_empty() {
                before_waiting().map_err(Stopped::Unwritten)?;
            }
            let come = match self.from.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                come => come.map_err(Stopped::Unread)?,
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
    struct Pieces(Vec<&'static str>);

    impl Read for Pieces {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Ok(0);
            }
            let piece = self.0.remove(0);
            to[..piece.len()].copy_from_slice(piece.as_bytes());
            Ok(piece.len())
        }
    }

    fn lines_of(pieces: &[&'static str]) -> Vec<(u64, Option<String>)> {
        let mut lines = Lines::within(Pieces(pieces.to_vec()), 5);
        let mut found = Vec::new();
        while let Some(line) = lines.next(|| Ok(())).unwrap() {
            let text = match line.text {
                Text::Whole(text) => Some(String::from_utf8(text.to_vec()).unwrap()),
                Text::TooLong => None,
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
            assert_eq!(lines_of(pieces), *expected, "{pieces:?}");
        }
    }

    #[test]
    fn nothing_is_waited_for_before_everything_is_told() {
        let mut lines = Lines::within(Pieces(vec!["a\nb\nc", "\n"]), 5);
        let mut told = Vec::new();
        let mut waits = 0;
        while let Some(line) = lines
            .next(|| {
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
