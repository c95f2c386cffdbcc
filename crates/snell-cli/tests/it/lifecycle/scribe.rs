//! Reminders where a scribe keeps the database open. One that is too busy to be asked in time costs a reminder until the
//! next time, and nothing else.

use serde_json::json;

use super::{INFO, Stage, WARNING};
use crate::hook::Mode;
use crate::support::{Ran, Sandbox, wait_until};

const TRIGGER: &str = "[CLAUDE OS SYS: NOTIFICATION]: Workers complete";

fn served(variables: &[(&str, &str)]) -> Stage {
    let stage = Stage::recording(Mode::WithScribe, Sandbox::new())
        .launched(variables)
        .begin();
    stage.watched.wait_for_scribe();
    stage
}

/// Tells an event until something is said about it.
fn until_told(tell: impl Fn() -> Ran) -> Ran {
    wait_until(|| Some(tell()).filter(|ran| !ran.stdout.is_empty()))
}

/// Waits until what was told is stored.
fn settle(stage: &Stage) {
    stage.watched.rows("SELECT 1");
}

#[test]
fn thresholds_are_told_once_each_with_a_prompt_and_at_a_stop() {
    let stage = served(&[]);
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
        stage.fills(&time(10), percent);
        until_told(|| stage.prompt(&time(20), "Go.")).tells("UserPromptSubmit", &with_prompt);
        settle(&stage);
        stage.prompt(&time(21), "Go.").is_silent();
        until_told(|| stage.stop(&time(30))).tells("Stop", &at_stop);
        settle(&stage);
        stage.stop(&time(31)).is_silent();
        stage.is_in_state("idle");
    }
    assert_eq!(stage.column("context_warning_level"), 80);
}

#[test]
fn a_missing_status_and_finished_workers_are_told_once() {
    let stage = served(&[]);
    let status = "[CLAUDE OS SYS: INFO]: Consider setting a session status with status(\"what you're working on\")";
    stage.prompt("12:01:59", "Go.").is_silent();
    until_told(|| stage.prompt("12:02:00", "Go.")).tells("UserPromptSubmit", status);
    settle(&stage);
    stage.prompt("12:02:01", "Go.").is_silent();
    let subagent = json!({"agent_id": "a1", "agent_type": "Plan"});
    stage.tell("12:02:10", "SubagentStart", subagent.clone()).is_silent();
    stage.tell("12:02:15", "SubagentStop", subagent).is_silent();
    settle(&stage);
    // Whoever is woken and asks a scribe that is too busy hears that it cannot be looked up now.
    let wake = |expected: &str| {
        wait_until(|| {
            let ran = stage.prompt("12:02:20", TRIGGER);
            (!ran.stdout.contains("cannot be looked up now")).then_some(ran)
        })
        .tells("UserPromptSubmit", expected);
        settle(&stage);
    };
    wake(&format!(
        "{INFO}Workers finished: 1\n\n- Plan (subagent a1): done after 5s"
    ));
    wake(&format!("{INFO}No worker has finished since the last report"));
}

#[test]
fn a_session_in_the_background_is_reminded_to_ping_once() {
    let stage = served(&[("CLAUDE_SESSION_MODE", "background")]);
    until_told(|| stage.stop("12:00:20")).tells("Stop", &format!("{INFO}Reminder - Ping before ending"));
    settle(&stage);
    stage.stop("12:00:30").is_silent();
}

#[test]
fn what_the_status_line_says_counts() {
    let stage = served(&[]);
    let input = json!({
        "hook_event_name": "Status", "session_id": "s1", "cwd": stage.sandbox().project(),
        "context_window": {"used_percentage": 91},
    });
    let ran = stage.snell("12:00:10", &["statusline"], &input.to_string());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    until_told(|| stage.stop("12:00:20")).tells("Stop", &format!("{WARNING}Context at 90% - URGENT"));
}
