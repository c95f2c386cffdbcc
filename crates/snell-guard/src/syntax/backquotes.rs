//! Command substitution with backquotes: a text within the text, with escapes of its own.

use super::ast::Piece;
use super::cursor::{Cursor, Remaking};
use super::parser::Parser;
use super::places::Quoting;

impl Parser<'_> {
    /// From one backquote to the next that is not escaped.
    pub(super) fn backquotes(&mut self, quoting: Quoting) -> Piece {
        let opened = self.cursor.at();
        // Between double quotes, `\"` loses its backslash before anybody looks at the command.
        let loses_quotes = matches!(quoting, Quoting::Double | Quoting::Inner);
        let (text, end) = unescaped(&self.cursor, opened + 1, loses_quotes);
        self.cursor.go_to(end);
        if self.cursor.raw().is_none() {
            self.unterminated(opened);
        }
        self.cursor.bump();
        let script = self.again(text, Self::whole);
        Piece::Substitution {
            script,
            quoted: quoting.quotes(),
        }
    }
}

/// What stands between backquotes, and where it ends.
fn unescaped(cursor: &Cursor<'_>, start: usize, loses_quotes: bool) -> (Cursor<'static>, usize) {
    let mut text = Remaking::of(cursor);
    let (mut from, mut at) = (start, start);
    while let Some(byte) = cursor.byte(at).filter(|&byte| byte != b'`') {
        at += 1;
        if byte == b'\\' {
            let next = cursor.byte(at);
            if matches!(next, Some(b'$' | b'`' | b'\\')) || (loses_quotes && next == Some(b'"')) {
                text.keep(from, at - 1);
                from = at;
            }
            at += usize::from(next.is_some());
        }
    }
    text.keep(from, at);
    (text.done(at), at)
}
