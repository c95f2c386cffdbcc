//! `((…))`, `$((…))` and `$[…]`; and how `((` is told from two parentheses.
//!
//! Bash looks for the parenthesis that closes the second: if another follows directly, it is arithmetic, else these are
//! subshells. So one has to look ahead. One look finds the ends of all parentheses on its way and they are remembered, so
//! that `((((…` is not looked through again for each of them.

use super::ast::{CommandKind, Piece, ProblemKind, Word};
use super::cursor::Cursor;
use super::limits;
use super::parser::Parser;
use super::pieces::Pieces;
use super::places::{self, Place};

/// Where parentheses are closed, as far as that was looked for.
pub(super) struct Pairs {
    /// For each position: nothing known, never closed, or where.
    closing: Vec<u32>,
    /// Bytes that may still be looked at.
    budget: usize,
}

const UNKNOWN: u32 = 0;
const NEVER: u32 = 1;
const FIRST_PLACE: u32 = 2;

/// What a look ahead is inside of.
#[derive(Clone, Copy, PartialEq)]
enum Inside {
    Parenthesis(usize),
    Brace,
    Quotes,
}

impl Pairs {
    pub(super) fn new(length: usize) -> Self {
        Self {
            closing: Vec::new(),
            budget: limits::ARITHMETIC_PASSES * length,
        }
    }

    /// Nothing is known of another text, but it has no budget of its own.
    pub(super) fn for_another_text(&self) -> Self {
        Self {
            closing: Vec::new(),
            budget: self.budget,
        }
    }

    /// What another text used is used here too.
    pub(super) fn spent_as(&mut self, other: &Self) {
        self.budget = other.budget;
    }

    /// Where the parenthesis at a position is closed: `None` if the budget is spent, `Some(None)` if never.
    fn closing(&mut self, cursor: &mut Cursor<'_>, at: usize) -> Option<Option<usize>> {
        if self.closing.is_empty() {
            self.closing = vec![UNKNOWN; cursor.text().len()];
        }
        if self.closing.get(at) == Some(&UNKNOWN) {
            self.look(cursor, at)?;
        }
        let found = self.closing.get(at).copied().unwrap_or(NEVER);
        Some(found.checked_sub(FIRST_PLACE).map(|place| place as usize))
    }

    fn remember(&mut self, at: usize, what: u32) {
        if let Some(place) = self.closing.get_mut(at) {
            *place = what;
        }
    }

    fn look(&mut self, cursor: &mut Cursor<'_>, from: usize) -> Option<()> {
        let mut inside = vec![Inside::Parenthesis(from)];
        let mut at = from + 1;
        while let (Some(&innermost), Some(byte)) = (inside.last(), cursor.byte(at)) {
            if at - from > self.budget {
                self.budget = 0;
                return None;
            }
            let quoted = innermost == Inside::Quotes;
            let after_dollar = cursor.byte(at - 1) == Some(b'$');
            match byte {
                b'\\' => at += 1,
                b'\'' if !quoted => at = skip_quotes(cursor, at, b'\'', after_dollar),
                b'`' => at = skip_quotes(cursor, at, b'`', true),
                b'"' if quoted => drop(inside.pop()),
                b'"' => inside.push(Inside::Quotes),
                b'(' if !quoted || after_dollar => inside.push(Inside::Parenthesis(at)),
                b'{' if quoted && after_dollar => inside.push(Inside::Brace),
                b'}' if innermost == Inside::Brace => drop(inside.pop()),
                b')' => {
                    if let Inside::Parenthesis(opened) = innermost {
                        inside.pop();
                        self.remember(opened, u32::try_from(at).unwrap_or(0) + FIRST_PLACE);
                    }
                }
                _ => {}
            }
            at += 1;
        }
        for open in inside {
            if let Inside::Parenthesis(opened) = open {
                self.remember(opened, NEVER);
            }
        }
        self.budget = self.budget.saturating_sub(at - from);
        cursor.steps += (at - from) as u64;
        Some(())
    }
}

/// The position of the quote that closes the one at `at`, or of the end.
fn skip_quotes(cursor: &Cursor<'_>, at: usize, quote: u8, escapes: bool) -> usize {
    let mut at = at + 1;
    while let Some(byte) = cursor.byte(at) {
        if byte == quote {
            return at;
        }
        at += if byte == b'\\' && escapes { 2 } else { 1 };
    }
    at
}

impl Parser<'_> {
    /// Whether `((` stands next and is arithmetic.
    pub(super) fn arithmetic_ahead(&mut self) -> bool {
        if self.cursor.peek() != Some(b'(') || self.cursor.second() != Some(b'(') {
            return false;
        }
        let second = self.cursor.joined(self.cursor.at() + 1);
        match self.pairs.closing(&mut self.cursor, second) {
            Some(Some(end)) => self.cursor.byte(self.cursor.joined(end + 1)) == Some(b')'),
            Some(None) => true,
            None => {
                let span = self.cursor.span(self.cursor.at(), second + 1);
                self.problem_beside(ProblemKind::TooLong, span);
                false
            }
        }
    }

    /// Behind the parenthesis that closes the one that stands next; nothing if there is none.
    pub(super) fn end_of_parenthesis(&mut self) -> Option<usize> {
        self.cursor.peek();
        let at = self.cursor.at();
        let closing = self.pairs.closing(&mut self.cursor, at);
        // Where it is not known because the budget is spent, all that follows may belong to it.
        closing.map_or(Some(self.cursor.len()), |closing| closing.map(|at| at + 1))
    }

    /// `(( … ))`
    pub(super) fn arithmetic_command(&mut self) -> CommandKind {
        let opened = self.cursor.at();
        self.bump_operator("((");
        CommandKind::Arithmetic(self.arithmetic_until_double(opened))
    }

    /// `(( … ))` after a `$`
    pub(super) fn arithmetic_expansion(&mut self, start: usize) -> Piece {
        self.bump_operator("((");
        Piece::Arithmetic(self.arithmetic_until_double(start))
    }

    /// What stands before `))`, which is read too.
    pub(super) fn arithmetic_until_double(&mut self, opened: usize) -> Word {
        let word = self.bounded_expression();
        if !(self.cursor.eat(b')') && self.cursor.eat(b')')) {
            self.misplaced(opened);
        }
        word
    }

    /// Bash only counts parentheses and passes over quotes until it computes: what is wrong within is not its concern
    /// before, and nothing within goes on behind the end.
    fn bounded_expression(&mut self) -> Word {
        let second = self.cursor.at().saturating_sub(1);
        let Some(Some(end)) = self.pairs.closing(&mut self.cursor, second) else {
            return self.expression(&places::ARITHMETIC);
        };
        let line = self.line.take();
        let outer_end = self.cursor.end_at(end);
        let word = self.expression(&places::ARITHMETIC);
        self.cursor.end_at(outer_end);
        self.line = line;
        self.stay_stopped();
        word
    }

    /// `[ … ]` after a `$`
    pub(super) fn old_arithmetic(&mut self, start: usize) -> Piece {
        self.bump_operator("[");
        let word = self.expression(&places::OLD_ARITHMETIC);
        if !self.cursor.eat(b']') {
            self.unterminated(start);
        }
        Piece::Arithmetic(word)
    }

    fn expression(&mut self, place: &Place) -> Word {
        let start = self.cursor.at();
        let pieces = self.deeper(|parser| parser.pieces(place, Pieces::default()));
        self.finish(pieces, place, start)
    }
}
