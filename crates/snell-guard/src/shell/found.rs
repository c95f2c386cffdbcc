//! What a walk through a command line finds.

use crate::invocation::{Invocation, Value};
use crate::syntax::Span;

/// What would run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// In the order in which they would run, as far as there is one.
    pub invocations: Vec<Invocation>,
    /// Code of other languages that some of them would run.
    pub inline: Vec<Inline>,
    /// Functions that call themselves twice at once, and loops that start something in every round, without end.
    pub fork_bombs: Vec<Span>,
    /// Whether this is all.
    pub coverage: Coverage,
    /// How much work it was: a measure that does not depend on the machine.
    pub steps: usize,
}

/// Whether everything was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Coverage {
    /// Every program that would run is known by name.
    #[default]
    Full,
    /// Something else may run, for these reasons.
    Partial(Vec<Reason>),
}

impl Coverage {
    /// Whether a limit was passed.
    pub fn is_limited(&self) -> bool {
        let is_limit = |reason: &Reason| matches!(reason, Reason::Limit(_));
        matches!(self, Self::Partial(reasons) if reasons.iter().any(is_limit))
    }
}

/// Why something may run that was not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// A limit was passed: its name.
    Limit(&'static str),
    /// The text is not what a shell can read.
    Syntax,
    /// The name of a program is unknown: `$cmd x`.
    UnknownProgram,
    /// Code is handed to a shell, and some of it is unknown: `eval "$x"`.
    UnknownCode,
    /// The guard itself has failed.
    Failure,
}

/// Code that is written in the command line, in a language that is no shell's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inline {
    /// The language.
    pub code: Code,
    /// The code.
    pub text: Value,
    /// Which of the invocations runs it.
    pub invocation: usize,
}

/// A language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
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
