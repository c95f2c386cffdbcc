//! Clients that are slow, silent, rude or many.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde_json::json;
use snell_test_support::http::HttpResponse;
use snell_test_support::sse::SseClient;
use snell_test_support::wait::{WAIT_TIMEOUT, wait_until};

use crate::support::TestApp;

/// Sends this and reads the response.
pub fn send_bytes(address: SocketAddr, bytes: &[u8]) -> HttpResponse {
    let mut stream = open_connection(address);
    stream.write_all(bytes).unwrap();
    HttpResponse::parse(&read_until_closed(&mut stream))
}

fn open_connection(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(WAIT_TIMEOUT)).unwrap();
    stream
}

/// Everything until the end of the connection, which must end.
fn read_until_closed(stream: &mut TcpStream) -> Vec<u8> {
    let mut told = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return told,
            Ok(length) => told.extend_from_slice(&buffer[..length]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => panic!("the connection does not end"),
            Err(_) => return told,
        }
    }
}

fn assert_server_works(app: &TestApp) {
    app.send_event("notification", &json!({"session_id": "well"}));
    assert_eq!(app.get("/healthz").status, 200);
}

/// Waits until this client has the only connection.
fn wait_until_alone(app: &TestApp) {
    wait_until(|| app.get("/metrics").body.contains("snell_http_connections 1\n").then_some(()));
}

#[test]
fn a_thousand_silent_connections_do_not_block_others() {
    let app = TestApp::start();
    // Both ends are file descriptors of this process.
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let wanted = rustix::process::Rlimit { current: limit.maximum, maximum: limit.maximum };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, wanted).unwrap();
    let silent: Vec<_> = (0..1000).map(|_| open_connection(app.address)).collect();
    assert_server_works(&app);
    wait_until(|| app.get("/metrics").body.contains("snell_http_connections 1001").then_some(()));
    drop(silent);
    wait_until_alone(&app);
}

#[test]
fn connections_beyond_the_limit_are_refused() {
    let app = TestApp::with_settings(|settings| settings.max_connections = 2);
    let held: Vec<_> = (0..2).map(|_| open_connection(app.address)).collect();
    let mut refused = wait_until(|| {
        let mut third = open_connection(app.address);
        let told = read_until_closed(&mut third);
        (!told.is_empty()).then(|| HttpResponse::parse(&told))
    });
    assert_eq!(refused.status, 503);
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(refused.message(), "too many connections (hint: try again in a moment)");
    drop(held);
    refused = wait_until(|| {
        let mut stream = open_connection(app.address);
        stream.write_all(&app.request("GET", "/healthz").header("Connection: close").bytes()).ok()?;
        let told = read_until_closed(&mut stream);
        let answer = (!told.is_empty()).then(|| HttpResponse::parse(&told))?;
        (answer.status == 200).then_some(answer)
    });
    assert_eq!(refused.body, "ok\n");
}

#[test]
fn a_client_that_does_not_finish_is_disconnected() {
    let app = TestApp::with_settings(|settings| {
        settings.head_timeout = Duration::from_millis(200);
        settings.body_timeout = Duration::from_millis(200);
    });
    let request = app.request("POST", "/hook/stop").json(r#"{"session_id":"s"}"#).bytes();
    let head = request.len() - r#"{"session_id":"s"}"#.len();
    // Nothing, a part of the head, and all but its end.
    for length in [0, 10, head - 2] {
        let started = Instant::now();
        let mut stream = open_connection(app.address);
        stream.write_all(&request[..length]).unwrap();
        let told = read_until_closed(&mut stream);
        assert!(told.is_empty() || HttpResponse::parse(&told).status == 408, "{length}");
        assert!(started.elapsed() < WAIT_TIMEOUT / 2, "{length}");
    }
    // The head and a part of the body.
    for length in [head, head + 5] {
        let mut stream = open_connection(app.address);
        stream.write_all(&request[..length]).unwrap();
        let answer = HttpResponse::parse(&read_until_closed(&mut stream));
        assert_eq!((answer.status, answer.message().as_str()), (408, "the request body did not arrive in time"));
    }
    assert_server_works(&app);
}

#[test]
fn a_client_that_disconnects_early_leaves_nothing_behind() {
    let app = TestApp::start();
    let request = app.request("POST", "/hook/stop").json(r#"{"session_id":"s"}"#).bytes();
    for length in [1, 20, request.len() - 1] {
        let mut half_closed = open_connection(app.address);
        half_closed.write_all(&request[..length]).unwrap();
        half_closed.shutdown(Shutdown::Write).unwrap();
        let told = read_until_closed(&mut half_closed);
        assert!(told.is_empty() || (400..500).contains(&HttpResponse::parse(&told).status), "{length}");
        let mut gone = open_connection(app.address);
        gone.write_all(&request[..length]).unwrap();
        drop(gone);
    }
    assert_server_works(&app);
    assert_eq!(app.get_json("/api/events?event=Stop")["items"], json!([]));
    // A client that closes its side after the request may miss the response, but the event is stored.
    let mut all_said = open_connection(app.address);
    all_said.write_all(&request).unwrap();
    all_said.shutdown(Shutdown::Write).unwrap();
    read_until_closed(&mut all_said);
}

#[test]
fn requests_follow_each_other_on_one_connection() {
    let app = TestApp::start();
    let mut stream = open_connection(app.address);
    let request = app.request("POST", "/hook/notification").json(r#"{"session_id":"s"}"#).bytes();
    for _ in 0..3 {
        stream.write_all(&request).unwrap();
    }
    stream.write_all(&app.request("GET", "/healthz").header("Connection: close").bytes()).unwrap();
    let told = String::from_utf8(read_until_closed(&mut stream)).unwrap();
    assert_eq!(told.matches("HTTP/1.1 200 OK").count(), 4, "{told}");
}

#[test]
fn invalid_http_is_refused() {
    let app = TestApp::start();
    let long = format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(100_000));
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(5_000));
    let cases: [&[u8]; 6] = [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        long.as_bytes(),
        many.as_bytes(),
    ];
    for bytes in cases {
        let mut stream = open_connection(app.address);
        // The server may close while the client still writes.
        let _ = stream.write_all(bytes);
        let told = read_until_closed(&mut stream);
        assert!(
            told.is_empty() || (400..500).contains(&HttpResponse::parse(&told).status),
            "{}",
            String::from_utf8_lossy(&told)
        );
    }
    assert_server_works(&app);
}

#[test]
fn a_client_that_does_not_read_responses_is_disconnected() {
    let app = TestApp::with_settings(|settings| settings.write_timeout = Duration::from_millis(200));
    let mut deaf = open_connection(app.address);
    let ask = app.request("GET", "/api/openapi.json").bytes();
    // More than all buffers in between can hold.
    let asked = (0..2_000).all(|_| deaf.write_all(&ask).is_ok());
    wait_until_alone(&app);
    drop((deaf, asked));
    assert_server_works(&app);
}

#[test]
fn unfinished_bodies_share_a_memory_budget() {
    let app = TestApp::with_settings(|settings| settings.max_body_bytes_in_all = 1000);
    let body = |bytes: usize| format!(r#"{{"session_id":"s","x":"{}"}}"#, "x".repeat(bytes));
    let long = app.request("POST", "/hook/stop").json(&body(800)).bytes();
    let other = || app.request("POST", "/hook/stop").json(&body(400)).send();
    // The other client may be faster; then the slow one is refused.
    let (mut slow, refused) = wait_until(|| {
        let mut slow = open_connection(app.address);
        slow.write_all(&long[..long.len() - 1]).unwrap();
        let answer = other();
        if answer.status != 200 {
            return Some((slow, answer));
        }
        drop(slow);
        wait_until_alone(&app);
        None
    });
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    assert_eq!(refused.message(), "the server is receiving too much data (hint: try again in a moment)");
    slow.write_all(&long[long.len() - 1..]).unwrap();
    // After it is stored, the budget is free again.
    assert_eq!(SseClient::from_connection(slow).unwrap().head.status, 200);
    assert_eq!(other().status, 200);
}
