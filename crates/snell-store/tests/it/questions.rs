//! An agent's question to its user is shown while the agent waits for the answer.

use serde_json::{Value, json};
use snell::Decision;
use snell_store::{DecisionRecord, TimelineFilter};

use crate::support::{SentEvent, TestStore, build_event, build_prompt, build_stop};

const SECRET: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";

fn build_tool_event(event: &str, name: &str, input: Value) -> SentEvent {
    build_event(event, "s").with_field("tool_name", name).with_field("tool_input", input)
}

#[test]
fn the_reason_of_a_waiting_agent_has_its_question() {
    let questions = json!({"questions": [{"question": "Which database?"}, {"question": "And\n which cache?"}]});
    let permission = "Claude needs your permission to use Bash";
    let cases: Vec<(Vec<SentEvent>, String)> = vec![
        (
            vec![build_tool_event("PreToolUse", "AskUserQuestion", questions)],
            "it asks the user (AskUserQuestion): Which database?; And which cache?".into(),
        ),
        (
            vec![build_tool_event("PreToolUse", "AskUserQuestion", json!({"questions": "?"}))],
            "it asks the user (AskUserQuestion): {\"questions\":\"?\"}".into(),
        ),
        (
            vec![build_tool_event("PreToolUse", "ExitPlanMode", json!({"plan": "# Plan\nFirst this."}))],
            "it asks the user (ExitPlanMode): # Plan First this.".into(),
        ),
        (
            vec![build_tool_event("PermissionRequest", "Bash", json!({"command": format!("git push {SECRET}")}))],
            "it asks for permission to use Bash: git push [masked: GitHub token]".into(),
        ),
        // Claude Code asks for permission to ask.
        (
            vec![
                build_tool_event("PreToolUse", "AskUserQuestion", json!({"questions": [{"question": "Which one?"}]})),
                build_tool_event(
                    "PermissionRequest",
                    "AskUserQuestion",
                    json!({"questions": [{"question": "Which one?"}]}),
                ),
                build_event("Notification", "s")
                    .with_field("notification_type", "permission_prompt")
                    .with_field("message", "Claude needs your permission"),
            ],
            "it asks the user (AskUserQuestion): Which one?".into(),
        ),
        (
            vec![build_tool_event("PermissionRequest", "ExitPlanMode", json!({}))],
            "it asks the user (ExitPlanMode)".into(),
        ),
        // A later general notification has less detail.
        (
            vec![
                build_tool_event("PermissionRequest", "Bash", json!({"command": "git push"})),
                build_event("Notification", "s")
                    .with_field("notification_type", "permission_prompt")
                    .with_field("message", permission),
            ],
            "it asks for permission to use Bash: git push".into(),
        ),
        (
            vec![
                build_tool_event("PreToolUse", "Bash", json!({"command": "git push"})),
                build_event("Notification", "s").with_field("message", permission),
            ],
            format!("{permission}: git push"),
        ),
        (
            vec![build_stop("s", "I have looked. Shall I push it? Tests are green.")],
            "its last message is a question: Shall I push it?".into(),
        ),
    ];
    for (events, expected) in cases {
        let mut kept = TestStore::new();
        kept.ingest_event(build_prompt("s", "Go on."));
        for (number, event) in (1..).zip(events) {
            kept.ingest_event(event.at_second(number));
        }
        let agent = kept.expect_single_agent();
        assert_eq!((agent.state.as_str(), agent.why), ("awaiting_input", expected));
    }
}

#[test]
fn a_question_is_on_the_timeline_with_its_answer() {
    let input = json!({"questions": [{"question": "Which database?", "options": [{"label": "SQLite"}]}]});
    let cases = [
        (json!({"answers": {"Which database?": "SQLite"}}), "Which database? → SQLite"),
        (json!({"answers": {"Which database?": ["a", "b"]}}), "Which database? → [\"a\",\"b\"]"),
        (json!("declined"), "Which database?"),
    ];
    for (response, expected) in cases {
        let mut kept = TestStore::new();
        let call =
            |event: &str| build_tool_event(event, "AskUserQuestion", input.clone()).with_field("tool_use_id", "t");
        kept.ingest_event(call("PreToolUse"));
        let about = |kept: &mut TestStore| {
            let filter = TimelineFilter { agent_id: 1, limit: 10, ..TimelineFilter::default() };
            kept.store.query_timeline(&filter).unwrap().pop().unwrap().tool_summary.unwrap()
        };
        assert_eq!(about(&mut kept), "Which database?");
        kept.ingest_event(call("PostToolUse").with_field("tool_response", response).at_second(5));
        assert_eq!(about(&mut kept), expected);
    }
}

#[test]
fn a_call_that_the_user_must_approve_waits_for_the_answer() {
    let reason = format!("it would overwrite {SECRET}\nfor good");
    let cases = [(Some(reason.as_str()), " (it would overwrite [masked: GitHub token] for good)"), (None, "")];
    for (reason, told) in cases {
        let ends = [
            build_tool_event("PostToolUse", "Bash", json!({"command": "cp a b"})),
            build_event("PermissionDenied", "s").with_field("tool_name", "Bash"),
            build_prompt("s", "Do something else."),
            build_stop("s", "Done."),
        ];
        for end in ends {
            let mut kept = TestStore::new();
            kept.ingest_event(build_prompt("s", "Go on."));
            let call = build_tool_event("PreToolUse", "Bash", json!({"command": "cp a b"})).at_second(1);
            let mut asked = call.into_record_in(&kept.project_dir());
            asked.judgement = Some(DecisionRecord {
                decision: Decision::Ask,
                reason: reason.map(str::to_owned),
                ..DecisionRecord::default()
            });
            kept.store.ingest(asked).unwrap();
            let agent = kept.expect_single_agent();
            let why = format!("the user must approve Bash: cp a b{told}");
            assert_eq!((agent.state.as_str(), agent.why), ("awaiting_input", why));
            assert_eq!(agent.current_tool.as_deref(), Some("Bash"));
            kept.ingest_event(end.at_second(2));
            assert_ne!(kept.expect_single_agent().state.as_str(), "awaiting_input");
        }
    }
}

#[test]
fn a_question_and_its_answer_are_turns() {
    let one = json!({"questions": [{"question": "Which database?"}]});
    let two = json!({"questions": [{"question": "Which database?"}, {"question": "Which cache?"}]});
    let plan = json!({"plan": "1. Look.\n2. Build."});
    let cases: Vec<(&str, Value, Value, &[&str])> = vec![
        (
            "AskUserQuestion",
            one.clone(),
            json!({"answers": {"Which database?": "SQLite"}}),
            &["AGENT question: Which database?", "USER answer: SQLite"],
        ),
        (
            "AskUserQuestion",
            two,
            json!({"answers": {"Which database?": "SQLite", "Which cache?": "none"}}),
            &[
                "AGENT question: Which database?\nWhich cache?",
                "USER answer: Which database? → SQLite\nWhich cache? → none",
            ],
        ),
        ("AskUserQuestion", one, json!("declined"), &["AGENT question: Which database?"]),
        ("ExitPlanMode", plan, json!({"plan": null}), &["AGENT question: 1. Look.\n2. Build."]),
        ("ExitPlanMode", json!({}), json!({}), &[]),
        ("Bash", json!({"command": "true"}), json!({"answers": {}}), &[]),
    ];
    for (tool, input, response, expected) in cases {
        let mut kept = TestStore::new();
        kept.ingest_event(build_prompt("s", "Go on."));
        let call = |event: &str| build_tool_event(event, tool, input.clone()).with_field("tool_use_id", "t");
        kept.ingest_event(call("PreToolUse").at_second(1));
        // A repeated event counts once.
        kept.ingest_event(call("PreToolUse").at_second(1));
        for second in 2..4 {
            kept.ingest_event(call("PostToolUse").with_field("tool_response", response.clone()).at_second(second));
        }
        let mut turns = vec!["USER command: Go on."];
        turns.extend(expected);
        assert_eq!(kept.list_turn_texts("s"), turns, "{tool} {input}");
    }
}

#[test]
fn without_a_user_a_call_that_needs_an_approval_is_denied() {
    let permission = build_tool_event("PermissionRequest", "Bash", json!({"command": "cp a b"}));
    let call = build_tool_event("PreToolUse", "Bash", json!({"command": "cp a b"}));
    for (event, decision) in [(permission, Decision::None), (call, Decision::Ask)] {
        let mut kept = TestStore::new();
        kept.ingest_event(build_prompt("s", "Go on."));
        let mut asked = event.at_second(1).into_record_in(&kept.project_dir());
        asked.sender.unattended = true;
        asked.judgement = Some(DecisionRecord { decision, ..DecisionRecord::default() });
        kept.store.ingest(asked).unwrap();
        let agent = kept.expect_single_agent();
        let why = "Bash was denied, because it needs an approval and no user can answer";
        assert_eq!((agent.state.as_str(), agent.why.as_str(), agent.current_tool), ("processing", why, None));
    }
}

#[test]
fn the_end_of_a_batch_ends_the_question_about_its_calls() {
    for (tool, expected) in [("Bash", "processing"), ("Read", "awaiting_input")] {
        let mut kept = TestStore::new();
        kept.ingest_event(build_tool_event("PermissionRequest", "Bash", json!({"command": "cp a b"})));
        let batch = build_event("PostToolBatch", "s").with_field("tool_calls", json!([{"tool_name": tool}]));
        assert_eq!(kept.ingest_event(batch.at_second(1)).state.as_str(), expected, "{tool}");
    }
}

#[test]
fn a_permission_notification_of_any_product_names_the_call() {
    let cases = [
        ("claude", "Bash", "permission_prompt", "May I?", "May I?: git push"),
        ("claude", "Bash", "agent_needs_input", "May I?", "May I?"),
        ("gemini", "run_shell_command", "ToolPermission", "May I?", "May I?: git push"),
        ("gemini", "run_shell_command", "ToolPermission", "", "it needs permission"),
    ];
    for (product, tool, kind, message, expected) in cases {
        let mut kept = TestStore::new();
        let mut call = build_tool_event("PreToolUse", tool, json!({"command": "git push"}));
        let mut asked = build_event("Notification", "s").with_field("notification_type", kind).at_second(1);
        asked = asked.with_field("message", message);
        (call.sender.product, asked.sender.product) = (Some(product.into()), Some(product.into()));
        kept.ingest_event(call);
        kept.ingest_event(asked);
        let agent = kept.expect_single_agent();
        assert_eq!((agent.state.as_str(), agent.why.as_str()), ("awaiting_input", expected), "{product} {kind}");
    }
}
