use serde_json::json;

use super::*;
use crate::plain::world;
use crate::policy::{Author, Choice, Preset};

fn judged(command: &str, policy: &Policy) -> Judgement {
    let input = json!({ "command": command });
    let call = Call {
        tool: "Bash",
        input: &input,
    };
    judge(&call, policy, &world())
}

fn verdict(command: &str, policy: &Policy) -> Verdict {
    judged(command, policy).decision
}

#[test]
fn a_preset_decides_what_is_minded() {
    use Verdict::{Allow, Ask, Deny};
    for (command, standard, strict) in [
        ("ls", Allow, Allow),
        ("npm publish", Ask, Deny),
        ("rm -rf /", Deny, Deny),
        ("$TOOL build", Allow, Ask),
    ] {
        assert_eq!(verdict(command, &Policy::new(Preset::Standard)), standard, "{command}");
        assert_eq!(verdict(command, &Policy::new(Preset::Strict)), strict, "{command}");
        assert_eq!(verdict(command, &Policy::new(Preset::Audit)), Allow, "{command}");
    }
}

#[test]
fn a_rule_is_turned_off_and_on_by_whoever_may() {
    use Author::{Project, User};
    use Verdict::{Allow, Ask, Deny};
    for (rule, verdict, by, command, expected) in [
        ("process.kill-by-name", Allow, User, "pkill node", Allow),
        ("process.kill-by-name", Allow, Project, "pkill node", Allow),
        ("process.kill-by-name", Ask, Project, "pkill node", Ask),
        ("process.kill-by-name", Allow, User, "pkill node; rm ~/x", Deny),
        ("guard.unclear", Deny, Project, "$TOOL build", Deny),
        // A locked rule: a project makes it stricter, never milder; the user does as they like.
        ("files.delete-root", Allow, Project, "rm -rf /", Deny),
        ("files.delete-root", Ask, Project, "rm -rf /", Deny),
        ("process.fork-bomb", Ask, Project, ":(){ :|:& };:", Deny),
        ("process.fork-bomb", Ask, User, ":(){ :|:& };:", Ask),
        ("process.fork-bomb", Allow, User, ":(){ :|:& };:", Allow),
    ] {
        let mut policy = Policy::default();
        policy.rules.insert(rule.to_owned(), Choice { verdict, by });
        assert_eq!(
            self::verdict(command, &policy),
            expected,
            "{rule} {verdict:?} {by:?}: {command}"
        );
    }
}

#[test]
fn what_the_guard_fails_at_is_for_the_policy_to_decide() {
    use Verdict::{Allow, Ask, Deny};
    let too_much = "eval ".repeat(300) + "x";
    for preset in [Preset::Standard, Preset::Strict, Preset::Audit] {
        for on_failure in [Allow, Ask, Deny] {
            let mut policy = Policy::new(preset);
            policy.on_failure = on_failure;
            let done = if preset == Preset::Audit { Allow } else { on_failure };
            let failed = Judgement::failed(&policy);
            assert_eq!((failed.decision, failed.would), (done, on_failure), "{preset:?}");
            assert_eq!(failed.rule, Some("guard.failure"));
            assert!(matches!(failed.coverage, Coverage::Partial(_)));
            if preset == Preset::Standard {
                assert_eq!(verdict(&too_much, &policy), done);
            }
            for id in ["guard.limit", "guard.failure"] {
                let verdict = Deny;
                policy.rules.insert(
                    id.to_owned(),
                    Choice {
                        verdict,
                        by: Author::Project,
                    },
                );
            }
            assert_eq!(Judgement::failed(&policy).would, Deny);
            assert_eq!(judged(&too_much, &policy).would, Deny);
        }
    }
}

#[test]
fn who_only_watches_is_told_what_would_have_been() {
    let input = json!({ "command": "ls; pkill node" });
    let call = Call {
        tool: "Bash",
        input: &input,
    };
    let judgement = judge(&call, &Policy::new(Preset::Audit), &world());
    assert_eq!(judgement.decision, Verdict::Allow);
    assert_eq!(judgement.would, Verdict::Deny);
    assert_eq!(judgement.rule, Some("process.kill-by-name"));
    assert_eq!(judgement.tier, Some(Tier::Process));
    assert_eq!(judgement.spans.first(), Some(&(4..14)));
    assert_eq!(judgement.spans.len(), 1);
    assert!(judgement.reason.starts_with("pkill ends"), "{}", judgement.reason);
}

#[test]
fn what_is_too_much_is_asked_about() {
    let many = format!("rm {}", "x ".repeat(20_000));
    let deep = "$(".repeat(100_000);
    for command in [many, format!("echo {deep}"), "eval ".repeat(300) + "x"] {
        let found = verdict(&command, &Policy::default());
        assert_eq!(found, Verdict::Ask, "{}", command.get(..20).unwrap_or_default());
    }
}

#[test]
fn what_was_not_seen_never_counts_as_seen_in_full() {
    let long = "x".repeat(5000);
    let rows = [
        ("Bash", json!({ "command": "eval ".repeat(300) + "x" }), LIMIT),
        ("Bash", json!({ "command": "x".repeat((16 << 20) + 1) }), LIMIT),
        (
            "Bash",
            json!({ "command": format!("python3 -c '{}'", "f(".repeat(200)) }),
            LIMIT,
        ),
        (
            "Bash",
            json!({ "command": format!("psql -c '{}'", "select 1; ".repeat(200_000)) }),
            LIMIT,
        ),
        ("Write", json!({ "file_path": long }), LIMIT),
        ("Grep", json!({ "pattern": "x", "glob": long }), LIMIT),
        ("Bash", json!({ "command": 7 }), UNREAD),
        ("", json!({ "command": "ls" }), UNREAD),
    ];
    for (tool, input, rule) in rows {
        let judgement = judge(&Call { tool, input: &input }, &Policy::default(), &world());
        let shown: String = input.to_string().chars().take(60).collect();
        assert_eq!(judgement.rule, Some(rule), "{tool} {shown}");
        assert_ne!(judgement.coverage, Coverage::Full, "{tool} {shown}");
        assert!(!judgement.coverage.unseen().is_empty(), "{tool} {shown}");
    }
}

#[test]
fn rules_that_the_code_speaks_of_exist() {
    for id in [
        LIMIT,
        UNREAD,
        FAILURE,
        UNCLEAR,
        FORK_BOMB,
        crate::tools::settings::RULE,
        "infra.tool-destroy",
    ] {
        assert!(RULES.iter().any(|rule| rule.id == id), "{id}");
    }
}

/// A container often has one directory for everything.
#[test]
fn a_project_that_is_the_home_may_be_searched() {
    let mut world = world();
    (world.home, world.project, world.cwd) = ("/root".into(), "/root".into(), "/root".into());
    for (tool, input) in [
        ("Bash", json!({ "command": "grep -rn TODO ." })),
        (
            "Grep",
            json!({ "pattern": "TODO", "path": "/root", "output_mode": "content" }),
        ),
        ("Write", json!({ "file_path": "/root/src/main.rs" })),
    ] {
        let call = Call { tool, input: &input };
        let judgement = judge(&call, &Policy::default(), &world);
        assert_eq!(judgement.rule, None, "{tool} {input}");
    }
}
