//! Reminders where a scribe keeps the database open. One that is too busy to be asked in time costs a reminder until the
//! next time, and nothing else.

use serde_json::json;
use snell_test_support::process::CommandOutput;
use snell_test_support::wait::wait_until;

use super::{INFO, LifecycleSandbox, WARNING};
use crate::hook::RecordingMode;
use crate::support::CliSandbox;

const TRIGGER: &str = "[CLAUDE OS SYS: NOTIFICATION]: Workers complete";

fn start_with_daemon(variables: &[(&str, &str)]) -> LifecycleSandbox {
    let stage = LifecycleSandbox::with_recording_mode(RecordingMode::WithDaemon, CliSandbox::new())
        .with_launcher_env(variables)
        .begin_session();
    stage.watched.wait_for_daemon();
    stage
}

/// Tells an event until something is said about it.
fn send_until_answered(tell: impl Fn() -> CommandOutput) -> CommandOutput {
    wait_until(|| Some(tell()).filter(|ran| !ran.stdout.is_empty()))
}

/// Waits until what was told is stored.
fn wait_until_stored(stage: &LifecycleSandbox) {
    stage.watched.query_rows("SELECT 1");
}

#[test]
fn thresholds_are_told_once_each_with_a_prompt_and_at_a_stop() {
    let stage = start_with_daemon(&[]);
    let steps = [
        (
            61.0,
            format!("{INFO}Context at 60% - Consider writing reset notes soon"),
            format!("{INFO}Memory check (60% context used)"),
        ),
        (
            82.0,
            format!("{WARNING}Context at 80% - Write reset notes and prepare to transition"),
            format!("{WARNING}Context at 80%"),
        ),
    ];
    for (minute, (percent, with_prompt, at_stop)) in steps.into_iter().enumerate() {
        let time = |second: u32| format!("12:0{minute}:{second}");
        stage.fill_context(&time(10), percent);
        send_until_answered(|| stage.send_prompt(&time(20), "Go."))
            .assert_context_answer("UserPromptSubmit", &with_prompt);
        wait_until_stored(&stage);
        stage.send_prompt(&time(21), "Go.").assert_silent();
        send_until_answered(|| stage.send_stop(&time(30))).assert_context_answer("Stop", &at_stop);
        wait_until_stored(&stage);
        stage.send_stop(&time(31)).assert_silent();
        stage.assert_session_state("idle");
    }
    assert_eq!(stage.session_column("context_warning_level"), 80);
}

#[test]
fn a_missing_status_and_finished_workers_are_told_once() {
    let stage = start_with_daemon(&[]);
    let status = "[CLAUDE OS SYS: INFO]: Consider setting a session status with status(\"what you're working on\")";
    stage.send_prompt("12:01:59", "Go.").assert_silent();
    send_until_answered(|| stage.send_prompt("12:02:00", "Go.")).assert_context_answer("UserPromptSubmit", status);
    wait_until_stored(&stage);
    stage.send_prompt("12:02:01", "Go.").assert_silent();
    let subagent = json!({"agent_id": "a1", "agent_type": "Plan"});
    stage.send_event("12:02:10", "SubagentStart", subagent.clone()).assert_silent();
    stage.send_event("12:02:15", "SubagentStop", subagent).assert_silent();
    wait_until_stored(&stage);
    // Whoever is woken and asks a scribe that is too busy hears that it cannot be looked up now.
    let wake = |expected: &str| {
        wait_until(|| {
            let ran = stage.send_prompt("12:02:20", TRIGGER);
            (!ran.stdout.contains("cannot be looked up now")).then_some(ran)
        })
        .assert_context_answer("UserPromptSubmit", expected);
        wait_until_stored(&stage);
    };
    wake(&format!("{INFO}Workers finished: 1\n\n- Plan (subagent a1): done after 5s"));
    wake(&format!("{INFO}No worker has finished since the last report"));
}

#[test]
fn a_session_in_the_background_is_reminded_to_ping_once() {
    let stage = start_with_daemon(&[("CLAUDE_SESSION_MODE", "background")]);
    send_until_answered(|| stage.send_stop("12:00:20"))
        .assert_context_answer("Stop", &format!("{INFO}Reminder - Ping before ending"));
    wait_until_stored(&stage);
    stage.send_stop("12:00:30").assert_silent();
}

#[test]
fn what_the_status_line_says_counts() {
    let stage = start_with_daemon(&[]);
    let input = json!({
        "hook_event_name": "Status", "session_id": "s1", "cwd": stage.sandbox().project(),
        "context_window": {"used_percentage": 91},
    });
    let ran = stage.run_snell("12:00:10", &["statusline"], &input.to_string());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    send_until_answered(|| stage.send_stop("12:00:20"))
        .assert_context_answer("Stop", &format!("{WARNING}Context at 90% - URGENT"));
}
