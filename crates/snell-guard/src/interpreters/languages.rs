//! How the languages of inline code are written, and what their functions do: `data/languages/*.toml`, as the build script
//! compiled it. A call is judged as the shell command that does the same, so one set of tables judges both.

use super::lexer::ScriptToken;
use crate::interpret::CodeLanguage;

include!(concat!(env!("OUT_DIR"), "/languages.rs"));

/// How a language is written, and what its calls do.
#[derive(Debug)]
pub(super) struct LanguageSpec {
    /// What people call it.
    pub(super) name: &'static str,
    pub(super) line_comments: &'static [&'static str],
    pub(super) block_comments: &'static [(&'static str, &'static str)],
    pub(super) quotes: &'static [QuoteSpec],
    /// Letters that may stand in front of a quote.
    pub(super) prefixes: &'static str,
    /// How interpolated code begins in strings that have a name: `qq(…)`, `%Q(…)`.
    pub(super) interpolation: &'static str,
    /// Whether there are `q(…)`, `%w[…]` and their like.
    pub(super) named_quotes: bool,
    /// How here-documents begin; empty if there are none.
    pub(super) heredoc_sign: &'static str,
    /// Whether names may end in `!` or `?`.
    pub(super) marked_names: bool,
    /// Whether there are patterns between slashes.
    pub(super) has_regex_literals: bool,
    /// Signs that belong to the name behind them.
    pub(super) sigils: &'static str,
    /// Whether `$` is a letter.
    pub(super) dollar_names: bool,
    /// Operators between a thing and its member, and between strings that become one.
    pub(super) operators: &'static [(&'static str, ScriptToken)],
    /// Whether a function may be called without parentheses.
    pub(super) bare_calls: bool,
    /// Whether its functions take `~` for the home directory.
    pub(super) expands_tilde: bool,
    /// What calls do, by the length of their names and then by the names.
    actions: &'static [(&'static str, CallAction)],
    /// What calls and variables return, in the same order.
    return_kinds: &'static [(&'static str, ReturnKind)],
}

impl LanguageSpec {
    /// What the function of this name does.
    pub(super) fn find_action(&self, name: &str) -> Option<CallAction> {
        find_by_name(self.actions, name)
    }

    /// What the function or variable of this name returns.
    pub(super) fn find_return_kind(&self, name: &str) -> Option<ReturnKind> {
        find_by_name(self.return_kinds, name)
    }
}

fn find_by_name<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    let order = |known: &str| known.len().cmp(&name.len()).then_with(|| known.cmp(name));
    let at = table.binary_search_by(|(known, _)| order(known)).ok()?;
    table.get(at).map(|(_, value)| *value)
}

/// A kind of string.
#[derive(Debug)]
pub(super) struct QuoteSpec {
    pub(super) mark: &'static str,
    /// How interpolated code begins.
    pub(super) interpolation: &'static str,
    /// Whether the string runs as a command.
    pub(super) command: bool,
}

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallAction {
    /// The same as this command. `$1` is the first argument (of a method: what it is called on), `$2+` are the second and
    /// all behind it, `>` opens a file.
    Like(&'static str),
    /// A shell runs the first argument.
    Shell,
    /// A program runs: the arguments are its words, or one is a list of them; a single string goes to a shell.
    Spawn,
    /// A program runs, and the second word is the name that it is given.
    Replace,
    /// A file is opened, as the second argument says.
    Open,
    /// The first argument is code of the same language.
    Eval,
    /// Processes are ended: which argument holds the first of them, and which the signal.
    Kill(usize, usize),
    /// The arguments are sent to another machine.
    Send,
    /// The arguments are shown.
    Show,
    /// The first argument is called with the second.
    Apply,
    /// From here on the code works in the directory of the first argument.
    Enter,
}

impl CallAction {
    /// Whether its arguments become the words of a program.
    pub(super) fn runs_words(self) -> bool {
        matches!(self, Self::Like(_) | Self::Spawn | Self::Replace | Self::Kill(..))
    }
}

/// What a call, or a variable, returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReturnKind {
    /// Its first argument.
    FirstArgument,
    /// The arguments as one path.
    Path,
    /// The arguments as one string.
    Joined,
    /// The first argument, with the home directory for `~`.
    Expanded,
    /// The home directory.
    Home,
    /// The working directory.
    CurrentDir,
    /// The names that match a pattern.
    Glob,
    /// Everything in a directory.
    DirectoryEntries,
    /// Something in a temporary directory.
    Temp,
    /// The reply of another machine.
    Download,
    /// The file that the first argument names, or its content.
    File,
    /// Process ids that were looked up.
    Processes,
    /// The id of the parent process: the agent's.
    Agent,
    /// All variables of the environment.
    Environment,
    /// One variable.
    Variable,
    /// Decoded from base64.
    Base64,
    /// Decoded from hexadecimal digits.
    Hex,
    /// Decoded as a format says: `pack("H*", …)`.
    Packed,
    /// Characters by their numbers.
    Characters,
    /// The module of this name.
    Module,
    /// A member of the first argument that the second names.
    Attribute,
}

/// The language of some code; nothing if the parser does not read it.
pub(super) fn find_language(code: CodeLanguage) -> Option<&'static LanguageSpec> {
    LANGUAGES.iter().find(|(language, _)| *language == code).map(|(_, spec)| spec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_a_language_is_found() {
        assert_eq!(LANGUAGES.len(), 10, "each language has a file");
        for (code, language) in LANGUAGES {
            assert_eq!(find_language(*code).map(|found| found.name), Some(language.name));
            for (name, action) in language.actions {
                assert_eq!(language.find_action(name), Some(*action), "{}: {name}", language.name);
            }
            for (name, kind) in language.return_kinds {
                assert_eq!(language.find_return_kind(name), Some(*kind), "{}: {name}", language.name);
            }
        }
    }
}
