//! `snell agents`: who is doing what, who waits, how that is known; and the same again and again.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use serde_json::{Value, json};
use snell_test_support::payload::merge_fields;
use snell_test_support::process::{Signal, send_signal, spawn_dead_pid, spawn_with_stdin};
use snell_test_support::skip::require_util_linux_script;
use snell_test_support::wait::wait_until;

use crate::support::CliSandbox;

/// Three agents: one works, one waits for its user, one is idle; and one that has ended.
fn create_four_agents() -> CliSandbox {
    let sandbox = CliSandbox::with_frozen_clock();
    let of =
        |name: &str, more: Value| merge_fields(json!({"session_id": name, "cwd": sandbox.home().join(name)}), &more);
    for name in ["idler", "worker", "asker", "leaver"] {
        std::fs::create_dir(sandbox.home().join(name)).unwrap();
        sandbox.send_hook_event("11:00:00", "SessionStart", of(name, json!({"source": "startup"})));
    }
    sandbox.send_hook_event("11:50:00", "UserPromptSubmit", of("worker", json!({"prompt": "Build\n  it."})));
    let bash = json!({"tool_name": "Bash", "tool_input": {"command": "make"}});
    sandbox.send_hook_event("11:59:48", "PreToolUse", of("worker", bash));
    let asks = json!({"notification_type": "permission_prompt", "message": "May I use Bash?"});
    sandbox.send_hook_event("11:57:00", "Notification", of("asker", asks));
    sandbox.send_hook_event("11:58:00", "SessionEnd", of("leaver", json!({"reason": "prompt_input_exit"})));
    sandbox
}

#[test]
fn without_any_agent_it_says_how_one_is_seen_and_makes_nothing() {
    let sandbox = CliSandbox::with_frozen_clock();
    let ran = sandbox.run_snell(&["agents"], "");
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.starts_with("No agents yet."), "{}", ran.stdout);
    assert_eq!(sandbox.run_snell(&["agents", "--json"], "").stdout, "[]\n");
    assert_eq!(std::fs::read_dir(sandbox.data()).unwrap().count(), 0);
}

#[test]
fn those_that_wait_come_first_and_those_that_ended_are_asked_for() {
    let sandbox = create_four_agents();
    let ran = sandbox.run_snell(&["agents"], "");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    insta::assert_snapshot!(ran.stdout, @"
    AGENT  PRODUCT  STATE            SINCE  PROJECT  LAST WORDS  LAST ACTIVE  WHY
    3      claude   awaiting_input   3m     asker                3m ago       May I use Bash?
    2      claude   processing Bash  10m    worker   Build it.   12s ago
    1      claude   idle             1h     idler                1h ago
    ");
    let ran = sandbox.run_snell(&["agents", "--all"], "");
    assert!(ran.stdout.lines().last().unwrap().starts_with("4      claude   ended"), "{}", ran.stdout);
}

#[test]
fn work_in_the_background_is_a_state_of_its_own() {
    let sandbox = create_four_agents();
    let tasks = json!([
        {"id": "a1", "type": "subagent", "status": "running", "description": "look"},
        {"id": "a2", "type": "subagent", "status": "running", "description": "read"},
    ]);
    let wakeups = json!([{"id": "c1", "schedule": "5 12 * * *", "recurring": false, "prompt": "Go on."}]);
    let stop = json!({"session_id": "idler", "cwd": sandbox.home().join("idler"), "last_assistant_message": "Started.",
        "background_tasks": tasks, "session_crons": wakeups});
    sandbox.send_hook_event("11:59:00", "Stop", stop);
    insta::assert_snapshot!(sandbox.run_snell(&["agents"], "").stdout, @"
    AGENT  PRODUCT  STATE                               SINCE  PROJECT  LAST WORDS  LAST ACTIVE  WHY
    3      claude   awaiting_input                      3m     asker                3m ago       May I use Bash?
    2      claude   processing Bash                     10m    worker   Build it.   12s ago
    1      claude   background 2 sub-agents, 1 wake-up  1m     idler    Started.    1m ago
    ");
    let listed: Value = serde_json::from_str(&sandbox.run_snell(&["agents", "--json"], "").stdout).unwrap();
    assert_eq!(listed[2]["state"], "processing");
    assert_eq!(listed[2]["background"], json!({"subagents": 2, "commands": 0, "wakeups": 1}));
    let status = sandbox.run_snell(&["status"], "").stdout;
    assert!(status.contains("1 awaiting_input, 1 processing, 1 background, 1 ended"), "{status}");
}

#[test]
fn what_an_agent_waits_for_is_shown_unless_its_last_words_say_it() {
    let ask = |questions: Value| json!({"tool_name": "AskUserQuestion", "tool_input": {"questions": questions}});
    let cases = [
        ("PreToolUse", ask(json!([{"question": "Which one?"}])), ""),
        ("PreToolUse", json!({"tool_name": "ExitPlanMode", "tool_input": {}}), "it asks the user (ExitPlanMode)"),
        (
            "PermissionRequest",
            json!({"tool_name": "Bash", "tool_input": {"command": "git push"}}),
            "it asks for permission to use Bash: git push",
        ),
        ("Stop", json!({"last_assistant_message": "Shall I push it?"}), ""),
    ];
    for (event, fields, expected) in cases {
        let sandbox = CliSandbox::with_frozen_clock();
        sandbox.send_hook_event("11:00:00", "UserPromptSubmit", json!({"prompt": "Go."}));
        sandbox.send_hook_event("11:59:00", event, fields);
        let shown = sandbox.run_snell(&["agents"], "").stdout;
        let line = shown.lines().nth(1).unwrap();
        let why = line.split("ago").nth(1).unwrap().trim();
        assert_eq!(why, expected, "{shown}");
    }
}

#[test]
fn why_an_agent_is_in_its_state_is_said_in_words_if_they_are_known() {
    let notified = |kind: &str| json!({"notification_type": kind});
    let cases = [
        ("SessionEnd", json!({"reason": "prompt_input_exit"}), "the session ended: the user quit"),
        ("SessionEnd", json!({}), "the session ended: no reason given"),
        ("SessionEnd", json!({"reason": "moonrise"}), "the session ended (moonrise)"),
        ("SessionStart", json!({"source": "startup"}), "a session started: new conversation"),
        ("SessionStart", json!({"source": "moonrise"}), "a session started (moonrise)"),
        ("SessionStart", json!({}), "a session started"),
        ("StopFailure", json!({"error": "rate_limit"}), "its turn ended with an error: rate limited"),
        ("StopFailure", json!({"error": "moonrise"}), "its turn ended with an error (moonrise)"),
        ("Notification", notified("permission_prompt"), "it needs permission"),
        ("Notification", notified("agent_needs_input"), "it needs input (agent_needs_input)"),
    ];
    for (event, fields, expected) in cases {
        let sandbox = CliSandbox::with_frozen_clock();
        sandbox.send_hook_event("11:00:00", event, fields.clone());
        let agents = sandbox.run_snell(&["agents", "--all", "--json"], "").json();
        assert_eq!(agents[0]["why"], expected, "{event} {fields}");
    }
}

#[test]
fn when_all_have_ended_it_says_so() {
    let sandbox = CliSandbox::with_frozen_clock();
    sandbox.send_hook_event("11:00:00", "SessionStart", json!({}));
    sandbox.send_hook_event("11:01:00", "SessionEnd", json!({"reason": "other"}));
    let ran = sandbox.run_snell(&["agents"], "");
    assert_eq!(ran.stdout, "No agents at work. 1 agent ended: `snell agents --all` includes them.\n");
}

#[test]
fn as_json_an_agent_has_all_its_fields() {
    let json = create_four_agents().run_snell(&["agents", "--json"], "").json();
    let names: Vec<_> = json.as_array().unwrap().iter().map(|agent| agent["project"].clone()).collect();
    assert_eq!(names, ["asker", "worker", "idler"]);
    for field in [
        "agent_id",
        "project_id",
        "project",
        "session_id",
        "state",
        "state_since",
        "state_source",
        "confidence",
        "why",
        "current_tool",
        "tmux_session",
        "tmux_pane",
        "role",
        "mode",
        "context_percent",
        "started_at",
        "last_seen_at",
        "ended_at",
        "end_reason",
    ] {
        assert!(json[0].get(field).is_some(), "{field}");
    }
    assert_eq!(json[0]["state"], "awaiting_input");
    assert_eq!(json[1]["current_tool"], "Bash");
    assert_eq!(json[1]["state_since"], "2026-03-01T11:50:00Z");
}

#[test]
fn a_state_that_no_hook_told_says_how_it_is_known() {
    let sandbox = CliSandbox::with_frozen_clock().env("CLAUDE_PID", &spawn_dead_pid().to_string());
    sandbox.send_hook_event("11:00:00", "UserPromptSubmit", json!({"prompt": "Go on."}));
    let ran = sandbox.run_snell(&["agents", "--all"], "");
    let line = ran.stdout.lines().nth(1).unwrap();
    assert!(line.contains("ended") && line.contains("(process, medium confidence)"), "{line}");
    assert!(ran.stdout.lines().next().unwrap().ends_with("WHY"), "{}", ran.stdout);
    let json = sandbox.run_snell(&["agents", "--all", "--json"], "").json();
    assert_eq!(json[0]["end_reason"], "process_gone");
}

#[test]
fn an_interruption_is_seen_in_the_transcript() {
    let sandbox = CliSandbox::with_frozen_clock();
    let path = sandbox.home().join("transcript.jsonl");
    let line = |kind: &str, uuid: &str, message: Value, time: &str| {
        let entry =
            json!({"type": kind, "uuid": uuid, "sessionId": "session-one", "timestamp": time, "message": message});
        format!("{entry}\n")
    };
    let prompt = line("user", "a", json!({"role": "user", "content": "Go on."}), "2026-03-01T11:00:00Z");
    std::fs::write(&path, &prompt).unwrap();
    let at = json!({"prompt": "Go on.", "transcript_path": path});
    sandbox.send_hook_event("11:00:01", "UserPromptSubmit", at);
    let text = json!({"role": "user", "content": [{"type": "text", "text": "[Request interrupted by user]"}]});
    let interrupted = line("user", "b", text, "2026-03-01T11:00:05Z");
    std::fs::write(&path, prompt + &interrupted).unwrap();
    let json = sandbox.run_snell(&["agents", "--json"], "").json();
    assert_eq!((&json[0]["state"], &json[0]["state_source"]), (&json!("idle"), &json!("transcript")));
    let ran = sandbox.run_snell(&["agents"], "");
    assert!(ran.stdout.contains("(transcript, "), "{}", ran.stdout);
}

#[test]
fn one_long_name_does_not_push_everything_aside() {
    let sandbox = CliSandbox::with_frozen_clock();
    let long = "long".repeat(50);
    for (session, name) in [("s1", "short"), ("s2", long.as_str())] {
        let directory = sandbox.home().join(name);
        std::fs::create_dir(&directory).unwrap();
        let payload = json!({"session_id": session, "cwd": directory, "prompt": "Go."});
        sandbox.send_hook_event("11:00:00", "UserPromptSubmit", payload);
    }
    // Nothing is cut, and only the line that is long is long.
    let piped = sandbox.run_snell(&["agents"], "").stdout;
    assert!(piped.contains(&long), "{piped}");
    let short = piped.lines().find(|line| line.contains("short")).unwrap();
    assert!(short.contains("Go.") && short.chars().count() < 120, "{short}");
    if require_util_linux_script().is_none() {
        return;
    }
    for columns in [60, 80, 132] {
        let line = format!("exec script --quiet --command \"stty cols {columns}; exec $0 agents\" /dev/null");
        let output = spawn_with_stdin(sandbox.shell(&line, &[]).env("NO_COLOR", "1"), "");
        let shown = String::from_utf8(output.wait_with_output().unwrap().stdout).unwrap();
        assert!(shown.contains("short") && shown.contains("longlong"), "{shown}");
        for line in shown.lines() {
            assert!(line.trim_end().chars().count() <= columns, "{columns}: {line}");
        }
    }
}

#[test]
fn nothing_that_was_said_can_steer_a_terminal() {
    let sandbox = CliSandbox::with_frozen_clock();
    sandbox.send_hook_event("11:00:00", "UserPromptSubmit", json!({"prompt": "\u{1b}[2J gone"}));
    let ran = sandbox.run_snell(&["agents"], "");
    assert!(ran.stdout.contains("gone") && !ran.stdout.contains('\u{1b}'), "{:?}", ran.stdout);
}

/// A watcher, and what it prints line by line.
struct WatchProcess {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

fn spawn_watcher(sandbox: &CliSandbox, args: &[&str]) -> WatchProcess {
    let mut child = spawn_with_stdin(&mut sandbox.command(args), "");
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    WatchProcess { child, lines }
}

impl WatchProcess {
    fn next_line(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }

    fn send_signal(&self, signal: Signal) {
        send_signal(self.child.id(), signal);
    }
}

#[test]
fn watching_as_json_prints_a_line_for_every_change() {
    let sandbox = CliSandbox::with_frozen_clock();
    let mut watcher = spawn_watcher(&sandbox, &["agents", "--watch", "--json"]);
    assert_eq!(watcher.next_line(), "[]");
    sandbox.send_hook_event("11:00:00", "UserPromptSubmit", json!({"prompt": "Go on."}));
    let state = |line: &str| serde_json::from_str::<Value>(line).unwrap()[0]["state"].clone();
    assert_eq!(state(&watcher.next_line()), "processing");
    sandbox.send_hook_event("11:00:05", "Stop", json!({}));
    assert_eq!(state(&watcher.next_line()), "idle");
    watcher.send_signal(Signal::TERM);
    assert_eq!(watcher.child.wait().unwrap().code(), Some(0));
}

#[test]
fn watching_without_a_terminal_prints_a_table_for_every_change() {
    let sandbox = CliSandbox::with_frozen_clock();
    sandbox.send_hook_event("11:00:00", "UserPromptSubmit", json!({"prompt": "Go on."}));
    let mut watcher = spawn_watcher(&sandbox, &["agents", "--watch"]);
    assert!(watcher.next_line().starts_with("AGENT"));
    assert!(watcher.next_line().starts_with("1      claude   processing"));
    sandbox.send_hook_event("11:00:05", "Stop", json!({}));
    let next: Vec<_> = (0..3).map(|_| watcher.next_line()).collect();
    assert_eq!(next[0], "");
    assert!(next[2].starts_with("1      claude   idle"), "{next:?}");
    watcher.send_signal(Signal::INT);
    assert_eq!(watcher.child.wait().unwrap().code(), Some(0));
}

#[test]
fn watching_ends_when_nobody_reads_any_more() {
    let sandbox = create_four_agents();
    let mut child = sandbox
        .command(&["agents", "--watch"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let status = wait_until(|| child.try_wait().unwrap());
    assert_eq!(status.code(), Some(0));
}

#[test]
fn while_somebody_else_writes_what_is_known_is_shown() {
    let sandbox = create_four_agents();
    let held = sandbox.open_database_with("BEGIN IMMEDIATE");
    let ran = sandbox.run_snell(&["agents", "--json"], "");
    drop(held);
    assert_eq!((ran.code, ran.json().as_array().unwrap().len()), (0, 3), "{}", ran.stderr);
}
