//! What an expression is worth, as far as that can be known.

use snell_secrets::{is_secret_variable, variable_issuer};

use super::calls::Gives;
use crate::invocation::{Part, Unknown, Value};
use crate::world::World;

/// What an expression is worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Worth {
    /// A string, a number, a path.
    Text(Value),
    /// A file that was opened or read.
    File(Value),
    /// Several, or one of several.
    List(Vec<Worth>),
    /// Options and dictionaries: what has a name is not for everyone.
    Named(Vec<(String, Worth)>),
    /// Something of the language: a module, a function.
    Name(String),
}

/// An argument, with its name if it has one.
pub(super) type Argument = (Option<String>, Worth);

/// Longer values are not put together.
const MAX_BYTES: usize = 1 << 16;

/// More words are not made of one value.
pub(crate) const MAX_WORDS: usize = 256;

/// What a value costs beyond its bytes.
const NODE: usize = 32;

impl Worth {
    pub(super) fn unknown() -> Self {
        Self::Text(Value::unknown(Unknown::Anything))
    }

    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(Value::text(text))
    }

    /// The words that a program would get.
    pub(super) fn words(&self) -> Vec<Value> {
        let mut words = Vec::new();
        self.add_words(&mut words);
        words
    }

    /// Whether it is more words than are followed.
    pub(super) fn is_wide(&self) -> bool {
        matches!(self, Self::List(list) if list.len() > MAX_WORDS)
    }

    fn add_words(&self, words: &mut Vec<Value>) {
        match self {
            _ if words.len() >= MAX_WORDS => {}
            Self::Text(value) | Self::File(value) => words.push(value.clone()),
            Self::List(list) => list.iter().for_each(|worth| worth.add_words(words)),
            Self::Named(_) => {}
            Self::Name(_) => words.push(Value::unknown(Unknown::Anything)),
        }
    }

    /// One value: the first of several.
    pub(super) fn value(&self) -> Value {
        match self {
            Self::Text(value) | Self::File(value) => value.clone(),
            Self::List(list) => match list.as_slice() {
                [only] => only.value(),
                _ => self
                    .taint()
                    .map_or_else(|| Value::unknown(Unknown::Anything), Value::unknown),
            },
            Self::Named(_) | Self::Name(_) => Value::unknown(self.taint().unwrap_or(Unknown::Anything)),
        }
    }

    /// The same, without a copy where there is one value.
    pub(super) fn into_value(self) -> Value {
        match self {
            Self::Text(value) | Self::File(value) => value,
            other => other.value(),
        }
    }

    /// How much there is of it, to keep what is remembered small.
    pub(super) fn size(&self) -> usize {
        let of = |value: &Value| {
            value
                .parts
                .iter()
                .map(|part| match part {
                    Part::Text(text) => text.len() + NODE,
                    Part::Pattern(_) | Part::Unknown(_) => 1,
                })
                .sum::<usize>()
        };
        match self {
            Self::Text(value) | Self::File(value) => of(value) + NODE,
            Self::List(list) => list.iter().map(Self::size).sum::<usize>() + NODE,
            Self::Named(list) => {
                list.iter()
                    .map(|(name, worth)| name.len() + worth.size())
                    .sum::<usize>()
                    + NODE
            }
            Self::Name(name) => name.len() + NODE,
        }
    }

    /// What it carries along, wherever it goes.
    pub(super) fn taint(&self) -> Option<Unknown> {
        const CARRIED: [Unknown; 4] = [Unknown::Unseen, Unknown::Private, Unknown::Agent, Unknown::Processes];
        match self {
            Self::Text(value) => CARRIED
                .into_iter()
                .find(|kind| value.holds(*kind))
                .or_else(|| value.credential().map(Unknown::Credential)),
            Self::List(list) => list.iter().take(MAX_WORDS).find_map(Self::taint),
            Self::Named(list) => list.iter().take(MAX_WORDS).find_map(|(_, worth)| worth.taint()),
            Self::File(_) | Self::Name(_) => None,
        }
    }

    /// The files that it holds.
    pub(super) fn files(&self) -> Vec<Value> {
        match self {
            Self::File(value) => vec![value.clone()],
            Self::List(list) => list.iter().take(MAX_WORDS).flat_map(Self::files).collect(),
            Self::Named(list) => list
                .iter()
                .take(MAX_WORDS)
                .flat_map(|(_, worth)| worth.files())
                .collect(),
            Self::Text(_) | Self::Name(_) => Vec::new(),
        }
    }
}

/// Two strings as one.
pub(super) fn concat(left: Value, right: &Value) -> Value {
    let mut parts = left.parts;
    for part in &right.parts {
        let full = parts.len() >= MAX_WORDS;
        match (parts.last_mut(), part) {
            (Some(Part::Text(text)), Part::Text(more)) if text.len() + more.len() <= MAX_BYTES => text.push_str(more),
            (Some(Part::Text(_)), Part::Text(_)) => return Value::unknown(Unknown::Anything),
            _ if full => return Value::unknown(Unknown::Anything),
            _ => parts.push(part.clone()),
        }
    }
    Value { parts }
}

/// Two paths as one.
pub(super) fn path(left: Value, right: &Value) -> Value {
    let absolute = right.leading().starts_with('/');
    let empty = left.parts.is_empty() || left.as_text() == Some("");
    if absolute || empty {
        return right.clone();
    }
    let slash = matches!(left.parts.last(), Some(Part::Text(text)) if text.ends_with('/'));
    let left = if slash { left } else { concat(left, &Value::text("/")) };
    concat(left, right)
}

/// `~` at the beginning is the home directory.
pub(super) fn expanded(value: &Value, world: &World) -> Value {
    let text = value.leading();
    if text == "~" || text.starts_with("~/") {
        concat(Value::text(world.home.clone()), &value.after(1))
    } else {
        value.clone()
    }
}

/// A variable of the environment.
pub(super) fn variable(name: &Value, world: &World) -> Worth {
    let Some(name) = name.as_text() else {
        return Worth::unknown();
    };
    let known = world.variables.iter().find(|(known, _)| known == name);
    match (name, known) {
        ("HOME" | "USERPROFILE", _) => Worth::text(world.home.clone()),
        ("USER" | "LOGNAME", _) => Worth::text(world.user.clone()),
        ("PWD", _) => Worth::text(world.cwd.clone()),
        (_, Some((_, value))) => Worth::text(value.clone()),
        _ if is_secret_variable(&name.to_ascii_uppercase()) => Worth::Text(Value::unknown(Unknown::Credential(
            variable_issuer(&name.to_ascii_uppercase()),
        ))),
        _ => Worth::unknown(),
    }
}

/// What a known function makes of its arguments.
pub(super) fn given(gives: Gives, arguments: &[Worth], cwd: Option<&str>, world: &World) -> Worth {
    let first = arguments.first();
    let value = first.map(Worth::value).unwrap_or_default();
    let unknown = |kind| Worth::Text(Value::unknown(kind));
    match gives {
        Gives::First => first.cloned().unwrap_or_else(Worth::unknown),
        Gives::Path => Worth::Text(
            arguments
                .iter()
                .map(Worth::value)
                .fold(Value::default(), |all, next| path(all, &next)),
        ),
        Gives::Joined => Worth::Text(
            arguments
                .iter()
                .map(Worth::value)
                .fold(Value::default(), |all, next| concat(all, &next)),
        ),
        Gives::Expanded => Worth::Text(expanded(&value, world)),
        Gives::Home => Worth::text(world.home.clone()),
        Gives::Here => cwd.map_or_else(Worth::unknown, Worth::text),
        Gives::Inside => {
            let all = path(value.clone(), &Value::text("*"));
            Worth::Text(patterned(&all))
        }
        Gives::Glob => {
            let all = arguments
                .iter()
                .filter(|worth| matches!(worth, Worth::Text(_) | Worth::List(_)));
            let all = all
                .map(Worth::value)
                .fold(Value::default(), |all, next| path(all, &next));
            Worth::Text(patterned(&expanded(&all, world)))
        }
        Gives::Temp => Worth::Text(concat(Value::text("/tmp/"), &Value::unknown(Unknown::Name))),
        Gives::Fetched => unknown(Unknown::Unseen),
        Gives::File if value.leading().starts_with("http") => unknown(Unknown::Unseen),
        Gives::File => Worth::File(value),
        Gives::Processes => unknown(Unknown::Processes),
        Gives::Agent => unknown(Unknown::Agent),
        // To see the names of all is common, to see one that is secret is not: a list is not its element.
        Gives::Environment => Worth::List(vec![unknown(Unknown::Private)]),
        Gives::Variable => variable(&value, world),
        // Nobody has read what an encoded file says.
        Gives::Base64 | Gives::Hex if matches!(first, Some(Worth::File(_))) => unknown(Unknown::Unseen),
        Gives::Base64 if says_hex(arguments.get(1)) => decoded(&value, hex),
        Gives::Base64 => decoded(&value, base64),
        Gives::Hex => decoded(&value, hex),
        Gives::Packed => packed(arguments),
        Gives::Characters => characters(arguments),
        Gives::Module => Worth::Name(module(&value)),
        Gives::Part => match (first, arguments.get(1).map(Worth::value)) {
            (Some(Worth::Name(name)), Some(part)) => Worth::Name(format!("{name}.{part}")),
            _ => Worth::unknown(),
        },
    }
}

/// A module without what only says where it comes from.
pub(super) fn module(value: &Value) -> String {
    let text = value.to_string();
    let text = text.strip_prefix("node:").unwrap_or(&text);
    match text {
        "fs/promises" | "fs-extra" | "graceful-fs" => "fs".to_owned(),
        other => other.to_owned(),
    }
}

/// Text in which `*`, `?` and brackets are patterns.
fn patterned(value: &Value) -> Value {
    let mut parts = Vec::new();
    for part in &value.parts {
        let Part::Text(text) = part else {
            parts.push(part.clone());
            continue;
        };
        let mut rest = text.as_str();
        while let Some(at) = rest.find(['*', '?']) {
            let (before, after) = rest.split_at(at);
            if !before.is_empty() {
                parts.push(Part::Text(before.to_owned()));
            }
            let sign = after.get(..1).unwrap_or_default();
            parts.push(Part::Pattern(sign.to_owned()));
            rest = after.trim_start_matches(sign);
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
    }
    Value { parts }
}

/// `Buffer.from(text, "hex")`
fn says_hex(encoding: Option<&Worth>) -> bool {
    encoding.is_some_and(|worth| worth.value().as_text() == Some("hex"))
}

fn decoded(value: &Value, decode: fn(&str) -> Option<Vec<u8>>) -> Worth {
    let bytes = value.as_text().and_then(decode);
    match bytes.and_then(|bytes| String::from_utf8(bytes).ok()) {
        Some(text) => Worth::text(text),
        // `Buffer.from(text)` decodes nothing; what is no encoding is what it says.
        None if value.as_text().is_some() => Worth::Text(value.clone()),
        None => Worth::Text(Value::unknown(Unknown::Unseen)),
    }
}

/// `pack("H*", hex)`, `[hex].pack("H*")`
fn packed(arguments: &[Worth]) -> Worth {
    let values: Vec<Value> = arguments.iter().map(Worth::value).collect();
    let is_format = |value: &&Value| matches!(value.as_text(), Some(text) if text.starts_with(['H', 'h', 'C', 'c', 'U', 'm', 'A', 'a']));
    let format = values
        .iter()
        .find(is_format)
        .and_then(Value::as_text)
        .unwrap_or_default();
    let others = || arguments.iter().filter(|worth| worth.value().as_text() != Some(format));
    match format.chars().next() {
        Some('H') => others()
            .next()
            .map_or_else(Worth::unknown, |worth| decoded(&worth.value(), hex)),
        Some('m') => others()
            .next()
            .map_or_else(Worth::unknown, |worth| decoded(&worth.value(), base64)),
        Some('C' | 'c' | 'U') => characters(&others().cloned().collect::<Vec<_>>()),
        _ => Worth::unknown(),
    }
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let pairs = (0..digits.len()).step_by(2);
    pairs
        .map(|at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok())
        .collect()
}

fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0u32, 0);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=') {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(six)) & 0xff_ffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).ok()?);
        }
    }
    Some(bytes)
}

fn characters(arguments: &[Worth]) -> Worth {
    let words: Vec<Value> = arguments.iter().flat_map(Worth::words).collect();
    let character = |word: &Value| char::from_u32(number(word.as_text()?)?);
    match words.iter().map(character).collect::<Option<String>>() {
        Some(text) if !text.is_empty() => Worth::text(text),
        _ => Worth::unknown(),
    }
}

/// A number as languages write it.
pub(super) fn number(text: &str) -> Option<u32> {
    let text = text.to_ascii_lowercase();
    let (digits, radix) = if let Some(hex) = text.strip_prefix("0x") {
        (hex, 16)
    } else if let Some(octal) = text.strip_prefix("0o") {
        (octal, 8)
    } else {
        (text.as_str(), 10)
    };
    u32::from_str_radix(digits, radix).ok()
}

/// What stands in parentheses: itself, or a list.
pub(super) fn group(mut list: Vec<Argument>) -> Worth {
    match list.pop() {
        Some((_, only)) if list.is_empty() => only,
        Some(last) => {
            list.push(last);
            Worth::List(list.into_iter().map(|(_, worth)| worth).collect())
        }
        None => Worth::List(Vec::new()),
    }
}

/// `"%s/x" % y`
pub(super) fn filled(format: &Value, with: &Worth) -> Value {
    let Some(text) = format.as_text() else {
        return format.clone();
    };
    let mut words = with.words().into_iter();
    let mut pieces = text.split("%s");
    let first = Value::text(pieces.next().unwrap_or_default());
    pieces.fold(first, |all, piece| {
        let word = words.next().unwrap_or_else(|| Value::unknown(Unknown::Anything));
        concat(
            concat(all, &word),
            &Value {
                parts: vec![Part::Text(piece.to_owned())],
            },
        )
    })
}

/// `"a b".split()`
pub(super) fn split(worth: &Worth) -> Worth {
    match worth.value().as_text() {
        Some(text) => Worth::List(text.split_whitespace().map(Worth::text).collect()),
        None => Worth::unknown(),
    }
}
