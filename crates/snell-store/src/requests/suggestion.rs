//! An agent's own suggestions for permissions that last, which it offers in its dialog, too.

use serde_json::Value;

use super::RequestView;

impl RequestView {
    /// The agent's own suggestions for permissions that last, as lines for people.
    pub fn suggestions(&self) -> Vec<String> {
        list(&self.detail, "suggestions").iter().map(describe_suggestion).collect()
    }
}

/// The permission that an agent would give from now on. A suggestion of an unknown form is shown as it is.
fn describe_suggestion(suggestion: &Value) -> String {
    match (describe_change(suggestion), text(suggestion, "destination")) {
        (Some(change), Some(place)) => format!("{change} (kept in: {place})"),
        _ => suggestion.as_str().map_or_else(|| suggestion.to_string(), str::to_owned),
    }
}

fn describe_change(suggestion: &Value) -> Option<String> {
    match text(suggestion, "type")? {
        "addRules" => {
            let rules: Option<Vec<_>> = list(suggestion, "rules").iter().map(format_rule).collect();
            Some(format!("always {} {}", text(suggestion, "behavior")?, rules?.join(", ")))
        }
        "setMode" => Some(format!("switch to the permission mode {}", text(suggestion, "mode")?)),
        "addDirectories" => {
            let paths: Option<Vec<_>> = list(suggestion, "directories").iter().map(Value::as_str).collect();
            Some(format!("also work in {}", paths?.join(", ")))
        }
        _ => None,
    }
}

fn format_rule(rule: &Value) -> Option<String> {
    let tool = text(rule, "toolName")?;
    Some(text(rule, "ruleContent").map_or_else(|| tool.to_owned(), |content| format!("{tool}({content})")))
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::describe_suggestion;

    #[test]
    fn a_suggestion_says_what_it_would_allow() {
        let cases = [
            (
                json!({"type": "addRules", "behavior": "allow", "destination": "localSettings",
                    "rules": [{"toolName": "Bash", "ruleContent": "npm test:*"}, {"toolName": "Read"}]}),
                "always allow Bash(npm test:*), Read (kept in: localSettings)",
            ),
            (
                json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"}),
                "switch to the permission mode acceptEdits (kept in: session)",
            ),
            (
                json!({"type": "addDirectories", "directories": ["/a", "/b"], "destination": "session"}),
                "also work in /a, /b (kept in: session)",
            ),
            (json!({"type": "new"}), r#"{"type":"new"}"#),
            (
                json!({"type": "setMode", "mode": 7, "destination": "session"}),
                r#"{"type":"setMode","mode":7,"destination":"session"}"#,
            ),
            (json!("free text"), "free text"),
        ];
        for (suggestion, expected) in cases {
            assert_eq!(describe_suggestion(&suggestion), expected);
        }
    }
}
