//! How far everything is followed, in one table. The constants stand where they are used; here is what they are for people,
//! and `docs/guard.md` shows it.

use Beyond::{Asked, Unknown};

use crate::shell::limits as shell;
use crate::syntax::limits as syntax;
use crate::{effects, inline, paths, tools, unwrap};

/// How far something is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Of what.
    pub of: &'static str,
    /// So many.
    pub most: usize,
    /// What then.
    pub beyond: Beyond,
}

/// What happens beyond a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// The rule `guard.limit` matches: the user is asked, unless the policy says otherwise.
    Asked,
    /// It counts as unknown, like anything that only shows when it runs.
    Unknown,
}

impl Beyond {
    /// As people are told.
    pub fn told(self) -> &'static str {
        match self {
            Self::Asked => "the user is asked",
            Self::Unknown => "counts as unknown",
        }
    }
}

const fn limit(of: &'static str, most: usize, beyond: Beyond) -> Limit {
    Limit { of, most, beyond }
}

/// All of them, from the outside inwards.
pub const LIMITS: &[Limit] = &[
    limit("bytes of a command that is looked at", tools::MAX_COMMAND, Asked),
    limit("bytes of a command that are read", syntax::TEXT_BYTES, Asked),
    limit("commands, words and parts of words", syntax::NODES, Asked),
    limit("constructs within each other", syntax::DEPTH, Asked),
    limit(
        "backquotes and here-documents within each other",
        syntax::REREADS,
        Asked,
    ),
    limit("signs with a meaning in one word", syntax::SIGNS_IN_WORD, Asked),
    limit("brace lists within each other", syntax::BRACE_DEPTH, Asked),
    limit("steps of following a command", shell::STEPS, Asked),
    limit("functions, texts and wrappers within each other", shell::DEPTH, Asked),
    limit("texts for other shells and `eval`", shell::TEXTS, Asked),
    limit("bytes of these texts together", shell::TEXT_BYTES, Asked),
    limit("programs that would run", shell::INVOCATIONS, Asked),
    limit("ways to read one command", shell::READINGS, Asked),
    limit("words of one brace list or range", shell::BRACE_WORDS, Asked),
    limit("bytes of a value", shell::VALUE_BYTES, Asked),
    limit("bytes of a directory that is entered", shell::DIRECTORY_BYTES, Asked),
    limit("rounds of a loop over words that lead elsewhere", shell::ROUNDS, Asked),
    limit("rounds of a loop over names", shell::ROUNDS, Unknown),
    limit("values that a variable may have", shell::VALUES, Unknown),
    limit("elements of an array", shell::ELEMENTS, Unknown),
    limit("steps of one calculation", shell::ARITHMETIC, Unknown),
    limit("things of `xargs`, `parallel` and `find -exec`", unwrap::MOST, Asked),
    limit("effects of one call", effects::MAX_EFFECTS, Asked),
    limit(
        "words that are handed to programs, if places must not be read",
        effects::handed::MAX_HANDED,
        Asked,
    ),
    limit("paths of one call, files of one patch", tools::MAX_PATHS, Asked),
    limit("bytes of a path that a tool is given", paths::MAX_PATH, Asked),
    limit("bytes of SQL in one text", effects::sql::MAX_TEXT, Asked),
    limit("bytes of code in another language", inline::MAX_BYTES, Asked),
    limit("expressions of such code within each other", inline::MAX_DEPTH, Asked),
    limit("shell commands that such code runs", inline::MAX_TEXTS, Asked),
    limit("words of a program that such code runs", inline::MAX_WORDS, Asked),
    limit("code within shell within code", inline::MAX_NESTED, Asked),
];
