//! Lists and pipes: the manual's sections "Pipelines" and "Lists of Commands".

use std::rc::Rc;

use super::endless;
use super::join::Join;
use super::limits;
use super::scope::{Out, Scope};
use super::{Flow, Walker};
use crate::invocation::{Invocation, Stdin};
use crate::syntax::{Command, CommandKind, Connector, Item, Pipeline, Script};

/// Commands that are taken to succeed: what follows them by `&&` does run.
const SURE: &[&str] = &[
    ":", "alias", "cd", "declare", "echo", "export", "local", "mkdir", "printf", "pushd", "pwd", "readonly", "set",
    "shopt", "touch", "true", "typeset", "umask", "unset",
];

impl<'t> Walker<'t> {
    /// Follows a list of commands.
    pub(super) fn script(&mut self, script: &'t Script) -> Flow {
        for item in &script.items {
            if self.is_stopped() {
                return Flow::Exit;
            }
            let flow = if item.background {
                self.background(item)
            } else {
                self.item(item)
            };
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }

    fn background(&mut self, item: &'t Item) -> Flow {
        self.beside += 1;
        self.apart(|walker| walker.item(item));
        self.beside -= 1;
        Flow::Next
    }

    /// Runs something in a shell of its own: what it changes is forgotten, what it prints and writes is not.
    pub(crate) fn apart(&mut self, run: impl FnOnce(&mut Self) -> Flow) {
        self.spend(2);
        let outer = self.scope.clone();
        let leaving = std::mem::take(&mut self.leaving);
        let inside = std::mem::take(&mut self.inside);
        self.subshells += 1;
        run(self);
        self.subshells -= 1;
        self.inside = inside;
        self.leaving = leaving;
        let inner = std::mem::replace(&mut self.scope, outer);
        self.scope.printed = inner.printed;
        self.scope.files = inner.files;
    }

    fn item(&mut self, item: &'t Item) -> Flow {
        let mut before: Option<&'t Pipeline> = None;
        for (connector, pipeline) in &item.pipelines {
            let surely = match (connector, before) {
                (Connector::First, _) => true,
                (Connector::And, Some(before)) => is_sure(before),
                (Connector::And | Connector::Or, _) => false,
            };
            let flow = if surely {
                self.pipeline(pipeline)
            } else {
                self.perhaps(pipeline)
            };
            if flow != Flow::Next {
                return flow;
            }
            before = Some(pipeline);
        }
        Flow::Next
    }

    /// A pipeline that may run or not.
    fn perhaps(&mut self, pipeline: &'t Pipeline) -> Flow {
        let mut join = Join::default();
        join.merge(self);
        let flow = self.pipeline(pipeline);
        join.add(self, flow);
        join.finish(self)
    }

    fn pipeline(&mut self, pipeline: &'t Pipeline) -> Flow {
        match pipeline.commands.as_slice() {
            [] => Flow::Next,
            [command] => self.command(command),
            commands => self
                .nested(|walker| Some(walker.stages(commands)))
                .unwrap_or(Flow::Next),
        }
    }

    fn stages(&mut self, commands: &'t [Command]) -> Flow {
        let outer = self.scope.clone();
        let mut stdin = Rc::clone(&outer.io.stdin);
        let first = self.count();
        self.beside += 1;
        for (at, command) in commands.iter().enumerate() {
            let is_last = at + 1 == commands.len();
            self.scope.io.stdin = Rc::clone(&stdin);
            if !is_last {
                self.scope.io.stdout = Out::Pipe;
                self.scope.printed = Rc::default();
            }
            let leaving = std::mem::take(&mut self.leaving);
            self.command(command);
            self.leaving = leaving;
            if !is_last {
                stdin = self.flowing(first);
            }
            self.next_stage(&outer, is_last);
            if self.is_stopped() {
                break;
            }
        }
        self.beside -= 1;
        Flow::Next
    }

    /// Each stage is a shell of its own, but all see the same files, and the last prints for all.
    fn next_stage(&mut self, outer: &Scope<'t>, is_last: bool) {
        let inner = std::mem::replace(&mut self.scope, outer.clone());
        self.scope.files = inner.files;
        if is_last {
            self.scope.printed = inner.printed;
        }
    }

    /// What flows through a pipe: the text if it is known, else who prints it.
    fn flowing(&mut self, first: usize) -> Rc<Stdin> {
        let printed = &self.scope.printed;
        if !printed.opaque {
            let value = printed.value.clone();
            self.spend_bytes(value.size());
            return Rc::new(Stdin::Text(value));
        }
        let found = self.since(first);
        let from = found.len().saturating_sub(limits::STAGES);
        let left: Vec<Invocation> = found.iter().skip(from).map(without_pipe).collect();
        self.spend(left.len());
        Rc::new(Stdin::Pipe(left))
    }

    pub(super) fn command(&mut self, command: &'t Command) -> Flow {
        if !self.spend(1) {
            return Flow::Exit;
        }
        if endless::is_bomb(&command.kind) {
            let span = self.around.span.clone().unwrap_or_else(|| command.span.clone());
            self.report_bomb(span);
        }
        match &command.kind {
            CommandKind::Simple { assignments, words } => {
                self.readings(|walker| walker.simple(command, assignments, words))
            }
            kind if command.redirects.is_empty() => {
                self.nested(|walker| Some(walker.compound(kind))).unwrap_or(Flow::Next)
            }
            kind => {
                let io = self.scope.io.clone();
                let files = self.redirects(&command.redirects);
                if !files.is_empty() {
                    self.report_files(files, &command.span);
                }
                let flow = self.nested(|walker| Some(walker.compound(kind))).unwrap_or(Flow::Next);
                self.scope.io = io;
                flow
            }
        }
    }
}

/// Programs of a pipe are told with what they are, not with what feeds them: those come before them in the same list.
fn without_pipe(invocation: &Invocation) -> Invocation {
    match &invocation.stdin {
        Stdin::Pipe(_) => Invocation {
            stdin: Stdin::Inherited,
            argv: invocation.argv.clone(),
            variables: invocation.variables.clone(),
            exported: invocation.exported.clone(),
            files: invocation.files.clone(),
            stdout: invocation.stdout.clone(),
            cwd: invocation.cwd.clone(),
            via: invocation.via.clone(),
            container: invocation.container.clone(),
            span: invocation.span.clone(),
            ..*invocation
        },
        _ => invocation.clone(),
    }
}

fn is_sure(pipeline: &Pipeline) -> bool {
    let [command] = pipeline.commands.as_slice() else {
        return false;
    };
    match &command.kind {
        CommandKind::Simple { words, .. } => words
            .first()
            .is_none_or(|word| word.bare().is_some_and(|name| SURE.contains(&name))),
        _ => false,
    }
}
