//! Quotes: the manual's section "Quoting".

use super::parser::Parser;
use super::pieces::Pieces;
use super::places::{self, Quoting};

impl Parser<'_> {
    /// `\` and what it escapes. (A `\` at the end of a line is gone already.)
    pub(super) fn escape(&mut self, quoting: Quoting, pieces: &mut Pieces) {
        self.cursor.bump();
        match self.cursor.character() {
            Some(c) if quoting.escapes(c) => pieces.character(c, true),
            Some(c) => {
                pieces.character('\\', true);
                pieces.character(c, true);
            }
            None => pieces.character('\\', true),
        }
    }

    /// `'…'`: nothing in it has a meaning.
    pub(super) fn single_quotes(&mut self, pieces: &mut Pieces) {
        let opened = self.cursor.at();
        self.cursor.bump();
        match self.cursor.until(b'\'') {
            Some(text) => pieces.text(text, true),
            None => {
                pieces.text(self.cursor.slice(opened + 1, self.cursor.len()), true);
                self.unterminated(opened);
            }
        }
    }

    /// `'…'` in `"${x:-…}"`: the quotes are text and what is between them expands, but `}` between them does not close.
    pub(super) fn plain_single_quotes(&mut self, pieces: &mut Pieces) {
        let opened = self.cursor.at();
        self.cursor.bump();
        pieces.character('\'', true);
        let inner = self.pieces(&places::BETWEEN_SINGLE, Pieces::default());
        pieces.extend(inner.into_vec());
        if self.cursor.eat(b'\'') {
            pieces.character('\'', true);
        } else {
            self.unterminated(opened);
        }
    }

    /// `"…"`: expansions keep their meaning.
    pub(super) fn double_quotes(&mut self, pieces: &mut Pieces) {
        let opened = self.cursor.at();
        self.cursor.bump();
        let inner = self.pieces(&places::DOUBLE, Pieces::default());
        if inner.is_empty() {
            pieces.text("", true);
        }
        pieces.extend(inner.into_vec());
        if !self.cursor.eat(b'"') {
            self.unterminated(opened);
        }
    }

    /// `$'…'`, from the quote on.
    pub(super) fn ansi_quotes(&mut self, pieces: &mut Pieces) {
        let opened = self.cursor.at();
        self.cursor.bump();
        let mut bytes = Vec::new();
        // A NUL ends the text, but not the quotes.
        let mut ended = false;
        loop {
            let run = self.cursor.run(|b| b != b'\'' && b != b'\\');
            if !ended {
                bytes.extend_from_slice(run.as_bytes());
            }
            match self.cursor.raw() {
                Some(b'\\') => {
                    let escaped = self.ansi_escape();
                    ended |= escaped == [0];
                    if !ended {
                        bytes.extend_from_slice(&escaped);
                    }
                }
                Some(_) => {
                    self.cursor.bump();
                    break;
                }
                None => {
                    self.unterminated(opened);
                    break;
                }
            }
        }
        pieces.text(&String::from_utf8_lossy(&bytes), true);
    }

    /// One escape, as bytes: `\x` and octal numbers are bytes, not characters.
    fn ansi_escape(&mut self) -> Vec<u8> {
        self.cursor.bump();
        let Some(c) = self.cursor.character() else {
            return vec![b'\\'];
        };
        match c {
            'a' => vec![0x07],
            'b' => vec![0x08],
            'e' | 'E' => vec![0x1b],
            'f' => vec![0x0c],
            'n' => vec![b'\n'],
            'r' => vec![b'\r'],
            't' => vec![b'\t'],
            'v' => vec![0x0b],
            '\\' | '\'' | '"' | '?' => vec![c as u8],
            '0'..='7' => self.octal(c),
            'x' => self.hexadecimal_byte(),
            'u' => self.code_point('u', 4),
            'U' => self.code_point('U', 8),
            'c' => self.control(),
            _ => format!("\\{c}").into_bytes(),
        }
    }

    fn octal(&mut self, first: char) -> Vec<u8> {
        let mut value = first.to_digit(8).unwrap_or(0);
        for _ in 0..2 {
            let Some(digit @ b'0'..=b'7') = self.cursor.raw() else {
                break;
            };
            self.cursor.bump();
            value = value * 8 + u32::from(digit - b'0');
        }
        vec![(value & 0xff) as u8]
    }

    /// `\x41`, or `\x{41}` with any number of digits of which the last two count.
    fn hexadecimal_byte(&mut self) -> Vec<u8> {
        let braces = self.cursor.raw() == Some(b'{');
        if braces {
            self.cursor.bump();
        }
        let Some(value) = self.hexadecimal(if braces { usize::MAX } else { 2 }) else {
            return if braces { b"\\x{".to_vec() } else { b"\\x".to_vec() };
        };
        if braces && self.cursor.raw() == Some(b'}') {
            self.cursor.bump();
        }
        vec![(value & 0xff) as u8]
    }

    fn code_point(&mut self, sign: char, digits: usize) -> Vec<u8> {
        match self.hexadecimal(digits) {
            None => format!("\\{sign}").into_bytes(),
            Some(value) => {
                let c = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
                c.to_string().into_bytes()
            }
        }
    }

    fn hexadecimal(&mut self, digits: usize) -> Option<u32> {
        let mut value = None;
        let mut left = digits;
        while let Some(digit) = self
            .cursor
            .raw()
            .and_then(|b| char::from(b).to_digit(16))
            .filter(|_| left > 0)
        {
            self.cursor.bump();
            left -= 1;
            value = Some(value.unwrap_or(0_u32).wrapping_mul(16).wrapping_add(digit));
        }
        value
    }

    /// `\cA`; a backslash may itself be escaped.
    fn control(&mut self) -> Vec<u8> {
        match self.cursor.raw() {
            None | Some(b'\'') => b"\\c".to_vec(),
            Some(b'\\') if self.cursor.byte(self.cursor.at() + 1) == Some(b'\\') => {
                self.cursor.bump();
                self.cursor.bump();
                vec![0x1c]
            }
            Some(_) => match self.cursor.character() {
                Some('?') => vec![0x7f],
                Some(c) if c.is_ascii() => vec![c as u8 & 0x1f],
                Some(c) => c.to_string().into_bytes(),
                None => Vec::new(),
            },
        }
    }
}
