//! Events on their way to Snell's own receiver.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use super::receiver::nobody;
use super::{files, notify, notify_with, waiting};
use crate::support::{Sandbox, wait_until};

/// A receiver that ends with the test.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    /// Starts the receiver of a sandbox, and waits until it listens.
    fn start(sandbox: &Sandbox, address: &str) -> Self {
        let mut child = sandbox
            .command(&["serve", "--addr", address, "--log", "off"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let url = line.trim_end().strip_prefix("Snell listens on ").unwrap().to_owned();
        Self { child, url }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a sandbox has recorded, the oldest first.
fn log(sandbox: &Sandbox) -> Vec<Value> {
    let ran = sandbox.snell(&["log", "--json", "--limit", "500"], "");
    let mut entries: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    entries.reverse();
    entries
}

fn field(entries: &[Value], pointer: &str) -> Vec<Value> {
    entries
        .iter()
        .map(|entry| entry.pointer(pointer).cloned().unwrap_or_default())
        .collect()
}

#[test]
fn the_receiver_takes_whatever_is_forwarded() {
    let there = Sandbox::new();
    let server = Server::start(&there, "127.0.0.1:0");
    let here = Sandbox::new().env("TMUX_PANE", "%5");
    let nested = (0..200).fold(json!(1), |inner, _| json!([inner]));
    let texts: Vec<_> = (0..40).map(|_| "y".repeat(30_000)).collect();
    let rows = [
        ("session-start", json!({"source": "startup"})),
        ("UserPromptSubmit", json!({"prompt": "Go."})),
        (
            "BeforeTool",
            json!({"tool_name": "Bash", "tool_input": {"command": "ls"}}),
        ),
        (
            "PermissionRequest",
            json!({"tool_name": "Bash", "tool_input": {"nested": nested}}),
        ),
        ("PostToolUse", json!({"tool_name": "Read", "tool_response": texts})),
        ("SubagentStop", json!({})),
        ("TeammateIdle", json!({"hook_event_name": "SomethingElse"})),
        (
            "notification",
            json!({"message": "…", "notification_type": "idle_prompt"}),
        ),
        ("stop", json!({"last_assistant_message": "Done."})),
        ("SessionEnd", json!({"reason": "exit"})),
    ];
    for (event, mut payload) in rows {
        payload["session_id"] = json!("s1");
        notify_with(&here, &[event, "--url", &server.url], &payload.to_string()).says_nothing();
    }
    assert_eq!((waiting(&here).len(), files(&here, "refused").len()), (0, 0));
    let entries = log(&there);
    let expected = [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PermissionRequest",
        "PostToolUse",
        "SubagentStop",
        "TeammateIdle",
        "Notification",
        "Stop",
        "SessionEnd",
    ];
    assert_eq!(field(&entries, "/event"), expected);
    assert_eq!(field(&entries, "/agent_id"), [1; 10]);
    let agents = there.snell(&["agents", "--all", "--json"], "").json();
    assert_eq!(
        (&agents[0]["tmux_pane"], &agents[0]["state"]),
        (&json!("%5"), &json!("ended"))
    );
}

#[test]
fn what_a_hook_decided_elsewhere_is_recorded_here() {
    let there = Sandbox::new();
    let server = Server::start(&there, "127.0.0.1:0");
    let settings = format!(
        "[server]\nurl = \"{}\"\n[[hook]]\nevent = \"PreToolUse\"\nrun = \"echo not today >&2; exit 2\"\n",
        server.url
    );
    let here = Sandbox::recording().home_file(".config/snell/snell.toml", &settings);
    here.tell("09:00:00", "SessionStart", json!({"source": "startup"}));
    here.tell(
        "09:00:01",
        "PreToolUse",
        json!({"tool_name": "Bash", "tool_input": {"command": "ls"}}),
    );
    let entries = wait_until(|| Some(log(&there)).filter(|entries| entries.len() == 2));
    assert_eq!(field(&entries, "/decision"), [Value::Null, json!("block")]);
    assert_eq!(field(&entries, "/reason"), [Value::Null, json!("not today")]);
    assert_eq!(field(&entries, "/at"), field(&log(&here), "/at"));
}

#[test]
fn a_server_that_starts_takes_what_waits_for_it() {
    let sandbox = Sandbox::new();
    let address: SocketAddr = nobody();
    let url = format!("http://{address}");
    for prompt in ["1", "2", "3"] {
        notify(&sandbox, &url, prompt).says("cannot be reached");
    }
    notify(&sandbox, "http://elsewhere.invalid", "not for it");
    let server = Server::start(&sandbox, &address.to_string());
    assert_eq!(server.url, url);
    wait_until(|| (waiting(&sandbox).len() == 1).then_some(()));
    assert_eq!(field(&log(&sandbox), "/payload/prompt"), ["1", "2", "3"]);
    notify(&sandbox, &url, "4").says_nothing();
    assert_eq!(field(&log(&sandbox), "/payload/prompt"), ["1", "2", "3", "4"]);
}
