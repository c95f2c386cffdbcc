//! Places that the user has named, and the many programs that write and read: what is to be done about each command.
//!
//! `infra/prod` must not be changed, `~/vault` must not even be read.

use serde_json::json;
use snell_guard::{
    ForbiddenAccess, GuardDecision, GuardJudgement, GuardPolicy, GuardToolCall, PathProtection, PolicyPreset,
    judge_call,
};

use crate::corpus::build_corpus_context;

/// What the user has named.
fn build_policy() -> GuardPolicy {
    let place = |path: &str, from: ForbiddenAccess| PathProtection { path: path.to_owned(), from };
    GuardPolicy {
        protected: vec![
            place("/home/ann/work/app/infra/prod", ForbiddenAccess::Change),
            place("/home/ann/vault", ForbiddenAccess::Read),
        ],
        ..GuardPolicy::new(PolicyPreset::ClaudeOs)
    }
}

fn judge_bash(command: &str) -> GuardJudgement {
    let input = json!({ "command": command });
    let call = GuardToolCall { tool: "Bash", input: &input };
    judge_call(&call, &build_policy(), &build_corpus_context())
}

#[test]
fn named_places_are_kept_from_all_programs_that_would_change_or_read_them() {
    let mut faults = Vec::new();
    for row in include_str!("protected.txt").lines() {
        let (expected, command) = row.split_once(' ').unwrap();
        let found = judge_bash(&command.replace("\\n", "\n"));
        if found.decision.name() != expected {
            faults.push(format!("{} ({:?}): {row}", found.decision.name(), found.rule));
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn arguments_beyond_the_limit_are_asked_about() {
    let found = judge_bash(&format!("some-tool {}", "a/=".repeat(100_000)));
    assert_eq!((found.decision, found.rule), (GuardDecision::Ask, Some("guard.limit")));
    let found = judge_bash(&format!("some-tool {} ~/vault/x", "a/=".repeat(100)));
    assert_eq!((found.decision, found.rule), (GuardDecision::Deny, Some("protected.look")));
}
