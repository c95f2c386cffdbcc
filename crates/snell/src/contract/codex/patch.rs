//! Calls that write or edit a file, as the patch that Codex would apply.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::event::ToolCall;

/// The call of `apply_patch` with the same effect. `None` if the tool does not change a file, or its input is incomplete.
pub(super) fn translate_to_patch(tool: &ToolCall) -> Option<ToolCall> {
    let input = tool.input.as_ref()?;
    let text = |value: &Value, key: &str| value.get(key)?.as_str().map(str::to_owned);
    let path = text(input, "file_path")?;
    let mut patch = String::from("*** Begin Patch\n");
    match tool.name.as_str() {
        "Write" => {
            push_line(&mut patch, "*** Add File: ", &path);
            push_lines(&mut patch, '+', &text(input, "content")?);
        }
        "Edit" | "MultiEdit" => {
            push_line(&mut patch, "*** Update File: ", &path);
            let one = [input.clone()];
            let edits = input.get("edits").and_then(Value::as_array).map_or(&one[..], Vec::as_slice);
            for edit in edits {
                push_line(&mut patch, "@@", "");
                push_lines(&mut patch, '-', &text(edit, "old_string")?);
                push_lines(&mut patch, '+', &text(edit, "new_string")?);
            }
        }
        _ => return None,
    }
    patch.push_str("*** End Patch\n");
    Some(ToolCall { name: "apply_patch".into(), input: Some(json!({"command": patch})), ..tool.clone() })
}

fn push_line(patch: &mut String, start: &str, rest: &str) {
    // Writing to a string does not fail.
    let _ = writeln!(patch, "{start}{rest}");
}

fn push_lines(patch: &mut String, mark: char, text: &str) {
    for line in text.lines() {
        let _ = writeln!(patch, "{mark}{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_is_a_patch() {
        let cases = [
            (
                "Write",
                json!({"file_path": "a", "content": "x\ny"}),
                Some("*** Begin Patch\n*** Add File: a\n+x\n+y\n*** End Patch\n"),
            ),
            (
                "Edit",
                json!({"file_path": "a", "old_string": "x", "new_string": "y"}),
                Some("*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** End Patch\n"),
            ),
            ("Edit", json!({"file_path": "a"}), None),
            ("Read", json!({"file_path": "a"}), None),
        ];
        for (name, input, expected) in cases {
            let call = ToolCall { name: name.into(), input: Some(input), ..ToolCall::default() };
            let patch = translate_to_patch(&call).and_then(|call| Some(call.input?["command"].as_str()?.to_owned()));
            assert_eq!(patch.as_deref(), expected, "{name}");
        }
    }
}
