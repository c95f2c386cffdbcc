//! Evaluates expressions, as far as their values can be known.

use snell_secrets::{is_secret_variable, variable_issuer};

use super::languages::ReturnKind;
use crate::interpret::decode_base_digits;
use crate::invocation::{SymbolicPart, SymbolicText, UnknownKind};
use crate::judge::context::JudgeContext;

/// The value of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ScriptValue {
    /// A string, a number, a path.
    Text(SymbolicText),
    /// A file that was opened or read.
    File(SymbolicText),
    /// Several values, or one of several.
    List(Vec<ScriptValue>),
    /// Options and dictionaries: named values.
    Dict(Vec<(String, ScriptValue)>),
    /// A module or function of the language.
    Symbol(String),
}

/// An argument, with its name if it has one.
pub(super) type CallArgument = (Option<String>, ScriptValue);

/// Longer values are not built.
const MAX_VALUE_BYTES: usize = 1 << 16;

/// How many words one value may have.
pub(crate) const MAX_WORDS: usize = 256;

/// The cost of a value beyond its bytes.
const NODE_OVERHEAD_BYTES: usize = 32;

impl ScriptValue {
    pub(super) fn unknown() -> Self {
        Self::from_taint(None)
    }

    /// An unknown value with a taint.
    pub(super) fn from_taint(taint: Option<UnknownKind>) -> Self {
        Self::Text(SymbolicText::from_unknown(taint.unwrap_or(UnknownKind::Anything)))
    }

    pub(super) fn from_text(text: impl Into<String>) -> Self {
        Self::Text(SymbolicText::from_text(text))
    }

    /// The words that a program would get.
    pub(super) fn to_words(&self) -> Vec<SymbolicText> {
        let mut words = Vec::new();
        self.push_words(&mut words);
        words
    }

    /// Whether it has more words than the limit.
    pub(super) fn has_too_many_words(&self) -> bool {
        matches!(self, Self::List(list) if list.len() > MAX_WORDS)
    }

    fn push_words(&self, words: &mut Vec<SymbolicText>) {
        match self {
            _ if words.len() >= MAX_WORDS => {}
            Self::Text(value) | Self::File(value) => words.push(value.clone()),
            Self::List(list) => list.iter().for_each(|worth| worth.push_words(words)),
            Self::Dict(_) => {}
            Self::Symbol(_) => words.push(SymbolicText::from_unknown(UnknownKind::Anything)),
        }
    }

    /// One value: the first of several.
    pub(super) fn to_value(&self) -> SymbolicText {
        match self {
            Self::Text(value) | Self::File(value) => value.clone(),
            Self::List(list) if list.len() == 1 => list.first().map(Self::to_value).unwrap_or_default(),
            _ => SymbolicText::from_unknown(self.taint().unwrap_or(UnknownKind::Anything)),
        }
    }

    /// The same, without a copy if there is one value.
    pub(super) fn into_value(self) -> SymbolicText {
        match self {
            Self::Text(value) | Self::File(value) => value,
            other => other.to_value(),
        }
    }

    /// Its size, to limit memory.
    pub(super) fn size(&self) -> usize {
        let of = |value: &SymbolicText| {
            value
                .parts
                .iter()
                .map(|part| match part {
                    SymbolicPart::Text(text) => text.len() + NODE_OVERHEAD_BYTES,
                    SymbolicPart::Pattern(_) | SymbolicPart::Unknown(_) => 1,
                })
                .sum::<usize>()
        };
        match self {
            Self::Text(value) | Self::File(value) => of(value) + NODE_OVERHEAD_BYTES,
            Self::List(list) => list.iter().map(Self::size).sum::<usize>() + NODE_OVERHEAD_BYTES,
            Self::Dict(list) => {
                list.iter().map(|(name, worth)| name.len() + worth.size()).sum::<usize>() + NODE_OVERHEAD_BYTES
            }
            Self::Symbol(name) => name.len() + NODE_OVERHEAD_BYTES,
        }
    }

    /// Its taint, which follows it everywhere.
    pub(super) fn taint(&self) -> Option<UnknownKind> {
        match self {
            Self::Text(value) => value.taint(),
            Self::List(list) => list.iter().take(MAX_WORDS).find_map(Self::taint),
            Self::Dict(list) => list.iter().take(MAX_WORDS).find_map(|(_, worth)| worth.taint()),
            Self::File(_) | Self::Symbol(_) => None,
        }
    }

    /// The files that it contains.
    pub(super) fn files(&self) -> Vec<SymbolicText> {
        match self {
            Self::File(value) => vec![value.clone()],
            Self::List(list) => list.iter().take(MAX_WORDS).flat_map(Self::files).collect(),
            Self::Dict(list) => list.iter().take(MAX_WORDS).flat_map(|(_, worth)| worth.files()).collect(),
            Self::Text(_) | Self::Symbol(_) => Vec::new(),
        }
    }
}

/// Concatenates two strings.
pub(super) fn concat_values(left: SymbolicText, right: &SymbolicText) -> SymbolicText {
    let mut parts = left.parts;
    for part in &right.parts {
        let full = parts.len() >= MAX_WORDS;
        match (parts.last_mut(), part) {
            (Some(SymbolicPart::Text(text)), SymbolicPart::Text(more))
                if text.len() + more.len() <= MAX_VALUE_BYTES =>
            {
                text.push_str(more)
            }
            (Some(SymbolicPart::Text(_)), SymbolicPart::Text(_)) => {
                return SymbolicText::from_unknown(UnknownKind::Anything);
            }
            _ if full => return SymbolicText::from_unknown(UnknownKind::Anything),
            _ => parts.push(part.clone()),
        }
    }
    SymbolicText { parts }
}

/// Joins two paths.
pub(super) fn join_paths(left: SymbolicText, right: &SymbolicText) -> SymbolicText {
    let absolute = right.leading_text().starts_with('/');
    let empty = left.parts.is_empty() || left.as_text() == Some("");
    if absolute || empty {
        return right.clone();
    }
    let slash = matches!(left.parts.last(), Some(SymbolicPart::Text(text)) if text.ends_with('/'));
    let left = if slash { left } else { concat_values(left, &SymbolicText::from_text("/")) };
    concat_values(left, right)
}

/// The value of an environment variable.
pub(super) fn resolve_variable(name: &SymbolicText, context: &JudgeContext) -> ScriptValue {
    let Some(name) = name.as_text() else {
        return ScriptValue::unknown();
    };
    let known = context.variables.iter().find(|(known, _)| known == name);
    match (name, known) {
        ("HOME" | "USERPROFILE", _) => ScriptValue::from_text(context.home.clone()),
        ("USER" | "LOGNAME", _) => ScriptValue::from_text(context.user.clone()),
        ("PWD", _) => ScriptValue::from_text(context.cwd.clone()),
        (_, Some((_, value))) => ScriptValue::from_text(value.clone()),
        _ if is_secret_variable(&name.to_ascii_uppercase()) => ScriptValue::Text(SymbolicText::from_unknown(
            UnknownKind::Credential(variable_issuer(&name.to_ascii_uppercase())),
        )),
        _ => ScriptValue::unknown(),
    }
}

/// The return value of a known function.
pub(super) fn compute_return_value(
    gives: ReturnKind,
    arguments: &[ScriptValue],
    cwd: Option<&str>,
    context: &JudgeContext,
) -> ScriptValue {
    let first = arguments.first();
    let value = first.map(ScriptValue::to_value).unwrap_or_default();
    let unknown = |kind| ScriptValue::Text(SymbolicText::from_unknown(kind));
    match gives {
        ReturnKind::FirstArgument => first.cloned().unwrap_or_else(ScriptValue::unknown),
        ReturnKind::Path => ScriptValue::Text(fold_values(arguments.iter(), join_paths)),
        ReturnKind::Joined => ScriptValue::Text(fold_values(arguments.iter(), concat_values)),
        ReturnKind::Expanded => ScriptValue::Text(value.expand_home(&context.home)),
        ReturnKind::Home => ScriptValue::from_text(context.home.clone()),
        ReturnKind::CurrentDir => cwd.map_or_else(ScriptValue::unknown, ScriptValue::from_text),
        ReturnKind::DirectoryEntries => {
            let all = join_paths(value.clone(), &SymbolicText::from_text("*"));
            ScriptValue::Text(to_glob_value(&all))
        }
        ReturnKind::Glob => {
            let paths = arguments.iter().filter(|value| matches!(value, ScriptValue::Text(_) | ScriptValue::List(_)));
            ScriptValue::Text(to_glob_value(&fold_values(paths, join_paths).expand_home(&context.home)))
        }
        ReturnKind::Temp => ScriptValue::Text(concat_values(
            SymbolicText::from_text("/tmp/"),
            &SymbolicText::from_unknown(UnknownKind::Name),
        )),
        ReturnKind::Download => unknown(UnknownKind::Unseen),
        ReturnKind::File if value.leading_text().starts_with("http") => unknown(UnknownKind::Unseen),
        ReturnKind::File => ScriptValue::File(value),
        ReturnKind::Processes => unknown(UnknownKind::Processes),
        ReturnKind::Agent => unknown(UnknownKind::Agent),
        // Listing all names is common, printing one secret is not: a list is not its element.
        ReturnKind::Environment => ScriptValue::List(vec![unknown(UnknownKind::Private)]),
        ReturnKind::Variable => resolve_variable(&value, context),
        // The contents of an encoded file are unreviewed.
        ReturnKind::Base64 | ReturnKind::Hex if matches!(first, Some(ScriptValue::File(_))) => {
            unknown(UnknownKind::Unseen)
        }
        ReturnKind::Base64 if arguments.get(1).is_some_and(|encoding| encoding.to_value().as_text() == Some("hex")) => {
            decode_value(&value, decode_hex)
        }
        ReturnKind::Base64 => decode_value(&value, |text| decode_base_digits(text, 6)),
        ReturnKind::Hex => decode_value(&value, decode_hex),
        ReturnKind::Packed => evaluate_pack(arguments),
        ReturnKind::Characters => decode_char_codes(arguments),
        ReturnKind::Module => ScriptValue::Symbol(normalize_module_name(&value)),
        ReturnKind::Attribute => match (first, arguments.get(1).map(ScriptValue::to_value)) {
            (Some(ScriptValue::Symbol(name)), Some(part)) => ScriptValue::Symbol(format!("{name}.{part}")),
            _ => ScriptValue::unknown(),
        },
    }
}

/// Combines all values.
fn fold_values<'v>(
    values: impl Iterator<Item = &'v ScriptValue>,
    join: fn(SymbolicText, &SymbolicText) -> SymbolicText,
) -> SymbolicText {
    values.fold(SymbolicText::default(), |all, next| join(all, &next.to_value()))
}

/// The name of a module without its origin.
pub(super) fn normalize_module_name(value: &SymbolicText) -> String {
    let text = value.to_string();
    let text = text.strip_prefix("node:").unwrap_or(&text);
    match text {
        "fs/promises" | "fs-extra" | "graceful-fs" => "fs".to_owned(),
        other => other.to_owned(),
    }
}

/// Text in which `*`, `?` and brackets are patterns.
fn to_glob_value(value: &SymbolicText) -> SymbolicText {
    let mut globs = SymbolicText::default();
    globs.append_globs(value);
    globs
}

fn decode_value(value: &SymbolicText, decode: fn(&str) -> Option<Vec<u8>>) -> ScriptValue {
    let bytes = value.as_text().and_then(decode);
    match bytes.and_then(|bytes| String::from_utf8(bytes).ok()) {
        Some(text) => ScriptValue::from_text(text),
        // `Buffer.from(text)` decodes nothing; a text that is not encoded stays as it is.
        None if value.as_text().is_some() => ScriptValue::Text(value.clone()),
        None => ScriptValue::Text(SymbolicText::from_unknown(UnknownKind::Unseen)),
    }
}

/// `pack("H*", decode_hex)`, `[decode_hex].pack("H*")`
fn evaluate_pack(arguments: &[ScriptValue]) -> ScriptValue {
    let values: Vec<SymbolicText> = arguments.iter().map(ScriptValue::to_value).collect();
    let is_format = |value: &&SymbolicText| matches!(value.as_text(), Some(text) if text.starts_with(['H', 'h', 'C', 'c', 'U', 'm', 'A', 'a']));
    let format = values.iter().find(is_format).and_then(SymbolicText::as_text).unwrap_or_default();
    let others = || arguments.iter().filter(|worth| worth.to_value().as_text() != Some(format));
    match format.chars().next() {
        Some(encoding @ ('H' | 'm')) => {
            let decode = if encoding == 'H' { decode_hex } else { |text: &str| decode_base_digits(text, 6) };
            others().next().map_or_else(ScriptValue::unknown, |value| decode_value(&value.to_value(), decode))
        }
        Some('C' | 'c' | 'U') => decode_char_codes(&others().cloned().collect::<Vec<_>>()),
        _ => ScriptValue::unknown(),
    }
}

fn decode_hex(text: &str) -> Option<Vec<u8>> {
    let digits: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let pairs = (0..digits.len()).step_by(2);
    pairs.map(|at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok()).collect()
}

fn decode_char_codes(arguments: &[ScriptValue]) -> ScriptValue {
    let words: Vec<SymbolicText> = arguments.iter().flat_map(ScriptValue::to_words).collect();
    let character = |word: &SymbolicText| char::from_u32(parse_number(word.as_text()?)?);
    match words.iter().map(character).collect::<Option<String>>() {
        Some(text) if !text.is_empty() => ScriptValue::from_text(text),
        _ => ScriptValue::unknown(),
    }
}

/// A number in the syntax of most languages.
pub(super) fn parse_number(text: &str) -> Option<u32> {
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

/// The value of parentheses: itself, or a list.
pub(super) fn group_arguments(mut list: Vec<CallArgument>) -> ScriptValue {
    match list.pop() {
        Some((_, only)) if list.is_empty() => only,
        Some(last) => {
            list.push(last);
            ScriptValue::List(list.into_iter().map(|(_, worth)| worth).collect())
        }
        None => ScriptValue::List(Vec::new()),
    }
}

/// `"%s/x" % y`
pub(super) fn fill_percent_format(format: &SymbolicText, with: &ScriptValue) -> SymbolicText {
    let Some(text) = format.as_text() else {
        return format.clone();
    };
    let mut words = with.to_words().into_iter();
    let mut pieces = text.split("%s");
    let first = SymbolicText::from_text(pieces.next().unwrap_or_default());
    pieces.fold(first, |all, piece| {
        let word = words.next().unwrap_or_else(|| SymbolicText::from_unknown(UnknownKind::Anything));
        concat_values(concat_values(all, &word), &SymbolicText { parts: vec![SymbolicPart::Text(piece.to_owned())] })
    })
}

/// `"a b".split_value()`
pub(super) fn split_value(worth: &ScriptValue) -> ScriptValue {
    match worth.to_value().as_text() {
        Some(text) => ScriptValue::List(text.split_whitespace().map(ScriptValue::from_text).collect()),
        None => ScriptValue::unknown(),
    }
}
