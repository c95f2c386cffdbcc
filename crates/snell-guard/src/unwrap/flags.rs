//! The flags before what a program runs.

use super::table::{Runs, Wrapper};
use crate::invocation::Value;

/// What was given to a wrapper.
#[derive(Debug, Default)]
pub(super) struct Given {
    /// Flags with their dashes, and their values.
    pub(super) flags: Vec<(String, Option<Value>)>,
    /// The words by which this way of using it was chosen.
    pub(super) words: Vec<String>,
    /// Where its operands begin.
    pub(super) rest: usize,
    /// Operands, where those stand among flags.
    pub(super) operands: Vec<Value>,
}

impl Given {
    /// Reads flags and chosen words; nothing if this way of using the program is not meant.
    pub(super) fn read(wrapper: &Wrapper, argv: &[Value]) -> Option<Self> {
        let mut given = Self {
            rest: 1,
            ..Self::default()
        };
        given.flags(wrapper, argv);
        for wanted in wrapper.words {
            let word = argv.get(given.rest)?.as_text()?;
            if *wanted == ["*"] {
                break;
            }
            if !wanted.contains(&word) {
                return None;
            }
            given.words.push(word.to_owned());
            given.rest += 1;
            given.flags(wrapper, argv);
        }
        // `ssh host -t command`: flags may stand behind the host as well.
        if wrapper.runs == Runs::Code && wrapper.elsewhere && wrapper.operands == 1 && given.rest < argv.len() {
            given.rest += 1;
            given.flags(wrapper, argv);
            given.rest -= 1;
        }
        // Where nothing follows that would be run, flags may stand behind operands.
        if matches!(wrapper.runs, Runs::Nothing) && wrapper.language.is_none() {
            let mut at = given.rest;
            while at < argv.len() {
                given.operands.extend(argv.get(at).cloned());
                given.rest = at + 1;
                given.flags(wrapper, argv);
                at = given.rest;
            }
        }
        Some(given)
    }

    fn flags(&mut self, wrapper: &Wrapper, argv: &[Value]) {
        while let Some(argument) = argv.get(self.rest) {
            let text = argument.leading();
            if argument.as_text() == Some("--") {
                if wrapper.runs != Runs::AfterDashes {
                    self.rest += 1;
                }
                return;
            }
            if text.len() < 2 || !text.starts_with('-') {
                return;
            }
            self.rest += 1;
            if text.starts_with("--") || wrapper.value_flags.contains(&text) {
                self.word(wrapper, argument, argv);
            } else {
                self.cluster(wrapper, argument, argv);
            }
        }
    }

    /// `--flag`, `--flag=value`, `-flag value`
    fn word(&mut self, wrapper: &Wrapper, argument: &Value, argv: &[Value]) {
        let text = argument.leading();
        let (name, value) = match text.find('=') {
            Some(at) => (text.get(..at).unwrap_or(text), Some(argument.after(at + 1))),
            None => (text, None),
        };
        let takes_next = value.is_none() && wrapper.value_flags.contains(&name);
        let value = value.or_else(|| if takes_next { self.next(argv) } else { None });
        self.flags.push((name.to_owned(), value));
    }

    /// `-abc`, `-ofile`
    fn cluster(&mut self, wrapper: &Wrapper, argument: &Value, argv: &[Value]) {
        let text = argument.leading().to_owned();
        for (at, letter) in text.char_indices().skip(1) {
            let end = at + letter.len_utf8();
            let name = format!("-{letter}");
            let has = |flags: &[&str]| flags.iter().any(|flag| *flag == name);
            let glued = end < text.len() || argument.parts.len() > 1;
            if has(wrapper.value_flags) {
                let value = if glued {
                    Some(argument.after(end))
                } else {
                    self.next(argv)
                };
                self.flags.push((name, value));
                return;
            }
            if has(wrapper.attached_flags) {
                self.flags.push((name, glued.then(|| argument.after(end))));
                return;
            }
            self.flags.push((name, None));
        }
    }

    fn next(&mut self, argv: &[Value]) -> Option<Value> {
        let value = argv.get(self.rest).cloned();
        self.rest += 1;
        value
    }

    /// Whether one of these flags is there.
    pub(super) fn has(&self, wanted: &[&str]) -> bool {
        self.flags.iter().any(|(name, _)| wanted.contains(&name.as_str()))
    }

    /// The values of a flag in all its spellings.
    pub(super) fn values<'a>(&'a self, spellings: &'a [&str]) -> impl Iterator<Item = &'a Value> {
        let found = self.flags.iter().filter(|(name, _)| spellings.contains(&name.as_str()));
        found.filter_map(|(_, value)| value.as_ref())
    }
}
