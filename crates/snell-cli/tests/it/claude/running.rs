//! How hooks run: all at once, each one once, reported in configured order, and within a shared budget at the end.

use serde_json::{Value, json};

use super::{before_bash, command, project};
use crate::support::{Ran, Sandbox, start};

#[test]
fn all_hooks_of_an_event_run_together() {
    // Each waits for all the others: run one by one, or eight by eight, none would end before its deadline.
    let wait = "for i in $(seq 16); do while ! test -e here-$i; do sleep 0.02; done; done";
    let handlers: Vec<_> = (1..=16)
        .map(|own| json!({"type": "command", "command": format!("touch here-{own}; {wait}"), "timeout": 20}))
        .collect();
    let ran = before_bash(&project("PreToolUse", &json!(handlers)));
    assert_eq!(ran.statuses(), ["ok"; 16]);
}

#[test]
fn more_hooks_than_the_system_has_room_for_wait_their_turn_and_none_is_lost() {
    let mut handlers: Vec<_> = (0..100).map(|own| command(&format!("sleep 0.02; : {own}"))).collect();
    handlers.insert(50, command("echo no >&2; exit 2"));
    let sandbox = project("PreToolUse", &json!(handlers));
    let payload = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}}).to_string();
    let mut limited = sandbox.shell("ulimit -n 96; exec \"$0\" \"$@\"", &["run", "PreToolUse"]);
    let ran: Ran = start(&mut limited, &payload).wait_with_output().unwrap().into();
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
            let wait = if own == 4 {
                String::new()
            } else {
                format!("while ! test -e over-{before}; do sleep 0.01; done;")
            };
            command(&format!("{wait} touch over-{own}; echo reason {own} >&2; exit 2"))
        })
        .collect();
    let ran = before_bash(&project("PreToolUse", &json!(handlers)));
    let heard: Vec<_> = ran
        .hooks()
        .iter()
        .map(|hook| hook["stderr"].as_str().unwrap().trim().to_owned())
        .collect();
    assert_eq!(heard, ["reason 0", "reason 1", "reason 2", "reason 3", "reason 4"]);
    assert_eq!(ran.reason(), heard.join("\n"));
}

#[test]
fn one_that_fails_or_blocks_does_not_keep_the_others_from_running() {
    let ran = before_bash(&project(
        "PreToolUse",
        &json!([
            command("exit 1"),
            command("echo no >&2; exit 2"),
            command("kill -9 $$"),
            command("echo ran")
        ]),
    ));
    assert_eq!(ran.statuses(), ["failed", "blocked", "failed", "ok"]);
    assert_eq!((ran.code, ran.reason().as_str()), (2, "no"));
}

fn settings(handlers: &Value) -> String {
    json!({"hooks": {"PreToolUse": [{"hooks": handlers}]}}).to_string()
}

#[test]
fn a_hook_that_stands_in_several_files_runs_once() {
    let same = settings(&json!([command("echo same >> log")]));
    let sandbox = Sandbox::new()
        .home_file(".claude/settings.json", &same)
        .file(".claude/settings.json", &same)
        .file(
            ".claude/settings.local.json",
            &settings(&json!([command("echo same >> log"), command("echo other >> log2")])),
        );
    let ran = before_bash(&sandbox);
    assert_eq!(sandbox.read("log"), "same\n");
    assert_eq!(sandbox.read("log2"), "other\n");
    assert_eq!(ran.statuses(), ["ok", "skipped", "skipped", "ok"]);
    let why = ran.hooks()[1]["why"].as_str().unwrap().to_owned();
    assert!(why.contains("~/.claude/settings.json:1"), "{why}");
}

#[test]
fn hooks_that_differ_in_what_they_do_are_not_the_same() {
    let sandbox = project(
        "PreToolUse",
        &json!([
            {"type": "command", "command": "./log.sh", "args": ["a"]},
            {"type": "command", "command": "./log.sh", "args": ["b"]},
            {"type": "command", "command": "./log.sh"},
            {"type": "command", "command": "./log.sh", "if": "Bash(ls)"},
        ]),
    )
    .script("log.sh", "echo \"[$*]\" > run-$$");
    let ran = before_bash(&sandbox);
    assert_eq!(ran.statuses(), ["ok"; 4]);
}

#[test]
fn a_hook_found_under_two_matchers_runs_once_and_under_one_that_does_not_match_not_at_all() {
    let hook = json!([command("echo ran >> log")]);
    let sandbox = Sandbox::new().hooks(
        ".claude/settings.json",
        &json!({"PreToolUse": [
            {"matcher": "Read", "hooks": hook}, {"matcher": "Bash", "hooks": hook}, {"matcher": "*", "hooks": hook},
        ]}),
    );
    let ran = before_bash(&sandbox);
    assert_eq!(sandbox.read("log"), "ran\n");
    assert_eq!(ran.statuses(), ["ok", "skipped"]);
}

#[test]
fn files_are_read_from_the_user_to_the_local_one_and_all_of_them_count() {
    let deny = |reason: &str| settings(&json!([command(&format!("echo {reason} >&2; exit 2"))]));
    let sandbox = Sandbox::new()
        .file(".claude/settings.local.json", &deny("local"))
        .file(".claude/settings.json", &deny("project"))
        .home_file(".claude/settings.json", &deny("user"));
    let ran = before_bash(&sandbox);
    assert_eq!(ran.reason(), "user\nproject\nlocal");
    let sources: Vec<_> = ran.hooks().iter().map(|hook| hook["source"].clone()).collect();
    assert_eq!(
        sources,
        [
            "~/.claude/settings.json",
            ".claude/settings.json",
            ".claude/settings.local.json"
        ]
    );
}

#[test]
fn at_the_end_of_a_session_all_hooks_share_a_second_and_a_half() {
    let ran = project(
        "SessionEnd",
        &json!([command("sleep 30"), command("true"), command("sleep 31")]),
    )
    .run("SessionEnd", &json!({"reason": "other"}));
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
    let sandbox = project(
        "SessionEnd",
        &json!([{"type": "command", "command": "sleep 1.8; echo whole", "async": true}]),
    );
    assert_eq!(
        sandbox.run("SessionEnd", &json!({"reason": "other"})).statuses(),
        ["started"]
    );
    let outcome = &sandbox.background_outcomes(1)[0];
    assert_eq!(
        (&outcome["status"], &outcome["stdout"]),
        (&json!("ok"), &json!("whole\n"))
    );
}

#[test]
fn the_longest_written_timeout_raises_the_shared_budget() {
    // Longer than the usual budget: without the neighbour's timeout it would be cut.
    let slow = command("sleep 1.8");
    let generous = json!({"type": "command", "command": "true", "timeout": 20});
    let ran = project("SessionEnd", &json!([slow, generous])).run("SessionEnd", &json!({"reason": "other"}));
    assert_eq!(ran.statuses(), ["ok", "ok"]);
    let short = json!({"type": "command", "command": "sleep 30", "timeout": 0.2});
    let ran = project("SessionEnd", &json!([short, generous])).run("SessionEnd", &json!({"reason": "other"}));
    assert_eq!(ran.statuses(), ["timed_out", "ok"], "a hook's own timeout still counts");
}

#[test]
fn a_variable_sets_the_shared_budget() {
    // Longer than the usual budget again.
    let sandbox =
        project("SessionEnd", &json!([command("sleep 1.8")])).env("CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS", "20000");
    let ran = sandbox.run("SessionEnd", &json!({"reason": "other"}));
    assert_eq!(ran.statuses(), ["ok"]);
    // It may be less than usual, and less than a file says.
    for handler in [
        command("sleep 30"),
        json!({"type": "command", "command": "sleep 30", "timeout": 20}),
    ] {
        let sandbox = project("SessionEnd", &json!([handler])).env("CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS", "300");
        let ran = sandbox.run("SessionEnd", &json!({"reason": "other"}));
        assert_eq!(ran.statuses(), ["timed_out"], "{handler}");
        assert!(
            ran.messages()[0].ends_with("timed out after 300ms"),
            "{:?}",
            ran.messages()
        );
    }
}
