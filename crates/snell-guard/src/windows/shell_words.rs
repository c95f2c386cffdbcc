//! Words of a command while it is translated.

use super::paths::{looks_like_path, to_posix_path};
use crate::interpret::quote_shell_word;

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WordPiece {
    /// Its text.
    Literal(String),
    /// Shell code: a variable or a substitution.
    Code(String),
}

/// A word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ForeignWord {
    pub(super) pieces: Vec<WordPiece>,
    /// Whether it was written without quotes.
    pub(super) is_bare: bool,
    /// The translated code, if it is a block of code.
    pub(super) block: Option<String>,
}

/// The use of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordUse {
    /// A command that expands patterns in paths itself gets it.
    Path,
    /// Any program gets it.
    Text,
    /// A program of Windows or a cmdlet without an equivalent gets it: in lower case, with slashes.
    Plain,
}

impl ForeignWord {
    pub(super) fn from_literal(text: impl Into<String>) -> Self {
        Self { pieces: vec![WordPiece::Literal(text.into())], ..Self::default() }
    }

    pub(super) fn from_code(code: impl Into<String>) -> Self {
        Self { pieces: vec![WordPiece::Code(code.into())], ..Self::default() }
    }

    /// The output of commands.
    pub(super) fn from_commands(code: &str) -> Self {
        Self::from_code(format!("$({code}\n)"))
    }

    pub(super) fn push_text(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(WordPiece::Literal(last)) => last.push_str(text),
            _ => self.pieces.push(WordPiece::Literal(text.to_owned())),
        }
    }

    pub(super) fn push_word(&mut self, other: Self) {
        for piece in other.pieces {
            match piece {
                WordPiece::Literal(text) => self.push_text(&text),
                code @ WordPiece::Code(_) => self.pieces.push(code),
            }
        }
    }

    /// The text, if it is completely known.
    pub(super) fn as_literal(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [WordPiece::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// As a word of shell code.
    pub(super) fn render(&self, purpose: WordUse) -> String {
        let mut out = String::new();
        for (at, piece) in self.pieces.iter().enumerate() {
            match piece {
                WordPiece::Code(code) => out.push_str(code),
                WordPiece::Literal(text) => self.render_literal(text, at == 0, purpose, &mut out),
            }
        }
        if out.is_empty() { "''".to_owned() } else { out }
    }

    fn render_literal(&self, text: &str, is_first: bool, purpose: WordUse, out: &mut String) {
        if purpose == WordUse::Plain {
            return push_quoted(&mut text.to_lowercase().replace('\\', "/"), out);
        }
        let is_path = purpose == WordUse::Path || looks_like_path(text);
        let path = match (is_path, is_first) {
            (false, _) => text.to_owned(),
            (true, true) => to_posix_path(text),
            (true, false) => text.replace('\\', "/"),
        };
        let mut rest = path.as_str();
        if is_first
            && (purpose == WordUse::Path || self.is_bare || text.contains(['\\', ':']))
            && let Some(below) = path.strip_prefix('~').filter(|below| below.is_empty() || below.starts_with('/'))
        {
            out.push_str("\"$HOME\"");
            rest = below;
        }
        let expands = purpose == WordUse::Path || self.is_bare;
        let mut plain = String::new();
        for c in rest.chars() {
            if expands && matches!(c, '*' | '?') {
                push_quoted(&mut plain, out);
                out.push(c);
            } else {
                plain.push(c);
            }
        }
        push_quoted(&mut plain, out);
    }
}

fn push_quoted(plain: &mut String, out: &mut String) {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-:=@%+,".contains(c);
    match plain.as_str() {
        "" => {}
        text if text.chars().all(is_plain) => out.push_str(text),
        text => out.push_str(&quote_shell_word(text)),
    }
    plain.clear();
}

/// Words, with blanks between.
pub(super) fn render_words(words: &[ForeignWord], purpose: WordUse) -> String {
    words.iter().map(|word| word.render(purpose)).collect::<Vec<_>>().join(" ")
}

/// All code in words: what must run to know their values.
pub(super) fn render_evaluation(words: &[ForeignWord]) -> String {
    let has_code = |word: &&ForeignWord| word.pieces.iter().any(|piece| matches!(piece, WordPiece::Code(_)));
    let words: Vec<String> = words.iter().filter(has_code).map(|word| word.render(WordUse::Text)).collect();
    if words.is_empty() { ":".to_owned() } else { format!(": {}", words.join(" ")) }
}
