//! Functions run where they are called.

use std::rc::Rc;

use crate::interpret::limits;
use crate::interpret::scope::ShellVariable;
use crate::interpret::{ExpandedCommand, ShellFlow, ShellInterpreter};
use crate::invocation::{SymbolicText, UnknownKind};
use snell_shell::ShellCommand;

/// A function that is being called.
pub(crate) struct FunctionFrame {
    name: String,
    arguments: Rc<Vec<SymbolicText>>,
    /// How many commands ran at the same time when it was called.
    beside: usize,
}

impl<'t> ShellInterpreter<'t> {
    pub(crate) fn define_function(&mut self, name: &str, body: &'t ShellCommand) {
        if Rc::strong_count(&self.scope.functions) > 1 {
            self.spend_steps(1 + self.scope.functions.len() / 8);
        }
        Rc::make_mut(&mut self.scope.functions).insert(name.to_owned(), vec![Some(body)]);
    }

    /// Runs a function, if there is one with this name.
    pub(crate) fn call_function(&mut self, name: &str, command: &ExpandedCommand) -> Option<ShellFlow> {
        let count = self.scope.functions.get(name)?.len();
        let at = self.choose_index(count);
        let body = self.scope.functions.get(name)?.get(at).copied().flatten()?;
        if !command.files.is_empty() {
            self.report_files(command.files.clone(), &command.span);
        }
        let arguments = Rc::new(command.argv.get(1..).unwrap_or_default().to_vec());
        let running = |active: &&FunctionFrame| active.name == name && active.arguments == arguments;
        if let Some(active) = self.calls.iter().find(running) {
            // Recursion runs nothing new, unless it is a fork bomb: each call starts two more.
            if self.concurrency > active.beside {
                let span = self.context.span.clone().unwrap_or_else(|| command.span.clone());
                self.report_fork_bomb(span);
            }
            return Some(ShellFlow::Next);
        }
        let nested = self.calls.iter().filter(|active| active.name == name).count();
        if nested >= limits::RECURSION {
            return Some(ShellFlow::Next);
        }
        let is_widened =
            nested >= limits::RECURSION / 2 || (nested > 0 && self.recursive_calls > limits::RECURSIVE_CALLS);
        self.recursive_calls += usize::from(nested > 0);
        let arguments = if is_widened { widen_arguments(&arguments) } else { arguments };
        if is_widened && self.calls.iter().any(|active| active.name == name && active.arguments == arguments) {
            return Some(ShellFlow::Next);
        }
        let around = std::mem::take(&mut self.locals);
        for (name, value) in &command.variables {
            self.make_local(name);
            self.set_variable(name, ShellVariable::from_value(value.clone()));
            self.export_name(name);
        }
        let positional = std::mem::replace(&mut self.scope.positional, Rc::clone(&arguments));
        self.calls.push(FunctionFrame { name: name.to_owned(), arguments, beside: self.concurrency });
        let leaving = std::mem::take(&mut self.early_exits);
        let inside = self.enclosing;
        self.enclosing.loops = 0;
        self.enclosing.functions += 1;
        let flow = self.with_depth(|walker| walker.run_command(body));
        self.enclosing = inside;
        let early = std::mem::replace(&mut self.early_exits, leaving);
        self.calls.pop();
        if flow != ShellFlow::Exit {
            early.release_into(self);
        }
        self.scope.positional = positional;
        for (name, value) in std::mem::replace(&mut self.locals, around).into_iter().rev() {
            self.forget_variable(&name);
            if let Some(value) = value {
                self.set_variable(&name, value);
            }
        }
        Some(if flow == ShellFlow::Return { ShellFlow::Next } else { flow })
    }

    /// Restores the variable's current value when the function ends.
    pub(crate) fn make_local(&mut self, name: &str) {
        let before = self.scope.variables.get(name).cloned();
        if matches!(before, Some(ShellVariable::Reference(_))) {
            self.forget_variable(name);
        }
        self.locals.push((name.to_owned(), before));
    }

    /// Forgets a variable, and whether it is a reference.
    pub(crate) fn forget_variable(&mut self, name: &str) {
        Rc::make_mut(&mut self.scope.variables).remove(name);
    }

    /// Whether this is the text of a shell without parameters, not of a function.
    pub(crate) fn is_outermost(&self) -> bool {
        self.enclosing.functions == 0 && self.scope.positional.is_empty()
    }

    /// Whether a function is running.
    pub(crate) fn is_in_function(&self) -> bool {
        self.enclosing.functions > 0
    }
}

/// Unknown arguments, with the taint of the known ones. A function that calls itself with more and more arguments does
/// with them whatever it does with these.
fn widen_arguments(arguments: &[SymbolicText]) -> Rc<Vec<SymbolicText>> {
    let widen = |value: &SymbolicText| SymbolicText::from_unknown(value.taint().unwrap_or(UnknownKind::Anything));
    Rc::new(arguments.iter().map(widen).collect())
}
