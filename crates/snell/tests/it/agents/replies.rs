//! Answers to every agent: the parts that it accepts, and what happens instead of the others.

use serde_json::{Value, json};
use snell::{AgentProduct, AgentReply, Event, EventName, Verdict};

/// A change of a verdict.
type VerdictChange = fn(&mut Verdict);

const DENY: VerdictChange = |verdict| verdict.deny("too risky");
const ASK: VerdictChange = |verdict| verdict.ask("Sure?");
const CHANGE: VerdictChange = |verdict| verdict.tool_input = Some(json!({"file_path": "/w/b", "content": "x"}));
const CONTEXT: VerdictChange = |verdict| verdict.add_context("know this");
const OUTPUT: VerdictChange = |verdict| verdict.tool_output = Some(json!("new"));
const STOP: VerdictChange = |verdict| verdict.stop = Some("enough".to_owned());

/// An event of a product: a write of a file if it is about a tool. The product's own names are in the table.
fn build_event(agent: &str, event: &str) -> Event {
    let (tool, path, content) = match agent {
        "copilot" => ("create", "path", "file_text"),
        "gemini" | "qwen" => ("write_file", "file_path", "content"),
        "opencode" | "kilo" => ("write", "filePath", "content"),
        "kimi" => ("Write", "path", "content"),
        "pi" => ("write", "path", "content"),
        "vibe" => ("write_file", "path", "content"),
        "cline" => ("write_to_file", "path", "content"),
        "crush" | "grok" => ("write", "file_path", "content"),
        "droid" => ("Create", "file_path", "content"),
        "amp" => ("create_file", "path", "content"),
        _ => ("Write", "file_path", "content"),
    };
    let payload = json!({"session_id": "s", "cwd": "/w", "hook_event_name": event, "tool_name": tool,
        "tool_input": {path: "/w/a", content: "x"}});
    let product = AgentProduct::find_by_name(agent).unwrap();
    product.decode(None, payload.as_object().unwrap().clone()).unwrap()
}

fn answer(agent: &str, event: &str, fill: VerdictChange) -> AgentReply {
    let event = build_event(agent, event);
    let mut verdict = Verdict::new(event.name.clone());
    fill(&mut verdict);
    AgentProduct::find_by_name(agent).unwrap().encode(&event, &verdict)
}

/// The answer as JSON: an object, a string for plain text, the reason in an array for exit code 2, null for none.
fn summarize(reply: &AgentReply) -> Value {
    match (&reply.stdout, &reply.stderr) {
        (Some(text), None) => serde_json::from_str(text).unwrap_or_else(|_| text.as_str().into()),
        (None, Some(reason)) => {
            assert_eq!(reply.exit_code, 2);
            json!([reason])
        }
        (None, None) => Value::Null,
        both => panic!("{both:?}"),
    }
}

#[test]
fn each_part_of_a_verdict_is_in_the_words_of_the_agent() {
    let nested = |fields: Value| json!({"hookSpecificOutput": fields});
    let denied = |event: &str| {
        nested(json!({"hookEventName": event, "permissionDecision": "deny", "permissionDecisionReason": "too risky"}))
    };
    let block = || json!({"decision": "block", "reason": "too risky"});
    let deny = || json!({"decision": "deny", "reason": "too risky"});
    let context = |event: &str| nested(json!({"hookEventName": event, "additionalContext": "know this"}));
    let exit = || json!(["too risky"]);
    let cases: Vec<(&str, &str, VerdictChange, Value)> = vec![
        ("codex", "PreToolUse", DENY, denied("PreToolUse")),
        (
            "codex",
            "PreToolUse",
            CHANGE,
            nested(json!({"hookEventName": "PreToolUse", "permissionDecision": "allow",
                "updatedInput": {"file_path": "/w/b", "content": "x"}})),
        ),
        // A key that Codex does not know would let the call run.
        ("codex", "PreToolUse", STOP, json!({"systemMessage": "enough"})),
        ("codex", "Stop", DENY, block()),
        ("codex", "UserPromptSubmit", DENY, block()),
        ("codex", "SessionStart", CONTEXT, context("SessionStart")),
        ("codex", "PreToolUse", CONTEXT, context("PreToolUse")),
        ("qwen", "PreToolUse", DENY, denied("PreToolUse")),
        ("qwen", "PreToolUse", CONTEXT, json!({"systemMessage": "know this"})),
        ("qwen", "PostToolUse", CONTEXT, context("PostToolUse")),
        ("qwen", "Stop", DENY, block()),
        (
            "gemini",
            "BeforeTool",
            CHANGE,
            nested(json!({"hookEventName": "BeforeTool", "tool_input": {"file_path": "/w/b", "content": "x"}})),
        ),
        ("gemini", "AfterAgent", DENY, deny()),
        (
            "copilot",
            "PreToolUse",
            CHANGE,
            json!({"modifiedArgs": {"path": "/w/b", "file_text": "x"},
                "hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"path": "/w/b", "file_text": "x"}}}),
        ),
        ("copilot", "Stop", DENY, block()),
        ("copilot", "agentStop", DENY, block()),
        ("copilot", "userPromptSubmitted", CONTEXT, json!({"additionalContext": "know this"})),
        ("copilot", "postToolUse", CONTEXT, json!({"additionalContext": "know this"})),
        ("opencode", "tool.execute.before", DENY, deny()),
        ("opencode", "tool.execute.before", CHANGE, json!({"tool_input": {"filePath": "/w/b", "content": "x"}})),
        ("opencode", "tool.execute.after", OUTPUT, json!({"tool_output": "new"})),
        ("opencode", "chat.message", CONTEXT, json!({"context": "know this"})),
        ("opencode", "session.idle", DENY, deny()),
        ("kilo", "tool.execute.before", DENY, deny()),
        ("pi", "tool_call", CHANGE, json!({"tool_input": {"path": "/w/b", "content": "x"}})),
        ("pi", "tool_result", OUTPUT, json!({"tool_output": "new"})),
        ("pi", "agent_end", STOP, json!({"stop": "enough"})),
        ("cline", "tool_call", DENY, json!({"cancel": true, "errorMessage": "too risky"})),
        ("cline", "tool_call", CHANGE, json!({"overrideInput": {"path": "/w/b", "content": "x"}})),
        ("cline", "tool_result", CONTEXT, json!({"contextModification": "know this"})),
        ("cline", "agent_end", DENY, Value::Null),
        ("kimi", "PreToolUse", DENY, denied("PreToolUse")),
        ("kimi", "UserPromptSubmit", DENY, exit()),
        ("kimi", "UserPromptSubmit", CONTEXT, json!("know this")),
        ("kimi", "Stop", DENY, exit()),
        ("grok", "PreToolUse", DENY, denied("PreToolUse")),
        (
            "grok",
            "PreToolUse",
            CHANGE,
            nested(json!({"hookEventName": "PreToolUse", "updatedInput": {"file_path": "/w/b", "content": "x"}})),
        ),
        ("grok", "Stop", DENY, block()),
        ("vibe", "pre_tool", DENY, deny()),
        ("vibe", "pre_tool", CHANGE, json!({"hook_specific_output": {"tool_input": {"path": "/w/b", "content": "x"}}})),
        ("vibe", "post_tool", CONTEXT, json!({"hook_specific_output": {"additional_context": "know this"}})),
        (
            "cursor",
            "preToolUse",
            DENY,
            json!({"permission": "deny", "user_message": "too risky", "agent_message": "too risky"}),
        ),
        ("cursor", "beforeSubmitPrompt", DENY, json!({"continue": false, "user_message": "too risky"})),
        ("cursor", "stop", DENY, json!({"followup_message": "too risky"})),
        ("windsurf", "PreToolUse", DENY, exit()),
        ("kiro", "SessionStart", CONTEXT, json!("know this")),
        ("kiro", "PreToolUse", DENY, exit()),
        ("crush", "PreToolUse", CHANGE, json!({"updated_input": {"file_path": "/w/b", "content": "x"}})),
        ("crush", "PreToolUse", STOP, json!({"halt": true, "reason": "enough"})),
        ("droid", "PreToolUse", DENY, denied("PreToolUse")),
        ("antigravity", "PreToolUse", DENY, deny()),
        ("antigravity", "Stop", DENY, json!({"decision": "continue", "reason": "too risky"})),
        ("amp", "tool.call", CHANGE, json!({"tool_input": {"path": "/w/b", "content": "x"}})),
        ("augment", "PreToolUse", DENY, exit()),
        ("goose", "PreToolUse", DENY, exit()),
    ];
    for (agent, event, fill, expected) in cases {
        assert_eq!(summarize(&answer(agent, event, fill)), expected, "{agent} {event}");
    }
}

#[test]
fn every_agent_can_be_denied_before_a_call_and_an_ask_or_a_change_is_never_lost() {
    for product in AgentProduct::fully_supported() {
        let payload = json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": "ls", "timeout": 5}});
        let event = product.decode(Some("PreToolUse"), payload.as_object().unwrap().clone()).unwrap();
        let encode = |fill: VerdictChange| {
            let mut verdict = Verdict::new(EventName::PreToolUse);
            fill(&mut verdict);
            let reply = product.encode(&event, &verdict);
            let text =
                format!("{}{}", reply.stdout.clone().unwrap_or_default(), reply.stderr.clone().unwrap_or_default());
            (reply, text)
        };
        let (_, denied) = encode(DENY);
        assert!(denied.contains("too risky"), "{} {denied}", product.name);
        let (asked, text) = encode(ASK);
        assert!(text.contains("Sure?"), "{} {text}", product.name);
        let is_question = text.contains(r#""ask""#);
        assert_eq!(asked.refusal.is_none(), is_question, "{} {text}", product.name);
        let (changed, text) = encode(|verdict| verdict.tool_input = Some(json!({"command": "ls -l", "timeout": 5})));
        assert!(text.contains("ls -l"), "{} {text}", product.name);
        if let Some(reason) = changed.refusal {
            assert!(reason.contains("Call the tool again with this input"), "{} {reason}", product.name);
        }
        let (silent, _) = encode(|_| {});
        assert_eq!(silent, AgentReply::default(), "{}", product.name);
        // An approval would skip the agent's own permission prompt.
        let (approved, _) = encode(|verdict| verdict.decision = snell::Decision::Allow);
        assert_eq!(approved, AgentReply::default(), "{}", product.name);
    }
}

#[test]
fn an_event_that_an_agent_has_since_yesterday_gets_no_words_that_could_mean_the_opposite() {
    for product in AgentProduct::fully_supported() {
        let payload = json!({"session_id": "s", "hook_event_name": "BrandNewEvent"});
        let event = product.decode(None, payload.as_object().unwrap().clone()).unwrap();
        for fill in [DENY, ASK, CHANGE, CONTEXT, OUTPUT] {
            let mut verdict = Verdict::new(event.name.clone());
            fill(&mut verdict);
            let reply = product.encode(&event, &verdict);
            assert_eq!((reply.exit_code, &reply.stderr), (0, &None), "{}", product.name);
            let answer: Value = reply.stdout.map_or(json!({}), |line| serde_json::from_str(&line).unwrap());
            let keys: Vec<_> = answer.as_object().unwrap().keys().cloned().collect();
            let is_message = |key: &String| ["systemMessage", "system_message", "message"].contains(&key.as_str());
            assert!(keys.iter().all(is_message), "{} {answer}", product.name);
        }
    }
}
