//! The end of a turn: idle, how full the context is, and a reminder to ping.

use serde_json::json;

use super::{INFO, LifecycleSandbox, WARNING, format_stored_time, run_in_both_modes};
use crate::hook::render_answering_hook;
use crate::support::CliSandbox;

const STOP: &str = "Stop";
const PING: &str = "[CLAUDE OS SYS: INFO]: Reminder - Ping before ending";

/// What is told at each threshold.
fn render_expected_message(level: u32) -> String {
    match level {
        0 => String::new(),
        60 => format!("{INFO}Memory check (60% context used)"),
        80 => format!("{WARNING}Context at 80%"),
        90 => format!("{WARNING}Context at 90% - URGENT"),
        95 => format!("{WARNING}Context at 95% - CRITICAL"),
        _ => panic!("{level} is no threshold"),
    }
}

#[test]
fn who_stops_is_idle() {
    run_in_both_modes(|stage| {
        let stage = stage(CliSandbox::new()).begin_session();
        stage.send_prompt("12:00:10", "Go.").assert_silent();
        stage.assert_session_state("active");
        stage.send_stop("12:00:20").assert_silent();
        stage.assert_session_state("idle");
        assert_eq!(stage.session_column("last_seen_at"), format_stored_time("12:00:20"));
    });
}

#[test]
fn warnings_rise_and_each_is_told_once_and_of_several_only_the_highest() {
    // How full the context is, what is told, and the level that then counts as told.
    type ContextLevelSteps<'a> = &'a [(f64, u32, u32)];
    let stories: &[(&str, ContextLevelSteps<'_>)] = &[
        (
            "one after the other",
            &[
                (10.0, 0, 0),
                (59.9, 0, 0),
                (60.0, 60, 60),
                (70.0, 0, 60),
                (80.0, 80, 80),
                (89.9, 0, 80),
                (90.0, 90, 90),
                (95.0, 95, 95),
                (100.0, 0, 95),
            ],
        ),
        ("all at once", &[(99.0, 95, 95), (99.5, 0, 95)]),
        ("two at once", &[(92.0, 90, 90), (94.0, 0, 90), (96.0, 95, 95)]),
        ("up and down a little", &[(81.0, 80, 80), (79.0, 0, 80), (82.0, 0, 80)]),
        ("emptied without a word", &[(96.0, 95, 95), (30.0, 0, 0), (62.0, 60, 60), (96.0, 95, 95)]),
    ];
    for (story, steps) in stories {
        let stage = LifecycleSandbox::new().begin_session();
        for (minute, (percent, told, level)) in steps.iter().enumerate() {
            let time = |second: u32| format!("12:{minute:02}:{second:02}");
            stage.run_snell(&time(0), &["session", "status", "busy"], "");
            // The prompt comes first and has messages of its own, which do not count here.
            let prompt = stage.send_prompt(&time(1), "Go.");
            assert_eq!((prompt.code, prompt.stderr.as_str()), (0, ""));
            stage.fill_context(&time(2), *percent);
            let ran = stage.send_stop(&time(3));
            ran.assert_context_answer_in(&format!("{story}: {percent}"), STOP, &render_expected_message(*told));
            assert_eq!(stage.session_column("context_warning_level"), *level, "{story}: {percent}");
            // Who was told something goes on with it, and its next stop is silent.
            stage.assert_session_state(if *told == 0 { "idle" } else { "active" });
            if *told > 0 {
                stage.send_event(&time(4), STOP, json!({"stop_hook_active": true})).assert_silent();
                stage.assert_session_state("idle");
            }
        }
    }
}

#[test]
fn a_reminder_that_makes_an_agent_go_on_is_no_block_of_a_hook() {
    let fails = "[[hook]]\nevent = \"Stop\"\non_failure = \"block\"\nrun = 'test ! -e not-yet'\n";
    run_in_both_modes(|stage| {
        let stage = stage(CliSandbox::new().home_file(".config/snell/snell.toml", fails)).begin_session();
        stage.send_prompt("12:00:10", "Go.");
        stage.fill_context("12:00:20", 60.0);
        stage.send_stop("12:00:30").assert_context_answer(STOP, &render_expected_message(60));
        std::fs::write(stage.sandbox().project().join("not-yet"), "").unwrap();
        let stopped = stage.send_event("12:00:40", STOP, json!({"stop_hook_active": true}));
        assert_eq!(stopped.json()["decision"], "block", "{stopped:?}");
    });
}

#[test]
fn who_goes_on_because_of_a_hook_is_told_nothing() {
    let stage = LifecycleSandbox::new().with_launcher_env(&[("CLAUDE_SESSION_MODE", "background")]).begin_session();
    stage.fill_context("12:00:10", 99.0);
    for _ in 0..3 {
        stage.send_event("12:00:20", STOP, json!({"stop_hook_active": true})).assert_silent();
    }
    assert_eq!(stage.session_column("context_warning_level"), 0);
    stage.assert_session_state("idle");
    // It is still there to be told.
    stage.send_stop("12:00:30").assert_context_answer(STOP, &format!("{}\n{PING}", render_expected_message(95)));
}

#[test]
fn there_is_no_loop_even_if_the_agent_never_says_that_it_goes_on() {
    let stage = LifecycleSandbox::new().with_launcher_env(&[("CLAUDE_SESSION_MODE", "background")]).begin_session();
    stage.fill_context("12:00:10", 99.0);
    stage.send_stop("12:00:20").assert_context_answer(STOP, &format!("{}\n{PING}", render_expected_message(95)));
    for second in 21..30 {
        stage.send_stop(&format!("12:00:{second}")).assert_silent();
    }
    stage.assert_session_state("idle");
}

#[test]
fn what_was_told_with_a_prompt_is_told_again_when_it_stops() {
    let stage = LifecycleSandbox::new().begin_session();
    stage.fill_context("12:00:10", 61.0);
    stage.send_prompt("12:00:11", "Go.").assert_context_answer(
        "UserPromptSubmit",
        &format!("{INFO}Context at 60% - Consider writing reset notes soon"),
    );
    stage.send_stop("12:00:12").assert_context_answer(STOP, &render_expected_message(60));
    stage.send_prompt("12:00:13", "Go.").assert_silent();
    stage.send_stop("12:00:14").assert_silent();
}

#[test]
fn once_the_context_was_emptied_it_is_told_again() {
    for source in ["clear", "compact"] {
        let stage = LifecycleSandbox::new().begin_session();
        stage.fill_context("12:00:10", 91.0);
        stage.send_stop("12:00:20").assert_context_answer_in(source, STOP, &render_expected_message(90));
        stage.send_event("12:00:30", "SessionStart", json!({"source": source})).assert_silent();
        assert_eq!(stage.session_column("context_warning_level"), 0, "{source}");
        stage.send_stop("12:00:40").assert_context_answer_in(source, STOP, "");
        stage.fill_context("12:00:50", 91.0);
        stage.send_stop("12:00:55").assert_context_answer_in(source, STOP, &render_expected_message(90));
    }
}

#[test]
fn a_subagent_that_stops_is_not_reminded() {
    let stage = LifecycleSandbox::new().with_launcher_env(&[("CLAUDE_SESSION_MODE", "background")]).begin_session();
    stage.fill_context("12:00:10", 99.0);
    let subagent = json!({"agent_id": "a1", "agent_type": "Plan", "stop_hook_active": false});
    stage.send_event("12:00:20", "SubagentStop", subagent).assert_silent();
    assert_eq!(stage.session_column("context_warning_level"), 0);
}

#[test]
fn only_a_session_in_the_background_is_reminded_to_ping_and_only_once() {
    for (mode, expected) in [
        (None, ""),
        (Some("interactive"), ""),
        (Some("mission"), ""),
        (Some("night shift"), ""),
        (Some("background"), PING),
    ] {
        let what = format!("{mode:?}");
        let mode: Vec<_> = mode.map(|mode| ("CLAUDE_SESSION_MODE", mode)).into_iter().collect();
        let stage = LifecycleSandbox::new().with_launcher_env(&mode).begin_session();
        stage.send_prompt("12:00:10", "Go.").assert_silent();
        stage.send_stop("12:00:20").assert_context_answer_in(&what, STOP, expected);
        stage.send_event("12:00:21", STOP, json!({"stop_hook_active": true})).assert_silent();
        stage.send_prompt("12:00:30", "Go.").assert_silent();
        stage.send_stop("12:00:40").assert_context_answer_in(&what, STOP, "");
        stage.assert_session_state("idle");
    }
}

#[test]
fn who_has_pinged_is_not_reminded() {
    let stage = LifecycleSandbox::new().with_launcher_env(&[("CLAUDE_SESSION_MODE", "background")]).begin_session();
    let ran = stage.run_snell("12:00:10", &["session", "ping", "half of it is done"], "");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(stage.session_column("pinged_at"), format_stored_time("12:00:10"));
    stage.send_stop("12:00:20").assert_silent();
}

#[test]
fn modes_that_nobody_watches_may_have_lower_thresholds() {
    let settings = "[remind]\nautonomous_thresholds = [40, 55, 70, 85]\n";
    for (mode, autonomous) in [
        (None, false),
        (Some("interactive"), false),
        (Some("mission"), true),
        (Some("background"), true),
        (Some("night shift"), true),
    ] {
        let what = format!("{mode:?}");
        let mode: Vec<_> = mode.map(|mode| ("CLAUDE_SESSION_MODE", mode)).into_iter().collect();
        let stage = LifecycleSandbox::with_user_config(settings).with_launcher_env(&mode).begin_session();
        stage.run_snell("12:00:01", &["session", "ping"], "");
        let steps = [
            (41.0, format!("{INFO}Memory check (40% context used)"), 40),
            (55.0, format!("{WARNING}Context at 55%"), 55),
            (71.0, format!("{WARNING}Context at 70% - URGENT"), 70),
            (85.0, format!("{WARNING}Context at 85% - CRITICAL"), 85),
        ];
        for (index, (percent, text, level)) in steps.into_iter().enumerate().take(if autonomous { 4 } else { 2 }) {
            stage.fill_context(&format!("12:00:{}", 10 + index * 2), percent);
            let expected = if autonomous { text.as_str() } else { "" };
            stage.send_stop(&format!("12:00:{}", 11 + index * 2)).assert_context_answer_in(&what, STOP, expected);
            assert_eq!(stage.session_column("context_warning_level"), if autonomous { level } else { 0 }, "{what}");
        }
    }
}

#[test]
fn what_the_status_line_says_counts_before_the_transcript() {
    let stage = LifecycleSandbox::new().begin_session();
    stage.fill_context("12:00:05", 20.0);
    let steps = [(30, 0), (61, 60), (82, 80), (82, 0), (91, 90), (97, 95)];
    for (index, (percent, level)) in steps.into_iter().enumerate() {
        let input = json!({
            "hook_event_name": "Status", "session_id": "s1", "cwd": stage.sandbox().project(),
            "model": {"id": "claude-opus-4-5", "display_name": "Opus"},
            "context_window": {"used_percentage": percent},
        });
        let ran = stage.run_snell(&format!("12:00:{}", 10 + index * 2), &["statusline"], &input.to_string());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        assert_eq!(stage.session_column("context_percent"), f64::from(percent));
        // The transcript goes on, and says something else.
        let time = format!("12:00:{}", 11 + index * 2);
        stage.fill_context(&time, 99.0 - f64::from(percent) / 2.0);
        let ran = stage.send_stop(&time);
        ran.assert_context_answer_in(&format!("{percent}"), STOP, &render_expected_message(level));
        assert_eq!(stage.session_column("context_percent"), f64::from(percent));
    }
}

#[test]
fn a_hook_that_keeps_the_agent_going_and_a_reminder_are_one_answer() {
    let stage = LifecycleSandbox::with_user_config(&render_answering_hook(
        STOP,
        &json!({"decision": "block", "reason": "not yet"}),
    ))
    .begin_session();
    stage.fill_context("12:00:10", 61.0);
    let ran = stage.send_stop("12:00:20");
    let answer = json!({
        "decision": "block", "reason": "not yet",
        "hookSpecificOutput": {"hookEventName": STOP, "additionalContext": render_expected_message(60)},
    });
    assert_eq!(ran.json(), answer);
    assert_eq!(stage.session_column("context_warning_level"), 60);
    stage.assert_session_state("active");
}

#[test]
fn what_an_agent_is_told_is_recorded_with_the_event() {
    run_in_both_modes(|stage| {
        let stage = stage(CliSandbox::new()).begin_session();
        stage.fill_context("12:00:10", 61.0);
        stage.send_stop("12:00:12").assert_context_answer(STOP, &render_expected_message(60));
        stage.send_stop("12:00:13").assert_silent();
        let told = stage.watched.query_rows("SELECT told FROM events WHERE name = 'Stop' ORDER BY id");
        assert_eq!(told, [json!({"told": render_expected_message(60)}), json!({"told": null})]);
    });
}
