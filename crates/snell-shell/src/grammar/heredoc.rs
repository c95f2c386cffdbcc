//! Here-documents: the text after a line belongs to redirections on it.

use std::borrow::Cow;

use crate::ast::{ByteSpan, HereDocumentBody, RedirectKind, ShellWord, SyntaxProblemKind, WordPart};
use crate::cursor::{TextCursor, TextRewriter};
use crate::parser::ShellParser;
use crate::tokens::ShellToken;
use crate::words::lexical_context;
use crate::words::word_parts::WordBuilder;

/// A here-document whose text follows later.
pub(crate) struct PendingHereDoc {
    mark: String,
    quoted: bool,
    strips_tabs: bool,
    body: HereDocumentBody,
    span: ByteSpan,
}

impl ShellParser<'_> {
    /// The delimiter after `<<` or `<<-`.
    pub(crate) fn parse_here_document(&mut self, sign: &str, start: usize) -> RedirectKind {
        if self.peek_token() != ShellToken::Word {
            self.report_unexpected(start);
            return RedirectKind::HereString(ShellWord::default());
        }
        if self.is_redirect_prefix_ahead() {
            self.report_unexpected(start);
        }
        let from = self.cursor.position();
        let word = self.parse_word(&lexical_context::HEREDOC_MARK);
        let raw = self.cursor.slice(from, self.cursor.position());
        // A delimiter is not expanded: it is literal text.
        let mark = word.to_literal().unwrap_or_else(|| strip_quotes(raw));
        let quoted = word.parts.iter().any(|p| matches!(p, WordPart::Text { quoted: true, .. }));
        let body = HereDocumentBody::default();
        self.pending_here_docs.push(PendingHereDoc {
            mark,
            quoted,
            strips_tabs: sign == "<<-",
            body: body.clone(),
            span: self.cursor.span(start, self.cursor.position()),
        });
        RedirectKind::HereDocument { body }
    }

    /// Reads the texts of all pending here-documents, one after the other.
    pub(crate) fn read_here_documents(&mut self) {
        for waiting in std::mem::take(&mut self.pending_here_docs) {
            let text = self.read_here_body(&waiting);
            waiting.body.fill(text);
        }
    }

    fn read_here_body(&mut self, waiting: &PendingHereDoc) -> ShellWord {
        let start = self.cursor.position();
        let mut text = TextRewriter::new(&self.cursor);
        let mut at = start;
        let (end, next) = loop {
            let Some(line) = HereDocLine::read_from(&self.cursor, at, waiting) else {
                break (at, None);
            };
            if let Some(next) = self.find_end_mark(&line, waiting) {
                break (at, Some(next));
            }
            text.copy_range(line.start, line.next);
            at = line.next;
        };
        let text = text.finish(end);
        let span = self.cursor.span(start, end);
        // A delimiter directly before the closing parenthesis of a substitution is valid, with the same warning.
        let whole_line =
            next.is_some_and(|n| n == self.cursor.len() || self.cursor.byte_at(n.saturating_sub(1)) == Some(b'\n'));
        self.cursor.seek_to(next.unwrap_or(end));
        if !whole_line {
            self.report_nonfatal_problem(SyntaxProblemKind::NoEndMark, waiting.span.clone());
        }
        self.count_node();
        let pieces = if waiting.quoted { build_verbatim_parts(&text) } else { self.parse_here_body(text) };
        ShellWord { parts: pieces, span }
    }

    /// The position after the text, if the line is its delimiter.
    fn find_end_mark(&self, line: &HereDocLine<'_>, waiting: &PendingHereDoc) -> Option<usize> {
        if line.text == waiting.mark {
            return Some(line.next);
        }
        let rest = line.text.strip_prefix(waiting.mark.as_str())?;
        (self.in_substitution && rest.contains(')')).then(|| line.start + waiting.mark.len())
    }

    fn parse_here_body(&mut self, text: TextCursor<'static>) -> Vec<WordPart> {
        self.reparse_text(text, |parser| {
            parser.parse_parts(&lexical_context::HEREDOC_BODY, WordBuilder::default()).into_vec()
        })
    }
}

fn build_verbatim_parts(text: &TextCursor<'_>) -> Vec<WordPart> {
    vec![WordPart::Text { text: text.text().to_owned(), quoted: true }]
}

/// A line of a here-document.
struct HereDocLine<'c> {
    /// Its start, after its tabs if they are stripped.
    start: usize,
    /// The start of the next line.
    next: usize,
    /// The text that is compared with the delimiter.
    text: Cow<'c, str>,
}

impl<'c> HereDocLine<'c> {
    /// The line at a position, with all lines that a `\` at its end joins to it, unless the delimiter was quoted.
    fn read_from(cursor: &'c TextCursor<'_>, from: usize, waiting: &PendingHereDoc) -> Option<Self> {
        let bytes = cursor.slice(0, cursor.len()).as_bytes();
        bytes.get(from)?;
        let tabs = bytes.iter().skip(from).take_while(|&&b| b == b'\t' && waiting.strips_tabs).count();
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
            // A line that is longer than the delimiter is not the delimiter.
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

/// A delimiter that looks like an expansion, without its quotes.
fn strip_quotes(raw: &str) -> String {
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
