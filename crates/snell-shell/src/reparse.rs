//! Texts that bash parses only when it runs the surrounding text: backquotes and here-documents.

use super::ast::SyntaxProblemKind;
use super::cursor::TextCursor;
use super::limits;
use super::parser::ShellParser;

impl ShellParser<'_> {
    /// Parses another text, and then continues with this one.
    pub(super) fn reparse_text<T: Default>(
        &mut self,
        text: TextCursor<'static>,
        read: impl FnOnce(&mut Self) -> T,
    ) -> T {
        if self.rereads >= limits::REREADS {
            self.abort_parsing(SyntaxProblemKind::TooDeep);
            return T::default();
        }
        self.count_node();
        let cursor = std::mem::replace(&mut self.cursor, text);
        // The parentheses of another text are unknown, but it shares the budget.
        let closing = std::mem::take(&mut self.parentheses.closing);
        let waiting = std::mem::take(&mut self.pending_here_docs);
        let in_substitution = std::mem::take(&mut self.in_substitution);
        let line = self.line_start.take();
        self.rereads += 1;
        let result = self.parse_nested(read);
        self.read_here_documents();
        self.rereads -= 1;
        self.line_start = line;
        self.in_substitution = in_substitution;
        self.pending_here_docs = waiting;
        self.parentheses.closing = closing;
        let inner = std::mem::replace(&mut self.cursor, cursor);
        self.cursor.steps += inner.steps + inner.len() as u64;
        self.seek_end_if_stopped();
        result
    }
}
