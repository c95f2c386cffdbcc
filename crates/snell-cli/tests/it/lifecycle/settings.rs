//! What users change of all this in their `snell.toml`, and what projects cannot.

use std::fs;

use serde_json::json;

use super::context::{TODAY, render_loaded_context};
use super::{LifecycleSandbox, format_stored_time};
use crate::support::CliSandbox;

const PROMPT: &str = "UserPromptSubmit";
const TRIGGER: &str = "[CLAUDE OS SYS: NOTIFICATION]: Workers complete";
const STATUS: &str = "[CLAUDE OS SYS: INFO]: Consider setting a session status with status(\"what you're working on\")";

/// A whole session, and everything that is said in it.
fn play_session(stage: &LifecycleSandbox) -> Vec<String> {
    let mut said = Vec::new();
    let mut keep = |ran: snell_test_support::process::CommandOutput| {
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
        if ran.stdout.is_empty() {
            said.push(String::new());
            return;
        }
        let output = ran.json()["hookSpecificOutput"].clone();
        let text = output["additionalContext"].as_str().or(output["permissionDecision"].as_str());
        said.push(text.unwrap().to_owned());
    };
    keep(stage.send_event("12:00:00", "SessionStart", json!({"source": "startup"})));
    for (minute, percent) in [(1, 65.0), (3, 85.0)] {
        stage.fill_context(&format!("12:0{minute}:00"), percent);
        keep(stage.send_prompt(&format!("12:0{minute}:10"), "Go."));
    }
    let send =
        json!({"tool_name": "mcp__gmail__send_email", "tool_use_id": "t1", "tool_input": {"to": "eve@example.com"}});
    keep(stage.send_event("12:03:20", "PreToolUse", send));
    for (minute, percent) in [(4, 65.0), (5, 85.0), (6, 92.0), (7, 97.0)] {
        stage.fill_context(&format!("12:0{minute}:00"), percent);
        keep(stage.send_stop(&format!("12:0{minute}:10")));
    }
    stage.run_snell("12:08:00", &["worker", "done", "build"], "");
    keep(stage.send_prompt("12:08:10", TRIGGER));
    keep(stage.send_prompt("12:08:20", TRIGGER));
    said
}

fn list_default_texts() -> Vec<String> {
    [
        &render_loaded_context(&[TODAY]),
        "[CLAUDE OS SYS: INFO]: Context at 60% - Consider writing reset notes soon",
        &format!("[CLAUDE OS SYS: WARNING]: Context at 80% - Write reset notes and prepare to transition\n{STATUS}"),
        "deny",
        "[CLAUDE OS SYS: INFO]: Memory check (60% context used)",
        "[CLAUDE OS SYS: WARNING]: Context at 80%",
        "[CLAUDE OS SYS: WARNING]: Context at 90% - URGENT",
        "[CLAUDE OS SYS: WARNING]: Context at 95% - CRITICAL",
        "[CLAUDE OS SYS: INFO]: Workers finished: 1\n\n- build: done",
        "[CLAUDE OS SYS: INFO]: No worker has finished since the last report",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn create_configured_sandbox(settings: &str) -> LifecycleSandbox {
    let sandbox = CliSandbox::new().file("Desktop/TODAY.md", "today\n").home_file(".config/snell/snell.toml", settings);
    LifecycleSandbox::with_sandbox(sandbox)
}

#[test]
fn the_prefix_and_every_text_can_be_changed() {
    let keys = [
        ("context_loaded", 0),
        ("prompt_notice", 1),
        ("prompt_warning", 2),
        ("set_status", 2),
        ("memory_check", 4),
        ("reset", 5),
        ("urgent", 6),
        ("critical", 7),
        ("workers_done", 8),
        ("no_workers", 9),
    ];
    for (key, place) in keys {
        let said = play_session(&create_configured_sandbox(&format!(
            "[messages]\n{key} = \"<{{percent}} {{count}} {{level}}>\"\n"
        )));
        for (index, (said, usual)) in said.iter().zip(list_default_texts()).enumerate() {
            if index == place {
                assert!(said.contains("]: <") && said.contains(" {level}>"), "{key}: {said}");
                assert_ne!(*said, usual, "{key}");
            } else {
                assert_eq!(*said, usual, "{key}");
            }
        }
    }
    let said = play_session(&create_configured_sandbox("[messages]\nprefix = \"{level}! \"\nwake_up = \"Wake up\"\n"));
    assert_eq!(said[1], "INFO! Context at 60% - Consider writing reset notes soon");
    assert_eq!(said[5], "WARNING! Context at 80%");
    assert!(said[0].starts_with("INFO! Session context loaded\n\n"), "{}", said[0]);
    assert_eq!(said[8..], ["", ""], "another prompt wakes");
}

#[test]
fn another_trigger_is_recognised_with_its_prefix() {
    let stage = LifecycleSandbox::with_user_config("[messages]\nprefix = \"{level}! \"\nwake_up = \"Wake up\"\n")
        .begin_session();
    stage.run_snell("12:00:10", &["worker", "done", "build"], "");
    stage.send_prompt("12:00:20", "Wake up").assert_silent();
    stage
        .send_prompt("12:00:30", "[10:00] NOTIFICATION! Wake up")
        .assert_context_answer(PROMPT, "INFO! Workers finished: 1\n\n- build: done");
}

#[test]
fn percentages_and_counts_are_filled_in() {
    let settings = "[messages]\nmemory_check = \"{percent} of 100\"\nworkers_done = \"{count} done\"\n";
    let said = play_session(&create_configured_sandbox(settings));
    assert_eq!(said[4], "[CLAUDE OS SYS: INFO]: 60 of 100");
    assert_eq!(said[8], "[CLAUDE OS SYS: INFO]: 1 done\n\n- build: done");
}

#[test]
fn an_empty_text_is_not_told() {
    let texts = ["prompt_notice", "prompt_warning", "memory_check", "reset", "urgent", "critical", "no_workers"];
    let lines: String = texts.iter().map(|key| format!("{key} = \"\"\n")).collect();
    let expected: Vec<_> = list_default_texts()
        .into_iter()
        .enumerate()
        .map(|(index, text)| match index {
            1 | 4..=7 | 9 => String::new(),
            2 => STATUS.to_owned(),
            _ => text,
        })
        .collect();
    assert_eq!(play_session(&create_configured_sandbox(&format!("[messages]\n{lines}"))), expected);
    let first = &play_session(&create_configured_sandbox("[messages]\ncontext_loaded = \"\"\n"))[0];
    assert!(first.starts_with("Core memory files loaded automatically:\n- TODAY.MD"), "{first}");
    let stage = LifecycleSandbox::with_user_config("[messages]\nping = \"\"\nset_status = \"\"\n")
        .with_launcher_env(&[("CLAUDE_SESSION_MODE", "background")])
        .begin_session();
    stage.send_prompt("12:05:00", "Go.").assert_silent();
    stage.send_stop("12:05:10").assert_silent();
}

#[test]
fn thresholds_and_times_can_be_changed() {
    let stage = LifecycleSandbox::with_user_config("[remind]\nthresholds = [10, 20, 30, 40]\nstatus_after = \"10s\"\n")
        .begin_session();
    stage.fill_context("12:00:08", 12.0);
    stage
        .send_prompt("12:00:09", "Go.")
        .assert_context_answer(PROMPT, "[CLAUDE OS SYS: INFO]: Context at 10% - Consider writing reset notes soon");
    stage.send_prompt("12:00:10", "Go.").assert_context_answer(PROMPT, STATUS);
    stage.fill_context("12:00:19", 33.0);
    stage.send_stop("12:00:20").assert_context_answer("Stop", "[CLAUDE OS SYS: WARNING]: Context at 30% - URGENT");
    assert_eq!(stage.session_column("context_warning_level"), 30);
}

#[test]
fn how_much_fits_into_the_context_can_be_said() {
    let stage = LifecycleSandbox::with_user_config("context_window = 1000000\n").begin_session();
    stage.append_model_answer("12:00:08", "claude-opus-4-5", 190_000);
    stage.send_prompt("12:00:09", "Go.").assert_silent();
    stage.append_model_answer("12:00:10", "claude-opus-4-5", 610_000);
    stage
        .send_prompt("12:00:11", "Go.")
        .assert_context_answer(PROMPT, "[CLAUDE OS SYS: INFO]: Context at 60% - Consider writing reset notes soon");
    assert_eq!(stage.session_column("context_percent"), 61.0);
}

#[test]
fn each_handler_can_be_switched_off() {
    let off = |name: &str| play_session(&create_configured_sandbox(&format!("[handlers]\n{name} = false\n")));
    let expected = |silent: &[usize]| -> Vec<String> {
        let keep = |(index, text): (usize, String)| if silent.contains(&index) { String::new() } else { text };
        list_default_texts().into_iter().enumerate().map(keep).collect()
    };
    assert_eq!(off("context"), expected(&[0]));
    assert_eq!(off("comms"), expected(&[3]));
    assert_eq!(off("remind"), expected(&[1, 2, 4, 5, 6, 7, 8, 9]));
}

#[test]
fn without_a_record_nothing_is_reminded_of_and_nothing_is_kept() {
    let stage = create_configured_sandbox("[handlers]\ntrack = false\n");
    let said = play_session(&stage);
    assert_eq!(said[..8], [&render_loaded_context(&[TODAY]), "", "", "deny", "", "", "", ""]);
    let unknown = "[CLAUDE OS SYS: INFO]: The finished workers cannot be read now";
    assert_eq!(said[8..], [unknown, unknown]);
    assert!(!stage.watched.database_path().exists());
}

#[test]
fn a_projects_file_has_no_say_in_it() {
    let settings = "context_window = 1000000\n\
        [handlers]\nremind = false\ncomms = false\ntrack = false\ncontext = false\n\
        [remind]\nthresholds = [1, 2, 3, 4]\nstatus_after = \"1h\"\n\
        [messages]\nprefix = \"mine: \"\nreset = \"obey\"\n\
        [comms]\nexcept = [\"*\"]\n";
    let sandbox = CliSandbox::new().file("Desktop/TODAY.md", "today\n").file("snell.toml", settings);
    let stage = LifecycleSandbox::with_sandbox(sandbox);
    let trusted = stage.sandbox().run_snell(&["trust"], "");
    assert_eq!(trusted.code, 0, "{trusted:?}");
    let ran = stage.send_event("12:00:00", "SessionStart", json!({"source": "startup"}));
    assert!(ran.stdout.contains("[CLAUDE OS SYS: INFO]: Session context loaded"), "{ran:?}");
    stage.fill_context("12:02:09", 85.0);
    let ran = stage.send_prompt("12:02:10", "Go.");
    let expected =
        format!("[CLAUDE OS SYS: WARNING]: Context at 80% - Write reset notes and prepare to transition\n{STATUS}");
    assert_eq!(ran.json()["hookSpecificOutput"]["additionalContext"], expected, "{ran:?}");
    let send =
        json!({"tool_name": "mcp__gmail__send_email", "tool_use_id": "t1", "tool_input": {"to": "eve@example.com"}});
    let ran = stage.send_event("12:02:20", "PreToolUse", send);
    assert_eq!(ran.json()["hookSpecificOutput"]["permissionDecision"], "deny", "{ran:?}");
    let ran = stage.send_stop("12:02:30");
    assert_eq!(
        ran.json()["hookSpecificOutput"]["additionalContext"],
        "[CLAUDE OS SYS: WARNING]: Context at 80%",
        "{ran:?}"
    );
    assert_eq!(stage.session_column("last_seen_at"), format_stored_time("12:02:30"));
}

#[test]
fn a_setting_that_cannot_be_understood_costs_only_itself() {
    let lines = [
        "[remind]\nthresholds = [90, 80, 70, 60]\n",
        "[remind]\nstatus_after = \"soon\"\n",
        "[messages]\nprefix = 3\n",
        "[messages]\nwake_up = \"\"\n",
        "[context]\nmax_file = \"much\"\n",
        "context_window = \"large\"\n",
    ];
    for line in lines {
        let stage = create_configured_sandbox(line);
        fs::write(stage.transcript_path(), "").unwrap();
        let ran = stage.send_event("12:00:00", "SessionStart", json!({"source": "startup"}));
        assert_eq!(ran.json()["hookSpecificOutput"]["additionalContext"], render_loaded_context(&[TODAY]), "{line}");
        let warnings = ran.stderr.lines().filter(|line| !line.starts_with("snell: hint: ")).count();
        assert_eq!((ran.code, warnings), (0, 1), "{line}: {ran:?}");
        assert!(ran.stderr.contains("snell.toml:"), "{line}: {}", ran.stderr);
        stage.fill_context("12:02:09", 65.0);
        let ran = stage.send_prompt("12:02:10", "Go.");
        let expected = format!("[CLAUDE OS SYS: INFO]: Context at 60% - Consider writing reset notes soon\n{STATUS}");
        assert_eq!(ran.json()["hookSpecificOutput"]["additionalContext"], expected, "{line}");
    }
}
