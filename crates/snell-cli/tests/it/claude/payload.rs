//! What a hook reads on its standard input, finds in its environment, and where it runs.

use serde_json::{Value, json};
use snell_test_support::payload::merge_fields;

use super::{build_command_hook, create_project};
use crate::support::CliSandbox;

/// The fields of each event beside those that every event has.
fn list_event_fields() -> Vec<(&'static str, Value)> {
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1"});
    let with = |more: Value| merge_fields(call.clone(), &more);
    let task =
        json!({"task_id": "1", "task_subject": "s", "task_description": "d", "teammate_name": "t", "team_name": "n"});
    vec![
        ("SessionStart", json!({"source": "startup", "model": "m", "agent_type": "a", "session_title": "t"})),
        ("Setup", json!({"trigger": "init"})),
        (
            "InstructionsLoaded",
            json!({"file_path": "/f", "memory_type": "Project", "load_reason": "include", "globs": ["*"],
                   "trigger_file_path": "/t", "parent_file_path": "/p"}),
        ),
        ("UserPromptSubmit", json!({"prompt": "two\nlines ü"})),
        (
            "UserPromptExpansion",
            json!({"expansion_type": "slash_command", "command_name": "c", "command_args": "a", "command_source": "s",
                   "prompt": "/c a"}),
        ),
        ("MessageDisplay", json!({"turn_id": "1", "message_id": "2", "index": 0, "final": true, "delta": "d"})),
        ("PreToolUse", call.clone()),
        (
            "PermissionRequest",
            json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "permission_suggestions": [{"type": "x"}]}),
        ),
        ("PermissionDenied", with(json!({"reason": "classifier"}))),
        ("PostToolUse", with(json!({"tool_response": {"stdout": "x"}, "duration_ms": 12}))),
        ("PostToolUseFailure", with(json!({"error": "e", "is_interrupt": false, "duration_ms": 12}))),
        ("PostToolBatch", json!({"tool_calls": [{"tool_name": "Bash"}]})),
        ("Notification", json!({"message": "m", "title": "t", "notification_type": "idle_prompt"})),
        ("SubagentStart", json!({"agent_id": "a1", "agent_type": "Explore"})),
        (
            "SubagentStop",
            json!({"stop_hook_active": false, "agent_id": "a1", "agent_type": "Explore", "agent_transcript_path": "/a",
                   "last_assistant_message": "done", "background_tasks": [], "session_crons": []}),
        ),
        ("TaskCreated", task.clone()),
        ("TaskCompleted", task),
        ("TeammateIdle", json!({"teammate_name": "t", "team_name": "n"})),
        (
            "Stop",
            json!({"stop_hook_active": true, "last_assistant_message": "done", "background_tasks": [{"id": 1}],
                   "session_crons": []}),
        ),
        ("StopFailure", json!({"error": "rate_limit", "error_details": "d", "last_assistant_message": "l"})),
        ("ConfigChange", json!({"source": "user_settings", "file_path": "/f"})),
        ("CwdChanged", json!({"old_cwd": "/a", "new_cwd": "/b"})),
        ("DirectoryAdded", json!({"directory": "/d", "source": "slash_command"})),
        ("WorktreeCreate", json!({"name": "w"})),
        ("WorktreeRemove", json!({"worktree_path": "/w"})),
        ("PreCompact", json!({"trigger": "manual", "custom_instructions": "c"})),
        ("PostCompact", json!({"trigger": "auto", "compact_summary": "s"})),
        (
            "Elicitation",
            json!({"mcp_server_name": "m", "message": "?", "mode": "form", "url": "u", "elicitation_id": "e",
                   "requested_schema": {}}),
        ),
        (
            "ElicitationResult",
            json!({"mcp_server_name": "m", "action": "accept", "mode": "form", "elicitation_id": "e", "content": {}}),
        ),
        ("SessionEnd", json!({"reason": "logout"})),
        ("FileChanged", json!({"file_path": "/f", "event": "change"})),
    ]
}

#[test]
fn each_event_sends_its_own_fields_and_those_of_all_on_one_line() {
    for (event, fields) in list_event_fields() {
        let sandbox = create_project(event, &json!([build_command_hook("cat > in.json")]));
        let mut expected = json!({
            "session_id": "s1", "transcript_path": "/t.jsonl", "cwd": sandbox.project(), "prompt_id": "p1",
            "permission_mode": "plan", "effort": {"level": "high"}, "hook_event_name": event,
        });
        let object = expected.as_object_mut().unwrap();
        object.extend(fields.as_object().unwrap().clone());
        let mut sent = expected.clone();
        // What another product adds for itself is not Claude Code's to send.
        sent["foreign_field"] = 1.into();
        sandbox.run_event(event, &sent);
        let text = sandbox.read("in.json");
        assert_eq!(sandbox.read_json("in.json"), expected, "{event}");
        assert_eq!(text.matches('\n').count(), 1, "{event}: one line");
        assert!(text.ends_with('\n'), "{event}: with its end");
    }
}

#[test]
fn a_permission_request_has_no_tool_use_id() {
    let sandbox = create_project("PermissionRequest", &json!([build_command_hook("cat > in.json")]));
    sandbox.run_event("PermissionRequest", &json!({"tool_name": "Bash", "tool_input": {}, "tool_use_id": "t1"}));
    assert_eq!(sandbox.read_json("in.json").get("tool_use_id"), None);
}

#[test]
fn inside_a_subagent_every_event_says_so() {
    for event in ["PreToolUse", "UserPromptSubmit", "Notification"] {
        let sandbox = create_project(event, &json!([build_command_hook("cat > in.json")]));
        sandbox.run_event(event, &json!({"tool_name": "Bash", "agent_id": "a1", "agent_type": "Explore"}));
        let told = sandbox.read_json("in.json");
        assert_eq!((&told["agent_id"], &told["agent_type"]), (&json!("a1"), &json!("Explore")), "{event}");
    }
}

#[test]
fn a_host_that_knows_little_still_gets_its_hooks_run() {
    for payload in ["", "{}", "{\"tool_name\": null}"] {
        let sandbox = create_project("PreToolUse", &json!([build_command_hook("cat > in.json")]));
        let ran = sandbox.run_snell(&["run", "PreToolUse"], payload);
        assert_eq!(ran.statuses(), ["ok"], "{payload}");
        let told = sandbox.read_json("in.json");
        assert_eq!(told["hook_event_name"], "PreToolUse", "{payload}");
        assert_eq!(told["cwd"], json!(sandbox.project()), "{payload}");
        assert!(told["session_id"].is_string() && told["transcript_path"].is_string(), "{payload}: {told}");
    }
}

#[test]
fn a_hook_runs_in_the_events_directory_and_knows_the_project() {
    let sandbox = create_project("PreToolUse", &json!([build_command_hook("pwd -P > \"$CLAUDE_PROJECT_DIR/log\"")]))
        .file("inner/x", "");
    let root = sandbox.project();
    let inner = root.join("inner");
    let cases = [
        (json!(inner), inner.clone()),
        (json!(sandbox.home()), sandbox.home()),
        (Value::Null, root.clone()),
        // A directory that is gone is no reason not to run a guard.
        (json!(root.join("vanished")), root.clone()),
        (json!(root.join("snell-is-no-directory")), root),
    ];
    let sandbox = sandbox.file("snell-is-no-directory", "");
    for (cwd, expected) in cases {
        let ran = sandbox.run_event("PreToolUse", &json!({"tool_name": "Bash", "cwd": cwd}));
        assert_eq!(ran.statuses(), ["ok"], "{cwd}");
        let expected = expected.canonicalize().unwrap();
        assert_eq!(sandbox.read("log").trim(), expected.to_str().unwrap(), "{cwd}");
    }
}

#[test]
fn a_relative_directory_is_one_of_the_project_and_told_in_full() {
    let sandbox = create_project(
        "PreToolUse",
        &json!([build_command_hook("cat > \"$CLAUDE_PROJECT_DIR/in.json\"; pwd -P > \"$CLAUDE_PROJECT_DIR/log\"")]),
    )
    .file("inner/x", "");
    let inner = sandbox.project().join("inner");
    sandbox.run_event("PreToolUse", &json!({"tool_name": "Bash", "cwd": "inner"}));
    assert_eq!(sandbox.read_json("in.json")["cwd"], json!(inner));
    let real = inner.canonicalize().unwrap();
    assert_eq!(sandbox.read("log").trim(), real.to_str().unwrap());
}

#[test]
fn an_event_that_nobody_knows_has_the_name_it_was_fired_under() {
    let sandbox = create_project("FooBar", &json!([build_command_hook("cat > in.json")]));
    let ran = sandbox.run_event("FooBar", &json!({"hook_event_name": "Other", "more": 1}));
    assert_eq!(ran.statuses(), ["ok"]);
    let told = sandbox.read_json("in.json");
    assert_eq!((&told["hook_event_name"], &told["more"]), (&json!("FooBar"), &json!(1)));
}

#[test]
fn the_project_directory_is_the_one_that_was_named() {
    let sandbox = CliSandbox::new().home_file(
        ".claude/settings.json",
        &json!({"hooks": {"Stop": [{"hooks": [build_command_hook("echo $CLAUDE_PROJECT_DIR > $HOME/log")]}]}})
            .to_string(),
    );
    let named = sandbox.project().join("sub");
    let sandbox = sandbox.file("sub/x", "").env("CLAUDE_PROJECT_DIR", "/stale");
    sandbox.run_snell(&["run", "Stop", "--project", "sub"], "{}");
    let told = std::fs::read_to_string(sandbox.home().join("log")).unwrap();
    assert_eq!(told.trim(), named.to_str().unwrap());
}
