//! The walk itself: what it carries along, and what it costs.

use std::cell::OnceCell;
use std::rc::Rc;

use super::alternatives::ChoicePoints;
use super::limits;
use super::merge::ScopeMerge;
use super::result::{CodeLanguage, CoverageGap, InlineCode, ShellAnalysis};
use super::scope::{ShellScope, ShellVariable};
use crate::interpret::commands::functions::FunctionFrame;
use crate::invocation::{ContainerSpec, Invocation, StdinSource, SymbolicPart, SymbolicText, UnknownKind};
use crate::judge::context::JudgeContext;
use crate::policy::allow_list::CommandPattern;
use snell_shell::{ByteSpan, ParsedScript, ShellScript, SyntaxProblemKind, parse};

/// A text that is being followed, and those that were read after it.
pub(crate) struct ScriptArenaNode {
    parsed: ParsedScript,
    next: OnceCell<Box<ScriptArenaNode>>,
}

/// How a command ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ShellFlow {
    /// The next one runs.
    #[default]
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
pub(super) struct NestingCounts {
    pub(super) loops: usize,
    pub(super) functions: usize,
}

/// Through whom a command is run.
#[derive(Clone, Debug, Default)]
pub(crate) struct InvocationContext {
    pub(crate) via: Vec<String>,
    pub(crate) privileged: bool,
    pub(crate) elsewhere: bool,
    pub(crate) container: Option<ContainerSpec>,
    /// Which of the allowed commands it is, or is part of.
    pub(crate) allowed: Option<usize>,
    /// Where the text stands that is being followed, if it is not the outermost.
    pub(crate) span: Option<ByteSpan>,
}

/// A walk through a command line.
pub(crate) struct ShellInterpreter<'t> {
    pub(crate) world: &'t JudgeContext,
    /// Commands that are let through.
    pub(super) permits: &'t [Option<CommandPattern>],
    pub(crate) scope: ShellScope<'t>,
    pub(crate) context: Rc<InvocationContext>,
    pub(super) choices: ChoicePoints<'t>,
    /// What unknown parts of texts are written as.
    pub(super) placeholders: Vec<SymbolicPart>,
    /// Functions that are being called.
    pub(super) calls: Vec<FunctionFrame>,
    /// What the functions have made local, to be put back.
    pub(super) locals: Vec<(String, Option<ShellVariable>)>,
    /// Scopes that leave a loop or a function early.
    pub(super) early_exits: ScopeMerge<'t>,
    /// What reads the files that `>(…)` names, and what it was already followed with.
    pub(super) readers: Vec<(String, &'t ShellScript, Rc<StdinSource>)>,
    /// Loops and functions around, in the same shell: what `break` and `return` can leave.
    pub(super) enclosing: NestingCounts,
    /// How many commands run at the same time as this one, in the background or in a pipe.
    pub(super) concurrency: usize,
    /// How many shells of their own are around this one: what is changed in them is gone with them.
    pub(super) subshells: usize,
    /// Levels of functions, texts and wrappers.
    depth: usize,
    nesting: usize,
    found: ShellAnalysis,
    texts: &'t OnceCell<Box<ScriptArenaNode>>,
    texts_read: usize,
    text_bytes: usize,
    stopped: bool,
}

impl<'t> ShellInterpreter<'t> {
    pub(super) fn new(
        world: &'t JudgeContext,
        permits: &'t [Option<CommandPattern>],
        texts: &'t OnceCell<Box<ScriptArenaNode>>,
    ) -> Self {
        Self {
            world,
            permits,
            scope: ShellScope::new(world),
            context: Rc::default(),
            choices: ChoicePoints::default(),
            placeholders: Vec::new(),
            calls: Vec::new(),
            locals: Vec::new(),
            early_exits: ScopeMerge::default(),
            readers: Vec::new(),
            enclosing: NestingCounts::default(),
            concurrency: 0,
            subshells: 0,
            depth: 0,
            nesting: 0,
            found: ShellAnalysis::default(),
            texts,
            texts_read: 0,
            text_bytes: 0,
            stopped: false,
        }
    }

    /// Follows another text in the same shell.
    pub(crate) fn run_code(&mut self, code: &SymbolicText, span: &ByteSpan) -> ShellFlow {
        let hidden =
            |part: &SymbolicPart| matches!(part, SymbolicPart::Unknown(unknown) if *unknown != UnknownKind::Name);
        if code.parts.iter().any(hidden) {
            self.mark_partial(CoverageGap::UnknownCode);
        }
        let size = code.size();
        self.text_bytes += size;
        self.texts_read += 1;
        if self.texts_read > limits::TEXTS || self.text_bytes > limits::TEXT_BYTES {
            self.mark_partial(CoverageGap::Limit("texts"));
            return ShellFlow::Next;
        }
        self.spend_steps(size / 8);
        let text = self.encode_unknowns(code);
        let parsed = self.store_parsed(parse(&text));
        let around = Rc::clone(&self.context);
        if around.span.is_none() {
            Rc::make_mut(&mut self.context).span = Some(span.clone());
        }
        let flow = self.with_depth(|walker| walker.run_script(&parsed.script));
        self.context = around;
        flow
    }

    pub(super) fn store_parsed(&mut self, parsed: ParsedScript) -> &'t ParsedScript {
        for problem in &parsed.problems {
            match problem.kind {
                SyntaxProblemKind::TooDeep => self.mark_partial(CoverageGap::Limit("nesting")),
                SyntaxProblemKind::TooLong => self.mark_partial(CoverageGap::Limit("length")),
                SyntaxProblemKind::NoEndMark => {}
                SyntaxProblemKind::Unterminated | SyntaxProblemKind::Unexpected => {
                    self.mark_partial(CoverageGap::Syntax)
                }
            }
        }
        let kept = self.texts.get_or_init(|| Box::new(ScriptArenaNode { parsed, next: OnceCell::new() }));
        self.texts = &kept.next;
        &kept.parsed
    }

    /// Does something one level further in, unless that is too deep.
    pub(crate) fn with_depth(&mut self, run: impl FnOnce(&mut Self) -> ShellFlow) -> ShellFlow {
        if self.depth >= limits::DEPTH {
            self.mark_partial(CoverageGap::Limit("depth"));
            return ShellFlow::Next;
        }
        self.depth += 1;
        let flow = run(self);
        self.depth -= 1;
        flow
    }

    /// The same for what the parser has nested.
    pub(super) fn with_nesting<T: Default>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        if self.nesting >= limits::NESTING {
            self.mark_partial(CoverageGap::Limit("depth"));
            return T::default();
        }
        self.nesting += 1;
        let result = run(self);
        self.nesting -= 1;
        result
    }

    /// Counts work; whether there is some left.
    pub(crate) fn spend_steps(&mut self, steps: usize) -> bool {
        self.found.steps += steps;
        if self.found.steps > limits::STEPS && !self.stopped {
            self.stopped = true;
            self.mark_partial(CoverageGap::Limit("steps"));
        }
        !self.stopped
    }

    /// Counts bytes that are made or copied.
    pub(crate) fn spend_bytes(&mut self, bytes: usize) -> bool {
        self.spend_steps(bytes / limits::BYTES_PER_STEP)
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Something may run that is not seen.
    pub(crate) fn mark_partial(&mut self, reason: CoverageGap) {
        self.found.coverage.add_gap(reason);
    }

    /// A program would run. Its place among the others.
    pub(crate) fn report_invocation(&mut self, invocation: Invocation) -> Option<usize> {
        if self.found.invocations.len() >= limits::INVOCATIONS {
            self.mark_partial(CoverageGap::Limit("invocations"));
            self.stopped = true;
        }
        if !self.spend_steps(1) {
            return None;
        }
        if invocation.argv.first().is_some_and(|program| program.as_text().is_none()) {
            self.mark_partial(CoverageGap::UnknownProgram);
        }
        self.found.invocations.push(invocation);
        Some(self.found.invocations.len() - 1)
    }

    /// Code of another language would run.
    pub(crate) fn report_inline_code(&mut self, code: CodeLanguage, text: SymbolicText, invocation: usize) {
        self.found.inline.push(InlineCode { language: code, text, invocation });
    }

    pub(super) fn report_fork_bomb(&mut self, span: ByteSpan) {
        if !self.found.fork_bombs.contains(&span) {
            self.found.fork_bombs.push(span);
        }
    }

    /// How many programs were found so far.
    pub(crate) fn invocation_count(&self) -> usize {
        self.found.invocations.len()
    }

    /// Those that were found since.
    pub(crate) fn invocations_since(&self, count: usize) -> &[Invocation] {
        self.found.invocations.get(count..).unwrap_or_default()
    }

    /// Takes back what was found since `from`, where it was also found between `first` and `from`.
    pub(super) fn drop_repeated_invocations(&mut self, first: usize, from: usize) {
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
    pub(super) fn finish(mut self) -> ShellAnalysis {
        self.found.coverage.gaps.sort_unstable();
        self.found
    }
}
