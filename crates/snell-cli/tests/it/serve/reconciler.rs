//! What the server sees by looking when hooks are silent: transcripts and processes.

use std::process::{Command, Stdio};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::transcript::{TranscriptFixture, read_current_time, seconds_ago};
use super::{start_polling_server, start_server};
use crate::support::CliSandbox;

/// How an agent's state is known.
fn read_state_evidence(agent: &Value) -> [&str; 3] {
    ["state", "state_source", "confidence"].map(|field| agent[field].as_str().unwrap())
}

fn parse_time(value: &Value) -> Timestamp {
    value.as_str().unwrap().parse().unwrap()
}

#[test]
fn a_turn_that_ended_only_in_the_transcript_has_ended() {
    let sandbox = CliSandbox::new();
    let receiver = start_polling_server(&sandbox);
    let rows = [
        ("s1", "The tests pass.", "idle", "completion"),
        ("s2", "Which of the two do you want?", "awaiting_input", "question"),
    ];
    for (session, words, state, intent) in rows {
        let transcript = TranscriptFixture::new(&sandbox, session);
        let mut stream = receiver.open_stream("?types=turn_created,turn_updated,state_changed");
        receiver.send_event("user-prompt-submit", &transcript.build_payload(json!({"prompt": "Do it."})));
        let created = stream.next_data_of("turn_created");
        let prompted = transcript.append_prompt("Do it.", seconds_ago(1));
        let replied = transcript.append_final_answer(words, read_current_time());

        let updated = stream.next_data_of("turn_updated");
        assert_eq!(updated["turn_id"], created["turn_id"]);
        assert_eq!((parse_time(&updated["timestamp"]), &updated["timestamp_source"]), (prompted, &json!("jsonl")));
        let reply = stream.find_event(|heard| heard.data["text"] == words);
        assert_eq!(reply.event, "turn_created");
        assert_eq!(parse_time(&reply.data["timestamp"]), replied);
        assert_eq!(reply.data["timestamp_source"], "jsonl");

        let agent = receiver.wait_for_agent_state(session, state);
        assert_eq!(read_state_evidence(&agent), [state, "transcript", "medium"]);
        let changed = stream.find_event(|heard| heard.event == "state_changed" && heard.data["state"] == state);
        assert_eq!(changed.data["state_source"], "transcript");
        let turns = receiver.get_json(&format!("/api/agents/{}/turns", agent["agent_id"]));
        assert_eq!(turns["items"][0]["intent"], intent);
    }
}

#[test]
fn a_session_that_no_hook_reported_shows_up() {
    let sandbox = CliSandbox::new();
    let receiver = start_polling_server(&sandbox);
    let mut stream = receiver.open_stream("?types=session_created,turn_created,turn_updated");
    let transcript = TranscriptFixture::new(&sandbox, "unreported");
    let at = transcript.append_prompt("Do it.", read_current_time());
    assert_eq!(stream.next_data_of("session_created")["session_id"], "unreported");
    let turn = stream.next_data_of("turn_created");
    assert_eq!((parse_time(&turn["timestamp"]), &turn["text"]), (at, &json!("Do it.")));
    let agent = receiver.wait_for_agent_state("unreported", "processing");
    assert_eq!(agent["state_source"], "transcript");
    assert_ne!(agent["confidence"], "high");
    assert_eq!(agent["project"], "project", "{agent}");
    transcript.append_final_answer("It is done.", read_current_time());
    receiver.wait_for_agent_state("unreported", "idle");
    // A hook that comes after all tells of the same agent, and of nothing that was known already.
    let told = receiver.send_event("stop", &transcript.build_payload(json!({"last_assistant_message": "It is done."})));
    assert_eq!((&told["agent_id"], &told["is_new_agent"]), (&agent["agent_id"], &json!(false)));
    let turns = receiver.get_json("/api/agents/1/turns")["items"].take();
    assert_eq!(turns.as_array().unwrap().len(), 2, "{turns}");
}

#[test]
fn an_agent_whose_process_is_gone_has_ended() {
    let sandbox = CliSandbox::new();
    let receiver = start_polling_server(&sandbox);
    let mut process = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let start = json!({"session_id": "gone", "cwd": sandbox.project().join("a"), "pid": process.id()});
    receiver.send_event("session-start", &start);
    let living = json!({"session_id": "living", "cwd": sandbox.project().join("b"), "pid": std::process::id()});
    receiver.send_event("session-start", &living);
    // Another machine's processes have numbers, too.
    let remote =
        json!({"session_id": "remote", "cwd": sandbox.project().join("c"), "pid": process.id(), "host": "far"});
    receiver.send_event("session-start", &remote);
    let mut stream = receiver.open_stream("?types=session_ended");
    process.kill().unwrap();
    process.wait().unwrap();
    let agent = receiver.wait_for_agent_state("gone", "ended");
    assert_eq!(read_state_evidence(&agent), ["ended", "process", "medium"]);
    let ended = stream.next_data_of("session_ended");
    assert_eq!((&ended["session_id"], &ended["end_reason"]), (&json!("gone"), &json!("process_gone")));
    for session in ["living", "remote"] {
        assert_eq!(read_state_evidence(&receiver.find_agent(session).unwrap()), ["idle", "hook", "high"], "{session}");
    }
}

#[test]
fn what_a_hook_said_is_not_overridden_by_an_older_line() {
    let rows = [
        // What the hook says, what is then found in the transcript, and why that ended.
        ("user-prompt-submit", "It is done.", "end_turn", "processing"),
        ("pre-tool-use", "It is done.", "end_turn", "processing"),
        ("stop", "I will look at it.", "tool_use", "idle"),
        ("session-end", "I will look at it.", "tool_use", "ended"),
        ("permission-request", "It is done.", "end_turn", "awaiting_input"),
    ];
    let sandbox = CliSandbox::new();
    let receiver = start_polling_server(&sandbox);
    for (number, (route, words, stop_reason, state)) in rows.into_iter().enumerate() {
        let session = format!("s{number}");
        let transcript = TranscriptFixture::new(&sandbox, &session);
        let mut stream = receiver.open_stream("?types=turn_created");
        receiver.send_event("user-prompt-submit", &transcript.build_payload(json!({"prompt": "Do it."})));
        let more = json!({"prompt": "And now this.", "tool_name": "Bash", "last_assistant_message": "All is well."});
        let told = receiver.send_event(route, &transcript.build_payload(more));
        assert_eq!(told["state"], state, "{route}");
        transcript.append_answer(words, stop_reason, seconds_ago(5));
        if state != "ended" {
            stream.find_event(|heard| heard.data["text"] == words);
        }
        let agent = receiver.find_agent(&session).unwrap();
        assert_eq!(read_state_evidence(&agent), [state, "hook", "high"], "{route}: {}", agent["why"]);
    }
}

#[test]
fn a_question_in_the_middle_of_a_turn_is_not_what_it_ended_with() {
    let sandbox = CliSandbox::new();
    let receiver = start_polling_server(&sandbox);
    let transcript = TranscriptFixture::new(&sandbox, "s1");
    let mut stream = receiver.open_stream("?types=turn_created,turn_updated");
    receiver.send_event("user-prompt-submit", &transcript.build_payload(json!({"prompt": "Do it."})));
    receiver.send_event("stop", &transcript.build_payload(json!({"last_assistant_message": "All is well."})));
    transcript.append_answer("Shall I look at the tests first?", "tool_use", seconds_ago(5));
    transcript.append_final_answer("All is well.", read_current_time());
    stream.find_event(|heard| heard.event == "turn_updated" && heard.data["text"] == "All is well.");
    let agent = receiver.find_agent("s1").unwrap();
    assert_eq!(read_state_evidence(&agent), ["idle", "hook", "high"], "{}", agent["why"]);
}

#[test]
fn hooks_and_looking_at_the_same_time_agree_on_what_is_newest() {
    let sandbox = CliSandbox::new();
    // It looks all the time, so every hook comes while it does.
    let args = ["--addr", "127.0.0.1:0", "--poll-active", "1ms", "--poll-silent", "1ms"];
    let receiver = start_server(&sandbox, &args);
    let transcript = TranscriptFixture::new(&sandbox, "s1");
    receiver.send_event("session-start", &transcript.build_payload(json!({})));
    let mut stream = receiver.open_stream("?types=turn_created");
    for round in 0..40 {
        let words = format!("Round {round} is done.");
        receiver.send_event("user-prompt-submit", &json!({"session_id": "s1", "prompt": format!("Round {round}")}));
        transcript.append_final_answer(&words, read_current_time());
        let told =
            receiver.send_event("user-prompt-submit", &json!({"session_id": "s1", "prompt": format!("After {round}")}));
        assert_eq!(told["state"], "processing");
        stream.find_event(|heard| heard.data["text"] == words);
        let agent = receiver.find_agent("s1").unwrap();
        assert_eq!(agent["state"], "processing", "{round}: {}", agent["why"]);
        receiver.send_event("stop", &json!({"session_id": "s1"}));
    }
}
