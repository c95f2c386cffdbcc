//! The exact JSON of answers to Claude Code.

use proptest::prelude::*;
use serde_json::{Value, json};
use snell::{AgentProduct, Decision, Event, EventName, Verdict};
use snell_test_support::payload::merge_fields;

/// All events of Claude Code.
const EVENTS: [&str; 31] = [
    "SessionStart",
    "Setup",
    "InstructionsLoaded",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "MessageDisplay",
    "PreToolUse",
    "PermissionRequest",
    "PermissionDenied",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "Notification",
    "SubagentStart",
    "SubagentStop",
    "TaskCreated",
    "TaskCompleted",
    "TeammateIdle",
    "Stop",
    "StopFailure",
    "ConfigChange",
    "CwdChanged",
    "DirectoryAdded",
    "FileChanged",
    "WorktreeCreate",
    "WorktreeRemove",
    "PreCompact",
    "PostCompact",
    "Elicitation",
    "ElicitationResult",
    "SessionEnd",
];

fn parse_event(name: &str, more: Value) -> Event {
    let payload = merge_fields(json!({"session_id": "s", "hook_event_name": name}), &more);
    Event::from_json(None, payload.to_string().as_bytes()).unwrap().0
}

/// The answer to Claude Code. Null if there is none.
fn answer_as_claude(event: &Event, verdict: &Verdict) -> Value {
    let reply = AgentProduct::find_by_name("claude").unwrap().encode(event, verdict);
    assert_eq!(reply.exit_code, 0);
    reply.stdout.map_or(Value::Null, |line| {
        assert_eq!(line.lines().count(), 1, "{line}");
        serde_json::from_str(&line).unwrap()
    })
}

/// A verdict on an event of this name, with this change.
fn build_verdict(name: &str, fill: impl FnOnce(&mut Verdict)) -> Verdict {
    let mut verdict = Verdict::new(EventName::parse(name));
    fill(&mut verdict);
    verdict
}

fn answer_event(name: &str, more: Value, fill: impl FnOnce(&mut Verdict)) -> Value {
    answer_as_claude(&parse_event(name, more), &build_verdict(name, fill))
}

#[test]
fn no_opinion_and_an_approval_are_told_by_silence() {
    for name in EVENTS {
        assert_eq!(answer_event(name, json!({}), |_| {}), Value::Null, "{name}");
        let allowed = answer_event(name, json!({}), |verdict| {
            verdict.decision = Decision::Allow;
            verdict.reason = Some("fine".into());
        });
        assert_eq!(allowed, Value::Null, "{name}");
    }
}

#[test]
fn a_no_is_told_as_each_event_takes_it() {
    let block = || json!({"decision": "block", "reason": "no"});
    let told_to_the_user = || json!({"systemMessage": "no"});
    let specific = |name: &str, key: &str, value: Value| {
        let mut specific = json!({"hookEventName": name});
        specific[key] = value;
        specific
    };
    for name in EVENTS {
        let expected = match name {
            "PreToolUse" => json!({"hookSpecificOutput": {
                "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no",
            }}),
            "PermissionRequest" => {
                let decision = json!({"behavior": "deny", "message": "no"});
                json!({"hookSpecificOutput": specific(name, "decision", decision)})
            }
            "UserPromptSubmit"
            | "UserPromptExpansion"
            | "PostToolUse"
            | "PostToolUseFailure"
            | "PostToolBatch"
            | "Stop"
            | "SubagentStop"
            | "ConfigChange"
            | "PreCompact"
            | "TaskCreated" => block(),
            "Elicitation" | "ElicitationResult" => json!({
                "systemMessage": "no",
                "hookSpecificOutput": specific(name, "action", json!("decline")),
            }),
            _ => told_to_the_user(),
        };
        assert_eq!(answer_event(name, json!({}), |verdict| verdict.deny("no")), expected, "{name}");
    }
    let without_a_reason = answer_event("Stop", json!({}), |verdict| verdict.deny(""));
    assert_eq!(without_a_reason, json!({"decision": "block", "reason": "Blocked by a hook"}));
}

#[test]
fn a_question_reaches_the_permission_prompt_or_the_user() {
    for name in EVENTS {
        let expected = match name {
            "PreToolUse" => json!({"hookSpecificOutput": {
                "hookEventName": "PreToolUse", "permissionDecision": "ask", "permissionDecisionReason": "sure?",
            }}),
            // Claude Code is already asking the user.
            "PermissionRequest" => Value::Null,
            _ => json!({"systemMessage": "sure?"}),
        };
        assert_eq!(answer_event(name, json!({}), |verdict| verdict.ask("sure?")), expected, "{name}");
    }
}

#[test]
fn context_reaches_the_model_where_it_can_and_else_the_user() {
    for name in EVENTS {
        let expected = match name {
            "SessionStart"
            | "Setup"
            | "UserPromptSubmit"
            | "UserPromptExpansion"
            | "PreToolUse"
            | "PostToolUse"
            | "PostToolUseFailure"
            | "PostToolBatch"
            | "Notification"
            | "SubagentStart"
            | "SubagentStop"
            | "Stop" => {
                json!({"hookSpecificOutput": {"hookEventName": name, "additionalContext": "one\ntwo"}})
            }
            _ => json!({"systemMessage": "one\ntwo"}),
        };
        let given = answer_event(name, json!({}), |verdict| {
            verdict.add_context("one");
            verdict.add_context("two");
        });
        assert_eq!(given, expected, "{name}");
    }
}

#[test]
fn context_makes_an_agent_go_on_only_once() {
    for name in ["Stop", "SubagentStop"] {
        let again = answer_event(name, json!({"stop_hook_active": true}), |verdict| {
            verdict.add_context("one more thing");
        });
        assert_eq!(again, json!({"systemMessage": "one more thing"}), "{name}");
    }
}

#[test]
fn changes_are_told_without_a_decision_of_ours() {
    let bash = || json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": "x"});
    let server = || json!({"tool_name": "mcp__memory__read", "tool_input": {}, "tool_response": "x"});
    let change_input = |verdict: &mut Verdict| verdict.tool_input = Some(json!({"command": "pwd"}));
    let change_output = |verdict: &mut Verdict| verdict.tool_output = Some(json!("y"));

    assert_eq!(
        answer_event("PreToolUse", bash(), change_input),
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "pwd"}}})
    );
    let asked = answer_event("PreToolUse", bash(), |verdict| {
        change_input(verdict);
        verdict.ask("sure?");
    });
    assert_eq!(
        asked,
        json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": "ask", "permissionDecisionReason": "sure?",
            "updatedInput": {"command": "pwd"},
        }})
    );
    let refused = answer_event("PreToolUse", bash(), |verdict| {
        change_input(verdict);
        verdict.deny("no");
    });
    assert_eq!(refused["hookSpecificOutput"].get("updatedInput"), None);
    assert_eq!(
        answer_event("PermissionRequest", bash(), change_input),
        json!({"systemMessage": "A hook changed a permission request, but Claude Code only accepts a change with \
                                 an approval, so the change is ignored."})
    );
    assert_eq!(
        answer_event("PostToolUse", bash(), change_output),
        json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": "y"}})
    );
    assert_eq!(
        answer_event("PostToolUse", server(), change_output),
        json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedMCPToolOutput": "y"}})
    );
}

#[test]
fn what_else_hooks_answer_goes_where_the_event_takes_it() {
    let cases = [
        ("SessionStart", "sessionTitle", json!("a title")),
        ("SessionStart", "watchPaths", json!(["/a"])),
        ("SessionStart", "initialUserMessage", json!("hello")),
        ("SessionStart", "reloadSkills", json!(true)),
        ("UserPromptSubmit", "suppressOriginalPrompt", json!(true)),
        ("PermissionDenied", "retry", json!(true)),
        ("MessageDisplay", "displayContent", json!("shown")),
        ("CwdChanged", "watchPaths", json!(["/a"])),
        ("FileChanged", "watchPaths", json!(["/a"])),
        ("WorktreeCreate", "worktreePath", json!("/w")),
        ("Elicitation", "action", json!("accept")),
        ("ElicitationResult", "content", json!({"a": 1})),
        ("PostToolUse", "classifierContext", json!("c")),
    ];
    for (name, key, value) in cases {
        let extra = |verdict: &mut Verdict| {
            verdict.extra.insert(key.into(), value.clone());
        };
        let mut specific = json!({"hookEventName": name});
        specific[key] = value.clone();
        assert_eq!(answer_event(name, json!({}), extra), json!({"hookSpecificOutput": specific}), "{name} {key}");
        assert_eq!(answer_event("SessionEnd", json!({}), extra), Value::Null, "{key}");
    }
    let title = answer_event("Stop", json!({}), |verdict| {
        verdict.extra.insert("terminalSequence".into(), json!("\u{7}"));
    });
    assert_eq!(title, json!({"terminalSequence": "\u{7}"}));
}

#[test]
fn messages_and_the_end_of_a_turn_are_told_on_every_event() {
    for name in EVENTS {
        let spoken = answer_event(name, json!({}), |verdict| {
            verdict.add_message("one");
            verdict.add_message("two");
        });
        assert_eq!(spoken, json!({"systemMessage": "one\ntwo"}), "{name}");
        let ended = answer_event(name, json!({}), |verdict| {
            verdict.stop = Some("enough".into());
            // Hooks that end a turn also send a message to the user. One message is enough.
            verdict.add_message("enough");
        });
        assert_eq!(ended, json!({"continue": false, "stopReason": "enough"}), "{name}");
    }
}

#[test]
fn the_event_is_named_as_it_came() {
    let came = parse_event("UserPrompt", json!({}));
    let given = answer_as_claude(&came, &build_verdict("UserPrompt", |verdict| verdict.add_context("c")));
    assert_eq!(given, json!({"hookSpecificOutput": {"hookEventName": "UserPrompt", "additionalContext": "c"}}));
}

proptest! {
    #[test]
    fn a_reply_is_empty_or_one_line_of_json(
        name in prop::sample::select(EVENTS.to_vec()),
        decision in 0_usize..4,
        texts in prop::collection::vec(any::<Option<String>>(), 4),
        stop_hook_active in any::<bool>(),
    ) {
        let event = parse_event(name, json!({"stop_hook_active": stop_hook_active}));
        let verdict = build_verdict(name, |verdict| {
            verdict.decision = [Decision::None, Decision::Allow, Decision::Ask, Decision::Deny][decision];
            verdict.reason = texts[0].clone();
            verdict.context.extend(texts[1].clone());
            verdict.messages.extend(texts[2].clone());
            verdict.stop = texts[3].clone();
        });
        let reply = AgentProduct::find_by_name("claude").unwrap().encode(&event, &verdict);
        prop_assert_eq!(reply.exit_code, 0);
        if let Some(line) = reply.stdout {
            prop_assert!(!line.contains(['\n', '\r']));
            prop_assert!(serde_json::from_str::<Value>(&line).unwrap().is_object());
        }
    }
}
