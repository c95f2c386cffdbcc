//! The state of a shell at a point of the text. Cheap to clone: subshells and branches start from a copy.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::invocation::{StdinSource, StdoutTarget, SymbolicPart, SymbolicText, UnknownKind};
use crate::judge::context::JudgeContext;
use snell_shell::ShellCommand;

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ShellVariable {
    /// Certainly unset.
    Unset,
    /// One of these; never empty.
    Values(Vec<SymbolicText>),
    /// Keys and elements, in order. Indices are keys too.
    Array(Rc<Vec<(String, SymbolicText)>>),
    /// A reference to the variable with this name: `declare -n`. Empty until a name is assigned.
    Reference(String),
}

/// How many references are followed.
const MAX_REFERENCES: usize = 8;

impl ShellVariable {
    pub(crate) fn from_value(value: SymbolicText) -> Self {
        Self::Values(vec![value])
    }

    pub(crate) fn unknown() -> Self {
        Self::from_value(SymbolicText::from_unknown(UnknownKind::Anything))
    }
}

/// Where output goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OutputSink {
    /// To the agent.
    Agent,
    /// Into a pipe.
    Pipe,
    /// Into a substitution.
    Captured,
    /// Into a file.
    File(Rc<SymbolicText>),
    /// Untracked output: standard error, a closed descriptor.
    Untracked,
}

impl OutputSink {
    pub(crate) fn to_stdout_target(&self) -> StdoutTarget {
        match self {
            Self::Agent | Self::Untracked => StdoutTarget::Inherited,
            Self::Pipe => StdoutTarget::Pipe,
            Self::Captured => StdoutTarget::Captured,
            Self::File(_) => StdoutTarget::File,
        }
    }
}

/// The output to a pipe or a substitution so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CapturedOutput {
    pub(crate) value: SymbolicText,
    /// Whether a program with unknown output has printed.
    pub(crate) opaque: bool,
}

/// Where commands read from and write to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DescriptorTable {
    pub(crate) stdin: Rc<StdinSource>,
    pub(crate) stdout: OutputSink,
    /// Open descriptors from 2 on.
    pub(crate) others: Rc<BTreeMap<u32, FileDescriptor>>,
}

/// The ends of a descriptor; both for `3<>file`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileDescriptor {
    pub(crate) reads: Option<Rc<StdinSource>>,
    pub(crate) writes: Option<OutputSink>,
}

/// The state of a shell.
#[derive(Clone, Debug)]
pub(crate) struct ShellScope<'t> {
    pub(crate) variables: Rc<BTreeMap<String, ShellVariable>>,
    /// The possible meanings of each name: a body, or `None` for no function.
    pub(crate) functions: Rc<BTreeMap<String, Vec<Option<&'t ShellCommand>>>>,
    pub(crate) aliases: Rc<BTreeMap<String, SymbolicText>>,
    /// Names of exported variables, and of exported functions with `()`.
    pub(crate) exported: Rc<BTreeSet<String>>,
    /// Whether all assignments are exported from here on: `set -a`.
    pub(crate) exports_all: bool,
    /// Whether an unset variable ends the script: `set -u`.
    pub(crate) stops_at_unset: bool,
    /// `$1` and on.
    pub(crate) positional: Rc<Vec<SymbolicText>>,
    /// `$0`
    pub(crate) name: Rc<str>,
    /// `$_`
    pub(crate) last: Rc<SymbolicText>,
    /// The possible working directories; `None` for an unknown one.
    pub(crate) cwd: Rc<Vec<Option<String>>>,
    /// The directory stack of `pushd`.
    pub(crate) directories: Rc<Vec<Option<String>>>,
    pub(crate) io: DescriptorTable,
    pub(crate) printed: Rc<CapturedOutput>,
    /// Files that this text wrote, with their contents.
    pub(crate) files: Rc<BTreeMap<String, SymbolicText>>,
    /// Whether `read` has reached the end of a known text.
    pub(crate) at_end: bool,
    /// Whether a builtin may have been replaced, so that `exit` may do nothing.
    pub(crate) builtins_replaced: bool,
}

impl ShellScope<'_> {
    pub(crate) fn new(context: &JudgeContext) -> Self {
        let known =
            [("HOME", &context.home), ("USER", &context.user), ("LOGNAME", &context.user), ("PWD", &context.cwd)];
        let given = context.variables.iter().map(|(name, value)| (name.as_str(), value));
        let variables: BTreeMap<String, ShellVariable> = known
            .into_iter()
            .chain(given)
            .map(|(name, value)| (name.to_owned(), ShellVariable::from_value(SymbolicText::from_text(value))))
            .collect();
        let exported = variables.keys().cloned().chain(["OLDPWD".to_owned()]).collect();
        Self {
            exported: Rc::new(exported),
            variables: Rc::new(variables),
            exports_all: false,
            stops_at_unset: false,
            functions: Rc::default(),
            aliases: Rc::default(),
            positional: Rc::default(),
            name: Rc::from("bash"),
            last: Rc::new(SymbolicText::from_unknown(UnknownKind::Anything)),
            cwd: Rc::new(vec![Some(context.cwd.clone())]),
            directories: Rc::default(),
            io: DescriptorTable {
                stdin: Rc::new(StdinSource::Inherited),
                stdout: OutputSink::Agent,
                others: Rc::default(),
            },
            printed: Rc::default(),
            files: Rc::default(),
            at_end: false,
            builtins_replaced: false,
        }
    }

    /// The working directory, if there is only one.
    pub(crate) fn cwd(&self) -> Option<&str> {
        self.cwd.first().and_then(Option::as_deref)
    }

    /// The variable that a name refers to.
    pub(crate) fn resolve_name<'a>(&'a self, name: &'a str) -> &'a str {
        let mut name = name;
        for _ in 0..MAX_REFERENCES {
            match self.variables.get(name) {
                Some(ShellVariable::Reference(other)) if !other.is_empty() => name = other,
                _ => break,
            }
        }
        name
    }

    /// The variable that a reference names, if the name is one.
    pub(crate) fn resolve_reference(&self, name: &str) -> Option<String> {
        let meant = self.resolve_name(name);
        (meant != name).then(|| meant.to_owned())
    }

    /// The value of a variable that has exactly one.
    pub(crate) fn single_value(&self, name: &str) -> Option<&SymbolicText> {
        match self.variables.get(self.resolve_name(name)) {
            Some(ShellVariable::Values(values)) if values.len() == 1 => values.first(),
            _ => None,
        }
    }
}

impl SymbolicText {
    /// Adds a part, and joins it with its neighbour if both are known.
    pub(crate) fn push(&mut self, part: SymbolicPart) {
        match (self.parts.last_mut(), part) {
            (_, SymbolicPart::Text(text)) if text.is_empty() => {}
            (Some(SymbolicPart::Text(before)), SymbolicPart::Text(text)) => before.push_str(&text),
            (Some(SymbolicPart::Pattern(before)), SymbolicPart::Pattern(text)) => before.push_str(&text),
            (_, part) => self.parts.push(part),
        }
    }

    /// Adds known text.
    pub(crate) fn push_text(&mut self, text: &str) {
        match self.parts.last_mut() {
            Some(SymbolicPart::Text(before)) => before.push_str(text),
            _ if text.is_empty() => {}
            _ => self.parts.push(SymbolicPart::Text(text.to_owned())),
        }
    }

    /// Adds all of another value.
    pub(crate) fn append(&mut self, other: &Self) {
        for part in &other.parts {
            match part {
                SymbolicPart::Text(text) => self.push_text(text),
                part => self.push(part.clone()),
            }
        }
    }

    /// The same, with patterns as literal text.
    pub(crate) fn flatten_patterns(&self) -> Self {
        let mut flat = Self::default();
        for part in &self.parts {
            match part {
                SymbolicPart::Text(text) | SymbolicPart::Pattern(text) => flat.push_text(text),
                SymbolicPart::Unknown(unknown) => flat.push(SymbolicPart::Unknown(*unknown)),
            }
        }
        flat
    }

    /// Whether it is certainly empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.as_text() == Some("")
    }

    /// Whether it may be empty.
    pub(crate) fn can_be_empty(&self) -> bool {
        self.parts.iter().all(|part| match part {
            SymbolicPart::Text(text) | SymbolicPart::Pattern(text) => text.is_empty(),
            SymbolicPart::Unknown(unknown) => unknown.can_be_empty(),
        })
    }

    /// Whether a part of it is unknown.
    pub(crate) fn is_partly_unknown(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, SymbolicPart::Unknown(_)))
    }

    /// Its approximate size in bytes.
    pub(crate) fn size(&self) -> usize {
        let size = |part: &SymbolicPart| match part {
            SymbolicPart::Text(text) | SymbolicPart::Pattern(text) => text.len(),
            SymbolicPart::Unknown(_) => 32,
        };
        self.parts.iter().map(size).sum()
    }
}
