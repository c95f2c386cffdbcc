//! What is known after several ways were taken: what they agree on, and where they differ, each of it.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::found::Reason;
use super::limits;
use super::scope::{Printed, Scope, Variable};
use super::{Flow, Walker};
use crate::invocation::{Part, Unknown, Value};
use crate::syntax::Command;

/// Ways that come together again.
#[derive(Default)]
pub(super) struct Join<'t> {
    scope: Option<Scope<'t>>,
    /// How the ways ended that did not go on.
    left: Option<Flow>,
}

impl<'t> Join<'t> {
    /// The walker's scope is one of those that come together, if the command after it runs.
    pub(super) fn add(&mut self, walker: &mut Walker<'t>, flow: Flow) {
        match flow {
            Flow::Next => self.merge(walker),
            Flow::Exit => self.left = self.left.or(Some(flow)),
            // Whoever leaves a loop comes out at its end.
            Flow::Break(_) | Flow::Continue(_) | Flow::Return => {
                self.left = Some(flow);
                let mut leaving = std::mem::take(&mut walker.leaving);
                leaving.merge(walker);
                walker.leaving = leaving;
            }
        }
    }

    /// The walker's scope is one of those that come together.
    pub(super) fn merge(&mut self, walker: &mut Walker<'t>) {
        let scope = walker.scope.clone();
        self.scope = Some(match self.scope.take() {
            None => scope,
            Some(before) => merged(before, scope, walker),
        });
    }

    /// Goes on from where they come together; if none goes on, says how they ended.
    pub(super) fn finish(self, walker: &mut Walker<'t>) -> Flow {
        match (self.scope, self.left) {
            (Some(scope), _) => {
                walker.scope = scope;
                Flow::Next
            }
            (None, left) => left.unwrap_or(Flow::Next),
        }
    }

    /// Lets those come out that have left early.
    pub(super) fn release(self, walker: &mut Walker<'t>) {
        if let Some(early) = self.scope {
            let scope = walker.scope.clone();
            walker.scope = merged(scope, early, walker);
        }
    }
}

fn merged<'t>(mut one: Scope<'t>, other: Scope<'t>, walker: &mut Walker<'t>) -> Scope<'t> {
    merge_variables(&mut one.variables, &other.variables, walker);
    if one.cwd != other.cwd {
        let cwd = Rc::make_mut(&mut one.cwd);
        for directory in other.cwd.iter() {
            if !cwd.contains(directory) {
                cwd.push(directory.clone());
            }
        }
        if cwd.len() > limits::VALUES {
            *cwd = vec![None];
        }
    }
    if one.positional != other.positional {
        let anything = Value::unknown(Unknown::Anything);
        one.positional = Rc::new(vec![
            anything;
            one.positional.len().max(other.positional.len()).min(limits::VALUES)
        ]);
    }
    if one.printed != other.printed {
        Rc::make_mut(&mut one.printed).differ();
    }
    if !Rc::ptr_eq(&one.functions, &other.functions) {
        walker.spend((one.functions.len() + other.functions.len()) / 2);
        merge_functions(Rc::make_mut(&mut one.functions), &other.functions);
    }
    if !Rc::ptr_eq(&one.aliases, &other.aliases) {
        walker.spend(other.aliases.len() / 4);
        let aliases = Rc::make_mut(&mut one.aliases);
        for (name, value) in other.aliases.iter() {
            aliases.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
    if !Rc::ptr_eq(&one.files, &other.files) {
        walker.spend(other.files.len() / 4);
        let files = Rc::make_mut(&mut one.files);
        for (name, value) in other.files.iter() {
            let known = files.entry(name.clone()).or_insert_with(|| value.clone());
            walker.spend_bytes(known.size() + value.size());
            if goes_on(known, value) {
                known.clone_from(value);
            } else if !goes_on(value, known) && known.size() + value.size() > limits::VALUE_BYTES {
                walker.partial(Reason::Limit("value"));
                *known = Value::unknown(Unknown::Anything);
            } else if !goes_on(value, known) {
                // It holds one or the other: whoever reads it reads both.
                known.push_text("\n");
                known.append(value);
            }
        }
    }
    one.exports_all |= other.exports_all;
    if !Rc::ptr_eq(&one.exported, &other.exported) {
        walker.spend(other.exported.len() / 4);
        Rc::make_mut(&mut one.exported).extend(other.exported.iter().cloned());
    }
    if one.io != other.io {
        one.io = other.io;
    }
    one.unsettled |= other.unsettled;
    one
}

/// Whether a file that holds whole lines was only added to, or is the same: whoever reads the longer one reads both.
fn goes_on(before: &Value, after: &Value) -> bool {
    if before == after {
        return true;
    }
    let Some((last, all)) = before.parts.split_last() else {
        return true;
    };
    let Part::Text(last) = last else { return false };
    let begins_alike = after.parts.get(..all.len()) == Some(all);
    let longer = |part: &Part| matches!(part, Part::Text(text) if text.starts_with(last));
    last.ends_with('\n') && begins_alike && after.parts.get(all.len()).is_some_and(longer)
}

/// What a name may mean: what it means on either way.
fn merge_functions<'t>(
    one: &mut BTreeMap<String, Vec<Option<&'t Command>>>,
    other: &BTreeMap<String, Vec<Option<&'t Command>>>,
) {
    let same = |a: &Option<&Command>, b: &Option<&Command>| match (a, b) {
        (Some(a), Some(b)) => std::ptr::eq(*a, *b),
        (None, None) => true,
        _ => false,
    };
    let none: &[Option<&Command>] = &[None];
    for (name, bodies) in one.iter_mut() {
        for body in other.get(name).map_or(none, Vec::as_slice) {
            if !bodies.iter().any(|known| same(known, body)) && bodies.len() < limits::VALUES {
                bodies.push(*body);
            }
        }
    }
    for (name, bodies) in other {
        if !one.contains_key(name) {
            let mut bodies = bodies.clone();
            bodies.push(None);
            one.insert(name.clone(), bodies);
        }
    }
}

fn merge_variables(
    one: &mut Rc<BTreeMap<String, Variable>>,
    other: &Rc<BTreeMap<String, Variable>>,
    walker: &mut Walker<'_>,
) {
    if Rc::ptr_eq(one, other) || !walker.spend(1 + (one.len() + other.len()) / 8) {
        return;
    }
    let differing: Vec<(String, Variable)> = one
        .keys()
        .chain(other.keys().filter(|name| !one.contains_key(*name)))
        .filter(|name| one.get(*name) != other.get(*name))
        .map(|name| (name.clone(), either(one.get(name), other.get(name))))
        .collect();
    let size = |variable: &Variable| match variable {
        Variable::Unset | Variable::Reference(_) => 0,
        Variable::Values(values) => values.iter().map(Value::size).sum(),
        Variable::Array(elements) => elements.len() * 32,
    };
    walker.spend_bytes(2 * differing.iter().map(|(_, variable)| size(variable)).sum::<usize>());
    if !differing.is_empty() {
        Rc::make_mut(one).extend(differing);
    }
}

/// One value or the other.
fn either(one: Option<&Variable>, other: Option<&Variable>) -> Variable {
    let values = |variable: Option<&Variable>| match variable {
        // Nobody has set it here: it is what the environment says.
        None => Some(vec![Value::unknown(Unknown::Anything)]),
        Some(Variable::Unset) => Some(vec![Value::default()]),
        Some(Variable::Values(values)) => Some(values.clone()),
        Some(Variable::Array(_) | Variable::Reference(_)) => None,
    };
    let (Some(mut all), Some(more)) = (values(one), values(other)) else {
        return Variable::anything();
    };
    for value in more {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    if all.len() > limits::VALUES {
        return Variable::anything();
    }
    Variable::Values(all)
}

impl Printed {
    /// Nobody knows which of two texts was printed.
    fn differ(&mut self) {
        self.value = Value::default();
        self.value.push(Part::Unknown(Unknown::Anything));
        self.opaque = true;
    }
}
