//! Calls of tools other than shells, as a table with their decisions.

use serde_json::Value as Json;
use snell_guard::{GuardPolicy, GuardToolCall, PolicyPreset, judge_call};

use crate::corpus::build_corpus_context;

#[test]
fn calls_of_tools_are_judged_as_the_table_says() {
    let mut faults = Vec::new();
    for row in include_str!("calls.txt").lines() {
        let (expected, call) = row.split_once(' ').unwrap();
        let (tool, input) = call.split_once(' ').unwrap();
        let input: Json = serde_json::from_str(input).unwrap();
        let found = judge_call(
            &GuardToolCall { tool, input: &input },
            &GuardPolicy::new(PolicyPreset::ClaudeOs),
            &build_corpus_context(),
        );
        if found.decision.name() != expected {
            faults.push(format!("{} ({:?}): {row}", found.decision.name(), found.rule));
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn large_and_deeply_nested_input_is_judged_like_any_other() {
    let mut nested = serde_json::json!({ "sql": "DROP TABLE users" });
    for _ in 0..100 {
        nested = serde_json::json!({ "params": [nested] });
    }
    let long = "ghp_ -----BEGIN PRIVATE KEY----- rm -rf / ".repeat(1 << 15);
    let rows = [
        ("mcp__postgres__query", nested, "deny"),
        ("mcp__slack__post_message", serde_json::json!({ "text": &long }), "allow"),
        ("mcp__notion__create_pages", serde_json::json!({ "pages": vec![[1, 2, 3]; 1 << 16] }), "allow"),
    ];
    for (tool, input, expected) in rows {
        let found = judge_call(
            &GuardToolCall { tool, input: &input },
            &GuardPolicy::new(PolicyPreset::ClaudeOs),
            &build_corpus_context(),
        );
        assert_eq!(found.decision.name(), expected, "{tool}");
    }
}
