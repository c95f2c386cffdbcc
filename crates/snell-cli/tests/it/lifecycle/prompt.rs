//! A prompt: a sign of life, how full the context is, and whether the session has a status.

use serde_json::json;

use super::{INFO, Stage, WARNING, in_both_ways, noted};
use crate::hook::saying;
use crate::support::Sandbox;

const PROMPT: &str = "UserPromptSubmit";
const STATUS: &str = "[CLAUDE OS SYS: INFO]: Consider setting a session status with status(\"what you're working on\")";

fn at_60() -> String {
    format!("{INFO}Context at 60% - Consider writing reset notes soon")
}

fn at_80() -> String {
    format!("{WARNING}Context at 80% - Write reset notes and prepare to transition")
}

#[test]
fn every_prompt_is_a_sign_of_life() {
    in_both_ways(|stage| {
        let stage = stage(Sandbox::new()).begin();
        for time in ["12:00:30", "12:01:00", "12:01:59"] {
            stage.prompt(time, "Go on.").is_silent();
            assert_eq!(stage.column("last_seen_at"), noted(time));
            stage.is_in_state("active");
        }
        assert_eq!(stage.column("started_at"), noted("12:00:00"));
    });
}

#[test]
fn a_prompt_that_a_hook_blocks_is_a_sign_of_life_too() {
    let stage = Stage::configured(&saying(PROMPT, &json!({"decision": "block", "reason": "no"}))).begin();
    let ran = stage.prompt("12:01:00", "Go on.");
    assert_eq!(
        (ran.stdout.as_str(), ran.stderr.as_str()),
        ("{\"decision\":\"block\",\"reason\":\"no\"}\n", "")
    );
    assert_eq!(stage.column("last_seen_at"), noted("12:01:00"));
    stage.is_in_state("idle");
}

#[test]
fn each_threshold_is_told_once_and_of_several_only_the_highest() {
    let (low, high) = (at_60(), at_80());
    let (low, high) = (low.as_str(), high.as_str());
    let stories: &[(&str, &[(f64, &str)])] = &[
        (
            "one after the other",
            &[
                (12.0, ""),
                (59.9, ""),
                (60.0, low),
                (79.9, ""),
                (80.0, high),
                (99.0, ""),
            ],
        ),
        ("both at once", &[(85.0, high), (86.0, ""), (97.0, "")]),
        (
            "up and down a little",
            &[
                (61.0, low),
                (59.0, ""),
                (62.0, ""),
                (81.0, high),
                (78.0, ""),
                (82.0, ""),
            ],
        ),
        (
            "emptied without a word",
            &[(85.0, high), (20.0, ""), (61.0, low), (85.0, high)],
        ),
        (
            "what no prompt tells",
            &[(80.0, high), (90.0, ""), (95.0, ""), (100.0, "")],
        ),
    ];
    for (story, steps) in stories {
        let stage = Stage::new().begin();
        for (index, (percent, expected)) in steps.iter().enumerate() {
            stage.fills(&format!("12:01:{:02}", index * 2), *percent);
            let ran = stage.prompt(&format!("12:01:{:02}", index * 2 + 1), "Go on.");
            ran.tells_in(&format!("{story}: {percent}"), PROMPT, expected);
        }
        assert_eq!(
            stage.column("context_warning_level"),
            0,
            "{story}: that is told when it stops"
        );
    }
}

#[test]
fn where_nobody_can_know_how_full_the_context_is_nothing_is_told() {
    let stage = Stage::new().begin();
    stage.prompt("12:01:00", "Go on.").is_silent();
    std::fs::write(stage.transcript(), "no transcript\n{\n").unwrap();
    stage.prompt("12:01:01", "Go on.").is_silent();
}

#[test]
fn once_the_context_was_emptied_it_is_told_again() {
    // With the variable of a launcher, what is cleared goes on as the same session, under another id of the agent's own.
    let ways = [
        ("compact", "s1", None),
        ("clear", "s1", None),
        ("clear", "s2", Some("ours")),
        ("clear", "s2", None),
    ];
    for (source, id, launcher) in ways {
        let what = format!("{source} {id} {launcher:?}");
        let variables: Vec<_> = launcher.map(|id| ("CLAUDE_SESSION_ID", id)).into_iter().collect();
        let stage = Stage::new().launched(&variables).begin();
        stage.fills("12:00:10", 85.0);
        stage.prompt("12:00:11", "Go on.").tells_in(&what, PROMPT, &at_80());
        stage.prompt("12:00:12", "Go on.").is_silent();
        if source == "clear" {
            stage
                .tell("12:00:20", "SessionEnd", json!({"reason": "clear"}))
                .is_silent();
        }
        let transcript = match id {
            "s1" => stage.transcript(),
            _ => stage.sandbox().home().join("s2.jsonl"),
        };
        let again = |fields: serde_json::Value| {
            let mut all = json!({"session_id": id, "transcript_path": transcript});
            all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            all
        };
        stage
            .tell("12:00:21", "SessionStart", again(json!({"source": source})))
            .is_silent();
        let prompt = |time: &str| stage.tell(time, PROMPT, again(json!({"prompt": "Go on."})));
        prompt("12:00:30").tells_in(&format!("{what}: it is empty"), PROMPT, "");
        stage.fills("12:00:40", 61.0);
        if id != "s1" {
            // The agent writes another transcript.
            let text = std::fs::read_to_string(stage.transcript()).unwrap();
            let last = text.lines().last().unwrap().replace("\"s1\"", "\"s2\"");
            std::fs::write(&transcript, last + "\n").unwrap();
        }
        prompt("12:00:41").tells_in(&format!("{what}: first"), PROMPT, &at_60());
        prompt("12:00:42").tells_in(&format!("{what}: once"), PROMPT, "");
    }
}

#[test]
fn a_resumed_session_remembers_what_was_told() {
    let stage = Stage::new().begin();
    stage.fills("12:00:10", 65.0);
    stage.prompt("12:00:11", "Go on.").tells(PROMPT, &at_60());
    stage
        .tell("12:00:20", "SessionEnd", json!({"reason": "other"}))
        .is_silent();
    stage
        .tell("12:00:30", "SessionStart", json!({"source": "resume"}))
        .is_silent();
    stage.prompt("12:00:31", "Go on.").is_silent();
}

#[test]
fn after_two_minutes_without_a_status_it_is_told_once() {
    let stage = Stage::new().begin();
    stage.prompt("12:01:59", "Go on.").is_silent();
    stage.prompt("12:02:00", "Go on.").tells(PROMPT, STATUS);
    stage.prompt("12:02:01", "Go on.").is_silent();
    stage.prompt("14:00:00", "Go on.").is_silent();
}

#[test]
fn who_has_a_status_is_not_told_to_set_one() {
    let stage = Stage::new().begin();
    let ran = stage.snell("12:01:00", &["session", "status", "fixing the login"], "");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(stage.column("status_text"), "fixing the login");
    stage.prompt("12:05:00", "Go on.").is_silent();
    // Whoever takes it back has none.
    assert_eq!(stage.snell("12:06:00", &["session", "status", "--clear"], "").code, 0);
    stage.prompt("12:07:00", "Go on.").tells(PROMPT, STATUS);
}

#[test]
fn all_that_there_is_to_tell_comes_in_one_answer() {
    let stage = Stage::new().begin();
    stage.fills("12:02:59", 82.0);
    stage
        .prompt("12:03:00", "Go on.")
        .tells(PROMPT, &format!("{}\n{STATUS}", at_80()));
    stage.prompt("12:03:01", "Go on.").is_silent();
}

#[test]
fn what_is_told_at_a_prompt_in_each_mode() {
    for mode in ["interactive", "mission", "background", "night shift"] {
        let stage = Stage::new().launched(&[("CLAUDE_SESSION_MODE", mode)]).begin();
        stage.fills("12:02:59", 61.0);
        stage
            .prompt("12:03:00", "Go on.")
            .tells_in(mode, PROMPT, &format!("{}\n{STATUS}", at_60()));
    }
}

#[test]
fn the_window_is_what_the_models_name_says() {
    let cases = [
        ("claude-opus-4-5", 119_999, ""),
        ("claude-opus-4-5", 120_000, &at_60()),
        ("claude-sonnet-4-5[1m]", 599_999, ""),
        ("claude-sonnet-4-5[1m]", 600_000, &at_60()),
    ];
    for (model, tokens, expected) in cases {
        let stage = Stage::new().begin();
        stage.answers_with("12:00:10", model, tokens);
        let ran = stage.prompt("12:00:11", "Go on.");
        ran.tells_in(&format!("{model} {tokens}"), PROMPT, expected);
    }
}
