//! How Wave hooks run, what blocks, and what a failure is.

use serde_json::{Value, json};

use super::{SETTINGS, build_hooks, create_project_with};
use crate::support::CliSandbox;

/// A tool event's payload; other events do not mind it.
fn build_payload() -> Value {
    json!({"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}})
}

/// A short timeout for a command that is to exceed it, and plenty for any other, however busy the machine is.
fn choose_timeout(command: &str, short: f64) -> Value {
    if command.contains("sleep") { json!(short) } else { json!(10) }
}

#[test]
fn a_result_tells_success_exit_code_output_duration_and_timeout() {
    let cases = [
        ("echo out; echo err >&2", "ok", json!([true, 0, null, "out\n", "err\n", false])),
        ("echo out; exit 7", "failed", json!([false, 7, null, "out\n", "", false])),
        ("echo err >&2; exit 2", "blocked", json!([false, 2, null, "", "err\n", false])),
        ("echo out; kill -9 $$", "failed", json!([false, null, 9, "out\n", "", false])),
        ("printf out; sleep 5", "timed_out", json!([false, null, null, "out", "", true])),
    ];
    for (command, status, expected) in cases {
        let mut hooks = build_hooks("PreToolUse", &[command]);
        hooks["PreToolUse"][0]["hooks"][0]["timeout"] = choose_timeout(command, 0.5);
        let ran = CliSandbox::new().hooks(SETTINGS, &hooks).run_event("PreToolUse", &build_payload());
        let hook = &ran.hooks()[0];
        let keys = ["success", "exit_code", "signal", "stdout", "stderr", "timed_out"];
        let found: Vec<_> = keys.iter().map(|key| hook[*key].clone()).collect();
        assert_eq!(Value::from(found), expected, "{command}");
        assert_eq!(hook["status"], status, "{command}");
        assert!(hook["duration_ms"].as_f64().unwrap() > 0.0, "{command}");
        assert_eq!(hook["command"], command);
    }
}

#[test]
fn exit_code_2_blocks_where_there_is_something_to_block() {
    for event in ["PreToolUse", "PermissionRequest", "UserPromptSubmit", "Stop"] {
        let mut hooks = build_hooks(event, &["echo ignored; echo 'not like this' >&2; exit 2"]);
        if event == "PermissionRequest" {
            hooks[event][0]["matcher"] = "*".into();
        }
        let ran = CliSandbox::new().hooks(SETTINGS, &hooks).run_event(event, &build_payload());
        assert_eq!((ran.code, ran.decision().as_str()), (2, "block"), "{event}");
        assert_eq!(ran.reason(), "not like this", "{event}");
        assert_eq!(ran.context(), [""; 0], "{event}");
    }
}

#[test]
fn a_block_without_words_names_the_command() {
    let ran = create_project_with("PreToolUse", &["exit 2"]).run_event("PreToolUse", &build_payload());
    assert_eq!((ran.code, ran.reason().as_str()), (2, "Blocked by hook: exit 2"));
}

#[test]
fn exit_code_2_where_nothing_can_be_blocked_is_said_and_changes_nothing() {
    let cases = [
        ("PostToolUse", "context"),
        ("SessionStart", "messages"),
        ("SessionEnd", "messages"),
        ("Notification", "messages"),
    ];
    for (event, listener) in cases {
        let ran = create_project_with(event, &["echo 'too late' >&2; exit 2"]).run_event(event, &build_payload());
        assert_eq!((ran.code, ran.decision().as_str()), (0, "allow"), "{event}");
        assert_eq!(ran.string_list(listener), ["too late"], "{event}");
        let other = if listener == "context" { "messages" } else { "context" };
        assert_eq!(ran.string_list(other), [""; 0], "{event}");
    }
}

#[test]
fn a_failure_of_the_hook_goes_on_and_is_shown_to_the_user() {
    let cases = [
        ("echo oops >&2; exit 1", "failed", "exited with 1: oops"),
        ("exit 3", "failed", "exited with 3"),
        ("kill -TERM $$", "failed", "was killed by signal 15"),
        ("no-such-program-anywhere", "failed", "exited with 127: "),
        ("sleep 5", "timed_out", "timed out after 300ms"),
    ];
    for event in ["PreToolUse", "UserPromptSubmit", "Stop"] {
        for (command, status, message) in cases {
            let mut hooks = build_hooks(event, &[command]);
            hooks[event][0]["hooks"][0]["timeout"] = choose_timeout(command, 0.3);
            let ran = CliSandbox::new().hooks(SETTINGS, &hooks).run_event(event, &build_payload());
            assert_eq!((ran.code, ran.decision().as_str()), (0, "allow"), "{event}: {command}");
            assert_eq!(ran.statuses(), [status], "{event}: {command}");
            let messages = ran.messages();
            assert_eq!(messages.len(), 1, "{event}: {command}: {messages:?}");
            assert!(
                messages[0].starts_with(&format!("wave hook failed: \"{command}\" {message}")),
                "{event}: {messages:?}"
            );
        }
    }
}

#[test]
fn hooks_run_one_after_the_other_and_neither_failure_nor_block_stops_the_next() {
    let commands = [
        "sleep 0.2; echo 1 >> order.txt",
        "echo 2 >> order.txt; exit 1",
        "echo 3 >> order.txt; echo first >&2; exit 2",
        "echo 4 >> order.txt; kill -9 $$",
        "echo 5 >> order.txt; echo second >&2; exit 2",
        "echo 6 >> order.txt",
    ];
    let sandbox = create_project_with("PreToolUse", &commands);
    let ran = sandbox.run_event("PreToolUse", &build_payload());
    assert_eq!(sandbox.read("order.txt"), "1\n2\n3\n4\n5\n6\n");
    assert_eq!(ran.statuses(), ["ok", "failed", "blocked", "failed", "blocked", "ok"]);
    assert_eq!((ran.code, ran.reason().as_str()), (2, "first\nsecond"));
}

#[test]
fn what_a_hook_prints_is_context_for_a_prompt_and_a_new_session_only() {
    let cases = [
        ("UserPromptSubmit", "echo ' look here '", &[" look here"][..]),
        ("SessionStart", "echo one; echo two", &["one\ntwo"]),
        ("UserPromptSubmit", "true", &[]),
        ("UserPromptSubmit", "echo out; exit 1", &[]),
        ("PreToolUse", "echo out", &[]),
        ("PostToolUse", "echo out", &[]),
        ("Stop", "echo out", &[]),
    ];
    for (event, command, expected) in cases {
        let ran = create_project_with(event, &[command]).run_event(event, &build_payload());
        assert_eq!(ran.context(), expected, "{event}: {command}");
    }
}

#[test]
fn post_tool_use_is_for_tools_that_succeeded() {
    let cases = [
        ("PostToolUse", json!({"tool_name": "Bash"}), true),
        ("PostToolUse", json!({"tool_name": "Bash", "tool_success": true}), true),
        ("PostToolUse", json!({"tool_name": "Bash", "tool_success": false}), false),
        ("PostToolUseFailure", json!({"tool_name": "Bash"}), false),
    ];
    for (event, payload, expected) in cases {
        let sandbox = create_project_with("PostToolUse", &["touch ran"]);
        sandbox.run_event(event, &payload);
        assert_eq!(sandbox.exists("ran"), expected, "{event} {payload}");
    }
}

#[test]
fn timeouts_are_seconds_with_a_default_of_10_and_a_cap_of_600() {
    let cases = [
        (None, 10_000, None),
        (Some(json!(3)), 3_000, None),
        (Some(json!(0.5)), 500, None),
        (Some(json!(600)), 600_000, None),
        (Some(json!(601)), 600_000, Some("warning")),
        (Some(json!(0)), 10_000, Some("error")),
        (Some(json!(-1)), 10_000, Some("error")),
        (Some(json!("3")), 10_000, Some("error")),
    ];
    for (timeout, expected, severity) in cases {
        let mut hooks = build_hooks("Stop", &["true"]);
        if let Some(timeout) = &timeout {
            hooks["Stop"][0]["hooks"][0]["timeout"] = timeout.clone();
        }
        let sandbox = CliSandbox::new().hooks(SETTINGS, &hooks);
        let listed = sandbox.run_snell(&["list", "--json"], "").json();
        assert_eq!(listed[0]["timeout_ms"], expected, "{timeout:?}");
        let ran = sandbox.run_event("Stop", &json!({}));
        assert_eq!(ran.statuses(), ["ok"], "{timeout:?}: a bad timeout does not switch the hook off");
        let severities: Vec<_> = ran.json()["warnings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|warning| warning["severity"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(severities, severity.map(str::to_owned).into_iter().collect::<Vec<_>>(), "{timeout:?}");
    }
}

#[test]
fn an_async_hook_is_started_and_not_awaited() {
    let mut hooks =
        build_hooks("PreToolUse", &["while [ ! -e go ]; do sleep 0.02; done; cat > in.json; exit 2", "true"]);
    hooks["PreToolUse"][0]["hooks"][0]["async"] = true.into();
    let sandbox = CliSandbox::new().hooks(SETTINGS, &hooks);
    let ran = sandbox.run_event("PreToolUse", &build_payload());
    // It could not have ended: what it waits for is not there yet.
    assert_eq!((ran.code, ran.statuses()), (0, vec!["started".to_owned(), "ok".to_owned()]));
    let sandbox = sandbox.file("go", "");
    let outcome = &sandbox.wait_for_background_outcomes(1)[0];
    assert_eq!((&outcome["exit_code"], &outcome["contract"]), (&json!(2), &json!("wave")));
    assert_eq!(sandbox.read_json("in.json")["tool_name"], "Bash");
}
