//! Parses a program's arguments into flags, in all their spellings, and operands.

use std::borrow::Cow;

use crate::invocation::{SymbolicText, UnknownKind};
use crate::paths::matches_glob;
use crate::programs::{FlagStyle, ProgramSpec};

type RemainingArgs<'a> = std::slice::Iter<'a, SymbolicText>;

/// Parsed arguments.
#[derive(Debug, Default)]
pub(crate) struct ParsedArgs<'a> {
    flags: Vec<ParsedFlag<'a>>,
    pub(crate) operands: Vec<&'a SymbolicText>,
}

/// One flag. A cluster has several.
#[derive(Debug)]
struct ParsedFlag<'a> {
    /// Without its dashes.
    name: &'a str,
    long: bool,
    value: Option<FlagValue<'a>>,
    /// An abbreviated flag may mean several flags, and each is recorded; such a flag never excuses a command.
    shortened: bool,
}

/// A flag's value: an argument, or the rest of one.
#[derive(Clone, Copy, Debug)]
struct FlagValue<'a> {
    argument: &'a SymbolicText,
    from: usize,
}

impl<'a> FlagValue<'a> {
    fn to_value(self) -> Cow<'a, SymbolicText> {
        if self.from == 0 {
            Cow::Borrowed(self.argument)
        } else {
            Cow::Owned(self.argument.skip_leading_bytes(self.from))
        }
    }
}

impl<'a> ParsedArgs<'a> {
    /// Parses the arguments of a program.
    pub(crate) fn parse(program: &ProgramSpec, arguments: &'a [SymbolicText]) -> Self {
        let mut line = Self::default();
        let mut rest = arguments.iter();
        if program.style == FlagStyle::Old {
            line.parse_old_cluster(program, &mut rest);
        }
        while let Some(argument) = rest.next() {
            if argument.as_text() == Some("--") {
                line.end_flags(rest.as_slice());
                break;
            }
            if line.parse_flag(program, argument, &mut rest) {
                continue;
            }
            line.operands.push(argument);
            if program.flags_first {
                line.operands.extend(rest);
                break;
            }
        }
        line
    }

    /// The index of the first argument that is neither a flag nor a flag's value.
    pub(crate) fn find_first_operand(program: &ProgramSpec, arguments: &[SymbolicText]) -> Option<usize> {
        let mut line = ParsedArgs::default();
        let mut rest = arguments.iter();
        loop {
            let at = arguments.len() - rest.len();
            let argument = rest.next()?;
            if !line.parse_flag(program, argument, &mut rest) {
                return Some(at);
            }
        }
    }

    /// `--` ends the flags. If something follows, it is also recorded as a flag, because it can change the meaning:
    /// `git checkout main` is a branch, `git checkout -- main` a file.
    fn end_flags(&mut self, rest: &'a [SymbolicText]) {
        if !rest.is_empty() {
            self.flags.push(ParsedFlag { name: "", long: true, value: None, shortened: false });
        }
        self.operands.extend(rest);
    }

    /// Parses an argument as a flag, with the next one if that is its value. Returns whether it is one.
    fn parse_flag(&mut self, program: &ProgramSpec, argument: &'a SymbolicText, rest: &mut RemainingArgs<'a>) -> bool {
        match argument.leading_text().as_bytes() {
            [b'-', b'-', _, ..] => self.parse_long_flag(program, argument, rest),
            [b'-', _, ..] if program.style == FlagStyle::Words => self.parse_word_flag(program, argument, rest),
            [b'-', second, ..] if *second != b'-' => self.parse_cluster(program, argument, rest),
            _ => return false,
        }
        true
    }

    fn parse_long_flag(&mut self, program: &ProgramSpec, argument: &'a SymbolicText, rest: &mut RemainingArgs<'a>) {
        let (written, glued) = split_flag(argument, "--");
        let known = |name: &str| program.value_flags.iter().any(|flag| flag.strip_prefix("--") == Some(name));
        let names = expand_long_flag(program, written);
        let takes_next = glued.is_none() && names.iter().any(|name| known(name));
        let value = if takes_next { take_next_value(rest) } else { glued };
        let shortened = names.len() > 1;
        for name in names {
            self.flags.push(ParsedFlag { name, long: true, value, shortened });
        }
    }

    /// `-name value`
    fn parse_word_flag(&mut self, program: &ProgramSpec, argument: &'a SymbolicText, rest: &mut RemainingArgs<'a>) {
        let (written, glued) = split_flag(argument, "-");
        let takes = program.value_flags.iter().any(|flag| flag.strip_prefix('-') == Some(written));
        let value = if takes && glued.is_none() { take_next_value(rest) } else { glued };
        self.flags.push(ParsedFlag { name: written, long: false, value, shortened: false });
    }

    /// `-rf`, `-ofile`, `-i.bak`
    fn parse_cluster(&mut self, program: &ProgramSpec, argument: &'a SymbolicText, rest: &mut RemainingArgs<'a>) {
        let text = argument.leading_text();
        for (at, letter) in text.char_indices().skip(1) {
            let end = at + letter.len_utf8();
            let name = text.get(at..end).unwrap_or_default();
            let glued = end < text.len() || argument.parts.len() > 1;
            let takes = has_short_flag(program.value_flags, name);
            let value = match (glued, takes) {
                (true, _) if takes || has_short_flag(program.attached_flags, name) => {
                    Some(FlagValue { argument, from: end })
                }
                (false, true) => take_next_value(rest),
                (false, false) if has_short_flag(program.attached_flags, name) => take_separate_suffix(rest),
                _ => None,
            };
            let ends = value.is_some();
            self.flags.push(ParsedFlag { name, long: false, value, shortened: false });
            if ends {
                break;
            }
        }
    }

    /// `tar xvfC archive directory`: letters first, then their values in the same order.
    fn parse_old_cluster(&mut self, program: &ProgramSpec, rest: &mut RemainingArgs<'a>) {
        let Some(text) = rest.as_slice().first().and_then(SymbolicText::as_text) else {
            return;
        };
        if text.starts_with('-') || text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return;
        }
        rest.next();
        for at in 0..text.len() {
            let name = text.get(at..=at).unwrap_or_default();
            let takes = has_short_flag(program.value_flags, name);
            let value = if takes { take_next_value(rest) } else { None };
            self.flags.push(ParsedFlag { name, long: false, value, shortened: false });
        }
    }

    /// Whether a flag is present: `-f`, `--force`, with a value that matches a pattern, `--mode=7*`, or without one,
    /// `--mode=`.
    pub(crate) fn has_flag(&self, wanted: &str) -> bool {
        self.flags.iter().any(|found| found.matches_flag_spec(wanted))
    }

    /// Whether one of these flags is present.
    pub(crate) fn has_any_flag(&self, wanted: &[&str]) -> bool {
        wanted.iter().any(|wanted| self.has_flag(wanted))
    }

    /// Whether a flag for previews is certainly present, and none turns the preview off: `--dry-run=none`.
    pub(crate) fn only_previews(&self, idle_flags: &[&str]) -> bool {
        let turns_off = |value: &FlagValue<'_>| {
            matches!(value.to_value().as_text(), Some("none" | "false" | "f" | "F" | "False" | "FALSE" | "0" | "no"))
        };
        let names = ["dry-run", "dryrun", "dry_run", "no-dry-run"];
        // The last one counts.
        let last = self.flags.iter().rev().find(|flag| names.contains(&flag.name));
        let is_off = last.is_some_and(|flag| flag.name == "no-dry-run" || flag.value.as_ref().is_some_and(turns_off));
        self.surely_has_any_flag(idle_flags) && !is_off
    }

    /// Whether one of these flags is certainly present.
    pub(crate) fn surely_has_any_flag(&self, wanted: &[&str]) -> bool {
        let mut sure = self.flags.iter().filter(|found| !found.shortened);
        sure.any(|found| wanted.iter().any(|wanted| found.matches_flag_spec(wanted)))
    }

    /// The values of a flag in all its spellings.
    pub(crate) fn flag_values(&self, spellings: &[&str]) -> impl Iterator<Item = Cow<'a, SymbolicText>> {
        self.flags
            .iter()
            .filter(move |found| spellings.iter().any(|wanted| found.matches_flag_name(wanted)))
            .filter_map(|found| found.value.map(FlagValue::to_value))
    }

    /// Whether an operand or a flag's value is unknown in this way.
    pub(crate) fn contains_unknown(&self, unknown: UnknownKind) -> bool {
        let mut given = self.flags.iter().filter_map(|flag| flag.value);
        self.operands.iter().any(|operand| operand.contains_unknown(unknown))
            || given.any(|given| given.argument.contains_unknown(unknown))
    }

    /// The operands, and the values of flags.
    pub(crate) fn operands_and_values(&self) -> impl Iterator<Item = Cow<'a, SymbolicText>> {
        let of_flags = self.flags.iter().filter_map(|flag| Some(flag.value?.to_value()));
        self.operands.iter().map(|operand| Cow::Borrowed(*operand)).chain(of_flags)
    }

    /// The single letters that were given.
    pub(crate) fn short_flag_names(&self) -> impl Iterator<Item = &'a str> {
        self.flags.iter().filter(|flag| !flag.long).map(|flag| flag.name)
    }
}

impl ParsedFlag<'_> {
    /// Whether it is this flag, with this value if the spec has one.
    fn matches_flag_spec(&self, wanted: &str) -> bool {
        let Some((flag, pattern)) = wanted.split_once('=') else {
            return self.matches_flag_name(wanted);
        };
        self.matches_flag_name(flag)
            && match self.value {
                Some(given) => {
                    given.to_value().flatten_patterns().as_text().is_some_and(|text| matches_glob(text, pattern))
                }
                None => pattern.is_empty(),
            }
    }

    fn matches_flag_name(&self, wanted: &str) -> bool {
        match wanted.strip_prefix("--") {
            Some(name) => self.long && self.name == name && !self.is_disabled(),
            None => !self.long && wanted.get(1..) == Some(self.name),
        }
    }

    /// `--force=false`
    fn is_disabled(&self) -> bool {
        self.value.is_some_and(|given| given.from > 0 && given.to_value().as_text() == Some("false"))
    }
}

fn has_short_flag(flags: &[&str], letter: &str) -> bool {
    flags.iter().any(|flag| !flag.starts_with("--") && flag.get(1..) == Some(letter))
}

/// The name of a flag after its dashes, and the value after its `=`.
fn split_flag<'a>(argument: &'a SymbolicText, dashes: &str) -> (&'a str, Option<FlagValue<'a>>) {
    let text = argument.leading_text();
    match text.find('=') {
        Some(at) => (text.get(dashes.len()..at).unwrap_or_default(), Some(FlagValue { argument, from: at + 1 })),
        None => (text.get(dashes.len()..).unwrap_or_default(), None),
    }
}

/// The next argument, if it is the suffix of backups that BSD's `sed -i` takes: `sed -i '' …`, `sed -i .bak …`.
fn take_separate_suffix<'a>(rest: &mut RemainingArgs<'a>) -> Option<FlagValue<'a>> {
    let next = rest.as_slice().first().and_then(SymbolicText::as_text);
    next.filter(|text| is_backup_suffix(text)).and_then(|_| take_next_value(rest))
}

/// Whether a word can only be the suffix of backups, not a script or a file to edit.
pub(crate) fn is_backup_suffix(word: &str) -> bool {
    matches!(word, "" | "~" | ".bak" | ".backup" | ".old" | ".orig" | ".tmp")
}

fn take_next_value<'a>(rest: &mut RemainingArgs<'a>) -> Option<FlagValue<'a>> {
    rest.next().map(|argument| FlagValue { argument, from: 0 })
}

/// The flags that a long flag may abbreviate. Programs reject an ambiguous one; our lists may be incomplete, so it
/// stands for each of them.
fn expand_long_flag<'a>(program: &ProgramSpec, written: &'a str) -> Vec<&'a str> {
    if program.long_flags.is_empty() || program.long_flags.contains(&written) || written.is_empty() {
        return vec![written];
    }
    let mut names: Vec<&str> = program.long_flags.iter().copied().filter(|flag| flag.starts_with(written)).collect();
    if names.is_empty() {
        names.push(written);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs;

    /// The parsed flags as `-f`, `--force`, `-o=value`, then the operands.
    fn parse_to_string(written: &str) -> String {
        let words: Vec<SymbolicText> = written.split(' ').map(SymbolicText::from_text).collect();
        let called = programs::resolve_program_call(&words).unwrap();
        let line = ParsedArgs::parse(called.program, called.arguments);
        let flags = line.flags.iter().map(|flag| {
            let dashes = if flag.long { "--" } else { "-" };
            let value = flag.value.map(|given| format!("={}", given.to_value())).unwrap_or_default();
            format!("{dashes}{}{value}", flag.name)
        });
        flags.chain(line.operands.iter().map(ToString::to_string)).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn flags_are_found_in_all_their_spellings() {
        for (written, expected) in [
            ("rm -rf a b", "-r -f a b"),
            ("rm a -r b -f", "-r -f a b"),
            ("rm -- -rf", "-- -rf"),
            ("rm -rf --", "-r -f"),
            ("rm --recursive --force a", "--recursive --force a"),
            ("rm --rec --fo a", "--recursive --force a"),
            ("rm --no-preserve-root -r /", "--no-preserve-root -r /"),
            ("rm - a", "- a"),
            ("curl -ofile -sSL u", "-o=file -s -S -L u"),
            ("curl -o file u", "-o=file u"),
            ("curl --output=file u", "--output=file u"),
            ("curl --output file u", "--output=file u"),
            ("curl -sSo file u", "-s -S -o=file u"),
            ("sed -i.bak s/a/b/ f", "-i=.bak s/a/b/ f"),
            ("sed -i s/a/b/ f", "-i s/a/b/ f"),
            ("sed -i .bak s/a/b/ f", "-i=.bak s/a/b/ f"),
            ("sed -i  s/a/b/ f", "-i= s/a/b/ f"),
            ("sed --in-place=.bak s f", "--in-place=.bak s f"),
            ("tar xvfC a.tar /etc", "-x -v -f=a.tar -C=/etc"),
            ("tar -xvf a.tar -C /etc b", "-x -v -f=a.tar -C=/etc b"),
            ("find . -name x -delete", "-name=x -delete ."),
            ("docker run -v a:/b i sh -v", "-v=a:/b i sh -v"),
        ] {
            assert_eq!(parse_to_string(written), expected, "{written}");
        }
    }

    #[test]
    fn a_command_is_found_behind_the_flags_of_its_program() {
        for (written, expected) in [
            ("git stash drop", "git stash"),
            ("git -C stash -c a=b --no-pager reset --hard", "git reset"),
            ("git --git-dir x clean", "git clean"),
            ("git", "git"),
            ("git -- stash", "git"),
            ("git -C stash", "git"),
            ("docker --context x compose -f y down -v", "docker compose down"),
            ("docker compose -f down up", "docker compose"),
            ("/usr/bin/git push", "git push"),
        ] {
            let words: Vec<SymbolicText> = written.split(' ').map(SymbolicText::from_text).collect();
            assert_eq!(programs::resolve_program_call(&words).map(|called| called.name), Some(expected), "{written}");
        }
    }

    #[test]
    fn a_flag_that_is_switched_off_is_not_there() {
        let words: Vec<SymbolicText> = ["--force=false", "--dry-run=none", "--all"].map(SymbolicText::from_text).into();
        let (_, program) = programs::find_program("kubectl").unwrap();
        let line = ParsedArgs::parse(program, &words);
        for (wanted, expected) in [
            ("--force", false),
            ("--dry-run", true),
            ("--dry-run=", false),
            ("--dry-run=client", false),
            ("--all", true),
            ("--all=", true),
        ] {
            assert_eq!(line.has_flag(wanted), expected, "{wanted}");
        }
    }

    #[test]
    fn a_program_is_found_by_its_name_however_it_is_called() {
        for name in ["rm", "/bin/rm", "/usr/bin/../bin/rm", "./rm"] {
            assert_eq!(programs::find_program(name).map(|(name, _)| name), Some("rm"), "{name}");
        }
        assert_eq!(programs::find_program("python3.12").map(|(name, _)| name), Some("python"));
        assert!(programs::find_program("rmx").is_none());
        assert!(programs::find_program("").is_none());
    }
}
