//! Functions: they run where they are called.

use std::rc::Rc;

use super::scope::Variable;
use super::{Call, Flow, Walker};
use crate::invocation::Value;
use crate::syntax::Command;

/// A function that is being called.
pub(super) struct Active {
    name: String,
    arguments: Rc<Vec<Value>>,
    /// How much ran at the same time when it was called.
    beside: usize,
}

impl<'t> Walker<'t> {
    pub(super) fn define(&mut self, name: &str, body: &'t Command) {
        if Rc::strong_count(&self.scope.functions) > 1 {
            self.spend(1 + self.scope.functions.len() / 8);
        }
        Rc::make_mut(&mut self.scope.functions).insert(name.to_owned(), vec![Some(body)]);
    }

    /// Follows a call, if there is such a function.
    pub(super) fn call_function(&mut self, name: &str, call: &Call) -> Option<Flow> {
        let count = self.scope.functions.get(name)?.len();
        let at = self.choose(count);
        let body = self.scope.functions.get(name)?.get(at).copied().flatten()?;
        if !call.files.is_empty() {
            self.report_files(call.files.clone(), &call.span);
        }
        let arguments = Rc::new(call.argv.get(1..).unwrap_or_default().to_vec());
        let running = |active: &&Active| active.name == name && active.arguments == arguments;
        if let Some(active) = self.calls.iter().find(running) {
            // The same again: nothing new would run. But two at once, each of which starts two …
            if self.beside > active.beside {
                let span = self.around.span.clone().unwrap_or_else(|| call.span.clone());
                self.report_bomb(span);
            }
            return Some(Flow::Next);
        }
        let around = std::mem::take(&mut self.locals);
        for (name, value) in &call.variables {
            self.make_local(name);
            self.set(name, Variable::one(value.clone()));
            self.export(name);
        }
        let positional = std::mem::replace(&mut self.scope.positional, Rc::clone(&arguments));
        self.calls.push(Active {
            name: name.to_owned(),
            arguments,
            beside: self.beside,
        });
        let leaving = std::mem::take(&mut self.leaving);
        let inside = self.inside;
        self.inside.loops = 0;
        self.inside.functions += 1;
        let flow = self.deeper(|walker| walker.command(body));
        self.inside = inside;
        let early = std::mem::replace(&mut self.leaving, leaving);
        self.calls.pop();
        if flow != Flow::Exit {
            early.release(self);
        }
        self.scope.positional = positional;
        for (name, value) in std::mem::replace(&mut self.locals, around).into_iter().rev() {
            self.forget(&name);
            if let Some(value) = value {
                self.set(&name, value);
            }
        }
        Some(if flow == Flow::Return { Flow::Next } else { flow })
    }

    /// What a variable is now comes back when the function ends.
    pub(super) fn make_local(&mut self, name: &str) {
        let before = self.scope.variables.get(name).cloned();
        if matches!(before, Some(Variable::Reference(_))) {
            self.forget(name);
        }
        self.locals.push((name.to_owned(), before));
    }

    /// Nothing is known of a variable any more, nor whether its name stands for another.
    pub(super) fn forget(&mut self, name: &str) {
        Rc::make_mut(&mut self.scope.variables).remove(name);
    }

    /// Whether this is the text of a shell that was given no parameters, rather than of a function.
    pub(super) fn is_outermost(&self) -> bool {
        self.inside.functions == 0 && self.scope.positional.is_empty()
    }

    /// Whether a function is being called.
    pub(super) fn in_function(&self) -> bool {
        self.inside.functions > 0
    }
}
