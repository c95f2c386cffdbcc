//! The environment of programs, as far as this text changes it.

use super::scope::ShellVariable;
use super::{ExpandedCommand, ShellInterpreter};
use crate::invocation::SymbolicText;
use crate::paths::matches_glob;
use crate::programs;

impl ShellInterpreter<'_> {
    /// The value of a variable before this text.
    fn original_value(&self, name: &str) -> Option<&str> {
        match name {
            "HOME" => Some(&self.world.home),
            "USER" | "LOGNAME" => Some(&self.world.user),
            _ => {
                let given = self.world.variables.iter().find(|(known, _)| known == name);
                given.map(|(_, value)| value.as_str())
            }
        }
    }

    /// Whether a variable existed before this text.
    pub(super) fn is_inherited_variable(&self, name: &str) -> bool {
        self.original_value(name).is_some()
    }

    /// Whether programs see another value than before.
    pub(super) fn is_changed_variable(&self, name: &str) -> bool {
        match self.original_value(name) {
            Some(value) => self.scope.single_value(name).and_then(SymbolicText::as_text) != Some(value),
            None => self.scope.exported.contains(name) && self.scope.variables.get(name) != Some(&ShellVariable::Unset),
        }
    }

    /// The variables changed for all programs that matter to this one, with their values: `export HOME=x`.
    pub(super) fn list_changed_variables(&mut self, command: &ExpandedCommand) -> Vec<String> {
        let Some(program) = programs::resolve_program_call(&command.argv).map(|called| called.program) else {
            return Vec::new();
        };
        let wanted = || {
            let named = program.uses.iter().flat_map(|usage| usage.variable);
            named.map(|wanted| wanted.split_once('=').map_or(*wanted, |(name, _)| name))
        };
        if wanted().next().is_none() {
            return Vec::new();
        }
        self.spend_steps(1 + self.scope.variables.len() / 4);
        let names = self.scope.variables.keys();
        names
            .filter(|name| wanted().any(|wanted| matches_glob(name, wanted)) && self.is_changed_variable(name))
            .map(|name| match self.scope.single_value(name) {
                Some(value) => format!("{name}={value}"),
                None => name.clone(),
            })
            .collect()
    }
}
