//! The syntax of the languages of inline code, and the effects of their functions: `data/languages/*.toml`, compiled by
//! the build script. A call is judged as the equivalent shell command, so one set of tables judges both.

use super::lexer::ScriptToken;
use crate::interpret::CodeLanguage;

include!(concat!(env!("OUT_DIR"), "/languages.rs"));

/// The syntax of a language, and the effects of its calls.
#[derive(Debug)]
pub(super) struct LanguageSpec {
    /// Its name for people.
    pub(super) name: &'static str,
    pub(super) line_comments: &'static [&'static str],
    pub(super) block_comments: &'static [(&'static str, &'static str)],
    pub(super) quotes: &'static [QuoteSpec],
    /// Letters that may precede a quote.
    pub(super) prefixes: &'static str,
    /// The start of interpolated code in named quotes: `qq(…)`, `%Q(…)`.
    pub(super) interpolation: &'static str,
    /// Whether it has `q(…)`, `%w[…]` and similar quotes.
    pub(super) named_quotes: bool,
    /// The start of here-documents; empty if there are none.
    pub(super) heredoc_sign: &'static str,
    /// Whether names may end in `!` or `?`.
    pub(super) marked_names: bool,
    /// Whether it has patterns between slashes.
    pub(super) has_regex_literals: bool,
    /// Signs that belong to the following name.
    pub(super) sigils: &'static str,
    /// Whether `$` is a letter.
    pub(super) dollar_names: bool,
    /// Operators that access a member, and operators that concatenate strings.
    pub(super) operators: &'static [(&'static str, ScriptToken)],
    /// Whether a function may be called without parentheses.
    pub(super) bare_calls: bool,
    /// Whether its functions expand `~` to the home directory.
    pub(super) expands_tilde: bool,
    /// Effects of calls, sorted by the length of their names and then by name.
    actions: &'static [(&'static str, CallAction)],
    /// Values of calls and variables, in the same order.
    return_kinds: &'static [(&'static str, ReturnKind)],
}

impl LanguageSpec {
    /// The effect of the function with this name.
    pub(super) fn find_action(&self, name: &str) -> Option<CallAction> {
        find_by_name(self.actions, name)
    }

    /// The value of the function or variable with this name.
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
    /// The start of interpolated code.
    pub(super) interpolation: &'static str,
    /// Whether the string runs as a command.
    pub(super) command: bool,
}

/// The effect of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallAction {
    /// The same as this command. `$1` is the first argument (of a method: its receiver), `$2+` are the second and all
    /// later ones, `>` opens a file.
    Like(&'static str),
    /// A shell runs the first argument.
    Shell,
    /// A program runs: the arguments are its words, or one is a list of them; a single string goes to a shell.
    Spawn,
    /// A program runs, and the second word is its `argv[0]`.
    Replace,
    /// A file is opened, in the mode of the second argument.
    Open,
    /// The first argument is code of the same language.
    Eval,
    /// Processes are ended: the index of the first one's argument, and of the signal's.
    Kill(usize, usize),
    /// The arguments are sent to another machine.
    Send,
    /// The arguments are printed.
    Show,
    /// The first argument is called with the second.
    Apply,
    /// The working directory changes to the first argument.
    Enter,
}

impl CallAction {
    /// Whether its arguments become the words of a program.
    pub(super) fn runs_words(self) -> bool {
        matches!(self, Self::Like(_) | Self::Spawn | Self::Replace | Self::Kill(..))
    }
}

/// The value of a call or a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReturnKind {
    /// Its first argument.
    FirstArgument,
    /// The arguments as one path.
    Path,
    /// The arguments as one string.
    Joined,
    /// The first argument, with `~` expanded.
    Expanded,
    /// The home directory.
    Home,
    /// The working directory.
    CurrentDir,
    /// The names that match a pattern.
    Glob,
    /// Everything in a directory.
    DirectoryEntries,
    /// A path in a temporary directory.
    Temp,
    /// The response of another machine.
    Download,
    /// The file that the first argument names, or its content.
    File,
    /// Process ids that were searched for.
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
    /// Decoded by a format: `pack("H*", …)`.
    Packed,
    /// Characters by their codes.
    Characters,
    /// The module with this name.
    Module,
    /// A member of the first argument that the second names.
    Attribute,
}

/// The language of inline code; `None` if the parser does not support it.
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
