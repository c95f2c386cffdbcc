//! The exported file of an agent.

use serde_json::json;
use snell_test_support::http::HttpResponse;

use super::{create_waiting_agent, start_with_stopped_clock};
use crate::support::TestApp;

fn get_export(app: &TestApp, id: i64) -> HttpResponse {
    let path = format!("/agents/{id}/export.html");
    let answer = app.request("GET", &path).without_chunking().send();
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer
}

#[test]
fn the_file_is_self_contained_and_runs_nothing() {
    let app = start_with_stopped_clock();
    let id = create_waiting_agent(&app, "s1", "Shall I?");
    let file = get_export(&app, id);
    let named = file.header("content-disposition").unwrap();
    assert_eq!(named, format!("attachment; filename=\"snell-agent-{id}.html\""));
    let body = &file.body;
    for other in ["<script", "<link", "<img", " src=", "href=\"/assets", "@import", "url(", "<form"] {
        assert!(!body.contains(other), "{other}");
    }
    assert!(body.starts_with("<!DOCTYPE html>") && body.ends_with("</ol></main></body></html>"), "{body}");
    assert_eq!(body.matches("<style>").count(), 1);
    let in_file = "default-src 'none'; style-src 'sha256-";
    assert!(body.contains(&format!("content=\"{in_file}")), "{body}");
    let policy = file.header("content-security-policy").unwrap();
    assert!(policy.starts_with(in_file) && policy.ends_with("; frame-ancestors 'none'; sandbox"), "{policy}");
    for part in ["SessionStart", "some-rule", "Shall I?", "snell.toml:4", "needs you", "Exported by Snell"] {
        assert!(body.contains(part), "{part}");
    }
}

#[test]
fn a_long_file_has_everything_in_order() {
    let app = TestApp::start();
    app.begin_session("s1");
    for number in 0..260 {
        app.send_event("user-prompt-submit", &json!({"session_id": "s1", "prompt": format!("prompt-{number}.")}));
        app.send_event("stop", &json!({"session_id": "s1", "last_assistant_message": format!("answer-{number}.")}));
    }
    let body = get_export(&app, 1).body;
    let timeline = &body[body.find("<ol class=\"timeline\">").unwrap()..];
    let mut reached = 0;
    for number in 0..260 {
        for word in [format!("prompt-{number}."), format!("answer-{number}.")] {
            let found: Vec<_> = timeline.match_indices(&word).map(|(at, _)| at).collect();
            assert_eq!(found.len(), 1, "{word}");
            assert!(found[0] > reached, "{word} comes in its turn");
            reached = found[0];
        }
    }
}

#[test]
fn a_file_beyond_the_limit_is_cut_with_a_notice() {
    let app = TestApp::start();
    app.begin_session("s1");
    // Each of these characters is escaped as five.
    let long = "&".repeat(60_000);
    for number in 0..130 {
        app.send_event("user-prompt-submit", &json!({"session_id": "s1", "prompt": format!("{number} {long}")}));
    }
    let body = get_export(&app, 1).body;
    assert!(body.len() < 33 * 1024 * 1024, "{}", body.len());
    assert!(body.contains("This file is limited to 32 MiB"));
    assert!(body.ends_with("</ol></main></body></html>"));
}

#[test]
fn hostile_text_in_a_session_is_shown_and_not_run() {
    let app = start_with_stopped_clock();
    let hostile = "</style></ol><script>alert(1)</script><img src=x onerror=alert(1)>\"'>";
    let id = create_waiting_agent(&app, "s1", hostile);
    let shown = "&lt;script&gt;alert(1)&lt;/script&gt;";
    for path in ["/", "/agents/1", "/agents/1/export.html", "/fragments/needs", "/fragments/agents/1/timeline"] {
        let path = path.replace("agents/1", &format!("agents/{id}"));
        let body = app.request("GET", &path).without_chunking().send().body;
        assert!(body.contains(shown), "{path}: {body}");
        assert!(!body.contains("<script>alert") && !body.contains("<img"), "{path}: {body}");
    }
}

#[test]
fn times_in_a_file_are_absolute() {
    let app = start_with_stopped_clock();
    let id = create_waiting_agent(&app, "s1", "Shall I?");
    let body = get_export(&app, id).body;
    let times: Vec<_> = body.split("last active").skip(1).map(|rest| rest.split("</time>").next().unwrap()).collect();
    assert_eq!(times.len(), 2, "of the agent and of its session: {body}");
    assert!(times.iter().all(|time| time.ends_with(">2026-03-02 12:00:00 UTC")), "{times:?}");
    for passing in ["data-form=\"ago\"", "data-form=\"for\"", " ago<"] {
        assert!(!body.contains(passing), "{passing} in {body}");
    }
}
