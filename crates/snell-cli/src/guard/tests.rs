use snell_guard::{Preset, Verdict};

use super::*;

fn guard(policy: Policy) -> Guard {
    let world = World {
        cwd: "/home/me/work".into(),
        home: "/home/me".into(),
        user: "me".into(),
        project: "/home/me/work".into(),
        temp: Vec::new(),
        own: Vec::new(),
        variables: Vec::new(),
        links: Vec::new(),
        ignores_case: false,
        agent_pid: None,
    };
    Guard {
        policy,
        world,
        linked: Linked::default(),
    }
}

#[test]
fn a_judgement_that_breaks_is_what_the_policy_makes_of_failures() {
    let cases = [
        (Policy::default(), Verdict::Ask, Verdict::Ask),
        (Policy::new(Preset::Audit), Verdict::Allow, Verdict::Ask),
        (
            Policy {
                on_failure: Verdict::Deny,
                ..Policy::default()
            },
            Verdict::Deny,
            Verdict::Deny,
        ),
    ];
    for (policy, decision, would) in cases {
        let judged = guard(policy).or_failed("Bash", || panic!("broken"), |failed| failed);
        assert_eq!(
            (judged.decision, judged.would, judged.rule),
            (decision, would, Some("guard.failure"))
        );
        let kept = told::recorded(&judged, false).unwrap();
        assert_eq!(
            (kept.decision.as_str(), kept.rule.as_str()),
            (decision.name(), "guard.failure")
        );
    }
}

#[test]
fn an_explanation_decides_as_a_judgement_does() {
    let guard = guard(Policy::default());
    for command in ["ls", "rm -rf /", "git push --force-with-lease", "$X"] {
        let input = serde_json::json!({"command": command});
        let (judged, explained) = (guard.judge("Bash", &input, None), guard.explain("Bash", &input, None));
        assert_eq!(judged, explained.judgement, "{command}");
    }
}

#[test]
fn a_command_begins_where_the_agent_is() {
    let guard = guard(Policy::default());
    let delete = serde_json::json!({"command": "rm -rf app"});
    let cases = [
        (None, Verdict::Allow),
        (Some("sub"), Verdict::Allow),
        (Some("/home/me/work/sub/../sub"), Verdict::Allow),
        (Some("/home/me/other"), Verdict::Deny),
        (Some("../other"), Verdict::Deny),
    ];
    for (cwd, expected) in cases {
        let judged = guard.judge("Bash", &delete, cwd.map(Path::new));
        assert_eq!(judged.decision, expected, "{cwd:?}: {judged:?}");
    }
}
