//! Events over HTTP.

use serde_json::{Value, json};

use crate::support::TestApp;

#[test]
fn a_session_is_recorded_from_start_to_end() {
    let app = TestApp::start();
    let steps = [
        ("session-start", json!({"source": "startup"}), "idle", true),
        ("user-prompt-submit", json!({"prompt": "build it"}), "processing", true),
        ("pre-tool-use", json!({"tool_name": "Bash", "tool_input": {"command": "make"}}), "processing", false),
        ("post-tool-use", json!({"tool_name": "Bash", "tool_response": "done"}), "processing", false),
        ("permission-request", json!({"tool_name": "Bash"}), "awaiting_input", true),
        (
            "notification",
            json!({"notification_type": "permission_prompt", "message": "may I?"}),
            "awaiting_input",
            false,
        ),
        ("stop", json!({"last_assistant_message": "It is built.", "stop_hook_active": false}), "idle", true),
        ("session-end", json!({"reason": "logout"}), "ended", true),
    ];
    for (number, (route, mut body, state, changed)) in steps.into_iter().enumerate() {
        body["session_id"] = "s1".into();
        body["cwd"] = app.data_dir().to_str().unwrap().into();
        let told = app.send_event(route, &body);
        assert_eq!(told["status"], "ok", "{route}");
        assert_eq!(told["agent_id"], 1, "{route}");
        assert_eq!(told["project_id"], 1, "{route}");
        assert_eq!((&told["state"], &told["state_changed"]), (&state.into(), &changed.into()), "{route}");
        assert_eq!(told["is_new_agent"], number == 0, "{route}");
        assert_eq!(told["duplicate"], false, "{route}");
    }
    let agents = app.get_json("/api/agents?ended=true");
    assert_eq!(agents["items"][0]["confidence"], "high");
    assert_eq!(agents["items"][0]["end_reason"], "logout");
}

#[test]
fn the_response_has_the_correlation_method() {
    let app = TestApp::start();
    assert_eq!(app.begin_session("s1")["correlation_method"], "created");
    let told = app.send_event("stop", &json!({"session_id": "s1"}));
    assert_eq!(told["correlation_method"], "session_id");
    let app = app.restart();
    let told = app.send_event("stop", &json!({"session_id": "s1"}));
    assert_eq!(told["correlation_method"], "db_session_id");
}

#[test]
fn a_waiting_session_is_shown_even_if_a_later_one_replaced_it() {
    let app = TestApp::start();
    let cwd = app.data_dir().join("twins");
    let tell = |session: &str, route: &str, mut body: Value| {
        body["session_id"] = session.into();
        body["cwd"] = json!(cwd);
        app.send_event(route, &body)
    };
    let first = tell("one", "session-start", json!({}))["agent_id"].clone();
    tell("one", "user-prompt-submit", json!({"prompt": "Paint the fence."}));
    tell("one", "stop", json!({}));
    let told = tell("two", "session-start", json!({}));
    assert_eq!(told["correlation_method"], "working_directory");
    tell("two", "user-prompt-submit", json!({"prompt": "Mow the lawn."}));
    let asks = tell("one", "permission-request", json!({"tool_name": "Bash"}));
    assert_eq!((&asks["state"], &asks["is_new_agent"]), (&"awaiting_input".into(), &true.into()));
    let told = tell("one", "notification", json!({"notification_type": "permission_prompt", "message": "may I?"}));
    assert_eq!((&told["agent_id"], &told["state"]), (&asks["agent_id"], &"awaiting_input".into()));
    assert_eq!(app.get_json(&format!("/api/agents/{first}"))["state"], "processing");
    let page = app.get("/").body;
    let (_, needs) = page.split_once("id=\"needs-title\"").unwrap();
    let (needs, _) = needs.split_once("</section>").unwrap();
    assert!(needs.contains(&format!("href=\"/agents/{}\"", asks["agent_id"])), "{needs}");
}

#[test]
fn a_session_without_a_directory_keeps_its_project() {
    let app = TestApp::start();
    let begin = |session: &str| app.send_event("session-start", &json!({"session_id": session, "cwd": app.data_dir()}));
    let begun = begin("one");
    begin("two");
    app.send_event("user-prompt-submit", &json!({"session_id": "two", "prompt": "Mow the lawn."}));
    let told = app.send_event("user-prompt-submit", &json!({"session_id": "one", "prompt": "Paint the fence."}));
    assert_eq!((&told["is_new_agent"], &told["project_id"]), (&true.into(), &begun["project_id"]));
}

#[test]
fn all_fields_of_an_event_are_stored() {
    let app = TestApp::start();
    let body = json!({
        "session_id": "s1", "working_directory": app.data_dir(), "__proto__": {"x": [1, 2]}, "unknown": null,
        "tmux_pane": "%3", "tmux_session": "work", "headspace_session_id": "h1", "host": "elsewhere", "pid": 4711,
        "nul": "a\u{0}b", "number": 12345678901234567890123_i128.to_string(),
    });
    app.send_event("session-start", &body);
    let kept = &app.get_json("/api/events")["items"][0];
    assert_eq!(kept["payload"], body);
    assert_eq!(kept["event"], "SessionStart");
    let agent = &app.get_json("/api/agents/1");
    assert_eq!(agent["tmux_pane"], "%3");
    assert_eq!(agent["tmux_session"], "work");
    assert_eq!(agent["host"], "elsewhere");
    assert_eq!(agent["pid"], 4711);
    assert_eq!(agent["project_path"], app.data_dir().to_str().unwrap());
}

#[test]
fn an_event_without_its_own_route_is_named_in_the_body() {
    let app = TestApp::start();
    let cases = [
        ("SubagentStop", "SubagentStop"),
        ("BeforeTool", "PreToolUse"),
        ("session-start", "SessionStart"),
        ("SomethingNew", "SomethingNew"),
        ("  PreCompact ", "PreCompact"),
    ];
    for (told, kept) in cases {
        app.send_event("event", &json!({"session_id": "s1", "hook_event_name": told}));
        assert_eq!(app.get_json("/api/events?limit=1")["items"][0]["event"], kept, "{told}");
    }
    // On other routes, the body need not name the event.
    app.send_event("stop", &json!({"session_id": "s1", "hook_event_name": "SubagentStop"}));
    assert_eq!(app.get_json("/api/events?limit=1")["items"][0]["event"], "Stop");
}

#[test]
fn the_same_event_id_twice_is_stored_once() {
    let app = TestApp::start();
    let body = json!({"session_id": "s1", "prompt": "once", "event_id": "e-1"});
    assert_eq!(app.send_event("user-prompt-submit", &body)["duplicate"], false);
    assert_eq!(app.send_event("user-prompt-submit", &body)["duplicate"], true);
    let app = app.restart();
    assert_eq!(app.send_event("user-prompt-submit", &body)["duplicate"], true);
    assert_eq!(app.get_json("/api/events")["items"].as_array().unwrap().len(), 1);
}

#[test]
fn events_have_the_time_of_their_sender_unless_it_is_in_the_future() {
    let app = TestApp::with_settings(|settings| settings.now = Some("2026-03-01T12:00:00Z".parse().unwrap()));
    let cases = [
        (json!("2026-03-01T11:00:00+00:00"), "2026-03-01T11:00:00Z"),
        (json!("2026-03-01T11:30:00+02:00"), "2026-03-01T09:30:00Z"),
        (json!("2099-01-01T00:00:00Z"), "2026-03-01T12:00:00Z"),
        (Value::Null, "2026-03-01T12:00:00Z"),
    ];
    for (timestamp, at) in cases {
        app.send_event("notification", &json!({"session_id": "s1", "timestamp": timestamp}));
        assert_eq!(app.get_json("/api/events?limit=1")["items"][0]["at"], at, "{timestamp}");
    }
}

#[test]
fn a_late_event_does_not_override_newer_state() {
    let app = TestApp::with_settings(|settings| settings.now = Some("2026-03-01T12:00:00Z".parse().unwrap()));
    app.send_event("user-prompt-submit", &json!({"session_id": "s1", "prompt": "go"}));
    let late = json!({"session_id": "s1", "timestamp": "2026-03-01T11:59:00Z"});
    assert_eq!(app.send_event("stop", &late)["state"], "processing");
    assert_eq!(app.send_event("stop", &json!({"session_id": "s1"}))["state"], "idle");
}

#[test]
fn data_of_another_snell_is_removed_from_the_payload() {
    let app = TestApp::start();
    let judgement = json!({
        "decision": "block", "reason": "not today", "took_us": 1500,
        "runs": [{"contract": "snell", "source": "snell.toml", "line": 3, "command": "./guard.sh", "status": "blocked",
            "duration_us": 1400}],
        "guard": [{"decision": "deny", "rule": "rm-root", "tier": "catastrophic", "reason": "no", "advice": null}],
    });
    let body = json!({
        "session_id": "s1", "tool_name": "Bash", "tool_input": {"command": "rm -rf /"},
        "snell": {"sender": {"product": "claude", "role": "worker", "host": "far"}, "judgement": judgement},
    });
    app.send_event("pre-tool-use", &body);
    let event = &app.get_json("/api/events?decision=block")["items"][0];
    assert_eq!(event["reason"], "not today");
    assert_eq!(event["payload"].get("snell"), None);
    assert_eq!(app.get_json("/api/agents/1")["product"], "claude");
    assert_eq!(app.get_json("/api/agents/1")["host"], "far");
    let hook = &app.get_json("/api/hooks")["items"][0];
    assert_eq!((&hook["runs"], &hook["source"], &hook["line"]), (&1.into(), &"snell.toml".into(), &3.into()));
    assert_eq!(app.get_json("/api/guard?rule=rm-root")["items"][0]["decision"], "deny");
}

#[test]
fn invalid_data_of_another_snell_is_ignored() {
    let app = TestApp::start();
    for own in [json!(7), json!({"sender": 7}), json!({"judgement": {"runs": 1}}), json!({"sender": null})] {
        app.send_event("pre-tool-use", &json!({"session_id": "s1", "tool_name": "Bash", "snell": own}));
    }
    assert_eq!(app.get_json("/api/events")["items"].as_array().unwrap().len(), 4);
}

#[test]
fn secrets_are_masked_before_anything_is_stored() {
    let app = TestApp::start();
    app.send_event(
        "user-prompt-submit",
        &json!({"session_id": "s1", "prompt": "use ghp_0123456789abcdefghijABCDEFGHIJ012345"}),
    );
    let text = app.get("/api/events").body + &app.get("/api/agents/1/turns").body;
    assert!(!text.contains("ghp_0123456789"), "{text}");
    assert!(text.contains("[masked"), "{text}");
}

#[test]
fn many_first_events_of_one_session_make_one_agent() {
    let app = TestApp::start();
    std::thread::scope(|scope| {
        for client in 0..16 {
            let app = &app;
            scope.spawn(move || {
                for session in 0..4 {
                    let session = format!("s{session}");
                    let cwd = app.data_dir().join(&session);
                    let body = json!({"session_id": session, "cwd": cwd, "prompt": format!("{client}")});
                    app.send_event("user-prompt-submit", &body);
                }
            });
        }
    });
    assert_eq!(app.get_json("/api/agents")["items"].as_array().unwrap().len(), 4);
    assert_eq!(app.get_json("/api/events?limit=500")["items"].as_array().unwrap().len(), 64);
}

#[test]
fn a_disabled_receiver_refuses_events_and_shows_everything() {
    let app = TestApp::with_settings(|settings| settings.enabled = false);
    let answer = app.post_hook("stop", &json!({"session_id": "s1"}));
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("60")));
    assert_eq!(
        answer.message(),
        "this server does not accept events (hint: set enabled = true in [server] of snell.toml and restart the server)"
    );
    assert_eq!(app.get_json("/hook/status")["enabled"], false);
    assert_eq!(app.get_json("/api/agents")["items"], json!([]));
}
