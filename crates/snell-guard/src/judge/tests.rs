use serde_json::json;

use super::*;
use crate::plain::world;

fn verdict(command: &str, policy: &Policy) -> Verdict {
    let input = json!({ "command": command });
    let call = Call {
        tool: "Bash",
        input: &input,
    };
    judge(&call, policy, &world()).decision
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
fn a_policy_may_turn_rules_off_and_on_but_not_those_that_are_locked() {
    use Verdict::{Allow, Ask, Deny};
    for (rule, said, command, expected) in [
        ("process.kill-by-name", Allow, "pkill node", Allow),
        ("process.kill-by-name", Ask, "pkill node", Ask),
        ("guard.unclear", Deny, "$TOOL build", Deny),
        ("files.delete-root", Allow, "rm -rf /", Deny),
        ("process.fork-bomb", Ask, ":(){ :|:& };:", Deny),
        ("process.kill-by-name", Allow, "pkill node; rm ~/x", Deny),
    ] {
        let mut policy = Policy::default();
        policy.rules.insert(rule.to_owned(), said);
        assert_eq!(verdict(command, &policy), expected, "{rule} {said:?}: {command}");
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
fn rules_that_the_code_speaks_of_exist() {
    for id in [LIMIT, UNCLEAR, FORK_BOMB, "infra.tool-destroy"] {
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
