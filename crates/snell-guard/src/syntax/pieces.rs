//! Pieces of a word, as they come.

use super::ast::{Piece, Word};

/// Pieces in order; texts that stand beside each other and are quoted alike are one.
#[derive(Default)]
pub(super) struct Pieces {
    pieces: Vec<Piece>,
}

impl Pieces {
    pub(super) fn text(&mut self, text: &str, quoted: bool) {
        match self.pieces.last_mut() {
            Some(Piece::Text { text: last, quoted: q }) if *q == quoted => last.push_str(text),
            _ => {
                // Most words are one piece, and a vector that grows makes room for four.
                if self.pieces.is_empty() {
                    self.pieces.reserve_exact(1);
                }
                self.pieces.push(Piece::Text {
                    text: text.to_owned(),
                    quoted,
                });
            }
        }
    }

    pub(super) fn character(&mut self, c: char, quoted: bool) {
        self.text(c.encode_utf8(&mut [0; 4]), quoted);
    }

    pub(super) fn push(&mut self, piece: Piece) {
        match piece {
            Piece::Text { text, quoted } => self.text(&text, quoted),
            piece => self.pieces.push(piece),
        }
    }

    pub(super) fn extend(&mut self, pieces: impl IntoIterator<Item = Piece>) {
        pieces.into_iter().for_each(|piece| self.push(piece));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    pub(super) fn as_slice(&self) -> &[Piece] {
        &self.pieces
    }

    pub(super) fn into_vec(self) -> Vec<Piece> {
        self.pieces
    }

    /// Whether all there is so far is `name=` or `name+=`.
    pub(super) fn assigns(&self) -> bool {
        let [Piece::Text { text, quoted: false }] = self.pieces.as_slice() else {
            return false;
        };
        text.strip_suffix('=')
            .is_some_and(|head| is_name(head.strip_suffix('+').unwrap_or(head)))
    }
}

/// Whether a text can be a variable's name.
pub(super) fn is_name(text: &str) -> bool {
    let first_fits = text.bytes().next().is_some_and(|b| !b.is_ascii_digit());
    first_fits && text.bytes().all(|b| b == b'_' || b.is_ascii_alphanumeric())
}

impl Word {
    /// The text of the word, if it is only text, quoted or not.
    pub fn literal(&self) -> Option<String> {
        let mut whole = String::new();
        for piece in &self.pieces {
            let Piece::Text { text, .. } = piece else {
                return None;
            };
            whole.push_str(text);
        }
        Some(whole)
    }

    /// The text of the word, if it is only text and nothing in it was quoted.
    pub fn bare(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece::Text { text, quoted: false }] => Some(text),
            _ => None,
        }
    }
}
