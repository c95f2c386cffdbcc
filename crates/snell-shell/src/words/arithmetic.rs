//! `((…))`, `$((…))` and `$[…]`; and how `((` differs from two parentheses.
//!
//! Bash searches for the parenthesis that closes the second one: if another follows directly, it is arithmetic, else
//! these are subshells. That needs lookahead. One search finds and keeps the ends of all parentheses on its way, so
//! that `((((…` is not searched again for each of them.

use super::lexical_context::{self, LexicalContext};
use super::word_parts::WordBuilder;
use crate::ast::{ShellCommandKind, ShellWord, SyntaxProblemKind, WordPart};
use crate::cursor::TextCursor;
use crate::limits;
use crate::parser::ShellParser;

/// The known ends of parentheses.
pub(crate) struct ParenthesisIndex {
    /// For each position: unknown, never closed, or closed at a position.
    pub(crate) closing: Vec<u32>,
    /// The number of bytes that may still be searched.
    budget: usize,
}

const UNKNOWN: u32 = 0;
const NEVER_CLOSED: u32 = 1;
const FIRST_POSITION: u32 = 2;

/// A construct around the position of the search.
#[derive(Clone, Copy, PartialEq)]
enum OpenDelimiter {
    Parenthesis(usize),
    Brace,
    Quotes,
}

impl ParenthesisIndex {
    pub(crate) fn new(length: usize) -> Self {
        Self { closing: Vec::new(), budget: limits::ARITHMETIC_PASSES * length }
    }

    /// The end of the parenthesis at a position: `None` if the budget is spent, `Some(None)` if it is never closed.
    fn find_closing(&mut self, cursor: &mut TextCursor<'_>, at: usize) -> Option<Option<usize>> {
        if self.closing.is_empty() {
            self.closing = vec![UNKNOWN; cursor.text().len()];
        }
        if self.closing.get(at) == Some(&UNKNOWN) {
            self.scan_parentheses(cursor, at)?;
        }
        let found = self.closing.get(at).copied().unwrap_or(NEVER_CLOSED);
        Some(found.checked_sub(FIRST_POSITION).map(|place| place as usize))
    }

    fn record_closing(&mut self, at: usize, what: u32) {
        if let Some(place) = self.closing.get_mut(at) {
            *place = what;
        }
    }

    fn scan_parentheses(&mut self, cursor: &mut TextCursor<'_>, from: usize) -> Option<()> {
        let mut inside = vec![OpenDelimiter::Parenthesis(from)];
        let mut at = from + 1;
        while let (Some(&innermost), Some(byte)) = (inside.last(), cursor.byte_at(at)) {
            if at - from > self.budget {
                self.budget = 0;
                return None;
            }
            let quoted = innermost == OpenDelimiter::Quotes;
            let after_dollar = cursor.byte_at(at - 1) == Some(b'$');
            match byte {
                b'\\' => at += 1,
                b'\'' if !quoted => at = find_closing_quote(cursor, at, b'\'', after_dollar),
                b'`' => at = find_closing_quote(cursor, at, b'`', true),
                b'"' if quoted => drop(inside.pop()),
                b'"' => inside.push(OpenDelimiter::Quotes),
                b'(' if !quoted || after_dollar => inside.push(OpenDelimiter::Parenthesis(at)),
                b'{' if quoted && after_dollar => inside.push(OpenDelimiter::Brace),
                b'}' if innermost == OpenDelimiter::Brace => drop(inside.pop()),
                b')' => {
                    if let OpenDelimiter::Parenthesis(opened) = innermost {
                        inside.pop();
                        self.record_closing(opened, u32::try_from(at).unwrap_or(0) + FIRST_POSITION);
                    }
                }
                _ => {}
            }
            at += 1;
        }
        for open in inside {
            if let OpenDelimiter::Parenthesis(opened) = open {
                self.record_closing(opened, NEVER_CLOSED);
            }
        }
        self.budget = self.budget.saturating_sub(at - from);
        cursor.steps += (at - from) as u64;
        Some(())
    }
}

/// The position of the quote that closes the one at `at`, or of the end.
fn find_closing_quote(cursor: &TextCursor<'_>, at: usize, quote: u8, escapes: bool) -> usize {
    let mut at = at + 1;
    while let Some(byte) = cursor.byte_at(at) {
        if byte == quote {
            return at;
        }
        at += if byte == b'\\' && escapes { 2 } else { 1 };
    }
    at
}

impl ShellParser<'_> {
    /// Whether `((` is next and is arithmetic.
    pub(crate) fn is_arithmetic_ahead(&mut self) -> bool {
        if self.cursor.peek() != Some(b'(') || self.cursor.peek_second() != Some(b'(') {
            return false;
        }
        let second = self.cursor.skip_line_continuations(self.cursor.position() + 1);
        match self.parentheses.find_closing(&mut self.cursor, second) {
            Some(Some(end)) => self.cursor.byte_at(self.cursor.skip_line_continuations(end + 1)) == Some(b')'),
            Some(None) => true,
            None => {
                let span = self.cursor.span(self.cursor.position(), second + 1);
                self.report_nonfatal_problem(SyntaxProblemKind::TooLong, span);
                false
            }
        }
    }

    /// The position after the parenthesis that closes the next one. `None` if there is none.
    pub(crate) fn find_parenthesis_end(&mut self) -> Option<usize> {
        self.cursor.peek();
        let at = self.cursor.position();
        let closing = self.parentheses.find_closing(&mut self.cursor, at);
        // If the budget is spent, the whole rest may belong to it.
        closing.map_or(Some(self.cursor.len()), |closing| closing.map(|at| at + 1))
    }

    /// `(( … ))`
    pub(crate) fn parse_arithmetic_command(&mut self) -> ShellCommandKind {
        let opened = self.cursor.position();
        self.bump_operator("((");
        ShellCommandKind::Arithmetic(self.parse_arithmetic_body(opened))
    }

    /// `(( … ))` after a `$`
    pub(crate) fn parse_arithmetic_expansion(&mut self, start: usize) -> WordPart {
        self.bump_operator("((");
        WordPart::Arithmetic(self.parse_arithmetic_body(start))
    }

    /// The text before `))`, which is skipped too.
    pub(crate) fn parse_arithmetic_body(&mut self, opened: usize) -> ShellWord {
        let word = self.parse_bounded_expression();
        if !(self.cursor.eat(b')') && self.cursor.eat(b')')) {
            self.report_unexpected(opened);
        }
        word
    }

    /// Before evaluation, bash only counts parentheses and skips quotes. So errors inside are not reported, and nothing
    /// inside continues after the end.
    fn parse_bounded_expression(&mut self) -> ShellWord {
        let second = self.cursor.position().saturating_sub(1);
        let Some(Some(end)) = self.parentheses.find_closing(&mut self.cursor, second) else {
            return self.parse_expression(&lexical_context::ARITHMETIC);
        };
        self.parse_up_to(end, |parser| parser.parse_expression(&lexical_context::ARITHMETIC))
    }

    /// `[ … ]` after a `$`
    pub(crate) fn parse_legacy_arithmetic(&mut self, start: usize) -> WordPart {
        self.bump_operator("[");
        let word = self.parse_expression(&lexical_context::LEGACY_ARITHMETIC);
        if !self.cursor.eat(b']') {
            self.report_unterminated(start);
        }
        WordPart::Arithmetic(word)
    }

    pub(crate) fn parse_expression(&mut self, place: &LexicalContext) -> ShellWord {
        let start = self.cursor.position();
        let pieces = self.parse_nested(|parser| parser.parse_parts(place, WordBuilder::default()));
        self.finish_word(pieces, place, start)
    }
}
