//! What users change of all this in their `snell.toml`, and what projects cannot.

use std::fs;

use serde_json::json;

use super::context::{TODAY, loaded};
use super::{Stage, noted};
use crate::support::Sandbox;

const PROMPT: &str = "UserPromptSubmit";
const TRIGGER: &str = "[CLAUDE OS SYS: NOTIFICATION]: Workers complete";
const STATUS: &str = "[CLAUDE OS SYS: INFO]: Consider setting a session status with status(\"what you're working on\")";

/// A whole session, and everything that is said in it.
fn said(stage: &Stage) -> Vec<String> {
    let mut said = Vec::new();
    let mut keep = |ran: crate::support::Ran| {
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
        if ran.stdout.is_empty() {
            said.push(String::new());
            return;
        }
        let output = ran.json()["hookSpecificOutput"].clone();
        let text = output["additionalContext"]
            .as_str()
            .or(output["permissionDecision"].as_str());
        said.push(text.unwrap().to_owned());
    };
    keep(stage.tell("12:00:00", "SessionStart", json!({"source": "startup"})));
    for (minute, percent) in [(1, 65.0), (3, 85.0)] {
        stage.fills(&format!("12:0{minute}:00"), percent);
        keep(stage.prompt(&format!("12:0{minute}:10"), "Go."));
    }
    let send =
        json!({"tool_name": "mcp__gmail__send_email", "tool_use_id": "t1", "tool_input": {"to": "eve@example.com"}});
    keep(stage.tell("12:03:20", "PreToolUse", send));
    for (minute, percent) in [(4, 65.0), (5, 85.0), (6, 92.0), (7, 97.0)] {
        stage.fills(&format!("12:0{minute}:00"), percent);
        keep(stage.stop(&format!("12:0{minute}:10")));
    }
    stage.snell("12:08:00", &["worker", "done", "build"], "");
    keep(stage.prompt("12:08:10", TRIGGER));
    keep(stage.prompt("12:08:20", TRIGGER));
    said
}

fn usual() -> Vec<String> {
    [
        &loaded(&[TODAY]),
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

fn configured(settings: &str) -> Stage {
    let sandbox = Sandbox::new()
        .file("Desktop/TODAY.md", "today\n")
        .home_file(".config/snell/snell.toml", settings);
    Stage::with(sandbox)
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
        let said = said(&configured(&format!(
            "[messages]\n{key} = \"<{{percent}} {{count}} {{level}}>\"\n"
        )));
        for (index, (said, usual)) in said.iter().zip(usual()).enumerate() {
            if index == place {
                assert!(said.contains("]: <") && said.contains(" {level}>"), "{key}: {said}");
                assert_ne!(*said, usual, "{key}");
            } else {
                assert_eq!(*said, usual, "{key}");
            }
        }
    }
    let said = said(&configured(
        "[messages]\nprefix = \"{level}! \"\nwake_up = \"Wake up\"\n",
    ));
    assert_eq!(said[1], "INFO! Context at 60% - Consider writing reset notes soon");
    assert_eq!(said[5], "WARNING! Context at 80%");
    assert!(said[0].starts_with("INFO! Session context loaded\n\n"), "{}", said[0]);
    assert_eq!(said[8..], ["", ""], "another prompt wakes");
}

#[test]
fn another_trigger_is_recognised_with_its_prefix() {
    let stage = Stage::configured("[messages]\nprefix = \"{level}! \"\nwake_up = \"Wake up\"\n").begin();
    stage.snell("12:00:10", &["worker", "done", "build"], "");
    stage.prompt("12:00:20", "Wake up").is_silent();
    stage
        .prompt("12:00:30", "[10:00] NOTIFICATION! Wake up")
        .tells(PROMPT, "INFO! Workers finished: 1\n\n- build: done");
}

#[test]
fn percentages_and_counts_are_filled_in() {
    let settings = "[messages]\nmemory_check = \"{percent} of 100\"\nworkers_done = \"{count} done\"\n";
    let said = said(&configured(settings));
    assert_eq!(said[4], "[CLAUDE OS SYS: INFO]: 60 of 100");
    assert_eq!(said[8], "[CLAUDE OS SYS: INFO]: 1 done\n\n- build: done");
}

#[test]
fn an_empty_text_is_not_told() {
    let texts = [
        "prompt_notice",
        "prompt_warning",
        "memory_check",
        "reset",
        "urgent",
        "critical",
        "no_workers",
    ];
    let lines: String = texts.iter().map(|key| format!("{key} = \"\"\n")).collect();
    let expected: Vec<_> = usual()
        .into_iter()
        .enumerate()
        .map(|(index, text)| match index {
            1 | 4..=7 | 9 => String::new(),
            2 => STATUS.to_owned(),
            _ => text,
        })
        .collect();
    assert_eq!(said(&configured(&format!("[messages]\n{lines}"))), expected);
    let first = &said(&configured("[messages]\ncontext_loaded = \"\"\n"))[0];
    assert!(
        first.starts_with("Core memory files loaded automatically:\n- TODAY.MD"),
        "{first}"
    );
    let stage = Stage::configured("[messages]\nping = \"\"\nset_status = \"\"\n")
        .launched(&[("CLAUDE_SESSION_MODE", "background")])
        .begin();
    stage.prompt("12:05:00", "Go.").is_silent();
    stage.stop("12:05:10").is_silent();
}

#[test]
fn thresholds_and_times_can_be_changed() {
    let stage = Stage::configured("[remind]\nthresholds = [10, 20, 30, 40]\nstatus_after = \"10s\"\n").begin();
    stage.fills("12:00:08", 12.0);
    stage.prompt("12:00:09", "Go.").tells(
        PROMPT,
        "[CLAUDE OS SYS: INFO]: Context at 10% - Consider writing reset notes soon",
    );
    stage.prompt("12:00:10", "Go.").tells(PROMPT, STATUS);
    stage.fills("12:00:19", 33.0);
    stage
        .stop("12:00:20")
        .tells("Stop", "[CLAUDE OS SYS: WARNING]: Context at 30% - URGENT");
    assert_eq!(stage.column("context_warning_level"), 30);
}

#[test]
fn how_much_fits_into_the_context_can_be_said() {
    let stage = Stage::configured("context_window = 1000000\n").begin();
    stage.answers_with("12:00:08", "claude-opus-4-5", 190_000);
    stage.prompt("12:00:09", "Go.").is_silent();
    stage.answers_with("12:00:10", "claude-opus-4-5", 610_000);
    stage.prompt("12:00:11", "Go.").tells(
        PROMPT,
        "[CLAUDE OS SYS: INFO]: Context at 60% - Consider writing reset notes soon",
    );
    assert_eq!(stage.column("context_percent"), 61.0);
}

#[test]
fn each_handler_can_be_switched_off() {
    let off = |name: &str| said(&configured(&format!("[handlers]\n{name} = false\n")));
    let expected = |silent: &[usize]| -> Vec<String> {
        let keep = |(index, text): (usize, String)| if silent.contains(&index) { String::new() } else { text };
        usual().into_iter().enumerate().map(keep).collect()
    };
    assert_eq!(off("context"), expected(&[0]));
    assert_eq!(off("comms"), expected(&[3]));
    assert_eq!(off("remind"), expected(&[1, 2, 4, 5, 6, 7, 8, 9]));
}

#[test]
fn without_a_record_nothing_is_reminded_of_and_nothing_is_kept() {
    let stage = configured("[handlers]\ntrack = false\n");
    let said = said(&stage);
    assert_eq!(said[..8], [&loaded(&[TODAY]), "", "", "deny", "", "", "", ""]);
    let unknown = "[CLAUDE OS SYS: INFO]: Which workers have finished cannot be looked up now";
    assert_eq!(said[8..], [unknown, unknown]);
    assert!(!stage.watched.database().exists());
}

#[test]
fn a_projects_file_has_no_say_in_it() {
    let settings = "context_window = 1000000\n\
        [handlers]\nremind = false\ncomms = false\ntrack = false\ncontext = false\n\
        [remind]\nthresholds = [1, 2, 3, 4]\nstatus_after = \"1h\"\n\
        [messages]\nprefix = \"mine: \"\nreset = \"obey\"\n\
        [comms]\nexcept = [\"*\"]\n";
    let sandbox = Sandbox::new()
        .file("Desktop/TODAY.md", "today\n")
        .file("snell.toml", settings);
    let stage = Stage::with(sandbox);
    let trusted = stage.sandbox().snell(&["trust"], "");
    assert_eq!(trusted.code, 0, "{trusted:?}");
    let ran = stage.tell("12:00:00", "SessionStart", json!({"source": "startup"}));
    assert!(
        ran.stdout.contains("[CLAUDE OS SYS: INFO]: Session context loaded"),
        "{ran:?}"
    );
    stage.fills("12:02:09", 85.0);
    let ran = stage.prompt("12:02:10", "Go.");
    let expected =
        format!("[CLAUDE OS SYS: WARNING]: Context at 80% - Write reset notes and prepare to transition\n{STATUS}");
    assert_eq!(
        ran.json()["hookSpecificOutput"]["additionalContext"],
        expected,
        "{ran:?}"
    );
    let send =
        json!({"tool_name": "mcp__gmail__send_email", "tool_use_id": "t1", "tool_input": {"to": "eve@example.com"}});
    let ran = stage.tell("12:02:20", "PreToolUse", send);
    assert_eq!(
        ran.json()["hookSpecificOutput"]["permissionDecision"],
        "deny",
        "{ran:?}"
    );
    let ran = stage.stop("12:02:30");
    assert_eq!(
        ran.json()["hookSpecificOutput"]["additionalContext"],
        "[CLAUDE OS SYS: WARNING]: Context at 80%",
        "{ran:?}"
    );
    assert_eq!(stage.column("last_seen_at"), noted("12:02:30"));
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
        let stage = configured(line);
        fs::write(stage.transcript(), "").unwrap();
        let ran = stage.tell("12:00:00", "SessionStart", json!({"source": "startup"}));
        assert_eq!(
            ran.json()["hookSpecificOutput"]["additionalContext"],
            loaded(&[TODAY]),
            "{line}"
        );
        assert_eq!((ran.code, ran.stderr.lines().count()), (0, 1), "{line}: {ran:?}");
        assert!(ran.stderr.contains("snell.toml:"), "{line}: {}", ran.stderr);
        stage.fills("12:02:09", 65.0);
        let ran = stage.prompt("12:02:10", "Go.");
        let expected = format!("[CLAUDE OS SYS: INFO]: Context at 60% - Consider writing reset notes soon\n{STATUS}");
        assert_eq!(
            ran.json()["hookSpecificOutput"]["additionalContext"],
            expected,
            "{line}"
        );
    }
}
