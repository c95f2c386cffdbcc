//! Texts that bash reads only when it runs what stands around them: backquotes and here-documents.

use super::arithmetic::Pairs;
use super::ast::ProblemKind;
use super::cursor::Cursor;
use super::limits;
use super::parser::Parser;

impl Parser<'_> {
    /// Reads another text, and then goes on with this one.
    pub(super) fn again<T: Default>(&mut self, text: Cursor<'static>, read: impl FnOnce(&mut Self) -> T) -> T {
        if self.rereads >= limits::REREADS {
            self.give_up(ProblemKind::TooDeep);
            return T::default();
        }
        self.node();
        let fresh = self.pairs.for_another_text();
        let cursor = std::mem::replace(&mut self.cursor, text);
        let pairs: Pairs = std::mem::replace(&mut self.pairs, fresh);
        let waiting = std::mem::take(&mut self.waiting);
        let in_substitution = std::mem::take(&mut self.in_substitution);
        let line = self.line.take();
        self.rereads += 1;
        let result = self.deeper(read);
        self.read_here_documents();
        self.rereads -= 1;
        self.line = line;
        self.in_substitution = in_substitution;
        self.waiting = waiting;
        let inner_pairs = std::mem::replace(&mut self.pairs, pairs);
        self.pairs.spent_as(&inner_pairs);
        let inner = std::mem::replace(&mut self.cursor, cursor);
        self.cursor.steps += inner.steps + inner.len() as u64;
        self.stay_stopped();
        result
    }
}
