//! Quotes: the manual's section "Quoting".

use super::lexical_context::{self, QuotingMode};
use super::word_parts::WordBuilder;
use crate::parser::ShellParser;
use crate::words::word_parts::TextQuoting;

impl ShellParser<'_> {
    /// `\` and the character that it escapes. A `\` at the end of a line is already removed.
    pub(crate) fn parse_escape(&mut self, quoting: QuotingMode, parts: &mut WordBuilder) {
        self.cursor.bump();
        match self.cursor.next_char() {
            Some(c) if quoting.can_escape(c) => parts.push_char(c, TextQuoting::Quoted),
            Some(c) => {
                parts.push_char('\\', TextQuoting::Quoted);
                parts.push_char(c, TextQuoting::Quoted);
            }
            None => parts.push_char('\\', TextQuoting::Quoted),
        }
    }

    /// `'…'`: no character in it is special.
    pub(crate) fn parse_single_quotes(&mut self, parts: &mut WordBuilder) {
        let opened = self.cursor.position();
        self.cursor.bump();
        match self.cursor.take_until(b'\'') {
            Some(text) => parts.push_text(text, TextQuoting::Quoted),
            None => {
                parts.push_text(self.cursor.slice(opened + 1, self.cursor.len()), TextQuoting::Quoted);
                self.report_unterminated(opened);
            }
        }
    }

    /// `'…'` in `"${x:-…}"`: the quotes are text and the text between them expands, but `}` between them does not
    /// close.
    pub(crate) fn parse_literal_single_quotes(&mut self, parts: &mut WordBuilder) {
        let opened = self.cursor.position();
        self.cursor.bump();
        parts.push_char('\'', TextQuoting::Quoted);
        let inner = self.parse_parts(&lexical_context::BETWEEN_SINGLE, WordBuilder::default());
        parts.extend(inner.into_vec());
        if self.cursor.eat(b'\'') {
            parts.push_char('\'', TextQuoting::Quoted);
        } else {
            self.report_unterminated(opened);
        }
    }

    /// `"…"`: expansions still work.
    pub(crate) fn parse_double_quotes(&mut self, parts: &mut WordBuilder) {
        let opened = self.cursor.position();
        self.cursor.bump();
        let inner = self.parse_parts(&lexical_context::DOUBLE, WordBuilder::default());
        if inner.is_empty() {
            parts.push_text("", TextQuoting::Quoted);
        }
        parts.extend(inner.into_vec());
        if !self.cursor.eat(b'"') {
            self.report_unterminated(opened);
        }
    }

    /// `$'…'`, from the quote on.
    pub(crate) fn parse_ansi_quotes(&mut self, parts: &mut WordBuilder) {
        let opened = self.cursor.position();
        self.cursor.bump();
        let mut bytes = Vec::new();
        // A NUL ends the text, but not the quotes.
        let mut ended = false;
        loop {
            let run = self.cursor.take_while(|b| b != b'\'' && b != b'\\');
            if !ended {
                bytes.extend_from_slice(run.as_bytes());
            }
            match self.cursor.peek_raw() {
                Some(b'\\') => {
                    let escaped = self.parse_ansi_escape();
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
                    self.report_unterminated(opened);
                    break;
                }
            }
        }
        parts.push_text(&String::from_utf8_lossy(&bytes), TextQuoting::Quoted);
    }

    /// One escape, as bytes: `\x` and octal numbers are bytes, not characters.
    fn parse_ansi_escape(&mut self) -> Vec<u8> {
        self.cursor.bump();
        let Some(c) = self.cursor.next_char() else {
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
            '0'..='7' => self.parse_octal_escape(c),
            'x' => self.parse_hex_escape(),
            'u' => self.parse_unicode_escape('u', 4),
            'U' => self.parse_unicode_escape('U', 8),
            'c' => self.parse_control_escape(),
            _ => format!("\\{c}").into_bytes(),
        }
    }

    fn parse_octal_escape(&mut self, first: char) -> Vec<u8> {
        let mut value = first.to_digit(8).unwrap_or(0);
        for _ in 0..2 {
            let Some(digit @ b'0'..=b'7') = self.cursor.peek_raw() else {
                break;
            };
            self.cursor.bump();
            value = value * 8 + u32::from(digit - b'0');
        }
        vec![(value & 0xff) as u8]
    }

    /// `\x41`, or `\x{41}` with any number of digits. The last two are used.
    fn parse_hex_escape(&mut self) -> Vec<u8> {
        let braces = self.cursor.peek_raw() == Some(b'{');
        if braces {
            self.cursor.bump();
        }
        let Some(value) = self.parse_hex_digits(if braces { usize::MAX } else { 2 }) else {
            return if braces { b"\\x{".to_vec() } else { b"\\x".to_vec() };
        };
        if braces && self.cursor.peek_raw() == Some(b'}') {
            self.cursor.bump();
        }
        vec![(value & 0xff) as u8]
    }

    fn parse_unicode_escape(&mut self, sign: char, digits: usize) -> Vec<u8> {
        match self.parse_hex_digits(digits) {
            None => format!("\\{sign}").into_bytes(),
            Some(value) => {
                let c = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
                c.to_string().into_bytes()
            }
        }
    }

    fn parse_hex_digits(&mut self, digits: usize) -> Option<u32> {
        let mut value = None;
        let mut left = digits;
        while let Some(digit) = self.cursor.peek_raw().and_then(|b| char::from(b).to_digit(16)).filter(|_| left > 0) {
            self.cursor.bump();
            left -= 1;
            value = Some(value.unwrap_or(0_u32).wrapping_mul(16).wrapping_add(digit));
        }
        value
    }

    /// `\cA`; a backslash may itself be escaped.
    fn parse_control_escape(&mut self) -> Vec<u8> {
        match self.cursor.peek_raw() {
            None | Some(b'\'') => b"\\c".to_vec(),
            Some(b'\\') if self.cursor.byte_at(self.cursor.position() + 1) == Some(b'\\') => {
                self.cursor.bump();
                self.cursor.bump();
                vec![0x1c]
            }
            Some(_) => match self.cursor.next_char() {
                Some('?') => vec![0x7f],
                Some(c) if c.is_ascii() => vec![c as u8 & 0x1f],
                Some(c) => c.to_string().into_bytes(),
                None => Vec::new(),
            },
        }
    }
}
