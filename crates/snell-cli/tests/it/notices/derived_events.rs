//! Hooks of `snell.toml` on events that follow from a change of state.

use serde_json::{Value, json};
use snell_test_support::database::query_texts;
use snell_test_support::process::LiveProcess;
use snell_test_support::wait::wait_until;

use super::NoticeSandbox;
use crate::serve::start_server;
use crate::support::CliSandbox;

/// Writes a line for each derived event, and its payload.
const RECORDING_HOOK: &str = r#"
[[hook]]
event = ["NeedsUser", "AgentIdle", "AgentEnded"]
run = 'cat >> payloads; printf "%s|%s|%s|%s\n" "$SNELL_EVENT" "$SNELL_STATE" "$SNELL_AGENT" "$SNELL_QUESTION" >> events'
"#;

fn wait_for_lines(sandbox: &NoticeSandbox, count: usize) -> Vec<String> {
    wait_until(|| {
        let text = std::fs::read_to_string(sandbox.sandbox.project().join("events")).unwrap_or_default();
        (text.lines().count() >= count).then(|| text.lines().map(str::to_owned).collect())
    })
}

#[test]
fn a_hook_gets_each_change_of_state_once_and_in_order() {
    let agents = NoticeSandbox::new(RECORDING_HOOK);
    agents.send_event("s1", "SessionStart", json!({"source": "startup"}));
    agents.send_event("s1", "UserPromptSubmit", json!({"prompt": "Go"}));
    agents.ask_permission("s1");
    agents.ask_permission("s1");
    agents.send_event("s1", "PostToolUse", json!({"tool_name": "Bash", "tool_input": {"command": "ls"}}));
    agents.send_event("s1", "Stop", json!({"last_assistant_message": "All done."}));
    agents.send_event("s1", "Stop", json!({"last_assistant_message": "All done."}));
    agents.send_event("s1", "SessionEnd", json!({"reason": "logout"}));
    let lines = wait_for_lines(&agents, 3);
    let question = "Claude needs your permission to use Bash";
    let expected = [
        format!("NeedsUser|awaiting_input|claude|{question}"),
        "AgentIdle|idle|claude|".to_owned(),
        "AgentEnded|ended|claude|".to_owned(),
    ];
    assert_eq!(lines, expected);
    agents.wait_for_deliveries(&["needs_user hooks sent", "idle hooks sent", "ended hooks sent"]);
    assert_eq!(wait_for_lines(&agents, 3).len(), 3);
    let payloads: Vec<Value> =
        agents.sandbox.read("payloads").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(payloads[0]["question"], question);
    assert_eq!(payloads[0]["session_id"], "s1");
    assert_eq!(payloads[0]["cwd"], agents.sandbox.project().to_str().unwrap());
    assert_eq!(payloads[1]["last_message"], "All done.");
    assert_eq!(payloads[2]["end_reason"], "logout");
    // The log has them with their hook runs, and the agent is as it was.
    let sql = "SELECT name || ' ' || h.status FROM events JOIN hook_runs h USING (id) ORDER BY id";
    assert_eq!(query_texts(&agents.database(), sql), ["NeedsUser ok", "AgentIdle ok", "AgentEnded ok"]);
    assert_eq!(query_texts(&agents.database(), "SELECT state FROM agents"), ["ended"]);
}

#[test]
fn the_end_of_a_killed_agent_is_an_event_if_the_server_notices_it() {
    let agents = NoticeSandbox::with_sandbox(CliSandbox::new().env("SNELL_DAEMON", "off"), RECORDING_HOOK);
    let polls = ["--addr", "127.0.0.1:0", "--log", "off", "--poll-active", "20ms", "--poll-silent", "20ms"];
    let _server = start_server(&agents.sandbox, &polls);
    let mut agent = LiveProcess::new();
    let pid = agent.pid().to_string();
    agents.send_event_with_env("s1", "SessionStart", json!({"source": "startup"}), &[("CLAUDE_PID", &pid)]);
    agents.send_event_with_env("s1", "UserPromptSubmit", json!({"prompt": "Go"}), &[("CLAUDE_PID", &pid)]);
    agent.terminate();
    assert_eq!(wait_for_lines(&agents, 1), ["AgentEnded|ended|claude|"]);
    agents.wait_for_deliveries(&["ended hooks sent"]);
    let payload: Value = serde_json::from_str(&agents.sandbox.read("payloads")).unwrap();
    assert_eq!(payload["end_reason"], "process_gone");
}

#[test]
fn other_hook_files_and_untrusted_projects_get_no_derived_events() {
    let qwen = json!({"hooks": {"AgentIdle": [{"hooks": [{"type": "command", "command": "touch borrowed"}]}]}});
    let project = "[[hook]]\nevent = \"AgentIdle\"\nrun = \"touch untrusted\"\n";
    let sandbox = CliSandbox::new().file("snell.toml", project).home_file(".qwen/settings.json", &qwen.to_string());
    let agents = NoticeSandbox::with_sandbox(sandbox, &format!("borrow = [\"qwen\"]\n{RECORDING_HOOK}"));
    let end_turn = |session: &str| {
        agents.send_event(session, "UserPromptSubmit", json!({"prompt": "Go"}));
        agents.send_event(session, "Stop", json!({"last_assistant_message": "All done."}));
    };
    end_turn("s1");
    agents.wait_for_deliveries(&["idle hooks sent"]);
    assert!(!agents.sandbox.exists("borrowed") && !agents.sandbox.exists("untrusted"));
    // A file that is trusted meanwhile applies to the next change.
    assert_eq!(agents.sandbox.run_snell(&["trust"], "").code, 0);
    end_turn("s2");
    agents.sandbox.wait_for_file("untrusted");
}

#[test]
fn an_agent_that_a_hook_started_causes_no_further_events() {
    let agents = NoticeSandbox::new(RECORDING_HOOK);
    for (session, depth) in [("nested", "1"), ("usual", "")] {
        for (event, fields) in
            [("UserPromptSubmit", json!({"prompt": "Go"})), ("Stop", json!({"last_assistant_message": "All done."}))]
        {
            agents.send_event_with_env(session, event, fields, &[("SNELL_DEPTH", depth)]);
        }
    }
    assert_eq!(wait_for_lines(&agents, 1).len(), 1);
    let payload: Value = serde_json::from_str(&agents.sandbox.read("payloads")).unwrap();
    assert_eq!(payload["session_id"], "usual");
    assert_eq!(query_texts(&agents.database(), "SELECT kind FROM dispatches"), ["idle"]);
}
