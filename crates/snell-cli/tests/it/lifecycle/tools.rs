//! Tools: what the session's state is before, during and after them, and what is kept of each call.

use serde_json::{Value, json};
use snell_test_support::payload::merge_fields;

use super::{LifecycleSandbox, format_stored_time, run_in_both_modes};
use crate::hook::render_answering_hook;
use crate::support::CliSandbox;

fn build_tool_call(id: &str, name: &str, input: Value) -> Value {
    json!({"tool_name": name, "tool_use_id": id, "tool_input": input})
}

fn build_tool_result(id: &str, name: &str, fields: Value) -> Value {
    merge_fields(build_tool_call(id, name, json!({"command": "make"})), &fields)
}

#[test]
fn the_session_is_tool_active_before_and_active_after() {
    run_in_both_modes(|stage| {
        for (mode, during) in [
            (None, "tool_active"),
            (Some("interactive"), "tool_active"),
            (Some("mission"), "tool_active"),
            (Some("night shift"), "tool_active"),
            (Some("background"), "active"),
        ] {
            let mode: Vec<_> = mode.map(|mode| ("CLAUDE_SESSION_MODE", mode)).into_iter().collect();
            let stage = stage(CliSandbox::new()).with_launcher_env(&mode).begin_session();
            stage.assert_session_state("idle");
            stage.send_prompt("12:00:10", "Go.").assert_silent();
            stage.assert_session_state("active");
            for (second, event) in [(20, "PostToolUse"), (30, "PostToolUseFailure")] {
                let tool = build_tool_call(event, "Bash", json!({"command": "make"}));
                stage.send_event(&format!("12:00:{second}"), "PreToolUse", tool.clone()).assert_silent();
                assert_eq!(stage.session_column("current_state"), during, "{mode:?}");
                let later = format!("12:00:{}", second + 5);
                stage.send_event(&later, event, tool).assert_silent();
                assert_eq!(stage.session_column("current_state"), "active", "{mode:?}");
                assert_eq!(stage.session_column("last_seen_at"), format_stored_time(&later), "{mode:?}");
            }
            stage.send_event("12:00:40", "Stop", json!({"stop_hook_active": true})).assert_silent();
            stage.assert_session_state("idle");
        }
    });
}

#[test]
fn tools_that_run_side_by_side_keep_it_active() {
    let stage = LifecycleSandbox::new().begin_session();
    stage.send_prompt("12:00:10", "Go.").assert_silent();
    for (second, id) in [(20, "t1"), (21, "t2")] {
        let tool = build_tool_call(id, "Read", json!({"file_path": id}));
        stage.send_event(&format!("12:00:{second}"), "PreToolUse", tool).assert_silent();
        stage.assert_session_state("tool_active");
    }
}

#[test]
fn a_call_that_was_blocked_leaves_the_state_as_it_was() {
    let deny = render_answering_hook("PreToolUse", &json!({"decision": "block", "reason": "no"}));
    let mail = build_tool_call("t1", "mcp__gmail__send_email", json!({"to": "eve@example.com"}));
    let shell = build_tool_call("t1", "Bash", json!({"command": "make"}));
    let cases = [("by a hook of the user", deny.as_str(), &shell), ("by the rules for messages", "", &mail)];
    for (what, settings, tool) in cases {
        for (before, steps) in [("idle", 0), ("active", 1)] {
            let stage = LifecycleSandbox::with_user_config(settings).begin_session();
            if steps == 1 {
                stage.send_prompt("12:00:10", "Go.").assert_silent();
            }
            stage.assert_session_state(before);
            let answer = stage.send_event("12:00:20", "PreToolUse", tool.clone()).json();
            assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{what}");
            assert_eq!(stage.session_column("current_state"), before, "{what}");
            assert_eq!(stage.session_column("current_tool"), Value::Null, "{what}");
            assert_eq!(stage.session_column("last_seen_at"), format_stored_time("12:00:20"), "{what}: it is alive");
        }
    }
}

#[test]
fn what_a_call_is_about_is_kept() {
    let cases = [
        (build_tool_call("t", "Bash", json!({"command": "make  all\n&& echo ok"})), json!("make all && echo ok")),
        (build_tool_call("t", "Read", json!({"file_path": "/a/b.rs", "limit": 3})), json!("/a/b.rs")),
        (build_tool_call("t", "Grep", json!({"pattern": "fn main", "path": "src"})), json!("fn main")),
        (
            build_tool_call("t", "WebFetch", json!({"url": "https://example.com", "prompt": "what"})),
            json!("https://example.com"),
        ),
        (
            build_tool_call("t", "Bash", json!({"command": "deploy --token ghp_abcdefghijklmnopqrstuvwxyz0123456789"})),
            json!("deploy --token [masked: token]"),
        ),
        (build_tool_call("t", "Glob", json!({})), Value::Null),
        (build_tool_call("t", "Glob", Value::Null), Value::Null),
    ];
    for (tool, expected) in cases {
        let stage = LifecycleSandbox::new().begin_session();
        stage.send_event("12:00:20", "PreToolUse", tool.clone()).assert_silent();
        stage.send_event("12:00:21", "PostToolUse", tool.clone()).assert_silent();
        let rows = stage.watched.query_rows("SELECT tool, tool_summary FROM events WHERE tool IS NOT NULL ORDER BY id");
        let row = json!({"tool": tool["tool_name"], "tool_summary": expected});
        assert_eq!(rows, [row.clone(), row], "{tool}");
    }
    let stage = LifecycleSandbox::new().begin_session();
    let long = build_tool_call("t", "Bash", json!({"command": "x".repeat(100_000)}));
    stage.send_event("12:00:20", "PreToolUse", long).assert_silent();
    let kept = stage.watched.query_rows("SELECT length(tool_summary) AS it FROM events WHERE tool IS NOT NULL");
    assert!(kept[0]["it"].as_u64().unwrap() <= 201, "{kept:?}");
}

#[test]
fn how_long_a_tool_took_is_what_its_agent_says_or_what_was_measured() {
    // What the agent tells with the end, and what is kept, in microseconds.
    let cases = [
        ("PostToolUse", json!({"duration_ms": 1500}), true, json!(1_500_000)),
        ("PostToolUse", json!({"duration_ms": 0.25}), true, json!(250)),
        ("PostToolUse", json!({}), true, json!(10_000_000)),
        ("PostToolUseFailure", json!({"error": "Exit code 2"}), true, json!(10_000_000)),
        ("PostToolUse", json!({"duration_ms": -1}), true, json!(10_000_000)),
        ("PostToolUse", json!({}), false, Value::Null),
    ];
    run_in_both_modes(|stage| {
        for (event, fields, begun, expected) in &cases {
            let stage = stage(CliSandbox::new()).begin_session();
            if *begun {
                let tool = build_tool_call("t1", "Bash", json!({"command": "make"}));
                stage.send_event("12:00:20", "PreToolUse", tool).assert_silent();
            }
            stage.send_event("12:00:30", event, build_tool_result("t1", "Bash", fields.clone())).assert_silent();
            let rows =
                stage.watched.query_rows(&format!("SELECT tool_us, tool_summary FROM events WHERE name = '{event}'"));
            assert_eq!(rows, [json!({"tool_us": expected, "tool_summary": "make"})], "{event} {fields}");
        }
    });
}
