//! Here-documents: what stands below a line belongs to redirections on it.

use std::borrow::Cow;

use super::ast::{Piece, ProblemKind, RedirectKind, Script, Span, Word};
use super::cursor::{Cursor, Remaking};
use super::parser::Parser;
use super::pieces::Pieces;
use super::places;
use super::tokens::Token;

/// A here-document whose text is still to come.
pub(super) struct Waiting {
    mark: String,
    quoted: bool,
    strips_tabs: bool,
    slot: usize,
    span: Span,
}

/// The texts that were read. Where they belong, their number stands until the end: the command may be complete long before
/// the text is, or be part of something that is not.
#[derive(Default)]
pub(super) struct Bodies {
    words: Vec<Option<Word>>,
}

impl Bodies {
    /// Puts every text where it belongs.
    pub(super) fn fill(mut self, script: &mut Script) {
        if !self.words.is_empty() {
            super::filling::visit(script, &mut |body| {
                let slot = self.words.get_mut(body.span.start);
                *body = slot.and_then(Option::take).unwrap_or_default();
            });
        }
    }
}

impl Parser<'_> {
    /// The mark after `<<` or `<<-`.
    pub(super) fn here_document(&mut self, sign: &str, start: usize) -> RedirectKind {
        if self.token() != Token::Word {
            self.misplaced(start);
            return RedirectKind::HereString(Word::default());
        }
        if self.prefix_ahead() {
            self.misplaced(start);
        }
        let from = self.cursor.at();
        let word = self.word(&places::MARK);
        let raw = self.cursor.slice(from, self.cursor.at());
        // Nothing in a mark is expanded: what looks like it is taken as it is written.
        let mark = word.literal().unwrap_or_else(|| without_quotes(raw));
        let quoted = word
            .pieces
            .iter()
            .any(|p| matches!(p, Piece::Text { quoted: true, .. }));
        let slot = self.bodies.words.len();
        self.bodies.words.push(None);
        self.waiting.push(Waiting {
            mark,
            quoted,
            strips_tabs: sign == "<<-",
            slot,
            span: self.cursor.span(start, self.cursor.at()),
        });
        let body = Word {
            pieces: Vec::new(),
            span: slot..slot,
        };
        RedirectKind::HereDocument { body, quoted }
    }

    /// Reads the texts of all here-documents that wait, one after the other.
    pub(super) fn read_here_documents(&mut self) {
        for waiting in std::mem::take(&mut self.waiting) {
            let body = self.here_body(&waiting);
            if let Some(slot) = self.bodies.words.get_mut(waiting.slot) {
                *slot = Some(body);
            }
        }
    }

    fn here_body(&mut self, waiting: &Waiting) -> Word {
        let start = self.cursor.at();
        let mut text = Remaking::of(&self.cursor);
        let mut at = start;
        let (end, next) = loop {
            let Some(line) = Line::at(&self.cursor, at, waiting) else {
                break (at, None);
            };
            if let Some(next) = self.mark_ends(&line, waiting) {
                break (at, Some(next));
            }
            text.keep(line.start, line.next);
            at = line.next;
        };
        let text = text.done(end);
        let span = self.cursor.span(start, end);
        // A mark that the closing parenthesis of a substitution follows counts, with the same warning.
        let whole_line =
            next.is_some_and(|n| n == self.cursor.len() || self.cursor.byte(n.saturating_sub(1)) == Some(b'\n'));
        self.cursor.go_to(next.unwrap_or(end));
        if !whole_line {
            self.problem_beside(ProblemKind::NoEndMark, waiting.span.clone());
        }
        self.node();
        let pieces = if waiting.quoted {
            verbatim(&text)
        } else {
            self.expanded(text)
        };
        Word { pieces, span }
    }

    /// Where reading goes on if the line ends the text.
    fn mark_ends(&self, line: &Line<'_>, waiting: &Waiting) -> Option<usize> {
        if line.text == waiting.mark {
            return Some(line.next);
        }
        let rest = line.text.strip_prefix(waiting.mark.as_str())?;
        (self.in_substitution && rest.contains(')')).then(|| line.start + waiting.mark.len())
    }

    fn expanded(&mut self, text: Cursor<'static>) -> Vec<Piece> {
        self.again(text, |parser| {
            parser.pieces(&places::HERE, Pieces::default()).into_vec()
        })
    }
}

fn verbatim(text: &Cursor<'_>) -> Vec<Piece> {
    vec![Piece::Text {
        text: text.text().to_owned(),
        quoted: true,
    }]
}

/// A line of a here-document.
struct Line<'c> {
    /// Where it begins, after its tabs if those do not count.
    start: usize,
    /// Where the next begins.
    next: usize,
    /// What is compared with the mark.
    text: Cow<'c, str>,
}

impl<'c> Line<'c> {
    /// The line at a position: with all that a `\` at its end joins to it, unless the mark was quoted.
    fn at(cursor: &'c Cursor<'_>, from: usize, waiting: &Waiting) -> Option<Self> {
        let bytes = cursor.slice(0, cursor.len()).as_bytes();
        bytes.get(from)?;
        let tabs = bytes
            .iter()
            .skip(from)
            .take_while(|&&b| b == b'\t' && waiting.strips_tabs)
            .count();
        let start = from + tabs;
        let mut text = Cow::Borrowed("");
        let mut at = start;
        loop {
            let rest = bytes.get(at..).unwrap_or_default();
            let length = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
            let line = cursor.slice(at, at + length);
            let next = (at + length + 1).min(bytes.len());
            let backslashes = line.bytes().rev().take_while(|&b| b == b'\\').count();
            let goes_on = !waiting.quoted && backslashes % 2 == 1 && next > at + length;
            let part = line.get(..line.len() - usize::from(goes_on)).unwrap_or_default();
            // Longer than the mark is enough to know that it is not the mark.
            if text.len() <= waiting.mark.len() {
                text += part;
            }
            at = next;
            if !goes_on {
                return Some(Self { start, next, text });
            }
        }
    }
}

/// A mark that looks like an expansion, without its quotes.
fn without_quotes(raw: &str) -> String {
    let mut text = String::new();
    let mut characters = raw.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => text.extend(characters.next()),
            '\'' | '"' => {}
            _ => text.push(c),
        }
    }
    text
}
