//! The interpreter: its state and its limits.

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
use crate::policy::entries::EntryPattern;
use snell_shell::{ByteSpan, ParsedScript, ShellCommand, ShellScript, SyntaxProblemKind, parse};

/// A text that is analysed, and the texts parsed after it.
pub(crate) struct ScriptArenaNode {
    parsed: ParsedScript,
    next: OnceCell<Box<ScriptArenaNode>>,
}

/// How a command ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ShellFlow {
    /// The next command runs.
    #[default]
    Next,
    /// Leaves this many loops.
    Break(usize),
    /// Continues the loop this many levels out.
    Continue(usize),
    /// Leaves the function.
    Return,
    /// Leaves the shell.
    Exit,
}

/// The commands that read a file without a lasting name.
#[derive(Clone, Copy)]
pub(super) enum FileReader<'t> {
    /// `>(…)`
    Script(&'t ShellScript),
    /// `coproc …`
    Coprocess(&'t ShellCommand),
}

/// The loops and functions that can be left.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NestingCounts {
    pub(super) loops: usize,
    pub(super) functions: usize,
}

/// The wrappers that a command runs through.
#[derive(Clone, Debug, Default)]
pub(crate) struct InvocationContext {
    pub(crate) via: Vec<String>,
    pub(crate) privileged: bool,
    pub(crate) elsewhere: bool,
    pub(crate) container: Option<ContainerSpec>,
    /// Index of the allowed command that it is, or is part of.
    pub(crate) allowed: Option<usize>,
    /// Indexes of the entries that deny or ask about the commands that it is part of.
    pub(crate) watched_by: Vec<usize>,
    /// The place of the current text, if it is not the outermost.
    pub(crate) span: Option<ByteSpan>,
}

/// The analysis of a command line.
pub(crate) struct ShellInterpreter<'t> {
    pub(crate) world: &'t JudgeContext,
    /// The commands that entries of the settings allow, deny or ask about.
    pub(super) permits: &'t [Option<EntryPattern>],
    pub(crate) scope: ShellScope<'t>,
    pub(crate) context: Rc<InvocationContext>,
    pub(super) choices: ChoicePoints<'t>,
    /// The placeholders for unknown parts of texts.
    pub(super) placeholders: Vec<SymbolicPart>,
    /// The functions that are running.
    pub(super) calls: Vec<FunctionFrame>,
    /// How often a function has called itself.
    pub(super) recursive_calls: usize,
    /// How many temporary files were made.
    pub(super) temporary_files: usize,
    /// Named pipes that this text creates.
    pub(super) fifos: Vec<String>,
    /// The previous values of local variables, to restore.
    pub(super) locals: Vec<(String, Option<ShellVariable>)>,
    /// Scopes that leave a loop or a function early.
    pub(super) early_exits: ScopeMerge<'t>,
    /// The readers of files that `>(…)` names, and the input that each was run with.
    pub(super) readers: Vec<(String, FileReader<'t>, Rc<StdinSource>)>,
    /// The name of the file that stands for the input of the last coprocess.
    pub(super) coprocess: Option<SymbolicText>,
    /// The loops and functions around this command, in the same shell: `break` and `return` can leave them.
    pub(super) enclosing: NestingCounts,
    /// How many commands run at the same time as this one, in the background or in a pipe.
    pub(super) concurrency: usize,
    /// How many subshells are around this command: their changes do not last.
    pub(super) subshells: usize,
    /// The nesting of functions, texts and wrappers.
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
        permits: &'t [Option<EntryPattern>],
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
            recursive_calls: 0,
            temporary_files: 0,
            fifos: Vec::new(),
            locals: Vec::new(),
            early_exits: ScopeMerge::default(),
            readers: Vec::new(),
            coprocess: None,
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

    /// Runs another text in the same shell.
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

    /// Runs something one level deeper, unless the limit is reached.
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

    /// The same for the nesting of the syntax tree.
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

    /// Counts steps. Returns whether some are left.
    pub(crate) fn spend_steps(&mut self, steps: usize) -> bool {
        self.found.steps += steps;
        if self.found.steps > limits::STEPS && !self.stopped {
            self.stopped = true;
            self.mark_partial(CoverageGap::Limit("steps"));
        }
        !self.stopped
    }

    /// Counts bytes that are created or copied. Returns whether some are left.
    pub(crate) fn spend_bytes(&mut self, bytes: usize) -> bool {
        self.spend_steps(bytes / limits::BYTES_PER_STEP)
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Marks the analysis as incomplete.
    pub(crate) fn mark_partial(&mut self, reason: CoverageGap) {
        self.found.coverage.add_gap(reason);
    }

    /// Reports a program. Returns its index.
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

    /// Reports code of another language.
    pub(crate) fn report_inline_code(&mut self, code: CodeLanguage, text: SymbolicText, invocation: usize) {
        self.found.inline.push(InlineCode { language: code, text, invocation });
    }

    /// Reports a command that an entry denies or asks about.
    pub(super) fn report_watched_command(&mut self, entry: usize, span: ByteSpan) {
        if !self.found.watched.contains(&(entry, span.clone())) {
            self.found.watched.push((entry, span));
        }
    }

    pub(super) fn report_fork_bomb(&mut self, span: ByteSpan) {
        if !self.found.fork_bombs.contains(&span) {
            self.found.fork_bombs.push(span);
        }
    }

    /// The number of programs found so far.
    pub(crate) fn invocation_count(&self) -> usize {
        self.found.invocations.len()
    }

    /// The programs found since then.
    pub(crate) fn invocations_since(&self, count: usize) -> &[Invocation] {
        self.found.invocations.get(count..).unwrap_or_default()
    }

    /// Drops the programs found since `from` that were also found between `first` and `from`.
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

    /// The result of the analysis.
    pub(super) fn finish(mut self) -> ShellAnalysis {
        self.found.coverage.gaps.sort_unstable();
        self.found
    }
}
