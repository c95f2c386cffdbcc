use serde_json::{Value as Json, json};

use super::*;
use crate::policy::{PolicyAuthor, PolicyEntry, PolicyPreset, RuleOverride};
use crate::test_support::{test_context, test_protections};

fn explain_with(tool: &str, input: &Json, policy: &GuardPolicy) -> GuardExplanation {
    explain_call(&GuardToolCall { tool, input }, policy, &test_context())
}

fn explain_command(command: &str) -> GuardExplanation {
    explain_with("Bash", &json!({ "command": command }), &GuardPolicy::new(PolicyPreset::ClaudeOs))
}

fn user_override(verdict: GuardDecision) -> RuleOverride {
    RuleOverride { decision: verdict, by: PolicyAuthor::User }
}

#[test]
fn every_program_is_listed_with_its_wrappers() {
    let told = explain_command("cd src; x=rm; sudo -u bob env A=1 \"$x\" -rf /usr/$NAME < list");
    assert_eq!(told.steps.len(), 1);
    let step = &told.steps[0];
    assert_eq!(step.text, "sudo -u bob env A=1 \"$x\" -rf /usr/$NAME < list");
    assert_eq!(step.through, ["sudo", "env"]);
    let words: Vec<(&str, bool)> = step.words.iter().map(|word| (word.text.as_str(), word.known)).collect();
    assert_eq!(words, [("rm", true), ("-rf", true), ("/usr/…", false)]);
    assert_eq!(step.variables, ["A=1"]);
    assert_eq!(step.cwd.as_deref(), Some("/home/ann/work/app/src"));
    assert_eq!(step.stdin, "the file list");
    assert!(step.privileged && !step.elsewhere);
    let does: Vec<&str> = step.effects.iter().map(|effect| effect.does).collect();
    assert_eq!(does, ["reads", "affects", "deletes"]);
    let delete = &step.effects[2];
    assert_eq!(delete.target.as_deref(), Some("/usr/…"));
    assert_eq!(delete.place, ["system", "partly unknown"]);
    assert!(delete.recursive);
}

#[test]
fn rules_are_listed_with_their_result_and_source() {
    let mut policy = GuardPolicy::new(PolicyPreset::Strict);
    policy.rules.insert("files.delete-outside".to_owned(), user_override(GuardDecision::Ask));
    let told = explain_with("Bash", &json!({ "command": "rm ~/x" }), &policy);
    assert_eq!((told.judgement.decision, told.judgement.rule), (GuardDecision::Ask, Some("files.delete-outside")));
    let looks = &told.steps[0].effects[0].rules;
    let about =
        |id: &str| looks.iter().find(|look| look.rule == id).map(|look| (look.matched, look.verdict, look.source));
    assert_eq!(about("files.delete-outside"), Some((true, GuardDecision::Ask, DecisionSource::User)));
    assert_eq!(about("files.delete-root"), Some((false, GuardDecision::Deny, DecisionSource::Rule)));
    assert_eq!(about("secret.read"), None);
}

#[test]
fn allowed_commands_show_their_reason() {
    let policy = GuardPolicy {
        entries: vec![PolicyEntry::allow("pkill node", "it is mine")],
        ..GuardPolicy::new(PolicyPreset::ClaudeOs)
    };
    let told = explain_with("Bash", &json!({ "command": "ls; pkill node" }), &policy);
    assert_eq!(
        (told.judgement.decision, told.judgement.allowed_by.as_deref()),
        (GuardDecision::Allow, Some("it is mine"))
    );
    assert_eq!(told.steps[1].allowed_by.as_deref(), Some("it is mine"));
    assert_eq!(told.steps[1].effects[0].rules[0].allowed_by.as_deref(), Some("it is mine"));
}

#[test]
fn gaps_are_described() {
    for (command, expected) in [
        ("ls", None),
        ("$TOOL build", Some("a program name is unknown until the command runs")),
        ("eval \"$CODE\"", Some("shell code is unknown until the command runs")),
        ("echo 'x", Some("the text is not valid shell")),
    ] {
        assert_eq!(explain_command(command).unseen.last().map(String::as_str), expected, "{command}");
    }
}

/// The smallest change of the call, and its result.
#[test]
fn the_smallest_change_comes_first() {
    for (command, change, then) in [
        ("sudo ls", FlipKind::Word, "ls"),
        ("ls; pkill node; ls", FlipKind::Command, "ls; :; ls"),
        ("git push --force origin main", FlipKind::Word, "git push origin main"),
        ("echo hi > /etc/hosts", FlipKind::Target, "echo hi > ./hosts"),
        ("rm -rf ~/notes", FlipKind::Target, "rm -rf ./notes"),
        ("rm -rf build ~/notes", FlipKind::Word, "rm -rf build"),
        ("cargo build && rm ~/a.txt ~/b.txt", FlipKind::Command, "cargo build && :"),
        ("ls; kill -9 -1; pkill node", FlipKind::Command, "ls; :; :"),
    ] {
        let told = explain_command(command);
        assert_ne!(told.judgement.decision, GuardDecision::Allow, "{command}");
        let first =
            told.flips.iter().find(|flip| matches!(flip.change, FlipKind::Word | FlipKind::Command | FlipKind::Target));
        let found = first.map(|flip| (flip.change, flip.then.as_str()));
        assert_eq!(found, Some((change, then)), "{command}: {:#?}", told.flips);
    }
}

#[test]
fn flips_show_settings_as_toml() {
    let told = explain_command("pkill node");
    let of = |change: FlipKind| told.flips.iter().find(|flip| flip.change == change).map(|flip| flip.then.as_str());
    assert_eq!(of(FlipKind::Rule), Some("[guard.rules]\n\"process.kill-by-name\" = \"allow\""));
    assert_eq!(of(FlipKind::Allowed), Some("[[guard.allow]]\ncommand = \"pkill node\"\nreason = \"…\""));
}

#[test]
fn what_is_allowed_says_which_setting_lets_it_happen() {
    let mut chosen = GuardPolicy::new(PolicyPreset::ClaudeOs);
    chosen.rules.insert("process.kill-by-name".to_owned(), user_override(GuardDecision::Allow));
    let allowed = GuardPolicy {
        entries: vec![PolicyEntry::allow("pkill *", "why not")],
        ..GuardPolicy::new(PolicyPreset::ClaudeOs)
    };
    for (command, policy, expected) in [
        ("ls", &GuardPolicy::new(PolicyPreset::ClaudeOs), vec![]),
        ("$TOOL build", &GuardPolicy::new(PolicyPreset::ClaudeOs), vec![FlipKind::Preset]),
        ("pkill node", &chosen, vec![FlipKind::Rule]),
        ("pkill node", &allowed, vec![FlipKind::Allowed]),
    ] {
        let told = explain_with("Bash", &json!({ "command": command }), policy);
        assert_eq!(told.judgement.decision, GuardDecision::Allow, "{command}");
        let changes: Vec<FlipKind> = told.flips.iter().map(|flip| flip.change).collect();
        assert_eq!(changes, expected, "{command}");
    }
}

#[test]
fn file_tools_are_explained_too() {
    let policy = GuardPolicy { protected: test_protections(), ..GuardPolicy::new(PolicyPreset::ClaudeOs) };
    let input = json!({ "file_path": "/home/ann/work/app/infra/prod/x.tf", "content": "" });
    let told = explain_with("Write", &input, &policy);
    assert_eq!(told.judgement.rule, Some("protected.change"));
    assert!(told.steps.is_empty());
    assert_eq!(told.effects[0].place, ["must not be changed", "in the project"]);
    assert!(told.flips.iter().any(|flip| flip.then == "/home/ann/work/app/x.tf"), "{:?}", told.flips);
}

#[test]
fn an_explanation_is_bounded() {
    let many = "rm ~/x; ".repeat(2000);
    let wide = format!("rm {}", "~/x ".repeat(2000));
    let deep = format!("echo {}", "$(".repeat(50_000));
    for command in [many, wide, deep] {
        let told = explain_command(&command);
        assert_ne!(told.judgement.decision, GuardDecision::Allow);
        assert!(told.steps.len() <= MAX_STEPS);
        assert!(told.steps.iter().all(|step| step.effects.len() <= MAX_EFFECTS_PER_STEP));
        assert!(told.flips.len() <= 8);
    }
}

#[test]
fn an_explanation_can_be_written_as_json() {
    let input = json!({ "command": "sudo ls" });
    let told = serde_json::to_value(explain_with("Bash", &input, &GuardPolicy::default())).unwrap();
    assert_eq!(told["decision"], Json::Null);
    assert_eq!(told["steps"][0]["words"][0]["text"], "ls");
    assert_eq!(told["steps"][0]["effects"][0]["rules"][0]["source"], "rule");
    assert_eq!(told["flips"][0]["change"], "word");
}
