//! What programs find in their environment because this text has put it there.

use super::scope::Variable;
use super::{Call, Walker};
use crate::invocation::Value;
use crate::paths::fits;
use crate::programs;

impl Walker<'_> {
    /// What a variable was before this text said anything about it.
    fn original(&self, name: &str) -> Option<&str> {
        match name {
            "HOME" => Some(&self.world.home),
            "USER" | "LOGNAME" => Some(&self.world.user),
            _ => {
                let given = self.world.variables.iter().find(|(known, _)| known == name);
                given.map(|(_, value)| value.as_str())
            }
        }
    }

    /// Whether a variable was there before this text.
    pub(super) fn is_given(&self, name: &str) -> bool {
        self.original(name).is_some()
    }

    /// Whether programs find something else in a variable than they would have before.
    pub(super) fn is_changed(&self, name: &str) -> bool {
        match self.original(name) {
            Some(value) => self.scope.single(name).and_then(Value::as_text) != Some(value),
            None => self.scope.exported.contains(name) && self.scope.variables.get(name) != Some(&Variable::Unset),
        }
    }

    /// The variables that make a difference to a program, of those that were changed for all programs: `export HOME=x`.
    pub(super) fn changed_for(&mut self, call: &Call) -> Vec<String> {
        let Some((_, program)) = call.name().and_then(programs::find) else {
            return Vec::new();
        };
        let wanted = || program.uses.iter().flat_map(|usage| usage.variable);
        if wanted().next().is_none() {
            return Vec::new();
        }
        self.spend(1 + self.scope.variables.len() / 4);
        let names = self.scope.variables.keys();
        names
            .filter(|name| wanted().any(|wanted| fits(name, wanted)) && self.is_changed(name))
            .cloned()
            .collect()
    }
}
