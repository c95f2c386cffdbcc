//! Wave (seed 000), statement by statement.

use serde_json::json;

use crate::support::Sandbox;

#[test]
fn the_hook_receives_the_documents_object_on_stdin() {
    let sandbox = Sandbox::new().hooks(
        ".wave/settings.json",
        &json!({"PreToolUse": [{"matcher": "Write", "hooks": [{"type": "command", "command": "cat > in.json"}]}]}),
    );
    let ran = sandbox.run("PreToolUse", &json!({"session_id": "s", "tool_name": "Write"}));
    assert_eq!(ran.code, 0);
    assert_eq!(sandbox.read_json("in.json")["tool_name"], "Write");
}
