//! How far everything is followed, in one table. The constants stand where they are used; here is what they are for people,
//! and `docs/guard.md` shows it.

use LimitOutcome::{AskUser, TreatAsUnknown};

use crate::interpret::limits as shell;
use crate::{effects, interpreters, paths, tools, wrappers};
use snell_shell::limits as syntax;

/// How far something is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnalysisLimit {
    /// Of what.
    pub subject: &'static str,
    /// So many.
    pub max: usize,
    /// What then.
    pub outcome: LimitOutcome,
}

/// What happens beyond a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitOutcome {
    /// The rule `guard.limit` matches: the user is asked, unless the policy says otherwise.
    AskUser,
    /// It counts as unknown, like anything that only shows when it runs.
    TreatAsUnknown,
}

impl LimitOutcome {
    /// As people are told.
    pub fn description(self) -> &'static str {
        match self {
            Self::AskUser => "the user is asked",
            Self::TreatAsUnknown => "counts as unknown",
        }
    }
}

const fn new_limit(of: &'static str, most: usize, beyond: LimitOutcome) -> AnalysisLimit {
    AnalysisLimit { subject: of, max: most, outcome: beyond }
}

/// All of them, from the outside inwards.
pub const LIMITS: &[AnalysisLimit] = &[
    new_limit("bytes of a command that is looked at", tools::MAX_COMMAND, AskUser),
    new_limit("bytes of a command that are read", syntax::TEXT_BYTES, AskUser),
    new_limit("commands, words and parts of words", syntax::NODES, AskUser),
    new_limit("constructs within each other", syntax::DEPTH, AskUser),
    new_limit("backquotes and here-documents within each other", syntax::REREADS, AskUser),
    new_limit("signs with a meaning in one word", syntax::SIGNS_IN_WORD, AskUser),
    new_limit("brace lists within each other", syntax::BRACE_DEPTH, AskUser),
    new_limit("steps of following a command", shell::STEPS, AskUser),
    new_limit("functions, texts and wrappers within each other", shell::DEPTH, AskUser),
    new_limit("texts for other shells and `eval`", shell::TEXTS, AskUser),
    new_limit("bytes of these texts together", shell::TEXT_BYTES, AskUser),
    new_limit("programs that would run", shell::INVOCATIONS, AskUser),
    new_limit("ways to read one command", shell::READINGS, AskUser),
    new_limit("words of one brace list or range", shell::BRACE_WORDS, AskUser),
    new_limit("bytes of a value", shell::VALUE_BYTES, AskUser),
    new_limit("bytes of a directory that is entered", shell::DIRECTORY_BYTES, AskUser),
    new_limit("rounds of a loop over words that lead elsewhere", shell::ROUNDS, AskUser),
    new_limit("rounds of a loop over names", shell::ROUNDS, TreatAsUnknown),
    new_limit("values that a variable may have", shell::VALUES, TreatAsUnknown),
    new_limit("elements of an array", shell::ELEMENTS, TreatAsUnknown),
    new_limit("steps of one calculation", shell::ARITHMETIC_STEPS, TreatAsUnknown),
    new_limit("things of `xargs`, `parallel` and `find -exec`", wrappers::MAX_FANOUT_ITEMS, AskUser),
    new_limit("effects of one call", effects::MAX_EFFECTS, AskUser),
    new_limit(
        "words that are handed to programs, if places must not be read",
        effects::protected_args::MAX_CHECKED_ARGS,
        AskUser,
    ),
    new_limit("paths of one call, files of one patch", tools::MAX_PATHS, AskUser),
    new_limit("bytes of a path that a tool is given", paths::MAX_PATH, AskUser),
    new_limit("bytes of SQL in one text", effects::database::sql::MAX_SQL_BYTES, AskUser),
    new_limit("bytes of code in another language", interpreters::MAX_BYTES, AskUser),
    new_limit("expressions of such code within each other", interpreters::MAX_DEPTH, AskUser),
    new_limit("shell commands that such code runs", interpreters::MAX_SHELL_TEXTS, AskUser),
    new_limit("words of a program that such code runs", interpreters::MAX_WORDS, AskUser),
    new_limit("code within shell within code", interpreters::MAX_NESTED, AskUser),
];
