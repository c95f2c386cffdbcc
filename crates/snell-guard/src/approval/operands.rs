//! Compares the flags and operands of one program with an entry of the table. Anything that the entry does not list may do harm.

use super::roles::{OperandChecker, is_local_text};
use super::table::{ApprovalSpec, FlagShape, OperandRole};
use super::{ApprovalClass, ApprovalDraft};
use crate::invocation::{SymbolicPart, SymbolicText, UnknownKind};

/// The words of a call, sorted.
#[derive(Default)]
pub(super) struct SortedWords<'a> {
    pub(super) flags: Vec<&'a str>,
    operands: Vec<&'a SymbolicText>,
    /// Values of flags, with their kinds.
    pub(super) values: Vec<(SymbolicText, OperandRole)>,
}

/// Whether an entry fits. Notes the paths that the program uses.
pub(super) fn check_spec(
    spec: &'static ApprovalSpec,
    arguments: &[SymbolicText],
    cwd: Option<&str>,
    draft: &mut ApprovalDraft<'_>,
) -> Option<()> {
    let words = WordSorter { spec, rest: arguments, words: SortedWords::default() }.sort()?;
    if !spec.needs.is_empty() && !words.flags.iter().any(|flag| spec.needs.contains(flag)) {
        return None;
    }
    let mut operands = words.operands.as_slice();
    for choices in spec.words {
        let (first, rest) = operands.split_first()?;
        let text = first.as_text()?;
        choices.iter().any(|pattern| crate::paths::matches_glob(text, pattern)).then_some(())?;
        operands = rest;
    }
    let has_pattern_flag = words.flags.iter().any(|flag| spec.pattern_flags.contains(flag));
    let roles = spec.operands.get(usize::from(has_pattern_flag)..).unwrap_or_default();
    if operands.len() + usize::from(has_pattern_flag) < spec.min_operands {
        return None;
    }
    let checker = OperandChecker { spec, cwd, words: &words, first_text: operands.first().copied() };
    for (at, operand) in operands.iter().enumerate() {
        let role = roles.get(at).or_else(|| roles.last().filter(|_| spec.repeats))?;
        checker.check(operand, *role, draft)?;
    }
    for (value, role) in &words.values {
        checker.check(value, *role, draft)?;
    }
    // A recursive search without a path starts here.
    if roles.contains(&OperandRole::Search) && operands.len() < roles.len() && checker.is_recursive() {
        checker.check(&SymbolicText::from_text("."), OperandRole::Search, draft)?;
    }
    if roles.contains(&OperandRole::Below) && operands.len() < roles.len() {
        checker.check(&SymbolicText::from_text("."), OperandRole::Below, draft)?;
    }
    Some(())
}

/// How many words are flags before the first operand; `None` if one of them is not listed.
pub(super) fn count_leading_flags(spec: &'static ApprovalSpec, arguments: &[SymbolicText]) -> Option<usize> {
    let mut sorter = WordSorter { spec, rest: arguments, words: SortedWords::default() };
    loop {
        let rest = sorter.rest;
        let Some(first) = rest.first().filter(|word| word.leading_text().starts_with('-')) else {
            return Some(arguments.len() - rest.len());
        };
        sorter.rest = rest.get(1..)?;
        sorter.read_flag(first)?;
    }
}

struct WordSorter<'a> {
    spec: &'static ApprovalSpec,
    rest: &'a [SymbolicText],
    words: SortedWords<'a>,
}

impl<'a> WordSorter<'a> {
    fn sort(mut self) -> Option<SortedWords<'a>> {
        let mut only_operands = false;
        while let Some((word, rest)) = self.rest.split_first() {
            self.rest = rest;
            let text = word.as_text();
            if !only_operands && self.spec.rest && text == Some("--") {
                let rest = std::mem::take(&mut self.rest);
                rest.iter().all(is_local_text).then_some(())?;
            } else if !only_operands && text == Some("--") {
                // The project's own code gets the rest as flags.
                only_operands = self.spec.class != Some(ApprovalClass::Runs);
            } else if only_operands || !self.is_flag(word) {
                (only_operands || self.is_certain_operand(word)).then_some(())?;
                self.words.operands.push(word);
            } else {
                self.read_flag(word)?;
            }
        }
        Some(self.words)
    }

    fn is_flag(&self, word: &SymbolicText) -> bool {
        let text = word.leading_text();
        text.len() > 1 && text.starts_with('-') || self.spec.word_flags && self.find_shape(text).is_some()
    }

    /// Whether a word cannot become a flag, or any flag is harmless.
    fn is_certain_operand(&self, word: &SymbolicText) -> bool {
        if self.spec.any_flag {
            return true;
        }
        word.parts.iter().enumerate().all(|(at, part)| match part {
            SymbolicPart::Text(_) => true,
            SymbolicPart::Pattern(_) => at > 0 || self.spec.expands,
            SymbolicPart::Unknown(UnknownKind::Name) => at > 0,
            SymbolicPart::Unknown(_) => false,
        })
    }

    fn find_shape(&self, name: &str) -> Option<FlagShape> {
        self.spec.flags.iter().find(|(known, _)| *known == name).map(|(_, shape)| *shape)
    }

    fn read_flag(&mut self, word: &'a SymbolicText) -> Option<()> {
        let text = word.leading_text();
        let is_known = word.parts.len() <= 1;
        let (name, attached) = match text.split_once('=') {
            Some((name, _)) => (name, Some(word.skip_leading_bytes(name.len() + 1))),
            None => (text, None),
        };
        if !is_known && (attached.is_none() || self.has_open_value(word)) {
            return self.spec.any_flag.then_some(());
        }
        let is_long = text.starts_with("--") || self.spec.word_flags;
        if let Some((known, shape)) = self.spec.flags.iter().find(|(known, _)| *known == name || *known == text)
            && (is_long || attached.is_none() || *known == text)
        {
            let attached = attached.filter(|_| *known != text || name == *known);
            return self.read_value(known, *shape, attached);
        }
        if self.is_numbered(text) {
            return Some(());
        }
        if is_long { self.spec.any_flag.then_some(()) } else { self.read_cluster(text) }
    }

    /// Whether a value is more than a pattern of names.
    fn has_open_value(&self, word: &SymbolicText) -> bool {
        word.parts.iter().any(|part| matches!(part, SymbolicPart::Unknown(_)))
    }

    /// `-50`, `-j4`
    fn is_numbered(&self, text: &str) -> bool {
        let start = text.trim_end_matches(|c: char| c.is_ascii_digit());
        start.len() < text.len() && self.spec.flags.iter().any(|(known, _)| known.strip_suffix('#') == Some(start))
    }

    /// `-rn`, `-n5`
    fn read_cluster(&mut self, text: &str) -> Option<()> {
        for (at, letter) in text.char_indices().skip(1) {
            let known = self
                .spec
                .flags
                .iter()
                .find(|(known, _)| known.strip_prefix('-').is_some_and(|name| name.chars().eq([letter])));
            let Some((known, shape)) = known else {
                if self.spec.any_flag {
                    continue;
                }
                return None;
            };
            if *shape == FlagShape::Plain {
                // The rest of `-i…` is the ending of a copy.
                if letter == 'i' && self.spec.needs.contains(&"-i") && at + 1 < text.len() {
                    return None;
                }
                self.words.flags.push(known);
                continue;
            }
            let rest = text.get(at + letter.len_utf8()..).filter(|rest| !rest.is_empty());
            return self.read_value(known, *shape, rest.map(SymbolicText::from_text));
        }
        Some(())
    }

    fn read_value(&mut self, name: &'static str, shape: FlagShape, attached: Option<SymbolicText>) -> Option<()> {
        self.words.flags.push(name);
        // `make -j` and `make -j 4`
        let is_number =
            |word: &SymbolicText| word.as_text().is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        let has_number = attached.is_some() || self.rest.first().is_some_and(is_number);
        let may_be_plain = self.spec.flags.contains(&(name, FlagShape::Plain));
        let shape = match shape {
            FlagShape::Value(OperandRole::Number) if may_be_plain && !has_number => FlagShape::Plain,
            shape => shape,
        };
        match shape {
            FlagShape::Plain => attached.is_none().then_some(()),
            FlagShape::Optional => Some(()),
            FlagShape::Command => self.skip_command(),
            FlagShape::Value(role) => {
                let value = match attached {
                    Some(value) => value,
                    None => self.take_value(role)?,
                };
                self.words.values.push((value, role));
                Some(())
            }
            FlagShape::Pair => {
                for _ in 0..2 {
                    let value = self.take_value(OperandRole::Text)?;
                    self.words.values.push((value, OperandRole::Text));
                }
                Some(())
            }
        }
    }

    /// Skips the words of a command, which is checked as a program of its own.
    fn skip_command(&mut self) -> Option<()> {
        let end = self.rest.iter().position(|word| matches!(word.as_text(), Some(";" | "+")))?;
        self.rest = self.rest.get(end + 1..)?;
        Some(())
    }

    /// The next word as the value of a flag. A program that knows the flag without a value would take it for another flag.
    fn take_value(&mut self, role: OperandRole) -> Option<SymbolicText> {
        let value = self.take_word()?;
        let after = value.leading_text().strip_prefix('-').and_then(|text| text.chars().next());
        (role == OperandRole::Pattern || after.is_none_or(|c| c.is_ascii_digit())).then_some(value)
    }

    /// The next word, if it is one word for certain.
    fn take_word(&mut self) -> Option<SymbolicText> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        let is_one = |part: &SymbolicPart| !matches!(part, SymbolicPart::Unknown(kind) if *kind != UnknownKind::Name);
        first.parts.iter().all(is_one).then(|| first.clone())
    }
}
