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

/// How much of a call could be followed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GuardCoverage {
    /// What could not; nothing if all could.
    pub gaps: Vec<CoverageGap>,
}

impl GuardCoverage {
    /// Whether all could be followed.
    pub fn is_full(&self) -> bool {
        self.gaps.is_empty()
    }

    /// Whether there was more than is looked at.
    pub fn is_limited(&self) -> bool {
        self.gaps.iter().any(|gap| matches!(gap, CoverageGap::Limit(_)))
    }

    /// Its name in records.
    pub fn name(&self) -> &'static str {
        if self.is_full() { "full" } else { "partial" }
    }

    pub(crate) fn add_gap(&mut self, gap: CoverageGap) {
        if !self.gaps.contains(&gap) {
            self.gaps.push(gap);
        }
    }

    /// What could not be followed, in words.
    pub fn describe_gaps(&self) -> Vec<String> {
        self.gaps.iter().map(ToString::to_string).collect()
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
