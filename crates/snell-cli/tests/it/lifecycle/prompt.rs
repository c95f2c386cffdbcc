//! A prompt: a sign of life, how full the context is, and whether the session has a status.

use serde_json::json;
use snell_test_support::payload::merge_fields;

use super::{INFO, LifecycleSandbox, WARNING, format_stored_time, run_in_both_modes};
use crate::hook::render_answering_hook;
use crate::support::CliSandbox;

const PROMPT: &str = "UserPromptSubmit";
const STATUS: &str = "[CLAUDE OS SYS: INFO]: Consider setting a session status with status(\"what you're working on\")";

fn render_notice_at_60() -> String {
    format!("{INFO}Context at 60% - Consider writing reset notes soon")
}

fn render_warning_at_80() -> String {
    format!("{WARNING}Context at 80% - Write reset notes and prepare to transition")
}

#[test]
fn every_prompt_is_a_sign_of_life() {
    run_in_both_modes(|stage| {
        let stage = stage(CliSandbox::new()).begin_session();
        for time in ["12:00:30", "12:01:00", "12:01:59"] {
            stage.send_prompt(time, "Go on.").assert_silent();
            assert_eq!(stage.session_column("last_seen_at"), format_stored_time(time));
            stage.assert_session_state("active");
        }
        assert_eq!(stage.session_column("started_at"), format_stored_time("12:00:00"));
    });
}

#[test]
fn a_prompt_that_a_hook_blocks_is_a_sign_of_life_too() {
    let stage = LifecycleSandbox::with_user_config(&render_answering_hook(
        PROMPT,
        &json!({"decision": "block", "reason": "no"}),
    ))
    .begin_session();
    let ran = stage.send_prompt("12:01:00", "Go on.");
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("{\"decision\":\"block\",\"reason\":\"no\"}\n", ""));
    assert_eq!(stage.session_column("last_seen_at"), format_stored_time("12:01:00"));
    stage.assert_session_state("idle");
}

#[test]
fn each_threshold_is_told_once_and_of_several_only_the_highest() {
    let (low, high) = (render_notice_at_60(), render_warning_at_80());
    let (low, high) = (low.as_str(), high.as_str());
    let stories: &[(&str, &[(f64, &str)])] = &[
        ("one after the other", &[(12.0, ""), (59.9, ""), (60.0, low), (79.9, ""), (80.0, high), (99.0, "")]),
        ("both at once", &[(85.0, high), (86.0, ""), (97.0, "")]),
        ("up and down a little", &[(61.0, low), (59.0, ""), (62.0, ""), (81.0, high), (78.0, ""), (82.0, "")]),
        ("emptied without a word", &[(85.0, high), (20.0, ""), (61.0, low), (85.0, high)]),
        ("what no prompt tells", &[(80.0, high), (90.0, ""), (95.0, ""), (100.0, "")]),
    ];
    for (story, steps) in stories {
        let stage = LifecycleSandbox::new().begin_session();
        for (index, (percent, expected)) in steps.iter().enumerate() {
            stage.fill_context(&format!("12:01:{:02}", index * 2), *percent);
            let ran = stage.send_prompt(&format!("12:01:{:02}", index * 2 + 1), "Go on.");
            ran.assert_context_answer_in(&format!("{story}: {percent}"), PROMPT, expected);
        }
        assert_eq!(stage.session_column("context_warning_level"), 0, "{story}: that is told when it stops");
    }
}

#[test]
fn where_nobody_can_know_how_full_the_context_is_nothing_is_told() {
    let stage = LifecycleSandbox::new().begin_session();
    stage.send_prompt("12:01:00", "Go on.").assert_silent();
    std::fs::write(stage.transcript_path(), "no transcript\n{\n").unwrap();
    stage.send_prompt("12:01:01", "Go on.").assert_silent();
}

#[test]
fn once_the_context_was_emptied_it_is_told_again() {
    // With the variable of a launcher, what is cleared goes on as the same session, under another id of the agent's own.
    let ways = [("compact", "s1", None), ("clear", "s1", None), ("clear", "s2", Some("ours")), ("clear", "s2", None)];
    for (source, id, launcher) in ways {
        let what = format!("{source} {id} {launcher:?}");
        let variables: Vec<_> = launcher.map(|id| ("CLAUDE_SESSION_ID", id)).into_iter().collect();
        let stage = LifecycleSandbox::new().with_launcher_env(&variables).begin_session();
        stage.fill_context("12:00:10", 85.0);
        stage.send_prompt("12:00:11", "Go on.").assert_context_answer_in(&what, PROMPT, &render_warning_at_80());
        stage.send_prompt("12:00:12", "Go on.").assert_silent();
        if source == "clear" {
            stage.send_event("12:00:20", "SessionEnd", json!({"reason": "clear"})).assert_silent();
        }
        let transcript = match id {
            "s1" => stage.transcript_path(),
            _ => stage.sandbox().home().join("s2.jsonl"),
        };
        let again =
            |fields: serde_json::Value| merge_fields(json!({"session_id": id, "transcript_path": transcript}), &fields);
        stage.send_event("12:00:21", "SessionStart", again(json!({"source": source}))).assert_silent();
        let prompt = |time: &str| stage.send_event(time, PROMPT, again(json!({"prompt": "Go on."})));
        prompt("12:00:30").assert_context_answer_in(&format!("{what}: it is empty"), PROMPT, "");
        stage.fill_context("12:00:40", 61.0);
        if id != "s1" {
            // The agent writes another transcript.
            let text = std::fs::read_to_string(stage.transcript_path()).unwrap();
            let last = text.lines().last().unwrap().replace("\"s1\"", "\"s2\"");
            std::fs::write(&transcript, last + "\n").unwrap();
        }
        prompt("12:00:41").assert_context_answer_in(&format!("{what}: first"), PROMPT, &render_notice_at_60());
        prompt("12:00:42").assert_context_answer_in(&format!("{what}: once"), PROMPT, "");
    }
}

#[test]
fn a_resumed_session_remembers_what_was_told() {
    let stage = LifecycleSandbox::new().begin_session();
    stage.fill_context("12:00:10", 65.0);
    stage.send_prompt("12:00:11", "Go on.").assert_context_answer(PROMPT, &render_notice_at_60());
    stage.send_event("12:00:20", "SessionEnd", json!({"reason": "other"})).assert_silent();
    stage.send_event("12:00:30", "SessionStart", json!({"source": "resume"})).assert_silent();
    stage.send_prompt("12:00:31", "Go on.").assert_silent();
}

#[test]
fn after_two_minutes_without_a_status_it_is_told_once() {
    let stage = LifecycleSandbox::new().begin_session();
    stage.send_prompt("12:01:59", "Go on.").assert_silent();
    stage.send_prompt("12:02:00", "Go on.").assert_context_answer(PROMPT, STATUS);
    stage.send_prompt("12:02:01", "Go on.").assert_silent();
    stage.send_prompt("14:00:00", "Go on.").assert_silent();
}

#[test]
fn who_has_a_status_is_not_told_to_set_one() {
    let stage = LifecycleSandbox::new().begin_session();
    let ran = stage.run_snell("12:01:00", &["session", "status", "fixing the login"], "");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(stage.session_column("status_text"), "fixing the login");
    stage.send_prompt("12:05:00", "Go on.").assert_silent();
    // Whoever takes it back has none.
    assert_eq!(stage.run_snell("12:06:00", &["session", "status", "--clear"], "").code, 0);
    stage.send_prompt("12:07:00", "Go on.").assert_context_answer(PROMPT, STATUS);
}

#[test]
fn all_that_there_is_to_tell_comes_in_one_answer() {
    let stage = LifecycleSandbox::new().begin_session();
    stage.fill_context("12:02:59", 82.0);
    stage
        .send_prompt("12:03:00", "Go on.")
        .assert_context_answer(PROMPT, &format!("{}\n{STATUS}", render_warning_at_80()));
    stage.send_prompt("12:03:01", "Go on.").assert_silent();
}

#[test]
fn what_is_told_at_a_prompt_in_each_mode() {
    for mode in ["interactive", "mission", "background", "night shift"] {
        let stage = LifecycleSandbox::new().with_launcher_env(&[("CLAUDE_SESSION_MODE", mode)]).begin_session();
        stage.fill_context("12:02:59", 61.0);
        stage.send_prompt("12:03:00", "Go on.").assert_context_answer_in(
            mode,
            PROMPT,
            &format!("{}\n{STATUS}", render_notice_at_60()),
        );
    }
}

#[test]
fn the_window_is_what_the_models_name_says() {
    let cases = [
        ("claude-opus-4-5", 119_999, ""),
        ("claude-opus-4-5", 120_000, &render_notice_at_60()),
        ("claude-sonnet-4-5[1m]", 599_999, ""),
        ("claude-sonnet-4-5[1m]", 600_000, &render_notice_at_60()),
    ];
    for (model, tokens, expected) in cases {
        let stage = LifecycleSandbox::new().begin_session();
        stage.append_model_answer("12:00:10", model, tokens);
        let ran = stage.send_prompt("12:00:11", "Go on.");
        ran.assert_context_answer_in(&format!("{model} {tokens}"), PROMPT, expected);
    }
}
