//! `$x` and `${x…}`: the value, before and after what is done with it.

use std::rc::Rc;

use snell_secrets::{is_secret_variable, variable_issuer};

use super::Walker;
use super::limits;
use super::scope::Variable;
use crate::invocation::{Part, Unknown, Value};
use crate::syntax::{Operation, Parameter, Word};

/// Variables of which something is known although nobody has set them.
const USUAL: &[(&str, Usual)] = &[
    ("BASH", Usual::Text("bash")),
    ("BASHPID", Usual::Kind(Unknown::Name)),
    ("BASH_VERSION", Usual::Kind(Unknown::Name)),
    ("COLUMNS", Usual::Kind(Unknown::Name)),
    ("EPOCHSECONDS", Usual::Kind(Unknown::Name)),
    ("EUID", Usual::Kind(Unknown::Name)),
    ("HOSTNAME", Usual::Kind(Unknown::Name)),
    ("HOSTTYPE", Usual::Kind(Unknown::Name)),
    ("IFS", Usual::Text(" \t\n")),
    ("LINENO", Usual::Kind(Unknown::Name)),
    ("LINES", Usual::Kind(Unknown::Name)),
    ("OLDPWD", Usual::Kind(Unknown::Told)),
    ("OSTYPE", Usual::Kind(Unknown::Name)),
    ("PATH", Usual::Below("/")),
    ("PPID", Usual::Kind(Unknown::Agent)),
    ("RANDOM", Usual::Kind(Unknown::Name)),
    ("SECONDS", Usual::Kind(Unknown::Name)),
    ("SHELL", Usual::Text("bash")),
    ("SHLVL", Usual::Kind(Unknown::Name)),
    ("SRANDOM", Usual::Kind(Unknown::Name)),
    ("UID", Usual::Kind(Unknown::Name)),
];

#[derive(Clone, Copy)]
enum Usual {
    Text(&'static str),
    /// It begins so.
    Below(&'static str),
    Kind(Unknown),
}

/// What a parameter expands to.
#[derive(Clone, Debug)]
pub(super) enum Expansion {
    One(Value),
    /// `$@` and `${a[@]}`: a word each.
    Many(Vec<Value>),
}

impl Default for Expansion {
    fn default() -> Self {
        Self::One(Value::default())
    }
}

/// What a parameter holds.
#[derive(Clone, Debug)]
pub(super) enum Held {
    /// Certainly nothing.
    Unset,
    One(Value),
    Many(Vec<Value>),
    /// Nobody has set it here: it may be unset.
    Open(Unknown),
}

impl Held {
    pub(super) fn values(self) -> Vec<Value> {
        match self {
            Self::Unset => Vec::new(),
            Self::One(value) => vec![value],
            Self::Many(values) => values,
            Self::Open(unknown) => vec![Value::unknown(unknown)],
        }
    }
}

impl<'t> Walker<'t> {
    /// What a parameter expands to.
    pub(super) fn parameter(&mut self, parameter: &'t Parameter) -> Expansion {
        if matches!(parameter.operation, Operation::Names) {
            return Expansion::Many(self.names(&parameter.name));
        }
        let every = parameter
            .index
            .as_ref()
            .and_then(all_of)
            .or_else(|| sign_of(&parameter.name));
        if parameter.indirect && every.is_some() && parameter.index.is_some() {
            return Expansion::Many(self.keys(&parameter.name));
        }
        if let Some(other) = self.scope.referred(&parameter.name).filter(|_| parameter.indirect) {
            return Expansion::One(Value::text(other));
        }
        let mut name = parameter.name.clone();
        let mut held = self.held(&parameter.name, parameter.index.as_ref());
        if parameter.indirect {
            (name, held) = self.indirect(held);
        }
        if every.is_some() && matches!(parameter.operation, Operation::Length) {
            let values = held.values();
            let open = values.iter().any(Value::may_be_empty) && values.iter().any(Value::is_partly_unknown);
            let count = values.len().to_string();
            let value = if open {
                Value::unknown(Unknown::Name)
            } else {
                Value::text(count)
            };
            return Expansion::One(value);
        }
        let expansion = self.operate(&name, held, parameter);
        match (expansion, every) {
            (Expansion::Many(values), Some('*')) if parameter.quoted => Expansion::One(self.joined(&values)),
            (expansion, _) => expansion,
        }
    }

    /// `"$*"`: joined by the first separator.
    fn joined(&mut self, values: &[Value]) -> Value {
        let separators = self.separators();
        let mut all = Value::default();
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
    fn indirect(&mut self, held: Held) -> (String, Held) {
        let value = held.values().into_iter().next().unwrap_or_default();
        let Some(text) = value.as_text() else {
            return (String::new(), Held::Open(Unknown::Anything));
        };
        let (name, index) = match text.split_once('[') {
            Some((name, index)) => (name, Some(index.trim_end_matches(']'))),
            None => (text, None),
        };
        let held = match (self.settled(name), index) {
            (Some(Variable::Array(elements)), Some("@" | "*")) => {
                Held::Many(elements.iter().map(|(_, value)| value.clone()).collect())
            }
            (Some(Variable::Array(elements)), Some(index)) => element(&elements, index),
            _ => self.held(name, None),
        };
        (name.to_owned(), held)
    }

    /// What a parameter holds.
    pub(super) fn held(&mut self, name: &str, index: Option<&'t Word>) -> Held {
        if let Some(special) = self.special(name) {
            return special;
        }
        let referred = self.scope.referred(name);
        let name = referred.as_deref().unwrap_or(name);
        match (self.settled(name), index) {
            (None, _) => usual(name),
            (Some(Variable::Unset | Variable::Reference(_)), _) => Held::Unset,
            (Some(Variable::Values(values)), index) => match index.map(|index| self.key(index)) {
                None => Held::One(values.into_iter().next().unwrap_or_default()),
                Some(Some(key)) if key != "0" && key != "@" && key != "*" => {
                    match values.iter().any(Value::is_partly_unknown) {
                        // It may be a list of which nothing is known.
                        true => Held::Open(Unknown::Anything),
                        false => Held::Unset,
                    }
                }
                Some(_) => Held::Many(values),
            },
            (Some(Variable::Array(elements)), None) => element(&elements, "0"),
            (Some(Variable::Array(elements)), Some(index)) if all_of(index).is_some() => {
                Held::Many(elements.iter().map(|(_, value)| value.clone()).collect())
            }
            (Some(Variable::Array(elements)), Some(index)) => match self.key(index) {
                Some(key) => element(&elements, &key),
                None => {
                    let values = elements
                        .iter()
                        .map(|(_, value)| value.clone())
                        .take(limits::VALUES)
                        .collect();
                    Held::One(self.choose_value(values))
                }
            },
        }
    }

    /// Parameters that are no variables.
    fn special(&mut self, name: &str) -> Option<Held> {
        Some(match name {
            "@" | "*" => Held::Many(self.scope.positional.to_vec()),
            "#" => Held::One(Value::text(self.scope.positional.len().to_string())),
            "?" | "$" | "!" | "-" => Held::One(Value::unknown(Unknown::Name)),
            "_" => Held::One((*self.scope.last).clone()),
            "0" => Held::One(Value::text(&*self.scope.name)),
            _ => {
                let number: usize = name.parse().ok()?;
                let value = self.scope.positional.get(number.checked_sub(1)?);
                match value {
                    Some(value) => Held::One(value.clone()),
                    // What an agent runs has no parameters, but what it tries out may be meant for a script that does.
                    None if self.is_outermost() => Held::Open(Unknown::Told),
                    None => Held::Unset,
                }
            }
        })
    }

    /// The key that an index is: a number, or the text itself for arrays that have names.
    pub(super) fn key(&mut self, index: &'t Word) -> Option<String> {
        let value = self.text(index);
        let text = value.as_text()?.to_owned();
        if let Some(number) = self
            .evaluate(&value)
            .filter(|_| !text.starts_with(|c: char| c.is_alphabetic()))
        {
            return Some(number.to_string());
        }
        let is_variable = self.scope.single(&text).and_then(Value::as_text).map(str::to_owned);
        Some(is_variable.unwrap_or(text))
    }

    /// The value of a variable as one text.
    pub(super) fn plain_variable(&mut self, name: &str) -> Value {
        match self.held(name, None) {
            Held::Unset => Value::default(),
            Held::One(value) => value,
            Held::Many(values) => values.into_iter().next().unwrap_or_default(),
            Held::Open(unknown) => Value::unknown(unknown),
        }
    }

    /// `${!a[@]}`
    fn keys(&mut self, name: &str) -> Vec<Value> {
        match self.settled(name) {
            Some(Variable::Array(elements)) => elements.iter().map(|(key, _)| Value::text(key.clone())).collect(),
            Some(Variable::Values(_)) => vec![Value::text("0")],
            Some(Variable::Unset | Variable::Reference(_)) => Vec::new(),
            None => vec![Value::unknown(Unknown::Anything)],
        }
    }

    /// `${!prefix*}`
    fn names(&mut self, prefix: &str) -> Vec<Value> {
        let named = self.scope.variables.range(prefix.to_owned()..);
        let names = named.map(|(name, _)| name).take_while(|name| name.starts_with(prefix));
        names
            .take(limits::VALUES)
            .map(|name| Value::text(name.clone()))
            .collect()
    }

    /// Sets a variable: the one that the name stands for, unless it shall stand for another.
    pub(super) fn set(&mut self, name: &str, variable: Variable) {
        let refers = matches!(variable, Variable::Reference(_));
        let referred = self.scope.referred(name).filter(|_| !refers);
        let name = referred.as_deref().unwrap_or(name);
        if Rc::strong_count(&self.scope.variables) > 1 {
            self.spend(1 + self.scope.variables.len() / 4);
        }
        let variables = Rc::make_mut(&mut self.scope.variables);
        match variables.get_mut(name) {
            Some(slot) => *slot = variable,
            None => drop(variables.insert(name.to_owned(), variable)),
        }
    }
}

/// `@` or `*` as an index.
pub(super) fn all_of(index: &Word) -> Option<char> {
    match index.literal().as_deref() {
        Some("@") => Some('@'),
        Some("*") => Some('*'),
        _ => match index.pieces.as_slice() {
            [crate::syntax::Piece::Wildcard('*')] => Some('*'),
            _ => None,
        },
    }
}

fn sign_of(name: &str) -> Option<char> {
    match name {
        "@" => Some('@'),
        "*" => Some('*'),
        _ => None,
    }
}

fn element(elements: &[(String, Value)], key: &str) -> Held {
    let from_end = key.strip_prefix('-').and_then(|back| back.parse::<usize>().ok());
    let found = match from_end {
        Some(back) => elements.len().checked_sub(back).and_then(|at| elements.get(at)),
        None => elements.iter().find(|(known, _)| known == key),
    };
    found.map_or(Held::Unset, |(_, value)| Held::One(value.clone()))
}

fn usual(name: &str) -> Held {
    let found = USUAL.iter().find(|(known, _)| *known == name);
    match found.map(|(_, usual)| *usual) {
        None if is_secret_variable(name) => Held::Open(Unknown::Credential(variable_issuer(name))),
        None => Held::Open(Unknown::Anything),
        Some(Usual::Text(text)) => Held::One(Value::text(text)),
        Some(Usual::Kind(kind)) => Held::One(Value::unknown(kind)),
        Some(Usual::Below(start)) => {
            let mut value = Value::text(start);
            value.push(Part::Unknown(Unknown::Something));
            Held::One(value)
        }
    }
}
