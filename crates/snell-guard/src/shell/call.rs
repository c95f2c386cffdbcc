//! A command whose words are known: a function, a builtin, a program that runs others, or just a program.

use std::rc::Rc;

use super::found::Reason;
use super::limits;
use super::pattern::Pattern;
use super::scope::Out;
use super::{Flow, Walker};
use crate::invocation::{Invocation, Opened, Opening, Part, Stdin, Unknown, Value};
use crate::programs;
use crate::syntax::{Script, Span};
use crate::unwrap;

/// Programs that the name of one may stand for, if it is a pattern.
const MAX_CANDIDATES: usize = 16;
/// Steps that looking for them counts as: all names are tried.
const CANDIDATES_COST: usize = 200;

/// What the name of a command may mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Means {
    /// A function, a builtin or a program.
    #[default]
    Anything,
    /// A builtin or a program: behind `command`.
    NoFunction,
    /// A program: it is run by another.
    Program,
}

/// A command whose words are known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Call {
    pub(crate) argv: Vec<Value>,
    /// Variables that are set for it alone.
    pub(crate) variables: Vec<(String, Value)>,
    pub(crate) files: Vec<Opened>,
    pub(crate) means: Means,
    pub(crate) span: Span,
}

impl Call {
    /// The name of the program, if it is known.
    pub(crate) fn name(&self) -> Option<&str> {
        self.argv.first().and_then(Value::as_text)
    }

    /// What follows the name.
    pub(crate) fn arguments(&self) -> &[Value] {
        self.argv.get(1..).unwrap_or_default()
    }

    /// The same with other words, as another program would run them.
    pub(crate) fn with(&self, argv: Vec<Value>) -> Self {
        Self {
            argv,
            variables: self.variables.clone(),
            files: self.files.clone(),
            means: Means::Program,
            span: self.span.clone(),
        }
    }
}

impl<'t> Walker<'t> {
    /// Follows a command.
    pub(crate) fn run(&mut self, call: Call) -> Flow {
        if !self.spend(1 + call.argv.len() / 4) {
            return Flow::Exit;
        }
        let Some(name) = call.name() else {
            return self.unknown_program(call);
        };
        if !self.scope.functions.is_empty() && call.means == Means::Anything {
            let name = name.to_owned();
            if let Some(flow) = self.call_function(&name, &call) {
                return flow;
            }
        }
        self.permitting(call, Self::run_itself)
    }

    /// Follows a command that is no function.
    fn run_itself(&mut self, mut call: Call) -> Flow {
        if call.means != Means::Program
            && let Some(flow) = self.builtin(&call)
        {
            return flow;
        }
        unwrap::variables(self, &call);
        match unwrap::run(self, &mut call) {
            Some(flow) => flow,
            None => {
                self.plain(call);
                Flow::Next
            }
        }
    }

    /// `$cmd x`, `/bin/r?`: it may be anything, and where the first word may be nothing, the second names the program.
    fn unknown_program(&mut self, mut call: Call) -> Flow {
        let Some(program) = call.argv.first() else {
            return Flow::Next;
        };
        if let Some(pattern) = Pattern::of(program) {
            self.spend(CANDIDATES_COST);
            let candidates = candidates(program, &pattern);
            if candidates.len() > MAX_CANDIDATES {
                self.partial(Reason::Limit("candidates"));
            }
            let candidates: Vec<Value> = candidates.into_iter().take(MAX_CANDIDATES).collect();
            if !candidates.is_empty() {
                let name = self.choose_value(candidates);
                if let Some(first) = call.argv.first_mut() {
                    *first = name;
                }
                return self.deeper(|walker| walker.run(call));
            }
        }
        let may_vanish = call.argv.len() > 1 && program.may_be_empty();
        if may_vanish && self.choose(2) == 1 {
            call.argv.remove(0);
            return self.deeper(|walker| walker.run(call));
        }
        if call.argv.first().is_some_and(|program| program.holds(Unknown::Unseen)) {
            // `$(curl …)`: the same as if the shell were told to evaluate it.
            call.argv.insert(0, Value::text("eval"));
        }
        self.plain(call);
        Flow::Next
    }

    /// A program that runs nothing else.
    pub(crate) fn plain(&mut self, call: Call) -> Option<usize> {
        // `tee` writes files, whether anybody listens or not.
        let output = if self.is_heard() || call.name() == Some("tee") {
            self.output(&call)
        } else {
            None
        };
        let at = self.report_call(call);
        if self.is_heard() {
            self.deliver(output, at);
        }
        at
    }

    /// Whether somebody uses what is printed.
    pub(crate) fn is_heard(&self) -> bool {
        !matches!(self.scope.io.stdout, Out::Agent | Out::Aside)
    }

    /// Reports a program as it stands.
    pub(crate) fn report_call(&mut self, call: Call) -> Option<usize> {
        let around = Rc::clone(&self.around);
        let stdin = (*self.scope.io.stdin).clone();
        let weight = match &stdin {
            Stdin::Pipe(left) => left.len(),
            Stdin::Text(text) => text.size() / super::limits::BYTES_PER_STEP,
            Stdin::Inherited | Stdin::File(_) => 0,
        };
        self.spend(weight);
        let exported = self.changed_for(&call);
        self.report(Invocation {
            argv: call.argv,
            variables: call.variables,
            exported,
            files: call.files,
            stdin,
            stdout: self.scope.io.stdout.told(),
            cwd: self.scope.cwd().map(str::to_owned),
            privileged: around.privileged,
            elsewhere: around.elsewhere,
            container: around.container.clone(),
            via: around.via.clone(),
            allowed: around.allowed,
            span: around.span.clone().unwrap_or(call.span),
        })
    }

    /// Files that are opened for no program.
    pub(crate) fn report_files(&mut self, files: Vec<Opened>, span: &Span) {
        self.report_call(Call {
            files,
            span: span.clone(),
            ..Call::default()
        });
    }

    /// A file that the shell itself reads.
    pub(super) fn report_read(&mut self, path: Value) {
        let files = vec![Opened {
            path: path.clone(),
            how: Opening::Read,
        }];
        self.report_call(Call {
            argv: vec![Value::text("cat"), path],
            files,
            ..Call::default()
        });
    }

    /// Somebody prints: this, or nobody knows what.
    pub(crate) fn deliver(&mut self, output: Option<Value>, printed_by: Option<usize>) {
        match &self.scope.io.stdout {
            Out::Agent | Out::Aside => {}
            Out::Pipe | Out::Captured => {
                let opaque = output.is_none();
                let value = output.unwrap_or_else(|| Value::unknown(Unknown::Anything));
                self.spend_bytes(value.size());
                let printed = Rc::make_mut(&mut self.scope.printed);
                printed.opaque |= opaque;
                if printed.value.size() + value.size() > limits::VALUE_BYTES {
                    printed.value = Value::unknown(Unknown::Anything);
                    self.partial(Reason::Limit("value"));
                } else {
                    printed.value.append(&value);
                }
            }
            Out::File(path) => {
                let path = Rc::clone(path);
                if let Some(script) = self.reader(&path) {
                    return self.feed_reader(script, output, printed_by);
                }
                self.spend(8);
                let value = output.unwrap_or_else(|| {
                    let kind = printed_by.map_or(Unknown::Anything, |at| self.kind_since(at));
                    Value::unknown(kind)
                });
                self.write(&path, &value);
            }
        }
    }

    /// What reads a file that `>(…)` has named.
    fn reader(&self, path: &Value) -> Option<&'t Script> {
        let path = path.as_text()?;
        let found = self.readers.iter().rev().find(|(known, ..)| known == path);
        found.map(|(_, script, _)| *script)
    }

    /// The same, if it was followed with something else than what is read now: `tee >(sh) <<< text`.
    pub(super) fn unfed_reader(&self, path: &Value) -> Option<&'t Script> {
        let path = path.as_text()?;
        let (_, script, stdin) = self.readers.iter().rev().find(|(known, ..)| known == path)?;
        (!Rc::ptr_eq(stdin, &self.scope.io.stdin)).then_some(*script)
    }

    /// Follows it, with what it is fed.
    pub(super) fn feed_reader(&mut self, script: &'t Script, output: Option<Value>, printed_by: Option<usize>) {
        let stdin = match (output, printed_by) {
            (Some(value), _) => Stdin::Text(value),
            (None, Some(at)) => Stdin::Pipe(self.since(at).iter().take(1).cloned().collect()),
            (None, None) => Stdin::Inherited,
        };
        // Who feeds it may be let through; what reads is another command.
        self.permitted(None, |walker| {
            walker.apart(|walker| {
                walker.scope.io.stdin = Rc::new(stdin);
                walker.scope.io.stdout = Out::Agent;
                walker
                    .nested(|walker| Some(walker.script(script)))
                    .unwrap_or(Flow::Next)
            });
        });
    }

    /// The name under which a file is remembered. Where the directory is unknown, it is the same one as long as nobody
    /// says otherwise.
    pub(super) fn file_named(&self, path: &Value) -> Option<String> {
        const SOMEWHERE: &str = "/somewhere";
        let cwd = self.scope.cwd().unwrap_or(SOMEWHERE);
        crate::paths::locate(path, Some(cwd), self.world).path
    }

    /// Remembers what is added to a file.
    pub(crate) fn write(&mut self, path: &Value, value: &Value) {
        let Some(path) = self.file_named(path) else {
            return;
        };
        self.spend(1 + self.scope.files.len() / 8);
        self.spend_bytes(value.size());
        let files = Rc::make_mut(&mut self.scope.files);
        let content = files.entry(path).or_insert_with(|| {
            let mut unseen = Value::unknown(Unknown::Anything);
            unseen.push(Part::Text("\n".to_owned()));
            unseen
        });
        if content.size() + value.size() > limits::VALUE_BYTES {
            *content = Value::unknown(Unknown::Anything);
            self.partial(Reason::Limit("value"));
        } else {
            content.append(value);
        }
    }

    /// Forgets what was in a file, because it is emptied.
    pub(crate) fn empty(&mut self, path: &Value) {
        if let Some(path) = self.file_named(path) {
            self.spend(1 + self.scope.files.len() / 8);
            Rc::make_mut(&mut self.scope.files).insert(path, Value::default());
        }
    }

    /// Follows a command through another program.
    pub(crate) fn through(&mut self, via: &str, run: impl FnOnce(&mut Self) -> Flow) -> Flow {
        let around = Rc::clone(&self.around);
        Rc::make_mut(&mut self.around).via.push(via.to_owned());
        let flow = self.deeper(run);
        self.around = around;
        flow
    }
}

/// Programs that a pattern may stand for.
fn candidates(program: &Value, pattern: &Pattern) -> Vec<Value> {
    let written = program.to_string();
    let (directory, base) = written
        .rsplit_once('/')
        .map_or(("", written.as_str()), |(before, base)| (before, base));
    let base = if directory.is_empty() {
        None
    } else {
        let mut value = Value::default();
        super::fields::push_globs(&mut value, base);
        Pattern::of(&value)
    };
    let pattern = base.as_ref().unwrap_or(pattern);
    let names = programs::NAMES.iter().map(|(name, _)| *name).chain(unwrap::names());
    let mut found: Vec<Value> = Vec::new();
    for name in names {
        let characters: Vec<char> = name.chars().collect();
        let value = Value::text(name);
        if pattern.fits(&characters) == Some(true) && !found.contains(&value) {
            found.push(value);
        }
    }
    found
}
