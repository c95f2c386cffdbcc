//! Brace lists: the manual's section "Brace Expansion".
//!
//! Bash looks from left to right for a `{` that can be closed, and takes the first. A `}` closes it if a comma or `..` stands
//! between at the same level; others are plain text. Where each could be closed is found from right to left, in one walk
//! for all of them.

use super::ast::{Piece, ProblemKind, Span, Word};
use super::limits;
use super::parser::Parser;
use super::pieces::Pieces;

/// A word, taken apart at the signs that matter.
#[derive(Clone)]
enum Unit {
    Open,
    Close,
    Comma,
    /// Plain text, and whether `..` in it counts as a comma does.
    Plain(String, bool),
    Other(Piece),
}

impl Unit {
    fn write(self, pieces: &mut Pieces) {
        match self {
            Self::Open => pieces.text("{", false),
            Self::Close => pieces.text("}", false),
            Self::Comma => pieces.text(",", false),
            Self::Plain(text, _) => pieces.text(&text, false),
            Self::Other(piece) => pieces.push(piece),
        }
    }
}

impl Parser<'_> {
    /// Finds the lists and ranges in a word.
    pub(super) fn brace_lists(&mut self, pieces: Vec<Piece>, span: &Span) -> Vec<Piece> {
        let units = take_apart(pieces);
        let mut found = Pieces::default();
        self.expand(units, span, 0, &mut found);
        found.into_vec()
    }

    fn expand(&mut self, units: Vec<Unit>, span: &Span, depth: usize, out: &mut Pieces) {
        let closings = closings(&units);
        self.cursor.steps += units.len() as u64;
        let mut at = 0;
        let mut beginning = 0;
        let mut units: Vec<Option<Unit>> = units.into_iter().map(Some).collect();
        while at < units.len() {
            let closing = match units.get(at) {
                // `{}` at the beginning is never a list: `find` has a use for it.
                Some(Some(Unit::Open)) if at == beginning && matches!(units.get(at + 1), Some(Some(Unit::Close))) => {
                    None
                }
                Some(Some(Unit::Open)) => closings.get(at).copied().flatten(),
                _ => None,
            };
            let Some(closing) = closing else {
                if let Some(unit) = units.get_mut(at).and_then(Option::take) {
                    unit.write(out);
                }
                at += 1;
                continue;
            };
            let inner = units.get_mut(at + 1..closing).unwrap_or_default();
            let inner = inner.iter_mut().filter_map(Option::take).collect();
            self.one_list(inner, span, depth, out);
            at = closing + 1;
            beginning = at;
        }
    }

    fn one_list(&mut self, inner: Vec<Unit>, span: &Span, depth: usize, out: &mut Pieces) {
        if inner.iter().any(|unit| matches!(unit, Unit::Comma)) {
            if depth >= limits::BRACE_DEPTH {
                self.problem_beside(ProblemKind::TooDeep, span.clone());
            } else {
                let alternatives = self.alternatives(inner, span, depth + 1);
                out.push(Piece::Braces(alternatives));
                return;
            }
        } else if let Some(range) = range(&inner) {
            out.push(range);
            return;
        }
        Unit::Open.write(out);
        inner.into_iter().for_each(|unit| unit.write(out));
        Unit::Close.write(out);
    }

    fn alternatives(&mut self, inner: Vec<Unit>, span: &Span, depth: usize) -> Vec<Word> {
        let mut parts = vec![Vec::new()];
        let mut level = 0_usize;
        for unit in inner {
            match unit {
                Unit::Open => level += 1,
                Unit::Close => level = level.saturating_sub(1),
                Unit::Comma if level == 0 => {
                    parts.push(Vec::new());
                    continue;
                }
                _ => {}
            }
            if let Some(part) = parts.last_mut() {
                part.push(unit);
            }
        }
        let mut alternatives = Vec::with_capacity(parts.len());
        for part in parts {
            let mut pieces = Pieces::default();
            self.expand(part, span, depth, &mut pieces);
            self.node();
            alternatives.push(Word {
                pieces: pieces.into_vec(),
                span: span.clone(),
            });
        }
        alternatives
    }
}

fn take_apart(pieces: Vec<Piece>) -> Vec<Unit> {
    let mut units = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Text { text, quoted: false } => take_text_apart(&text, &mut units),
            other => units.push(Unit::Other(other)),
        }
    }
    units
}

fn take_text_apart(text: &str, units: &mut Vec<Unit>) {
    for part in text.split_inclusive(['{', '}', ',']) {
        let plain = part.trim_end_matches(['{', '}', ',']);
        let closes = part.ends_with('}');
        if !plain.is_empty() {
            // `..` directly before the end is no range.
            let within = if closes {
                plain.strip_suffix("..").unwrap_or(plain)
            } else {
                plain
            };
            let dots = within.contains("..");
            units.push(Unit::Plain(plain.to_owned(), dots));
        }
        match part.chars().next_back() {
            Some('{') => units.push(Unit::Open),
            Some('}') => units.push(Unit::Close),
            Some(',') => units.push(Unit::Comma),
            _ => {}
        }
    }
}

/// For each `{`, where it is closed, if it is.
fn closings(units: &[Unit]) -> Vec<Option<usize>> {
    let partners = partners(units);
    let mut closings = vec![None; units.len()];
    // Where it would be closed from a position on, before and after something that makes it a list.
    let mut before: Vec<Option<usize>> = vec![None; units.len() + 1];
    let mut after = before.clone();
    let at = |table: &[Option<usize>], index: usize| table.get(index).copied().flatten();
    for (index, unit) in units.iter().enumerate().rev() {
        let (b, a) = match unit {
            Unit::Comma | Unit::Plain(_, true) => (at(&after, index + 1), at(&after, index + 1)),
            Unit::Plain(_, false) | Unit::Other(_) => (at(&before, index + 1), at(&after, index + 1)),
            Unit::Close => (at(&before, index + 1), Some(index)),
            // Braces within are passed over as a whole.
            Unit::Open => match at(&partners, index) {
                Some(partner) => (at(&before, partner + 1), at(&after, partner + 1)),
                None => (None, None),
            },
        };
        if let (Some(before), Some(after)) = (before.get_mut(index), after.get_mut(index)) {
            (*before, *after) = (b, a);
        }
        if let (Unit::Open, Some(closing)) = (unit, closings.get_mut(index)) {
            *closing = at(&before, index + 1);
        }
    }
    closings
}

/// For each `{`, the `}` that it has if every pair counts.
fn partners(units: &[Unit]) -> Vec<Option<usize>> {
    let mut partners = vec![None; units.len()];
    let mut open = Vec::new();
    for (index, unit) in units.iter().enumerate() {
        match unit {
            Unit::Open => open.push(index),
            Unit::Close => {
                if let Some(place) = open.pop().and_then(|opened| partners.get_mut(opened)) {
                    *place = Some(index);
                }
            }
            _ => {}
        }
    }
    partners
}

/// `a..c`, `1..9` or `1..9..2`, if it is one.
fn range(inner: &[Unit]) -> Option<Piece> {
    let [Unit::Plain(text, _)] = inner else {
        return None;
    };
    let mut parts = text.split("..");
    let (from, to) = (parts.next()?, parts.next()?);
    let step = parts.next();
    let fits = (is_integer(from) && is_integer(to)) || (is_letter(from) && is_letter(to));
    if !fits || parts.next().is_some() || !step.is_none_or(is_integer) {
        return None;
    }
    Some(Piece::Range {
        from: from.to_owned(),
        to: to.to_owned(),
        step: step.map(str::to_owned),
    })
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

fn is_letter(text: &str) -> bool {
    matches!(text.as_bytes(), [letter] if letter.is_ascii_alphabetic())
}
