//! Other users of this machine, who can reach the loopback address. The tests need root, and are skipped without it.

use std::io::Read;
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use serde_json::json;
use snell_server::AccessToken;
use snell_test_support::http::{HttpResponse, run_bash_as_user};
use snell_test_support::skip::{report_skipped, require_root};
use snell_test_support::wait::WAIT_TIMEOUT;

use crate::support::TestApp;

/// Another user than the one who runs the server.
const ANOTHER_USER: u32 = 65_534;

/// Paths that are open to everyone, because they show nothing.
const OPEN: &[&str] = &["/healthz", "/login", "/logout", "/assets/{version}/{name}"];

#[test]
fn another_user_reads_and_sends_nothing_without_the_token() {
    let Some(root) = require_root() else { return };
    let app = TestApp::start();
    app.begin_session("s");
    let all = snell_server::api_routes().chain(snell_server::page_routes());
    for (method, path) in all.filter(|(_, path)| !OPEN.contains(path)) {
        let address = path.replace("{id}", "1");
        let request = app.request(method, &address).json(r#"{"session_id":"other"}"#);
        let answer = request.send_as_user(root, ANOTHER_USER, "127.0.0.1", app.address.port());
        assert_eq!(answer.status, 403, "{method} {path}: {answer:?}");
        assert!(!answer.body.contains("\"s\""), "{method} {path}: {answer:?}");
    }
    let answer = app.request("GET", "/api/agents").send_as_user(root, ANOTHER_USER, "127.0.0.1", app.address.port());
    let message = answer.message();
    for part in ["another user of this machine", "--token-file", "Authorization: Bearer TOKEN"] {
        assert!(message.contains(part), "{message}");
    }
    // The server's own user needs no token.
    assert_eq!(app.get_json("/api/agents")["items"].as_array().unwrap().len(), 1);
}

#[test]
fn another_user_is_recognised_over_both_address_families() {
    let Some(root) = require_root() else { return };
    let app = TestApp::start();
    let port = app.address.port();
    for host in ["127.0.0.1", "::ffff:127.0.0.1"] {
        let answer = app.request("GET", "/hook/status").send_as_user(root, ANOTHER_USER, host, port);
        assert_eq!(answer.status, 403, "{host}");
    }
    let app = TestApp::with_address("[::1]:0");
    let request = || app.request("GET", "/hook/status");
    assert_eq!(request().send().status, 200);
    assert_eq!(request().send_as_user(root, ANOTHER_USER, "::1", app.address.port()).status, 403);
}

#[test]
fn another_user_with_the_token_is_served() {
    let Some(root) = require_root() else { return };
    let app = TestApp::with_settings(|settings| settings.token = Some(AccessToken::new("secret")));
    let rows = [("Authorization: Bearer secret", 200), ("Authorization: Bearer wrong", 401)];
    for (header, status) in rows {
        let request = app.request("GET", "/api/agents").header(header);
        let answer = request.send_as_user(root, ANOTHER_USER, "127.0.0.1", app.address.port());
        assert_eq!(answer.status, status, "{header}: {answer:?}");
    }
}

/// Such a socket can have the same addresses as an unbound one.
#[test]
fn a_client_that_is_bound_to_an_interface_is_recognised() {
    if require_root().is_none() {
        return;
    }
    if Command::new("curl").arg("--version").output().is_err() {
        return report_skipped("there is no curl");
    }
    let app = TestApp::start();
    let own = rustix::process::geteuid().as_raw();
    for (user, expected) in [(own, "200"), (ANOTHER_USER, "403")] {
        let output = Command::new("curl")
            .args(["--silent", "--output", "/dev/null", "--write-out", "%{http_code}", "--interface", "lo"])
            .arg(format!("http://{}/api/agents", app.address))
            .uid(user)
            .gid(user)
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{user}");
    }
}

#[test]
fn silent_connections_of_another_user_do_not_block_others() {
    if require_root().is_none() {
        return;
    }
    let app = TestApp::with_settings(|settings| settings.max_connections = 100);
    let script =
        format!("for i in {{1..300}}; do exec {{fd}}<>/dev/tcp/127.0.0.1/{}; done; echo open; cat", app.address.port());
    let mut crowd = Command::new("bash")
        .args(["-c", &script])
        .uid(ANOTHER_USER)
        .gid(ANOTHER_USER)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = [0; 5];
    crowd.stdout.as_mut().unwrap().read_exact(&mut said).unwrap();
    assert_eq!(&said, b"open\n");
    for _ in 0..50 {
        assert_eq!(app.get("/api/agents").status, 200);
    }
    let through_socket = app.request("GET", "/api/agents").send_over_unix_socket(&app.socket_path());
    assert_eq!(through_socket.status, 200);
    drop(crowd.stdin.take());
    crowd.wait().unwrap();
}

#[test]
fn the_unix_socket_has_its_own_connection_limit() {
    let app = TestApp::with_settings(|settings| settings.max_connections = 3);
    let silent: Vec<_> = (0..3).map(|_| TcpStream::connect(app.address).unwrap()).collect();
    // The server has accepted them when it refuses another one.
    let refused = || {
        let mut one = TcpStream::connect(app.address).unwrap();
        one.set_read_timeout(Some(WAIT_TIMEOUT)).unwrap();
        let mut told = Vec::new();
        let _ = one.read_to_end(&mut told);
        HttpResponse::parse(&told).status
    };
    assert_eq!(refused(), 503);
    let through_socket = app.request("GET", "/api/agents").send_over_unix_socket(&app.socket_path());
    assert_eq!(through_socket.status, 200);
    drop(silent);
}

/// The kernel shows closed sockets as root's.
#[test]
fn another_user_who_disconnects_at_once_sends_nothing_either() {
    let Some(root) = require_root() else { return };
    let app = TestApp::start();
    let request = app.request("POST", "/hook/session-start").json(r#"{"session_id":"other"}"#);
    // The server may refuse a connection before the request is written: bash must survive the broken pipe.
    let script = format!(
        "trap '' PIPE; request=$(cat); for i in {{1..1500}}; do exec 3<>/dev/tcp/127.0.0.1/{}; \
         printf '%s' \"$request\" >&3 2>/dev/null; exec 3>&-; done; echo done",
        app.address.port()
    );
    let output = run_bash_as_user(root, ANOTHER_USER, &script, &request.bytes());
    assert_eq!(output.stdout, b"done\n", "{output:?}");
    // Earlier requests are answered earlier.
    app.begin_session("own");
    let agents = app.get_json("/api/agents");
    let sessions: Vec<_> = agents["items"].as_array().unwrap().iter().map(|agent| &agent["session_id"]).collect();
    assert_eq!(sessions, [&json!("own")]);
}
