//! Masks secrets of known forms before anything is written.
//!
//! `snell-secrets` finds them; this module walks through JSON and replaces them by marks.

use std::borrow::Cow;
use std::mem;
use std::ops::Range;

use serde_json::{Map, Value};
use snell_secrets::{CredentialKind, SecretScanner, credential_kind, is_jwk_private_member, is_member_credential};

/// The start and the end of a mark.
const MASK_MARK: (&str, &str) = ("[masked: ", "]");

/// The replacement where one word is needed.
const MASK_WORD: &str = "masked";

/// The longest mark.
const MAX_MARK_BYTES: usize = 48;

/// How often a text is scanned. A second pass finds secrets beside a masked one, which is rare; a third only finds
/// secrets in texts that are made for it.
const MAX_PASSES: usize = 8;

/// The shortest text with a secret is `://:b@`.
const MIN_TEXT_BYTES: usize = 6;

/// `text` with `[masked: …]` in the place of each secret.
pub fn mask_secrets(text: &str) -> Cow<'_, str> {
    let mut masked = Cow::Borrowed(text);
    if text.len() < MIN_TEXT_BYTES {
        return masked;
    }
    for _ in 0..MAX_PASSES {
        match mask_once(&masked).0 {
            Some(next) => masked = Cow::Owned(next),
            None => break,
        }
    }
    masked
}

/// Masks the secrets in all strings of `value`, in the names of its members, and under names that mean a credential.
pub fn mask_json(value: &mut Value) {
    // A stack instead of recursion: deep nesting must not overflow the thread's stack.
    let mut rest = vec![(value, None)];
    while let Some((value, kind)) = rest.pop() {
        match value {
            Value::String(text) => mask_member(text, kind),
            Value::Array(items) => {
                let mut arguments = ArgumentList::default();
                rest.extend(items.iter_mut().map(|item| {
                    let after_option = item.as_str().and_then(|item| arguments.classify_item(item));
                    (item, after_option.or(kind))
                }));
            }
            Value::Object(members) => {
                mask_member_names(members);
                let named = classify_named_value(members);
                let cookie = (kind == Some(CredentialKind::Cookie)).then_some(CredentialKind::Session);
                let is_jwk = members.contains_key("kty");
                rest.extend(members.iter_mut().map(|(name, value)| {
                    let jwk = (is_jwk && is_jwk_private_member(name)).then_some(CredentialKind::Key);
                    let kind = credential_kind(name).or(named.filter(|_| name == "value")).or(jwk).or(cookie);
                    (value, kind)
                }));
            }
            Value::Number(number) if kind == Some(CredentialKind::Digits) => {
                let mut text = number.to_string();
                mask_member(&mut text, kind);
                if is_masked(&text) {
                    *value = Value::String(text);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Replaces each mark by one word, in all strings of `value`. A shell parses that word like the secret, whereas marks
/// are several words.
pub fn replace_marks_in_json(value: &mut Value) {
    let mut rest = vec![value];
    while let Some(value) = rest.pop() {
        match value {
            Value::String(text) if is_masked(text) => *text = replace_marks(text),
            Value::Array(items) => rest.extend(items),
            Value::Object(members) => rest.extend(members.values_mut()),
            _ => {}
        }
    }
}

/// Whether a secret was masked in `text`.
pub(crate) fn is_masked(text: &str) -> bool {
    text.contains(MASK_MARK.0) && find_unmasked_ranges(text).len() > 1
}

fn replace_marks(text: &str) -> String {
    let pieces: Vec<_> = find_unmasked_ranges(text).into_iter().map(|piece| &text[piece]).collect();
    pieces.join(MASK_WORD)
}

fn mask_member(text: &mut String, kind: Option<CredentialKind>) {
    match kind {
        Some(kind) if is_member_credential(kind, text) => {
            *text = format!("{}{}{}", MASK_MARK.0, kind.name(), MASK_MARK.1);
        }
        _ => {
            if let Cow::Owned(masked) = mask_secrets(text) {
                *text = masked;
            }
        }
    }
}

fn mask_member_names(members: &mut Map<String, Value>) {
    if members.keys().any(|name| matches!(mask_secrets(name), Cow::Owned(_))) {
        *members =
            mem::take(members).into_iter().map(|(name, value)| (mask_secrets(&name).into_owned(), value)).collect();
    }
}

/// A list of arguments: a program, options and values.
#[derive(Debug, Default)]
struct ArgumentList {
    is_curl: bool,
    /// The meaning of the last option for the next item.
    next: Option<CredentialKind>,
}

impl ArgumentList {
    /// The meaning of the next item.
    fn classify_item(&mut self, item: &str) -> Option<CredentialKind> {
        let is_option = item.starts_with('-');
        let option = match item {
            "-b" if self.is_curl => Some(CredentialKind::Cookie),
            item if item.starts_with("--") => credential_kind(item),
            _ => None,
        };
        self.is_curl |= item == "curl" || item.ends_with("/curl");
        mem::replace(&mut self.next, option).filter(|_| !is_option)
    }
}

/// The meaning of the value in `{"name": …, "value": …}`, as in lists of headers and variables.
fn classify_named_value(members: &Map<String, Value>) -> Option<CredentialKind> {
    let name = members.get("name").or_else(|| members.get("key"))?;
    credential_kind(name.as_str()?)
}

/// `text` with its secrets masked, if it has any, and how many bytes were scanned.
fn mask_once(text: &str) -> (Option<String>, usize) {
    let mut masked: Option<String> = None;
    let mut steps = 0;
    let mut copied = 0;
    for piece in find_unmasked_ranges(text) {
        let mut scanner = SecretScanner::new(&text[piece.clone()]);
        for found in scanner.by_ref() {
            let masked = masked.get_or_insert_default();
            masked.push_str(&text[copied..piece.start + found.start]);
            masked.extend([MASK_MARK.0, found.name, MASK_MARK.1]);
            copied = piece.start + found.end;
        }
        steps += piece.len() + scanner.steps();
    }
    if let Some(masked) = &mut masked {
        masked.push_str(&text[copied..]);
    }
    (masked, steps)
}

/// The pieces of a text that are not masked yet.
fn find_unmasked_ranges(text: &str) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut begin = 0;
    for (at, open) in text.match_indices(MASK_MARK.0) {
        let name = at + open.len();
        let inside = text.as_bytes()[name..].iter().take(MAX_MARK_BYTES);
        let length = inside.take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b' ').count();
        if text[name + length..].starts_with(MASK_MARK.1) {
            pieces.push(begin..at);
            begin = name + length + MASK_MARK.1.len();
        }
    }
    pieces.push(begin..text.len());
    pieces
}

#[cfg(test)]
mod tests;
