//! Whether a command line runs a command with certain words.

use std::fmt::Debug;
use std::path::Path;

use super::SubcommandList;
use super::glob::{Glob, GlobDialect};

/// Any number of words.
const MANY: &str = "**";

/// Compares command lines with the `command` of a hook.
///
/// A host that can unwrap commands (`sudo`, `sh -c`, `xargs`) passes its own to
/// [`EngineBuilder::command_matcher`](crate::EngineBuilder::command_matcher). Without one, the library compares the
/// words of each simple command of the line, in order.
pub trait CommandMatcher: Debug + Send + Sync {
    /// Whether a shell that runs this line in this directory would run a command that matches.
    fn runs_command(&self, pattern: &str, line: &str, cwd: &Path) -> bool;
}

/// The library's own matcher: the words of each simple command, in order.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PlainCommandMatcher;

impl CommandMatcher for PlainCommandMatcher {
    fn runs_command(&self, pattern: &str, line: &str, _cwd: &Path) -> bool {
        let Some(wanted) = split_plain_words(pattern) else {
            return false;
        };
        let found = SubcommandList::parse(line).map(|list| list.commands).unwrap_or_default();
        found.iter().any(|command| {
            let words: Vec<&str> = command.plain.split(' ').collect();
            matches_words(&words, &wanted)
        })
    }
}

/// Why a pattern can match nothing, as the end of a sentence; `None` if it is valid.
pub(crate) fn find_command_pattern_fault(pattern: &str) -> Option<&'static str> {
    let list = SubcommandList::parse(pattern).filter(|list| list.commands.len() == 1 && !list.expands);
    let Some(command) = list.as_ref().and_then(|list| list.commands.first()) else {
        return Some("is not one simple command");
    };
    let is_word = |word: &str| !word.starts_with('-') && word.contains(|c| c != '*');
    (!command.plain.split(' ').any(is_word)).then_some("names no program")
}

fn split_plain_words(pattern: &str) -> Option<Vec<String>> {
    let list = SubcommandList::parse(pattern)?;
    Some(list.commands.first()?.plain.split(' ').map(str::to_owned).collect())
}

/// Whether the words match, in order, with one point to return to.
fn matches_words(words: &[&str], wanted: &[String]) -> bool {
    let (mut at, mut next) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while let Some(word) = words.get(at) {
        match wanted.get(next) {
            Some(pattern) if pattern == MANY => {
                back = Some((next + 1, at));
                next += 1;
            }
            Some(pattern) if Glob::new(pattern, GlobDialect::PLAIN).matches(word) => {
                at += 1;
                next += 1;
            }
            _ => match back {
                Some((after, from)) => {
                    (next, at) = (after, from + 1);
                    back = Some((after, from + 1));
                }
                None => return false,
            },
        }
    }
    wanted.iter().skip(next).all(|pattern| pattern == MANY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_every_simple_command_are_compared() {
        for (pattern, line, expected) in [
            ("git push **", "git push origin", true),
            ("git push **", "git push", true),
            ("git push **", "cd x && git push", true),
            ("git push **", "git pull", false),
            ("git * main", "git push main", true),
            ("git ** main", "git push origin main", true),
            ("git push", "git push origin", false),
            ("npm run build:*", "npm run build:all", true),
        ] {
            assert_eq!(PlainCommandMatcher.runs_command(pattern, line, Path::new("/")), expected, "{pattern}: {line}");
        }
        for (pattern, valid) in
            [("git push **", true), ("a; b", false), ("echo $x", false), ("", false), ("--f **", false)]
        {
            assert_eq!(find_command_pattern_fault(pattern).is_none(), valid, "{pattern}");
        }
    }
}
