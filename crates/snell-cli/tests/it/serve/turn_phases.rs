//! A turn in three phases: told by a hook, corrected by the transcript, found in the transcript alone.

use jiff::Timestamp;
use serde_json::{Value, json};
use snell_test_support::serve_process::ServeProcess;
use snell_test_support::sse::SseClient;
use snell_test_support::wait::wait_until;

use super::transcript::{TranscriptFixture, read_current_time, seconds_ago};
use super::{ANYWHERE, start_polling_server, start_server};
use crate::support::CliSandbox;

/// The fields that a turn is told with.
const FIELDS: [&str; 9] =
    ["actor", "agent_id", "command_id", "intent", "project_id", "text", "timestamp", "timestamp_source", "turn_id"];

/// The next turn that is told, which must have all its fields: how it is told, and what.
fn next_turn(stream: &mut SseClient) -> (String, Value) {
    let heard = stream.next_event();
    let mut fields: Vec<_> = heard.data.as_object().unwrap().keys().map(String::as_str).collect();
    fields.sort_unstable();
    assert_eq!(fields, FIELDS);
    (heard.event, heard.data)
}

#[track_caller]
fn assert_turn(turn: &(String, Value), event: &str, words: [&str; 4]) {
    let said = ["actor", "intent", "text", "timestamp_source"].map(|field| turn.1[field].clone());
    assert_eq!((turn.0.as_str(), said), (event, words.map(Value::from)));
}

fn parse_turn_time(turn: &(String, Value)) -> Timestamp {
    turn.1["timestamp"].as_str().unwrap().parse().unwrap()
}

/// Lets a turn go through its phases. `catch_up` makes the server see what was written.
fn check_turn_phases(receiver: &ServeProcess, transcript: &TranscriptFixture, catch_up: &dyn Fn()) {
    let mut stream = receiver.open_stream("?types=turn_created,turn_updated");
    receiver.send_event("session-start", &transcript.build_payload(json!({"source": "startup"})));

    let before = Timestamp::now();
    receiver.send_event("user-prompt-submit", &transcript.build_payload(json!({"prompt": "Do it."})));
    let first = next_turn(&mut stream);
    assert_turn(&first, "turn_created", ["USER", "command", "Do it.", "server"]);
    assert!(before <= parse_turn_time(&first) && parse_turn_time(&first) <= Timestamp::now());

    let at = transcript.append_prompt("Do it.", seconds_ago(1));
    catch_up();
    let second = next_turn(&mut stream);
    assert_turn(&second, "turn_updated", ["USER", "command", "Do it.", "jsonl"]);
    assert_eq!(parse_turn_time(&second), at);
    assert_eq!(second.1["turn_id"], first.1["turn_id"]);

    let at = transcript.append_answer("I am at it.", "tool_use", read_current_time());
    catch_up();
    let third = next_turn(&mut stream);
    assert_turn(&third, "turn_created", ["AGENT", "progress", "I am at it.", "jsonl"]);
    assert_eq!(parse_turn_time(&third), at);
    assert_eq!(third.1["command_id"], first.1["command_id"]);

    let turns = receiver.get_json("/api/agents/1/turns")["items"].take();
    let texts: Vec<_> = turns.as_array().unwrap().iter().map(|turn| turn["text"].clone()).collect();
    assert_eq!(texts, ["I am at it.", "Do it."]);
}

#[test]
fn the_next_hook_makes_the_server_read_on_in_the_transcript() {
    let sandbox = CliSandbox::new();
    let args = ["--poll-silent", "1h", "--poll-active", "1h"];
    let receiver = start_server(&sandbox, &[ANYWHERE, &args].concat());
    let transcript = TranscriptFixture::new(&sandbox, "s1");
    check_turn_phases(&receiver, &transcript, &|| {
        receiver.send_event("notification", &transcript.build_payload(json!({})));
    });
}

#[test]
fn without_hooks_the_server_reads_on_in_the_transcript_by_itself() {
    let sandbox = CliSandbox::new();
    let receiver = start_polling_server(&sandbox);
    let transcript = TranscriptFixture::new(&sandbox, "s1");
    check_turn_phases(&receiver, &transcript, &|| {});
}

#[test]
fn the_last_words_that_a_hook_told_are_corrected_too() {
    let sandbox = CliSandbox::new();
    let receiver = start_polling_server(&sandbox);
    let transcript = TranscriptFixture::new(&sandbox, "s1");
    let mut stream = receiver.open_stream("?types=turn_created,turn_updated,state_changed");
    receiver.send_event("user-prompt-submit", &transcript.build_payload(json!({"prompt": "Do it."})));
    let payload = transcript.build_payload(json!({"last_assistant_message": "It is done."}));
    receiver.send_event("stop", &payload);
    let told = stream.find_event(|heard| heard.data["text"] == "It is done.");
    let told = (told.event, told.data);
    assert_turn(&told, "turn_created", ["AGENT", "completion", "It is done.", "server"]);
    // Whoever puts things in order by their time needs one for every change of state.
    let state = stream.next_data_of("state_changed");
    assert_eq!((&state["state"], &state["turn_id"]), (&json!("idle"), &told.1["turn_id"]));
    assert_eq!(state["timestamp"], told.1["timestamp"]);
    let at = transcript.append_final_answer("It is done.", seconds_ago(1));
    let better = stream.find_event(|heard| heard.event == "turn_updated");
    let better = (better.event, better.data);
    assert_turn(&better, "turn_updated", ["AGENT", "completion", "It is done.", "jsonl"]);
    assert_eq!((parse_turn_time(&better), &better.1["turn_id"]), (at, &told.1["turn_id"]));
    wait_until(|| (receiver.hook_status()["mode"] == "polling_fallback").then_some(()));
    let agent = receiver.find_agent("s1").unwrap();
    assert_eq!((&agent["state"], &agent["state_source"]), (&json!("idle"), &json!("hook")));
}
