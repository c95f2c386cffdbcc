//! What a walk through a command line finds.

use std::fmt;

use crate::invocation::{Invocation, SymbolicText};
use snell_shell::ByteSpan;

/// What would run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellAnalysis {
    /// In the order in which they would run, as far as there is one.
    pub invocations: Vec<Invocation>,
    /// Code of other languages that some of them would run.
    pub inline: Vec<InlineCode>,
    /// Functions that call themselves twice at once, and loops that start something in every round, without end.
    pub fork_bombs: Vec<ByteSpan>,
    /// Whether this is all.
    pub coverage: GuardCoverage,
    /// How much work it was: a measure that does not depend on the machine.
    pub steps: usize,
}

/// Whether everything was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum GuardCoverage {
    /// Every program that would run is known by name.
    #[default]
    Full,
    /// Something else may run, for these reasons.
    Partial(Vec<CoverageGap>),
}

impl GuardCoverage {
    /// Whether a limit was passed.
    pub fn is_limited(&self) -> bool {
        let is_limit = |reason: &CoverageGap| matches!(reason, CoverageGap::Limit(_));
        matches!(self, Self::Partial(reasons) if reasons.iter().any(is_limit))
    }

    /// Its name, as programs are told.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Partial(_) => "partial",
        }
    }

    /// Says that not everything was seen, and why.
    pub(crate) fn add_gap(&mut self, reason: CoverageGap) {
        match self {
            Self::Full => *self = Self::Partial(vec![reason]),
            Self::Partial(reasons) if reasons.contains(&reason) => {}
            Self::Partial(reasons) => reasons.push(reason),
        }
    }

    /// Why not everything was seen, in words; nothing if everything was.
    pub fn describe_gaps(&self) -> Vec<String> {
        match self {
            Self::Full => Vec::new(),
            Self::Partial(reasons) => reasons.iter().map(ToString::to_string).collect(),
        }
    }
}

/// Why something may run that was not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CoverageGap {
    /// A limit was passed: its name.
    Limit(&'static str),
    /// The text is not what a shell can read.
    Syntax,
    /// The name of a program is unknown: `$cmd x`.
    UnknownProgram,
    /// Code is handed to a shell, and some of it is unknown: `eval "$x"`.
    UnknownCode,
    /// The call, or a field of it, is not what can be read.
    Unread,
    /// The guard itself has failed.
    Failure,
}

impl fmt::Display for CoverageGap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit(name) => write!(f, "it is more than is looked at before it runs (limit: {name})"),
            Self::Syntax => f.write_str("the text is not what a shell can read"),
            Self::UnknownProgram => f.write_str("the name of a program is only known when it runs"),
            Self::UnknownCode => f.write_str("code is handed to a shell that is only known when it runs"),
            Self::Unread => f.write_str("a part of the call is not what can be read"),
            Self::Failure => f.write_str("the guard itself failed"),
        }
    }
}

/// Code that is written in the command line, in a language that is no shell's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlineCode {
    /// The language.
    pub language: CodeLanguage,
    /// The code.
    pub text: SymbolicText,
    /// Which of the invocations runs it.
    pub invocation: usize,
}

/// A language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CodeLanguage {
    /// sh and its kin. This is followed here and never handed on.
    Shell,
    /// Python.
    Python,
    /// JavaScript and TypeScript: node, deno, bun.
    Node,
    /// Perl.
    Perl,
    /// Ruby.
    Ruby,
    /// PHP.
    Php,
    /// Lua.
    Lua,
    /// R.
    R,
    /// Julia.
    Julia,
    /// Elixir.
    Elixir,
    /// AppleScript.
    AppleScript,
    /// Awk, beyond the commands in it, which are followed here.
    Awk,
    /// Tcl and Expect.
    Tcl,
    /// PowerShell.
    PowerShell,
}
