use snell_guard::{GuardDecision, JudgeContext, PolicyPreset};

use snell_test_support::files::find_repository_root;

use super::*;

fn build_guard(policy: GuardPolicy) -> ProjectGuard {
    let world = JudgeContext {
        cwd: "/home/me/work".into(),
        home: "/home/me".into(),
        user: "me".into(),
        project: "/home/me/work".into(),
        temp: Vec::new(),
        self_paths: Vec::new(),
        variables: Vec::new(),
        links: Vec::new(),
        current_push: None,
        ignores_case: false,
        agent_pid: None,
    };
    let guard = Guard::new(policy, world, Rc::new(LocalFileSystem));
    ProjectGuard { guard, entries: Rc::new([]), caller: GuardCaller::default(), project: "/".into() }
}

#[test]
fn the_schema_names_the_branches_that_are_protected() {
    let schema = find_repository_root().join("docs/schema/snell.toml.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
    let default = &schema["properties"]["guard"]["properties"]["protected_branches"]["default"];
    assert_eq!(*default, json!(GuardPolicy::default().protected_branches));
}

#[test]
fn a_judgement_that_breaks_is_what_the_policy_makes_of_failures() {
    let cases = [
        (GuardPolicy::default(), GuardDecision::Ask, GuardDecision::Ask),
        (GuardPolicy::new(PolicyPreset::Audit), GuardDecision::Allow, GuardDecision::Ask),
        (
            GuardPolicy { on_failure: GuardDecision::Deny, ..GuardPolicy::default() },
            GuardDecision::Deny,
            GuardDecision::Deny,
        ),
    ];
    for (policy, decision, would) in cases {
        let judged = build_guard(policy).catch_failure("Bash", || panic!("broken"), |failed| failed);
        assert_eq!((judged.decision, judged.unaudited, judged.rule), (decision, would, Some("guard.failure")));
        let kept = report::build_record(&judged, report::JudgedInput::Original).unwrap();
        assert_eq!((format!("{:?}", kept.decision), kept.rule.as_str()), (format!("{decision:?}"), "guard.failure"));
    }
}

#[test]
fn an_explanation_decides_as_a_judgement_does() {
    let guard = build_guard(GuardPolicy::default());
    for command in ["ls", "rm -rf /", "git push --force-with-lease", "$X"] {
        let input = serde_json::json!({"command": command});
        let (judged, explained) = (guard.judge("Bash", &input, None), guard.explain("Bash", &input, None));
        assert_eq!(judged, explained.judgement, "{command}");
    }
}

#[test]
fn a_command_begins_where_the_agent_is() {
    let guard = build_guard(GuardPolicy::default());
    let delete = serde_json::json!({"command": "rm -rf app"});
    let cases = [
        (None, GuardDecision::Allow),
        (Some("sub"), GuardDecision::Allow),
        (Some("/home/me/work/sub/../sub"), GuardDecision::Allow),
        (Some("/home/me/other"), GuardDecision::Deny),
        (Some("../other"), GuardDecision::Deny),
    ];
    for (cwd, expected) in cases {
        let judged = guard.judge("Bash", &delete, cwd.map(Path::new));
        assert_eq!(judged.decision, expected, "{cwd:?}: {judged:?}");
    }
}
