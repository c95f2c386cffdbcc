//! The arguments of a wrapper before the command that it runs.

use super::table::{WrapperMode, WrapperSpec};
use crate::interpret::CodeLanguage;
use crate::invocation::SymbolicText;
use crate::programs::argv::is_backup_suffix;

/// The arguments of a wrapper.
#[derive(Debug, Default)]
pub(super) struct WrapperArgs {
    /// Flags with their dashes, and their values.
    pub(super) flags: Vec<(String, Option<SymbolicText>)>,
    /// The words that select this use.
    pub(super) words: Vec<String>,
    /// Where its operands begin.
    pub(super) operands_start: usize,
    /// Operands, if they may be among flags.
    pub(super) operands: Vec<SymbolicText>,
}

impl WrapperArgs {
    /// Parses flags and words; `None` if the arguments are another use of the program.
    pub(super) fn parse(wrapper: &'static WrapperSpec, argv: &[SymbolicText]) -> Option<Self> {
        let mut given = Self { operands_start: 1, ..Self::default() };
        given.parse_flags(wrapper, argv);
        for wanted in wrapper.words {
            let word = argv.get(given.operands_start)?.as_text()?;
            if *wanted == ["*"] {
                break;
            }
            if !wanted.contains(&word) {
                return None;
            }
            given.words.push(word.to_owned());
            given.operands_start += 1;
            given.parse_flags(wrapper, argv);
        }
        // `ssh host -t command`: flags may also follow the host.
        if wrapper.runs == WrapperMode::Code
            && wrapper.elsewhere
            && wrapper.operands == 1
            && given.operands_start < argv.len()
        {
            given.operands_start += 1;
            given.parse_flags(wrapper, argv);
            given.operands_start -= 1;
        }
        // If no command follows, flags may come after operands.
        if matches!(wrapper.runs, WrapperMode::Nothing) && wrapper.language.is_none() {
            let mut at = given.operands_start;
            while at < argv.len() {
                given.operands.extend(argv.get(at).cloned());
                given.operands_start = at + 1;
                given.parse_flags(wrapper, argv);
                at = given.operands_start;
            }
        }
        Some(given)
    }

    fn parse_flags(&mut self, wrapper: &'static WrapperSpec, argv: &[SymbolicText]) {
        while let Some(argument) = argv.get(self.operands_start) {
            let text = argument.leading_text();
            if argument.as_text() == Some("--") {
                if wrapper.runs != WrapperMode::AfterDashes {
                    self.operands_start += 1;
                }
                let is_next_dash = argv.get(self.operands_start).and_then(SymbolicText::as_text) == Some("-");
                self.operands_start += usize::from(wrapper.runs == WrapperMode::Env && is_next_dash);
                return;
            }
            // `env -` is `env -i`.
            if wrapper.runs == WrapperMode::Env && argument.as_text() == Some("-") {
                self.operands_start += 1;
                continue;
            }
            if text.len() < 2 || !text.starts_with('-') {
                return;
            }
            self.operands_start += 1;
            let is_whole_name = text.len() > 2 && wrapper.attached_flags.contains(&text);
            if is_whole_name || text.starts_with("--") || is_long_flag(wrapper, text) {
                self.parse_long_flag(wrapper, argument, argv);
            } else {
                self.parse_short_flags(wrapper, argument, argv);
            }
        }
    }

    /// `--flag`, `--flag=value`, `-flag value`
    fn parse_long_flag(&mut self, wrapper: &'static WrapperSpec, argument: &SymbolicText, argv: &[SymbolicText]) {
        let text = argument.leading_text();
        // Nim: `--eval:code`
        let is_sign = |c: char| c == '=' || (c == ':' && wrapper.language == Some(CodeLanguage::Other));
        let (name, value) = match text.find(is_sign) {
            Some(at) => (text.get(..at).unwrap_or(text), Some(argument.skip_leading_bytes(at + 1))),
            None => (text, None),
        };
        let name = complete_long_flag(wrapper, name);
        let takes_next = value.is_none() && wrapper.value_flags.contains(&name);
        let value = value.or_else(|| if takes_next { self.take_next(argv) } else { None });
        self.flags.push((name.to_owned(), value));
    }

    /// `-abc`, `-ofile`
    fn parse_short_flags(&mut self, wrapper: &WrapperSpec, argument: &SymbolicText, argv: &[SymbolicText]) {
        let text = argument.leading_text().to_owned();
        for (at, letter) in text.char_indices().skip(1) {
            let end = at + letter.len_utf8();
            let name = format!("-{letter}");
            let has = |flags: &[&str]| flags.iter().any(|flag| *flag == name);
            let glued = end < text.len() || argument.parts.len() > 1;
            if has(wrapper.value_flags) {
                let value = if glued { Some(argument.skip_leading_bytes(end)) } else { self.take_next(argv) };
                self.flags.push((name, value));
                return;
            }
            if has(wrapper.attached_flags) {
                let value =
                    if glued { Some(argument.skip_leading_bytes(end)) } else { self.take_separate_suffix(argv) };
                self.flags.push((name, value));
                return;
            }
            self.flags.push((name, None));
        }
    }

    /// The next argument, if it is a suffix of backups: `sed -i '' script`.
    fn take_separate_suffix(&mut self, argv: &[SymbolicText]) -> Option<SymbolicText> {
        let next = argv.get(self.operands_start).and_then(SymbolicText::as_text);
        if next.is_some_and(is_backup_suffix) { self.take_next(argv) } else { None }
    }

    fn take_next(&mut self, argv: &[SymbolicText]) -> Option<SymbolicText> {
        let value = argv.get(self.operands_start).cloned();
        self.operands_start += 1;
        value
    }

    /// Whether one of these flags is present.
    pub(super) fn has_flag(&self, wanted: &[&str]) -> bool {
        self.flags.iter().any(|(name, _)| wanted.contains(&name.as_str()))
    }

    /// The values of a flag in all its spellings.
    pub(super) fn flag_values<'a>(&'a self, spellings: &'a [&str]) -> impl Iterator<Item = &'a SymbolicText> {
        let found = self.flags.iter().filter(|(name, _)| spellings.contains(&name.as_str()));
        found.filter_map(|(_, value)| value.as_ref())
    }
}

/// `-toolexec command`, `-toolexec=command`: one dash and a long name.
fn is_long_flag(wrapper: &WrapperSpec, text: &str) -> bool {
    let name = text.split_once('=').map_or(text, |(name, _)| name);
    wrapper.value_flags.contains(&text) || name.len() > 2 && wrapper.value_flags.contains(&name)
}

/// The flag that an abbreviation stands for: `--comm` is `--command`. One that could stand for several is left alone.
fn complete_long_flag<'a>(wrapper: &'static WrapperSpec, name: &'a str) -> &'a str {
    const SHORTEST: usize = "--xx".len();
    let is_whole = wrapper.value_flags.contains(&name) || wrapper.attached_flags.contains(&name);
    if !wrapper.abbreviates || name.len() < SHORTEST || is_whole {
        return name;
    }
    let mut fitting = wrapper.value_flags.iter().filter(|flag| flag.starts_with(name));
    match (fitting.next(), fitting.next()) {
        (Some(flag), None) => flag,
        _ => name,
    }
}
