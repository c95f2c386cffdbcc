//! A receiver of an ordinary user on a machine with other users. They take rights to play: where the tests do not run as root,
//! these are skipped.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;

use serde_json::{Value, json};
use snell_test_support::files::set_file_mode;
use snell_test_support::http::{HttpRequest, HttpResponse};
use snell_test_support::serve_process::ServeProcess;
use snell_test_support::skip::require_root;
use snell_test_support::wait::wait_until;

use super::ANYWHERE;
use crate::support::CliSandbox;

const OWNER: u32 = 64_001;
const ANOTHER: u32 = 64_002;
const ROOT: u32 = 0;

/// A receiver of `OWNER`, whose `[server]` says this.
fn start_as_owner(sandbox: &CliSandbox, settings: &str) -> Option<ServeProcess> {
    require_root()?;
    let root = sandbox.home().parent().unwrap().to_owned();
    let program = root.join("snell");
    fs::copy(env!("CARGO_BIN_EXE_snell"), &program).unwrap();
    set_file_mode(&program, 0o755);
    let configuration = sandbox.home().join(".config/snell");
    fs::create_dir_all(&configuration).unwrap();
    fs::write(configuration.join("snell.toml"), settings).unwrap();
    for directory in [&root, &sandbox.home(), &sandbox.data(), &sandbox.project()] {
        chown(directory, Some(OWNER), Some(OWNER)).unwrap();
    }
    let mut command = sandbox.program(&program);
    command.arg("serve").args(ANYWHERE).args(["--poll-silent", "20ms", "--silent-after", "100ms"]);
    command.uid(OWNER).gid(OWNER);
    Some(ServeProcess::spawn(&mut command).unwrap_or_else(|said| panic!("{said}")))
}

/// Sends a request as a user of the machine.
fn send_as_user(user: u32, receiver: &ServeProcess, request: HttpRequest) -> HttpResponse {
    let (host, port) = receiver.address.rsplit_once(':').unwrap();
    request.send_as_user(require_root().unwrap(), user, host, port.parse().unwrap())
}

fn build_socket_path(sandbox: &CliSandbox, session: &str) -> PathBuf {
    sandbox.home().join(format!("{session}.sock"))
}

/// An event that claims as much about this machine as an event can.
fn build_claiming_event(sandbox: &CliSandbox, session: &str) -> Value {
    let socket = build_socket_path(sandbox, session);
    json!({
        "session_id": session,
        "cwd": sandbox.project().join("below"),
        "pid": std::process::id(),
        "host": rustix::system::uname().nodename().to_string_lossy(),
        "tmux_pane": "%1",
        "tmux_session": "main",
        "transcript_path": sandbox.home().join("secret.jsonl"),
        "snell": {"sender": {
            "tmux_server": socket,
            "tmux_pane": "%1",
            "process": {"pid": std::process::id()},
            "process_is_told": true,
        }},
    })
}

#[test]
fn only_the_user_of_a_receiver_can_use_it_without_a_token() {
    let sandbox = CliSandbox::new();
    let Some(receiver) = start_as_owner(&sandbox, "") else {
        return;
    };
    let rows = [
        (OWNER, 200, "\"access\":\"this_user\""),
        (ANOTHER, 403, "this server belongs to another user of this machine"),
        (ROOT, 403, "the user of this connection is unknown"),
    ];
    for (user, status, said) in rows {
        let answer = send_as_user(user, &receiver, receiver.request("GET", "/hook/status"));
        assert_eq!(answer.status, status, "{user}: {answer:?}");
        assert!(answer.body.contains(said), "{user}: {answer:?}");
        let event = json!({"session_id": format!("of-{user}"), "cwd": "/"}).to_string();
        let answer = send_as_user(user, &receiver, receiver.request("POST", "/hook/session-start").json(&event));
        assert_eq!(answer.status, status, "{user}: {answer:?}");
    }
    let agents = send_as_user(OWNER, &receiver, receiver.request("GET", "/api/agents")).json();
    let sessions: Vec<_> = agents["items"].as_array().unwrap().iter().map(|agent| &agent["session_id"]).collect();
    assert_eq!(sessions, [&json!(format!("of-{OWNER}"))]);
}

#[test]
fn an_unknown_user_makes_the_receiver_look_at_nothing() {
    let sandbox = CliSandbox::new();
    let settings = "[server]\nunknown_senders = \"accept\"\n";
    let Some(receiver) = start_as_owner(&sandbox, settings) else {
        return;
    };
    assert_eq!(send_as_user(ANOTHER, &receiver, receiver.request("GET", "/hook/status")).status, 403);
    let secret = sandbox.home().join("secret.jsonl");
    let listeners = ["unknown", "own"].map(|session| {
        let socket = build_socket_path(&sandbox, session);
        let listener = UnixListener::bind(&socket).unwrap();
        listener.set_nonblocking(true).unwrap();
        chown(&socket, Some(OWNER), Some(OWNER)).unwrap();
        listener
    });
    for (user, session) in [(ROOT, "unknown"), (OWNER, "own")] {
        let entry = json!({
            "type": "user", "sessionId": session, "uuid": session, "timestamp": "2026-03-01T12:00:00Z",
            "message": {"role": "user", "content": "a secret"},
        });
        fs::write(&secret, format!("{entry}\n")).unwrap();
        chown(&secret, Some(OWNER), Some(OWNER)).unwrap();
        let claims = build_claiming_event(&sandbox, session);
        let answer = send_as_user(user, &receiver, receiver.request("POST", "/hook/stop").json(&claims.to_string()));
        assert_eq!(answer.status, 200, "{answer:?}");
        let id = answer.json()["agent_id"].clone();
        let page = |path: &str| send_as_user(OWNER, &receiver, receiver.request("GET", path)).json();
        let turns = page(&format!("/api/agents/{id}/turns")).to_string();
        let agent = page(&format!("/api/agents/{id}"));
        let events = page("/api/events").to_string();
        if user == OWNER {
            // The same claims of the owner count: so the test would notice if it proved nothing.
            assert!(turns.contains("a secret"), "{turns}");
            assert_eq!(agent["tmux_pane"], "%1", "{agent}");
        } else {
            assert!(!turns.contains("a secret"), "{turns}");
            assert_eq!((&agent["tmux_pane"], &agent["pid"]), (&Value::Null, &Value::Null), "{agent}");
            assert!(events.contains("unknown"), "{events}");
        }
    }
    // The receiver looks at the panes of all agents at once.
    let [of_unknown, of_owner] = &listeners;
    wait_until(|| of_owner.accept().ok());
    assert!(of_unknown.accept().is_err(), "tmux was started for an unknown user");
}
