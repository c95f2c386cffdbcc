//! The configuration of the document as it stands there, with `snell run`: its scripts get what Claude Code would send.

use serde_json::{Value, json};
use snell_test_support::payload::merge_fields;

use crate::support::CliSandbox;

const CONFIGURATION: &str = r#"{
  "hooks": {
    "SessionStart": [".claude/hooks/session_lifecycle.py"],
    "UserPromptSubmit": [".claude/hooks/session_lifecycle.py"],
    "Stop": [".claude/hooks/session_lifecycle.py"],
    "SessionEnd": [".claude/hooks/session_lifecycle.py"],
    "PreToolUse": [".claude/hooks/tool_tracking.py"],
    "PostToolUse": [".claude/hooks/tool_tracking.py"]
  }
}
"#;

/// What Claude Code says of each event beside what it says of all.
fn list_events() -> [(&'static str, &'static str, Value); 6] {
    let (lifecycle, tracking) = ("session_lifecycle", "tool_tracking");
    let tool = json!({
        "tool_name": "Bash", "tool_use_id": "toolu_01",
        "tool_input": {"command": "echo \"ä\" | wc -l", "description": "Count", "timeout": 120_000},
    });
    let mut ended = tool.clone();
    ended["tool_response"] = json!({"stdout": "1", "stderr": "", "interrupted": false, "isImage": false});
    ended["duration_ms"] = json!(12);
    [
        ("SessionStart", lifecycle, json!({"source": "startup", "model": "claude-opus-4-5"})),
        ("UserPromptSubmit", lifecycle, json!({"prompt": "[CLAUDE OS SYS: NOTIFICATION]: Workers complete"})),
        ("PreToolUse", tracking, tool),
        ("PostToolUse", tracking, ended),
        (
            "Stop",
            lifecycle,
            json!({"stop_hook_active": false, "last_assistant_message": "Done.", "background_tasks": [], "session_crons": []}),
        ),
        ("SessionEnd", lifecycle, json!({"reason": "prompt_input_exit"})),
    ]
}

fn build_payload(sandbox: &CliSandbox, event: &str, fields: &Value) -> Value {
    merge_fields(
        json!({
            "session_id": "5a3c", "prompt_id": "p1", "transcript_path": "/home/me/.claude/projects/x/5a3c.jsonl",
            "cwd": sandbox.project(), "permission_mode": "default", "effort": {"level": "high"}, "hook_event_name": event,
        }),
        fields,
    )
}

fn create_project(lifecycle: &str, tracking: &str) -> CliSandbox {
    CliSandbox::new()
        .file(".claude/settings.json", CONFIGURATION)
        .script(".claude/hooks/session_lifecycle.py", lifecycle)
        .script(".claude/hooks/tool_tracking.py", tracking)
        .env("CLAUDE_SESSION_ID", "ours")
        .env("CLAUDE_SESSION_ROLE", "chief")
        .env("CLAUDE_SESSION_MODE", "mission")
        .env("MISSION_EXECUTION_ID", "m1")
        .env("TMUX_PANE", "%1")
}

#[test]
fn each_script_gets_what_claude_code_sends_and_what_its_launcher_set() {
    let record = |name: &str| {
        format!(
            "cat > {name}.in; printf '%s %s %s %s %s %s' \"$CLAUDE_SESSION_ID\" \"$CLAUDE_SESSION_ROLE\" \
             \"$CLAUDE_SESSION_MODE\" \"$MISSION_EXECUTION_ID\" \"$TMUX_PANE\" \"$CLAUDE_PROJECT_DIR\" > {name}.env"
        )
    };
    for (event, script, fields) in list_events() {
        let sandbox = create_project(&record("session_lifecycle"), &record("tool_tracking"));
        let payload = build_payload(&sandbox, event, &fields);
        let ran = sandbox.run_event(event, &payload);
        assert_eq!((ran.code, ran.statuses(), ran.stderr.as_str()), (0, vec!["ok".to_owned()], ""), "{event}");
        assert_eq!((ran.warnings(), ran.context(), ran.messages()), (vec![], vec![], vec![]), "{event}");
        assert_eq!(sandbox.read_json(&format!("{script}.in")), payload, "{event}");
        let seen = format!("ours chief mission m1 %1 {}", sandbox.project().canonicalize().unwrap().display());
        assert_eq!(sandbox.read(&format!("{script}.env")), seen, "{event}");
        let other = if script == "tool_tracking" { "session_lifecycle" } else { "tool_tracking" };
        assert!(!sandbox.exists(&format!("{other}.in")), "{event}");
    }
}

#[test]
fn what_a_dispatcher_says_counts_as_it_does_in_claude_code() {
    // One entry point that looks at the event's name, as the document has it.
    let lifecycle = r#"
        case "$(cat)" in
            *'"SessionStart"'*) echo '[CLAUDE OS SYS: INFO]: Session context loaded' ;;
            *'"UserPromptSubmit"'*) echo '[CLAUDE OS SYS: INFO]: Workers finished: 1' ;;
            *'"stop_hook_active":true'*) ;;
            *'"Stop"'*) echo '{"decision": "block", "reason": "[CLAUDE OS SYS: WARNING]: Context at 80%"}' ;;
            *) echo 'Hook error: nobody knows this' >&2 ;;
        esac
        exit 0"#;
    let tracking = r#"
        case "$(cat)" in
            *'"PreToolUse"'*pkill*) echo 'pkill is not allowed' >&2; exit 2 ;;
        esac"#;
    let sandbox = create_project(lifecycle, tracking);
    let run = |event: &str, fields: Value| sandbox.run_event(event, &build_payload(&sandbox, event, &fields));
    let kill = json!({"tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "pkill node"}});
    let list = json!({"tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "ls"}});
    let cases = [
        ("SessionStart", json!({"source": "startup"}), "allow", "", "[CLAUDE OS SYS: INFO]: Session context loaded"),
        ("UserPromptSubmit", json!({"prompt": "x"}), "allow", "", "[CLAUDE OS SYS: INFO]: Workers finished: 1"),
        ("Stop", json!({"stop_hook_active": false}), "block", "[CLAUDE OS SYS: WARNING]: Context at 80%", ""),
        ("Stop", json!({"stop_hook_active": true}), "allow", "", ""),
        ("SessionEnd", json!({"reason": "other"}), "allow", "", ""),
        ("PreToolUse", kill.clone(), "block", "pkill is not allowed", ""),
        ("PreToolUse", list, "allow", "", ""),
        ("PostToolUse", kill, "allow", "", ""),
    ];
    for (event, fields, decision, reason, context) in cases {
        let ran = run(event, fields.clone());
        let what = format!("{event} {fields}");
        assert_eq!((ran.decision().as_str(), ran.reason().as_str()), (decision, reason), "{what}");
        assert_eq!(ran.code, if decision == "block" { 2 } else { 0 }, "{what}");
        assert_eq!(ran.context().join("\n"), context, "{what}");
    }
}

#[test]
fn the_documents_pattern_for_errors_stops_nothing() {
    let broken = "echo \"Hook error: no database\" >&2; exit 0";
    for (event, _, fields) in list_events() {
        let sandbox = create_project(broken, broken);
        let ran = sandbox.run_event(event, &build_payload(&sandbox, event, &fields));
        assert_eq!((ran.code, ran.decision().as_str(), ran.statuses()), (0, "allow", vec!["ok".to_owned()]), "{event}");
        assert_eq!((ran.context(), ran.messages()), (vec![], vec![]), "{event}: errors are not shown to the agent");
    }
}
