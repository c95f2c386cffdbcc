//! All limits of the analysis in one table. The constants are next to their uses; here are their descriptions, which
//! `docs/reference/guard.md` shows.

use LimitOutcome::{AskUser, TreatAsUnknown};

use crate::interpret::limits as shell;
use crate::{effects, interpreters, paths, tools, wrappers};
use snell_shell::limits as syntax;

/// A limit of the analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnalysisLimit {
    /// The counted thing.
    pub subject: &'static str,
    /// The largest number that is analysed.
    pub max: usize,
    /// The consequence of exceeding it.
    pub outcome: LimitOutcome,
}

/// The consequence of exceeding a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitOutcome {
    /// The rule `guard.limit` matches: Snell asks the user, unless the policy differs.
    AskUser,
    /// It is unknown, like anything that only the run shows.
    TreatAsUnknown,
}

impl LimitOutcome {
    /// The line above its limits on the page.
    pub fn description(self) -> &'static str {
        match self {
            Self::AskUser => "Beyond these limits `on_failure` decides (rule `guard.limit`)",
            Self::TreatAsUnknown => "Beyond these limits the value is unknown",
        }
    }
}

const fn new_limit(of: &'static str, most: usize, beyond: LimitOutcome) -> AnalysisLimit {
    AnalysisLimit { subject: of, max: most, outcome: beyond }
}

/// All limits, from the outside in.
pub const LIMITS: &[AnalysisLimit] = &[
    new_limit("bytes of a command", tools::MAX_COMMAND, AskUser),
    new_limit("bytes of a command that are parsed", syntax::TEXT_BYTES, AskUser),
    new_limit("commands, words and parts of words", syntax::NODES, AskUser),
    new_limit("nested constructs", syntax::DEPTH, AskUser),
    new_limit("nested backquotes and here-documents", syntax::REREADS, AskUser),
    new_limit("special characters in one word", syntax::SIGNS_IN_WORD, AskUser),
    new_limit("nested brace lists", syntax::BRACE_DEPTH, AskUser),
    new_limit("evaluation steps", shell::STEPS, AskUser),
    new_limit("nested functions, `eval` strings and wrappers", shell::DEPTH, AskUser),
    new_limit("strings for `eval` and other shells", shell::TEXTS, AskUser),
    new_limit("bytes of these strings in total", shell::TEXT_BYTES, AskUser),
    new_limit("programs that would run", shell::INVOCATIONS, AskUser),
    new_limit("interpretations of one command", shell::READINGS, AskUser),
    new_limit("words of one brace list or range", shell::BRACE_WORDS, AskUser),
    new_limit("bytes of a variable's value", shell::VALUE_BYTES, AskUser),
    new_limit("bytes of the current directory's path", shell::DIRECTORY_BYTES, AskUser),
    new_limit("iterations of a loop over paths", shell::ROUNDS, AskUser),
    new_limit("iterations of a loop over plain names", shell::ROUNDS, TreatAsUnknown),
    new_limit(
        "nested calls of a function by itself; unknown arguments in the second half",
        shell::RECURSION,
        TreatAsUnknown,
    ),
    new_limit("calls of functions by themselves with known arguments", shell::RECURSIVE_CALLS, TreatAsUnknown),
    new_limit("possible values of a variable", shell::VALUES, TreatAsUnknown),
    new_limit("elements of an array", shell::ELEMENTS, TreatAsUnknown),
    new_limit("steps of one arithmetic expression", shell::ARITHMETIC_STEPS, TreatAsUnknown),
    new_limit("items of `xargs`, `parallel` and `find -exec`", wrappers::MAX_FANOUT_ITEMS, AskUser),
    new_limit("effects of one call", effects::MAX_EFFECTS, AskUser),
    new_limit("arguments checked against `secrets`", effects::protected_args::MAX_CHECKED_ARGS, AskUser),
    new_limit("paths or addresses of one call, or files of one patch", tools::MAX_PATHS, AskUser),
    new_limit("bytes of a path given to a tool", paths::MAX_PATH, AskUser),
    new_limit("bytes of SQL in one string", effects::database::sql::MAX_SQL_BYTES, AskUser),
    new_limit("bytes of code in another language", interpreters::MAX_BYTES, AskUser),
    new_limit("nested expressions in such code", interpreters::MAX_DEPTH, AskUser),
    new_limit("shell commands run by such code", interpreters::MAX_SHELL_TEXTS, AskUser),
    new_limit("arguments of a program run by such code", interpreters::MAX_WORDS, AskUser),
    new_limit("levels of code in shell in code", interpreters::MAX_NESTED, AskUser),
];
