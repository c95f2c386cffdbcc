//! How flat hooks run: in order, on a condition, blocking or not, within their time, awaited or not.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{build_bash_call, create_project_with};

/// Whether a process is still there.
fn is_process_alive(pid: &str) -> bool {
    let mut probe = Command::new("kill");
    probe.args(["-0", pid.trim()]).stderr(Stdio::null());
    probe.status().unwrap().success()
}

#[test]
fn hooks_run_in_order_each_after_its_condition() {
    let entry = |name: &str| {
        let command = format!("sleep 0.1; echo {name} >> order.txt");
        json!({"command": command, "condition": format!("echo if-{name} >> order.txt")})
    };
    let sandbox = create_project_with("PreToolUse", &json!([entry("a"), entry("b"), entry("c")]));
    assert_eq!(sandbox.run_event("PreToolUse", &build_bash_call("ls")).statuses(), ["ok", "ok", "ok"]);
    assert_eq!(sandbox.read("order.txt"), "if-a\na\nif-b\nb\nif-c\nc\n");
}

#[test]
fn a_hook_runs_if_its_condition_exits_with_0() {
    let cases = [
        ("true", None),
        ("test -f .microai/settings.json", None),
        ("test \"$TOOL_NAME\" = Bash", None),
        ("[ \"$INPUT\" = '{\"command\":\"git push\"}' ] && [ \"$SESSION_ID\" = abc123 ] && [ \"$TIMESTAMP\" ]", None),
        ("false", Some("exited with 1")),
        ("exit 3", Some("exited with 3")),
        ("test \"$TOOL_NAME\" = Read", Some("exited with 1")),
        ("no-such-program-anywhere", Some("exited with 127")),
        ("kill -9 $$", Some("was killed by signal 9")),
    ];
    for (condition, why) in cases {
        // Were its failure the hook's own, the strict hook would block.
        let entry = json!({"command": "touch ran", "condition": condition, "continueOnFailure": false});
        let sandbox = create_project_with("PreToolUse", &json!([entry, {"command": "touch next"}]));
        let ran = sandbox.run_event("PreToolUse", &build_bash_call("git push"));
        assert_eq!(ran.code, 0, "{condition}");
        assert_eq!(sandbox.exists("ran"), why.is_none(), "{condition}");
        assert!(sandbox.exists("next"), "{condition}");
        assert_eq!(ran.statuses(), [if why.is_none() { "ok" } else { "skipped" }, "ok"], "{condition}");
        if let Some(why) = why {
            let told = ran.hooks()[0]["why"].as_str().unwrap().to_owned();
            assert!(told.contains(condition) && told.ends_with(why), "{condition}: {told}");
        }
    }
}

#[test]
fn a_condition_is_given_1000_ms_whatever_the_hook_is_given() {
    for continues in [false, true] {
        let started = Instant::now();
        let entry = json!({"command": "touch ran", "condition": "sleep 5", "timeout": 60_000,
            "continueOnFailure": continues});
        let sandbox = create_project_with("PreToolUse", &json!([entry]));
        let ran = sandbox.run_event("PreToolUse", &build_bash_call("ls"));
        let took = started.elapsed();
        assert_eq!((ran.code, ran.statuses()), (0, vec!["skipped".to_owned()]), "{continues}");
        assert!(ran.hooks()[0]["why"].as_str().unwrap().ends_with("timed out after 1s"), "{ran:?}");
        // Nobody said no, so somebody is told.
        let warnings = ran.warnings();
        assert!(warnings.len() == 1 && warnings[0].ends_with("timed out after 1s"), "{continues}: {warnings:?}");
        assert!(took >= Duration::from_secs(1) && took < Duration::from_secs(4), "{took:?}");
        assert!(!sandbox.exists("ran"), "{continues}");
    }
}

#[test]
fn a_failure_blocks_only_where_it_is_declared_to() {
    let commands = [
        ("echo no >&2; exit 1", "blocked", "Hook blocked: no"),
        ("echo no >&2; exit 2", "blocked", "Hook blocked: no"),
        ("printf 'two\\nlines\\n' >&2; exit 255", "blocked", "Hook blocked: two\nlines"),
        ("kill -9 $$", "blocked", "Hook blocked: \"kill -9 $$\" was killed by signal 9"),
        ("exit 1", "blocked", "Hook blocked: \"exit 1\" exited with 1"),
        ("echo no >&2; sleep 5", "timed_out", "Hook blocked: \"echo no >&2; sleep 5\" timed out after 300ms"),
    ];
    for (command, status, reason) in commands {
        for (declared, blocks) in [(None, false), (Some(true), false), (Some(false), true)] {
            let mut entry = json!({"matcher": "*", "command": command});
            // Only the command that is to exceed its time is given little of it.
            if status == "timed_out" {
                entry["timeout"] = 300.into();
            }
            if let Some(declared) = declared {
                entry["continueOnFailure"] = declared.into();
            }
            let sandbox = create_project_with("PreToolUse", &json!([entry, {"command": "touch later"}]));
            let ran = sandbox.run_event("PreToolUse", &build_bash_call("ls"));
            let case = format!("{command}, {declared:?}");
            let failed = if status == "timed_out" { "timed_out" } else { "failed" };
            if blocks {
                assert_eq!((ran.code, ran.decision(), ran.reason()), (2, "block".into(), reason.into()), "{case}");
                assert_eq!(ran.statuses(), [status, "skipped"], "{case}");
                assert_eq!(ran.hooks()[1]["why"], "an earlier hook blocked the event", "{case}");
            } else {
                assert_eq!((ran.code, ran.decision(), ran.reason()), (0, "allow".into(), String::new()), "{case}");
                assert_eq!(ran.statuses(), [failed, "ok"], "{case}");
                let warnings = ran.warnings();
                assert_eq!(warnings.len(), 1, "{case}: {warnings:?}");
                assert!(warnings[0].starts_with(".microai/settings.json:1:"), "{case}: {warnings:?}");
                assert!(warnings[0].contains(command), "{case}: {warnings:?}");
            }
            assert_eq!(ran.hooks()[0]["success"], false, "{case}");
            assert_eq!(sandbox.exists("later"), !blocks, "{case}: later hooks do not run");
        }
    }
}

#[test]
fn a_program_that_is_not_there_is_a_failure_like_any_other() {
    for (strict, code) in [(false, 0), (true, 2)] {
        let entry = json!({"command": "no-such-program-anywhere", "continueOnFailure": !strict});
        let ran = create_project_with("PreToolUse", &json!([entry])).run_event("PreToolUse", &build_bash_call("ls"));
        assert_eq!((ran.code, &ran.hooks()[0]["exit_code"]), (code, &json!(127)));
    }
}

#[test]
fn a_block_skips_the_later_hooks_of_every_flat_file_and_not_the_earlier_ones() {
    let sandbox = create_project_with(
        "PreToolUse",
        &json!([
            {"command": "touch earlier"},
            {"command": "exit 1", "continueOnFailure": false},
            {"matcher": "Read", "command": "touch unmatched"},
            {"command": "touch later", "condition": "touch condition"},
        ]),
    )
    .hooks(".microai/settings.local.json", &json!({"PreToolUse": [{"command": "touch local"}]}));
    let ran = sandbox.run_event("PreToolUse", &build_bash_call("ls"));
    assert_eq!(ran.statuses(), ["ok", "blocked", "skipped", "skipped"]);
    assert!(sandbox.exists("earlier"));
    for file in ["later", "condition", "local", "unmatched"] {
        assert!(!sandbox.exists(file), "{file}");
    }
}

#[test]
fn only_pre_tool_use_can_block() {
    for event in ["UserPromptSubmit", "SessionStart", "SessionEnd", "PermissionRequest", "Stop"] {
        let strict = json!({"command": "echo no >&2; exit 1", "continueOnFailure": false});
        let sandbox = create_project_with(event, &json!([strict, {"command": "touch next"}]));
        let ran = sandbox.run_event(event, &build_bash_call("ls"));
        assert_eq!((ran.code, ran.decision().as_str()), (0, "allow"), "{event}");
        assert!(sandbox.exists("next"), "{event}");
        // What it has to say still reaches the user.
        let messages = ran.messages();
        assert!(messages.len() == 1 && messages[0].ends_with("no"), "{event}: {messages:?}");
        assert_eq!(ran.context(), [""; 0], "{event}");
    }
}

#[test]
fn what_a_hook_prints_is_context_for_a_prompt_and_a_new_session_only() {
    let cases = [
        ("SessionStart", "echo hello", &["hello"][..]),
        ("UserPromptSubmit", "echo hello; echo there", &["hello\nthere"]),
        ("UserPromptSubmit", "true", &[]),
        ("UserPromptSubmit", "echo hello; exit 1", &[]),
        ("PreToolUse", "echo hello", &[]),
        ("SessionEnd", "echo hello", &[]),
    ];
    for (event, command, expected) in cases {
        let ran = create_project_with(event, &json!([{ "command": command }])).run_event(event, &build_bash_call("ls"));
        assert_eq!(ran.context(), expected, "{event}: {command}");
    }
}

#[test]
fn a_hung_hook_is_killed_at_its_timeout_even_if_it_does_not_want_to_end() {
    let commands =
        ["echo $$ > pid.txt; exec sleep 30", "trap '' TERM; echo $$ > pid.txt; while :; do sleep 0.05; done"];
    for command in commands {
        let started = Instant::now();
        let sandbox = create_project_with("PreToolUse", &json!([{"command": command, "timeout": 700}]));
        let ran = sandbox.run_event("PreToolUse", &build_bash_call("ls"));
        let took = started.elapsed();
        assert_eq!((ran.code, ran.statuses()), (0, vec!["timed_out".to_owned()]), "{command}");
        assert_eq!(ran.hooks()[0]["timed_out"], true, "{command}");
        assert!(took >= Duration::from_millis(700) && took < Duration::from_secs(5), "{command}: {took:?}");
        assert!(!is_process_alive(&sandbox.read("pid.txt")), "{command}");
    }
}

/// What the record says of the only background hook, by the names that matter here.
fn select_outcome_fields(outcome: &Value) -> Value {
    let keys = ["event", "session_id", "contract", "source", "status", "exit_code", "stdout", "stderr", "timed_out"];
    keys.iter().map(|key| outcome[*key].clone()).collect()
}

#[test]
fn after_a_tool_hooks_are_started_and_not_awaited_and_their_end_is_recorded() {
    let waiting = "while [ ! -e go ]; do sleep 0.02; done; echo \"$OUTPUT\"; echo err >&2; exit 4";
    let entry = json!({"matcher": "Edit", "command": waiting});
    let sandbox = create_project_with("PostToolUse", &json!([entry]));
    let edit = json!({"session_id": "abc123", "tool_name": "Edit", "tool_response": {"ok": true}});
    let ran = sandbox.run_event("PostToolUse", &edit);
    // It could not have ended: what it waits for is not there yet.
    assert_eq!((ran.code, ran.decision(), ran.statuses()), (0, "allow".into(), vec!["started".to_owned()]));
    assert_eq!((ran.context(), ran.messages(), ran.warnings()), (vec![], vec![], vec![]));
    assert!(ran.hooks()[0]["why"].as_str().unwrap().contains("background.jsonl"), "{ran:?}");
    let sandbox = sandbox.file("go", "");
    assert_eq!(
        select_outcome_fields(&sandbox.wait_for_background_outcomes(1)[0]),
        json!([
            "PostToolUse",
            "abc123",
            "microai",
            ".microai/settings.json",
            "failed",
            4,
            "{\"ok\":true}\n",
            "err\n",
            false
        ])
    );
}

#[test]
fn a_hook_that_nobody_awaits_still_ends_at_its_timeout() {
    let entry = json!({"command": "echo $$ > pid.txt; exec sleep 30", "timeout": 700});
    let sandbox = create_project_with("PostToolUse", &json!([entry]));
    assert_eq!(sandbox.run_event("PostToolUse", &build_bash_call("ls")).statuses(), ["started"]);
    let outcome = &sandbox.wait_for_background_outcomes(1)[0];
    assert_eq!((&outcome["status"], &outcome["timed_out"]), (&json!("timed_out"), &json!(true)));
    assert!(!is_process_alive(&sandbox.read("pid.txt")));
}

#[test]
fn a_hook_that_nobody_awaits_has_its_condition_too() {
    let sandbox = create_project_with(
        "PostToolUse",
        &json!([
            {"command": "echo yes > yes.txt", "condition": "[ \"$OUTPUT\" = '\"done\"' ]"},
            {"command": "echo no > no.txt", "condition": "[ \"$OUTPUT\" = other ]"},
        ]),
    );
    sandbox.run_event("PostToolUse", &json!({"tool_name": "Edit", "tool_response": "done"}));
    assert_eq!(sandbox.wait_for_content("yes.txt"), "yes\n");
    let mut statuses: Vec<_> = sandbox
        .wait_for_background_outcomes(2)
        .iter()
        .map(|outcome| outcome["status"].as_str().unwrap().to_owned())
        .collect();
    statuses.sort();
    assert_eq!(statuses, ["ok", "skipped"]);
    assert!(!sandbox.exists("no.txt"));
}
