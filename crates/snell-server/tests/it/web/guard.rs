//! The view of the guard: verdicts by rule, over time, and with their calls.

use serde_json::json;

use super::{get_page, slice_between, start_with_stopped_clock};
use crate::support::TestApp;

fn send_verdict(app: &TestApp, at: &str, session: &str, decision: &str, rule: &str, reason: &str) {
    let (decision, would) = match decision.strip_prefix("would_") {
        Some(would) => ("allow", Some(would)),
        None => (decision, None),
    };
    let tier = if rule.starts_with("git") { "destructive" } else { "secret" };
    let verdict = json!({"decision": decision, "would": would, "rule": rule, "tier": tier, "reason": reason, "advice": "ask first"});
    app.send_event(
        "pre-tool-use",
        &json!({"session_id": session, "cwd": app.data_dir().join(session), "timestamp": at, "tool_name": "Bash",
            "tool_input": {"command": format!("do {rule}")},
            "snell": {"judgement": {"took_us": 1, "guard": [verdict]}}}),
    );
}

fn create_judged_app() -> TestApp {
    let app = start_with_stopped_clock();
    send_verdict(&app, "2026-02-25T10:00:00Z", "s1", "deny", "git.force-push", "it overwrites what others did");
    send_verdict(&app, "2026-03-02T10:00:00Z", "s1", "deny", "git.force-push", "it overwrites what others did");
    send_verdict(&app, "2026-03-02T11:00:00Z", "s2", "ask", "secret.read", "it reads a key");
    send_verdict(&app, "2026-03-02T11:30:00Z", "s2", "would_deny", "git.branch", "it deletes a branch");
    app
}

/// The numbers of the verdicts that are listed.
fn list_verdict_ids(body: &str) -> Vec<i64> {
    let rows = body.split("<li id=\"verdict-").skip(1);
    rows.map(|row| row.split('"').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn each_verdict_is_shown_with_its_reason_and_its_call() {
    let app = create_judged_app();
    let body = get_page(&app, "/guard").body;
    assert_eq!(list_verdict_ids(&body), [4, 3, 2, 1]);
    let row = slice_between(&body, "<li id=\"verdict-2\"", "</li>");
    for part in [
        "✕ blocked",
        "<code>git.force-push</code>",
        "destructive",
        "it overwrites what others did",
        "ask first",
        "<strong>Bash</strong> do git.force-push",
        "<a href=\"/agents/1\">#1</a>",
        "href=\"/logging/2\"",
    ] {
        assert!(row.contains(part), "{part} in {row}");
    }
    let watched = slice_between(&body, "<li id=\"verdict-4\"", "</li>");
    assert!(watched.contains("<strong class=\"watched\">◌ would be blocked</strong>"), "{watched}");
    assert!(watched.contains(">it deletes a branch<"), "{watched}");
}

#[test]
fn verdicts_are_counted_by_rule_and_over_time() {
    let app = create_judged_app();
    let body = get_page(&app, "/guard").body;
    let rule = slice_between(&body, "<a href=\"/guard?rule=git.force-push\">", "</tr>");
    assert!(rule.contains("data-label=\"blocked\"><strong class=\"bad\">2<"), "{rule}");
    assert!(rule.contains("2 h ago"), "{rule}");
    let branch = slice_between(&body, "<a href=\"/guard?rule=git.branch\">", "</tr>");
    assert!(branch.contains("data-label=\"would be blocked\"><strong class=\"watched\">1<"), "{branch}");
    let chart = slice_between(&body, "<svg", "</svg>");
    assert!(chart.contains("Total: 2 blocked, 1 asked, 1 would be blocked."), "{chart}");
    assert!(chart.contains("2026-02-25: 1 blocked"), "{chart}");
    let day = get_page(&app, "/guard?period=day").body;
    let chart = slice_between(&day, "<svg", "</svg>");
    assert!(chart.contains("Total: 1 blocked, 1 asked, 1 would be blocked."), "{chart}");
    assert!(chart.contains("11:00 UTC: 1 asked, 1 would be blocked"), "{chart}");
    let table = slice_between(&day, "<details id=\"verdicts-table\"", "</details>");
    assert_eq!(table.matches("<tr>").count(), 1 + 2, "{table}");
}

#[test]
fn verdicts_of_one_agent_are_counted_separately() {
    let app = create_judged_app();
    let cases = [
        ("", "Total: 2 blocked, 1 asked, 1 would be blocked."),
        ("agent_id=1", "Total: 2 blocked."),
        ("agent_id=1&period=day", "Total: 1 blocked."),
        ("agent_id=2", "Total: 1 asked, 1 would be blocked."),
        ("agent_id=2&decision=ask", "Total: 1 asked."),
        ("agent_id=3", "Total: none."),
    ];
    for (query, told) in cases {
        let body = get_page(&app, &format!("/guard?{query}")).body;
        let chart = slice_between(&body, "<svg", "</svg>");
        assert!(chart.contains(told), "{query}: {chart}");
        let names_agent = body.contains("only agent #");
        assert_eq!(names_agent, query.contains("agent_id"), "{query}");
    }
    let body = get_page(&app, "/guard?agent_id=2").body;
    assert!(!body.contains("<code>git.force-push</code>"), "{body}");
    assert!(body.contains("<a href=\"/guard?rule=secret.read&amp;agent_id=2\">"), "{body}");
}

#[test]
fn verdicts_are_filtered_by_rule_tier_decision_and_agent() {
    let app = create_judged_app();
    let cases: [(&str, &[i64]); 12] = [
        ("rule=git.force-push", &[2, 1]),
        ("tier=secret", &[3]),
        ("decision=deny", &[2, 1]),
        ("decision=block", &[2, 1]),
        ("decision=blocked", &[2, 1]),
        ("decision=would+be+blocked", &[4]),
        ("agent_id=%232", &[4, 3]),
        ("decision=would_deny", &[4]),
        ("decision=allow", &[]),
        ("agent_id=2", &[4, 3]),
        ("agent_id=2&tier=destructive&rule=", &[4]),
        ("before=3", &[2, 1]),
    ];
    for (query, expected) in cases {
        assert_eq!(list_verdict_ids(&get_page(&app, &format!("/guard?{query}")).body), expected, "{query}");
    }
    for (query, message) in
        [("decision=x", "one of blocked, asked, allowed"), ("agent_id=0", "an agent's number"), ("x=1", "Unknown")]
    {
        let answer = app.get(&format!("/guard?{query}"));
        assert_eq!(answer.status, 400, "{query}");
        assert!(answer.body.contains(message), "{query}: {}", answer.body);
    }
}

#[test]
fn audit_mode_has_the_same_words_everywhere() {
    let app = start_with_stopped_clock();
    let mut stream = app.open_stream("?types=guard_verdict");
    send_verdict(&app, "2026-03-02T10:00:00Z", "s1", "deny", "git.a", "a");
    send_verdict(&app, "2026-03-02T10:00:01Z", "s1", "would_deny", "git.b", "b");
    send_verdict(&app, "2026-03-02T10:00:02Z", "s1", "would_ask", "git.c", "c");
    send_verdict(&app, "2026-03-02T10:00:03Z", "s1", "allow", "git.d", "d");
    let cases = [
        ("deny", "deny", json!(null), "✕ blocked"),
        ("would_deny", "allow", json!("deny"), "◌ would be blocked"),
        ("would_ask", "allow", json!("ask"), "◌ would be asked"),
        ("allow", "allow", json!(null), "✓ allowed"),
    ];
    let timeline = get_page(&app, "/agents/1?guard=1").body;
    for (number, (word, decision, would, shown)) in (1..).zip(cases) {
        let items = app.get(&format!("/api/guard?decision={word}")).json()["items"].clone();
        assert_eq!(items.as_array().unwrap().len(), 1, "{word}: {items}");
        assert_eq!((&items[0]["decision"], &items[0]["would"]), (&json!(decision), &would));
        assert_eq!(items[0]["guard_verdict_id"], number);
        assert_eq!(list_verdict_ids(&get_page(&app, &format!("/guard?decision={word}")).body), [number]);
        let heard = stream.next_event().data;
        assert_eq!((&heard["decision"], &heard["would"]), (&json!(decision), &would), "{heard}");
        let row = slice_between(&timeline, &format!("id=\"g{number}-0\""), "</li>");
        assert!(row.contains(shown), "{shown} in {row}");
        let log = get_page(&app, "/logging").body;
        let line = slice_between(&log, &format!("<tr id=\"event-{number}\""), "</tr>");
        assert_eq!(line.contains(shown), word.starts_with("would"), "{shown} in {line}");
        let event = get_page(&app, &format!("/logging/{number}")).body;
        assert!(event.contains(shown), "{shown} in {event}");
    }
}

#[test]
fn pages_of_verdicts_are_linked() {
    let app = start_with_stopped_clock();
    for number in 0..60 {
        send_verdict(&app, "2026-03-02T10:00:00Z", "s1", "deny", "git.x", &format!("number {number}"));
    }
    let first = get_page(&app, "/guard?rule=git.x").body;
    assert_eq!(list_verdict_ids(&first), (11..=60).rev().collect::<Vec<_>>());
    assert!(first.contains("href=\"/guard?rule=git.x&amp;before=11\">Older</a>"));
    let second = get_page(&app, "/guard?rule=git.x&before=11").body;
    assert_eq!(list_verdict_ids(&second), (1..=10).rev().collect::<Vec<_>>());
    assert!(
        second.contains("href=\"/guard?rule=git.x\">Newest</a>") && !second.contains("data-src=\"/fragments/guard")
    );
}

#[test]
fn a_view_without_verdicts_has_a_message() {
    let app = start_with_stopped_clock();
    let body = get_page(&app, "/guard").body;
    assert!(body.contains("No guard decisions in the last 30 days.") && body.contains("Total: none."), "{body}");
}
