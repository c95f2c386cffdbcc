//! Words: plain text, quotes and expansions, in one loop for all places.

use super::ast::{Piece, ProblemKind, Word};
use super::limits;
use super::parser::Parser;
use super::pieces::Pieces;
use super::places::{self, Place, Quoting};

/// Signs that begin an extended pattern, if `(` follows.
const EXTENDED: &[u8] = b"?*+@!";

/// Bytes that mean nothing anywhere.
fn is_plain(byte: u8) -> bool {
    !matches!(
        byte,
        b'\\'
            | b'\''
            | b'"'
            | b'$'
            | b'`'
            | b' '
            | b'\t'
            | b'\n'
            | b'|'
            | b'&'
            | b';'
            | b'('
            | b')'
            | b'<'
            | b'>'
            | b'['
            | b']'
            | b'}'
            | b'/'
            | b':'
            | b'?'
            | b'*'
            | b'+'
            | b'@'
            | b'!'
    )
}

/// How often signs stand in the plain text of a word.
#[derive(Default)]
struct Signs {
    braces: usize,
    tildes: usize,
    patterns: usize,
}

impl Signs {
    fn of(pieces: &[Piece]) -> Self {
        let mut signs = Self::default();
        for piece in pieces {
            let Piece::Text { text, quoted: false } = piece else {
                continue;
            };
            for byte in text.bytes() {
                match byte {
                    b'{' | b'}' | b',' => signs.braces += 1,
                    b'~' => signs.tildes += 1,
                    b'*' | b'?' | b'[' => signs.patterns += 1,
                    _ => {}
                }
            }
        }
        signs
    }

    fn total(&self) -> usize {
        self.braces + self.tildes + self.patterns
    }
}

impl Parser<'_> {
    /// A word of which nothing is known.
    pub(super) fn plain_word(&mut self) -> Word {
        self.word(&places::PLAIN)
    }

    /// A word that begins here.
    pub(super) fn word(&mut self, place: &Place) -> Word {
        self.cursor.peek();
        self.word_from(self.cursor.at(), Pieces::default(), place)
    }

    /// A word of which some is read already.
    pub(super) fn word_from(&mut self, start: usize, before: Pieces, place: &Place) -> Word {
        let pieces = self.pieces(place, before);
        self.finish(pieces, place, start)
    }

    /// Finds in the plain text of a word what has a meaning there.
    pub(super) fn finish(&mut self, pieces: Pieces, place: &Place, start: usize) -> Word {
        let span = self.cursor.span(start, self.cursor.at());
        let mut pieces = pieces.into_vec();
        let signs = Signs::of(&pieces);
        if signs.total() > limits::SIGNS_IN_WORD {
            self.problem_beside(ProblemKind::TooLong, span.clone());
        } else {
            if place.braces && signs.braces > 0 {
                pieces = self.brace_lists(pieces, &span);
            }
            if signs.tildes > 0 {
                pieces = super::tildes::find(pieces, place.tildes);
            }
            if place.patterns && signs.patterns > 0 {
                pieces = super::patterns::find(pieces);
            }
        }
        (0..=pieces.len()).for_each(|_| self.node());
        Word { pieces, span }
    }

    /// The pieces up to what ends the place, or the end of the text.
    pub(super) fn pieces(&mut self, place: &Place, mut pieces: Pieces) -> Pieces {
        let quoted = place.quoting.quotes();
        let mut nested = 0_usize;
        while let Some(byte) = self.cursor.peek() {
            if byte == b'(' && place.arrays && pieces.assigns() {
                let elements = self.array();
                pieces.push(Piece::Array(elements));
                continue;
            }
            if place.processes && matches!(byte, b'<' | b'>') && self.cursor.second() == Some(b'(') {
                pieces.push(self.process());
                continue;
            }
            if (nested == 0 && (place.ends)(byte)) || place.closes == Some(byte) {
                break;
            }
            match byte {
                b'\\' => self.escape(place.quoting, &mut pieces),
                b'\'' if place.quoting.has_single_quotes() => self.single_quotes(&mut pieces),
                b'\'' if place.quoting == Quoting::Inner => self.plain_single_quotes(&mut pieces),
                b'"' if place.quoting != Quoting::Here => self.double_quotes(&mut pieces),
                b'$' => self.dollar(place.quoting, &mut pieces),
                b'`' => pieces.push(self.backquotes(place.quoting)),
                _ if place.patterns && EXTENDED.contains(&byte) && self.extended_ahead() => {
                    pieces.push(self.extended(char::from(byte)));
                }
                _ => {
                    nested = match place.nests {
                        Some((open, _)) if open == byte => nested + 1,
                        Some((_, close)) if close == byte => nested.saturating_sub(1),
                        _ => nested,
                    };
                    self.plain_text(quoted, &mut pieces);
                }
            }
        }
        pieces
    }

    /// One character that means nothing here, and all after it that mean nothing anywhere.
    fn plain_text(&mut self, quoted: bool, pieces: &mut Pieces) {
        if let Some(c) = self.cursor.character() {
            pieces.character(c, quoted);
        }
        let run = self.cursor.run(is_plain);
        if !run.is_empty() {
            pieces.text(run, quoted);
        }
    }

    /// Without `shopt -s extglob`, `@(` can only be an error, so it is taken as what it would be with it. `@()` defines a
    /// function.
    fn extended_ahead(&mut self) -> bool {
        let parenthesis = self.cursor.joined(self.cursor.at() + 1);
        self.cursor.byte(parenthesis) == Some(b'(')
            && self.cursor.byte(self.cursor.joined(parenthesis + 1)) != Some(b')')
    }

    fn extended(&mut self, sign: char) -> Piece {
        let start = self.cursor.at();
        self.bump_operator("@(");
        let alternatives = self.deeper(|parser| {
            let mut alternatives = vec![parser.word(&places::ALTERNATIVE)];
            while parser.cursor.eat(b'|') {
                alternatives.push(parser.word(&places::ALTERNATIVE));
            }
            alternatives
        });
        if !self.cursor.eat(b')') {
            self.unterminated(start);
        }
        Piece::Extended(sign, alternatives)
    }

    /// A variable's name, as far as it goes; empty if none stands here.
    pub(super) fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(byte) = self.cursor.peek() {
            let fits = byte == b'_' || byte.is_ascii_alphabetic() || (byte.is_ascii_digit() && !name.is_empty());
            if !fits {
                break;
            }
            name.push(char::from(byte));
            self.cursor.bump();
        }
        name
    }
}
