//! The text of a body as an object.

use std::fmt;

use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::{Map, Value};
use snell::Event;

use super::fields;
use crate::http::errors::HttpError;

/// How deeply a body may be nested.
const MAX_DEPTH: usize = 128;

/// What begins the message of our own error.
const DUPLICATE_KEY_PREFIX: &str = "stands twice: ";

/// Reads an object. A name that stands in it twice is a mistake; deeper inside, the last one counts.
pub(super) fn parse_object(text: &[u8]) -> Result<Map<String, Value>, HttpError> {
    let text = std::str::from_utf8(text).map_err(|error| {
        let at = error.valid_up_to();
        HttpError::bad_request(format!("the body is not UTF-8: byte {at} belongs to no character"))
    })?;
    if text.trim().is_empty() {
        return Err(HttpError::bad_request("the body is empty; send a JSON object with a \"session_id\""));
    }
    if snell::measure_json_depth(text) > MAX_DEPTH {
        return Err(HttpError::bad_request(format!("the body is nested more than {MAX_DEPTH} levels deep")));
    }
    deserialize_object(text).or_else(|error| repair_or_explain(text, &error))
}

fn deserialize_object(text: &str) -> serde_json::Result<Map<String, Value>> {
    let mut reader = serde_json::Deserializer::from_str(text);
    // The depth is known already, and may be greater by one than what serde_json allows by itself.
    reader.disable_recursion_limit();
    let fields = (&mut reader).deserialize_map(UniqueKeysVisitor)?;
    reader.end()?;
    Ok(fields)
}

/// What is wrong with the text, unless it can be mended: agents written in JavaScript cut texts in the middle of a
/// character, and the engine knows how to read that.
fn repair_or_explain(text: &str, error: &serde_json::Error) -> Result<Map<String, Value>, HttpError> {
    let message = error.to_string();
    if let Some(name) = message.strip_prefix(DUPLICATE_KEY_PREFIX) {
        let name = name.split(" at line ").next().unwrap_or(name);
        return Err(HttpError::bad_request(format!("{name} stands in the body twice; send it once")));
    }
    if error.is_syntax() && text.contains("\\u") {
        return match Event::from_json(Some("any"), text.as_bytes()) {
            Ok((event, _)) => Ok(event.raw),
            Err(_) => Err(invalid_json_error(error)),
        };
    }
    Err(invalid_json_error(error))
}

fn invalid_json_error(error: &serde_json::Error) -> HttpError {
    // The reader's own words could repeat what was sent.
    let (line, column) = (error.line(), error.column());
    if error.is_data() {
        return HttpError::bad_request("the body must be a JSON object such as {\"session_id\": \"…\"}");
    }
    let what = if error.is_eof() { "it ends too early" } else { "it is wrong" };
    HttpError::bad_request(format!("the body is not valid JSON: {what} at line {line}, column {column}"))
}

/// An object whose names stand in it once.
struct UniqueKeysVisitor;

impl<'de> Visitor<'de> for UniqueKeysVisitor {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut fields = Map::new();
        while let Some((name, value)) = members.next_entry::<String, Value>()? {
            if fields.contains_key(&name) {
                let shown = match fields::find_known_name(&name) {
                    Some(known) => format!("\"{known}\""),
                    None => "a field".into(),
                };
                return Err(A::Error::custom(format!("{DUPLICATE_KEY_PREFIX}{shown}")));
            }
            fields.insert(name, value);
        }
        Ok(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn error_message(text: &[u8]) -> String {
        match parse_object(text) {
            Err(HttpError::BadRequest(message)) => message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_wrong_is_said_without_repeating_what_was_sent() {
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(200), "]".repeat(200));
        let cases: [(&[u8], &str); 9] = [
            (b"", "the body is empty; send a JSON object with a \"session_id\""),
            (b"  ", "the body is empty; send a JSON object with a \"session_id\""),
            (b"{\"a\": \xff}", "the body is not UTF-8: byte 6 belongs to no character"),
            (b"{", "the body is not valid JSON: it ends too early at line 1, column 1"),
            (b"{\"a\" 1}", "the body is not valid JSON: it is wrong at line 1, column 6"),
            (b"{} x", "the body is not valid JSON: it is wrong at line 1, column 4"),
            (b"[1]", "the body must be a JSON object such as {\"session_id\": \"…\"}"),
            (b"{\"session_id\":\"a\",\"session_id\":\"b\"}", "\"session_id\" stands in the body twice; send it once"),
            (b"{\"secret\":1,\"secret\":2}", "a field stands in the body twice; send it once"),
        ];
        for (text, message) in cases {
            assert_eq!(error_message(text), message, "{}", String::from_utf8_lossy(text));
        }
        assert_eq!(error_message(deep.as_bytes()), "the body is nested more than 128 levels deep");
    }

    #[test]
    fn half_a_character_is_mended() {
        let fields = parse_object(br#"{"prompt":"cut here: \ud83d","session_id":"s"}"#).unwrap();
        assert_eq!(fields["prompt"], "cut here: \u{fffd}");
    }

    #[test]
    fn numbers_are_kept_as_they_are_written() {
        let fields = parse_object(br#"{"n":123456789012345678901234567890.10,"e":1e400}"#).unwrap();
        assert_eq!(fields["n"].to_string(), "123456789012345678901234567890.10");
        assert!(fields["e"].is_number());
    }

    proptest! {
        #[test]
        fn nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse_object(&bytes);
        }
    }
}
