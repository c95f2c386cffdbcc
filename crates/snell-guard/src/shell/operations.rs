//! What `${x…}` does with a value.

use super::Walker;
use super::limits;
use super::parameter::{Expansion, Held, all_of};
use super::pattern::Pattern;
use super::scope::Variable;
use crate::effects::MAX_HINT;
use crate::invocation::{Part, Unknown, Value};
use crate::syntax::{Operation, Parameter, Word};

/// Which end of a text a pattern is taken from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Front,
    Back,
}

impl<'t> Walker<'t> {
    pub(super) fn operate(&mut self, name: &str, held: Held, parameter: &'t Parameter) -> Expansion {
        match &parameter.operation {
            Operation::None | Operation::Names => plain(held),
            Operation::Length => Expansion::One(length(&held.values().into_iter().next().unwrap_or_default())),
            Operation::Default { colon, word } => self.instead(held, *colon, word),
            Operation::Assign { colon, word } => {
                let expansion = self.instead(held, *colon, word);
                if let Expansion::One(value) = &expansion {
                    self.set(name, Variable::one(value.clone()));
                }
                expansion
            }
            Operation::Alternative { colon, word } => self.alternative(&held, *colon, word),
            Operation::Required { colon, word } => self.required(name, held, *colon, word),
            Operation::RemovePrefix { longest, pattern } => self.remove(held, pattern, *longest, End::Front),
            Operation::RemoveSuffix { longest, pattern } => self.remove(held, pattern, *longest, End::Back),
            Operation::Replace { how, pattern, by } => self.replace(held, *how, pattern, by),
            Operation::Slice { offset, length } => self.slice(held, parameter, offset, length.as_ref()),
            Operation::Case { how, pattern } => {
                let everything = pattern.is_none();
                each(
                    held,
                    |value| if everything { cased(value, how) } else { blurred(value) },
                )
            }
            Operation::Transform(letter) => each(held, |value| transformed(value, *letter)),
        }
    }

    /// Whether a parameter counts as unset. Where nobody knows, both are tried.
    fn is_missing(&mut self, held: &Held, colon: bool) -> bool {
        match held {
            Held::Unset => true,
            Held::Open(_) => self.choose(2) == 1,
            Held::One(value) if colon && value.is_empty() => true,
            Held::One(value) if colon && value.may_be_empty() => self.choose(2) == 1,
            Held::One(_) => false,
            Held::Many(values) => values.is_empty() || (colon && values.iter().all(Value::is_empty)),
        }
    }

    fn instead(&mut self, held: Held, colon: bool, word: &'t Word) -> Expansion {
        if self.is_missing(&held, colon) {
            return self.operand(word);
        }
        match plain(held) {
            Expansion::One(value) if colon => Expansion::One(not_empty(value)),
            expansion => expansion,
        }
    }

    /// The words of an operand: those that are quoted in it stay whole.
    fn operand(&mut self, word: &'t Word) -> Expansion {
        let quoted = word
            .pieces
            .iter()
            .all(|piece| !matches!(piece, crate::syntax::Piece::Text { quoted: false, .. }));
        if quoted {
            let mut values = Vec::new();
            self.add_fields(word, &mut values);
            if values.len() > 1 {
                return Expansion::Many(values);
            }
        }
        Expansion::One(self.text(word))
    }

    fn alternative(&mut self, held: &Held, colon: bool, word: &'t Word) -> Expansion {
        if self.is_missing(held, colon) {
            return Expansion::One(Value::default());
        }
        self.operand(word)
    }

    /// After `${x:?}` the variable is there, or nothing of this runs.
    fn required(&mut self, name: &str, held: Held, colon: bool, word: &'t Word) -> Expansion {
        self.text(word);
        let (Held::One(_) | Held::Open(_)) = held else {
            return plain(held);
        };
        let Expansion::One(mut value) = plain(held) else {
            return Expansion::default();
        };
        if colon {
            value = not_empty(value);
        }
        self.set(name, Variable::one(value.clone()));
        Expansion::One(value)
    }

    fn remove(&mut self, held: Held, pattern: &'t Word, longest: bool, end: End) -> Expansion {
        let pattern = Pattern::of(&self.pattern(pattern));
        let work = held.clone().values().iter().map(Value::size).sum::<usize>();
        self.spend_bytes(work * 64);
        each(held, |value| {
            let removed = value
                .as_text()
                .zip(pattern.as_ref())
                .and_then(|(text, pattern)| without(text, pattern, longest, end));
            removed.map_or_else(|| shortened(value, end), Value::text)
        })
    }

    fn replace(&mut self, held: Held, how: Option<char>, pattern: &'t Word, by: &'t Word) -> Expansion {
        let pattern = Pattern::of(&self.pattern(pattern));
        let by = self.text(by);
        let work = held.clone().values().iter().map(Value::size).sum::<usize>();
        self.spend_bytes(work * 64);
        each(held, |value| {
            let replaced = value
                .as_text()
                .zip(pattern.as_ref())
                .and_then(|(text, pattern)| replaced(text, pattern, how, &by));
            replaced.unwrap_or_else(|| blurred(value))
        })
    }

    fn slice(&mut self, held: Held, parameter: &Parameter, offset: &'t Word, length: Option<&'t Word>) -> Expansion {
        let offset = self.number(offset);
        let length = length.map(|length| self.number(length));
        let every = matches!(parameter.name.as_str(), "@" | "*") || parameter.index.as_ref().and_then(all_of).is_some();
        let (Some(offset), None | Some(Some(_))) = (offset, length) else {
            return each(held, blurred);
        };
        let length = length.flatten();
        if every {
            let mut values = held.values();
            // `${@:0}` counts the name of the shell as the first.
            let offset = if parameter.name == "@" || parameter.name == "*" {
                values.insert(0, Value::text(&*self.scope.name));
                offset
            } else {
                offset
            };
            let range = bounds(values.len(), offset, length);
            return Expansion::Many(values.get(range).unwrap_or_default().to_vec());
        }
        each(held, |value| sliced(value, offset, length))
    }
}

fn plain(held: Held) -> Expansion {
    match held {
        Held::Unset => Expansion::One(Value::default()),
        Held::One(value) => Expansion::One(value),
        Held::Many(values) => Expansion::Many(values),
        Held::Open(unknown) => Expansion::One(Value::unknown(unknown)),
    }
}

fn each(held: Held, change: impl Fn(&Value) -> Value) -> Expansion {
    match plain(held) {
        Expansion::One(value) => Expansion::One(change(&value)),
        Expansion::Many(values) => Expansion::Many(values.iter().map(change).collect()),
    }
}

/// The same value, now that it is known not to be empty.
fn not_empty(mut value: Value) -> Value {
    if let [Part::Unknown(unknown @ Unknown::Anything)] = value.parts.as_mut_slice() {
        *unknown = Unknown::Something;
    }
    value
}

/// What is known of a value that was changed in a way that cannot be followed: only where it came from.
fn blurred(value: &Value) -> Value {
    let grave = |part: &Part| match part {
        Part::Unknown(
            unknown @ (Unknown::Told
            | Unknown::Unseen
            | Unknown::Private
            | Unknown::Processes
            | Unknown::Agent
            | Unknown::Credential(_)),
        ) => Some(*unknown),
        _ => None,
    };
    let listed = value.parts.iter().any(|part| matches!(part, Part::Pattern(_)));
    if listed && value.leading().starts_with("/proc/") {
        return Value::unknown(Unknown::Processes);
    }
    let kind = value.parts.iter().find_map(grave);
    Value::unknown(kind.unwrap_or(Unknown::Anything))
}

/// What is left if something may have been taken away from one end.
fn shortened(value: &Value, end: End) -> Value {
    let known = match end {
        End::Front => None,
        End::Back => value.parts.first().filter(|_| value.parts.len() > 1),
    };
    let mut left = Value::default();
    if let Some(part @ Part::Text(_)) = known {
        left.push(part.clone());
    }
    left.append(&blurred(value));
    left
}

fn length(value: &Value) -> Value {
    value.as_text().map_or_else(
        || Value::unknown(Unknown::Name),
        |text| Value::text(text.chars().count().to_string()),
    )
}

fn without(text: &str, pattern: &Pattern, longest: bool, end: End) -> Option<String> {
    if let Some(literal) = pattern.literal() {
        let left = match end {
            End::Front => text.strip_prefix(literal.as_str()),
            End::Back => text.strip_suffix(literal.as_str()),
        };
        return Some(left.unwrap_or(text).to_owned());
    }
    let characters: Vec<char> = text.chars().collect();
    let count = characters.len();
    if pattern.work(count) > limits::MATCHING_EVERYWHERE {
        return None;
    }
    let sizes: Vec<usize> = if longest {
        (0..=count).rev().collect()
    } else {
        (0..=count).collect()
    };
    for size in sizes {
        let (taken, left) = match end {
            End::Front => (characters.get(..size)?, characters.get(size..)?),
            End::Back => (characters.get(count - size..)?, characters.get(..count - size)?),
        };
        if pattern.fits(taken)? {
            return Some(left.iter().collect());
        }
    }
    Some(text.to_owned())
}

/// The longest match at each place is replaced.
fn replaced(text: &str, pattern: &Pattern, how: Option<char>, by: &Value) -> Option<Value> {
    let literal = pattern
        .literal()
        .filter(|literal| !literal.is_empty() && !matches!(how, Some('#' | '%')));
    if let Some(literal) = literal {
        return Some(literally(text, &literal, how, by));
    }
    let characters: Vec<char> = text.chars().collect();
    if pattern.work(characters.len()) > limits::MATCHING_EVERYWHERE {
        return None;
    }
    let mut value = Value::default();
    let mut at = 0;
    let mut done = false;
    while at <= characters.len() {
        let may = !done && (how != Some('#') || at == 0);
        let ends = (at..=characters.len())
            .rev()
            .filter(|end| how != Some('%') || *end == characters.len());
        let mut found = None;
        if may {
            for end in ends.filter(|end| *end > at || how == Some('#') || how == Some('%')) {
                if pattern.fits(characters.get(at..end)?)? {
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

fn literally(text: &str, literal: &str, how: Option<char>, by: &Value) -> Value {
    let count = if how == Some('/') { usize::MAX } else { 2 };
    let mut value = Value::default();
    for (at, piece) in text.splitn(count, literal).enumerate() {
        if at > 0 {
            value.append(by);
        }
        value.push_text(piece);
    }
    value
}

fn bounds(count: usize, offset: i64, length: Option<i64>) -> std::ops::Range<usize> {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let from = if offset < 0 {
        count.saturating_add(offset)
    } else {
        offset
    };
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

fn sliced(value: &Value, offset: i64, length: Option<i64>) -> Value {
    let whole = value.as_text();
    let known = whole.unwrap_or_else(|| value.leading());
    let characters: Vec<char> = known.chars().collect();
    let range = bounds(characters.len(), offset, length);
    // With an unknown end, only what is surely in the known beginning can be cut out.
    let inside = offset >= 0 && length.is_some_and(|length| length >= 0 && offset + length <= characters.len() as i64);
    if whole.is_none() && !inside {
        let count = length.unwrap_or(offset.saturating_neg());
        let hint = usize::try_from(count).is_ok_and(|count| (1..=MAX_HINT).contains(&count));
        if hint && value.credential().is_some() {
            return Value::unknown(Unknown::Anything);
        }
        return blurred(value);
    }
    Value::text(characters.get(range).unwrap_or_default().iter().collect::<String>())
}

fn cased(value: &Value, how: &str) -> Value {
    let mut changed = Value::default();
    let mut first = true;
    for part in &value.parts {
        match part {
            Part::Text(text) => {
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

fn transformed(value: &Value, letter: char) -> Value {
    match (letter, value.as_text()) {
        ('U', _) => cased(value, "^^"),
        ('L', _) => cased(value, ",,"),
        ('u', _) => cased(value, "^"),
        ('Q' | 'K', Some(text)) => Value::text(format!("'{}'", text.replace('\'', "'\\''"))),
        ('E', Some(text)) => super::format::unescaped(text).map_or_else(|| blurred(value), Value::text),
        ('a' | 'A', _) => Value::unknown(Unknown::Anything),
        _ => value.clone(),
    }
}
