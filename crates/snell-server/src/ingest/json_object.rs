//! Parses a body as a JSON object.

use std::fmt;

use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::{Map, Value};
use snell::{Event, UserMessage};

use super::fields;
use crate::http::errors::HttpError;

/// The maximum nesting depth.
const MAX_DEPTH: usize = 128;

/// The remedy if the body is not an object.
const SEND_OBJECT_HINT: &str = "send an object such as {\"session_id\": \"…\"}";

/// The start of the error message for a duplicate key.
const DUPLICATE_KEY_PREFIX: &str = "duplicate key: ";

/// Parses an object. A duplicate key is an error; in nested objects, the last one is used.
pub(super) fn parse_object(text: &[u8]) -> Result<Map<String, Value>, HttpError> {
    let text = std::str::from_utf8(text).map_err(|error| {
        let at = error.valid_up_to();
        HttpError::bad_request(format!("the request body is not valid UTF-8 at byte {at}"))
    })?;
    if text.trim().is_empty() {
        let message = UserMessage::new("the request body is empty");
        return Err(HttpError::bad_request(message.with_hint(SEND_OBJECT_HINT)));
    }
    if snell::measure_json_depth(text) > MAX_DEPTH {
        return Err(HttpError::bad_request(format!("the request body is nested more than {MAX_DEPTH} levels deep")));
    }
    deserialize_object(text).or_else(|error| repair_or_explain(text, &error))
}

fn deserialize_object(text: &str) -> serde_json::Result<Map<String, Value>> {
    let mut reader = serde_json::Deserializer::from_str(text);
    // The depth is checked already, and may exceed the limit of serde_json by one.
    reader.disable_recursion_limit();
    let fields = (&mut reader).deserialize_map(UniqueKeysVisitor)?;
    reader.end()?;
    Ok(fields)
}

/// Explains the error, unless the text can be repaired: agents in JavaScript may cut a string inside a surrogate pair,
/// which the engine can read.
fn repair_or_explain(text: &str, error: &serde_json::Error) -> Result<Map<String, Value>, HttpError> {
    let message = error.to_string();
    if let Some(name) = message.strip_prefix(DUPLICATE_KEY_PREFIX) {
        let name = name.split(" at line ").next().unwrap_or(name);
        let message = UserMessage::new(format!("{name} appears twice in the request body"));
        return Err(HttpError::bad_request(message.with_hint("send it once")));
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
    // The message of serde_json could repeat content.
    let (line, column) = (error.line(), error.column());
    if error.is_data() {
        let message = UserMessage::new("the request body must be a JSON object");
        return HttpError::bad_request(message.with_hint(SEND_OBJECT_HINT));
    }
    let what = if error.is_eof() { "unexpected end" } else { "syntax error" };
    HttpError::bad_request(format!("the request body is not valid JSON: {what} at line {line}, column {column}"))
}

/// An object without duplicate keys.
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
            Err(HttpError::BadRequest(message)) => message.to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn messages_do_not_repeat_the_body() {
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(200), "]".repeat(200));
        let cases: [(&[u8], &str); 9] = [
            (b"", "the request body is empty (hint: send an object such as {\"session_id\": \"…\"})"),
            (b"  ", "the request body is empty (hint: send an object such as {\"session_id\": \"…\"})"),
            (b"{\"a\": \xff}", "the request body is not valid UTF-8 at byte 6"),
            (b"{", "the request body is not valid JSON: unexpected end at line 1, column 1"),
            (b"{\"a\" 1}", "the request body is not valid JSON: syntax error at line 1, column 6"),
            (b"{} x", "the request body is not valid JSON: syntax error at line 1, column 4"),
            (b"[1]", "the request body must be a JSON object (hint: send an object such as {\"session_id\": \"…\"})"),
            (
                b"{\"session_id\":\"a\",\"session_id\":\"b\"}",
                "\"session_id\" appears twice in the request body (hint: send it once)",
            ),
            (b"{\"secret\":1,\"secret\":2}", "a field appears twice in the request body (hint: send it once)"),
        ];
        for (text, message) in cases {
            assert_eq!(error_message(text), message, "{}", String::from_utf8_lossy(text));
        }
        assert_eq!(error_message(deep.as_bytes()), "the request body is nested more than 128 levels deep");
    }

    #[test]
    fn half_a_character_is_replaced() {
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
