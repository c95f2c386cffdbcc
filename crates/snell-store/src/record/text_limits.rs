//! Prepares texts for storage: secrets are masked, and the middle of long texts is removed.

use std::borrow::Cow;

use serde_json::Value;

use crate::record::redaction;

/// The mark between the start and the end of a text with a strict limit.
const TRUNCATION_MARK: &str = "\n[…]\n";

/// The text before and after the number of removed bytes.
pub(crate) const OMISSION_NOTICE: (&str, &str) = ("… [", " bytes left out] …");

/// The length of both with the longest number.
const MAX_NOTICE_BYTES: usize = OMISSION_NOTICE.0.len() + OMISSION_NOTICE.1.len() + 20;

/// Masks and truncates a text.
pub(crate) fn sanitize_text(text: &str, most: usize) -> String {
    truncate_with_notice(&redaction::mask_secrets(text), most).into_owned()
}

/// As [`sanitize_text`], but never longer than `most`, with equal parts of the start and the end.
pub(crate) fn sanitize_text_within(text: &str, most: usize) -> String {
    truncate_middle(&redaction::mask_secrets(text), most).into_owned()
}

/// The start and the end of a text that is longer than this, with a mark in between.
pub(crate) fn truncate_middle(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return text.into();
    }
    let half = most.saturating_sub(TRUNCATION_MARK.len()) / 2;
    let (end, begin) = (text.floor_char_boundary(half), text.ceil_char_boundary(text.len() - half));
    [&text[..end], TRUNCATION_MARK, &text[begin..]].concat().into()
}

/// Truncates all strings of a value that are longer than this.
pub(crate) fn truncate_json_strings(value: &mut Value, most: usize) {
    match value {
        Value::String(text) if text.len() > most => *text = truncate_with_notice(text, most).into_owned(),
        Value::Array(items) => items.iter_mut().for_each(|item| truncate_json_strings(item, most)),
        Value::Object(fields) => fields.values_mut().for_each(|field| truncate_json_strings(field, most)),
        _ => {}
    }
}

/// The start and the end of a long text, with a notice of the number of removed bytes in between. The limit includes
/// the notice: a record of an older version is truncated again when it is stored, and must not change.
pub(crate) fn truncate_with_notice(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return text.into();
    }
    let room = most.saturating_sub(MAX_NOTICE_BYTES);
    let end = text.floor_char_boundary(room / 4 * 3);
    let begin = text.ceil_char_boundary(text.len() - room / 4);
    let left_out = begin - end;
    format!("{}{}{left_out}{}{}", &text[..end], OMISSION_NOTICE.0, OMISSION_NOTICE.1, &text[begin..]).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_truncated_text_is_not_truncated_again() {
        const MOST: usize = 16 * 1024;
        for text in ["a".repeat(17_000), "ä".repeat(9_000), "€".repeat(100_000)] {
            let once = truncate_with_notice(&text, MOST).into_owned();
            assert!(once.len() <= MOST, "{}", once.len());
            assert_eq!(truncate_with_notice(&once, MOST), once);
            let left_out =
                once.split(OMISSION_NOTICE.0).nth(1).and_then(|rest| rest.split(OMISSION_NOTICE.1).next()).unwrap();
            let mark = OMISSION_NOTICE.0.len() + left_out.len() + OMISSION_NOTICE.1.len();
            assert_eq!(once.len() - mark + left_out.parse::<usize>().unwrap(), text.len());
        }
    }
}
