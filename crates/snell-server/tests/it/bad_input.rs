//! Refused requests and their messages.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;
use snell_test_support::sse::SseClient;
use snell_test_support::wait::{WAIT_TIMEOUT, wait_until};

use crate::support::TestApp;

#[test]
fn an_invalid_body_is_refused_with_the_name_of_the_field() {
    let app = TestApp::start();
    let id = "must be a non-empty string of at most 1024 bytes";
    let long = format!(r#"{{"session_id":"{}"}}"#, "x".repeat(1025));
    let cases: &[(&str, &str)] = &[
        ("", "the request body is empty (hint: send an object such as {\"session_id\": \"…\"})"),
        ("nonsense", "the request body is not valid JSON: syntax error at line 1, column 2"),
        ("{\"session_id\":", "the request body is not valid JSON: unexpected end at line 1, column 14"),
        ("[]", "the request body must be a JSON object (hint: send an object such as {\"session_id\": \"…\"})"),
        ("\"s\"", "the request body must be a JSON object (hint: send an object such as {\"session_id\": \"…\"})"),
        ("null", "the request body must be a JSON object (hint: send an object such as {\"session_id\": \"…\"})"),
        ("{}", "\"session_id\" is missing (hint: send the id of the agent's session)"),
        (r#"{"session_id":null}"#, "\"session_id\" is missing (hint: send the id of the agent's session)"),
        (r#"{"session_id":7}"#, &format!("\"session_id\" {id}")),
        (r#"{"session_id":""}"#, &format!("\"session_id\" {id}")),
        (r#"{"session_id":"  "}"#, &format!("\"session_id\" {id}")),
        (&long, &format!("\"session_id\" {id}")),
        (r#"{"session_id":"s","cwd":7}"#, "\"cwd\" must be a string"),
        (r#"{"session_id":"s","working_directory":[]}"#, "\"working_directory\" must be a string"),
        (r#"{"session_id":"s","transcript_path":{}}"#, "\"transcript_path\" must be a string"),
        (r#"{"session_id":"s","prompt":true}"#, "\"prompt\" must be a string"),
        (r#"{"session_id":"s","message":1}"#, "\"message\" must be a string"),
        (r#"{"session_id":"s","title":1}"#, "\"title\" must be a string"),
        (r#"{"session_id":"s","notification_type":1}"#, "\"notification_type\" must be a string"),
        (r#"{"session_id":"s","tool_name":1}"#, "\"tool_name\" must be a string"),
        (r#"{"session_id":"s","tool_input":"ls"}"#, "\"tool_input\" must be an object"),
        (r#"{"session_id":"s","tmux_pane":3}"#, "\"tmux_pane\" must be a string"),
        (r#"{"session_id":"s","tmux_session":3}"#, "\"tmux_session\" must be a string"),
        (r#"{"session_id":"s","headspace_session_id":3}"#, "\"headspace_session_id\" must be a string"),
        (r#"{"session_id":"s","pid":"7"}"#, "\"pid\" must be a process id"),
        (r#"{"session_id":"s","pid":-1}"#, "\"pid\" must be a process id"),
        (r#"{"session_id":"s","pid":0}"#, "\"pid\" must be a process id"),
        (r#"{"session_id":"s","pid":1e99}"#, "\"pid\" must be a process id"),
        (r#"{"session_id":"s","host":1}"#, "\"host\" must be a string"),
        (r#"{"session_id":"s","reason":1}"#, "\"reason\" must be a string"),
        (r#"{"session_id":"s","source":1}"#, "\"source\" must be a string"),
        (r#"{"session_id":"s","stop_hook_active":"no"}"#, "\"stop_hook_active\" must be true or false"),
        (r#"{"session_id":"s","event_id":""}"#, &format!("\"event_id\" {id}")),
        (r#"{"session_id":"s","event_id":5}"#, &format!("\"event_id\" {id}")),
        (
            r#"{"session_id":"s","timestamp":"yesterday"}"#,
            "\"timestamp\" must be an RFC 3339 time such as 2025-12-31T10:30:00Z",
        ),
        (
            r#"{"session_id":"s","timestamp":"2025-12-31T10:30:00+25:00"}"#,
            "\"timestamp\" must be an RFC 3339 time such as 2025-12-31T10:30:00Z",
        ),
        (
            r#"{"session_id":"s","timestamp":"2025-12-31T10:30:00Z[UTC]"}"#,
            "\"timestamp\" must be an RFC 3339 time such as 2025-12-31T10:30:00Z",
        ),
        (
            r#"{"session_id":"s","timestamp":1700000000}"#,
            "\"timestamp\" must be an RFC 3339 time such as 2025-12-31T10:30:00Z",
        ),
        (
            r#"{"session_id":"s","session_id":"t"}"#,
            "\"session_id\" appears twice in the request body (hint: send it once)",
        ),
        (r#"{"session_id":"s","x":1,"x":2}"#, "a field appears twice in the request body (hint: send it once)"),
    ];
    for (body, message) in cases {
        let answer = app.request("POST", "/hook/stop").json(body).send();
        assert_eq!(answer.status, 400, "{body}: {}", answer.body);
        assert_eq!(answer.message(), *message, "{body}");
    }
    assert_eq!(app.get_json("/api/events")["items"], json!([]), "nothing of it was stored");
}

#[test]
fn an_event_without_a_route_must_name_itself() {
    let app = TestApp::start();
    for body in [json!({"session_id": "s"}), json!({"session_id": "s", "hook_event_name": null})] {
        let answer = app.post_hook("event", &body);
        assert_eq!(
            (answer.status, answer.message().as_str()),
            (400, "\"hook_event_name\" is missing (hint: send the name of the event)")
        );
    }
    let answer = app.post_hook("event", &json!({"session_id": "s", "hook_event_name": ""}));
    assert_eq!(answer.status, 400);
}

#[test]
fn a_body_must_say_that_it_is_json() {
    let app = TestApp::start();
    let cases = [
        (None, 400),
        (Some("text/plain"), 400),
        (Some("application/x-www-form-urlencoded"), 400),
        (Some("multipart/form-data; boundary=x"), 400),
        (Some("application/jsonp"), 400),
        (Some("application/json"), 200),
        (Some("application/json; charset=utf-8"), 200),
        (Some("Application/JSON"), 200),
    ];
    for (kind, status) in cases {
        let mut request = app.request("POST", "/hook/stop");
        if let Some(kind) = kind {
            request = request.header(&format!("Content-Type: {kind}"));
        }
        let answer = request.body(br#"{"session_id":"s"}"#).send();
        assert_eq!(answer.status, status, "{kind:?}: {}", answer.body);
        if status == 400 {
            assert_eq!(answer.message(), "the Content-Type header must be application/json");
        }
    }
}

#[test]
fn a_body_may_be_neither_large_nor_deep_nor_other_than_utf_8() {
    let app = TestApp::start();
    let padded = |bytes: usize| {
        let frame = r#"{"session_id":"s","x":""}"#.len();
        format!(r#"{{"session_id":"s","x":"{}"}}"#, "x".repeat(bytes - frame)).into_bytes()
    };
    let nested = |levels: usize| {
        format!(r#"{{"session_id":"s","x":{}1{}}}"#, "[".repeat(levels), "]".repeat(levels)).into_bytes()
    };
    let most = 1024 * 1024;
    let cases = [
        ("exactly 1 MiB", padded(most), 200),
        ("a byte more", padded(most + 1), 413),
        ("2 MiB", padded(2 * most), 413),
        ("100 levels", nested(100), 200),
        ("128 levels", nested(127), 200),
        ("a level more", nested(128), 400),
        ("10 000 levels", nested(10_000), 400),
        ("500 000 levels", nested(500_000), 400),
        ("invalid UTF-8", b"{\"session_id\":\"\xff\xfe\"}".to_vec(), 400),
        ("an overlong form", b"{\"session_id\":\"\xc0\xaf\"}".to_vec(), 400),
        ("a byte order mark", b"\xef\xbb\xbf{\"session_id\":\"s\"}".to_vec(), 400),
        ("half a character", br#"{"session_id":"s","prompt":"\ud83d"}"#.to_vec(), 200),
        ("a huge number", format!(r#"{{"session_id":"s","n":{}}}"#, "9".repeat(10_000)).into_bytes(), 200),
    ];
    for (what, body, status) in cases {
        let request = app.request("POST", "/hook/notification").header("Content-Type: application/json");
        let answer = request.body(&body).send();
        assert_eq!(answer.status, status, "{what}: {}", answer.body);
        if status != 200 {
            assert!(answer.message().len() < 200, "{what}: {}", answer.body);
        }
    }
}

#[test]
fn a_chunked_body_is_joined_and_measured() {
    let app = TestApp::start();
    let chunked = |pieces: &[&[u8]]| {
        let mut body = Vec::new();
        for piece in pieces {
            body.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
            body.extend_from_slice(piece);
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(b"0\r\n\r\n");
        let mut request = app
            .request("POST", "/hook/stop")
            .header("Content-Type: application/json")
            .header("Transfer-Encoding: chunked")
            .header("Connection: close")
            .bytes();
        request.extend_from_slice(&body);
        crate::connections::send_bytes(app.address, &request)
    };
    assert_eq!(chunked(&[b"{\"session_id\"", b":", b"\"s\"}"]).status, 200);
    let piece = [b' '; 64 * 1024];
    assert_eq!(chunked(&[&piece[..]; 40]).status, 413);
}

#[test]
fn a_client_that_expects_100_continue_is_refused_at_once() {
    let app = TestApp::start();
    let request = app
        .request("POST", "/hook/stop")
        .header("Content-Type: application/json")
        .header("Content-Length: 2097152")
        .header("Expect: 100-continue");
    let answer = crate::connections::send_bytes(app.address, &request.header("Connection: close").bytes());
    assert_eq!(answer.status, 413);
}

#[test]
fn a_body_with_a_large_content_length_is_refused_at_once() {
    let app = TestApp::with_settings(|settings| settings.body_timeout = Duration::from_secs(600));
    let request =
        app.request("POST", "/hook/stop").header("Content-Type: application/json").header("Content-Length: 2097152");
    let mut stream = TcpStream::connect(app.address).unwrap();
    stream.set_read_timeout(Some(WAIT_TIMEOUT)).unwrap();
    stream.write_all(&request.bytes()).unwrap();
    assert_eq!(SseClient::from_connection(stream.try_clone().unwrap()).unwrap().head.status, 413);
    // The body is dropped, and the connection can be reused.
    stream.write_all(&vec![b' '; 2_097_152]).unwrap();
    stream.write_all(&app.request("GET", "/healthz").bytes()).unwrap();
    let mut told = Vec::new();
    wait_until(|| {
        let mut buffer = [0; 4096];
        let length = stream.read(&mut buffer).unwrap();
        told.extend_from_slice(&buffer[..length]);
        String::from_utf8_lossy(&told).contains("HTTP/1.1 200 OK").then_some(())
    });
}

#[test]
fn future_and_very_precise_times_are_accepted() {
    let app = TestApp::start();
    let cases = ["9999-12-31T23:59:59Z", "2025-12-31T10:30:00.123456789123Z"];
    for at in cases {
        app.send_event("stop", &json!({"session_id": "s", "timestamp": at}));
    }
    let events = app.get_json("/api/events");
    assert_eq!(events["items"][0]["at"], "2025-12-31T10:30:00.123456Z");
    let at: snell::Timestamp = events["items"][1]["at"].as_str().unwrap().parse().unwrap();
    assert!(at <= snell::Timestamp::now(), "what is yet to come counts as now");
    assert_eq!(app.get_json("/api/events?since=9999-12-31T23:59:59Z")["items"], json!([]));
}

#[test]
fn a_head_may_be_64_kib_long() {
    let app = TestApp::start();
    let with = |bytes: usize| {
        let request = app.request("GET", "/healthz").header("Connection: close");
        let rest = request.bytes().len() + "X: \r\n".len();
        request.header(&format!("X: {}", "x".repeat(bytes - rest))).bytes()
    };
    assert_eq!(crate::connections::send_bytes(app.address, &with(65_000)).status, 200);
    for bytes in [66_000, 90_000] {
        assert_eq!(crate::connections::send_bytes(app.address, &with(bytes)).status, 431, "{bytes}");
    }
}

#[test]
fn unknown_paths_and_methods_have_messages() {
    let app = TestApp::start();
    let cases = [
        ("GET", "/nothing", 404, None),
        ("POST", "/", 405, Some("GET,HEAD")),
        ("GET", "/hook/stop", 405, Some("POST")),
        ("PUT", "/hook/stop", 405, Some("POST")),
        ("OPTIONS", "/hook/stop", 405, Some("POST")),
        ("DELETE", "/api/agents/1", 405, Some("GET,HEAD")),
        ("POST", "/hook/nothing", 404, None),
        ("GET", "/api/agents/", 404, None),
        ("GET", "/API/agents", 404, None),
        ("GET", "/api/agents/17", 404, None),
        ("GET", "/api/agents/x", 400, None),
        ("GET", "/api/agents/%ff", 400, None),
        ("GET", "/api/agents/99999999999999999999", 400, None),
        ("GET", "/api/agents/17/turns", 404, None),
        ("GET", "/hook/../api/agents", 404, None),
    ];
    for (method, path, status, allow) in cases {
        let answer = app.request(method, path).send();
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.body);
        assert_eq!(answer.header("allow"), allow, "{method} {path}");
        answer.message();
    }
    let answer = app.request("POST", "/hook/subagent-stop").json("{}").send();
    assert_eq!(
        answer.message(),
        "there is nothing at this address (hint: send events without their own route to /hook/event)"
    );
}

#[test]
fn an_invalid_parameter_is_refused_by_name() {
    let app = TestApp::start();
    let cases = [
        ("/api/agents?limit=0", "\"limit\" must be a number from 1 to 500, not \"0\""),
        ("/api/agents?limit=", "\"limit\" must be a number from 1 to 500, not \"\""),
        (
            "/api/events?since=-2h",
            "\"since\" must be a time such as 2025-12-31T10:30:00Z or 2025-12-31 (UTC), or an age such as 2h, not \"-2h\"",
        ),
        ("/api/agents?limit=501", "\"limit\" must be a number from 1 to 500, not \"501\""),
        ("/api/agents?limit=many", "\"limit\" must be a number from 1 to 500, not \"many\""),
        ("/api/agents?limit=1&limit=2", "parameter \"limit\" appears twice (hint: send it once)"),
        (
            "/api/agents?colour=red",
            "unknown parameter \"colour\" (hint: known parameters: state, project_id, ended, limit, before)",
        ),
        (
            "/api/agents?state=busy",
            "\"state\" must be one of awaiting_input, processing, background, idle, ended, not \"busy\"",
        ),
        ("/api/agents?ended=1", "\"ended\" must be true or false, not \"1\""),
        ("/api/agents?before=x", "\"before\" must be the value of \"next\" of the previous page, not \"x\""),
        ("/api/agents?before=x_1", "\"before\" must be the value of \"next\" of the previous page, not \"x_1\""),
        ("/api/agents?project_id=0", "\"project_id\" must be a positive number, not \"0\""),
        ("/api/events?agent_id=%2b1", "\"agent_id\" must be a positive number, not \"+1\""),
        ("/api/events?decision=deny", "\"decision\" must be one of allow, ask, block, not \"deny\""),
        (
            "/api/guard?decision=block",
            "\"decision\" must be one of deny, ask, allow, would_deny, would_ask, not \"block\"",
        ),
        (
            "/api/events?since=soon",
            "\"since\" must be a time such as 2025-12-31T10:30:00Z or 2025-12-31 (UTC), or an age such as 2h, not \"soon\"",
        ),
        (
            "/api/requests?status=closed",
            "\"status\" must be one of open, answered, expired, withdrawn, all, not \"closed\"",
        ),
        ("/api/hooks?before=1", "unknown parameter \"before\" (hint: known parameters: since, limit)"),
        ("/hook/status?x=1", "unknown parameter \"x\" (hint: this address has no parameters)"),
        ("/api/agents/1?x=1", "unknown parameter \"x\" (hint: this address has no parameters)"),
        (
            "/api/events/stream?types=turn_created,nothing",
            "unknown type of change in \"types\" (hint: known types: turn_created, turn_updated, state_changed, \
             session_created, session_ended, card_refresh, hook_run, guard_verdict, request_opened, request_closed)",
        ),
        ("/api/events/stream?agent_id=x", "\"agent_id\" must be a positive number, not \"x\""),
        ("/api/events/stream?last_event_id=x", "Last-Event-ID must be the id of an event of this stream"),
    ];
    for (path, message) in cases {
        let answer = app.get(path);
        assert_eq!((answer.status, answer.message().as_str()), (400, message), "{path}");
    }
    for seen in ["x", "-1", "1.5", "99999999999999999999"] {
        assert_eq!(app.open_stream_after("", Some(seen)).head.status, 400, "{seen}");
    }
}
