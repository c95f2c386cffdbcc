//! What a shell knows at a point of the text. Cheap to clone: subshells and branches start from a copy.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::invocation::{Part, Stdin, Stdout, Unknown, Value};
use crate::syntax::Command;
use crate::world::World;

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Variable {
    /// It certainly has no value.
    Unset,
    /// One of these; never empty.
    Values(Vec<Value>),
    /// Keys and elements, in order. Numbers are keys too.
    Array(Rc<Vec<(String, Value)>>),
    /// Another name for the variable of this name: `declare -n`. Empty as long as nobody has said which.
    Reference(String),
}

/// References that lead to each other are followed so far.
const MAX_REFERENCES: usize = 8;

impl Variable {
    pub(crate) fn one(value: Value) -> Self {
        Self::Values(vec![value])
    }

    pub(crate) fn anything() -> Self {
        Self::one(Value::unknown(Unknown::Anything))
    }
}

/// Where output goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Out {
    /// To the agent.
    Agent,
    /// Into a pipe.
    Pipe,
    /// Into a substitution.
    Captured,
    /// Into a file.
    File(Rc<Value>),
    /// Somewhere that nobody follows: standard error, a closed descriptor.
    Aside,
}

impl Out {
    pub(crate) fn told(&self) -> Stdout {
        match self {
            Self::Agent | Self::Aside => Stdout::Inherited,
            Self::Pipe => Stdout::Pipe,
            Self::Captured => Stdout::Captured,
            Self::File(_) => Stdout::File,
        }
    }
}

/// What was printed into a pipe or a substitution so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Printed {
    pub(crate) value: Value,
    /// Whether a program has printed of which nobody knows what it prints.
    pub(crate) opaque: bool,
}

/// Where commands read from and write to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Io {
    pub(crate) stdin: Rc<Stdin>,
    pub(crate) stdout: Out,
    /// Descriptors from 2 on that were opened.
    pub(crate) others: Rc<BTreeMap<u32, Descriptor>>,
}

/// What a descriptor leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Descriptor {
    Reads(Rc<Stdin>),
    Writes(Out),
    /// `3<>file`
    Both(Rc<Stdin>, Out),
}

/// What a shell knows.
#[derive(Clone, Debug)]
pub(crate) struct Scope<'t> {
    pub(crate) variables: Rc<BTreeMap<String, Variable>>,
    /// What each name may mean: a body, or no function at all.
    pub(crate) functions: Rc<BTreeMap<String, Vec<Option<&'t Command>>>>,
    pub(crate) aliases: Rc<BTreeMap<String, Value>>,
    /// Names of variables (and of functions, with `()`) that other programs see.
    pub(crate) exported: Rc<BTreeSet<String>>,
    /// Whether everything that is assigned from here on is exported: `set -a`.
    pub(crate) exports_all: bool,
    /// `$1` and on.
    pub(crate) positional: Rc<Vec<Value>>,
    /// `$0`
    pub(crate) name: Rc<str>,
    /// `$_`
    pub(crate) last: Rc<Value>,
    /// Where it may be; nothing if that cannot be known.
    pub(crate) cwd: Rc<Vec<Option<String>>>,
    /// What `pushd` has left behind.
    pub(crate) directories: Rc<Vec<Option<String>>>,
    pub(crate) io: Io,
    pub(crate) printed: Rc<Printed>,
    /// Files that were written in this text, and what is in them.
    pub(crate) files: Rc<BTreeMap<String, Value>>,
    /// Whether `read` has come to the end of a known text.
    pub(crate) at_end: bool,
    /// Whether a builtin may have been replaced, so that `exit` may do nothing.
    pub(crate) unsettled: bool,
}

impl Scope<'_> {
    pub(crate) fn new(world: &World) -> Self {
        let known = [
            ("HOME", &world.home),
            ("USER", &world.user),
            ("LOGNAME", &world.user),
            ("PWD", &world.cwd),
        ];
        let mut variables = BTreeMap::new();
        for (name, value) in known {
            variables.insert(name.to_owned(), Variable::one(Value::text(value.clone())));
        }
        for (name, value) in &world.variables {
            variables.insert(name.clone(), Variable::one(Value::text(value.clone())));
        }
        let exported = variables.keys().cloned().chain(["OLDPWD".to_owned()]).collect();
        Self {
            exported: Rc::new(exported),
            variables: Rc::new(variables),
            exports_all: false,
            functions: Rc::default(),
            aliases: Rc::default(),
            positional: Rc::default(),
            name: Rc::from("bash"),
            last: Rc::new(Value::unknown(Unknown::Anything)),
            cwd: Rc::new(vec![Some(world.cwd.clone())]),
            directories: Rc::default(),
            io: Io {
                stdin: Rc::new(Stdin::Inherited),
                stdout: Out::Agent,
                others: Rc::default(),
            },
            printed: Rc::default(),
            files: Rc::default(),
            at_end: false,
            unsettled: false,
        }
    }

    /// The one directory that it is in.
    pub(crate) fn cwd(&self) -> Option<&str> {
        self.cwd.first().and_then(Option::as_deref)
    }

    /// The variable that a name stands for.
    pub(crate) fn meant<'a>(&'a self, name: &'a str) -> &'a str {
        let mut name = name;
        for _ in 0..MAX_REFERENCES {
            match self.variables.get(name) {
                Some(Variable::Reference(other)) if !other.is_empty() => name = other,
                _ => break,
            }
        }
        name
    }

    /// The other variable that a name stands for, if it does.
    pub(crate) fn referred(&self, name: &str) -> Option<String> {
        let meant = self.meant(name);
        (meant != name).then(|| meant.to_owned())
    }

    /// The value of a variable that has exactly one.
    pub(crate) fn single(&self, name: &str) -> Option<&Value> {
        match self.variables.get(self.meant(name)) {
            Some(Variable::Values(values)) if values.len() == 1 => values.first(),
            _ => None,
        }
    }
}

impl Value {
    /// Adds a part, joined with its neighbour where both are known.
    pub(crate) fn push(&mut self, part: Part) {
        match (self.parts.last_mut(), part) {
            (_, Part::Text(text)) if text.is_empty() => {}
            (Some(Part::Text(before)), Part::Text(text)) => before.push_str(&text),
            (Some(Part::Pattern(before)), Part::Pattern(text)) => before.push_str(&text),
            (_, part) => self.parts.push(part),
        }
    }

    /// Adds known text.
    pub(crate) fn push_text(&mut self, text: &str) {
        match self.parts.last_mut() {
            Some(Part::Text(before)) => before.push_str(text),
            _ if text.is_empty() => {}
            _ => self.parts.push(Part::Text(text.to_owned())),
        }
    }

    /// Adds all of another value.
    pub(crate) fn append(&mut self, other: &Self) {
        for part in &other.parts {
            match part {
                Part::Text(text) => self.push_text(text),
                part => self.push(part.clone()),
            }
        }
    }

    /// The same, with patterns taken as the text that they are written with.
    pub(crate) fn flat(&self) -> Self {
        let mut flat = Self::default();
        for part in &self.parts {
            match part {
                Part::Text(text) | Part::Pattern(text) => flat.push_text(text),
                Part::Unknown(unknown) => flat.push(Part::Unknown(*unknown)),
            }
        }
        flat
    }

    /// Whether it is certainly nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.as_text() == Some("")
    }

    /// Whether it may be nothing.
    pub(crate) fn may_be_empty(&self) -> bool {
        self.parts.iter().all(|part| match part {
            Part::Text(text) | Part::Pattern(text) => text.is_empty(),
            Part::Unknown(unknown) => unknown.may_be_empty(),
        })
    }

    /// Whether a part of it is unknown.
    pub(crate) fn is_partly_unknown(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Unknown(_)))
    }

    /// Bytes that it takes, roughly.
    pub(crate) fn size(&self) -> usize {
        let size = |part: &Part| match part {
            Part::Text(text) | Part::Pattern(text) => text.len(),
            Part::Unknown(_) => 32,
        };
        self.parts.iter().map(size).sum()
    }
}
