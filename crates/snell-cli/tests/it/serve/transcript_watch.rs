//! Changes that no hook reports show within moments, although hooks are active and all agents are checked once a minute.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use snell_test_support::files::write_file;
use snell_test_support::serve_process::ServeProcess;

use super::transcript::{TranscriptFixture, read_current_time};
use super::{ANYWHERE, start_server};
use crate::support::CliSandbox;

/// Far below the interval of a minute, and long enough for a busy machine.
const MOST: Duration = Duration::from_secs(20);

/// An agent in the middle of a turn.
fn create_working_agent(receiver: &ServeProcess, sandbox: &CliSandbox, session: &str) -> TranscriptFixture {
    let transcript = TranscriptFixture::new(sandbox, session);
    let cwd = sandbox.project().join(session);
    receiver.send_event("user-prompt-submit", &transcript.build_payload(json!({"prompt": "Do it.", "cwd": cwd})));
    transcript.append_prompt("Do it.", read_current_time());
    receiver.wait_for_agent_state(session, "processing");
    transcript
}

#[test]
fn an_interruption_shows_at_once() {
    let sandbox = CliSandbox::new();
    let receiver = start_server(&sandbox, ANYWHERE);
    let transcript = create_working_agent(&receiver, &sandbox, "interrupted");
    let began = Instant::now();
    transcript.append_interruption(read_current_time());
    let agent = receiver.wait_for_agent_state("interrupted", "idle");
    assert_eq!(agent["state_source"], "transcript");
    assert!(began.elapsed() < MOST, "{:?}", began.elapsed());
}

#[test]
fn an_api_error_shows_at_once() {
    let sandbox = CliSandbox::new();
    let receiver = start_server(&sandbox, ANYWHERE);
    let transcript = create_working_agent(&receiver, &sandbox, "refused-request");
    let began = Instant::now();
    transcript.append_api_error("API Error: 400", read_current_time());
    let agent = receiver.wait_for_agent_state("refused-request", "idle");
    assert_eq!(agent["state_source"], "transcript");
    assert!(began.elapsed() < MOST, "{:?}", began.elapsed());
}

#[test]
fn a_prompt_that_is_taken_back_shows_at_once() {
    let sandbox = CliSandbox::new();
    let receiver = start_server(&sandbox, ANYWHERE);
    let pid = std::process::id();
    let start = json!({"session_id": "taken-back", "cwd": sandbox.project().join("taken-back"), "pid": pid});
    receiver.send_event("session-start", &start);
    create_working_agent(&receiver, &sandbox, "taken-back");
    let began = Instant::now();
    let now = read_current_time().as_millisecond();
    let content = json!({"sessionId": "taken-back", "status": "idle", "statusUpdatedAt": now});
    // The directory is new as well.
    write_file(&sandbox.home().join(format!(".claude/sessions/{pid}.json")), content.to_string());
    receiver.wait_for_agent_state("taken-back", "idle");
    assert!(began.elapsed() < MOST, "{:?}", began.elapsed());
}

#[test]
fn without_a_session_file_the_end_of_a_turn_waits_for_the_processes_of_hooks() {
    let sandbox = CliSandbox::new();
    let receiver = start_server(&sandbox, ANYWHERE);
    let start = json!({"session_id": "hooks", "cwd": sandbox.project().join("hooks"), "pid": std::process::id()});
    receiver.send_event("session-start", &start);
    let transcript = create_working_agent(&receiver, &sandbox, "hooks");
    let other = create_working_agent(&receiver, &sandbox, "other");
    let mut stream = receiver.open_stream("?types=state_changed");
    transcript.append_final_answer("The tests pass.", read_current_time());
    let mut hook = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    // Its end is shown after the time in which the event of the first one would have come.
    other.append_final_answer("It is done.", read_current_time());
    let first = stream.find_event(|heard| heard.data["state"] == "idle");
    assert_eq!(first.data["agent_id"], receiver.wait_for_agent_state("other", "idle")["agent_id"]);
    receiver.wait_for_agent_state("hooks", "processing");
    hook.kill().unwrap();
    hook.wait().unwrap();
    receiver.wait_for_agent_state("hooks", "idle");
}

#[test]
fn a_refused_permission_is_no_longer_awaited() {
    let sandbox = CliSandbox::new();
    let receiver = start_server(&sandbox, ANYWHERE);
    let transcript = create_working_agent(&receiver, &sandbox, "refused");
    let call =
        json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "cwd": sandbox.project().join("refused")});
    receiver.send_event("permission-request", &transcript.build_payload(call));
    receiver.wait_for_agent_state("refused", "awaiting_input");
    let began = Instant::now();
    transcript.append_refusal(read_current_time());
    transcript.append_interruption(read_current_time());
    receiver.wait_for_agent_state("refused", "idle");
    assert!(began.elapsed() < MOST, "{:?}", began.elapsed());
}

#[test]
fn an_agent_whose_process_was_killed_ends_at_once() {
    let sandbox = CliSandbox::new();
    let receiver = start_server(&sandbox, ANYWHERE);
    let mut process = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let start = json!({"session_id": "killed", "cwd": sandbox.project(), "pid": process.id()});
    receiver.send_event("session-start", &start);
    receiver.wait_for_agent_state("killed", "idle");
    let began = Instant::now();
    process.kill().unwrap();
    process.wait().unwrap();
    let agent = receiver.wait_for_agent_state("killed", "ended");
    assert_eq!(agent["state_source"], "process");
    assert!(began.elapsed() < MOST, "{:?}", began.elapsed());
}

#[test]
fn the_end_of_a_turn_waits_for_the_hooks_of_its_stop_event() {
    let sandbox = CliSandbox::new();
    let receiver = start_server(&sandbox, ANYWHERE);
    let pid = std::process::id();
    let write_status = |status: &str| {
        let now = read_current_time().as_millisecond();
        let content = json!({"sessionId": "stopping", "status": status, "statusUpdatedAt": now});
        write_file(&sandbox.home().join(format!(".claude/sessions/{pid}.json")), content.to_string());
    };
    write_status("busy");
    let start = json!({"session_id": "stopping", "cwd": sandbox.project().join("stopping"), "pid": pid});
    receiver.send_event("session-start", &start);
    let stopping = create_working_agent(&receiver, &sandbox, "stopping");
    let other = create_working_agent(&receiver, &sandbox, "other");
    let mut stream = receiver.open_stream("?types=state_changed");
    stopping.append_final_answer("The tests pass.", read_current_time());
    // Both files are looked at together, so the second one shows that the first one was looked at.
    other.append_interruption(read_current_time());
    let first = stream.find_event(|heard| heard.data["state"] == "idle");
    assert_eq!(first.data["agent_id"], receiver.wait_for_agent_state("other", "idle")["agent_id"]);
    receiver.wait_for_agent_state("stopping", "processing");
    write_status("idle");
    receiver.wait_for_agent_state("stopping", "idle");
}

#[test]
fn a_transcript_that_is_replaced_or_no_file_harms_no_other_agent() {
    let sandbox = CliSandbox::new();
    let receiver = start_server(&sandbox, ANYWHERE);
    let odd = ["pipe", "folder", "removed"].map(|name| create_working_agent(&receiver, &sandbox, name));
    for transcript in &odd {
        std::fs::remove_file(&transcript.path).unwrap();
    }
    assert!(Command::new("mkfifo").arg(&odd[0].path).status().unwrap().success());
    std::fs::create_dir(&odd[1].path).unwrap();
    let transcript = create_working_agent(&receiver, &sandbox, "plain");
    transcript.append_interruption(read_current_time());
    receiver.wait_for_agent_state("plain", "idle");
    for session in ["pipe", "folder", "removed"] {
        receiver.wait_for_agent_state(session, "processing");
    }
}
