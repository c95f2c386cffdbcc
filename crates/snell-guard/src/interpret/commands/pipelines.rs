//! Lists and pipes: the manual's sections "Pipelines" and "Lists of Commands".

use crate::programs::words::shell as words;
use std::rc::Rc;

use super::conditions::TestOutcome;
use super::infinite_loops;
use crate::interpret::limits;
use crate::interpret::merge::ScopeMerge;
use crate::interpret::scope::{OutputSink, ShellScope};
use crate::interpret::{ShellFlow, ShellInterpreter};
use crate::invocation::{Invocation, StdinSource};
use snell_shell::{AndOrList, CommandPipeline, ListConnector, ShellCommand, ShellCommandKind, ShellScript};

impl<'t> ShellInterpreter<'t> {
    /// Runs a list of commands.
    pub(crate) fn run_script(&mut self, script: &'t ShellScript) -> ShellFlow {
        for item in &script.items {
            if self.is_stopped() {
                return ShellFlow::Exit;
            }
            let flow = if item.background { self.run_background(item) } else { self.run_list(item) };
            if flow != ShellFlow::Next {
                return flow;
            }
        }
        ShellFlow::Next
    }

    fn run_background(&mut self, item: &'t AndOrList) -> ShellFlow {
        self.concurrency += 1;
        self.run_in_subshell(|walker| walker.run_list(item));
        self.concurrency -= 1;
        ShellFlow::Next
    }

    /// Runs something in a subshell: its changes to the shell are dropped, its output and files are kept.
    pub(crate) fn run_in_subshell(&mut self, run: impl FnOnce(&mut Self) -> ShellFlow) {
        self.spend_steps(2);
        let outer = self.scope.clone();
        let leaving = std::mem::take(&mut self.early_exits);
        let inside = std::mem::take(&mut self.enclosing);
        self.subshells += 1;
        run(self);
        self.subshells -= 1;
        self.enclosing = inside;
        self.early_exits = leaving;
        let inner = std::mem::replace(&mut self.scope, outer);
        self.scope.printed = inner.printed;
        self.scope.files = inner.files;
    }

    /// Runs pipelines that `&&` and `||` connect. After `&&`, the next one runs only in the scope in which the one before
    /// has succeeded.
    fn run_list(&mut self, item: &'t AndOrList) -> ShellFlow {
        let mut failed = ScopeMerge::default();
        let mut before: Option<&'t CommandPipeline> = None;
        // How the path ended on which every pipeline so far has succeeded.
        let mut flow = ShellFlow::Next;
        for (connector, pipeline) in &item.pipelines {
            if flow != ShellFlow::Next && failed.is_empty() {
                return flow;
            }
            match connector {
                ListConnector::First => {}
                ListConnector::And if flow != ShellFlow::Next => continue,
                ListConnector::And => self.continue_after_success(before, &mut failed),
                ListConnector::Or => {
                    let succeeded = (flow == ShellFlow::Next).then(|| self.continue_after_failure(before, &mut failed));
                    if std::mem::take(&mut failed).finish(self) != ShellFlow::Next {
                        break;
                    }
                    let alternative = self.run_pipeline(pipeline);
                    flow = self.join_alternative(alternative, succeeded);
                    before = None;
                    continue;
                }
            }
            flow = self.run_pipeline(pipeline);
            before = Some(pipeline);
        }
        if failed.is_empty() {
            return flow;
        }
        failed.add_path(self, flow);
        failed.finish(self)
    }

    /// Before the pipeline after `&&`: adds the scope in which the one before has failed.
    fn continue_after_success(&mut self, before: Option<&'t CommandPipeline>, failed: &mut ScopeMerge<'t>) {
        if before.is_some_and(is_sure_to_succeed) {
            return;
        }
        let scope = self.scope.clone();
        self.assume_outcome(before, TestOutcome::False);
        failed.merge_scope(self);
        self.scope = scope;
        self.assume_outcome(before, TestOutcome::True);
    }

    /// Before the pipeline after `||`: adds the scope in which the one before has failed, and returns the other.
    fn continue_after_failure(
        &mut self,
        before: Option<&'t CommandPipeline>,
        failed: &mut ScopeMerge<'t>,
    ) -> ShellScope<'t> {
        let scope = self.scope.clone();
        self.assume_outcome(before, TestOutcome::False);
        failed.merge_scope(self);
        self.scope = scope;
        self.assume_outcome(before, TestOutcome::True);
        self.scope.clone()
    }

    /// Joins the scope after `||` with the one in which nothing had failed.
    fn join_alternative(&mut self, flow: ShellFlow, succeeded: Option<ShellScope<'t>>) -> ShellFlow {
        let Some(mut succeeded) = succeeded else { return flow };
        let mut join = ScopeMerge::default();
        std::mem::swap(&mut self.scope, &mut succeeded);
        join.merge_scope(self);
        self.scope = succeeded;
        join.add_path(self, flow);
        join.finish(self)
    }

    fn run_pipeline(&mut self, pipeline: &'t CommandPipeline) -> ShellFlow {
        match pipeline.commands.as_slice() {
            [] => ShellFlow::Next,
            [command] => self.run_command(command),
            commands => self.with_nesting(|walker| walker.run_stages(commands)),
        }
    }

    fn run_stages(&mut self, commands: &'t [ShellCommand]) -> ShellFlow {
        let outer = self.scope.clone();
        let mut stdin = Rc::clone(&outer.io.stdin);
        let first = self.invocation_count();
        self.concurrency += 1;
        for (at, command) in commands.iter().enumerate() {
            let is_last = at + 1 == commands.len();
            self.scope.io.stdin = Rc::clone(&stdin);
            if !is_last {
                self.scope.io.stdout = OutputSink::Pipe;
                self.scope.printed = Rc::default();
            }
            let leaving = std::mem::take(&mut self.early_exits);
            self.run_command(command);
            self.early_exits = leaving;
            if !is_last {
                stdin = self.read_pipe_content(first);
            }
            self.restore_after_stage(&outer, is_last);
            if self.is_stopped() {
                break;
            }
        }
        self.concurrency -= 1;
        ShellFlow::Next
    }

    /// Each stage is a subshell, but all share the files, and the last one prints for all.
    fn restore_after_stage(&mut self, outer: &ShellScope<'t>, is_last: bool) {
        let inner = std::mem::replace(&mut self.scope, outer.clone());
        self.scope.files = inner.files;
        if is_last {
            self.scope.printed = inner.printed;
        }
    }

    /// The contents of a pipe: the text if it is known, or else the programs that print it.
    fn read_pipe_content(&mut self, first: usize) -> Rc<StdinSource> {
        let printed = &self.scope.printed;
        if !printed.opaque {
            let value = printed.value.clone();
            self.spend_bytes(value.size());
            return Rc::new(StdinSource::Text(value));
        }
        let found = self.invocations_since(first);
        let from = found.len().saturating_sub(limits::STAGES);
        let left: Vec<Invocation> = found.iter().skip(from).map(strip_pipe_input).collect();
        self.spend_steps(left.len());
        Rc::new(StdinSource::Pipe(left))
    }

    pub(crate) fn run_command(&mut self, command: &'t ShellCommand) -> ShellFlow {
        if !self.spend_steps(1) {
            return ShellFlow::Exit;
        }
        if infinite_loops::is_fork_bomb_loop(&command.kind) {
            let span = self.context.span.clone().unwrap_or_else(|| command.span.clone());
            self.report_fork_bomb(span);
        }
        match &command.kind {
            ShellCommandKind::Simple { assignments, words } => {
                self.run_all_readings(|walker| walker.run_simple(command, assignments, words))
            }
            kind if command.redirects.is_empty() => self.with_nesting(|walker| walker.run_compound(kind)),
            kind => {
                let io = self.scope.io.clone();
                let files = self.apply_redirects(&command.redirects);
                if !files.is_empty() {
                    self.report_files(files, &command.span);
                }
                let flow = self.with_nesting(|walker| walker.run_compound(kind));
                self.scope.io = io;
                flow
            }
        }
    }
}

/// Drops the pipe of a program in a pipe: the programs that feed it are in the same list.
fn strip_pipe_input(invocation: &Invocation) -> Invocation {
    match &invocation.stdin {
        StdinSource::Pipe(_) => Invocation {
            stdin: StdinSource::Inherited,
            argv: invocation.argv.clone(),
            variables: invocation.variables.clone(),
            exported: invocation.exported.clone(),
            files: invocation.files.clone(),
            stdout: invocation.stdout.clone(),
            cwd: invocation.cwd.clone(),
            via: invocation.via.clone(),
            container: invocation.container.clone(),
            span: invocation.span.clone(),
            watched_by: Vec::new(),
            ..*invocation
        },
        _ => invocation.clone(),
    }
}

fn is_sure_to_succeed(pipeline: &CommandPipeline) -> bool {
    matches!(pipeline.commands.as_slice(), [command] if command.kind.is_simple_one_of(words::SURE_COMMANDS))
}
