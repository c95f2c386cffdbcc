//! The state of the parser.

use super::ast::{ByteSpan, ParsedScript, SyntaxProblem, SyntaxProblemKind};
use super::cursor::{TextCursor, TextRewriter};
use super::limits;
use crate::grammar::heredoc::PendingHereDoc;
use crate::words::arithmetic::ParenthesisIndex;

/// Parses a text as `bash -c` would.
pub fn parse(text: &str) -> ParsedScript {
    parse_counting_steps(text).0
}

/// The same, with the number of steps: a measure of the work that does not depend on the machine.
pub fn parse_counting_steps(text: &str) -> (ParsedScript, u64) {
    let end = text.floor_char_boundary(limits::TEXT_BYTES);
    let mut parser = ShellParser::new(text.get(..end).unwrap_or_default());
    if end < text.len() {
        parser.report_nonfatal_problem(SyntaxProblemKind::TooLong, end..text.len());
    }
    parser.drop_nuls();
    let script = parser.parse_script();
    let parsed = ParsedScript { script, problems: parser.problems };
    (parsed, parser.cursor.steps)
}

/// A parser of shell text.
pub(super) struct ShellParser<'t> {
    pub(super) cursor: TextCursor<'t>,
    pub(super) problems: Vec<SyntaxProblem>,
    /// The start of the line that bash reads as a whole before it runs any of it. `None` inside texts that bash parses
    /// only when it runs them.
    pub(super) line_start: Option<usize>,
    /// Here-documents whose text begins after the next newline.
    pub(super) pending_here_docs: Vec<PendingHereDoc>,
    /// Whether the text ends with the `)` of a substitution.
    pub(super) in_substitution: bool,
    pub(super) parentheses: ParenthesisIndex,
    pub(super) rereads: usize,
    depth: usize,
    nodes: usize,
    stopped: bool,
}

impl<'t> ShellParser<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            cursor: TextCursor::new(text),
            problems: Vec::new(),
            line_start: Some(0),
            pending_here_docs: Vec::new(),
            in_substitution: false,
            parentheses: ParenthesisIndex::new(text.len()),
            rereads: 0,
            depth: 0,
            nodes: 0,
            stopped: false,
        }
    }

    /// Bash removes NUL from its input, and an argument cannot contain it, so the program that runs this text may see
    /// another one. That is a problem.
    fn drop_nuls(&mut self) {
        let Some(first) = self.cursor.text().find('\0') else {
            return;
        };
        self.report_nonfatal_problem(SyntaxProblemKind::Unexpected, first..first + 1);
        let mut clean = TextRewriter::new(&self.cursor);
        let mut at = 0;
        for part in self.cursor.text().split('\0') {
            clean.copy_range(at, at + part.len());
            at += part.len() + 1;
        }
        self.cursor = clean.finish(self.cursor.len());
    }

    /// A problem after which bash runs nothing from this line on.
    pub(super) fn report_problem(&mut self, kind: SyntaxProblemKind, start: usize, end: usize) {
        let span = self.cursor.span(start, end);
        self.record_problem(kind, span, self.line_start);
    }

    /// A problem that does not keep bash from running the surrounding text.
    pub(super) fn report_nonfatal_problem(&mut self, kind: SyntaxProblemKind, span: ByteSpan) {
        self.record_problem(kind, span, None);
    }

    fn record_problem(&mut self, kind: SyntaxProblemKind, span: ByteSpan, runs_until: Option<usize>) {
        // Surrounding constructs fail at the same position.
        let known = self.problems.last().is_some_and(|p| p.kind == kind && p.span.start == span.start);
        if self.stopped || known {
            return;
        }
        // Nothing after an invalid line runs either.
        let first = self.problems.iter().find_map(|p| p.runs_until);
        self.problems.push(SyntaxProblem { kind, span, runs_until: runs_until.and(first).or(runs_until) });
        if self.problems.len() >= limits::PROBLEMS {
            self.stop_parsing();
        }
    }

    /// Reports that the construct at `start` is not closed.
    pub(super) fn report_unterminated(&mut self, start: usize) {
        self.report_problem(SyntaxProblemKind::Unterminated, start, self.cursor.len());
    }

    /// Reports an exceeded limit. Nothing more is read.
    pub(super) fn abort_parsing(&mut self, kind: SyntaxProblemKind) {
        let span = self.cursor.span(self.cursor.position(), self.cursor.len());
        self.report_nonfatal_problem(kind, span);
        self.stop_parsing();
    }

    fn stop_parsing(&mut self) {
        self.stopped = true;
        self.cursor.seek_to(self.cursor.len());
    }

    /// After another text was parsed: if it stopped at a limit, this one stops too.
    pub(super) fn seek_end_if_stopped(&mut self) {
        if self.stopped {
            self.stop_parsing();
        }
    }

    /// Parses one level deeper, unless that is too deep.
    pub(super) fn parse_nested<T: Default>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        if self.depth >= limits::DEPTH {
            self.abort_parsing(SyntaxProblemKind::TooDeep);
            return T::default();
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Counts a command, a word or a part.
    pub(super) fn count_node(&mut self) {
        self.nodes += 1;
        if self.nodes > limits::NODES && !self.stopped {
            self.abort_parsing(SyntaxProblemKind::TooLong);
        }
    }
}
