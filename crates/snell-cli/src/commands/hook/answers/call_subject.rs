//! The subject of a call: two calls are the same if their tools and their subjects are equal.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use snell::{Event, ToolClass};

/// Arguments that do not change the effect of a call.
const INERT_ARGUMENTS: &[&str] = &["description"];

/// A call as remembered answers know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CallSubject {
    /// The tool.
    pub(super) tool: String,
    /// A hash of everything that can change the effect of the call, because it may contain secrets.
    pub(super) text: String,
}

impl CallSubject {
    /// The path for tools that write a file, else the whole input and the directory.
    pub(super) fn of_event(event: &Event) -> Option<Self> {
        let call = event.tool.as_ref()?;
        let input = call.input.as_ref()?.as_object()?;
        let path = input.get("file_path").and_then(Value::as_str).filter(|path| path.starts_with('/'));
        let mut parts = match path.filter(|_| ToolClass::FileWrite.contains(&call.name)) {
            Some(path) => json!({"path": path}),
            None => {
                let mut input = input.clone();
                input.retain(|key, _| !INERT_ARGUMENTS.contains(&key.as_str()));
                json!({"input": input, "cwd": event.cwd})
            }
        };
        // An agent may change the order of keys.
        parts.sort_all_objects();
        let hash = Sha256::digest(parts.to_string().as_bytes());
        let text = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        Some(Self { tool: call.name.clone(), text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_subject(tool: &str, cwd: &str, input: Value) -> CallSubject {
        let payload = json!({"hook_event_name": "PermissionRequest", "session_id": "s", "cwd": cwd, "tool_name": tool,
            "tool_input": input});
        let product = snell::AgentProduct::find_by_name("claude").unwrap();
        CallSubject::of_event(&product.decode(None, payload.as_object().unwrap().clone()).unwrap()).unwrap()
    }

    #[test]
    fn a_call_is_the_same_only_if_nothing_that_matters_differs() {
        let before = read_subject("Bash", "/a", json!({"command": "make", "description": "build", "timeout": 5}));
        let cases = [
            ("Bash", "/a", json!({"timeout": 5, "description": "other words", "command": "make"}), true),
            ("Bash", "/a", json!({"command": "make"}), false),
            ("Bash", "/a", json!({"command": "make ", "timeout": 5}), false),
            ("Bash", "/b", json!({"command": "make", "timeout": 5}), false),
            ("PowerShell", "/a", json!({"command": "make", "timeout": 5}), false),
        ];
        for (tool, cwd, input, expected) in cases {
            assert_eq!(read_subject(tool, cwd, input.clone()) == before, expected, "{tool} {cwd} {input}");
        }
        let write = |path: &str, text: &str| read_subject("Write", "/a", json!({"file_path": path, "content": text}));
        assert_eq!(write("/a/x", "1"), write("/a/x", "2"));
        assert_ne!(write("/a/x", "1"), write("/a/y", "1"));
        assert_ne!(write("x", "1"), write("x", "2"));
    }
}
