//! The operations of `${x…}`.

use super::parameters::{ExpandedValue, ParameterValue, parse_all_index};
use super::patterns::ShellPattern;
use crate::effects::MAX_HINT_CHARS;
use crate::interpret::ShellInterpreter;
use crate::interpret::limits;
use crate::interpret::scope::ShellVariable;
use crate::invocation::{SymbolicPart, SymbolicText, UnknownKind};
use snell_shell::{ParameterExpansion, ParameterOperation, ShellWord};

/// The end of a text that a pattern is removed from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TrimSide {
    Front,
    Back,
}

impl<'t> ShellInterpreter<'t> {
    pub(crate) fn apply_operation(
        &mut self,
        name: &str,
        held: ParameterValue,
        parameter: &'t ParameterExpansion,
    ) -> ExpandedValue {
        match &parameter.operation {
            ParameterOperation::None | ParameterOperation::Names => expand_unchanged(held),
            ParameterOperation::Length => {
                ExpandedValue::One(measure_length(&held.into_values().into_iter().next().unwrap_or_default()))
            }
            ParameterOperation::Default { colon, word } => self.expand_default(held, *colon, word),
            ParameterOperation::Assign { colon, word } => {
                let expansion = self.expand_default(held, *colon, word);
                if let ExpandedValue::One(value) = &expansion {
                    self.set_variable(name, ShellVariable::from_value(value.clone()));
                }
                expansion
            }
            ParameterOperation::Alternative { colon, word } => self.expand_alternative(&held, *colon, word),
            ParameterOperation::Required { colon, word } => self.expand_required(name, held, *colon, word),
            ParameterOperation::RemovePrefix { longest, pattern } => {
                self.remove_affix(held, pattern, *longest, TrimSide::Front)
            }
            ParameterOperation::RemoveSuffix { longest, pattern } => {
                self.remove_affix(held, pattern, *longest, TrimSide::Back)
            }
            ParameterOperation::Replace { how, pattern, by } => self.replace_pattern(held, *how, pattern, by),
            ParameterOperation::Slice { offset, length } => {
                self.slice_parameter(held, parameter, offset, length.as_ref())
            }
            ParameterOperation::Case { how, pattern } => {
                let everything = pattern.is_none();
                map_values(held, |value| if everything { change_case(value, how) } else { degrade_to_unknown(value) })
            }
            ParameterOperation::Transform(letter) => map_values(held, |value| transform_value(value, *letter)),
        }
    }

    /// Whether a parameter is unset. If that is unknown, both are tried.
    fn is_missing(&mut self, held: &ParameterValue, colon: bool) -> bool {
        match held {
            ParameterValue::Unset => true,
            ParameterValue::MaybeUnset(_) => self.choose_index(2) == 1,
            ParameterValue::One(value) if colon && value.is_empty() => true,
            ParameterValue::One(value) if colon && value.can_be_empty() => self.choose_index(2) == 1,
            ParameterValue::One(_) => false,
            ParameterValue::Many(values) => values.is_empty() || (colon && values.iter().all(SymbolicText::is_empty)),
        }
    }

    fn expand_default(&mut self, held: ParameterValue, colon: bool, word: &'t ShellWord) -> ExpandedValue {
        if self.is_missing(&held, colon) {
            return self.expand_operand(word);
        }
        match expand_unchanged(mark_parameter_given(held, colon)) {
            ExpandedValue::One(value) if colon => ExpandedValue::One(mark_nonempty(value)),
            expansion => expansion,
        }
    }

    /// The words of an operand; quoted ones are not split.
    fn expand_operand(&mut self, word: &'t ShellWord) -> ExpandedValue {
        let quoted = word.parts.iter().all(|piece| !matches!(piece, snell_shell::WordPart::Text { quoted: false, .. }));
        if quoted {
            let mut values = Vec::new();
            self.add_fields(word, &mut values);
            if values.len() > 1 {
                return ExpandedValue::Many(values);
            }
        }
        ExpandedValue::One(self.expand_text(word))
    }

    fn expand_alternative(&mut self, held: &ParameterValue, colon: bool, word: &'t ShellWord) -> ExpandedValue {
        if self.is_missing(held, colon) {
            return ExpandedValue::One(SymbolicText::default());
        }
        self.expand_operand(word)
    }

    /// After `${x:?}` the variable is set, or the shell has stopped.
    fn expand_required(&mut self, name: &str, held: ParameterValue, colon: bool, word: &'t ShellWord) -> ExpandedValue {
        self.expand_text(word);
        if matches!(&held, ParameterValue::Unset)
            || matches!(&held, ParameterValue::One(value) if colon && value.is_empty())
        {
            return ExpandedValue::One(SymbolicText::from_unknown(UnknownKind::Something));
        }
        let (ParameterValue::One(_) | ParameterValue::MaybeUnset(_)) = held else {
            return expand_unchanged(held);
        };
        let ExpandedValue::One(mut value) = expand_unchanged(mark_parameter_given(held, colon)) else {
            return ExpandedValue::default();
        };
        if colon {
            value = mark_nonempty(value);
        }
        self.set_variable(name, ShellVariable::from_value(value.clone()));
        ExpandedValue::One(value)
    }

    fn remove_affix(
        &mut self,
        held: ParameterValue,
        pattern: &'t ShellWord,
        longest: bool,
        end: TrimSide,
    ) -> ExpandedValue {
        let pattern = ShellPattern::from_value(&self.expand_pattern(pattern));
        let work = held.clone().into_values().iter().map(SymbolicText::size).sum::<usize>();
        self.spend_bytes(work * 64);
        map_values(held, |value| {
            let removed = value
                .as_text()
                .zip(pattern.as_ref())
                .and_then(|(text, pattern)| strip_pattern(text, pattern, longest, end));
            removed.map_or_else(|| degrade_after_trim(value, end), SymbolicText::from_text)
        })
    }

    fn replace_pattern(
        &mut self,
        held: ParameterValue,
        how: Option<char>,
        pattern: &'t ShellWord,
        by: &'t ShellWord,
    ) -> ExpandedValue {
        let pattern = ShellPattern::from_value(&self.expand_pattern(pattern));
        let by = self.expand_text(by);
        let work = held.clone().into_values().iter().map(SymbolicText::size).sum::<usize>();
        self.spend_bytes(work * 64);
        map_values(held, |value| {
            let replaced = value
                .as_text()
                .zip(pattern.as_ref())
                .and_then(|(text, pattern)| replace_matches(text, pattern, how, &by));
            replaced.unwrap_or_else(|| degrade_to_unknown(value))
        })
    }

    fn slice_parameter(
        &mut self,
        held: ParameterValue,
        parameter: &ParameterExpansion,
        offset: &'t ShellWord,
        length: Option<&'t ShellWord>,
    ) -> ExpandedValue {
        let offset = self.evaluate_word(offset);
        let length = length.map(|length| self.evaluate_word(length));
        let every = matches!(parameter.name.as_str(), "@" | "*")
            || parameter.index.as_ref().and_then(parse_all_index).is_some();
        let (Some(offset), None | Some(Some(_))) = (offset, length) else {
            return map_values(held, degrade_to_unknown);
        };
        let length = length.flatten();
        if every {
            let mut values = held.into_values();
            // `${@:0}` starts with the name of the shell.
            let offset = if parameter.name == "@" || parameter.name == "*" {
                values.insert(0, SymbolicText::from_text(&*self.scope.name));
                offset
            } else {
                offset
            };
            let range = compute_slice_bounds(values.len(), offset, length);
            return ExpandedValue::Many(values.get(range).unwrap_or_default().to_vec());
        }
        map_values(held, |value| slice_value(value, offset, length))
    }
}

fn expand_unchanged(held: ParameterValue) -> ExpandedValue {
    match held {
        ParameterValue::Unset => ExpandedValue::One(SymbolicText::default()),
        ParameterValue::One(value) => ExpandedValue::One(value),
        ParameterValue::Many(values) => ExpandedValue::Many(values),
        ParameterValue::MaybeUnset(unknown) => ExpandedValue::One(SymbolicText::from_unknown(unknown)),
    }
}

/// `${1:-x}` is not empty: who writes a default expects a path there.
fn mark_parameter_given(held: ParameterValue, colon: bool) -> ParameterValue {
    match held {
        ParameterValue::MaybeUnset(UnknownKind::FromInput) if colon => {
            ParameterValue::MaybeUnset(UnknownKind::Something)
        }
        other => other,
    }
}

fn map_values(held: ParameterValue, change: impl Fn(&SymbolicText) -> SymbolicText) -> ExpandedValue {
    match expand_unchanged(held) {
        ExpandedValue::One(value) => ExpandedValue::One(change(&value)),
        ExpandedValue::Many(values) => ExpandedValue::Many(values.iter().map(change).collect()),
    }
}

/// The same value, now known to be non-empty.
pub(crate) fn mark_nonempty(mut value: SymbolicText) -> SymbolicText {
    if let [SymbolicPart::Unknown(unknown @ UnknownKind::Anything)] = value.parts.as_mut_slice() {
        *unknown = UnknownKind::Something;
    }
    value
}

/// The value after an unknown change: only its origin is known.
fn degrade_to_unknown(value: &SymbolicText) -> SymbolicText {
    let grave = |part: &SymbolicPart| match part {
        SymbolicPart::Unknown(
            unknown @ (UnknownKind::FromInput
            | UnknownKind::Unseen
            | UnknownKind::Private
            | UnknownKind::Processes
            | UnknownKind::Agent
            | UnknownKind::Credential(_)),
        ) => Some(*unknown),
        _ => None,
    };
    if value.has_pattern() && value.leading_text().starts_with("/proc/") {
        return SymbolicText::from_unknown(UnknownKind::Processes);
    }
    let kind = value.parts.iter().find_map(grave);
    SymbolicText::from_unknown(kind.unwrap_or(UnknownKind::Anything))
}

/// The value after something unknown may have been removed from one end.
fn degrade_after_trim(value: &SymbolicText, end: TrimSide) -> SymbolicText {
    let known = match end {
        TrimSide::Front => None,
        TrimSide::Back => value.parts.first().filter(|_| value.parts.len() > 1),
    };
    let mut left = SymbolicText::default();
    if let Some(part @ SymbolicPart::Text(_)) = known {
        left.push(part.clone());
    }
    left.append(&degrade_to_unknown(value));
    left
}

fn measure_length(value: &SymbolicText) -> SymbolicText {
    value.as_text().map_or_else(
        || SymbolicText::from_unknown(UnknownKind::Name),
        |text| SymbolicText::from_text(text.chars().count().to_string()),
    )
}

fn strip_pattern(text: &str, pattern: &ShellPattern, longest: bool, end: TrimSide) -> Option<String> {
    if let Some(literal) = pattern.to_literal() {
        let left = match end {
            TrimSide::Front => text.strip_prefix(literal.as_str()),
            TrimSide::Back => text.strip_suffix(literal.as_str()),
        };
        return Some(left.unwrap_or(text).to_owned());
    }
    let characters: Vec<char> = text.chars().collect();
    let count = characters.len();
    if pattern.estimate_work(count) > limits::SEARCH_WORK {
        return None;
    }
    let sizes: Vec<usize> = if longest { (0..=count).rev().collect() } else { (0..=count).collect() };
    for size in sizes {
        let (taken, left) = match end {
            TrimSide::Front => (characters.get(..size)?, characters.get(size..)?),
            TrimSide::Back => (characters.get(count - size..)?, characters.get(..count - size)?),
        };
        if pattern.matches_text(taken)? {
            return Some(left.iter().collect());
        }
    }
    Some(text.to_owned())
}

/// Replaces the longest match at each position.
fn replace_matches(text: &str, pattern: &ShellPattern, how: Option<char>, by: &SymbolicText) -> Option<SymbolicText> {
    let literal = pattern.to_literal().filter(|literal| !literal.is_empty() && !matches!(how, Some('#' | '%')));
    if let Some(literal) = literal {
        return Some(replace_literal(text, &literal, how, by));
    }
    let characters: Vec<char> = text.chars().collect();
    if pattern.estimate_work(characters.len()) > limits::SEARCH_WORK {
        return None;
    }
    let mut value = SymbolicText::default();
    let mut at = 0;
    let mut done = false;
    while at <= characters.len() {
        let may = !done && (how != Some('#') || at == 0);
        let ends = (at..=characters.len()).rev().filter(|end| how != Some('%') || *end == characters.len());
        let mut found = None;
        if may {
            for end in ends.filter(|end| *end > at || how == Some('#') || how == Some('%')) {
                if pattern.matches_text(characters.get(at..end)?)? {
                    found = Some(end);
                    break;
                }
            }
        }
        match found {
            Some(end) => {
                value.append(by);
                done = how != Some('/');
                if end == at {
                    break;
                }
                at = end;
            }
            None => {
                if let Some(c) = characters.get(at) {
                    value.push_text(c.encode_utf8(&mut [0; 4]));
                }
                at += 1;
            }
        }
    }
    let rest: String = characters.get(at..).unwrap_or_default().iter().collect();
    value.push_text(&rest);
    Some(value)
}

fn replace_literal(text: &str, literal: &str, how: Option<char>, by: &SymbolicText) -> SymbolicText {
    let count = if how == Some('/') { usize::MAX } else { 2 };
    let mut value = SymbolicText::default();
    for (at, piece) in text.splitn(count, literal).enumerate() {
        if at > 0 {
            value.append(by);
        }
        value.push_text(piece);
    }
    value
}

fn compute_slice_bounds(count: usize, offset: i64, length: Option<i64>) -> std::ops::Range<usize> {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let from = if offset < 0 { count.saturating_add(offset) } else { offset };
    if from < 0 || from > count {
        return 0..0;
    }
    let to = match length {
        None => count,
        Some(length) if length < 0 => count.saturating_add(length),
        Some(length) => from.saturating_add(length).min(count),
    };
    let clamp = |at: i64| usize::try_from(at.max(from)).unwrap_or_default();
    clamp(from)..clamp(to)
}

fn slice_value(value: &SymbolicText, offset: i64, length: Option<i64>) -> SymbolicText {
    let whole = value.as_text();
    let known = whole.unwrap_or_else(|| value.leading_text());
    let characters: Vec<char> = known.chars().collect();
    let range = compute_slice_bounds(characters.len(), offset, length);
    // With an unknown end, only a range inside the known start can be cut out.
    let inside = offset >= 0 && length.is_some_and(|length| length >= 0 && offset + length <= characters.len() as i64);
    if whole.is_none() && !inside {
        let count = length.unwrap_or(offset.saturating_neg());
        let hint = usize::try_from(count).is_ok_and(|count| (1..=MAX_HINT_CHARS).contains(&count));
        if hint && value.credential_issuer().is_some() {
            return SymbolicText::from_unknown(UnknownKind::Anything);
        }
        return degrade_to_unknown(value);
    }
    SymbolicText::from_text(characters.get(range).unwrap_or_default().iter().collect::<String>())
}

fn change_case(value: &SymbolicText, how: &str) -> SymbolicText {
    let mut changed = SymbolicText::default();
    let mut first = true;
    for part in &value.parts {
        match part {
            SymbolicPart::Text(text) => {
                for c in text.chars() {
                    let applies = how.len() == 2 || first;
                    let text = match how.starts_with('^') {
                        _ if !applies => c.to_string(),
                        true => c.to_uppercase().to_string(),
                        false => c.to_lowercase().to_string(),
                    };
                    changed.push_text(&text);
                    first = false;
                }
            }
            part => changed.push(part.clone()),
        }
        first = false;
    }
    changed
}

fn transform_value(value: &SymbolicText, letter: char) -> SymbolicText {
    match (letter, value.as_text()) {
        ('U', _) => change_case(value, "^^"),
        ('L', _) => change_case(value, ",,"),
        ('u', _) => change_case(value, "^"),
        ('Q' | 'K', Some(text)) => SymbolicText::from_text(crate::interpret::quote_shell_word(text)),
        ('E', Some(text)) => crate::interpret::known_output::printf::unescape_text(text)
            .map_or_else(|| degrade_to_unknown(value), SymbolicText::from_text),
        ('a' | 'A', _) => SymbolicText::from_unknown(UnknownKind::Anything),
        _ => value.clone(),
    }
}
