//! Detects what was removed before a value was stored: masked secrets and truncated texts.

use serde_json::Value;

use crate::record::redaction::is_masked;
use crate::record::text_limits::OMISSION_NOTICE;

/// The redactions in a stored value. They are detected by their marks, so a text that had such a mark originally looks
/// redacted too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Redactions {
    /// Secrets.
    pub masked: bool,
    /// The middle of long texts.
    pub shortened: bool,
}

impl Redactions {
    /// Finds the redactions in a stored value.
    pub fn from_value(value: &Value) -> Self {
        let mut losses = Self::default();
        // A stack instead of recursion, as in the code that makes them.
        let mut rest = vec![value];
        while let Some(value) = rest.pop() {
            match value {
                Value::String(text) => losses.scan_text(text),
                Value::Array(items) => rest.extend(items),
                Value::Object(members) => {
                    for (name, value) in members {
                        losses.scan_text(name);
                        rest.push(value);
                    }
                }
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
        losses
    }

    /// Whether anything was removed.
    pub fn has_any(self) -> bool {
        self.masked || self.shortened
    }

    fn scan_text(&mut self, text: &str) {
        self.masked |= is_masked(text);
        self.shortened |= text.contains(OMISSION_NOTICE.1);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use snell::{Event, EventName, Timestamp};

    use super::*;
    use crate::record::event_record::EventRecord;
    use crate::record::masked_record::MaskedRecord;

    #[test]
    fn redactions_of_a_payload_are_detected() {
        let cases = [
            (json!({"command": "ls -l", "list": [1, null, {"a": "b"}]}), (false, false)),
            (json!({"command": format!("echo {}", "x".repeat(100_000))}), (false, true)),
            (json!({"env": [{"command": "API_TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345 make"}]}), (true, false)),
        ];
        for (input, (masked, shortened)) in cases {
            let event = Event::new(EventName::PreToolUse).with_tool("Bash", input);
            let mut event = event.clone();
            event.raw = event.to_json().as_object().unwrap().clone();
            let kept = MaskedRecord::from(EventRecord::new(&event, Timestamp::UNIX_EPOCH));
            let input = &kept.payload["tool_input"];
            assert_eq!(Redactions::from_value(input), Redactions { masked, shortened }, "{input}");
        }
    }
}
