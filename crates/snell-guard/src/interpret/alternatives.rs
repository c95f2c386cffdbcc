//! Several readings of one command, for example if a variable has two values or a default may apply. The command runs
//! once for each reading, and the resulting scopes are merged.

use super::limits;
use super::merge::ScopeMerge;
use super::result::CoverageGap;
use super::scope::{ShellScope, ShellVariable};
use super::{ShellFlow, ShellInterpreter};
use crate::invocation::SymbolicText;

/// The current reading, and the remaining ones.
#[derive(Default)]
pub(super) struct ChoicePoints<'t> {
    /// The choices of this reading, in order.
    taken: Vec<usize>,
    at: usize,
    waiting: Vec<Vec<usize>>,
    /// Whether each choice takes the last option, without trying the others.
    last: bool,
    /// The scope before the first choice.
    before: Option<ShellScope<'t>>,
}

impl<'t> ShellInterpreter<'t> {
    /// Runs a command in every reading.
    pub(super) fn run_all_readings(&mut self, run: impl Fn(&mut Self) -> ShellFlow) -> ShellFlow {
        let outer = std::mem::take(&mut self.choices);
        let first = self.invocation_count();
        let flow = run(self);
        if let Some(before) = self.choices.before.take() {
            let flow = self.run_other_readings(flow, first, &before, run);
            self.choices = outer;
            return flow;
        }
        self.choices = outer;
        flow
    }

    fn run_other_readings(
        &mut self,
        flow: ShellFlow,
        first: usize,
        before: &ShellScope<'t>,
        run: impl Fn(&mut Self) -> ShellFlow,
    ) -> ShellFlow {
        let mut join = ScopeMerge::default();
        join.add_path(self, flow);
        let mut waiting = std::mem::take(&mut self.choices.waiting);
        let mut count = 1;
        while let Some(taken) = waiting.pop() {
            count += 1;
            // If there are too many readings, at least try the one that differs from the first in every choice.
            let last = count > limits::READINGS;
            if last {
                self.mark_partial(CoverageGap::Limit("readings"));
                waiting.clear();
            }
            if self.is_stopped() {
                break;
            }
            self.scope = before.clone();
            self.choices = ChoicePoints {
                taken: if last { Vec::new() } else { taken },
                last,
                before: Some(before.clone()),
                ..ChoicePoints::default()
            };
            let from = self.invocation_count();
            let flow = run(self);
            join.add_path(self, flow);
            waiting.append(&mut self.choices.waiting);
            self.drop_repeated_invocations(first, from);
        }
        join.finish(self)
    }

    /// The index of the option in the current reading.
    pub(crate) fn choose_index(&mut self, count: usize) -> usize {
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
        // The last one pushed runs next, so readings follow the order of the values.
        for other in (1..count).rev() {
            let mut taken = self.choices.taken.clone();
            taken.push(other);
            self.choices.waiting.push(taken);
        }
        self.choices.taken.push(0);
        0
    }

    /// Chooses one of several values.
    pub(crate) fn choose_value(&mut self, mut values: Vec<SymbolicText>) -> SymbolicText {
        let at = self.choose_index(values.len());
        if at < values.len() { values.swap_remove(at) } else { SymbolicText::default() }
    }

    /// The value of a variable, if it has one. The choice applies to the rest of this command.
    pub(super) fn settle_variable(&mut self, name: &str) -> Option<ShellVariable> {
        let variable = self.scope.variables.get(self.scope.resolve_name(name))?;
        let ShellVariable::Values(values) = variable else {
            return Some(variable.clone());
        };
        if values.len() == 1 {
            return Some(variable.clone());
        }
        let values = values.clone();
        let chosen = ShellVariable::from_value(self.choose_value(values));
        self.set_variable(name, chosen.clone());
        Some(chosen)
    }

    /// Chooses one of the possible working directories.
    pub(super) fn settle_cwd(&mut self) {
        if self.scope.cwd.len() > 1 {
            let at = self.choose_index(self.scope.cwd.len());
            let chosen = self.scope.cwd.get(at).cloned().flatten();
            self.scope.cwd = std::rc::Rc::new(vec![chosen]);
        }
    }
}
