//! The server answers any request and never fails.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value};

use crate::support::TestApp;

/// The number of requests: enough to find faults, and few enough to be fast.
fn with_server<S: Strategy>(strategy: S, check: impl Fn(&TestApp, S::Value) -> Result<(), TestCaseError>) {
    let app = TestApp::start();
    let config = Config { cases: 150, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    TestRunner::new(config).run(&strategy, |input| check(&app, input)).unwrap();
    // The server still runs.
    app.begin_session("after");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "(/tmp|\\.\\.|~|%1|\u{0}|[A-Za-z]{1,8})".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// An object with known names and arbitrary values.
fn any_body() -> impl Strategy<Value = Value> {
    let names = prop_oneof![
        Just("session_id"),
        Just("cwd"),
        Just("working_directory"),
        Just("transcript_path"),
        Just("prompt"),
        Just("message"),
        Just("tool_name"),
        Just("tool_input"),
        Just("tool_response"),
        Just("tool_use_id"),
        Just("tmux_pane"),
        Just("tmux_session"),
        Just("headspace_session_id"),
        Just("pid"),
        Just("host"),
        Just("timestamp"),
        Just("event_id"),
        Just("hook_event_name"),
        Just("notification_type"),
        Just("agent_id"),
        Just("model"),
        Just("snell"),
        Just("__proto__"),
        Just("$serde_json::private::Number"),
    ];
    let texts = any::<String>().prop_map(Value::from);
    let member = (names, prop_oneof![3 => texts, 1 => any_json()]);
    (prop::collection::vec(member, 0..10), any::<bool>()).prop_map(|(members, in_session)| {
        let mut body: Map<String, Value> = members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        if in_session {
            body.insert("session_id".into(), "s".into());
        }
        Value::Object(body)
    })
}

fn any_route() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "session-start",
        "session-end",
        "user-prompt-submit",
        "stop",
        "notification",
        "pre-tool-use",
        "post-tool-use",
        "permission-request",
        "event",
    ])
}

#[test]
fn any_object_is_accepted_or_refused_with_a_reason() {
    with_server((any_route(), any_body()), |app, (route, body)| {
        let answer = app.post_hook(route, &body);
        prop_assert!([200, 400, 422].contains(&answer.status), "{} {}: {}", route, body, answer.body);
        let told = answer.json();
        prop_assert_eq!(&told["status"] == "ok", answer.status == 200);
        Ok(())
    });
}

#[test]
fn any_bytes_are_accepted_or_refused_with_a_reason() {
    let bytes = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..300),
        any_json().prop_map(|value| value.to_string().into_bytes()),
        "[\\[\\]{}\",:0-9a-z\\\\u \\-.]{0,80}".prop_map(String::into_bytes),
    ];
    with_server((any_route(), bytes), |app, (route, bytes)| {
        let request = app.request("POST", &format!("/hook/{route}"));
        let answer = request.header("Content-Type: application/json").body(&bytes).send();
        prop_assert!([200, 400].contains(&answer.status), "{}", answer.body);
        answer.json();
        Ok(())
    });
}

#[test]
fn any_query_is_answered_or_refused_with_a_reason() {
    let paths = prop::sample::select(vec![
        "/api/agents",
        "/api/agents/1",
        "/api/agents/1/turns",
        "/api/events",
        "/api/hooks",
        "/api/guard",
        "/api/usage",
        "/hook/status",
    ]);
    let names = "(limit|before|state|project_id|agent_id|ended|since|until|event|tool|decision|session_id|rule|by|project|[a-z]{1,3})";
    let values = "([0-9]{1,20}|-1|true|[!-~&&[^#&+%]]{0,12}|%[0-9a-f]{2}|2026-03-01T00:00:00Z_[0-9]{1,19})";
    let query = prop::collection::vec((names, values), 0..4);
    with_server((paths, query), |app, (path, pairs)| {
        let pairs: Vec<_> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let answer = app.get(&format!("{path}?{}", pairs.join("&")));
        prop_assert!([200, 400, 404].contains(&answer.status), "{:?}: {}", pairs, answer.body);
        // Invalid addresses are refused before they reach the routes.
        if !answer.body.is_empty() {
            answer.json();
        }
        Ok(())
    });
}

#[test]
fn any_path_and_any_header_are_answered() {
    let parts = ("/[!-~&&[^#]]{0,40}", "[ -~]{0,40}", "[A-Z]{1,8}");
    with_server(parts, |app, (path, header, method)| {
        let answer = app
            .request(&method, &path)
            .header(&format!("Last-Event-ID: {header}"))
            .header(&format!("Origin: {header}"))
            .header(&format!("Authorization: {header}"))
            .send();
        prop_assert!(answer.status < 500, "{} {}: {}", method, path, answer.body);
        Ok(())
    });
}
