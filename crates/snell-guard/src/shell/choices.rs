//! Several ways to read one command. A variable that has two values, a default that may or may not stand in: the command
//! is followed once for each way, and what the ways leave behind is joined.

use super::found::Reason;
use super::join::Join;
use super::limits;
use super::scope::{Scope, Variable};
use super::{Flow, Walker};
use crate::invocation::Value;

/// The way that is being followed, and those that remain.
#[derive(Default)]
pub(super) struct Choices<'t> {
    /// What was chosen, in the order in which it was asked.
    taken: Vec<usize>,
    at: usize,
    waiting: Vec<Vec<usize>>,
    /// Whether the last of each is taken, without trying the others.
    last: bool,
    /// The scope when something was first asked.
    before: Option<Scope<'t>>,
}

impl<'t> Walker<'t> {
    /// Follows a command in every way in which it can be read.
    pub(super) fn readings(&mut self, run: impl Fn(&mut Self) -> Flow) -> Flow {
        let outer = std::mem::take(&mut self.choices);
        let first = self.count();
        let flow = run(self);
        if let Some(before) = self.choices.before.take() {
            let flow = self.other_readings(flow, first, &before, run);
            self.choices = outer;
            return flow;
        }
        self.choices = outer;
        flow
    }

    fn other_readings(
        &mut self,
        flow: Flow,
        first: usize,
        before: &Scope<'t>,
        run: impl Fn(&mut Self) -> Flow,
    ) -> Flow {
        let mut join = Join::default();
        join.add(self, flow);
        let mut waiting = std::mem::take(&mut self.choices.waiting);
        let mut count = 1;
        while let Some(taken) = waiting.pop() {
            count += 1;
            // Of too many ways, at least the one that is unlike the first in everything.
            let last = count > limits::READINGS;
            if last {
                self.partial(Reason::Limit("readings"));
                waiting.clear();
            }
            if self.is_stopped() {
                break;
            }
            self.scope = before.clone();
            self.choices = Choices {
                taken: if last { Vec::new() } else { taken },
                last,
                before: Some(before.clone()),
                ..Choices::default()
            };
            let from = self.count();
            let flow = run(self);
            join.add(self, flow);
            waiting.append(&mut self.choices.waiting);
            self.drop_repeated(first, from);
        }
        join.finish(self)
    }

    /// Which of so many ways is followed now.
    pub(crate) fn choose(&mut self, count: usize) -> usize {
        if count <= 1 {
            return 0;
        }
        if self.choices.before.is_none() {
            self.choices.before = Some(self.scope.clone());
        }
        if self.choices.last {
            return count - 1;
        }
        let at = self.choices.at;
        self.choices.at += 1;
        if let Some(chosen) = self.choices.taken.get(at) {
            return *chosen;
        }
        // The last in line is followed next: the order of the readings is that of the values.
        for other in (1..count).rev() {
            let mut taken = self.choices.taken.clone();
            taken.push(other);
            self.choices.waiting.push(taken);
        }
        self.choices.taken.push(0);
        0
    }

    /// One of several values.
    pub(crate) fn choose_value(&mut self, mut values: Vec<Value>) -> Value {
        let at = self.choose(values.len());
        if at < values.len() {
            values.swap_remove(at)
        } else {
            Value::default()
        }
    }

    /// The value of a variable, if it has one: what is chosen stays chosen for the rest of this command.
    pub(super) fn settled(&mut self, name: &str) -> Option<Variable> {
        let variable = self.scope.variables.get(self.scope.meant(name))?;
        let Variable::Values(values) = variable else {
            return Some(variable.clone());
        };
        if values.len() == 1 {
            return Some(variable.clone());
        }
        let values = values.clone();
        let chosen = Variable::one(self.choose_value(values));
        self.set(name, chosen.clone());
        Some(chosen)
    }

    /// The directory, of those that it may be.
    pub(super) fn settle_cwd(&mut self) {
        if self.scope.cwd.len() > 1 {
            let at = self.choose(self.scope.cwd.len());
            let chosen = self.scope.cwd.get(at).cloned().flatten();
            self.scope.cwd = std::rc::Rc::new(vec![chosen]);
        }
    }
}
