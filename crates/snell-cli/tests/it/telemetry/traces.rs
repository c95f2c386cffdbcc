//! Spans of turns, tool calls, sub-agents, waits and hooks.

use serde_json::json;
use snell_test_support::wait::wait_until;

use super::{ReceivedSpan, TelemetrySandbox, format_path};

const HOOKS: &str = "[[hook]]\nevent = [\"PreToolUse\", \"Stop\", \"SessionStart\"]\nrun = \"true\"\n";

fn list_paths(spans: &[ReceivedSpan]) -> Vec<String> {
    let mut paths: Vec<_> = spans.iter().map(|span| format_path(spans, span)).collect();
    paths.sort();
    paths
}

#[test]
fn a_turn_is_a_trace_with_its_calls_hooks_waits_and_subagents() {
    let agents = TelemetrySandbox::new(HOOKS);
    let call = json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "ls"}});
    let task = json!({"agent_id": "a1", "agent_type": "Explore"});
    let inner = json!({"tool_name": "Read", "tool_use_id": "t2", "agent_id": "a1", "tool_input": {"file_path": "a"}});
    let permission = json!({"message": "permission", "notification_type": "permission_prompt"});
    agents.send_event("s1", "SessionStart", json!({"source": "startup"}));
    agents.send_event("s1", "UserPromptSubmit", json!({"prompt": "Go"}));
    agents.send_event("s1", "PreToolUse", call.clone());
    agents.send_event("s1", "Notification", permission);
    agents.send_event("s1", "PostToolUse", call);
    agents.send_event("s1", "SubagentStart", task.clone());
    agents.send_event("s1", "PreToolUse", inner.clone());
    agents.send_event("s1", "PostToolUseFailure", inner);
    agents.send_event("s1", "SubagentStop", task);
    agents.send_event("s1", "PreToolUse", json!({"tool_name": "Bash", "tool_input": {"command": "rm -rf ~"}}));
    agents.send_event("s1", "Stop", json!({"last_assistant_message": "All done."}));
    let _server = agents.start_server();
    let spans = agents.wait_for_spans(11);
    let expected = [
        "hook SessionStart",
        "invoke_agent claude",
        "invoke_agent claude > execute_tool Bash",
        "invoke_agent claude > execute_tool Bash",
        "invoke_agent claude > execute_tool Bash > hook PreToolUse",
        "invoke_agent claude > execute_tool Bash > hook PreToolUse",
        "invoke_agent claude > hook Stop",
        "invoke_agent claude > invoke_agent Explore",
        "invoke_agent claude > invoke_agent Explore > execute_tool Read",
        "invoke_agent claude > invoke_agent Explore > execute_tool Read > hook PreToolUse",
        "invoke_agent claude > wait for user",
    ];
    assert_eq!(list_paths(&spans), expected);
}

#[test]
fn spans_have_the_attributes_of_the_conventions() {
    let agents = TelemetrySandbox::new("");
    agents.make_turn("s1");
    let failed = json!({"tool_name": "Edit", "tool_use_id": "t9", "error": "no such file"});
    agents.send_event("s1", "UserPromptSubmit", json!({"prompt": "Go"}));
    agents.send_event("s1", "PreToolUse", json!({"tool_name": "Edit", "tool_use_id": "t9", "tool_input": {}}));
    agents.send_event("s1", "PostToolUseFailure", failed);
    agents.send_event("s1", "PreToolUse", json!({"tool_name": "Bash", "tool_input": {"command": "rm -rf ~"}}));
    agents.send_event("s1", "Stop", json!({"last_assistant_message": "All done."}));
    let _server = agents.start_server();
    let spans = agents.wait_for_spans(5);
    let find = |name: &str, key: &str, value: &str| {
        let has =
            |span: &&ReceivedSpan| span.name == name && span.attributes.get(key).is_some_and(|found| found == value);
        spans.iter().find(has).unwrap_or_else(|| panic!("no {name} with {key} = {value}: {spans:#?}"))
    };
    let turn = find("invoke_agent claude", "gen_ai.conversation.id", "s1");
    assert_eq!(turn.attributes["gen_ai.operation.name"], "invoke_agent");
    assert_eq!(turn.attributes["gen_ai.agent.name"], "claude");
    let call = find("execute_tool Bash", "gen_ai.tool.call.id", "t-s1");
    assert_eq!(call.attributes["gen_ai.operation.name"], "execute_tool");
    assert_eq!((call.attributes["snell.outcome"].as_str(), call.is_error), ("succeeded", false));
    let failed = find("execute_tool Edit", "snell.outcome", "failed");
    assert_eq!((failed.attributes["error.type"].as_str(), failed.is_error), ("failed", true));
    let blocked = find("execute_tool Bash", "snell.outcome", "blocked");
    assert_eq!((blocked.attributes["snell.decision"].as_str(), blocked.is_error), ("block", true));
}

#[test]
fn a_background_hook_has_a_span_once_it_has_ended() {
    let hook = "[[hook]]\nevent = \"Stop\"\nbackground = true\nrun = \"while [ ! -e go ]; do :; done\"\n";
    let agents = TelemetrySandbox::new(hook);
    agents.make_turn("s1");
    let _server = agents.start_server();
    assert_eq!(agents.wait_for_spans(2).len(), 2);
    std::fs::write(agents.sandbox.project().join("go"), "").unwrap();
    let spans = agents.wait_for_spans(3);
    let hook = spans.iter().find(|span| span.name == "hook Stop").unwrap();
    assert_eq!(format_path(&spans, hook), "invoke_agent claude > hook Stop");
    assert_eq!(hook.attributes["snell.hook.status"], "ok");
}

#[test]
fn what_is_open_when_its_agent_ends_is_sent_once() {
    let agents = TelemetrySandbox::new("");
    let _server = agents.start_server();
    agents.send_event("s1", "UserPromptSubmit", json!({"prompt": "Go"}));
    agents.send_event(
        "s1",
        "PreToolUse",
        json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "ls"}}),
    );
    agents.send_event("s2", "UserPromptSubmit", json!({"prompt": "Go"}));
    agents.send_event("s2", "Stop", json!({"last_assistant_message": "All done."}));
    // The other agent's turn is complete, and this one's is not.
    assert_eq!(agents.wait_for_spans(1).len(), 1);
    agents.send_event("s1", "SessionEnd", json!({"reason": "logout"}));
    let spans = agents.wait_for_spans(3);
    let call = spans.iter().find(|span| span.name == "execute_tool Bash").unwrap();
    assert_eq!(call.attributes["snell.outcome"], "unended");
    // The end of a call that was sent is not another call.
    agents.send_event(
        "s1",
        "PostToolUse",
        json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "ls"}}),
    );
    agents.make_turn("s3");
    wait_until(|| agents.spans().iter().any(|span| span.attributes["gen_ai.conversation.id"] == "s3").then_some(()));
    let calls: Vec<_> = agents
        .spans()
        .into_iter()
        .filter(|span| span.attributes.get("gen_ai.tool.call.id").is_some_and(|id| id == "t1"))
        .collect();
    assert_eq!(calls.len(), 1);
}
