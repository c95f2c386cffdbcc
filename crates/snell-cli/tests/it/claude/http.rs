//! Hooks that are asked over HTTP, against a real server on the loopback interface.

use serde_json::{Value, json};
use snell_test_support::http::find_unused_address;
use snell_test_support::process::{CommandOutput, Signal, send_signal, spawn_with_stdin};
use snell_test_support::stub_server::{StubReply, StubRequest, StubServer};
use snell_test_support::wait::wait_until;

use super::{build_command_hook, build_specific_output, run_bash_call};
use crate::support::CliSandbox;

/// A server that replies to hooks.
struct HttpHookServer(StubServer);

impl HttpHookServer {
    fn with_answer(status: u16, body: &str) -> Self {
        Self(StubServer::with_reply(StubReply::answer(status, body)))
    }

    /// A server that keeps the connection and says nothing.
    fn silent() -> Self {
        Self(StubServer::with_reply(StubReply::Silent))
    }

    fn url(&self) -> String {
        format!("{}/hook?a=1", self.0.url())
    }

    fn next_request(&self) -> StubRequest {
        self.0.next_request()
    }

    /// Whether there is a request that was not looked at yet.
    fn has_request(&self) -> bool {
        self.0.take_request().is_some()
    }
}

fn create_http_project(handler: &Value) -> CliSandbox {
    super::create_project("PreToolUse", &json!([handler]))
}

fn build_http_hook(url: &str) -> Value {
    json!({"type": "http", "url": url})
}

#[test]
fn the_event_is_posted_as_json() {
    let server = HttpHookServer::with_answer(200, "");
    let ran = run_bash_call(&create_http_project(&build_http_hook(&server.url())));
    assert_eq!((ran.code, ran.statuses()), (0, vec!["ok".to_owned()]));
    let request = server.next_request();
    assert_eq!(request.line, "POST /hook?a=1 HTTP/1.1");
    assert_eq!(request.headers["content-type"], "application/json");
    let body = request.json();
    assert_eq!(body["hook_event_name"], "PreToolUse");
    assert_eq!(body["tool_input"], json!({"command": "ls"}));
    assert_eq!(body["session_id"], "s1");
}

#[test]
fn headers_name_only_variables_that_are_listed() {
    let server = HttpHookServer::with_answer(200, "");
    let mut handler = build_http_hook(&server.url());
    handler["headers"] =
        json!({"Authorization": "Bearer $TOKEN", "X-Both": "${TOKEN}/$OTHER/$UNSET.", "X-Plain": "5$"});
    handler["allowedEnvVars"] = json!(["TOKEN", "UNSET"]);
    let sandbox = create_http_project(&handler).env("TOKEN", "t0ken").env("OTHER", "secret");
    run_bash_call(&sandbox);
    let request = server.next_request();
    assert_eq!(request.headers["authorization"], "Bearer t0ken");
    assert_eq!(request.headers["x-both"], "t0ken//.");
    assert_eq!(request.headers["x-plain"], "5$");
}

#[test]
fn settings_may_narrow_the_variables_that_hooks_name() {
    let server = HttpHookServer::with_answer(200, "");
    let mut handler = build_http_hook(&server.url());
    handler["headers"] = json!({"X-A": "a$A", "X-B": "b$B"});
    handler["allowedEnvVars"] = json!(["A", "B"]);
    let settings = json!({"httpHookAllowedEnvVars": ["B"], "hooks": {"PreToolUse": [{"hooks": [handler]}]}});
    let sandbox = CliSandbox::new().file(".claude/settings.json", &settings.to_string()).env("A", "1").env("B", "2");
    run_bash_call(&sandbox);
    let request = server.next_request();
    assert_eq!((request.headers["x-a"].as_str(), request.headers["x-b"].as_str()), ("a", "b2"));
}

/// What comes of a tool call when the server answers so.
fn run_with_http_answer(status: u16, body: &str) -> CommandOutput {
    run_bash_call(&create_http_project(&build_http_hook(&HttpHookServer::with_answer(status, body).url())))
}

#[test]
fn the_body_decides_and_a_status_never_blocks() {
    let deny =
        build_specific_output("PreToolUse", json!({"permissionDecision": "deny", "permissionDecisionReason": "no"}))
            .to_string();
    let marked = format!("\u{feff}{deny}");
    let cases = [
        (200, "", "ok", 0),
        (204, "", "ok", 0),
        (200, "{}", "ok", 0),
        (200, deny.as_str(), "blocked", 2),
        (201, deny.as_str(), "blocked", 2),
        (200, marked.as_str(), "blocked", 2),
        // Anything else is the server's own failure: the user is told, and the action proceeds.
        (200, "fine", "failed", 0),
        (200, "{\"broken", "failed", 0),
        (302, deny.as_str(), "failed", 0),
        (400, deny.as_str(), "failed", 0),
        (403, "", "failed", 0),
        (500, "", "failed", 0),
        (500, deny.as_str(), "failed", 0),
    ];
    for (status, body, expected, code) in cases {
        let ran = run_with_http_answer(status, body);
        assert_eq!(ran.statuses(), [expected], "{status} {body}");
        assert_eq!(ran.code, code, "{status} {body}");
        assert_eq!(ran.messages().len(), usize::from(expected == "failed"), "{status} {body}");
        assert_eq!(ran.reason(), if code == 2 { "no" } else { "" }, "{status} {body}");
    }
}

#[test]
fn a_body_that_is_not_json_is_told_to_be_no_answer() {
    for body in ["fine", "[]", "<html>", "{\"decision\": \"blo"] {
        let ran = run_with_http_answer(200, body);
        assert_eq!((ran.code, ran.statuses()), (0, vec!["failed".to_owned()]), "{body}");
        let messages = ran.messages();
        assert!(
            messages.len() == 1 && messages[0].contains("its response body is not a JSON object"),
            "{body}: {messages:?}"
        );
    }
}

#[test]
fn the_json_of_a_body_means_what_it_means_on_stdout() {
    let ran = run_with_http_answer(
        200,
        &json!({"systemMessage": "m", "hookSpecificOutput": {
            "hookEventName": "PreToolUse", "updatedInput": {"command": "x"}, "additionalContext": "c"}})
        .to_string(),
    );
    assert_eq!((ran.messages(), ran.context()), (vec!["m".to_owned()], vec!["c".to_owned()]));
    assert_eq!(ran.json()["tool_input"], json!({"command": "x"}));
}

#[test]
fn a_refused_connection_is_an_error_that_blocks_nothing() {
    let address = find_unused_address();
    let ran = run_bash_call(&create_http_project(&build_http_hook(&format!("http://{address}/"))));
    assert_eq!((ran.code, ran.statuses()), (0, vec!["failed".to_owned()]));
    assert_eq!(ran.messages().len(), 1);
}

#[test]
fn a_server_that_says_nothing_ends_at_the_timeout() {
    let server = HttpHookServer::silent();
    let mut handler = build_http_hook(&server.url());
    handler["timeout"] = json!(1);
    let ran = run_bash_call(&create_http_project(&handler));
    server.next_request();
    assert_eq!((ran.code, ran.statuses()), (0, vec!["timed_out".to_owned()]));
    assert_eq!(ran.hooks()[0]["timed_out"], true);
}

#[test]
fn being_told_to_end_does_not_wait_for_an_answer() {
    let server = HttpHookServer::silent();
    // Were the answer waited for, this would take the ten minutes that are the default.
    let sandbox = create_http_project(&build_http_hook(&server.url()));
    let mut snell = spawn_with_stdin(&mut sandbox.command(&["run", "PreToolUse"]), r#"{"tool_name": "Bash"}"#);
    server.next_request();
    send_signal(snell.id(), Signal::TERM);
    let ended = wait_until(|| snell.try_wait().unwrap());
    assert_eq!(ended.code(), Some(1));
}

#[test]
fn http_hooks_and_commands_run_together() {
    let server = HttpHookServer::silent();
    let mut handler = build_http_hook(&server.url());
    handler["timeout"] = json!(1);
    let ran = run_bash_call(&super::create_project(
        "PreToolUse",
        &json!([handler, build_command_hook("echo no >&2; exit 2")]),
    ));
    assert_eq!(ran.statuses(), ["timed_out", "blocked"]);
    assert_eq!(ran.reason(), "no");
}

#[test]
fn only_allowed_addresses_are_asked() {
    let server = HttpHookServer::with_answer(200, "");
    let port = server.0.address.port();
    let cases = [
        (json!([format!("http://127.0.0.1:{port}/*")]), true),
        (json!(["https://other.example/*", "http://127.0.0.1:*"]), true),
        (json!(["*"]), true),
        (json!(["https://other.example/*"]), false),
        (json!([format!("http://127.0.0.1:{port}/")]), false),
        (json!([]), false),
        // A mistake in the list must not lift the restriction.
        (json!(["https://other.example/*", 7]), false),
        (json!([7, null]), false),
        (json!("https://other.example/*"), false),
        (json!([7, "http://127.0.0.1:*"]), true),
    ];
    for (allowed, asked) in cases {
        let settings = json!({"allowedHttpHookUrls": allowed, "hooks": {"PreToolUse": [{"hooks": [build_http_hook(&server.url())]}]}});
        let sandbox = CliSandbox::new().file(".claude/settings.json", &settings.to_string());
        let ran = run_bash_call(&sandbox);
        assert_eq!(ran.statuses(), [if asked { "ok" } else { "skipped" }], "{allowed}");
        assert_eq!(server.has_request(), asked, "{allowed}");
        let why = ran.hooks()[0]["why"].as_str().unwrap_or_default().to_owned();
        assert_eq!(why.contains("allowedHttpHookUrls"), !asked, "{allowed}: {why}");
    }
}

#[test]
fn http_hooks_are_not_allowed_where_a_session_begins() {
    for event in ["SessionStart", "Setup"] {
        let server = HttpHookServer::with_answer(200, "");
        let sandbox = super::create_project(
            event,
            &json!([build_http_hook(&server.url()), build_command_hook("echo ran > log")]),
        );
        let ran = sandbox.run_event(event, &json!({"source": "startup"}));
        let warnings = ran.warnings();
        assert!(warnings.len() == 1 && warnings[0].contains("error: http hooks"), "{event}: {warnings:?}");
        assert_eq!(ran.statuses(), ["ok"], "{event}");
        assert!(!server.has_request(), "{event}");
    }
}

#[test]
fn an_if_counts_for_http_hooks_too() {
    let server = HttpHookServer::with_answer(200, "");
    let mut handler = build_http_hook(&server.url());
    handler["if"] = json!("Bash(git *)");
    let ran = run_bash_call(&create_http_project(&handler));
    assert!(ran.hooks().is_empty() && !server.has_request());
}

#[test]
fn an_address_that_stands_in_several_files_is_asked_once() {
    let server = HttpHookServer::with_answer(200, "");
    let settings = json!({"hooks": {"PreToolUse": [{"hooks": [build_http_hook(&server.url())]}]}}).to_string();
    let sandbox =
        CliSandbox::new().file(".claude/settings.json", &settings).file(".claude/settings.local.json", &settings);
    assert_eq!(run_bash_call(&sandbox).statuses(), ["ok", "skipped"]);
    server.next_request();
    assert!(!server.has_request());
}
