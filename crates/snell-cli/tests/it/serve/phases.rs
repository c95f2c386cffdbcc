//! A turn in three phases: told by a hook, corrected by the transcript, found in the transcript alone.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::stream::Stream;
use super::transcript::{Transcript, now, seconds_ago};
use super::{ANYWHERE, Receiver};
use crate::support::{Sandbox, wait_until};

/// The fields that a turn is told with.
const FIELDS: [&str; 9] = [
    "actor",
    "agent_id",
    "command_id",
    "intent",
    "project_id",
    "text",
    "timestamp",
    "timestamp_source",
    "turn_id",
];

/// The next turn that is told, which must have all its fields: how it is told, and what.
fn turn(stream: &mut Stream) -> (String, Value) {
    let heard = stream.next();
    let mut fields: Vec<_> = heard.data.as_object().unwrap().keys().map(String::as_str).collect();
    fields.sort_unstable();
    assert_eq!(fields, FIELDS);
    (heard.event, heard.data)
}

#[track_caller]
fn is_told(turn: &(String, Value), event: &str, words: [&str; 4]) {
    let said = ["actor", "intent", "text", "timestamp_source"].map(|field| turn.1[field].clone());
    assert_eq!((turn.0.as_str(), said), (event, words.map(Value::from)));
}

fn time(turn: &(String, Value)) -> Timestamp {
    turn.1["timestamp"].as_str().unwrap().parse().unwrap()
}

/// Lets a turn go through its phases. `catch_up` makes the server see what was written.
fn goes_through_its_phases(receiver: &Receiver, transcript: &Transcript, catch_up: &dyn Fn()) {
    let mut stream = receiver.listen("?types=turn_created,turn_updated");
    receiver.tell("session-start", &transcript.payload(json!({"source": "startup"})));

    let before = Timestamp::now();
    receiver.tell("user-prompt-submit", &transcript.payload(json!({"prompt": "Do it."})));
    let first = turn(&mut stream);
    is_told(&first, "turn_created", ["USER", "command", "Do it.", "server"]);
    assert!(before <= time(&first) && time(&first) <= Timestamp::now());

    let at = transcript.prompt("Do it.", seconds_ago(1));
    catch_up();
    let second = turn(&mut stream);
    is_told(&second, "turn_updated", ["USER", "command", "Do it.", "jsonl"]);
    assert_eq!(time(&second), at);
    assert_eq!(second.1["turn_id"], first.1["turn_id"]);

    let at = transcript.words("I am at it.", "tool_use", now());
    catch_up();
    let third = turn(&mut stream);
    is_told(&third, "turn_created", ["AGENT", "progress", "I am at it.", "jsonl"]);
    assert_eq!(time(&third), at);
    assert_eq!(third.1["command_id"], first.1["command_id"]);

    let turns = receiver.page("/api/agents/1/turns")["items"].take();
    let texts: Vec<_> = turns
        .as_array()
        .unwrap()
        .iter()
        .map(|turn| turn["text"].clone())
        .collect();
    assert_eq!(texts, ["I am at it.", "Do it."]);
}

#[test]
fn the_next_hook_makes_the_server_read_on_in_the_transcript() {
    let sandbox = Sandbox::new();
    let args = ["--poll-silent", "1h", "--poll-active", "1h"];
    let receiver = Receiver::start(&sandbox, &[ANYWHERE, &args].concat());
    let transcript = Transcript::new(&sandbox, "s1");
    goes_through_its_phases(&receiver, &transcript, &|| {
        receiver.tell("notification", &transcript.payload(json!({})));
    });
}

#[test]
fn without_hooks_the_server_reads_on_in_the_transcript_by_itself() {
    let sandbox = Sandbox::new();
    let receiver = Receiver::watchful(&sandbox);
    let transcript = Transcript::new(&sandbox, "s1");
    goes_through_its_phases(&receiver, &transcript, &|| {});
}

#[test]
fn the_last_words_that_a_hook_told_are_corrected_too() {
    let sandbox = Sandbox::new();
    let receiver = Receiver::watchful(&sandbox);
    let transcript = Transcript::new(&sandbox, "s1");
    let mut stream = receiver.listen("?types=turn_created,turn_updated,state_changed");
    receiver.tell("user-prompt-submit", &transcript.payload(json!({"prompt": "Do it."})));
    let payload = transcript.payload(json!({"last_assistant_message": "It is done."}));
    receiver.tell("stop", &payload);
    let told = stream.find(|heard| heard.data["text"] == "It is done.");
    let told = (told.event, told.data);
    is_told(&told, "turn_created", ["AGENT", "completion", "It is done.", "server"]);
    // Whoever puts things in order by their time needs one for every change of state.
    let state = stream.next_of("state_changed");
    assert_eq!(
        (&state["state"], &state["turn_id"]),
        (&json!("idle"), &told.1["turn_id"])
    );
    assert_eq!(state["timestamp"], told.1["timestamp"]);
    let at = transcript.last_words("It is done.", seconds_ago(1));
    let better = stream.find(|heard| heard.event == "turn_updated");
    let better = (better.event, better.data);
    is_told(&better, "turn_updated", ["AGENT", "completion", "It is done.", "jsonl"]);
    assert_eq!((time(&better), &better.1["turn_id"]), (at, &told.1["turn_id"]));
    wait_until(|| (receiver.status()["mode"] == "polling_fallback").then_some(()));
    let agent = receiver.agent("s1").unwrap();
    assert_eq!(
        (&agent["state"], &agent["state_source"]),
        (&json!("idle"), &json!("hook"))
    );
}
