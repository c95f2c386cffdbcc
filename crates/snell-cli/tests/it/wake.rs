//! `snell wake`: a line that is typed into an agent's pane, in a real tmux.

use std::fs;

use serde_json::{Value, json};
use snell_test_support::files::set_file_mode;
use snell_test_support::process::{CommandOutput, run_with_stdin, spawn_with_stdin};
use snell_test_support::skip::report_skipped;
use snell_test_support::wait::wait_until;

use crate::support::CliSandbox;
use crate::tmux::TestTmuxServer;

const TRIGGER: &str = "[Snell: NOTIFICATION]: Workers complete";

/// An agent: it tells of its session, then reads lines and writes down each.
const AGENT: &str = r#"#!/bin/sh
printf '{"session_id":"%s","hook_event_name":"SessionStart","source":"startup","cwd":"/%s"}' "$1" "$1" | "$SNELL" hook
while IFS= read -r line; do printf '%s\n' "$line" >> "$1.typed"; done
"#;

/// What tells of a session and ends: what called the hook is not there any more, as it is with wrappers.
const MESSENGER: &str = r#"#!/bin/sh
printf '{"session_id":"%s","hook_event_name":"SessionStart","source":"startup","cwd":"/%s"}' "$1" "$1" | "$SNELL" hook
"#;

/// An agent that asks for permission and waits for its user, which is whoever writes into a pipe; then it goes on as the
/// other one.
const ASKER: &str = r#"#!/bin/sh
tell() {
  printf '{"session_id":"%s","hook_event_name":"%s","cwd":"/%s","tool_name":"Bash","tool_input":{"command":"ls"}}' \
    "$1" "$2" "$1" | "$SNELL" hook
}
mkfifo "$1.answer"
tell "$1" SessionStart
tell "$1" UserPromptSubmit
tell "$1" PermissionRequest
read -r answer < "$1.answer"
tell "$1" PostToolUse
while IFS= read -r line; do printf '%s\n' "$line" >> "$1.typed"; done
"#;

fn create_agent_sandbox() -> CliSandbox {
    CliSandbox::with_frozen_clock()
        .env("SNELL", env!("CARGO_BIN_EXE_snell"))
        .file("agent.sh", AGENT)
        .file("asker.sh", ASKER)
        .file("messenger.sh", MESSENGER)
        .file("sleeper.sh", &format!("{MESSENGER}exec sleep 60\n"))
}

/// Waits until an agent of this session is known, and answers its number.
fn wait_for_agent(sandbox: &CliSandbox, session: &str) -> String {
    wait_until(|| {
        let agents = sandbox.run_snell(&["agents", "--json"], "").json();
        let is_its = |agent: &&Value| agent["session_id"] == session;
        agents.as_array()?.iter().find(is_its).map(|agent| agent["agent_id"].to_string())
    })
}

/// Waits until an agent is in this state.
fn wait_for_agent_state(sandbox: &CliSandbox, number: &str, state: &str) {
    let number: i64 = number.parse().unwrap();
    wait_until(|| {
        let agents = sandbox.run_snell(&["agents", "--json"], "").json();
        let is_it = |agent: &Value| agent["agent_id"] == number && agent["state"] == state;
        agents.as_array()?.iter().any(is_it).then_some(())
    });
}

/// An agent in a pane of its own; answers the pane and its number.
fn start_agent_in_pane(sandbox: &CliSandbox, tmux: &TestTmuxServer<'_>, session: &str) -> (String, String) {
    let pane = tmux.open_pane(&format!("exec sh agent.sh {session}"));
    (pane, wait_for_agent(sandbox, session))
}

/// Tells of a session from outside, as if its agent sat in this pane.
fn send_session_start(sandbox: &CliSandbox, tmux: &TestTmuxServer<'_>, session: &str, pane: &str) -> String {
    let payload = json!({"session_id": session, "hook_event_name": "SessionStart", "cwd": format!("/{session}")});
    let mut command = sandbox.command(&["hook"]);
    command.env("TMUX", tmux.tmux_variable()).env("TMUX_PANE", pane);
    let output = spawn_with_stdin(&mut command, payload.to_string()).wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    wait_for_agent(sandbox, session)
}

fn assert_typed(ran: &CommandOutput, pane: &str) {
    let expected = format!("Typed into the tmux pane {pane}: {TRIGGER}\n");
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, expected.as_str(), ""));
}

#[track_caller]
fn assert_refused(ran: &CommandOutput, why: &str) {
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
    assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains(why), "{}", ran.stderr);
}

#[test]
fn the_line_and_enter_reach_the_agent_and_nobody_else() {
    let sandbox = create_agent_sandbox();
    let Some(tmux) = TestTmuxServer::start(&sandbox) else {
        return report_skipped("there is no tmux");
    };
    let (pane, number) = start_agent_in_pane(&sandbox, &tmux, "sleeper-one");
    let (other, _) = start_agent_in_pane(&sandbox, &tmux, "sleeper-two");
    assert_typed(&sandbox.run_snell(&["wake", &number], ""), &pane);
    assert_eq!(sandbox.wait_for_content("sleeper-one.typed"), format!("{TRIGGER}\n"));
    assert_typed(&sandbox.run_snell(&["wake", "sleeper-tw"], ""), &other);
    assert_eq!(sandbox.wait_for_content("sleeper-two.typed"), format!("{TRIGGER}\n"));
    assert_eq!(sandbox.read("sleeper-one.typed"), format!("{TRIGGER}\n"));
    let ran = sandbox.run_snell(&["worker", "done", "build", "--wake", "--session", "sleeper-one"], "");
    assert_eq!(ran.code, 0, "{ran:?}");
    wait_until(|| (sandbox.read("sleeper-one.typed").lines().count() == 2).then_some(()));
}

#[test]
fn who_waits_for_a_decision_of_its_user_is_left_alone_unless_forced() {
    let sandbox = create_agent_sandbox();
    let Some(tmux) = TestTmuxServer::start(&sandbox) else {
        return report_skipped("there is no tmux");
    };
    let pane = tmux.open_pane("exec sh asker.sh asker");
    let number = wait_for_agent(&sandbox, "asker");
    wait_for_agent_state(&sandbox, &number, "awaiting_input");
    let why = format!(
        "agent {number} waits for its user to decide, and pressing Enter could answer for the user (awaiting_input since 2026-03-01 \
         12:00:00 UTC, 0s ago: it asks for permission to use Bash: ls)\nhint: wake it up after the decision, or run: \
         snell wake {number} --force\n"
    );
    assert_refused(&sandbox.run_snell(&["wake", &number], ""), &format!("error: {why}"));
    assert_refused(&sandbox.run_snell(&["wake", "asker"], ""), &format!("error: {why}"));
    let ran = sandbox.run_snell(&["worker", "done", "build", "--wake", "--session", "asker"], "");
    assert_refused(&ran, &format!("error: the worker is recorded, but its agent was not woken up: {why}"));
    let listed = sandbox.run_snell(&["worker", "list", "--session", "asker", "--json"], "");
    assert_eq!(listed.json()[0]["name"], "build");
    // Whoever is at work may be typed to: it reads that later.
    fs::write(sandbox.project().join("asker.answer"), "yes\n").unwrap();
    wait_for_agent_state(&sandbox, &number, "processing");
    assert_typed(&sandbox.run_snell(&["wake", &number], ""), &pane);
    assert_eq!(sandbox.wait_for_content("asker.typed"), format!("{TRIGGER}\n"));
    let pane = tmux.open_pane("exec sh asker.sh other");
    let number = wait_for_agent(&sandbox, "other");
    wait_for_agent_state(&sandbox, &number, "awaiting_input");
    assert_typed(&sandbox.run_snell(&["wake", &number, "--force"], ""), &pane);
    fs::write(sandbox.project().join("other.answer"), "yes\n").unwrap();
    assert_eq!(sandbox.wait_for_content("other.typed"), format!("{TRIGGER}\n"));
}

#[test]
fn those_who_wake_an_agent_at_once_do_not_type_into_each_others_lines() {
    let sandbox = create_agent_sandbox();
    let Some(tmux) = TestTmuxServer::start(&sandbox) else {
        return report_skipped("there is no tmux");
    };
    let (pane, number) = start_agent_in_pane(&sandbox, &tmux, "popular");
    std::thread::scope(|scope| {
        for _ in 0..10 {
            scope.spawn(|| assert_typed(&sandbox.run_snell(&["wake", &number], ""), &pane));
        }
    });
    let expected = format!("{TRIGGER}\n").repeat(10);
    let typed =
        wait_until(|| Some(sandbox.wait_for_content("popular.typed")).filter(|text| text.len() >= expected.len()));
    assert_eq!(typed, expected);
}

#[test]
fn a_pane_that_shows_its_history_is_made_to_listen() {
    let sandbox = create_agent_sandbox();
    let Some(tmux) = TestTmuxServer::start(&sandbox) else {
        return report_skipped("there is no tmux");
    };
    let (pane, number) = start_agent_in_pane(&sandbox, &tmux, "reader");
    for (turn, mode) in ["copy-mode", "clock-mode"].iter().enumerate() {
        tmux.run_tmux(&[mode, "-t", &pane]);
        assert_eq!(tmux.query_pane(&pane, "#{pane_in_mode}"), "1", "{mode}");
        assert_typed(&sandbox.run_snell(&["wake", &number], ""), &pane);
        assert_eq!(tmux.query_pane(&pane, "#{pane_in_mode}"), "0", "{mode}");
        let expected = format!("{TRIGGER}\n").repeat(turn + 1);
        wait_until(|| (sandbox.wait_for_content("reader.typed") == expected).then_some(()));
    }
}

#[test]
fn a_shell_that_waits_in_the_pane_gets_nothing() {
    let sandbox = create_agent_sandbox();
    let Some(tmux) = TestTmuxServer::start(&sandbox) else {
        return report_skipped("there is no tmux");
    };
    let shell = tmux.open_pane("sh messenger.sh quitter; exec sh");
    let number = wait_for_agent(&sandbox, "quitter");
    wait_until(|| (tmux.query_pane(&shell, "#{pane_current_command}") == "sh").then_some(()));
    // Until the messenger is gone it may be the agent.
    wait_until(|| {
        let ran = sandbox.run_snell(&["wake", &number], "");
        (ran.code == 1 && ran.stderr.contains("a shell (sh) is waiting there")).then_some(())
    });
    // Where no process is known, what runs there is taken for the agent if it is no shell.
    let other = tmux.open_pane("sh messenger.sh stayer; exec cat > stayer.typed");
    let number = wait_for_agent(&sandbox, "stayer");
    wait_until(|| (tmux.query_pane(&other, "#{pane_current_command}") == "cat").then_some(()));
    assert_typed(&sandbox.run_snell(&["wake", &number], ""), &other);
    assert_eq!(sandbox.wait_for_content("stayer.typed"), format!("{TRIGGER}\n"));
    assert!(!tmux.run_tmux(&["capture-pane", "-p", "-t", &shell]).contains("CLAUDE"));
}

#[test]
fn who_does_not_read_what_is_typed_there_is_not_woken_up_unless_forced() {
    let sandbox = create_agent_sandbox();
    let Some(tmux) = TestTmuxServer::start(&sandbox) else {
        return report_skipped("there is no tmux");
    };
    // The agent is this test, which sits in no pane of this server.
    let pane = tmux.open_pane("exec cat > outsider.typed");
    let number = send_session_start(&sandbox, &tmux, "outsider", &pane);
    let refused = sandbox.run_snell(&["wake", &number], "");
    assert_refused(&refused, "its process does not run there\nhint: pass --force to type it anyway");
    assert_typed(&sandbox.run_snell(&["wake", &number, "--force"], ""), &pane);
    assert_eq!(sandbox.wait_for_content("outsider.typed"), format!("{TRIGGER}\n"));
    // The agent was put into the background, and something else reads.
    tmux.open_pane("set -m; sh sleeper.sh sleeper & cat > reader.typed; :");
    let number = wait_for_agent(&sandbox, "sleeper");
    assert_refused(&sandbox.run_snell(&["wake", &number], ""), "is in the foreground");
    // What is typed into one pane is typed into all of its window.
    let (pane, number) = start_agent_in_pane(&sandbox, &tmux, "twin");
    tmux.run_tmux(&["split-window", "-d", "-t", &pane, "exec cat > neighbour.typed"]);
    tmux.run_tmux(&["set-option", "-w", "-t", &pane, "synchronize-panes", "on"]);
    assert_refused(&sandbox.run_snell(&["wake", &number], ""), "synchronize-panes");
    tmux.run_tmux(&["set-option", "-w", "-t", &pane, "synchronize-panes", "off"]);
    tmux.run_tmux(&["select-pane", "-d", "-t", &pane]);
    assert_refused(&sandbox.run_snell(&["wake", &number], ""), "its input is turned off");
    tmux.run_tmux(&["select-pane", "-e", "-t", &pane]);
    assert_typed(&sandbox.run_snell(&["wake", &number], ""), &pane);
    sandbox.wait_for_content("twin.typed");
    assert_eq!(sandbox.read("neighbour.typed") + &sandbox.read("reader.typed"), "");
}

#[test]
fn a_pane_that_is_gone_and_a_server_that_is_gone_are_told() {
    let sandbox = create_agent_sandbox();
    let Some(tmux) = TestTmuxServer::start(&sandbox) else {
        return report_skipped("there is no tmux");
    };
    start_agent_in_pane(&sandbox, &tmux, "keeper");
    tmux.run_tmux(&["set-option", "-g", "remain-on-exit", "on"]);
    let dead = tmux.open_pane("exec sh messenger.sh dead");
    let number = wait_for_agent(&sandbox, "dead");
    wait_until(|| (tmux.query_pane(&dead, "#{pane_dead}") == "1").then_some(()));
    for args in [vec!["wake", &number], vec!["wake", &number, "--force"]] {
        assert_refused(&sandbox.run_snell(&args, ""), "has ended");
    }
    tmux.run_tmux(&["kill-pane", "-t", &dead]);
    assert_refused(
        &sandbox.run_snell(&["wake", &number], ""),
        &format!("the tmux pane {dead} of agent {number} is closed"),
    );
    tmux.run_tmux(&["kill-server"]);
    let socket = tmux.socket().display().to_string();
    // While it is ending, it says something else.
    wait_until(|| {
        let ran = sandbox.run_snell(&["wake", &number, "--force"], "");
        assert_refused(&ran, "tmux");
        ran.stderr.contains(&format!("no tmux server is running at {socket}")).then_some(())
    });
    let _ = fs::remove_file(tmux.socket());
    assert_refused(&sandbox.run_snell(&["wake", &number], ""), &format!("no tmux server is running at {socket}"));
    fs::write(tmux.socket(), "").unwrap();
    assert_refused(&sandbox.run_snell(&["wake", &number], ""), &format!("{socket} is not a socket that you own"));
}

#[test]
fn nothing_in_a_name_becomes_a_command() {
    let sandbox = create_agent_sandbox();
    let Some(tmux) = TestTmuxServer::with_socket_name(&sandbox, "a 'b\"; $(touch x) #{pane_id}.sock") else {
        return report_skipped("there is no tmux");
    };
    let program = "%0 0 1;x #(touch y)";
    let path = sandbox.project().join(program);
    fs::copy("/bin/sh", &path).unwrap();
    set_file_mode(&path, 0o755);
    let pane = tmux.open_pane(&format!("exec './{program}' agent.sh plain"));
    let number = wait_for_agent(&sandbox, "plain");
    tmux.run_tmux(&["rename-window", "-t", &pane, "%9 1 0; kill-server"]);
    tmux.run_tmux(&["select-pane", "-t", &pane, "-T", "%9 1 0; kill-server"]);
    assert_typed(&sandbox.run_snell(&["wake", &number], ""), &pane);
    assert_eq!(sandbox.wait_for_content("plain.typed"), format!("{TRIGGER}\n"));
    // A pane that is no id of tmux's own is nobody's, whatever is asked for.
    for name in ["%0; kill-server", "-a", "{last}", ":.0", "0", ""] {
        sandbox.open_database_with("").execute("UPDATE agents SET tmux_pane = ?1", [name]).unwrap();
        for args in [vec!["wake", &number], vec!["wake", &number, "--force"]] {
            assert_refused(&sandbox.run_snell(&args, ""), "is closed");
        }
    }
    assert_eq!(sandbox.read("plain.typed").lines().count(), 1);
    assert!(!sandbox.exists("x") && !sandbox.exists("y"));
    assert_eq!(tmux.query_pane(&pane, "#{pane_dead}"), "0");
}

#[test]
fn who_cannot_be_woken_up_is_told_why() {
    let sandbox = create_agent_sandbox();
    sandbox.send_hook_event("11:00:00", "SessionStart", json!({"source": "startup"}));
    let wake = |args: &[&str]| sandbox.run_snell(&[&["wake"], args].concat(), "");
    let set = |sql: &str| drop(sandbox.open_database_with(sql));
    assert_refused(&wake(&["1"]), "agent 1 is not in a tmux pane");
    assert_refused(&wake(&["session-one", "--force"]), "agent 1 is not in a tmux pane");
    assert_refused(
        &wake(&["7"]),
        "error: no agent has the number 7: no session id starts with \"7\"\nhint: latest sessions: session-one",
    );
    assert_refused(&wake(&["99999999999999999999"]), "no agent has the number 99999999999999999999");
    assert_refused(&wake(&["zz"]), "error: no session id starts with \"zz\"");
    let long = wake(&[&"z".repeat(100_000)]);
    assert_refused(&long, "no session id starts with \"zzz");
    assert!(long.stderr.len() < 500, "{}", long.stderr);
    assert_refused(&wake(&[""]), "the session id is empty");
    set("UPDATE agents SET tmux_pane = '%1', tmux_server = '/nowhere/tmux.sock'");
    assert_refused(&wake(&["1"]), "no tmux server is running at /nowhere/tmux.sock");
    set("UPDATE agents SET host = 'elsewhere'");
    assert_refused(&wake(&["1", "--force"]), "agent 1 runs on elsewhere\nhint: wake it up there");
    set("UPDATE agents SET host = NULL, conversation_id = 7");
    assert_refused(&wake(&["session-one"]), "agent 1 moved from session session-one to another session");
    set("UPDATE agents SET conversation_id = 1");
    sandbox.send_hook_event("11:01:00", "SessionEnd", json!({"reason": "logout"}));
    assert_refused(&wake(&["1", "--force"]), "agent 1 has ended");
}

#[test]
fn a_tmux_that_is_missing_or_does_not_answer_does_not_hold_it_up() {
    let sandbox = create_agent_sandbox().script("slow/tmux", "exec sleep 600");
    sandbox.send_hook_event("11:00:00", "SessionStart", json!({"source": "startup"}));
    sandbox.open_database_with("UPDATE agents SET tmux_pane = '%1'");
    let wake = |path: &str| -> CommandOutput {
        let mut command = sandbox.command(&["wake", "1"]);
        run_with_stdin(command.env("PATH", path), "")
    };
    let missing = wake("/nowhere");
    assert_refused(&missing, "cannot run tmux: No such file");
    assert_eq!(missing.stderr.matches("No such file").count(), 1, "{}", missing.stderr);
    let slow = format!("{}:/usr/bin:/bin", sandbox.project().join("slow").display());
    assert_refused(&wake(&slow), "tmux did not answer within 2 seconds");
}
