//! How hooks run: all at once, each one once, reported in configured order, and within a shared budget at the end.

use serde_json::{Value, json};
use snell_test_support::process::run_with_stdin;

use super::{build_command_hook, create_project, run_bash_call};
use crate::support::CliSandbox;

#[test]
fn all_hooks_of_an_event_run_together() {
    // Each waits for all the others: run one by one, or eight by eight, none would end before its deadline.
    let wait = "for i in $(seq 16); do while ! test -e here-$i; do sleep 0.02; done; done";
    let handlers: Vec<_> = (1..=16)
        .map(|own| json!({"type": "command", "command": format!("touch here-{own}; {wait}"), "timeout": 20}))
        .collect();
    let ran = run_bash_call(&create_project("PreToolUse", &json!(handlers)));
    assert_eq!(ran.statuses(), ["ok"; 16]);
}

#[test]
fn more_hooks_than_the_system_has_room_for_wait_their_turn_and_none_is_lost() {
    let mut handlers: Vec<_> = (0..100).map(|own| build_command_hook(&format!("sleep 0.02; : {own}"))).collect();
    handlers.insert(50, build_command_hook("echo no >&2; exit 2"));
    let sandbox = create_project("PreToolUse", &json!(handlers));
    let payload = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}}).to_string();
    let mut limited = sandbox.shell("ulimit -n 96; exec \"$0\" \"$@\"", &["run", "PreToolUse"]);
    let ran = run_with_stdin(&mut limited, &payload);
    assert_eq!((ran.code, ran.reason().as_str()), (2, "no"));
    let mut expected = vec!["ok"; 101];
    expected[50] = "blocked";
    assert_eq!(ran.statuses(), expected);
}

#[test]
fn results_stand_in_configured_order_whatever_finished_first() {
    // The last one releases the one before it, and so on: they finish in the opposite order.
    let handlers: Vec<_> = (0..5)
        .map(|own| {
            let before = own + 1;
            let wait =
                if own == 4 { String::new() } else { format!("while ! test -e over-{before}; do sleep 0.01; done;") };
            build_command_hook(&format!("{wait} touch over-{own}; echo reason {own} >&2; exit 2"))
        })
        .collect();
    let ran = run_bash_call(&create_project("PreToolUse", &json!(handlers)));
    let heard: Vec<_> = ran.hooks().iter().map(|hook| hook["stderr"].as_str().unwrap().trim().to_owned()).collect();
    assert_eq!(heard, ["reason 0", "reason 1", "reason 2", "reason 3", "reason 4"]);
    assert_eq!(ran.reason(), heard.join("\n"));
}

#[test]
fn one_that_fails_or_blocks_does_not_keep_the_others_from_running() {
    let ran = run_bash_call(&create_project(
        "PreToolUse",
        &json!([
            build_command_hook("exit 1"),
            build_command_hook("echo no >&2; exit 2"),
            build_command_hook("kill -9 $$"),
            build_command_hook("echo ran")
        ]),
    ));
    assert_eq!(ran.statuses(), ["failed", "blocked", "failed", "ok"]);
    assert_eq!((ran.code, ran.reason().as_str()), (2, "no"));
}

fn render_settings(handlers: &Value) -> String {
    json!({"hooks": {"PreToolUse": [{"hooks": handlers}]}}).to_string()
}

#[test]
fn a_hook_that_stands_in_several_files_runs_once() {
    let same = render_settings(&json!([build_command_hook("echo same >> log")]));
    let sandbox =
        CliSandbox::new().home_file(".claude/settings.json", &same).file(".claude/settings.json", &same).file(
            ".claude/settings.local.json",
            &render_settings(&json!([
                build_command_hook("echo same >> log"),
                build_command_hook("echo other >> log2")
            ])),
        );
    let ran = run_bash_call(&sandbox);
    assert_eq!(sandbox.read("log"), "same\n");
    assert_eq!(sandbox.read("log2"), "other\n");
    assert_eq!(ran.statuses(), ["ok", "skipped", "skipped", "ok"]);
    let why = ran.hooks()[1]["why"].as_str().unwrap().to_owned();
    assert!(why.contains("~/.claude/settings.json:1"), "{why}");
}

#[test]
fn hooks_that_differ_in_what_they_do_are_not_the_same() {
    let sandbox = create_project(
        "PreToolUse",
        &json!([
            {"type": "command", "command": "./log.sh", "args": ["a"]},
            {"type": "command", "command": "./log.sh", "args": ["b"]},
            {"type": "command", "command": "./log.sh"},
            {"type": "command", "command": "./log.sh", "if": "Bash(ls)"},
        ]),
    )
    .script("log.sh", "echo \"[$*]\" > run-$$");
    let ran = run_bash_call(&sandbox);
    assert_eq!(ran.statuses(), ["ok"; 4]);
}

#[test]
fn a_hook_found_under_two_matchers_runs_once_and_under_one_that_does_not_match_not_at_all() {
    let hook = json!([build_command_hook("echo ran >> log")]);
    let sandbox = CliSandbox::new().hooks(
        ".claude/settings.json",
        &json!({"PreToolUse": [
            {"matcher": "Read", "hooks": hook}, {"matcher": "Bash", "hooks": hook}, {"matcher": "*", "hooks": hook},
        ]}),
    );
    let ran = run_bash_call(&sandbox);
    assert_eq!(sandbox.read("log"), "ran\n");
    assert_eq!(ran.statuses(), ["ok", "skipped"]);
}

#[test]
fn files_are_read_from_the_user_to_the_local_one_and_all_of_them_count() {
    let deny = |reason: &str| render_settings(&json!([build_command_hook(&format!("echo {reason} >&2; exit 2"))]));
    let sandbox = CliSandbox::new()
        .file(".claude/settings.local.json", &deny("local"))
        .file(".claude/settings.json", &deny("project"))
        .home_file(".claude/settings.json", &deny("user"));
    let ran = run_bash_call(&sandbox);
    assert_eq!(ran.reason(), "user\nproject\nlocal");
    let sources: Vec<_> = ran.hooks().iter().map(|hook| hook["source"].clone()).collect();
    assert_eq!(sources, ["~/.claude/settings.json", ".claude/settings.json", ".claude/settings.local.json"]);
}

#[test]
fn at_the_end_of_a_session_all_hooks_share_a_second_and_a_half() {
    let ran = create_project(
        "SessionEnd",
        &json!([build_command_hook("sleep 30"), build_command_hook("true"), build_command_hook("sleep 31")]),
    )
    .run_event("SessionEnd", &json!({"reason": "other"}));
    assert_eq!(ran.statuses(), ["timed_out", "ok", "timed_out"]);
    assert_eq!(ran.code, 0);
    let messages = ran.messages();
    // Not the ten minutes that each may have by itself.
    assert!(
        messages.len() == 2 && messages.iter().all(|message| message.ends_with("timed out after 1.5s")),
        "{messages:?}"
    );
}

#[test]
fn a_hook_that_nobody_awaits_does_not_share_the_time_at_the_end_of_a_session() {
    // Longer than the usual budget: in it, it would be cut.
    let sandbox =
        create_project("SessionEnd", &json!([{"type": "command", "command": "sleep 1.8; echo whole", "async": true}]));
    assert_eq!(sandbox.run_event("SessionEnd", &json!({"reason": "other"})).statuses(), ["started"]);
    let outcome = &sandbox.wait_for_background_outcomes(1)[0];
    assert_eq!((&outcome["status"], &outcome["stdout"]), (&json!("ok"), &json!("whole\n")));
}

#[test]
fn the_longest_written_timeout_raises_the_shared_budget() {
    // Longer than the usual budget: without the neighbour's timeout it would be cut.
    let slow = build_command_hook("sleep 1.8");
    let generous = json!({"type": "command", "command": "true", "timeout": 20});
    let ran =
        create_project("SessionEnd", &json!([slow, generous])).run_event("SessionEnd", &json!({"reason": "other"}));
    assert_eq!(ran.statuses(), ["ok", "ok"]);
    let short = json!({"type": "command", "command": "sleep 30", "timeout": 0.2});
    let ran =
        create_project("SessionEnd", &json!([short, generous])).run_event("SessionEnd", &json!({"reason": "other"}));
    assert_eq!(ran.statuses(), ["timed_out", "ok"], "a hook's own timeout still counts");
}

#[test]
fn a_variable_sets_the_shared_budget() {
    // Longer than the usual budget again.
    let sandbox = create_project("SessionEnd", &json!([build_command_hook("sleep 1.8")]))
        .env("CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS", "20000");
    let ran = sandbox.run_event("SessionEnd", &json!({"reason": "other"}));
    assert_eq!(ran.statuses(), ["ok"]);
    // It may be less than usual, and less than a file says.
    for handler in [build_command_hook("sleep 30"), json!({"type": "command", "command": "sleep 30", "timeout": 20})] {
        let sandbox =
            create_project("SessionEnd", &json!([handler])).env("CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS", "300");
        let ran = sandbox.run_event("SessionEnd", &json!({"reason": "other"}));
        assert_eq!(ran.statuses(), ["timed_out"], "{handler}");
        assert!(ran.messages()[0].ends_with("timed out after 300ms"), "{:?}", ran.messages());
    }
}
