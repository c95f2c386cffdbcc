//! When a hook waits, and when it stops.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use snell_test_support::files::write_script;
use snell_test_support::process::{Signal, run_with_stdin, send_signal, spawn_with_stdin, wait_for_output};
use snell_test_support::wait::wait_until;

use super::{AnswerBench, ENABLED, decision};

const ASKING: &str = "[[guard.ask]]\ncommand = \"make deploy\"\nreason = \"deploys\"\n";

fn deploy() -> Value {
    json!({"tool_input": {"command": "make deploy"}})
}

#[test]
fn nothing_waits_if_no_answer_can_come() {
    let enabled = |rest: &str| format!("{ENABLED}{rest}");
    // The configuration, whether a process can pass on answers, the event, and its fields.
    let cases = [
        (enabled(""), false, "PermissionRequest", json!({})),
        (enabled("hold = true\n"), false, "PermissionRequest", json!({})),
        (String::new(), true, "PermissionRequest", json!({})),
        (enabled("agents = [\"codex\"]\n"), true, "PermissionRequest", json!({})),
        (enabled("projects = [\"/elsewhere\"]\n"), true, "PermissionRequest", json!({})),
        // Claude Code shows its dialog only after this hook.
        (enabled(ASKING), true, "PreToolUse", deploy()),
        (enabled(""), true, "PreToolUse", json!({})),
        (enabled(""), true, "PostToolUse", json!({})),
        // Codex shows its dialog only after its hook.
        (enabled(""), true, "PermissionRequest", json!({"turn_id": "t", "model": "m"})),
        (enabled("[handlers]\ntrack = false\n"), true, "PermissionRequest", json!({})),
    ];
    for (config, is_watched, event, fields) in cases {
        let bench = AnswerBench::new(&config);
        let _watcher = is_watched.then(|| bench.watch());
        let said = bench.run_event(event, fields.clone());
        assert_eq!(said.code, 0, "{config} {event} {fields}: {said:?}");
        assert!(!said.stdout.contains("behavior"), "{config} {event} {fields}: {said:?}");
        assert_eq!(bench.count_requests(), 0, "{config} {event} {fields}");
    }
}

#[test]
fn a_project_can_switch_answers_off_but_not_on() {
    for (users, projects, expected) in
        [(ENABLED, "enabled = false", 0), (ENABLED, "agents = [\"codex\"]", 0), ("", "enabled = true", 0)]
    {
        let bench = AnswerBench::new(users);
        std::fs::write(bench.sandbox.project().join("snell.toml"), format!("[answers]\n{projects}\n")).unwrap();
        let trusted = bench.sandbox.run_snell(&["trust"], "");
        assert_eq!(trusted.code, 0, "{trusted:?}");
        let _watcher = bench.watch();
        assert_eq!(bench.run_event("PermissionRequest", json!({})).code, 0);
        assert_eq!(bench.count_requests(), expected, "{users} {projects}");
    }
}

#[test]
fn a_hook_holds_the_call_if_that_is_set_or_no_dialog_exists() {
    // The configuration, a variable, the event and its fields, and the answer to the agent.
    let allowed = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "allow", "permissionDecisionReason": "The user allowed it."}});
    let print_mode = ("CLAUDE_CODE_SESSION_ATTENDED", "0");
    let codex = json!({"turn_id": "t", "model": "m", "tool_input": {"command": "make deploy"}});
    let behavior = decision(json!({"behavior": "allow"}));
    let cases = [
        ("hold = true\n", ("X", "1"), "PreToolUse", deploy(), &allowed),
        ("", print_mode, "PreToolUse", deploy(), &allowed),
        ("", print_mode, "PermissionRequest", json!({}), &behavior),
        ("hold = true\n", ("X", "1"), "PermissionRequest", codex, &behavior),
    ];
    for (config, (variable, value), event, fields, expected) in cases {
        let bench = AnswerBench::new(&format!("{ENABLED}{config}{ASKING}"));
        let _watcher = bench.watch();
        let mut command = bench.hook_command();
        if fields.get("turn_id").is_some() {
            // Codex does not report its process, so it is the parent of the hook.
            write_script(&bench.sandbox.project().join("agent.sh"), "\"$SNELL\" hook");
            command = bench.sandbox.program("./agent.sh");
            command.env("SNELL", env!("CARGO_BIN_EXE_snell"));
        }
        command.env(variable, value);
        let hook = spawn_with_stdin(&mut command, bench.build_payload(event, &fields));
        bench.wait_for_open();
        assert_eq!(bench.query("SELECT state FROM agents")[0]["state"], "awaiting_input", "{config} {event}");
        let said = bench.answer_hook(hook, &["allow"]);
        let (said_now, expected) = (&said.json()["hookSpecificOutput"], &expected["hookSpecificOutput"]);
        assert_eq!((said.code, said_now), (0, expected), "{config} {event}: {said:?}");
    }
}

#[test]
fn without_an_answer_in_time_the_setting_decides() {
    let denied = "no_answer = \\\"deny\\\" in [answers]";
    // The setting, the variables, the event, and a part of the answer.
    let cases = [
        ("agent", "PermissionRequest", json!({}), None),
        ("deny", "PermissionRequest", json!({}), Some(denied)),
        ("agent", "PreToolUse", deploy(), Some("\"permissionDecision\":\"ask\"")),
        ("deny", "PreToolUse", deploy(), Some(denied)),
    ];
    for (no_answer, event, fields, expected) in cases {
        let rest = format!("hold = true\nwait = \"1s\"\nno_answer = \"{no_answer}\"\n{ASKING}");
        let bench = AnswerBench::new(&format!("{ENABLED}{rest}"));
        let _watcher = bench.watch();
        let said = wait_for_output(bench.spawn_event(event, fields));
        assert_eq!(said.code, 0, "{said:?}");
        match expected {
            Some(part) => assert!(said.stdout.contains(part), "{no_answer} {event}: {said:?}"),
            None => assert_eq!(said.stdout, "", "{no_answer} {event}"),
        }
        let closed = bench.list_requests().remove(0);
        assert_eq!(closed["status"], "expired", "{closed}");
        let late = bench.answer(&[closed["uid"].as_str().unwrap(), "allow"]);
        assert!(late.code == 1 && late.stderr.contains("no answer came in time"), "{late:?}");
    }
}

#[test]
fn a_headless_question_without_an_answer_is_settled_as_before() {
    let bench = AnswerBench::new(&format!("{ENABLED}wait = \"1s\"\n{ASKING}"));
    let _watcher = bench.watch();
    let mut command = bench.hook_command();
    command.env("CLAUDE_CODE_SESSION_ATTENDED", "0");
    let payload = bench.build_payload("PreToolUse", &deploy());
    let said = run_with_stdin(&mut command, payload);
    assert!(said.stdout.contains("\"deny\"") && said.stdout.contains("No user can answer"), "{said:?}");
    assert_eq!(bench.list_requests()[0]["status"], "expired");
}

#[test]
fn a_hook_stops_when_the_last_watcher_leaves() {
    let bench = AnswerBench::new(ENABLED);
    let watcher = bench.watch();
    let hook = bench.spawn_ask();
    let uid = bench.wait_for_open();
    drop(watcher);
    let left = Instant::now();
    let said = wait_for_output(hook);
    assert_eq!((said.code, said.stdout.as_str()), (0, ""), "{said:?}");
    assert!(left.elapsed() < Duration::from_secs(30), "{:?}", left.elapsed());
    let late = bench.answer(&[&uid, "allow"]);
    assert!(late.code == 1 && late.stderr.contains("no client that can answer"), "{late:?}");
}

#[test]
fn a_request_is_withdrawn_when_the_agent_goes_on_without_its_answer() {
    let bench = AnswerBench::new(ENABLED);
    let _watcher = bench.watch();
    // The user answered in the dialog, and the call ran.
    let hook = bench.spawn_ask();
    bench.wait_for_open();
    bench.run_event("PostToolUse", json!({"tool_use_id": "u"}));
    assert_eq!(wait_for_output(hook).stdout, "");
    assert_eq!(bench.list_requests()[0]["closed_reason"], "the agent no longer waits");
    // The user refused in the dialog, and the agent ends the hook.
    let hook = bench.spawn_ask();
    bench.wait_for_open();
    send_signal(hook.id(), Signal::TERM);
    assert_eq!(wait_for_output(hook).stdout, "");
    assert_eq!(bench.list_requests()[0]["closed_reason"], "the agent ended the hook that waited");
}

#[test]
fn a_hook_stops_when_its_agent_is_gone() {
    let mut bench = AnswerBench::new(ENABLED);
    let _watcher = bench.watch();
    let hook = bench.spawn_ask();
    bench.wait_for_open();
    bench.agent.terminate();
    assert_eq!(wait_for_output(hook).stdout, "");
    let closed = wait_until(|| bench.list_requests().into_iter().find(|request| request["status"] != "open"));
    assert_eq!(closed["status"], "withdrawn", "{closed}");
}
