//! `file`, `command`, `agent`, `notification` and `project` of a `[[hook]]`, combined by and.

use serde_json::{Value, json};
use snell_test_support::process::run_with_stdin;

use super::create_project;
use crate::support::CliSandbox;

/// A hook that writes the files that it gets.
fn render_file_hook(event: &str) -> String {
    format!(
        "[[hook]]\nevent = \"{event}\"\nfile = \"**/*.rs\"\nrun = '''printf '%s|%s\\n' \"$SNELL_FILE\" \"$SNELL_FILES\" >> out'''\n"
    )
}

/// Sends an event to `snell hook`, as this agent does, and answers what the hook wrote.
fn send_as(agent: &str, payload: Value) -> Option<String> {
    let event = payload["hook_event_name"].as_str().unwrap();
    let canonical = if event == "AfterTool" { "PostToolUse" } else { event };
    let sandbox = CliSandbox::with_frozen_clock().home_file(".config/snell/snell.toml", &render_file_hook(canonical));
    let mut payload = payload;
    payload["cwd"] = json!(sandbox.project());
    payload["session_id"] = json!("s1");
    let ran = run_with_stdin(&mut sandbox.command(&["hook", "--agent", agent]), payload.to_string());
    assert_eq!(ran.code, 0, "{ran:?}");
    sandbox.exists("out").then(|| sandbox.read("out"))
}

#[test]
fn a_hook_runs_once_for_the_files_that_match_under_every_agent() {
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-x\n+y\n*** Add File: b.rs\n+z\n*** Add File: c.md\n+z\n\
        *** End Patch\n";
    let docs = "*** Begin Patch\n*** Add File: c.md\n+z\n*** End Patch\n";
    for (agent, payload, expected) in [
        (
            "claude",
            json!({"hook_event_name": "PostToolUse", "tool_name": "Edit",
                "tool_input": {"file_path": "src/a.rs", "old_string": "a", "new_string": "b"}, "tool_response": {}}),
            Some("src/a.rs|src/a.rs\n"),
        ),
        (
            "claude",
            json!({"hook_event_name": "PostToolUse", "tool_name": "Edit",
                "tool_input": {"file_path": "README.md", "old_string": "a", "new_string": "b"}, "tool_response": {}}),
            None,
        ),
        (
            "codex",
            json!({"hook_event_name": "PostToolUse", "turn_id": "t", "tool_name": "apply_patch",
                "tool_input": {"command": patch}, "tool_response": "Done"}),
            Some("src/a.rs|src/a.rs\nb.rs\n"),
        ),
        (
            "codex",
            json!({"hook_event_name": "PostToolUse", "turn_id": "t", "tool_name": "apply_patch",
                "tool_input": {"command": docs}, "tool_response": "Done"}),
            None,
        ),
        (
            "gemini",
            json!({"hook_event_name": "AfterTool", "tool_name": "write_file",
                "tool_input": {"file_path": "src/a.rs", "content": "x"}, "tool_response": {"llmContent": "ok"}}),
            Some("src/a.rs|src/a.rs\n"),
        ),
        (
            "gemini",
            json!({"hook_event_name": "AfterTool", "tool_name": "write_file",
                "tool_input": {"file_path": "a.md", "content": "x"}, "tool_response": {"llmContent": "ok"}}),
            None,
        ),
    ] {
        let told = format!("{agent}: {payload}");
        assert_eq!(send_as(agent, payload).as_deref(), expected, "{told}");
    }
}

/// Whether the only hook of a project runs for an event.
fn runs_hook(lines: &str, event: &str, payload: &Value) -> bool {
    let sandbox = create_project(&format!("[[hook]]\nevent = \"{event}\"\n{lines}\nrun = \"touch ran\"\n"));
    let ran = sandbox.run_event(event, payload);
    assert_eq!(ran.code, 0, "{ran:?}");
    sandbox.exists("ran")
}

#[test]
fn a_command_is_met_after_unwrapping() {
    for (command, expected) in [
        ("git push origin", true),
        ("sudo git push", true),
        ("sh -c 'git push --force origin main'", true),
        ("cd x && git push", true),
        ("echo git push", false),
        ("git pull", false),
    ] {
        let payload = json!({"tool_name": "Bash", "tool_input": {"command": command}});
        assert_eq!(runs_hook("command = \"git push **\"", "PreToolUse", &payload), expected, "{command}");
    }
    let write = json!({"tool_name": "Write", "tool_input": {"file_path": "a", "command": "git push"}});
    assert!(!runs_hook("command = \"git push **\"", "PreToolUse", &write), "a file tool runs no command");
}

#[test]
fn all_conditions_must_hold() {
    let edit = json!({"platform": "codex", "tool_name": "Edit", "tool_input": {"file_path": "a.rs"}});
    let notice = json!({"platform": "claude", "notification_type": "permission_prompt", "message": "Claude needs you"});
    let session = json!({"platform": "claude"});
    for (lines, event, payload, expected) in [
        ("agent = \"codex\"", "PreToolUse", &edit, true),
        ("agent = [\"claude\", \"codex\"]", "PreToolUse", &edit, true),
        ("agent = \"claude\"", "PreToolUse", &edit, false),
        ("agent = \"codex\"\nfile = \"*.rs\"\ntool = \"Edit\"", "PreToolUse", &edit, true),
        ("agent = \"codex\"\nfile = \"*.md\"\ntool = \"Edit\"", "PreToolUse", &edit, false),
        ("agent = \"codex\"\nfile = \"*.rs\"\ntool = \"Write\"", "PreToolUse", &edit, false),
        ("project = \"**\"", "SessionStart", &session, true),
        ("project = \"~/nowhere/**\"", "SessionStart", &session, false),
        ("notification = \"permission_prompt\"", "Notification", &notice, true),
        ("notification = \"idle_prompt|*needs you*\"", "Notification", &notice, true),
        ("notification = \"idle_prompt\"", "Notification", &notice, false),
    ] {
        assert_eq!(runs_hook(lines, event, payload), expected, "{lines}");
    }
}

#[test]
fn explain_names_the_condition_that_does_not_match() {
    let hook = "[[hook]]\nevent = \"PreToolUse\"\nfile = \"src/**\"\ncommand = \"git push **\"\nrun = \"true\"\n";
    let sandbox = create_project(hook);
    let explain = |tool: &str, input: &str| {
        sandbox.run_snell(&["explain", "PreToolUse", "--tool", tool, "--input", input], "").stdout
    };
    let told = explain("Edit", r#"{"file_path": "docs/a.md"}"#);
    assert!(told.contains("file \"src/**\" does not match \"docs/a.md\""), "{told}");
    let told = explain("Edit", r#"{"file_path": "src/a"}"#);
    assert!(
        told.contains("file \"src/**\" matches \"src/a\"; command \"git push **\" does not match a call"),
        "{told}"
    );
}

#[test]
fn invalid_conditions_are_reported() {
    for (lines, expected) in [
        ("event = \"PreToolUse\"\nagent = \"codx\"", "3:9: error: unknown agent \"codx\" (the hook is ignored)"),
        ("event = \"PreToolUse\"\nfile = \" \"", "3:8: error: \"file\" is empty (the hook is ignored)"),
        ("event = \"PreToolUse\"\ncommand = \"a | b\"", "3:11: error: \"command\" is not one simple command"),
        (
            "event = \"Stop\"\nfile = \"*.rs\"",
            "3:8: warning: \"file\" never matches this event, so the hook never runs",
        ),
        ("event = \"Stop\"\ncommand = \"ls\"", "3:11: warning: \"command\" never matches this event"),
        ("event = \"Stop\"\nnotification = \"x\"", "3:16: warning: \"notification\" never matches this event"),
    ] {
        let ran = create_project(&format!("[[hook]]\n{lines}\nrun = \"true\"\n")).run_snell(&["lint"], "");
        assert!(ran.stdout.contains(expected), "{expected}\n{}", ran.stdout);
    }
}
