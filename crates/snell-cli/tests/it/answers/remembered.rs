//! Answers that are given again: when they count, and how they are listed and ended.

use serde_json::{Value, json};

use super::{AnswerBench, ENABLED, decision};

fn deploy() -> Value {
    json!({"tool_input": {"command": "make deploy"}})
}

impl AnswerBench {
    /// Has the user allow this call for the project. Returns the id of the request.
    fn remember(&self, event: &str, fields: Value) -> String {
        let _watcher = self.watch();
        let hook = self.spawn_event(event, fields);
        let uid = self.wait_for_open();
        self.answer_hook(hook, &["allow", "--remember", "project"]);
        uid
    }

    fn write_settings(&self, text: &str) {
        std::fs::write(self.sandbox.home().join(".config/snell/snell.toml"), text).unwrap();
    }

    fn list_remembered(&self) -> Vec<Value> {
        let listed = self.sandbox.run_snell(&["requests", "--remembered", "--json"], "");
        assert_eq!(listed.code, 0, "{listed:?}");
        listed.json().as_array().unwrap().clone()
    }
}

#[test]
fn remembered_answers_are_listed_and_forgotten() {
    let bench = AnswerBench::new(ENABLED);
    let listed = bench.sandbox.run_snell(&["requests", "--remembered"], "");
    assert!(listed.stdout.starts_with("No remembered answers."), "{listed:?}");
    let uid = bench.remember("PermissionRequest", deploy());
    let listed = bench.list_remembered();
    assert_eq!(listed.len(), 1, "{listed:?}");
    let expected = json!([uid, "project", "Bash: make deploy", bench.sandbox.project(), null]);
    let shown = ["request_uid", "scope", "title", "scope_key", "until"].map(|name| listed[0][name].clone());
    assert_eq!(json!(shown), expected);
    let table = bench.sandbox.run_snell(&["requests", "--remembered"], "").stdout;
    assert!(table.contains(&uid) && table.contains("Bash: make deploy"), "{table}");

    for (id, expected) in [("00000000", "no remembered answer has the id"), (&uid[..3], "is too short")] {
        let refused = bench.answer(&["--forget", id]);
        assert!(refused.code == 1 && refused.stderr.contains(expected), "{id}: {refused:?}");
    }
    let allowed = decision(json!({"behavior": "allow"})).to_string();
    assert_eq!(bench.run_event("PermissionRequest", deploy()).stdout.trim(), allowed);
    let forgotten = bench.answer(&["--forget", &uid[..6]]);
    assert_eq!(forgotten.code, 0, "{forgotten:?}");
    assert!(forgotten.stdout.starts_with("Forgotten: Bash: make deploy."), "{forgotten:?}");
    assert_eq!(bench.list_remembered(), Vec::<Value>::new());
    assert_eq!(bench.run_event("PermissionRequest", deploy()).stdout, "");
}

#[test]
fn an_agent_cannot_forget_an_answer() {
    let bench = AnswerBench::new(ENABLED);
    let uid = bench.remember("PermissionRequest", deploy());
    // The agent is this process, and so the parent of the command.
    let mut started = bench.hook_command();
    started.env("CLAUDE_PID", std::process::id().to_string());
    let payload = bench.build_payload("SessionStart", &json!({"session_id": "own"}));
    snell_test_support::process::run_with_stdin(&mut started, payload);
    let refused = bench.answer(&["--forget", &uid]);
    assert!(refused.code == 1 && refused.stderr.contains("an agent cannot answer requests"), "{refused:?}");
    assert_eq!(bench.list_remembered().len(), 1);
}

#[test]
fn a_remembered_answer_does_not_lift_the_ask_of_a_rule_that_was_not_there() {
    let rule = "[[guard.ask]]\ncommand = \"make deploy\"\nreason = \"deploys\"\n";
    let hook = "[[hook]]\nevent = \"PreToolUse\"\nrun = 'echo \"{\\\"decision\\\": \\\"ask\\\"}\"'\n";
    // The settings when the user answered, those of the next call, and whether it is allowed without a question.
    let cases = [
        ("", "", true),
        ("", rule, false),
        (rule, "", true),
        (rule, rule, true),
        ("", hook, false),
        (hook, hook, true),
        (hook, rule, false),
    ];
    for (before, after, expected) in cases {
        let settings = |rules: &str| format!("{ENABLED}hold = true\n{rules}");
        let bench = AnswerBench::new(&settings(before));
        let event = if before.is_empty() { "PermissionRequest" } else { "PreToolUse" };
        bench.remember(event, deploy());
        bench.write_settings(&settings(after));
        let event = if after.is_empty() { "PermissionRequest" } else { "PreToolUse" };
        let said = bench.run_event(event, deploy());
        assert_eq!(said.stdout.contains("\"allow\""), expected, "{before:?} {after:?}: {said:?}");
        assert!(!expected || !said.stdout.contains("asks you about this call"), "{before:?} {after:?}: {said:?}");
        assert_eq!(bench.list_remembered().len(), 1);
    }
}
