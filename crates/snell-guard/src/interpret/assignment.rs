//! Assignments.

use std::rc::Rc;

use super::ShellInterpreter;
use super::limits;
use super::result::CoverageGap;
use super::scope::ShellVariable;
use crate::invocation::{SymbolicText, UnknownKind};
use snell_shell::{AssignmentValue, ByteSpan, ShellWord, VariableAssignment};

/// Whether an assignment replaces the old value (`x=1`) or adds to it (`x+=1`).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AssignMode {
    Replace,
    Append,
}

impl From<bool> for AssignMode {
    fn from(append: bool) -> Self {
        if append { Self::Append } else { Self::Replace }
    }
}

impl<'t> ShellInterpreter<'t> {
    pub(super) fn apply_assignment(&mut self, assignment: &'t VariableAssignment) {
        if self.scope.exports_all {
            self.export_name(&assignment.name);
            self.report_snell_variable(&assignment.name, &ByteSpan::default());
        }
        match &assignment.value {
            AssignmentValue::Array(elements) => self.assign_array(&assignment.name, elements, assignment.append.into()),
            AssignmentValue::Word(word) => {
                let value = self.expand_text(word);
                match &assignment.index {
                    Some(index) => {
                        let key = self.resolve_array_key(index);
                        self.assign_element(&assignment.name, key, value, assignment.append.into());
                    }
                    None => self.assign_value(&assignment.name, value, assignment.append.into()),
                }
            }
        }
    }

    /// `x=value` or `x+=value`.
    pub(super) fn assign_value(&mut self, name: &str, value: SymbolicText, mode: AssignMode) {
        let value = match self.scope.variables.get(self.scope.resolve_name(name)) {
            Some(ShellVariable::Reference(_)) => return self.set_reference(name, &value),
            Some(ShellVariable::Array(_)) => return self.assign_element(name, Some("0".to_owned()), value, mode),
            _ if mode == AssignMode::Append => {
                let mut whole = self.read_variable(name);
                whole.append(&value);
                whole
            }
            _ => value,
        };
        let size = value.size();
        self.spend_bytes(size);
        if size > limits::VALUE_BYTES {
            self.mark_partial(CoverageGap::Limit("value"));
            return self.set_variable(name, ShellVariable::unknown());
        }
        self.set_variable(name, ShellVariable::from_value(value));
    }

    /// `declare -n name=value`: the name refers to another variable.
    pub(super) fn set_reference(&mut self, name: &str, value: &SymbolicText) {
        let variable = match value.as_text() {
            Some(other) if !other.contains('[') => ShellVariable::Reference(other.to_owned()),
            Some(_) | None => ShellVariable::unknown(),
        };
        self.set_variable(name, variable);
    }

    /// `x[key]=value`
    pub(super) fn assign_element(&mut self, name: &str, key: Option<String>, value: SymbolicText, mode: AssignMode) {
        let mut elements = self.list_array_elements(name);
        let Some(key) = key.filter(|_| elements.len() < limits::ELEMENTS) else {
            return self.set_variable(name, ShellVariable::unknown());
        };
        self.spend_steps(1 + elements.len() / 2);
        match elements.iter_mut().find(|(known, _)| *known == key) {
            Some((_, slot)) if mode == AssignMode::Append => slot.append(&value),
            Some((_, slot)) => *slot = value,
            None => {
                // Indices are kept in order, whatever order they come in.
                let number = |key: &str| key.parse::<u64>().ok();
                let at = elements
                    .iter()
                    .position(|(known, _)| number(known) > number(&key))
                    .filter(|_| number(&key).is_some());
                elements.insert(at.unwrap_or(elements.len()), (key, value));
            }
        }
        self.set_variable(name, ShellVariable::Array(Rc::new(elements)));
    }

    /// The elements of an array, or of a variable as an array.
    fn list_array_elements(&mut self, name: &str) -> Vec<(String, SymbolicText)> {
        match self.scope.variables.get(self.scope.resolve_name(name)) {
            Some(ShellVariable::Array(elements)) => elements.to_vec(),
            Some(ShellVariable::Values(values)) => match values.first() {
                Some(value) => vec![("0".to_owned(), value.clone())],
                None => Vec::new(),
            },
            Some(ShellVariable::Unset | ShellVariable::Reference(_)) | None => Vec::new(),
        }
    }

    /// `x=(…)`
    pub(super) fn assign_array(&mut self, name: &str, words: &'t [(Option<ShellWord>, ShellWord)], mode: AssignMode) {
        let mut elements = if mode == AssignMode::Append { self.list_array_elements(name) } else { Vec::new() };
        self.spend_steps(elements.len() / 2);
        let next_key = |elements: &[(String, SymbolicText)]| {
            let last = elements.iter().filter_map(|(key, _)| key.parse::<u64>().ok()).next_back();
            last.map_or(0, |last| last.saturating_add(1))
        };
        let mut next = next_key(&elements);
        for (index, word) in words {
            let mut values = Vec::new();
            match index {
                Some(index) => {
                    let key = self.resolve_array_key(index).unwrap_or_default();
                    next = key.parse().unwrap_or(next);
                    let value = self.expand_text(word);
                    elements.retain(|(known, _)| *known != key);
                    elements.push((key, value));
                    next = next.saturating_add(1);
                }
                None => self.add_fields(word, &mut values),
            }
            self.spend_steps(values.len() / 2);
            for value in values {
                elements.push((next.to_string(), value));
                next = next.saturating_add(1);
            }
            if elements.len() > limits::ELEMENTS {
                self.mark_partial(CoverageGap::Limit("elements"));
                return self
                    .set_variable(name, ShellVariable::from_value(SymbolicText::from_unknown(UnknownKind::Anything)));
            }
        }
        if words.iter().any(|(index, _)| index.is_some()) {
            // Indices are kept in order, whatever order they were written in.
            self.spend_steps(elements.len());
            elements.sort_by_key(|(key, _)| key.parse::<u64>().ok());
        }
        self.set_variable(name, ShellVariable::Array(Rc::new(elements)));
    }

    /// An array of values in order.
    pub(super) fn assign_list(&mut self, name: &str, values: Vec<SymbolicText>) {
        if values.len() > limits::ELEMENTS {
            return self.set_variable(name, ShellVariable::unknown());
        }
        let elements = values.into_iter().enumerate().map(|(at, value)| (at.to_string(), value));
        let elements = elements.collect();
        self.set_variable(name, ShellVariable::Array(Rc::new(elements)));
    }
}
