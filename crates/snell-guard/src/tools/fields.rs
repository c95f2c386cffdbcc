//! Fields of a call that are not what a tool takes: what cannot be read cannot be judged, and that is said.

use serde_json::Value as Json;

use crate::judge::Seen;

/// Looks whether all that stands at these keys can be read, and whether something stands at one of them. The first of
/// them is the one that most tools have.
pub(super) fn expect(input: &Json, keys: &[&'static str], seen: &mut Seen) {
    let is_named = keys
        .iter()
        .any(|key| input.get(key).is_some_and(|value| !value.is_null()));
    let missing = keys.first().copied().filter(|_| !is_named);
    missing.into_iter().for_each(|field| seen.unread(field));
    expect_texts(input, keys, seen);
}

/// Looks whether all that stands at these keys can be read.
pub(super) fn expect_texts(input: &Json, keys: &[&'static str], seen: &mut Seen) {
    keys.iter()
        .filter(|key| input.get(key).is_some_and(|value| !is_readable(value, keys)))
        .for_each(|field| seen.unread(field));
}

/// Whether it is a text, a list of texts, or a list of objects with such fields again.
fn is_readable(value: &Json, keys: &[&str]) -> bool {
    let is_text = |value: &Json| value.is_string() || value.is_null();
    let are_texts = |item: &Json| keys.iter().filter_map(|key| item.get(key)).all(is_text);
    match value {
        Json::Array(list) => list
            .iter()
            .all(|item| is_text(item) || item.is_object() && are_texts(item)),
        value => is_text(value),
    }
}
