//! The result of analysing a command line.

use std::fmt;

use crate::invocation::{Invocation, SymbolicText};
use snell_shell::ByteSpan;

/// The programs and code that would run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellAnalysis {
    /// In the order in which they would run, as far as it is known.
    pub invocations: Vec<Invocation>,
    /// Code of other languages that some of them would run.
    pub inline: Vec<InlineCode>,
    /// Functions that call themselves twice at once, and endless loops that start a process in each iteration.
    pub fork_bombs: Vec<ByteSpan>,
    /// Commands that entries of the policy deny or ask about: the index of the entry, and the place of the command.
    pub watched: Vec<(usize, ByteSpan)>,
    /// Whether the analysis is complete.
    pub coverage: GuardCoverage,
    /// The work that it took, independent of the machine.
    pub steps: usize,
}

/// How much of a call was analysed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GuardCoverage {
    /// The gaps; empty if the analysis is complete.
    pub gaps: Vec<CoverageGap>,
}

impl GuardCoverage {
    /// Whether the analysis is complete.
    pub fn is_full(&self) -> bool {
        self.gaps.is_empty()
    }

    /// Whether a limit was reached.
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

    /// Describes the gaps.
    pub fn describe_gaps(&self) -> Vec<String> {
        self.gaps.iter().map(ToString::to_string).collect()
    }
}

/// Why a program may be missing in the analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CoverageGap {
    /// A limit was reached: its name.
    Limit(&'static str),
    /// The text is not valid shell.
    Syntax,
    /// The name of a program is unknown: `$cmd x`.
    UnknownProgram,
    /// A shell runs partly unknown code: `eval "$x"`.
    UnknownCode,
    /// A part of a text for PowerShell or cmd was not understood.
    Dialect,
    /// The call, or a field of it, cannot be read.
    Unread,
    /// The guard itself failed.
    Failure,
}

impl fmt::Display for CoverageGap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit(name) => write!(f, "the call exceeds a limit of the analysis ({name})"),
            Self::Syntax => f.write_str("the text is not valid shell"),
            Self::UnknownProgram => f.write_str("a program name is unknown until the command runs"),
            Self::UnknownCode => f.write_str("shell code is unknown until the command runs"),
            Self::Dialect => f.write_str("a part of the PowerShell or cmd text is not understood"),
            Self::Unread => f.write_str("a part of the call cannot be read"),
            Self::Failure => f.write_str("the guard failed"),
        }
    }
}

/// Inline code in a language other than shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlineCode {
    /// The language.
    pub language: CodeLanguage,
    /// The code.
    pub text: SymbolicText,
    /// Index of the invocation that runs it.
    pub invocation: usize,
}

/// A language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CodeLanguage {
    /// sh and similar shells. Analysed here and never passed on.
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
    /// Awk, except for the commands in it, which are analysed here.
    Awk,
    /// Tcl and Expect.
    Tcl,
    /// A language without a parser: only its strings and names are read.
    Other,
}
