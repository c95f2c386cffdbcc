//! What can be told of a payload that cannot be read: one that is too large, broken off, or no JSON at all.

use serde_json::{Map, Value};

/// No more of a payload is looked at. Agents write who they are before what they are about.
pub(crate) const MAX_SALVAGE_BYTES: usize = 64 * 1024;

/// The fields that say what happens, where and to whom. What a tool is given is not among them: a part of it is not it.
const FIELDS: &[&str] =
    &["hook_event_name", "session_id", "transcript_path", "cwd", "permission_mode", "tool_name", "tool_use_id"];

/// Fields by whose names agents are told apart that cannot be answered: a verdict in the wrong words could be read as its
/// opposite.
const AGENT_MARKER_FIELDS: &[&str] = &[
    "agent_action_name",
    "clineVersion",
    "cursor_version",
    "hookEventName",
    "matcher_context",
    "model",
    "turn_id",
    "workspaceRoot",
];

/// Where it begins what a tool is given, in which any name may stand.
const INPUT: &str = "\"tool_input\"";

/// The fields at the beginning of a payload that can be made out, as far as they are texts.
pub(crate) fn salvage_fields(payload: &[u8]) -> Map<String, Value> {
    let beginning = payload.get(..MAX_SALVAGE_BYTES).unwrap_or(payload);
    let text = String::from_utf8_lossy(beginning);
    let before_input = text.split_once(INPUT).map_or(&*text, |(before, _)| before);
    let found = FIELDS.iter().filter_map(|field| Some(((*field).to_owned(), find_string_field(&text, field)?)));
    let marks = AGENT_MARKER_FIELDS
        .iter()
        .filter(|mark| before_input.contains(&format!("\"{mark}\"")))
        .map(|mark| ((*mark).to_owned(), Value::Null));
    found.chain(marks).collect()
}

/// The first text that follows this name, as JSON has it.
fn find_string_field(text: &str, field: &str) -> Option<Value> {
    // Within a text every quote has a sign before it, so this is none of those.
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
