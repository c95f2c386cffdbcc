//! Texts leave this machine only if the user asks for them, and secrets never.

use serde_json::json;

use super::TelemetrySandbox;

/// A token in the form of GitHub's, made here so that no secret is in the tree.
fn make_token() -> String {
    format!("ghp_{}", "a1B2c3D4e5F6".repeat(3))
}

/// All kinds of events, with texts that nobody else must see.
fn send_revealing_events(agents: &TelemetrySandbox) {
    let call = json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {
        "command": format!("cat zzcommandzz/zzpathzz --token {}", make_token()), "description": "zzdescriptionzz"}});
    let mut ended = call.clone();
    ended["tool_response"] = json!({"stdout": "zzoutputzz"});
    let mut failed = call.clone();
    failed["error"] = json!("zzerrorzz");
    let permission = json!({"message": "zzmessagezz", "notification_type": "permission_prompt"});
    agents.send_event("s1", "SessionStart", json!({"source": "startup"}));
    agents.send_event("s1", "UserPromptSubmit", json!({"prompt": "zzpromptzz"}));
    agents.send_event("s1", "PreToolUse", call.clone());
    agents.send_event("s1", "Notification", permission);
    agents.send_event("s1", "PostToolUse", ended);
    agents.send_event("s1", "PostToolUseFailure", failed);
    agents.send_event(
        "s1",
        "PreToolUse",
        json!({"tool_name": "Bash", "tool_input": {"command": "rm -rf ~/zzpathzz ~"}}),
    );
    agents.send_event("s1", "SubagentStart", json!({"agent_id": "a1", "agent_type": "Explore"}));
    agents.send_event("s1", "SubagentStop", json!({"agent_id": "a1", "last_assistant_message": "zzsubagentzz"}));
    agents.send_event("s1", "Stop", json!({"last_assistant_message": "zzanswerzz"}));
}

/// The marks of texts in all bytes that a collector got.
fn list_marks(agents: &TelemetrySandbox) -> Vec<String> {
    let mut marks: Vec<_> = Vec::new();
    for request in agents.collector.requests() {
        let text = format!("{} {:?} {}", request.line, request.headers, request.body);
        assert!(!text.contains(&make_token()), "{text}");
        marks.extend(text.split("zz").skip(1).step_by(2).map(str::to_owned));
    }
    marks.sort();
    marks.dedup();
    marks
}

#[test]
fn texts_are_sent_only_if_the_user_asks_for_them() {
    const HOOK: &str = "[[hook]]\nevent = \"PreToolUse\"\nrun = \"echo zzhookzz >&2\"\n";
    let cases: [(&str, &[&str]); 3] = [
        ("[]", &[]),
        ("[\"prompts\"]", &["prompt"]),
        ("[\"prompts\", \"arguments\"]", &["command", "description", "hook", "path", "prompt"]),
    ];
    for (include, expected) in cases {
        let agents = TelemetrySandbox::new(&format!("include = {include}\ninterval = \"50ms\"\n{HOOK}"));
        send_revealing_events(&agents);
        let _server = agents.start_server();
        agents.wait_for_spans(7);
        agents.wait_for_logs(1);
        let has_metrics = || agents.collector.requests().iter().any(|request| request.path() == "/v1/metrics");
        snell_test_support::wait::wait_until(|| has_metrics().then_some(()));
        assert_eq!(list_marks(&agents), expected, "{include}");
    }
}

#[test]
fn nothing_is_sent_without_an_endpoint_or_by_a_project() {
    let agents = TelemetrySandbox::new("");
    std::fs::write(agents.config_file(), "").unwrap();
    let endpoint = format!("[telemetry]\nendpoint = \"{}\"\n", agents.collector.url());
    std::fs::write(agents.sandbox.project().join("snell.toml"), endpoint).unwrap();
    assert_eq!(agents.sandbox.run_snell(&["trust"], "").code, 0);
    let server = agents.start_server();
    agents.make_turn("s1");
    server.wait_for_agent_state("s1", "idle");
    drop(server);
    assert_eq!(agents.collector.requests().len(), 0);
    let rows = snell_test_support::database::query_rows(&agents.sandbox.database(), "SELECT 1 FROM telemetry_progress");
    assert_eq!(rows.len(), 0);
    let lint = agents.sandbox.run_snell(&["lint"], "");
    let text = format!("{}{}", lint.stdout, lint.stderr);
    assert!(text.contains("\"telemetry\" has no effect in a project's file"), "{text}");
}
