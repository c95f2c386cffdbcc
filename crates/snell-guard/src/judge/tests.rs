use serde_json::json;

use super::*;
use crate::policy::{PolicyAuthor, PolicyPreset, RuleOverride};
use crate::test_support::test_context;

fn judge_command(command: &str, policy: &GuardPolicy) -> GuardJudgement {
    let input = json!({ "command": command });
    let call = GuardToolCall { tool: "Bash", input: &input };
    judge_call(&call, policy, &test_context())
}

fn decide_command(command: &str, policy: &GuardPolicy) -> GuardDecision {
    judge_command(command, policy).decision
}

#[test]
fn presets_decide_differently() {
    use GuardDecision::{Allow, Ask, Deny};
    for (command, standard, document, strict) in [
        ("ls", Allow, Allow, Allow),
        ("npm publish", Ask, Ask, Deny),
        ("pkill node", Ask, Deny, Deny),
        ("rm -rf /", Deny, Deny, Deny),
        ("$TOOL build", Allow, Allow, Ask),
    ] {
        assert_eq!(decide_command(command, &GuardPolicy::new(PolicyPreset::Standard)), standard, "{command}");
        assert_eq!(decide_command(command, &GuardPolicy::new(PolicyPreset::ClaudeOs)), document, "{command}");
        assert_eq!(decide_command(command, &GuardPolicy::new(PolicyPreset::Strict)), strict, "{command}");
        assert_eq!(decide_command(command, &GuardPolicy::new(PolicyPreset::Audit)), Allow, "{command}");
    }
}

#[test]
fn users_and_projects_choose_rules_within_their_rights() {
    use GuardDecision::{Allow, Ask, Deny};
    use PolicyAuthor::{Project, User};
    for (rule, verdict, by, command, expected) in [
        ("process.kill-by-name", Allow, User, "pkill node", Allow),
        ("process.kill-by-name", Allow, Project, "pkill node", Allow),
        ("process.kill-by-name", Ask, Project, "pkill node", Ask),
        ("process.kill-by-name", Allow, User, "pkill node; rm ~/x", Deny),
        ("guard.unclear", Deny, Project, "$TOOL build", Deny),
        // A locked rule: a project can make it stricter, but not milder; the user can do both.
        ("files.delete-root", Allow, Project, "rm -rf /", Deny),
        ("files.delete-root", Ask, Project, "rm -rf /", Deny),
        ("process.fork-bomb", Ask, Project, ":(){ :|:& };:", Deny),
        ("process.fork-bomb", Ask, User, ":(){ :|:& };:", Ask),
        ("process.fork-bomb", Allow, User, ":(){ :|:& };:", Allow),
    ] {
        let mut policy = GuardPolicy::default();
        policy.rules.insert(rule.to_owned(), RuleOverride { decision: verdict, by });
        assert_eq!(self::decide_command(command, &policy), expected, "{rule} {verdict:?} {by:?}: {command}");
    }
}

#[test]
fn what_the_guard_fails_at_is_for_the_policy_to_decide() {
    use GuardDecision::{Allow, Ask, Deny};
    let too_much = "eval ".repeat(300) + "x";
    for preset in [PolicyPreset::Standard, PolicyPreset::Strict, PolicyPreset::Audit] {
        for on_failure in [Allow, Ask, Deny] {
            let mut policy = GuardPolicy::new(preset);
            policy.on_failure = on_failure;
            let done = if preset == PolicyPreset::Audit { Allow } else { on_failure };
            let failed = GuardJudgement::for_guard_failure(&policy);
            assert_eq!((failed.decision, failed.unaudited), (done, on_failure), "{preset:?}");
            assert_eq!(failed.rule, Some("guard.failure"));
            assert!(!failed.coverage.is_full());
            if preset == PolicyPreset::Standard {
                assert_eq!(decide_command(&too_much, &policy), done);
            }
            for id in ["guard.limit", "guard.failure"] {
                let verdict = Deny;
                policy.rules.insert(id.to_owned(), RuleOverride { decision: verdict, by: PolicyAuthor::Project });
            }
            assert_eq!(GuardJudgement::for_guard_failure(&policy).unaudited, Deny);
            assert_eq!(judge_command(&too_much, &policy).unaudited, Deny);
        }
    }
}

#[test]
fn the_audit_preset_reports_the_decision_it_does_not_enforce() {
    let input = json!({ "command": "ls; pkill node" });
    let call = GuardToolCall { tool: "Bash", input: &input };
    let judgement = judge_call(&call, &GuardPolicy::new(PolicyPreset::Audit), &test_context());
    assert_eq!(judgement.decision, GuardDecision::Allow);
    assert_eq!(judgement.unaudited, GuardDecision::Ask);
    assert_eq!(judgement.rule, Some("process.kill-by-name"));
    assert_eq!(judgement.tier, Some(RuleTier::Process));
    assert_eq!(judgement.spans.first(), Some(&(4..14)));
    assert_eq!(judgement.spans.len(), 1);
    assert!(judgement.reason.starts_with("pkill would end"), "{}", judgement.reason);
}

#[test]
fn calls_beyond_a_limit_are_asked_about() {
    let many = format!("rm {}", "x ".repeat(20_000));
    let deep = "$(".repeat(100_000);
    for command in [many, format!("echo {deep}"), "eval ".repeat(300) + "x"] {
        let found = decide_command(&command, &GuardPolicy::default());
        assert_eq!(found, GuardDecision::Ask, "{}", command.get(..20).unwrap_or_default());
    }
}

#[test]
fn what_was_not_seen_never_counts_as_seen_in_full() {
    let long = "x".repeat(5000);
    let rows = [
        ("Bash", json!({ "command": "eval ".repeat(300) + "x" }), LIMIT_RULE),
        ("Bash", json!({ "command": "x".repeat((16 << 20) + 1) }), LIMIT_RULE),
        ("Bash", json!({ "command": format!("python3 -c '{}'", "f(".repeat(200)) }), LIMIT_RULE),
        ("Bash", json!({ "command": format!("psql -c '{}'", "select 1; ".repeat(200_000)) }), LIMIT_RULE),
        ("Write", json!({ "file_path": long }), LIMIT_RULE),
        ("Grep", json!({ "pattern": "x", "glob": long }), LIMIT_RULE),
        ("Bash", json!({ "command": 7 }), UNREADABLE_RULE),
        ("", json!({ "command": "ls" }), UNREADABLE_RULE),
    ];
    for (tool, input, rule) in rows {
        let judgement = judge_call(&GuardToolCall { tool, input: &input }, &GuardPolicy::default(), &test_context());
        let shown: String = input.to_string().chars().take(60).collect();
        assert_eq!(judgement.rule, Some(rule), "{tool} {shown}");
        assert!(!judgement.coverage.is_full(), "{tool} {shown}");
        assert!(!judgement.coverage.describe_gaps().is_empty(), "{tool} {shown}");
    }
}

#[test]
fn rules_that_the_code_speaks_of_exist() {
    for id in [
        LIMIT_RULE,
        UNREADABLE_RULE,
        FAILURE_RULE,
        UNCLEAR_RULE,
        "process.fork-bomb",
        crate::tools::agent_settings::SETTINGS_RULE,
        "infra.tool-destroy",
    ] {
        assert!(RULES.iter().any(|rule| rule.id == id), "{id}");
    }
}

/// A container often has one directory for everything.
#[test]
fn a_project_that_is_the_home_may_be_searched() {
    let mut world = test_context();
    (world.home, world.project, world.cwd) = ("/root".into(), "/root".into(), "/root".into());
    for (tool, input) in [
        ("Bash", json!({ "command": "grep -rn TODO ." })),
        ("Grep", json!({ "pattern": "TODO", "path": "/root", "output_mode": "content" })),
        ("Write", json!({ "file_path": "/root/src/main.rs" })),
    ] {
        let call = GuardToolCall { tool, input: &input };
        let judgement = judge_call(&call, &GuardPolicy::default(), &world);
        assert_eq!(judgement.rule, None, "{tool} {input}");
    }
}
