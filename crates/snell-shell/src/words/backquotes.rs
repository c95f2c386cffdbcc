//! Command substitution with backquotes: a nested text with its own escapes.

use super::lexical_context::QuotingMode;
use crate::ast::WordPart;
use crate::cursor::{TextCursor, TextRewriter};
use crate::parser::ShellParser;

impl ShellParser<'_> {
    /// From one backquote to the next unescaped one.
    pub(crate) fn parse_backquotes(&mut self, quoting: QuotingMode) -> WordPart {
        let opened = self.cursor.position();
        // Between double quotes, `\"` loses its backslash before the command is parsed.
        let loses_quotes = matches!(quoting, QuotingMode::Double | QuotingMode::Inner);
        let (text, end) = unescape_backquotes(&self.cursor, opened + 1, loses_quotes);
        self.cursor.seek_to(end);
        if self.cursor.peek_raw().is_none() {
            self.report_unterminated(opened);
        }
        self.cursor.bump();
        let script = self.reparse_text(text, Self::parse_script);
        WordPart::Substitution { script, quoted: quoting.is_quoted() }
    }
}

/// The text between backquotes, and its end.
fn unescape_backquotes(cursor: &TextCursor<'_>, start: usize, loses_quotes: bool) -> (TextCursor<'static>, usize) {
    let mut text = TextRewriter::new(cursor);
    let (mut from, mut at) = (start, start);
    while let Some(byte) = cursor.byte_at(at).filter(|&byte| byte != b'`') {
        at += 1;
        if byte == b'\\' {
            let next = cursor.byte_at(at);
            if matches!(next, Some(b'$' | b'`' | b'\\')) || (loses_quotes && next == Some(b'"')) {
                text.copy_range(from, at - 1);
                from = at;
            }
            at += usize::from(next.is_some());
        }
    }
    text.copy_range(from, at);
    (text.finish(at), at)
}
