//! The next token.

use super::ast::SyntaxProblemKind;
use super::parser::ShellParser;

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShellToken {
    End,
    Newline,
    Word,
    Operator(&'static str),
}

/// All operators, longer ones before their prefixes.
const OPERATORS: &[&str] = &[
    ";;&", "&>>", "<<<", "<<-", ";;", ";&", "&&", "&>", "||", "|&", ">>", ">&", ">|", "<<", "<&", "<>", ";", "&", "|",
    "(", ")", "<", ">",
];

/// Reserved words, in the position of a command.
const RESERVED: &[&str] = &[
    "!", "[[", "]]", "{", "}", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if",
    "in", "select", "then", "time", "until", "while",
];

/// Reserved words that cannot start a command.
const CLOSING: &[&str] = &["]]", "}", "do", "done", "elif", "else", "esac", "fi", "in", "then"];

const LONGEST_RESERVED: usize = 8;

/// Bytes that end a word.
pub(super) const fn is_word_delimiter(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'|' | b'&' | b';' | b'(' | b')' | b'<' | b'>')
}

impl ShellParser<'_> {
    /// The next token, after blanks and comments.
    pub(super) fn peek_token(&mut self) -> ShellToken {
        self.skip_blanks();
        match self.cursor.peek() {
            None => ShellToken::End,
            Some(b'\n') => ShellToken::Newline,
            Some(b'<' | b'>') if self.cursor.peek_second() == Some(b'(') => ShellToken::Word,
            Some(b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>') => self.peek_operator(),
            Some(_) => ShellToken::Word,
        }
    }

    fn skip_blanks(&mut self) {
        loop {
            match self.cursor.peek() {
                Some(b' ' | b'\t') => self.cursor.bump(),
                // A comment ends with its line, also after a backslash.
                Some(b'#') => drop(self.cursor.take_while(|b| b != b'\n')),
                _ => return,
            }
        }
    }

    fn peek_operator(&mut self) -> ShellToken {
        let mut ahead = [0; 3];
        let mut at = self.cursor.position();
        for place in &mut ahead {
            at = self.cursor.skip_line_continuations(at);
            *place = self.cursor.byte_at(at).unwrap_or(0);
            at += 1;
        }
        let found = OPERATORS.iter().find(|sign| ahead.starts_with(sign.as_bytes()));
        found.map_or(ShellToken::Word, |sign| ShellToken::Operator(sign))
    }

    /// Skips the next operator.
    pub(super) fn bump_operator(&mut self, sign: &str) {
        for _ in sign.bytes() {
            self.cursor.peek();
            self.cursor.bump();
        }
    }

    /// Skips the operator if it is next.
    pub(super) fn eat_operator(&mut self, sign: &'static str) -> bool {
        let there = self.peek_token() == ShellToken::Operator(sign);
        if there {
            self.bump_operator(sign);
        }
        there
    }

    /// The next reserved word, if there is one: unquoted, and not part of a longer word.
    pub(super) fn peek_reserved_word(&mut self) -> Option<&'static str> {
        if self.peek_token() != ShellToken::Word {
            return None;
        }
        let word = self.peek_short_word(self.cursor.position())?;
        RESERVED.iter().find(|r| r.as_bytes() == word.as_bytes()).copied()
    }

    /// A short word of plain characters at a position.
    pub(super) fn peek_short_word(&self, mut at: usize) -> Option<ShortWord> {
        let mut word = ShortWord::default();
        loop {
            at = self.cursor.skip_line_continuations(at);
            match self.cursor.byte_at(at) {
                None => return Some(word),
                Some(b'<' | b'>') if self.cursor.byte_at(self.cursor.skip_line_continuations(at + 1)) == Some(b'(') => {
                    return None;
                }
                Some(byte) if is_word_delimiter(byte) => return Some(word),
                Some(byte) => word.push(byte)?,
            }
            at += 1;
        }
    }

    /// Skips the reserved word if it is next.
    pub(super) fn eat_reserved(&mut self, word: &str) -> bool {
        let there = self.peek_reserved_word() == Some(word);
        if there {
            self.bump_operator(word);
        }
        there
    }

    /// Requires the reserved word. Another token is left to the caller.
    pub(super) fn expect_reserved(&mut self, word: &str, opened: usize) {
        if !self.eat_reserved(word) {
            self.report_unexpected(opened);
        }
    }

    /// Requires the operator.
    pub(super) fn expect_operator(&mut self, sign: &'static str, opened: usize) {
        if !self.eat_operator(sign) {
            self.report_unexpected(opened);
        }
    }

    /// Reports the next token as unexpected. At the end of the text, reports that the construct at `opened` is
    /// incomplete.
    pub(super) fn report_unexpected(&mut self, opened: usize) {
        let start = self.cursor.position();
        match self.peek_token() {
            ShellToken::End => self.report_unterminated(opened),
            ShellToken::Operator(sign) => self.report_problem(SyntaxProblemKind::Unexpected, start, start + sign.len()),
            ShellToken::Newline | ShellToken::Word => {
                let next = self.cursor.text().get(start..).and_then(|rest| rest.chars().next());
                self.report_problem(SyntaxProblemKind::Unexpected, start, start + next.map_or(0, char::len_utf8));
            }
        }
    }

    /// Whether a command can start here.
    pub(super) fn is_command_ahead(&mut self) -> bool {
        match self.peek_token() {
            ShellToken::End | ShellToken::Newline => false,
            ShellToken::Operator(sign) => sign == "(" || sign.starts_with(['<', '>']) || sign.starts_with("&>"),
            ShellToken::Word => !self.peek_reserved_word().is_some_and(|word| CLOSING.contains(&word)),
        }
    }

    /// Skips newlines, and reads pending here-documents.
    pub(super) fn skip_newlines(&mut self) {
        while self.peek_token() == ShellToken::Newline {
            self.consume_newline();
        }
    }

    /// Skips one newline.
    pub(super) fn consume_newline(&mut self) {
        self.cursor.bump();
        self.read_here_documents();
    }
}

/// A word that is short enough to be reserved.
#[derive(Default)]
pub(super) struct ShortWord {
    bytes: [u8; LONGEST_RESERVED],
    length: usize,
}

impl ShortWord {
    fn push(&mut self, byte: u8) -> Option<()> {
        *self.bytes.get_mut(self.length)? = byte;
        self.length += 1;
        Some(())
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}
