//! Merges the scopes of several paths through a script: keeps what is equal, and all variants of what differs.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::limits;
use super::result::CoverageGap;
use super::scope::{CapturedOutput, ShellScope, ShellVariable};
use super::{ShellFlow, ShellInterpreter};
use crate::invocation::{SymbolicPart, SymbolicText, UnknownKind};
use snell_shell::ShellCommand;

/// The scopes of paths that meet.
#[derive(Default)]
pub(super) struct ScopeMerge<'t> {
    scope: Option<ShellScope<'t>>,
    /// How the paths ended that did not continue.
    left: Option<ShellFlow>,
}

impl<'t> ScopeMerge<'t> {
    /// Whether no path was added.
    pub(super) fn is_empty(&self) -> bool {
        self.scope.is_none() && self.left.is_none()
    }

    /// Adds the interpreter's scope, if the next command runs.
    pub(super) fn add_path(&mut self, interpreter: &mut ShellInterpreter<'t>, flow: ShellFlow) {
        match flow {
            ShellFlow::Next => self.merge_scope(interpreter),
            ShellFlow::Exit => self.left = self.left.or(Some(flow)),
            // A path that leaves a loop continues after it.
            ShellFlow::Break(_) | ShellFlow::Continue(_) | ShellFlow::Return => {
                self.left = Some(flow);
                let mut leaving = std::mem::take(&mut interpreter.early_exits);
                leaving.merge_scope(interpreter);
                interpreter.early_exits = leaving;
            }
        }
    }

    /// Adds the interpreter's scope.
    pub(super) fn merge_scope(&mut self, interpreter: &mut ShellInterpreter<'t>) {
        let scope = interpreter.scope.clone();
        self.scope = Some(match self.scope.take() {
            None => scope,
            Some(before) => merge_scopes(before, scope, interpreter),
        });
    }

    /// Continues with the merged scope. If no path continues, returns how they ended.
    pub(super) fn finish(self, interpreter: &mut ShellInterpreter<'t>) -> ShellFlow {
        match (self.scope, self.left) {
            (Some(scope), _) => {
                interpreter.scope = scope;
                ShellFlow::Next
            }
            (None, left) => left.unwrap_or(ShellFlow::Next),
        }
    }

    /// Adds the scopes of early exits to the current one.
    pub(super) fn release_into(self, interpreter: &mut ShellInterpreter<'t>) {
        if let Some(early) = self.scope {
            let scope = interpreter.scope.clone();
            interpreter.scope = merge_scopes(scope, early, interpreter);
        }
    }
}

fn merge_scopes<'t>(
    mut one: ShellScope<'t>,
    other: ShellScope<'t>,
    interpreter: &mut ShellInterpreter<'t>,
) -> ShellScope<'t> {
    merge_variables(&mut one.variables, &other.variables, interpreter);
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
        let anything = SymbolicText::from_unknown(UnknownKind::Anything);
        one.positional = Rc::new(vec![anything; one.positional.len().max(other.positional.len()).min(limits::VALUES)]);
    }
    if one.printed != other.printed {
        Rc::make_mut(&mut one.printed).mark_ambiguous();
    }
    if !Rc::ptr_eq(&one.functions, &other.functions) {
        interpreter.spend_steps((one.functions.len() + other.functions.len()) / 2);
        merge_functions(Rc::make_mut(&mut one.functions), &other.functions);
    }
    if !Rc::ptr_eq(&one.aliases, &other.aliases) {
        interpreter.spend_steps(other.aliases.len() / 4);
        let aliases = Rc::make_mut(&mut one.aliases);
        for (name, value) in other.aliases.iter() {
            aliases.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
    if !Rc::ptr_eq(&one.files, &other.files) {
        interpreter.spend_steps(other.files.len() / 4);
        merge_files(Rc::make_mut(&mut one.files), &other.files, interpreter);
    }
    one.exports_all |= other.exports_all;
    if !Rc::ptr_eq(&one.exported, &other.exported) {
        interpreter.spend_steps(other.exported.len() / 4);
        Rc::make_mut(&mut one.exported).extend(other.exported.iter().cloned());
    }
    if one.io != other.io {
        one.io = other.io;
    }
    one.builtins_replaced |= other.builtins_replaced;
    one.stops_at_unset &= other.stops_at_unset;
    one
}

/// The contents of files that either scope wrote. A file with two possible contents holds both.
fn merge_files(
    files: &mut BTreeMap<String, SymbolicText>,
    other: &BTreeMap<String, SymbolicText>,
    interpreter: &mut ShellInterpreter<'_>,
) {
    for (name, value) in other {
        let known = files.entry(name.clone()).or_insert_with(|| value.clone());
        interpreter.spend_bytes(known.size() + value.size());
        if is_extended_by(known, value) {
            known.clone_from(value);
        } else if !is_extended_by(value, known) && known.size() + value.size() > limits::VALUE_BYTES {
            interpreter.mark_partial(CoverageGap::Limit("value"));
            *known = SymbolicText::from_unknown(UnknownKind::Anything);
        } else if !is_extended_by(value, known) {
            // The file has one of two contents: a reader gets both.
            known.push_text("\n");
            known.append(value);
        }
    }
}

/// Whether a file with whole lines only grew: a reader of the longer one gets both contents.
fn is_extended_by(before: &SymbolicText, after: &SymbolicText) -> bool {
    if before == after {
        return true;
    }
    let Some((last, all)) = before.parts.split_last() else {
        return true;
    };
    let SymbolicPart::Text(last) = last else { return false };
    let begins_alike = after.parts.get(..all.len()) == Some(all);
    let longer = |part: &SymbolicPart| matches!(part, SymbolicPart::Text(text) if text.starts_with(last));
    last.ends_with('\n') && begins_alike && after.parts.get(all.len()).is_some_and(longer)
}

/// The functions that a name may refer to on either path.
fn merge_functions<'t>(
    one: &mut BTreeMap<String, Vec<Option<&'t ShellCommand>>>,
    other: &BTreeMap<String, Vec<Option<&'t ShellCommand>>>,
) {
    let same = |a: &Option<&ShellCommand>, b: &Option<&ShellCommand>| match (a, b) {
        (Some(a), Some(b)) => std::ptr::eq(*a, *b),
        (None, None) => true,
        _ => false,
    };
    let none: &[Option<&ShellCommand>] = &[None];
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
    one: &mut Rc<BTreeMap<String, ShellVariable>>,
    other: &Rc<BTreeMap<String, ShellVariable>>,
    interpreter: &mut ShellInterpreter<'_>,
) {
    if Rc::ptr_eq(one, other) || !interpreter.spend_steps(1 + (one.len() + other.len()) / 8) {
        return;
    }
    let differing: Vec<(String, ShellVariable)> = one
        .keys()
        .chain(other.keys().filter(|name| !one.contains_key(*name)))
        .filter(|name| one.get(*name) != other.get(*name))
        .map(|name| (name.clone(), merge_variable(one.get(name), other.get(name))))
        .collect();
    let size = |variable: &ShellVariable| match variable {
        ShellVariable::Unset | ShellVariable::Reference(_) => 0,
        ShellVariable::Values(values) => values.iter().map(SymbolicText::size).sum(),
        ShellVariable::Array(elements) => elements.len() * 32,
    };
    interpreter.spend_bytes(2 * differing.iter().map(|(_, variable)| size(variable)).sum::<usize>());
    if !differing.is_empty() {
        Rc::make_mut(one).extend(differing);
    }
}

/// The values of a variable on either path.
fn merge_variable(one: Option<&ShellVariable>, other: Option<&ShellVariable>) -> ShellVariable {
    let values = |variable: Option<&ShellVariable>| match variable {
        // This text did not set it, so it has the value of the environment.
        None => Some(vec![SymbolicText::from_unknown(UnknownKind::Anything)]),
        Some(ShellVariable::Unset) => Some(vec![SymbolicText::default()]),
        Some(ShellVariable::Values(values)) => Some(values.clone()),
        Some(ShellVariable::Array(_) | ShellVariable::Reference(_)) => None,
    };
    let (Some(mut all), Some(more)) = (values(one), values(other)) else {
        return ShellVariable::unknown();
    };
    for value in more {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    if all.len() > limits::VALUES {
        return ShellVariable::unknown();
    }
    ShellVariable::Values(all)
}

impl CapturedOutput {
    /// Marks the output as unknown, because two texts are possible.
    fn mark_ambiguous(&mut self) {
        self.value = SymbolicText::default();
        self.value.push(SymbolicPart::Unknown(UnknownKind::Anything));
        self.opaque = true;
    }
}
