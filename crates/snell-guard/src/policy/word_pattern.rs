//! Patterns for the words of a command that match whatever order its flags have: for entries that deny or ask, and for
//! the matchers of hooks.
//!
//! 1. A word matches the same word, `*` in it any characters, and `**` any number of words.
//! 2. A flag of the pattern may be anywhere in the command: `-f` also in a group (`-uf`), `--force` also with a value.
//! 3. If the pattern has `**`, other flags of the command are skipped.
//! 4. A program without a directory matches it in every directory, and flags before a subcommand are skipped.

use std::borrow::Cow;

use super::allow_list::split_words;
use crate::invocation::{SymbolicText, base_name};
use crate::judge::context::JudgeContext;
use crate::paths::{STAR_CHAR, matches_wildcards, star_pattern_matches};
use crate::programs::{self, argv::ParsedArgs};
use snell_shell::is_variable_name;

/// A parsed pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordPattern {
    /// Variables that are set for the command.
    variables: Vec<String>,
    /// Flags that the command has, in any order.
    flags: Vec<String>,
    /// The other words, in order. `None` stands for any number of words.
    words: Vec<Option<String>>,
}

impl WordPattern {
    /// Parses a pattern. The error is the end of a sentence about it.
    pub fn parse(pattern: &str) -> Result<Self, &'static str> {
        Self::parse_in_home(pattern, "~")
    }

    /// The same, with a home directory for `~`.
    pub(crate) fn parse_in_home(pattern: &str, home: &str) -> Result<Self, &'static str> {
        let mut written = split_words(pattern, home)?;
        let is_assignment = |word: &String| word.split_once('=').is_some_and(|(name, _)| is_variable_name(name));
        let named = written.iter().take_while(|word| is_assignment(word)).count();
        let variables = written.drain(..named).collect();
        let (flags, words): (Vec<String>, Vec<String>) = written.into_iter().partition(|word| is_flag(word));
        let is_many = |word: &String| word.chars().eq([STAR_CHAR, STAR_CHAR]);
        if words.iter().all(|word| word.chars().all(|c| c == STAR_CHAR)) {
            return Err("names no program");
        }
        let words = words.into_iter().map(|word| if is_many(&word) { None } else { Some(word) }).collect();
        Ok(Self { variables, flags, words })
    }

    /// Whether the pattern matches one of the commands that would run if a shell ran this text.
    pub fn matches_script(&self, text: &str, context: &JudgeContext) -> bool {
        crate::interpret::script_runs_command(text, context, self)
    }

    /// Whether the pattern matches a command. Only `*` and `**` match unknown parts of it.
    pub(crate) fn matches_command(&self, argv: &[SymbolicText], variables: &[(String, SymbolicText)]) -> bool {
        let is_set = |wanted: &String| {
            wanted.split_once('=').is_some_and(|(name, pattern)| {
                let fits = |value: &SymbolicText| star_pattern_matches(pattern, &render_word(value));
                variables.iter().any(|(known, value)| known == name && fits(value))
            })
        };
        let rendered: Vec<Cow<'_, str>> = argv.iter().map(render_word).collect();
        self.variables.iter().all(is_set)
            && (self.matches_words(&rendered) || self.matches_words(&skip_leading_flags(argv, &rendered)))
    }

    fn matches_words(&self, argv: &[Cow<'_, str>]) -> bool {
        let Some((program, arguments)) = argv.split_first() else {
            return false;
        };
        if !self.flags.iter().all(|flag| arguments.iter().any(|word| matches_flag(flag, word))) {
            return false;
        }
        let skips_flags = self.words.iter().any(Option::is_none);
        let is_named = |word: &Cow<'_, str>| self.flags.iter().any(|flag| matches_flag(flag, word));
        let is_skipped = |word: &&Cow<'_, str>| is_named(word) || (skips_flags && is_flag(word));
        let rest = arguments.iter().filter(|word| !is_skipped(word));
        let names_directory = matches!(self.words.first(), Some(Some(first)) if first.contains('/'));
        let program = if names_directory { program } else { base_name(program) };
        let rest: Vec<&str> = std::iter::once(program).chain(rest.map(|word| &**word)).collect();
        let word_matches =
            |wanted: &Option<String>, word: &&str| wanted.as_deref().is_some_and(|p| star_pattern_matches(p, word));
        matches_wildcards(&rest, &self.words, Option::is_none, word_matches)
    }
}

fn is_flag(word: impl AsRef<str>) -> bool {
    word.as_ref().starts_with('-')
}

/// A word with `…` for unknown parts.
fn render_word(word: &SymbolicText) -> Cow<'_, str> {
    word.as_text().map_or_else(|| Cow::Owned(word.to_string()), Cow::Borrowed)
}

/// Whether a word of a command has this flag: `-f` in `-uf`, `--force` in `--force=x`.
fn matches_flag(flag: &str, word: &str) -> bool {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    let is_in_group = || {
        let mut letters = flag.chars().skip(1);
        let (Some(letter), None) = (letters.next(), letters.next()) else {
            return false;
        };
        let group = word.strip_prefix('-').unwrap_or_default();
        group.chars().all(|c| c.is_ascii_alphanumeric()) && group.contains(letter)
    };
    star_pattern_matches(flag, word) || (!flag.contains('=') && star_pattern_matches(flag, name)) || is_in_group()
}

/// The command with its flags and their values after the subcommand: `git -C x push` as `git push -C x`.
fn skip_leading_flags<'w>(argv: &[SymbolicText], rendered: &[Cow<'w, str>]) -> Vec<Cow<'w, str>> {
    let program = argv.first().and_then(SymbolicText::as_text).and_then(programs::find_program);
    let first = program.and_then(|(_, program)| ParsedArgs::find_first_operand(program, argv.get(1..)?));
    let Some((first, (name, arguments))) = first.zip(rendered.split_first()) else {
        return Vec::new();
    };
    let (before, after) = arguments.split_at_checked(first).unwrap_or((arguments, &[]));
    let flags = before.iter().filter(|word| is_flag(word));
    std::iter::once(name).chain(after).chain(flags).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_match_in_order_and_flags_anywhere() {
        for (pattern, command, expected) in [
            ("git push --force **", "git push --force", true),
            ("git push --force **", "git push --force origin main", true),
            ("git push --force **", "git push origin main --force", true),
            ("git push --force **", "git push -u origin main --force", true),
            ("git push --force **", "git push --force-with-lease origin", false),
            ("git push --force **", "git push --force=yes origin", true),
            ("git push --force **", "git push origin main", false),
            ("git push --force **", "git -C /tmp push --force", true),
            ("git push --force **", "git -c a=b push origin --force", true),
            ("git push --force **", "/usr/bin/git push --force", true),
            ("git push --force **", "git commit --force", false),
            ("git push -f **", "git push -uf origin", true),
            ("git push -f **", "git push --foo origin", false),
            ("git push", "git push", true),
            ("git push", "git push origin", false),
            ("git push", "git push -v", false),
            ("git push *", "git push origin", true),
            ("git push **", "git push", true),
            ("git push * main", "git push origin main", true),
            ("git push * main", "git push origin dev", false),
            ("git ** main", "git push origin main", true),
            ("git ** main", "git push origin main x", false),
            ("* --force **", "git push --force x", false),
            ("* ** --force", "git push --force x", false),
            ("*sql **", "psql -c x", true),
            ("/usr/bin/git **", "git push", false),
            ("npm run deploy-*", "npm run deploy-prod", true),
            ("AWS_PROFILE=prod* terraform **", "AWS_PROFILE=prod-eu terraform apply", true),
            ("AWS_PROFILE=prod* terraform **", "terraform apply", false),
            ("terraform **", "AWS_PROFILE=prod terraform apply", true),
        ] {
            let Ok(parsed) = WordPattern::parse(pattern) else {
                assert!(!expected, "{pattern} is invalid");
                continue;
            };
            let mut words: Vec<SymbolicText> = command.split(' ').map(SymbolicText::from_text).collect();
            let is_variable = |word: &&SymbolicText| word.leading_text().starts_with("AWS_");
            let named = words.iter().take_while(is_variable).count();
            let variables: Vec<_> = words
                .drain(..named)
                .filter_map(|word| {
                    let (name, value) = word.leading_text().split_once('=')?;
                    Some((name.to_owned(), SymbolicText::from_text(value)))
                })
                .collect();
            assert_eq!(parsed.matches_command(&words, &variables), expected, "{pattern}: {command}");
        }
    }

    #[test]
    fn a_pattern_without_a_word_is_invalid() {
        for pattern in ["", "**", "*", "* **", "--force", "a; b", "a | b", "echo 'x"] {
            assert!(WordPattern::parse(pattern).is_err(), "{pattern}");
        }
    }
}
