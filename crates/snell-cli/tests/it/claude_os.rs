//! Scripts named by a string: found from the project, spoken to as Claude Code speaks.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use snell_test_support::payload::merge_fields;

use crate::support::CliSandbox;

/// The file in which such scripts are registered.
const SETTINGS: &str = ".claude/settings.json";

/// The "Configuration" of the document, letter by letter.
const EXAMPLE: &str = r#"{
  "hooks": {
    "SessionStart": [".claude/hooks/session_lifecycle.py"],
    "UserPromptSubmit": [".claude/hooks/session_lifecycle.py"],
    "Stop": [".claude/hooks/session_lifecycle.py"],
    "SessionEnd": [".claude/hooks/session_lifecycle.py"],
    "PreToolUse": [".claude/hooks/tool_tracking.py"],
    "PostToolUse": [".claude/hooks/tool_tracking.py"]
  }
}"#;

/// A project whose `check` runs this on an event.
fn create_project_with(event: &str, body: &str) -> CliSandbox {
    CliSandbox::new().hooks(SETTINGS, &json!({ event: ["hooks/check"] })).script("hooks/check", body)
}

fn canonicalize_path(sandbox: &CliSandbox, inside: &str) -> String {
    sandbox.project().join(inside).canonicalize().unwrap().display().to_string()
}

#[test]
fn the_documents_configuration_calls_its_scripts() {
    let cases = [
        ("SessionStart", "session_lifecycle", json!({"source": "startup"})),
        ("UserPromptSubmit", "session_lifecycle", json!({"prompt": "p"})),
        ("Stop", "session_lifecycle", json!({"stop_hook_active": false})),
        ("SessionEnd", "session_lifecycle", json!({"reason": "other"})),
        ("PreToolUse", "tool_tracking", json!({"tool_name": "Bash", "tool_input": {"command": "ls"}})),
        ("PostToolUse", "tool_tracking", json!({"tool_name": "mcp__a__b", "tool_response": {"ok": true}})),
    ];
    for (event, script, fields) in cases {
        let sandbox = CliSandbox::new()
            .file(SETTINGS, EXAMPLE)
            .script(".claude/hooks/session_lifecycle.py", "cat > session_lifecycle.json")
            .script(".claude/hooks/tool_tracking.py", "cat > tool_tracking.json");
        let payload = merge_fields(json!({"session_id": "s", "transcript_path": "/t.jsonl"}), &fields);
        let ran = sandbox.run_event(event, &payload);
        assert_eq!((ran.code, ran.warnings(), ran.messages()), (0, vec![], vec![]), "{event}");
        assert_eq!(ran.statuses(), ["ok"], "{event}");
        assert_eq!(ran.hooks()[0]["contract"], "claude-os", "{event}");
        assert_eq!(ran.hooks()[0]["command"], format!(".claude/hooks/{script}.py"), "{event}");
        let mut expected = payload.clone();
        expected["cwd"] = canonicalize_path(&sandbox, "").into();
        expected["hook_event_name"] = event.into();
        assert_eq!(sandbox.read_json(&format!("{script}.json")), expected, "{event}");
    }
}

#[test]
fn the_event_is_one_line_of_json_and_the_project_a_variable() {
    let sandbox = create_project_with("UserPromptSubmit", "cat > in.json; echo \"$CLAUDE_PROJECT_DIR\" > dir.txt")
        .env("CLAUDE_PROJECT_DIR", "/outer");
    sandbox.run_event("UserPromptSubmit", &json!({"session_id": "s", "prompt": "two\nlines"}));
    let text = sandbox.read("in.json");
    assert_eq!(text.find('\n'), Some(text.len() - 1), "{text}");
    assert_eq!(sandbox.read_json("in.json")["prompt"], "two\nlines");
    assert_eq!(sandbox.read("dir.txt").trim_end(), canonicalize_path(&sandbox, ""));
}

#[test]
fn a_script_is_found_from_the_project_and_runs_where_the_event_happened() {
    let cases = [
        (json!({"cwd": "sub dir"}), "sub dir"),
        (json!({}), ""),
        // A directory that is gone cannot be run in.
        (json!({"cwd": "/nowhere/at/all"}), ""),
    ];
    for (mut payload, expected) in cases {
        let sandbox = create_project_with("Stop", "pwd -P > \"$CLAUDE_PROJECT_DIR/cwd.txt\"").file("sub dir/.keep", "");
        if let Some(cwd) = payload["cwd"].as_str() {
            payload["cwd"] = sandbox.project().join(cwd).to_str().unwrap().into();
        }
        let ran = sandbox.run_event("Stop", &payload);
        assert_eq!(ran.statuses(), ["ok"], "{payload}: {ran:?}");
        assert_eq!(sandbox.read("cwd.txt").trim_end(), canonicalize_path(&sandbox, expected), "{payload}");
    }
}

#[test]
fn a_script_runs_in_a_project_whose_name_is_no_text() {
    let sandbox = CliSandbox::with_project_name(OsStr::from_bytes(b"p\xffq"))
        .hooks(SETTINGS, &json!({"PreToolUse": ["hooks/check"]}))
        .script("hooks/check", "echo \"$CLAUDE_PROJECT_DIR\" > dir.txt; echo no >&2; exit 2");
    let ran = sandbox.run_event("PreToolUse", &json!({"tool_name": "Bash"}));
    assert_eq!((ran.code, ran.reason().as_str()), (2, "no"), "{ran:?}");
    let told = fs::read(sandbox.project().join("dir.txt")).unwrap();
    assert_eq!(told.trim_ascii_end(), sandbox.project().as_os_str().as_bytes());
}

#[test]
fn the_path_may_be_written_in_several_ways() {
    let sandbox = CliSandbox::new();
    let whole = sandbox.project().join("hooks/check").display().to_string();
    let cases = [
        "hooks/check",
        "./hooks/check",
        "$CLAUDE_PROJECT_DIR/hooks/check",
        "${CLAUDE_PROJECT_DIR}/hooks/check",
        &whole,
    ];
    let mut sandbox = sandbox.script("hooks/check", "echo ran >> ran.txt");
    for (index, path) in cases.into_iter().enumerate() {
        sandbox = sandbox.hooks(SETTINGS, &json!({"Stop": [path]}));
        let ran = sandbox.run_event("Stop", &json!({}));
        assert_eq!(ran.statuses(), ["ok"], "{path}: {ran:?}");
        assert_eq!(sandbox.read("ran.txt").lines().count(), index + 1, "{path}");
    }
}

#[test]
fn the_homes_file_names_scripts_of_the_project_too() {
    let sandbox = CliSandbox::new()
        .home_file(SETTINGS, &json!({"hooks": {"Stop": ["hooks/check"]}}).to_string())
        .script("hooks/check", "touch ran");
    let ran = sandbox.run_event("Stop", &json!({}));
    assert_eq!((ran.statuses(), &ran.hooks()[0]["source"]), (vec!["ok".to_owned()], &json!("~/.claude/settings.json")));
    assert!(sandbox.exists("ran"));
}

#[test]
fn the_string_is_a_path_and_never_shell_code() {
    let names =
        ["my check.sh", "it's", "$(touch canary)", "`touch canary`", "a; touch canary", "x | y & z", "tëst\u{1f600}"];
    for name in names {
        let sandbox = CliSandbox::new()
            .hooks(SETTINGS, &json!({"PreToolUse": [format!("hooks/{name}")]}))
            .script(&format!("hooks/{name}"), "cat > in.json");
        let payload =
            json!({"session_id": "$(touch canary)", "tool_name": "`touch canary`", "tool_input": {"a": name}});
        let ran = sandbox.run_event("PreToolUse", &payload);
        assert_eq!(ran.statuses(), ["ok"], "{name}: {ran:?}");
        assert_eq!(sandbox.read_json("in.json")["tool_input"]["a"], name);
        assert!(!sandbox.exists("canary"), "{name}");
    }
    // Arguments are not part of a path.
    let sandbox = create_project_with("Stop", "touch ran").hooks(SETTINGS, &json!({"Stop": ["hooks/check --flag"]}));
    assert_eq!(sandbox.run_event("Stop", &json!({})).statuses(), ["failed"]);
    assert!(!sandbox.exists("ran"));
}

#[test]
fn both_session_ids_reach_the_script() {
    let sandbox =
        create_project_with("Stop", "cat > in.json; echo $CLAUDE_SESSION_ID > id.txt").env("CLAUDE_SESSION_ID", "ours");
    sandbox.run_event("Stop", &json!({"session_id": "theirs"}));
    assert_eq!(sandbox.read("id.txt"), "ours\n");
    assert_eq!(sandbox.read_json("in.json")["session_id"], "theirs");
}

#[test]
fn a_script_that_cannot_be_run_is_told_of_and_stops_nothing() {
    let cases = [
        ("hooks/missing", 127, "hooks/missing: not found", "cannot find"),
        ("hooks", 126, "hooks: Permission denied", "is not a file"),
        (
            "hooks/plain",
            126,
            "hooks/plain: Permission denied (is it executable?)",
            "is not executable\n  hint: run `chmod +x ",
        ),
        ("hooks/check now", 127, "not found", "for a command line"),
    ];
    for (path, code, message, finding) in cases {
        let sandbox = CliSandbox::new()
            .hooks(SETTINGS, &json!({"PreToolUse": [path, "hooks/check"]}))
            .file("hooks/plain", "#!/bin/sh\ntouch plain\n")
            .script("hooks/check", "touch ran");
        let mode = fs::Permissions::from_mode(0o644);
        fs::set_permissions(sandbox.project().join("hooks/plain"), mode).unwrap();
        let ran = sandbox.run_event("PreToolUse", &json!({"tool_name": "Bash"}));
        assert_eq!((ran.code, ran.decision().as_str()), (0, "allow"), "{path}");
        assert_eq!(ran.statuses(), ["failed", "ok"], "{path}");
        let messages = ran.messages();
        assert!(messages.len() == 1 && messages[0].contains(message), "{path}: {messages:?}");
        assert_eq!(ran.hooks()[0]["exit_code"], code, "{path}");
        assert!(sandbox.exists("ran") && !sandbox.exists("plain"), "{path}");
        let lint = sandbox.run_snell(&["lint"], "");
        assert!(format!("{}{}", lint.stdout, lint.stderr).contains(finding), "{path}: {lint:?}");
    }
}

#[test]
fn a_failure_of_the_script_never_blocks() {
    let cases = [("echo oops >&2; exit 1", "exited with 1: oops"), ("kill -9 $$", "was killed by signal 9")];
    for event in ["PreToolUse", "UserPromptSubmit", "Stop"] {
        for (body, message) in cases {
            let ran = create_project_with(event, body).run_event(event, &json!({"tool_name": "Bash"}));
            assert_eq!((ran.code, ran.statuses()), (0, vec!["failed".to_owned()]), "{event}: {body}");
            let messages = ran.messages();
            assert!(messages.len() == 1 && messages[0].ends_with(message), "{event}: {messages:?}");
        }
    }
    // The pattern of the document: errors on standard error, and exit code 0.
    let ran =
        create_project_with("SessionStart", "echo 'Hook error: x' >&2; exit 0").run_event("SessionStart", &json!({}));
    assert_eq!((ran.code, ran.statuses(), ran.context()), (0, vec!["ok".to_owned()], vec![]));
}

#[test]
fn a_script_answers_as_a_hook_of_claude_code() {
    let deny = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no",
    }});
    let block = json!({"decision": "block", "reason": "no"});
    let cases = [
        ("PreToolUse", "echo no >&2; exit 2".to_owned()),
        ("UserPromptSubmit", "echo no >&2; exit 2".to_owned()),
        ("Stop", "echo no >&2; exit 2".to_owned()),
        ("PreToolUse", format!("echo '{deny}'")),
        ("Stop", format!("echo '{block}'")),
    ];
    for (event, body) in cases {
        let ran = create_project_with(event, &body).run_event(event, &json!({"tool_name": "Bash"}));
        assert_eq!((ran.code, ran.reason().as_str()), (2, "no"), "{event}: {body}");
    }
}

#[test]
fn a_block_where_nothing_can_be_blocked_is_said_and_changes_nothing() {
    let cases = [("PostToolUse", "context"), ("SessionStart", "messages"), ("SessionEnd", "messages")];
    for (event, listener) in cases {
        let ran =
            create_project_with(event, "echo 'too late' >&2; exit 2").run_event(event, &json!({"tool_name": "Bash"}));
        assert_eq!((ran.code, ran.decision().as_str()), (0, "allow"), "{event}");
        assert_eq!(ran.string_list(listener), ["too late"], "{event}");
    }
}

#[test]
fn what_a_script_prints_is_context_for_a_prompt_and_a_new_session_only() {
    let cases = [
        ("SessionStart", &["[CLAUDE OS SYS: INFO]: Session context loaded"][..]),
        ("UserPromptSubmit", &["[CLAUDE OS SYS: INFO]: Session context loaded"]),
        ("PreToolUse", &[]),
        ("Stop", &[]),
        ("SessionEnd", &[]),
    ];
    for (event, expected) in cases {
        let sandbox = create_project_with(event, "echo '[CLAUDE OS SYS: INFO]: Session context loaded'");
        assert_eq!(sandbox.run_event(event, &json!({"tool_name": "Bash"})).context(), expected, "{event}");
    }
}

#[test]
fn scripts_stand_beside_groups_run_with_them_at_once_and_each_once() {
    // Each waits for the other, so neither would end if they ran one after the other.
    let meet =
        |mine: &str, other: &str| format!("touch {mine}; while [ ! -e {other} ]; do sleep 0.02; done; echo {mine}");
    let group = json!({"hooks": [{"type": "command", "command": meet("b", "a"), "timeout": 5}]});
    let sandbox = CliSandbox::new()
        .hooks(SETTINGS, &json!({"SessionStart": ["hooks/check", group, "hooks/check"]}))
        .script("hooks/check", &meet("a", "b"));
    let ran = sandbox.run_event("SessionStart", &json!({}));
    assert_eq!(ran.context(), ["a", "b"], "in configured order");
    assert_eq!(ran.statuses(), ["ok", "ok", "skipped"]);
    let contracts: Vec<Value> = ran.hooks().iter().map(|hook| hook["contract"].clone()).collect();
    assert_eq!(contracts, ["claude-os", "claude", "claude-os"]);
}

#[test]
fn at_the_end_of_a_session_there_is_a_second_and_a_half() {
    let started = Instant::now();
    let ran = create_project_with("SessionEnd", "exec sleep 30").run_event("SessionEnd", &json!({"reason": "other"}));
    let took = started.elapsed();
    assert_eq!((ran.code, ran.statuses()), (0, vec!["timed_out".to_owned()]));
    assert!(took >= Duration::from_millis(1500) && took < Duration::from_secs(5), "{took:?}");
}

#[test]
fn scripts_have_the_timeouts_of_claude_code() {
    let cases = [("PreToolUse", 600_000), ("Stop", 600_000), ("UserPromptSubmit", 30_000)];
    for (event, expected) in cases {
        let listed = create_project_with(event, "true").run_snell(&["list", "--json"], "").json();
        assert_eq!(listed[0]["timeout_ms"], expected, "{event}");
    }
}

#[test]
fn a_bad_entry_is_reported_with_its_place_and_its_neighbours_run() {
    let cases = [
        ("\"\"", "is empty"),
        ("\" \"", "is empty"),
        ("7", "the path of a script, not a number"),
        ("null", "not null"),
    ];
    for (entry, message) in cases {
        let text = format!("{{\"hooks\": {{\"Stop\": [\n\"hooks/check\",\n  {entry},\n\"hooks/check2\"]}}}}");
        let sandbox = CliSandbox::new()
            .file(SETTINGS, &text)
            .script("hooks/check", "touch ran")
            .script("hooks/check2", "touch ran2");
        let warnings = sandbox.run_event("Stop", &json!({})).warnings();
        assert_eq!(warnings.len(), 1, "{entry}: {warnings:?}");
        assert!(warnings[0].starts_with(".claude/settings.json:3:3: error: "), "{entry}: {warnings:?}");
        assert!(warnings[0].contains(message), "{entry}: {warnings:?}");
        assert!(sandbox.exists("ran") && sandbox.exists("ran2"), "{entry}");
    }
}

#[test]
fn an_event_that_nobody_knows_is_warned_of_and_kept_under_its_name() {
    let cases = [("PreToolUSe", "did you mean \"PreToolUse\"?"), ("BrandNew", "unknown event \"BrandNew\"")];
    for (name, message) in cases {
        let sandbox = create_project_with(name, "touch ran");
        let warnings = sandbox.run_event("Stop", &json!({})).warnings();
        assert_eq!(warnings.len(), 1, "{name}: {warnings:?}");
        assert!(warnings[0].contains(" warning: ") && warnings[0].contains(message), "{name}: {warnings:?}");
        assert!(!sandbox.exists("ran"), "{name}");
        assert_eq!(sandbox.run_event(name, &json!({})).statuses(), ["ok"], "{name}");
        assert!(sandbox.exists("ran"), "{name}");
    }
}
