//! Brace lists: the manual's section "Brace Expansion".
//!
//! Bash searches from left to right for a `{` that can be closed, and uses the first. A `}` closes it if a comma or
//! `..` is between them at the same level; others are plain text. The ends of all of them are found in one pass from
//! right to left.

use super::word_parts::WordBuilder;
use crate::ast::{ByteSpan, ShellWord, SyntaxProblemKind, WordPart};
use crate::limits;
use crate::parser::ShellParser;
use crate::words::word_parts::TextQuoting;

/// A word, split at its special characters.
#[derive(Clone)]
enum BraceToken {
    Open,
    Close,
    Comma,
    /// Plain text, and whether `..` in it is a separator like a comma.
    Plain(String, bool),
    Other(WordPart),
}

impl BraceToken {
    fn write_to(self, parts: &mut WordBuilder) {
        match self {
            Self::Open => parts.push_text("{", TextQuoting::Plain),
            Self::Close => parts.push_text("}", TextQuoting::Plain),
            Self::Comma => parts.push_text(",", TextQuoting::Plain),
            Self::Plain(text, _) => parts.push_text(&text, TextQuoting::Plain),
            Self::Other(piece) => parts.push(piece),
        }
    }
}

impl ShellParser<'_> {
    /// Finds the lists and ranges in a word.
    pub(crate) fn find_brace_lists(&mut self, pieces: Vec<WordPart>, span: &ByteSpan) -> Vec<WordPart> {
        let units = tokenize_parts(pieces);
        let mut found = WordBuilder::default();
        self.group_tokens(units, span, 0, &mut found);
        found.into_vec()
    }

    fn group_tokens(&mut self, units: Vec<BraceToken>, span: &ByteSpan, depth: usize, out: &mut WordBuilder) {
        let closings = find_closings(&units);
        self.cursor.steps += units.len() as u64;
        let mut at = 0;
        let mut beginning = 0;
        let mut units: Vec<Option<BraceToken>> = units.into_iter().map(Some).collect();
        while at < units.len() {
            let closing = match units.get(at) {
                // `{}` at the start is never a list: `find` uses it.
                Some(Some(BraceToken::Open))
                    if at == beginning && matches!(units.get(at + 1), Some(Some(BraceToken::Close))) =>
                {
                    None
                }
                Some(Some(BraceToken::Open)) => closings.get(at).copied().flatten(),
                _ => None,
            };
            let Some(closing) = closing else {
                if let Some(unit) = units.get_mut(at).and_then(Option::take) {
                    unit.write_to(out);
                }
                at += 1;
                continue;
            };
            let inner = units.get_mut(at + 1..closing).unwrap_or_default();
            let inner = inner.iter_mut().filter_map(Option::take).collect();
            self.parse_brace_list(inner, span, depth, out);
            at = closing + 1;
            beginning = at;
        }
    }

    fn parse_brace_list(&mut self, inner: Vec<BraceToken>, span: &ByteSpan, depth: usize, out: &mut WordBuilder) {
        if inner.iter().any(|unit| matches!(unit, BraceToken::Comma)) {
            if depth >= limits::BRACE_DEPTH {
                self.report_nonfatal_problem(SyntaxProblemKind::TooDeep, span.clone());
            } else {
                let alternatives = self.parse_alternatives(inner, span, depth + 1);
                out.push(WordPart::Braces(alternatives));
                return;
            }
        } else if let Some(range) = parse_range(&inner) {
            out.push(range);
            return;
        }
        BraceToken::Open.write_to(out);
        inner.into_iter().for_each(|unit| unit.write_to(out));
        BraceToken::Close.write_to(out);
    }

    fn parse_alternatives(&mut self, inner: Vec<BraceToken>, span: &ByteSpan, depth: usize) -> Vec<ShellWord> {
        let mut parts = vec![Vec::new()];
        let mut level = 0_usize;
        for unit in inner {
            match unit {
                BraceToken::Open => level += 1,
                BraceToken::Close => level = level.saturating_sub(1),
                BraceToken::Comma if level == 0 => {
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
            let mut pieces = WordBuilder::default();
            self.group_tokens(part, span, depth, &mut pieces);
            self.count_node();
            alternatives.push(ShellWord { parts: pieces.into_vec(), span: span.clone() });
        }
        alternatives
    }
}

fn tokenize_parts(pieces: Vec<WordPart>) -> Vec<BraceToken> {
    let mut units = Vec::new();
    for piece in pieces {
        match piece {
            WordPart::Text { text, quoted: false } => tokenize_text(&text, &mut units),
            other => units.push(BraceToken::Other(other)),
        }
    }
    units
}

fn tokenize_text(text: &str, units: &mut Vec<BraceToken>) {
    for part in text.split_inclusive(['{', '}', ',']) {
        let plain = part.trim_end_matches(['{', '}', ',']);
        let closes = part.ends_with('}');
        if !plain.is_empty() {
            // `..` directly before the end is not a range.
            let within = if closes { plain.strip_suffix("..").unwrap_or(plain) } else { plain };
            let dots = within.contains("..");
            units.push(BraceToken::Plain(plain.to_owned(), dots));
        }
        match part.chars().next_back() {
            Some('{') => units.push(BraceToken::Open),
            Some('}') => units.push(BraceToken::Close),
            Some(',') => units.push(BraceToken::Comma),
            _ => {}
        }
    }
}

/// The end of each `{`, if it is closed.
fn find_closings(units: &[BraceToken]) -> Vec<Option<usize>> {
    let partners = match_braces(units);
    let mut closings = vec![None; units.len()];
    // Where it would be closed from a position on, before and after a separator.
    let mut before: Vec<Option<usize>> = vec![None; units.len() + 1];
    let mut after = before.clone();
    let at = |table: &[Option<usize>], index: usize| table.get(index).copied().flatten();
    for (index, unit) in units.iter().enumerate().rev() {
        let (b, a) = match unit {
            BraceToken::Comma | BraceToken::Plain(_, true) => (at(&after, index + 1), at(&after, index + 1)),
            BraceToken::Plain(_, false) | BraceToken::Other(_) => (at(&before, index + 1), at(&after, index + 1)),
            BraceToken::Close => (at(&before, index + 1), Some(index)),
            // Nested braces are skipped as a whole.
            BraceToken::Open => match at(&partners, index) {
                Some(partner) => (at(&before, partner + 1), at(&after, partner + 1)),
                None => (None, None),
            },
        };
        if let (Some(before), Some(after)) = (before.get_mut(index), after.get_mut(index)) {
            (*before, *after) = (b, a);
        }
        if let (BraceToken::Open, Some(closing)) = (unit, closings.get_mut(index)) {
            *closing = at(&before, index + 1);
        }
    }
    closings
}

/// The `}` of each `{` if every pair matches.
fn match_braces(units: &[BraceToken]) -> Vec<Option<usize>> {
    let mut partners = vec![None; units.len()];
    let mut open = Vec::new();
    for (index, unit) in units.iter().enumerate() {
        match unit {
            BraceToken::Open => open.push(index),
            BraceToken::Close => {
                if let Some(place) = open.pop().and_then(|opened| partners.get_mut(opened)) {
                    *place = Some(index);
                }
            }
            _ => {}
        }
    }
    partners
}

/// `a..c`, `1..9` or `1..9..2`, if it is such a range.
fn parse_range(inner: &[BraceToken]) -> Option<WordPart> {
    let [BraceToken::Plain(text, _)] = inner else {
        return None;
    };
    let mut parts = text.split("..");
    let (from, to) = (parts.next()?, parts.next()?);
    let step = parts.next();
    let fits = (is_integer(from) && is_integer(to)) || (is_letter(from) && is_letter(to));
    if !fits || parts.next().is_some() || !step.is_none_or(is_integer) {
        return None;
    }
    Some(WordPart::Range { from: from.to_owned(), to: to.to_owned(), step: step.map(str::to_owned) })
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

fn is_letter(text: &str) -> bool {
    matches!(text.as_bytes(), [letter] if letter.is_ascii_alphabetic())
}
