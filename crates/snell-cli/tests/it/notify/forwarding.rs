//! What `snell hook` sends to a receiver elsewhere.

use serde_json::{Value, json};
use snell_test_support::files::set_file_mode;
use snell_test_support::http::find_unused_address;
use snell_test_support::process::{Signal, find_processes, send_signal};
use snell_test_support::wait::wait_until;

use super::receiver::{NotifyReceiver, ReceiverBehavior};
use super::{read_waiting_bodies, send_prompt_notification};
use crate::support::CliSandbox;

/// A project whose user sends events to this receiver.
fn create_forwarding_sandbox(url: &str, more: &str) -> CliSandbox {
    let settings = format!("[server]\nurl = \"{url}\"\n{more}\n");
    CliSandbox::with_frozen_clock().home_file(".config/snell/snell.toml", &settings)
}

fn wait_for_stored(receiver: &NotifyReceiver, number: usize) -> Vec<Value> {
    wait_until(|| Some(receiver.unique_events()).filter(|stored| stored.len() >= number))
}

#[test]
fn every_event_is_sent_with_its_sender_and_what_was_decided() {
    let receiver = NotifyReceiver::new();
    let guard = "token_file = \"token\"\n[[hook]]\nevent = \"PreToolUse\"\nrun = \"echo not today >&2; exit 2\"";
    let sandbox = create_forwarding_sandbox(&receiver.url(), guard)
        .secret_home_file("token", "mine")
        .env("CLAUDE_SESSION_ROLE", "worker")
        .env("TMUX_PANE", "%3");
    sandbox.send_hook_event("09:00:00", "SessionStart", json!({"source": "startup"}));
    let blocked = sandbox.send_hook_event(
        "10:00:00",
        "PreToolUse",
        json!({"tool_name": "Bash", "tool_input": {"command": "git push"}}),
    );
    assert!(blocked.stdout.contains("not today"), "{blocked:?}");
    sandbox.send_hook_event("11:00:00", "SubagentStop", json!({}));
    let bodies = wait_for_stored(&receiver, 3);
    let lines: Vec<_> = receiver.requests().iter().map(|request| request.line.clone()).collect();
    let routes = ["session-start", "pre-tool-use", "event"].map(|route| format!("POST /hook/{route} HTTP/1.1"));
    assert_eq!(lines, routes);
    let tokens = receiver.requests();
    assert!(tokens.iter().all(|request| request.headers["authorization"] == "Bearer mine"));
    let [start, tool, other] = bodies.try_into().unwrap();
    assert_eq!((&start["source"], &start["tmux_pane"]), (&json!("startup"), &json!("%3")));
    assert_eq!(start["timestamp"], "2026-03-01T09:00:00Z");
    assert_eq!(start["snell"]["sender"]["product"], "claude");
    assert_eq!(start["snell"]["sender"]["role"], "worker");
    assert_eq!(start["snell"]["judgement"]["decision"], Value::Null);
    assert_eq!(tool["pid"], std::process::id());
    assert_eq!(tool["snell"]["judgement"]["decision"], "block");
    assert_eq!(tool["snell"]["judgement"]["reason"], "not today");
    assert_eq!(tool["snell"]["judgement"]["runs"][0]["status"], "blocked");
    assert_eq!(other["hook_event_name"], "SubagentStop");
    // It is the same event here and there.
    let database = rusqlite::Connection::open(sandbox.database()).unwrap();
    let mut statement = database.prepare("SELECT event_id FROM events ORDER BY id").unwrap();
    let ids: Vec<String> = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!([&start, &tool, &other].map(|body| body["event_id"].as_str().unwrap().to_owned()), ids[..]);
}

#[test]
fn a_hook_does_not_send_with_a_token_that_others_can_read() {
    let [receiver, witness] = [NotifyReceiver::new(), NotifyReceiver::new()];
    let sandbox = create_forwarding_sandbox(&receiver.url(), "token_file = \"token\"").open_home_file("token", "mine");
    sandbox.send_hook_event("09:00:00", "SessionStart", json!({"source": "startup"}));
    sandbox.send_hook_event("10:00:00", "Stop", json!({}));
    // One process delivers everything, in order and for all receivers. So when what was put behind these two has come to its
    // own receiver, they have been tried.
    send_prompt_notification(&sandbox, &witness.url(), "behind them").assert_no_warning();
    wait_for_stored(&witness, 1);
    assert!(receiver.requests().is_empty(), "{:?}", receiver.requests());
    // Whoever delivers takes a letter away once it is answered, which is a moment after it has come.
    wait_until(|| (read_waiting_bodies(&sandbox).len() == 2).then_some(()));
    // It was for the token alone that they waited.
    let token = sandbox.home().join("token");
    set_file_mode(&token, 0o600);
    wait_for_stored(&receiver, 2);
    let requests = receiver.requests();
    let shown: Vec<_> = requests.iter().map(|request| &request.headers["authorization"]).collect();
    assert_eq!(shown, ["Bearer mine", "Bearer mine"]);
}

#[test]
fn what_a_host_has_recorded_is_sent_as_well() {
    let receiver = NotifyReceiver::new();
    let sandbox = create_forwarding_sandbox(&receiver.url(), "");
    let payload = json!({"session_id": "s1", "agent_name": "lantern", "prompt": "Go."}).to_string();
    assert_eq!(sandbox.run_snell(&["run", "UserPromptSubmit"], &payload).code, 0);
    assert_eq!(sandbox.run_snell(&["run", "UserPromptSubmit", "--record"], &payload).code, 0);
    let [sent] = wait_for_stored(&receiver, 1).try_into().unwrap();
    assert_eq!((&sent["prompt"], &sent["snell"]["sender"]["product"]), (&json!("Go."), &json!("lantern")));
}

#[test]
fn a_hook_does_not_wait_for_a_receiver_that_hangs() {
    let receiver = NotifyReceiver::with_behavior(ReceiverBehavior::IsSilent);
    let sandbox = create_forwarding_sandbox(&receiver.url(), "");
    sandbox.send_hook_event("09:00:00", "SessionStart", json!({}));
    wait_until(|| (!receiver.requests().is_empty()).then_some(()));
    // The forwarder waits for an answer, and hooks do not wait for the forwarder.
    for second in 0..5 {
        sandbox.send_hook_event(&format!("09:00:0{second}"), "UserPromptSubmit", json!({"prompt": second.to_string()}));
    }
    assert_eq!(receiver.unique_events().len(), 1);
    assert_eq!(read_waiting_bodies(&sandbox).len(), 6);
}

#[test]
fn what_could_not_be_sent_is_shown_and_sent_when_the_receiver_is_back() {
    let address = find_unused_address();
    let url = format!("http://{address}");
    let sandbox = create_forwarding_sandbox(&url, "");
    for second in 0..3 {
        sandbox.send_hook_event(&format!("11:58:0{second}"), "UserPromptSubmit", json!({"prompt": second.to_string()}));
    }
    let shown = sandbox.run_snell(&["status"], "");
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(shown.stdout.contains(&format!("To be sent     3 events to {url}, since 2m\n")), "{shown:?}");
    let outbox = &sandbox.run_snell(&["status", "--json"], "").json()["outbox"];
    let receivers = json!([{"url": url, "waiting": 3, "since": "2026-03-01T11:58:00Z"}]);
    assert_eq!((&outbox["receivers"], &outbox["refused"]), (&receivers, &json!([])));
    // After a while, somebody should look.
    let mut later = sandbox.command(&["status"]);
    let later = later.env("SNELL_NOW", "2026-03-01T12:30:00Z").output().unwrap();
    let later = String::from_utf8(later.stdout).unwrap();
    assert!(later.contains(&format!("cannot send 3 events to {url}")), "{later}");
    let receiver = NotifyReceiver::bind(address, ReceiverBehavior::Answers(200));
    assert_eq!(wait_for_stored(&receiver, 3).len(), 3);
    assert_eq!(receiver.unique_prompts(), ["0", "1", "2"]);
    wait_until(|| read_waiting_bodies(&sandbox).is_empty().then_some(()));
    assert!(!sandbox.run_snell(&["status"], "").stdout.contains("To be sent"));
}

#[test]
fn what_was_refused_needs_attention() {
    let receiver = NotifyReceiver::with_behavior(ReceiverBehavior::Answers(400));
    let sandbox = create_forwarding_sandbox(&receiver.url(), "");
    sandbox.send_hook_event("11:59:00", "SessionStart", json!({}));
    wait_until(|| (super::list_outbox_files(&sandbox, "refused").len() == 1).then_some(()));
    let shown = sandbox.run_snell(&["status"], "");
    assert_eq!(shown.code, 1);
    assert!(shown.stdout.contains("receivers refused 1 event, "), "{shown:?}");
}

#[test]
fn events_that_come_one_after_the_other_arrive_in_order_and_one_forwarder_is_enough() {
    let receiver = NotifyReceiver::new();
    let sandbox = create_forwarding_sandbox(&receiver.url(), "");
    for number in 0..30 {
        sandbox.send_hook_event("10:00:00", "UserPromptSubmit", json!({"prompt": number.to_string()}));
    }
    wait_for_stored(&receiver, 30);
    let expected: Vec<_> = (0..30).map(|number: u32| number.to_string()).collect();
    assert_eq!(receiver.unique_prompts(), expected);
    assert_eq!(receiver.requests().len(), 30);
    let data = sandbox.data();
    let forwarders = list_forwarder_pids(data.to_str().unwrap());
    assert_eq!(forwarders.len(), 1, "{forwarders:?}");
}

#[test]
fn a_forwarder_that_is_killed_is_replaced_and_nothing_is_lost() {
    let receiver = NotifyReceiver::with_behavior(ReceiverBehavior::IsSilent);
    let sandbox = create_forwarding_sandbox(&receiver.url(), "");
    let data = sandbox.data();
    for number in 0..3 {
        sandbox.send_hook_event("10:00:00", "UserPromptSubmit", json!({"prompt": number.to_string()}));
        let pid = wait_until(|| list_forwarder_pids(data.to_str().unwrap()).first().copied());
        wait_until(|| (receiver.requests().len() > number).then_some(()));
        send_signal(pid, Signal::KILL);
        wait_until(|| list_forwarder_pids(data.to_str().unwrap()).is_empty().then_some(()));
    }
    receiver.set_behavior(ReceiverBehavior::Answers(200));
    sandbox.send_hook_event("10:00:00", "UserPromptSubmit", json!({"prompt": "3"}));
    wait_for_stored(&receiver, 4);
    assert_eq!(receiver.unique_prompts(), ["0", "1", "2", "3"]);
}

/// The processes that forward for this directory.
fn list_forwarder_pids(data: &str) -> Vec<u32> {
    let arguments = ["daemon", data, "--job=forward"];
    find_processes(|process| process.command_line().get(1..4).is_some_and(|words| words == arguments))
}

#[test]
fn nothing_is_sent_unless_its_user_wants_that() {
    let receiver = NotifyReceiver::new();
    let url = receiver.url();
    let settings = format!("[server]\nurl = \"{url}\"\n");
    let rows = [
        ("nobody said so", CliSandbox::with_frozen_clock()),
        ("recording is off", create_forwarding_sandbox(&url, "[handlers]\ntrack = false")),
        ("only the project says so", CliSandbox::with_frozen_clock().file("snell.toml", &settings)),
        (
            "it is no address",
            CliSandbox::with_frozen_clock().home_file(".config/snell/snell.toml", "[server]\nurl = \"box\"\n"),
        ),
    ];
    for (case, sandbox) in rows {
        sandbox.send_hook_event("09:00:00", "SessionStart", json!({}));
        assert!(!sandbox.data().join("outbox").exists(), "{case}");
    }
    assert!(receiver.requests().is_empty());
}

#[test]
fn a_notifier_leaves_its_event_to_the_forwarder_that_is_at_work() {
    let receiver = NotifyReceiver::new();
    let sandbox = create_forwarding_sandbox(&receiver.url(), "");
    sandbox.send_hook_event("09:00:00", "UserPromptSubmit", json!({"prompt": "told"}));
    wait_for_stored(&receiver, 1);
    super::send_prompt_notification(&sandbox, &receiver.url(), "notified").assert_no_warning();
    wait_for_stored(&receiver, 2);
    assert_eq!(receiver.unique_prompts(), ["told", "notified"]);
}
