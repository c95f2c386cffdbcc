//! `$x` and `${x…}`: reads the value and applies the operation.

use std::rc::Rc;

use snell_secrets::{is_secret_variable, variable_issuer};

use crate::interpret::ShellInterpreter;
use crate::interpret::expansion::DEFAULT_IFS;
use crate::interpret::limits;
use crate::interpret::scope::ShellVariable;
use crate::invocation::{SymbolicPart, SymbolicText, UnknownKind};
use snell_shell::{ParameterExpansion, ParameterOperation, ShellWord};

/// The expansion of a parameter.
#[derive(Clone, Debug)]
pub(crate) enum ExpandedValue {
    One(SymbolicText),
    /// `$@` and `${a[@]}`: one word per element.
    Many(Vec<SymbolicText>),
}

impl Default for ExpandedValue {
    fn default() -> Self {
        Self::One(SymbolicText::default())
    }
}

/// The value of a parameter.
#[derive(Clone, Debug)]
pub(crate) enum ParameterValue {
    /// Certainly unset.
    Unset,
    One(SymbolicText),
    Many(Vec<SymbolicText>),
    /// Not set by this text, so it may be unset.
    MaybeUnset(UnknownKind),
}

impl ParameterValue {
    pub(crate) fn into_values(self) -> Vec<SymbolicText> {
        match self {
            Self::Unset => Vec::new(),
            Self::One(value) => vec![value],
            Self::Many(values) => values,
            Self::MaybeUnset(unknown) => vec![SymbolicText::from_unknown(unknown)],
        }
    }
}

impl<'t> ShellInterpreter<'t> {
    /// Expands a parameter.
    pub(crate) fn expand_parameter(&mut self, parameter: &'t ParameterExpansion) -> ExpandedValue {
        if matches!(parameter.operation, ParameterOperation::Names) {
            return ExpandedValue::Many(self.list_variable_names(&parameter.name));
        }
        let every = parameter.index.as_ref().and_then(parse_all_index).or_else(|| parse_all_parameter(&parameter.name));
        if parameter.indirect && every.is_some() && parameter.index.is_some() {
            return ExpandedValue::Many(self.list_array_keys(&parameter.name));
        }
        if let Some(other) = self.scope.resolve_reference(&parameter.name).filter(|_| parameter.indirect) {
            return ExpandedValue::One(SymbolicText::from_text(other));
        }
        let mut name = parameter.name.clone();
        let mut held = self.lookup_parameter(&parameter.name, parameter.index.as_ref());
        if parameter.indirect {
            (name, held) = self.resolve_indirect(held);
        }
        if every.is_some() && matches!(parameter.operation, ParameterOperation::Length) {
            let values = held.into_values();
            let open =
                values.iter().any(SymbolicText::can_be_empty) && values.iter().any(SymbolicText::is_partly_unknown);
            let count = values.len().to_string();
            let value =
                if open { SymbolicText::from_unknown(UnknownKind::Name) } else { SymbolicText::from_text(count) };
            return ExpandedValue::One(value);
        }
        let expansion = self.apply_operation(&name, held, parameter);
        match (expansion, every) {
            (ExpandedValue::Many(values), Some('*')) if parameter.quoted => {
                ExpandedValue::One(self.join_by_separator(&values))
            }
            (expansion, _) => expansion,
        }
    }

    /// `"$*"`: joined by the first separator.
    fn join_by_separator(&mut self, values: &[SymbolicText]) -> SymbolicText {
        let separators = self.field_separators();
        let mut all = SymbolicText::default();
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                let first = separators.chars().next().map(String::from);
                all.push_text(&first.unwrap_or_default());
            }
            if !self.spend_bytes(value.size()) {
                break;
            }
            all.append(value);
        }
        all
    }

    /// The value of the variable that a value names.
    fn resolve_indirect(&mut self, held: ParameterValue) -> (String, ParameterValue) {
        let value = held.into_values().into_iter().next().unwrap_or_default();
        let Some(text) = value.as_text() else {
            return (String::new(), ParameterValue::MaybeUnset(UnknownKind::Anything));
        };
        let (name, index) = match text.split_once('[') {
            Some((name, index)) => (name, Some(index.trim_end_matches(']'))),
            None => (text, None),
        };
        let held = match (self.settle_variable(name), index) {
            (Some(ShellVariable::Array(elements)), Some("@" | "*")) => {
                ParameterValue::Many(elements.iter().map(|(_, value)| value.clone()).collect())
            }
            (Some(ShellVariable::Array(elements)), Some(index)) => find_element(&elements, index),
            _ => self.lookup_parameter(name, None),
        };
        (name.to_owned(), held)
    }

    /// Looks up a parameter.
    pub(crate) fn lookup_parameter(&mut self, name: &str, index: Option<&'t ShellWord>) -> ParameterValue {
        if let Some(special) = self.lookup_special_parameter(name) {
            return special;
        }
        let referred = self.scope.resolve_reference(name);
        let name = referred.as_deref().unwrap_or(name);
        match (self.settle_variable(name), index) {
            (None, _) => match lookup_well_known(name) {
                ParameterValue::MaybeUnset(UnknownKind::Anything) if self.scope.stops_at_unset => {
                    ParameterValue::MaybeUnset(UnknownKind::Something)
                }
                found => found,
            },
            (Some(ShellVariable::Unset | ShellVariable::Reference(_)), _) => ParameterValue::Unset,
            (Some(ShellVariable::Values(values)), index) => match index.map(|index| self.resolve_array_key(index)) {
                None => ParameterValue::One(values.into_iter().next().unwrap_or_default()),
                Some(Some(key)) if key != "0" && key != "@" && key != "*" => {
                    match values.iter().any(SymbolicText::is_partly_unknown) {
                        // It may be a list with unknown elements.
                        true => ParameterValue::MaybeUnset(UnknownKind::Anything),
                        false => ParameterValue::Unset,
                    }
                }
                Some(_) => ParameterValue::Many(values),
            },
            (Some(ShellVariable::Array(elements)), None) => find_element(&elements, "0"),
            (Some(ShellVariable::Array(elements)), Some(index)) if parse_all_index(index).is_some() => {
                ParameterValue::Many(elements.iter().map(|(_, value)| value.clone()).collect())
            }
            (Some(ShellVariable::Array(elements)), Some(index)) => match self.resolve_array_key(index) {
                Some(key) => find_element(&elements, &key),
                None => {
                    let values = elements.iter().map(|(_, value)| value.clone()).take(limits::VALUES).collect();
                    ParameterValue::One(self.choose_value(values))
                }
            },
        }
    }

    /// Parameters that are not variables.
    fn lookup_special_parameter(&mut self, name: &str) -> Option<ParameterValue> {
        Some(match name {
            "@" | "*" => ParameterValue::Many(self.scope.positional.to_vec()),
            "#" => ParameterValue::One(SymbolicText::from_text(self.scope.positional.len().to_string())),
            "?" | "$" | "!" | "-" => ParameterValue::One(SymbolicText::from_unknown(UnknownKind::Name)),
            "_" => ParameterValue::One((*self.scope.last).clone()),
            "0" => ParameterValue::One(SymbolicText::from_text(&*self.scope.name)),
            _ => {
                let number: usize = name.parse().ok()?;
                let value = self.scope.positional.get(number.checked_sub(1)?);
                match value {
                    Some(value) => ParameterValue::One(value.clone()),
                    // An agent's command has no parameters, but it may be a draft of a script that has.
                    None if self.is_outermost() => ParameterValue::MaybeUnset(UnknownKind::FromInput),
                    None => ParameterValue::Unset,
                }
            }
        })
    }

    /// The key of an index: a number, or the text itself for associative arrays.
    pub(crate) fn resolve_array_key(&mut self, index: &'t ShellWord) -> Option<String> {
        let value = self.expand_text(index);
        let text = value.as_text()?.to_owned();
        if let Some(number) =
            self.evaluate_arithmetic(&value).filter(|_| !text.starts_with(|c: char| c.is_alphabetic()))
        {
            return Some(number.to_string());
        }
        let is_variable = self.scope.single_value(&text).and_then(SymbolicText::as_text).map(str::to_owned);
        Some(is_variable.unwrap_or(text))
    }

    /// The value of a variable as one text.
    pub(crate) fn read_variable(&mut self, name: &str) -> SymbolicText {
        match self.lookup_parameter(name, None) {
            ParameterValue::Unset => SymbolicText::default(),
            ParameterValue::One(value) => value,
            ParameterValue::Many(values) => values.into_iter().next().unwrap_or_default(),
            ParameterValue::MaybeUnset(unknown) => SymbolicText::from_unknown(unknown),
        }
    }

    /// `${!a[@]}`
    fn list_array_keys(&mut self, name: &str) -> Vec<SymbolicText> {
        match self.settle_variable(name) {
            Some(ShellVariable::Array(elements)) => {
                elements.iter().map(|(key, _)| SymbolicText::from_text(key.clone())).collect()
            }
            Some(ShellVariable::Values(_)) => vec![SymbolicText::from_text("0")],
            Some(ShellVariable::Unset | ShellVariable::Reference(_)) => Vec::new(),
            None => vec![SymbolicText::from_unknown(UnknownKind::Anything)],
        }
    }

    /// `${!prefix*}`
    fn list_variable_names(&mut self, prefix: &str) -> Vec<SymbolicText> {
        let named = self.scope.variables.range(prefix.to_owned()..);
        let names = named.map(|(name, _)| name).take_while(|name| name.starts_with(prefix));
        names.take(limits::VALUES).map(|name| SymbolicText::from_text(name.clone())).collect()
    }

    /// Sets a variable, or the one that a reference names, unless the reference itself is set.
    pub(crate) fn set_variable(&mut self, name: &str, variable: ShellVariable) {
        let refers = matches!(variable, ShellVariable::Reference(_));
        let referred = self.scope.resolve_reference(name).filter(|_| !refers);
        let name = referred.as_deref().unwrap_or(name);
        if Rc::strong_count(&self.scope.variables) > 1 {
            self.spend_steps(1 + self.scope.variables.len() / 4);
        }
        let variables = Rc::make_mut(&mut self.scope.variables);
        match variables.get_mut(name) {
            Some(slot) => *slot = variable,
            None => drop(variables.insert(name.to_owned(), variable)),
        }
    }
}

/// `@` or `*` as an index.
pub(crate) fn parse_all_index(index: &ShellWord) -> Option<char> {
    match index.to_literal().as_deref() {
        Some("@") => Some('@'),
        Some("*") => Some('*'),
        _ => match index.parts.as_slice() {
            [snell_shell::WordPart::Wildcard('*')] => Some('*'),
            _ => None,
        },
    }
}

fn parse_all_parameter(name: &str) -> Option<char> {
    match name {
        "@" => Some('@'),
        "*" => Some('*'),
        _ => None,
    }
}

fn find_element(elements: &[(String, SymbolicText)], key: &str) -> ParameterValue {
    let from_end = key.strip_prefix('-').and_then(|back| back.parse::<usize>().ok());
    let found = match from_end {
        Some(back) => elements.len().checked_sub(back).and_then(|at| elements.get(at)),
        None => elements.iter().find(|(known, _)| known == key),
    };
    found.map_or(ParameterValue::Unset, |(_, value)| ParameterValue::One(value.clone()))
}

fn lookup_well_known(name: &str) -> ParameterValue {
    let value = match name {
        "BASH" | "SHELL" => SymbolicText::from_text("bash"),
        "IFS" => SymbolicText::from_text(DEFAULT_IFS),
        "OLDPWD" => SymbolicText::from_unknown(UnknownKind::FromInput),
        "PATH" => {
            let mut value = SymbolicText::from_text("/");
            value.push(SymbolicPart::Unknown(UnknownKind::Something));
            value
        }
        "PPID" => SymbolicText::from_unknown(UnknownKind::Agent),
        "BASHPID" | "BASH_VERSION" | "COLUMNS" | "EPOCHSECONDS" | "EUID" | "HOSTNAME" | "HOSTTYPE" | "LINENO"
        | "LINES" | "OSTYPE" | "RANDOM" | "SECONDS" | "SHLVL" | "SRANDOM" | "UID" => {
            SymbolicText::from_unknown(UnknownKind::Name)
        }
        _ if is_secret_variable(name) => {
            return ParameterValue::MaybeUnset(UnknownKind::Credential(variable_issuer(name)));
        }
        _ => return ParameterValue::MaybeUnset(UnknownKind::Anything),
    };
    ParameterValue::One(value)
}
