//! Tools: what the session's state is before, during and after them, and what is kept of each call.

use serde_json::{Value, json};

use super::{Stage, in_both_ways, noted};
use crate::hook::saying;
use crate::support::Sandbox;

fn call(id: &str, name: &str, input: Value) -> Value {
    json!({"tool_name": name, "tool_use_id": id, "tool_input": input})
}

fn ended(id: &str, name: &str, fields: Value) -> Value {
    let mut all = call(id, name, json!({"command": "make"}));
    all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    all
}

#[test]
fn the_session_is_tool_active_before_and_active_after() {
    in_both_ways(|stage| {
        for (mode, during) in [
            (None, "tool_active"),
            (Some("interactive"), "tool_active"),
            (Some("mission"), "tool_active"),
            (Some("night shift"), "tool_active"),
            (Some("background"), "active"),
        ] {
            let mode: Vec<_> = mode.map(|mode| ("CLAUDE_SESSION_MODE", mode)).into_iter().collect();
            let stage = stage(Sandbox::new()).launched(&mode).begin();
            stage.is_in_state("idle");
            stage.prompt("12:00:10", "Go.").is_silent();
            stage.is_in_state("active");
            for (second, event) in [(20, "PostToolUse"), (30, "PostToolUseFailure")] {
                let tool = call(event, "Bash", json!({"command": "make"}));
                stage
                    .tell(&format!("12:00:{second}"), "PreToolUse", tool.clone())
                    .is_silent();
                assert_eq!(stage.column("current_state"), during, "{mode:?}");
                let later = format!("12:00:{}", second + 5);
                stage.tell(&later, event, tool).is_silent();
                assert_eq!(stage.column("current_state"), "active", "{mode:?}");
                assert_eq!(stage.column("last_seen_at"), noted(&later), "{mode:?}");
            }
            stage
                .tell("12:00:40", "Stop", json!({"stop_hook_active": true}))
                .is_silent();
            stage.is_in_state("idle");
        }
    });
}

#[test]
fn tools_that_run_side_by_side_keep_it_active() {
    let stage = Stage::new().begin();
    stage.prompt("12:00:10", "Go.").is_silent();
    for (second, id) in [(20, "t1"), (21, "t2")] {
        let tool = call(id, "Read", json!({"file_path": id}));
        stage.tell(&format!("12:00:{second}"), "PreToolUse", tool).is_silent();
        stage.is_in_state("tool_active");
    }
}

#[test]
fn a_call_that_was_blocked_leaves_the_state_as_it_was() {
    let deny = saying("PreToolUse", &json!({"decision": "block", "reason": "no"}));
    let mail = call("t1", "mcp__gmail__send_email", json!({"to": "eve@example.com"}));
    let shell = call("t1", "Bash", json!({"command": "make"}));
    let cases = [
        ("by a hook of the user", deny.as_str(), &shell),
        ("by the rules for messages", "", &mail),
    ];
    for (what, settings, tool) in cases {
        for (before, steps) in [("idle", 0), ("active", 1)] {
            let stage = Stage::configured(settings).begin();
            if steps == 1 {
                stage.prompt("12:00:10", "Go.").is_silent();
            }
            stage.is_in_state(before);
            let answer = stage.tell("12:00:20", "PreToolUse", tool.clone()).json();
            assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{what}");
            assert_eq!(stage.column("current_state"), before, "{what}");
            assert_eq!(stage.column("current_tool"), Value::Null, "{what}");
            assert_eq!(stage.column("last_seen_at"), noted("12:00:20"), "{what}: it is alive");
        }
    }
}

#[test]
fn what_a_call_is_about_is_kept() {
    let cases = [
        (
            call("t", "Bash", json!({"command": "make  all\n&& echo ok"})),
            json!("make all && echo ok"),
        ),
        (
            call("t", "Read", json!({"file_path": "/a/b.rs", "limit": 3})),
            json!("/a/b.rs"),
        ),
        (
            call("t", "Grep", json!({"pattern": "fn main", "path": "src"})),
            json!("fn main"),
        ),
        (
            call("t", "WebFetch", json!({"url": "https://example.com", "prompt": "what"})),
            json!("https://example.com"),
        ),
        (
            call(
                "t",
                "Bash",
                json!({"command": "deploy --token ghp_abcdefghijklmnopqrstuvwxyz0123456789"}),
            ),
            json!("deploy --token [masked: token]"),
        ),
        (call("t", "Glob", json!({})), Value::Null),
        (call("t", "Glob", Value::Null), Value::Null),
    ];
    for (tool, expected) in cases {
        let stage = Stage::new().begin();
        stage.tell("12:00:20", "PreToolUse", tool.clone()).is_silent();
        stage.tell("12:00:21", "PostToolUse", tool.clone()).is_silent();
        let rows = stage
            .watched
            .rows("SELECT tool, tool_summary FROM events WHERE tool IS NOT NULL ORDER BY id");
        let row = json!({"tool": tool["tool_name"], "tool_summary": expected});
        assert_eq!(rows, [row.clone(), row], "{tool}");
    }
    let stage = Stage::new().begin();
    let long = call("t", "Bash", json!({"command": "x".repeat(100_000)}));
    stage.tell("12:00:20", "PreToolUse", long).is_silent();
    let kept = stage
        .watched
        .rows("SELECT length(tool_summary) AS it FROM events WHERE tool IS NOT NULL");
    assert!(kept[0]["it"].as_u64().unwrap() <= 201, "{kept:?}");
}

#[test]
fn how_long_a_tool_took_is_what_its_agent_says_or_what_was_measured() {
    // What the agent tells with the end, and what is kept, in microseconds.
    let cases = [
        ("PostToolUse", json!({"duration_ms": 1500}), true, json!(1_500_000)),
        ("PostToolUse", json!({"duration_ms": 0.25}), true, json!(250)),
        ("PostToolUse", json!({}), true, json!(10_000_000)),
        (
            "PostToolUseFailure",
            json!({"error": "Exit code 2"}),
            true,
            json!(10_000_000),
        ),
        ("PostToolUse", json!({"duration_ms": -1}), true, json!(10_000_000)),
        ("PostToolUse", json!({}), false, Value::Null),
    ];
    in_both_ways(|stage| {
        for (event, fields, begun, expected) in &cases {
            let stage = stage(Sandbox::new()).begin();
            if *begun {
                let tool = call("t1", "Bash", json!({"command": "make"}));
                stage.tell("12:00:20", "PreToolUse", tool).is_silent();
            }
            stage
                .tell("12:00:30", event, ended("t1", "Bash", fields.clone()))
                .is_silent();
            let rows = stage.watched.rows(&format!(
                "SELECT tool_us, tool_summary FROM events WHERE name = '{event}'"
            ));
            assert_eq!(
                rows,
                [json!({"tool_us": expected, "tool_summary": "make"})],
                "{event} {fields}"
            );
        }
    });
}
