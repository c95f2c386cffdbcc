//! A text and the position of the reader.

use std::borrow::Cow;

use super::ast::ByteSpan;

/// A text that is read byte by byte. All special characters of the shell are ASCII, so the reader always stops at the
/// start of a character.
pub(super) struct TextCursor<'t> {
    text: Cow<'t, str>,
    at: usize,
    /// The end for the reader. A part with a known end cannot be exceeded.
    end: usize,
    /// The positions of parts of this text in the original text, if it is another one: (here, there), ascending.
    origin: Vec<(usize, usize)>,
    /// The number of steps, for tests that compare it with the length.
    pub(super) steps: u64,
}

impl<'t> TextCursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text: Cow::Borrowed(text), at: 0, end: text.len(), origin: Vec::new(), steps: 0 }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn len(&self) -> usize {
        self.end
    }

    /// Sets another end of the text, and returns the previous one.
    pub(super) fn set_end(&mut self, end: usize) -> usize {
        std::mem::replace(&mut self.end, end.min(self.text.len()))
    }

    /// Continues at another position, which must be the start of a character.
    pub(super) fn seek_to(&mut self, at: usize) {
        self.steps += at.saturating_sub(self.at) as u64;
        self.at = at.min(self.end);
    }

    /// The raw byte at a position.
    pub(super) fn byte_at(&self, at: usize) -> Option<u8> {
        let within = self.text.as_bytes().get(..self.end)?;
        within.get(at).copied()
    }

    /// The next raw byte.
    pub(super) fn peek_raw(&self) -> Option<u8> {
        self.byte_at(self.at)
    }

    /// The next byte, after joining continued lines (`\` at their end).
    pub(super) fn peek(&mut self) -> Option<u8> {
        self.at = self.skip_line_continuations(self.at);
        self.peek_raw()
    }

    /// The byte after the next, after joining continued lines.
    pub(super) fn peek_second(&mut self) -> Option<u8> {
        self.peek()?;
        self.byte_at(self.skip_line_continuations(self.at + 1))
    }

    /// The real position of the next byte: after every `\` that ends a line.
    pub(super) fn skip_line_continuations(&self, mut at: usize) -> usize {
        while self.byte_at(at) == Some(b'\\') && self.byte_at(at + 1) == Some(b'\n') {
            at += 2;
        }
        at
    }

    /// Skips one ASCII byte.
    pub(super) fn bump(&mut self) {
        self.steps += 1;
        self.at = (self.at + 1).min(self.end);
    }

    /// Skips the byte if it is the next one.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        if there {
            self.bump();
        }
        there
    }

    /// Reads any one character.
    pub(super) fn next_char(&mut self) -> Option<char> {
        let c = self.slice(self.at, self.len()).chars().next()?;
        self.steps += 1;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Reads raw bytes while they are accepted. Only ASCII bytes may be rejected.
    pub(super) fn take_while(&mut self, wanted: impl Fn(u8) -> bool) -> &str {
        let start = self.at;
        let rest = self.text.as_bytes().get(start..self.end).unwrap_or_default();
        let length = rest.iter().position(|&b| !wanted(b)).unwrap_or(rest.len());
        self.at += length;
        self.steps += length as u64 + 1;
        self.slice(start, self.at)
    }

    /// Reads up to a byte, and skips it. Returns `None` if it does not occur; then everything is read.
    pub(super) fn take_until(&mut self, byte: u8) -> Option<&str> {
        let start = self.at;
        self.take_while(|b| b != byte);
        let end = self.at;
        self.peek_raw()?;
        self.bump();
        Some(self.slice(start, end))
    }

    /// The text between two positions.
    pub(super) fn slice(&self, start: usize, end: usize) -> &str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// A range of this text, in the original text.
    pub(super) fn span(&self, start: usize, end: usize) -> ByteSpan {
        // Removed text between two parts belongs to neither.
        let end = if end > start { self.original_position(end - 1) + 1 } else { self.original_position(start) };
        let start = self.original_position(start);
        start..end.max(start)
    }

    /// A position of this text, in the original text.
    pub(super) fn original_position(&self, at: usize) -> usize {
        let after = self.origin.partition_point(|&(here, _)| here <= at);
        match after.checked_sub(1).and_then(|i| self.origin.get(i)) {
            Some(&(here, there)) => there + (at - here),
            None => at,
        }
    }
}

/// Builds a text from parts of another one, and keeps their positions.
pub(super) struct TextRewriter<'a, 't> {
    source: &'a TextCursor<'t>,
    text: String,
    origin: Vec<(usize, usize)>,
    /// The end of the last part. A part that follows it directly needs no entry.
    kept_to: Option<usize>,
}

impl<'a, 't> TextRewriter<'a, 't> {
    pub(super) fn new(source: &'a TextCursor<'t>) -> Self {
        Self { source, text: String::new(), origin: Vec::new(), kept_to: None }
    }

    /// Copies the text between two positions.
    pub(super) fn copy_range(&mut self, start: usize, end: usize) {
        if start < end {
            if self.kept_to != Some(start) {
                self.origin.push((self.text.len(), self.source.original_position(start)));
            }
            self.kept_to = Some(end);
            // A part may itself consist of parts.
            let first = self.source.origin.partition_point(|&(here, _)| here <= start);
            let inner = self.source.origin.get(first..).unwrap_or_default();
            for &(here, there) in inner.iter().take_while(|&&(here, _)| here < end) {
                self.origin.push((self.text.len() + here - start, there));
            }
            self.text.push_str(self.source.slice(start, end));
        }
    }

    /// The new text, with the position at which the old one continues.
    pub(super) fn finish(mut self, end: usize) -> TextCursor<'static> {
        self.origin.push((self.text.len(), self.source.original_position(end)));
        TextCursor { end: self.text.len(), text: Cow::Owned(self.text), at: 0, origin: self.origin, steps: 0 }
    }
}
