//! Assignments.

use std::rc::Rc;

use super::Walker;
use super::found::Reason;
use super::limits;
use super::scope::Variable;
use crate::invocation::{Unknown, Value};
use crate::syntax::{Assigned, Assignment, Span, Word};

impl<'t> Walker<'t> {
    pub(super) fn assign(&mut self, assignment: &'t Assignment) {
        if self.scope.exports_all {
            self.export(&assignment.name);
            self.tell_of_own(&assignment.name, &Span::default());
        }
        match &assignment.value {
            Assigned::Array(elements) => self.assign_array(&assignment.name, elements, assignment.append),
            Assigned::Word(word) => {
                let value = self.text(word);
                match &assignment.index {
                    Some(index) => {
                        let key = self.key(index);
                        self.assign_element(&assignment.name, key, value, assignment.append);
                    }
                    None => self.assign_value(&assignment.name, value, assignment.append),
                }
            }
        }
    }

    /// `x=value` or `x+=value`.
    pub(super) fn assign_value(&mut self, name: &str, value: Value, append: bool) {
        let value = match self.scope.variables.get(self.scope.meant(name)) {
            Some(Variable::Reference(_)) => return self.refer(name, &value),
            Some(Variable::Array(_)) => return self.assign_element(name, Some("0".to_owned()), value, append),
            _ if append => {
                let mut whole = self.plain_variable(name);
                whole.append(&value);
                whole
            }
            _ => value,
        };
        let size = value.size();
        self.spend_bytes(size);
        if size > limits::VALUE_BYTES {
            self.partial(Reason::Limit("value"));
            return self.set(name, Variable::anything());
        }
        self.set(name, Variable::one(value));
    }

    /// `declare -n name=value`: from now on the name stands for another variable.
    pub(super) fn refer(&mut self, name: &str, value: &Value) {
        let variable = match value.as_text() {
            Some(other) if !other.contains('[') => Variable::Reference(other.to_owned()),
            Some(_) | None => Variable::anything(),
        };
        self.set(name, variable);
    }

    /// `x[key]=value`
    pub(super) fn assign_element(&mut self, name: &str, key: Option<String>, value: Value, append: bool) {
        let mut elements = self.elements(name);
        let Some(key) = key.filter(|_| elements.len() < limits::ELEMENTS) else {
            return self.set(name, Variable::anything());
        };
        self.spend(1 + elements.len() / 2);
        match elements.iter_mut().find(|(known, _)| *known == key) {
            Some((_, slot)) if append => slot.append(&value),
            Some((_, slot)) => *slot = value,
            None => {
                // Numbers are kept in order, whatever order they come in.
                let number = |key: &str| key.parse::<u64>().ok();
                let at = elements
                    .iter()
                    .position(|(known, _)| number(known) > number(&key))
                    .filter(|_| number(&key).is_some());
                elements.insert(at.unwrap_or(elements.len()), (key, value));
            }
        }
        self.set(name, Variable::Array(Rc::new(elements)));
    }

    /// What is in an array, or would be if the variable became one.
    fn elements(&mut self, name: &str) -> Vec<(String, Value)> {
        match self.scope.variables.get(self.scope.meant(name)) {
            Some(Variable::Array(elements)) => elements.to_vec(),
            Some(Variable::Values(values)) => match values.first() {
                Some(value) => vec![("0".to_owned(), value.clone())],
                None => Vec::new(),
            },
            Some(Variable::Unset | Variable::Reference(_)) | None => Vec::new(),
        }
    }

    /// `x=(…)`
    pub(super) fn assign_array(&mut self, name: &str, words: &'t [(Option<Word>, Word)], append: bool) {
        let mut elements = if append { self.elements(name) } else { Vec::new() };
        self.spend(elements.len() / 2);
        let next_key = |elements: &[(String, Value)]| {
            let last = elements
                .iter()
                .filter_map(|(key, _)| key.parse::<u64>().ok())
                .next_back();
            last.map_or(0, |last| last.saturating_add(1))
        };
        let mut next = next_key(&elements);
        for (index, word) in words {
            let mut values = Vec::new();
            match index {
                Some(index) => {
                    let key = self.key(index).unwrap_or_default();
                    next = key.parse().unwrap_or(next);
                    let value = self.text(word);
                    elements.retain(|(known, _)| *known != key);
                    elements.push((key, value));
                    next = next.saturating_add(1);
                }
                None => self.add_fields(word, &mut values),
            }
            self.spend(values.len() / 2);
            for value in values {
                elements.push((next.to_string(), value));
                next = next.saturating_add(1);
            }
            if elements.len() > limits::ELEMENTS {
                self.partial(Reason::Limit("elements"));
                return self.set(name, Variable::one(Value::unknown(Unknown::Anything)));
            }
        }
        if words.iter().any(|(index, _)| index.is_some()) {
            // Numbers are kept in order, whatever order they were written in.
            self.spend(elements.len());
            elements.sort_by_key(|(key, _)| key.parse::<u64>().ok());
        }
        self.set(name, Variable::Array(Rc::new(elements)));
    }

    /// An array of values in order.
    pub(super) fn assign_list(&mut self, name: &str, values: Vec<Value>) {
        if values.len() > limits::ELEMENTS {
            return self.set(name, Variable::anything());
        }
        let elements = values
            .into_iter()
            .enumerate()
            .map(|(at, value)| (at.to_string(), value));
        let elements = elements.collect();
        self.set(name, Variable::Array(Rc::new(elements)));
    }
}
