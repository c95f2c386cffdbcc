//! What an agent asks its user is told wherever it waits for the answer.

use serde_json::{Value, json};
use snell_store::{Judgement, TimelineFilter};

use crate::support::{Kept, Sent, prompt, sent, stop};

const SECRET: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";

fn tool(event: &str, name: &str, input: Value) -> Sent {
    sent(event, "s").with("tool_name", name).with("tool_input", input)
}

#[test]
fn why_an_agent_waits_says_what_it_asks() {
    let questions = json!({"questions": [{"question": "Which database?"}, {"question": "And\n which cache?"}]});
    let permission = "Claude needs your permission to use Bash";
    let cases: Vec<(Vec<Sent>, String)> = vec![
        (
            vec![tool("PreToolUse", "AskUserQuestion", questions)],
            "it asks the user (AskUserQuestion): Which database?; And which cache?".into(),
        ),
        (
            vec![tool("PreToolUse", "AskUserQuestion", json!({"questions": "?"}))],
            "it asks the user (AskUserQuestion): {\"questions\":\"?\"}".into(),
        ),
        (
            vec![tool(
                "PreToolUse",
                "ExitPlanMode",
                json!({"plan": "# Plan\nFirst this."}),
            )],
            "it asks the user (ExitPlanMode): # Plan First this.".into(),
        ),
        (
            vec![tool(
                "PermissionRequest",
                "Bash",
                json!({"command": format!("git push {SECRET}")}),
            )],
            "it asks for permission to use Bash: git push [masked: GitHub token]".into(),
        ),
        // What is told in general afterwards says less.
        (
            vec![
                tool("PermissionRequest", "Bash", json!({"command": "git push"})),
                sent("Notification", "s")
                    .with("notification_type", "permission_prompt")
                    .with("message", permission),
            ],
            "it asks for permission to use Bash: git push".into(),
        ),
        (
            vec![
                tool("PreToolUse", "Bash", json!({"command": "git push"})),
                sent("Notification", "s").with("message", permission),
            ],
            format!("{permission}: git push"),
        ),
        (
            vec![stop("s", "I have looked. Shall I push it? Tests are green.")],
            "its last words are a question: Shall I push it?".into(),
        ),
    ];
    for (events, expected) in cases {
        let mut kept = Kept::new();
        kept.take(prompt("s", "Go on."));
        for (number, event) in (1..).zip(events) {
            kept.take(event.at(number));
        }
        let agent = kept.agent();
        assert_eq!((agent.state.as_str(), agent.why), ("awaiting_input", expected));
    }
}

#[test]
fn a_question_stands_on_the_timeline_with_its_answer() {
    let input = json!({"questions": [{"question": "Which database?", "options": [{"label": "SQLite"}]}]});
    let cases = [
        (
            json!({"answers": {"Which database?": "SQLite"}}),
            "Which database? → SQLite",
        ),
        (
            json!({"answers": {"Which database?": ["a", "b"]}}),
            "Which database? → [\"a\",\"b\"]",
        ),
        (json!("declined"), "Which database?"),
    ];
    for (response, expected) in cases {
        let mut kept = Kept::new();
        let call = |event: &str| tool(event, "AskUserQuestion", input.clone()).with("tool_use_id", "t");
        kept.take(call("PreToolUse"));
        let about = |kept: &mut Kept| {
            let filter = TimelineFilter {
                agent_id: 1,
                limit: 10,
                ..TimelineFilter::default()
            };
            kept.store
                .timeline(&filter)
                .unwrap()
                .pop()
                .unwrap()
                .tool_summary
                .unwrap()
        };
        assert_eq!(about(&mut kept), "Which database?");
        kept.take(call("PostToolUse").with("tool_response", response).at(5));
        assert_eq!(about(&mut kept), expected);
    }
}

#[test]
fn a_call_about_which_the_user_is_asked_waits_for_the_answer() {
    let reason = format!("it would overwrite {SECRET}\nfor good");
    let cases = [
        (
            Some(reason.as_str()),
            " (it would overwrite [masked: GitHub token] for good)",
        ),
        (None, ""),
    ];
    for (reason, told) in cases {
        let ends = [
            tool("PostToolUse", "Bash", json!({"command": "cp a b"})),
            sent("PermissionDenied", "s").with("tool_name", "Bash"),
            prompt("s", "Do something else."),
            stop("s", "Done."),
        ];
        for end in ends {
            let mut kept = Kept::new();
            kept.take(prompt("s", "Go on."));
            let call = tool("PreToolUse", "Bash", json!({"command": "cp a b"})).at(1);
            let mut asked = call.observed_in(&kept.project());
            asked.judgement = Some(Judgement {
                decision: Some("ask".into()),
                reason: reason.map(str::to_owned),
                ..Judgement::default()
            });
            kept.store.ingest(asked).unwrap();
            let agent = kept.agent();
            let why = format!("the user is asked about Bash: cp a b{told}");
            assert_eq!((agent.state.as_str(), agent.why), ("awaiting_input", why));
            assert_eq!(agent.current_tool.as_deref(), Some("Bash"));
            kept.take(end.at(2));
            assert_ne!(kept.agent().state.as_str(), "awaiting_input");
        }
    }
}
