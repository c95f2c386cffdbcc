//! The walk itself: what it carries along, and what it costs.

use std::cell::OnceCell;
use std::rc::Rc;

use super::choices::Choices;
use super::found::{Code, Coverage, Found, Inline, Reason};
use super::functions::Active;
use super::join::Join;
use super::limits;
use super::scope::{Scope, Variable};
use crate::allowed::Permit;
use crate::invocation::{Container, Invocation, Part, Stdin, Unknown, Value};
use crate::syntax::{Parsed, ProblemKind, Script, Span, parse};
use crate::world::World;

/// A text that is being followed, and those that were read after it.
pub(crate) struct Text {
    parsed: Parsed,
    next: OnceCell<Box<Text>>,
}

/// How a command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// The next one runs.
    Next,
    /// So many loops are left.
    Break(usize),
    /// The loop that is so many levels out goes on.
    Continue(usize),
    /// The function is left.
    Return,
    /// The shell is left.
    Exit,
}

/// What can be left.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Inside {
    pub(super) loops: usize,
    pub(super) functions: usize,
}

/// Through whom a command is run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Around {
    pub(crate) via: Vec<String>,
    pub(crate) privileged: bool,
    pub(crate) elsewhere: bool,
    pub(crate) container: Option<Container>,
    /// Which of the allowed commands it is, or is part of.
    pub(crate) allowed: Option<usize>,
    /// Where the text stands that is being followed, if it is not the outermost.
    pub(crate) span: Option<Span>,
}

/// A walk through a command line.
pub(crate) struct Walker<'t> {
    pub(crate) world: &'t World,
    /// Commands that are let through.
    pub(super) permits: &'t [Option<Permit>],
    pub(crate) scope: Scope<'t>,
    pub(crate) around: Rc<Around>,
    pub(super) choices: Choices<'t>,
    /// What unknown parts of texts are written as.
    pub(super) holes: Vec<Part>,
    /// Functions that are being called.
    pub(super) calls: Vec<Active>,
    /// What the functions have made local, to be put back.
    pub(super) locals: Vec<(String, Option<Variable>)>,
    /// Scopes that leave a loop or a function early.
    pub(super) leaving: Join<'t>,
    /// What reads the files that `>(…)` names, and what it was already followed with.
    pub(super) readers: Vec<(String, &'t Script, Rc<Stdin>)>,
    /// Loops and functions around, in the same shell: what `break` and `return` can leave.
    pub(super) inside: Inside,
    /// How many commands run at the same time as this one, in the background or in a pipe.
    pub(super) beside: usize,
    /// How many shells of their own are around this one: what is changed in them is gone with them.
    pub(super) subshells: usize,
    /// Levels of functions, texts and wrappers.
    depth: usize,
    nesting: usize,
    found: Found,
    reasons: Vec<Reason>,
    texts: &'t OnceCell<Box<Text>>,
    texts_read: usize,
    text_bytes: usize,
    stopped: bool,
}

impl<'t> Walker<'t> {
    pub(super) fn new(world: &'t World, permits: &'t [Option<Permit>], texts: &'t OnceCell<Box<Text>>) -> Self {
        Self {
            world,
            permits,
            scope: Scope::new(world),
            around: Rc::default(),
            choices: Choices::default(),
            holes: Vec::new(),
            calls: Vec::new(),
            locals: Vec::new(),
            leaving: Join::default(),
            readers: Vec::new(),
            inside: Inside::default(),
            beside: 0,
            subshells: 0,
            depth: 0,
            nesting: 0,
            found: Found::default(),
            reasons: Vec::new(),
            texts,
            texts_read: 0,
            text_bytes: 0,
            stopped: false,
        }
    }

    /// Follows the outermost text.
    pub(super) fn run_text(&mut self, text: &str) {
        let parsed = self.keep(parse(text));
        self.script(&parsed.script);
    }

    /// Follows another text in the same shell.
    pub(crate) fn run_code(&mut self, code: &Value, span: &Span) -> Flow {
        let hidden = |part: &Part| matches!(part, Part::Unknown(unknown) if *unknown != Unknown::Name);
        if code.parts.iter().any(hidden) {
            self.partial(Reason::UnknownCode);
        }
        let size = code.size();
        self.text_bytes += size;
        self.texts_read += 1;
        if self.texts_read > limits::TEXTS || self.text_bytes > limits::TEXT_BYTES {
            self.partial(Reason::Limit("texts"));
            return Flow::Next;
        }
        self.spend(size / 8);
        let text = self.with_holes(code);
        let parsed = self.keep(parse(&text));
        let around = Rc::clone(&self.around);
        if around.span.is_none() {
            Rc::make_mut(&mut self.around).span = Some(span.clone());
        }
        let flow = self.deeper(|walker| walker.script(&parsed.script));
        self.around = around;
        flow
    }

    fn keep(&mut self, parsed: Parsed) -> &'t Parsed {
        for problem in &parsed.problems {
            match problem.kind {
                ProblemKind::TooDeep => self.partial(Reason::Limit("nesting")),
                ProblemKind::TooLong => self.partial(Reason::Limit("length")),
                ProblemKind::NoEndMark => {}
                ProblemKind::Unterminated | ProblemKind::Unexpected => self.partial(Reason::Syntax),
            }
        }
        let kept = self.texts.get_or_init(|| {
            Box::new(Text {
                parsed,
                next: OnceCell::new(),
            })
        });
        self.texts = &kept.next;
        &kept.parsed
    }

    /// Does something one level further in, unless that is too deep.
    pub(crate) fn deeper(&mut self, run: impl FnOnce(&mut Self) -> Flow) -> Flow {
        if self.depth >= limits::DEPTH {
            self.partial(Reason::Limit("depth"));
            return Flow::Next;
        }
        self.depth += 1;
        let flow = run(self);
        self.depth -= 1;
        flow
    }

    /// The same for what the parser has nested.
    pub(super) fn nested<T: Default>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        if self.nesting >= limits::NESTING {
            self.partial(Reason::Limit("depth"));
            return T::default();
        }
        self.nesting += 1;
        let result = run(self);
        self.nesting -= 1;
        result
    }

    /// Counts work; whether there is some left.
    pub(crate) fn spend(&mut self, steps: usize) -> bool {
        self.found.steps += steps;
        if self.found.steps > limits::STEPS && !self.stopped {
            self.stopped = true;
            self.partial(Reason::Limit("steps"));
        }
        !self.stopped
    }

    /// Counts bytes that are made or copied.
    pub(crate) fn spend_bytes(&mut self, bytes: usize) -> bool {
        self.spend(bytes / limits::BYTES_PER_STEP)
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Something may run that is not seen.
    pub(crate) fn partial(&mut self, reason: Reason) {
        if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }

    /// A program would run. Its place among the others.
    pub(crate) fn report(&mut self, invocation: Invocation) -> Option<usize> {
        if self.found.invocations.len() >= limits::INVOCATIONS {
            self.partial(Reason::Limit("invocations"));
            self.stopped = true;
        }
        if !self.spend(1) {
            return None;
        }
        if invocation
            .argv
            .first()
            .is_some_and(|program| program.as_text().is_none())
        {
            self.partial(Reason::UnknownProgram);
        }
        self.found.invocations.push(invocation);
        Some(self.found.invocations.len() - 1)
    }

    /// Code of another language would run.
    pub(crate) fn report_inline(&mut self, code: Code, text: Value, invocation: usize) {
        self.found.inline.push(Inline { code, text, invocation });
    }

    pub(super) fn report_bomb(&mut self, span: Span) {
        if !self.found.fork_bombs.contains(&span) {
            self.found.fork_bombs.push(span);
        }
    }

    /// How many programs were found so far.
    pub(crate) fn count(&self) -> usize {
        self.found.invocations.len()
    }

    /// Those that were found since.
    pub(crate) fn since(&self, count: usize) -> &[Invocation] {
        self.found.invocations.get(count..).unwrap_or_default()
    }

    /// Takes back what was found since `from`, where it was also found between `first` and `from`.
    pub(super) fn drop_repeated(&mut self, first: usize, from: usize) {
        let all = &mut self.found.invocations;
        let (before, after) = all.split_at(from.min(all.len()));
        let before = before.get(first..).unwrap_or_default();
        let last_inline = self.found.inline.last().map(|inline| inline.invocation);
        if before.len() * after.len() > limits::STEPS || last_inline.is_some_and(|at| at >= from) {
            return;
        }
        let repeated: Vec<bool> = after.iter().map(|invocation| before.contains(invocation)).collect();
        self.found.steps += repeated.len() * before.len() / 4;
        let mut at = 0;
        all.retain(|_| {
            let keep = at < from || !repeated.get(at - from).copied().unwrap_or_default();
            at += 1;
            keep
        });
    }

    /// What was found.
    pub(super) fn finish(mut self) -> Found {
        self.reasons.sort_unstable();
        self.found.coverage = if self.reasons.is_empty() {
            Coverage::Full
        } else {
            Coverage::Partial(self.reasons)
        };
        self.found
    }
}
