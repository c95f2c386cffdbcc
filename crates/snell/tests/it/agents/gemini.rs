//! Payloads of Gemini CLI, and answers to it.

use serde_json::{Value, json};
use snell::{AgentProduct, Event, EventName, Verdict};
use snell_test_support::payload::merge_fields;

fn find_gemini() -> &'static AgentProduct {
    AgentProduct::find_by_name("gemini").unwrap()
}

fn decode(name: &str, fields: Value) -> Event {
    let payload = json!({"session_id": "s", "cwd": "/w", "hook_event_name": name, "timestamp": "2026-03-01T12:00:00Z"});
    let payload = merge_fields(payload, &fields);
    find_gemini().decode(None, payload.as_object().unwrap().clone()).unwrap()
}

/// A change of a verdict.
type VerdictChange = fn(&mut Verdict);

#[test]
fn each_verdict_has_its_answer() {
    let deny: VerdictChange = |verdict| verdict.deny("too risky");
    let ask: VerdictChange = |verdict| verdict.ask("Sure?");
    let context: VerdictChange = |verdict| verdict.add_context("know this".to_owned());
    let change: VerdictChange = |verdict| verdict.tool_input = Some(json!({"command": "ls -l", "dir": "/w"}));
    let denied = json!({"decision": "deny", "reason": "too risky"});
    let told = |name: &str| json!({"hookSpecificOutput": {"additionalContext": "know this", "hookEventName": name}});
    let message = |text: &str| json!({"systemMessage": text});
    let cases = [
        ("BeforeTool", deny, denied.clone()),
        ("AfterTool", deny, denied.clone()),
        ("BeforeAgent", deny, denied.clone()),
        ("AfterAgent", deny, denied),
        ("SessionStart", deny, message("too risky")),
        ("AfterAgent", ask, message("Sure?")),
        ("SessionStart", context, told("SessionStart")),
        ("BeforeAgent", context, told("BeforeAgent")),
        ("AfterTool", context, told("AfterTool")),
        ("BeforeTool", context, message("know this")),
        ("AfterAgent", context, message("know this")),
        (
            "BeforeTool",
            change,
            json!({"hookSpecificOutput": {"tool_input": {"command": "ls -l", "dir": "/w"}, "hookEventName": "BeforeTool"}}),
        ),
        (
            "BeforeTool",
            |verdict| verdict.stop = Some("enough".to_owned()),
            json!({"continue": false, "stopReason": "enough"}),
        ),
        (
            "AfterTool",
            |verdict| verdict.tool_output = Some(json!("x")),
            message("A hook changed the tool's output, but Gemini CLI does not accept that, so the change is ignored."),
        ),
        ("BeforeTool", |_| {}, Value::Null),
    ];
    for (name, fill, expected) in cases {
        let event = decode(name, json!({"tool_name": "run_shell_command", "tool_input": {"command": "ls"}}));
        let mut verdict = Verdict::new(event.name.clone());
        fill(&mut verdict);
        let reply = find_gemini().encode(&event, &verdict);
        assert_eq!((reply.exit_code, reply.stderr, reply.refusal), (0, None, None), "{name}");
        let answer = reply.stdout.map_or(Value::Null, |line| serde_json::from_str(&line).unwrap());
        assert_eq!(answer, expected, "{name}");
    }
}

#[test]
fn a_question_or_a_removed_argument_becomes_a_denial() {
    let event =
        decode("BeforeTool", json!({"tool_name": "run_shell_command", "tool_input": {"command": "ls", "dir": "/"}}));
    let cases: [(VerdictChange, &str); 2] = [
        (|verdict| verdict.ask("Sure?"), "Sure? Snell cannot ask the user in Gemini CLI."),
        (|verdict| verdict.tool_input = Some(json!({"command": "ls"})), "A hook removed \"dir\" from the tool's input"),
    ];
    for (fill, reason) in cases {
        let mut verdict = Verdict::new(EventName::PreToolUse);
        fill(&mut verdict);
        let reply = find_gemini().encode(&event, &verdict);
        let answer: Value = serde_json::from_str(&reply.stdout.unwrap()).unwrap();
        assert_eq!((reply.exit_code, &answer["decision"]), (0, &json!("deny")));
        assert!(answer["reason"].as_str().unwrap().starts_with(reason), "{answer}");
        assert_eq!(answer["reason"].as_str(), reply.refusal.as_deref());
        assert_eq!(answer.get("hookSpecificOutput"), None);
    }
}

#[test]
fn its_events_are_read_under_canonical_names() {
    let names = [
        ("BeforeTool", EventName::PreToolUse),
        ("AfterTool", EventName::PostToolUse),
        ("BeforeAgent", EventName::UserPromptSubmit),
        ("AfterAgent", EventName::Stop),
        ("PreCompress", EventName::PreCompact),
        ("SessionEnd", EventName::SessionEnd),
        ("BeforeModel", EventName::Other("BeforeModel".into())),
    ];
    for (name, expected) in names {
        assert_eq!(decode(name, json!({})).name, expected);
    }
    let ended = decode("AfterAgent", json!({"prompt": "Go", "prompt_response": "Shall I?", "stop_hook_active": true}));
    assert_eq!(ended.raw["last_assistant_message"], "Shall I?");
    assert_eq!(ended.stop_hook_active, Some(true));
    let failed = |response: Value| decode("AfterTool", json!({"tool_name": "read_file", "tool_response": response}));
    assert!(failed(json!({"llmContent": "", "error": {"message": "gone"}})).has_tool_failed());
    assert!(!failed(json!({"llmContent": "text"})).has_tool_failed());
}
