//! The fields at the beginning of a payload that is too large, truncated, or not JSON.

use serde_json::{Map, Value};
use snell::AgentProduct;

/// Only this much of a payload is searched. Agents write the event and the session before the details.
pub(crate) const MAX_SALVAGE_BYTES: usize = 64 * 1024;

/// The fields of the event, the directory and the session. The tool's input is not among them: a part of it must not be judged.
const FIELDS: &[&str] = &[
    "hook_event_name",
    "hookEventName",
    "hookName",
    "session_id",
    "sessionId",
    "transcript_path",
    "cwd",
    "permission_mode",
    "tool_name",
    "toolName",
    "tool_use_id",
    "plugin",
    "client_type",
];

/// The keys of a tool's input, which can contain any other key.
const INPUTS: &[&str] = &["\"tool_input\"", "\"toolInput\"", "\"toolArgs\""];

/// The string fields at the beginning of a payload, and the keys by which products are recognized.
pub(crate) fn salvage_fields(payload: &[u8]) -> Map<String, Value> {
    let beginning = payload.get(..MAX_SALVAGE_BYTES).unwrap_or(payload);
    let text = String::from_utf8_lossy(beginning);
    let ends = INPUTS.iter().filter_map(|key| Some(text.find(key)? + key.len()));
    let before_input = &text[..ends.min().unwrap_or(text.len())];
    let fields = FIELDS.iter().filter_map(|field| Some(((*field).to_owned(), find_string_field(&text, field)?)));
    // The keys alone identify the product: an agent could misread an answer in the wrong format.
    let keys = AgentProduct::fingerprint_keys()
        .filter(|key| !FIELDS.contains(key) && before_input.contains(&format!("\"{key}\"")))
        .map(|key| (key.to_owned(), Value::Null));
    fields.chain(keys).collect()
}

/// The first JSON string after this key.
fn find_string_field(text: &str, field: &str) -> Option<Value> {
    // Quotes inside strings are escaped, so this match is a key.
    let (_, after) = text.split_once(&format!("\"{field}\""))?;
    let written = after.trim_start().strip_prefix(':')?.trim_start();
    let mut values = serde_json::Deserializer::from_str(written).into_iter::<String>();
    values.next()?.ok().map(Value::String)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_stands_at_the_beginning_is_made_out() {
        let event = json!({"hook_event_name": "PreToolUse"});
        let long = format!("{}{{\"cwd\": \"/far\"}}", " ".repeat(MAX_SALVAGE_BYTES));
        let rows = [
            ("", json!({})),
            ("[]", json!({})),
            ("nonsense", json!({})),
            ("{\"hook_event_name\": \"PreToolUse\", \"tool_input\": {\"comm", event.clone()),
            ("[{\"hook_event_name\"\n:\n\"PreToolUse\"}]", event.clone()),
            ("{\"hook_event_name\": \"PreToolUse\"} trailing", event),
            ("{\"hook_event_name\": 7, \"cwd\": null}", json!({})),
            ("{\"cursor_version\": \"1\", \"tool_input\": {\"model\": 1", json!({"cursor_version": null})),
            ("{\"prompt\": \"say \\\"cwd\\\": \\\"/x\\\"\"", json!({})),
            ("{\"cwd\": \"/a\\u0020b\", \"session_id\": \"cut of", json!({"cwd": "/a b"})),
            ("{\"cwd\": \"\u{feff}", json!({})),
            (long.as_str(), json!({})),
        ];
        for (payload, expected) in rows {
            assert_eq!(Value::Object(salvage_fields(payload.as_bytes())), expected, "{payload}");
        }
    }
}
