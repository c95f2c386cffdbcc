//! Collects the parts of a word.

use crate::ast::{ByteSpan, ShellWord, WordPart};

/// Whether a text is in quotes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextQuoting {
    Plain,
    Quoted,
}

impl TextQuoting {
    pub(crate) fn is_quoted(self) -> bool {
        self == Self::Quoted
    }
}

impl From<bool> for TextQuoting {
    fn from(quoted: bool) -> Self {
        if quoted { Self::Quoted } else { Self::Plain }
    }
}

/// The parts in order. Adjacent texts with the same quoting are one part.
#[derive(Default)]
pub(crate) struct WordBuilder {
    pieces: Vec<WordPart>,
}

impl WordBuilder {
    pub(crate) fn push_text(&mut self, text: &str, quoting: TextQuoting) {
        let quoted = quoting.is_quoted();
        match self.pieces.last_mut() {
            Some(WordPart::Text { text: last, quoted: q }) if *q == quoted => last.push_str(text),
            _ => {
                // Most words have one part, and a growing vector allocates four.
                if self.pieces.is_empty() {
                    self.pieces.reserve_exact(1);
                }
                self.pieces.push(WordPart::Text { text: text.to_owned(), quoted });
            }
        }
    }

    pub(crate) fn push_char(&mut self, c: char, quoting: TextQuoting) {
        self.push_text(c.encode_utf8(&mut [0; 4]), quoting);
    }

    pub(crate) fn push(&mut self, part: WordPart) {
        match part {
            WordPart::Text { text, quoted } => self.push_text(&text, quoted.into()),
            piece => self.pieces.push(piece),
        }
    }

    pub(crate) fn extend(&mut self, pieces: impl IntoIterator<Item = WordPart>) {
        pieces.into_iter().for_each(|piece| self.push(piece));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    pub(crate) fn as_slice(&self) -> &[WordPart] {
        &self.pieces
    }

    pub(crate) fn into_vec(self) -> Vec<WordPart> {
        self.pieces
    }

    /// Whether the word so far is `name=` or `name+=`.
    pub(crate) fn is_assignment(&self) -> bool {
        let [WordPart::Text { text, quoted: false }] = self.pieces.as_slice() else {
            return false;
        };
        text.strip_suffix('=').is_some_and(|head| is_variable_name(head.strip_suffix('+').unwrap_or(head)))
    }
}

/// Whether a text can be a variable's name.
pub fn is_variable_name(text: &str) -> bool {
    let first_fits = text.bytes().next().is_some_and(|b| !b.is_ascii_digit());
    first_fits && text.bytes().all(|b| b == b'_' || b.is_ascii_alphanumeric())
}

impl ShellWord {
    pub(crate) fn from_text(text: &str, span: ByteSpan) -> Self {
        Self { parts: vec![WordPart::Text { text: text.to_owned(), quoted: false }], span }
    }

    /// The text of the word, if it is only text, quoted or not.
    pub fn to_literal(&self) -> Option<String> {
        let mut whole = String::new();
        for piece in &self.parts {
            let WordPart::Text { text, .. } = piece else {
                return None;
            };
            whole.push_str(text);
        }
        Some(whole)
    }

    /// The text of the word, if it is only text and nothing in it was quoted.
    pub fn as_unquoted(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [WordPart::Text { text, quoted: false }] => Some(text),
            _ => None,
        }
    }
}
