//! What a reader of shell text knows while it reads.

use super::arithmetic::Pairs;
use super::ast::{Parsed, Problem, ProblemKind, Span};
use super::cursor::{Cursor, Remaking};
use super::here::{Bodies, Waiting};
use super::limits;

/// Reads a text as `bash -c` would.
pub fn parse(text: &str) -> Parsed {
    parse_counting(text).0
}

/// The same, with the number of steps that it took: a measure of the work that does not depend on the machine.
pub fn parse_counting(text: &str) -> (Parsed, u64) {
    let end = text.floor_char_boundary(limits::TEXT_BYTES);
    let mut parser = Parser::new(text.get(..end).unwrap_or_default());
    if end < text.len() {
        parser.problem_beside(ProblemKind::TooLong, end..text.len());
    }
    parser.drop_nuls();
    let mut script = parser.whole();
    parser.bodies.fill(&mut script);
    let parsed = Parsed {
        script,
        problems: parser.problems,
    };
    (parsed, parser.cursor.steps)
}

/// A reader of shell text.
pub(super) struct Parser<'t> {
    pub(super) cursor: Cursor<'t>,
    pub(super) problems: Vec<Problem>,
    /// Where the line begins that bash reads as a whole before it runs any of it; nothing where bash looks only when it
    /// runs what stands around.
    pub(super) line: Option<usize>,
    /// Here-documents whose text begins after the next newline.
    pub(super) waiting: Vec<Waiting>,
    pub(super) bodies: Bodies,
    /// Whether what is read ends with the `)` of a substitution.
    pub(super) in_substitution: bool,
    pub(super) pairs: Pairs,
    pub(super) rereads: usize,
    depth: usize,
    nodes: usize,
    stopped: bool,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            cursor: Cursor::new(text),
            problems: Vec::new(),
            line: Some(0),
            waiting: Vec::new(),
            bodies: Bodies::default(),
            in_substitution: false,
            pairs: Pairs::new(text.len()),
            rereads: 0,
            depth: 0,
            nodes: 0,
            stopped: false,
        }
    }

    /// Bash drops NUL from what it reads. It cannot be handed over in an argument at all, so who runs this text may see
    /// another one: that is worth a problem.
    fn drop_nuls(&mut self) {
        let Some(first) = self.cursor.text().find('\0') else {
            return;
        };
        self.problem_beside(ProblemKind::Unexpected, first..first + 1);
        let mut clean = Remaking::of(&self.cursor);
        let mut at = 0;
        for part in self.cursor.text().split('\0') {
            clean.keep(at, at + part.len());
            at += part.len() + 1;
        }
        self.cursor = clean.done(self.cursor.len());
    }

    /// Something because of which bash runs nothing from this line on.
    pub(super) fn problem(&mut self, kind: ProblemKind, start: usize, end: usize) {
        let span = self.cursor.span(start, end);
        self.record(kind, span, self.line);
    }

    /// Something that does not keep bash from running what stands around it.
    pub(super) fn problem_beside(&mut self, kind: ProblemKind, span: Span) {
        self.record(kind, span, None);
    }

    fn record(&mut self, kind: ProblemKind, span: Span, runs_until: Option<usize>) {
        // Those around it stumble over the same place.
        let known = self
            .problems
            .last()
            .is_some_and(|p| p.kind == kind && p.span.start == span.start);
        if self.stopped || known {
            return;
        }
        // What comes after something that bash cannot read does not run either.
        let first = self.problems.iter().find_map(|p| p.runs_until);
        self.problems.push(Problem {
            kind,
            span,
            runs_until: runs_until.and(first).or(runs_until),
        });
        if self.problems.len() >= limits::PROBLEMS {
            self.stop();
        }
    }

    /// Something that opened at `start` is not closed.
    pub(super) fn unterminated(&mut self, start: usize) {
        self.problem(ProblemKind::Unterminated, start, self.cursor.len());
    }

    /// A limit is passed: nothing more is read.
    pub(super) fn give_up(&mut self, kind: ProblemKind) {
        let span = self.cursor.span(self.cursor.at(), self.cursor.len());
        self.problem_beside(kind, span);
        self.stop();
    }

    fn stop(&mut self) {
        self.stopped = true;
        self.cursor.go_to(self.cursor.len());
    }

    /// After another text was read: the end of everything is the end of this one too.
    pub(super) fn stay_stopped(&mut self) {
        if self.stopped {
            self.stop();
        }
    }

    /// Reads something one level deeper, unless that is too deep.
    pub(super) fn deeper<T: Default>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        if self.depth >= limits::DEPTH {
            self.give_up(ProblemKind::TooDeep);
            return T::default();
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Counts a command, a word or a piece.
    pub(super) fn node(&mut self) {
        self.nodes += 1;
        if self.nodes > limits::NODES && !self.stopped {
            self.give_up(ProblemKind::TooLong);
        }
    }
}
