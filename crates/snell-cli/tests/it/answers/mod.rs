//! Answers from elsewhere: a hook waits, `snell answer` answers, and the agent gets it.

mod crashes;
mod remembered;
mod shown;
mod waiting;
mod ways;

use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use snell_test_support::database::query_rows;
use snell_test_support::payload::merge_fields;
use snell_test_support::process::{
    ChildGuard, CommandOutput, LiveProcess, run_with_stdin, spawn_with_stdin, wait_for_output,
};
use snell_test_support::wait::wait_until;

use crate::support::CliSandbox;

const ENABLED: &str = "[answers]\nenabled = true\n";

/// An agent that asks, and a person who answers.
struct AnswerBench {
    sandbox: CliSandbox,
    /// The agent's process. The test itself is the person.
    agent: LiveProcess,
}

impl AnswerBench {
    fn new(config: &str) -> Self {
        let sandbox = CliSandbox::new()
            .home_file(".config/snell/snell.toml", config)
            .file(".git/HEAD", "ref: refs/heads/main\n")
            .env("SNELL_SCRIBE", "off")
            .env("USER", "ann");
        let bench = Self { sandbox, agent: LiveProcess::new() };
        // The database is there before anything looks into it.
        bench.run_event("SessionStart", json!({}));
        bench
    }

    /// A process that can pass on answers.
    fn watch(&self) -> ChildGuard {
        let mut command = self.sandbox.command(&["requests", "--watch", "--json"]);
        let watcher = ChildGuard::spawn(command.stdout(Stdio::null()));
        let locks = || std::fs::read_to_string("/proc/locks").unwrap();
        let holds = format!(" {} ", watcher.0.id());
        wait_until(|| locks().contains(&holds).then_some(()));
        watcher
    }

    /// `snell hook`, called by the agent.
    fn hook_command(&self) -> Command {
        let mut command = self.sandbox.command(&["hook"]);
        command.env("CLAUDE_PID", self.agent.pid().to_string());
        command
    }

    fn build_payload(&self, event: &str, fields: &Value) -> String {
        let usual = json!({
            "session_id": "s", "cwd": self.sandbox.project(), "hook_event_name": event, "permission_mode": "default",
            "tool_name": "Bash", "tool_input": {"command": "touch x", "description": "a step"},
        });
        merge_fields(usual, fields).to_string()
    }

    /// Asks in the background.
    fn spawn_event(&self, event: &str, fields: Value) -> Child {
        spawn_with_stdin(&mut self.hook_command(), self.build_payload(event, &fields))
    }

    fn spawn_ask(&self) -> Child {
        self.spawn_event("PermissionRequest", json!({}))
    }

    /// Asks, and expects that the hook does not wait.
    fn run_event(&self, event: &str, fields: Value) -> CommandOutput {
        run_with_stdin(&mut self.hook_command(), self.build_payload(event, &fields))
    }

    fn query(&self, sql: &str) -> Vec<Value> {
        if self.sandbox.database().exists() { query_rows(&self.sandbox.database(), sql) } else { Vec::new() }
    }

    /// Waits until a request is open, and returns its id.
    fn wait_for_open(&self) -> String {
        let sql = "SELECT uid FROM requests WHERE status = 'open'";
        wait_until(|| Some(self.query(sql).first()?["uid"].as_str()?.to_owned()))
    }

    /// The same for a hook that waits. A server may list the wait for a moment before the hook does.
    fn wait_for_waiting_hook(&self) -> String {
        let sql = "SELECT uid FROM requests WHERE status = 'open' AND channel = 'reply'";
        wait_until(|| Some(self.query(sql).first()?["uid"].as_str()?.to_owned()))
    }

    fn count_requests(&self) -> usize {
        self.query("SELECT uid FROM requests").len()
    }

    /// `snell answer`
    fn answer(&self, arguments: &[&str]) -> CommandOutput {
        self.sandbox.run_snell(&[&["answer"], arguments].concat(), "")
    }

    /// Answers the open request with this, and returns the output of its hook.
    fn answer_hook(&self, hook: Child, arguments: &[&str]) -> CommandOutput {
        let uid = self.wait_for_open();
        let answered = self.answer(&[&[uid.as_str()], arguments].concat());
        assert_eq!(answered.code, 0, "{answered:?}");
        wait_for_output(hook)
    }

    /// The requests that `snell requests` knows, the newest first.
    fn list_requests(&self) -> Vec<Value> {
        let listed = self.sandbox.run_snell(&["requests", "--all", "--json"], "");
        assert_eq!(listed.code, 0, "{listed:?}");
        listed.json().as_array().unwrap().clone()
    }
}

/// What Claude Code gets on a permission request.
fn decision(fields: Value) -> Value {
    json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": fields}})
}

#[test]
fn an_answer_from_another_terminal_reaches_the_agent() {
    let questions = json!([
        {"question": "Which?", "options": [{"label": "Red"}, {"label": "Blue"}], "multiSelect": false},
        {"question": "Sizes?", "options": [{"label": "S"}, {"label": "L"}], "multiSelect": true},
    ]);
    let asked = json!({"tool_name": "AskUserQuestion", "tool_input": {"questions": questions.clone()}});
    let replied = |answers: Value| {
        decision(json!({"behavior": "allow", "updatedInput": {"questions": questions.clone(), "answers": answers}}))
    };
    let cases: [(Value, &[&str], Value); 6] = [
        (json!({}), &["allow"], decision(json!({"behavior": "allow"}))),
        (json!({}), &["deny"], decision(json!({"behavior": "deny", "message": "The user denied this call."}))),
        (json!({}), &["deny", "--message", "use make"], decision(json!({"behavior": "deny", "message": "use make"}))),
        (asked.clone(), &["2", "1,2"], replied(json!({"Which?": "Blue", "Sizes?": "S, L"}))),
        (asked.clone(), &["mauve", "2"], replied(json!({"Which?": "mauve", "Sizes?": "L"}))),
        (asked, &["deny", "--message", "not now"], decision(json!({"behavior": "deny", "message": "not now"}))),
    ];
    let bench = AnswerBench::new(ENABLED);
    let _watcher = bench.watch();
    for (fields, answer, expected) in cases {
        let hook = bench.spawn_event("PermissionRequest", fields);
        let uid = bench.wait_for_open();
        assert_eq!(bench.query("SELECT state FROM agents")[0]["state"], "awaiting_input");
        let said = bench.answer_hook(hook, answer);
        assert_eq!((said.code, said.json()), (0, expected), "{answer:?}: {said:?}");
        let closed = bench.list_requests().remove(0);
        assert_eq!(closed["uid"], uid.as_str());
        assert_eq!(
            (&closed["status"], &closed["answered_by"], &closed["answered_from"]),
            (&json!("answered"), &json!("ann"), &json!("terminal"))
        );
        assert!(closed["delivered_at"].is_string(), "{closed}");
        assert_eq!(bench.query("SELECT state FROM agents")[0]["state"], "processing");
    }
}

#[test]
fn of_two_answers_at_once_one_wins_and_the_other_is_an_error_with_its_author() {
    let bench = AnswerBench::new(ENABLED);
    let _watcher = bench.watch();
    let hook = bench.spawn_ask();
    let uid = bench.wait_for_open();
    let answers: Vec<_> = (0..6)
        .map(|number| {
            let choice = if number % 2 == 0 { "allow" } else { "deny" };
            let mut command = bench.sandbox.command(&["answer", &uid, choice]);
            (choice, spawn_with_stdin(command.env("USER", format!("person{number}")), ""))
        })
        .collect();
    let ended: Vec<_> = answers.into_iter().map(|(choice, child)| (choice, wait_for_output(child))).collect();
    let won: Vec<_> = ended.iter().filter(|(_, output)| output.code == 0).collect();
    assert_eq!(won.len(), 1, "{ended:?}");
    let said = wait_for_output(hook).json();
    assert_eq!(said["hookSpecificOutput"]["decision"]["behavior"], won[0].0);
    let closed = bench.list_requests().remove(0);
    for (_, late) in ended.iter().filter(|(_, output)| output.code != 0) {
        let author = format!("by {} from terminal", closed["answered_by"].as_str().unwrap());
        assert!(late.stderr.contains("is closed") && late.stderr.contains(&author), "{late:?}");
    }
}

#[test]
fn a_mistake_in_an_answer_is_an_error_and_leaves_the_request_open() {
    let bench = AnswerBench::new(ENABLED);
    let _watcher = bench.watch();
    let question = json!({"question": "Which?", "options": [{"label": "Red"}, {"label": "Blue"}]});
    let asked = json!({"tool_name": "AskUserQuestion", "tool_input": {"questions": [question]}});
    let cases: [(Value, &[&str], &str); 8] = [
        (json!({}), &[], "the answer is missing"),
        (json!({}), &["maybe"], "\"maybe\" is no answer to a permission"),
        (json!({}), &["allow", "deny"], "is no answer to a permission"),
        (json!({}), &["deny", "--remember", "session"], "only an allowed permission can be remembered"),
        (json!({}), &["allow", "--remember", "project", "--until", "2020-01-01"], "is in the past"),
        (asked.clone(), &["3"], "there is no choice 3"),
        (asked.clone(), &["1,2"], "this question takes one choice"),
        (asked, &["1", "2"], "one reply for each of 1 questions"),
    ];
    for (fields, arguments, expected) in cases {
        let hook = bench.spawn_event("PermissionRequest", fields);
        let uid = bench.wait_for_open();
        let refused = bench.answer(&[&[uid.as_str()], arguments].concat());
        assert_eq!(refused.code, 1, "{arguments:?}: {refused:?}");
        assert!(refused.stderr.contains(expected), "{arguments:?}: {refused:?}");
        bench.answer_hook(hook, &["deny"]);
    }
    for (arguments, expected) in
        [(&["nope", "allow"][..], "no request has the id \"nope\""), (&[][..], "no request is open")]
    {
        let refused = bench.answer(arguments);
        assert_eq!(refused.code, 1, "{refused:?}");
        assert!(refused.stderr.contains(expected), "{refused:?}");
    }
}

#[test]
fn the_agent_applies_the_suggestion_that_the_user_chooses() {
    let bench = AnswerBench::new(ENABLED);
    let _watcher = bench.watch();
    let always = json!({"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "touch:*"}], "behavior": "allow",
        "destination": "localSettings"});
    let suggestions = json!([{"type": "setMode", "mode": "acceptEdits", "destination": "session"}, always]);
    let hook = bench.spawn_event("PermissionRequest", json!({ "permission_suggestions": suggestions }));
    let uid = bench.wait_for_open();
    let shown = bench.sandbox.run_snell(&["requests", &uid], "").stdout;
    let expected = "Suggestion 2 of the agent:\n  │ always allow Bash(touch:*) (kept in: localSettings)\n";
    assert!(shown.contains(expected), "{shown}");
    for (arguments, problem) in [
        (["allow", "--suggestion", "3"], "this request has no suggestion 3"),
        (["allow", "--suggestion", "0"], "this request has no suggestion 0"),
        (["deny", "--suggestion", "1"], "only an allowed permission can apply a suggestion"),
        (["allow", "--message", "go"], "a message reaches the agent only with a denial"),
    ] {
        let refused = bench.answer(&[&[uid.as_str()], &arguments[..]].concat());
        assert!(refused.code != 0 && refused.stderr.contains(problem), "{refused:?}");
    }
    let said = bench.answer_hook(hook, &["allow", "--suggestion", "2"]);
    assert_eq!(said.json(), decision(json!({"behavior": "allow", "updatedPermissions": [always]})));
}

#[test]
fn an_agent_cannot_answer_its_own_request() {
    let bench = AnswerBench::new(ENABLED);
    let _watcher = bench.watch();
    let mut hook = bench.hook_command();
    // The agent is this process, and so the parent of the command that answers.
    hook.env("CLAUDE_PID", std::process::id().to_string());
    let hook = spawn_with_stdin(&mut hook, bench.build_payload("PermissionRequest", &json!({})));
    let uid = bench.wait_for_open();
    let refused = bench.answer(&[&uid, "allow"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("an agent cannot answer requests"), "{refused:?}");
    let judged = bench.run_event("PreToolUse", json!({"tool_input": {"command": format!("snell answer {uid} allow")}}));
    assert_eq!(judged.json()["hookSpecificOutput"]["permissionDecision"], "deny", "{judged:?}");
    assert_eq!(bench.list_requests()[0]["status"], "open");
    drop(ChildGuard(hook));
}

#[test]
fn a_remembered_answer_allows_the_same_call_in_its_scope_without_a_watcher() {
    let config = format!("{ENABLED}[[guard.deny]]\ncommand = \"launch rockets\"\n");
    let bench = AnswerBench::new(&config);
    let command = |text: &str| json!({"tool_input": {"command": text}});
    for (text, scope) in [("make a", "session"), ("make b", "project")] {
        let watcher = bench.watch();
        let hook = bench.spawn_event("PermissionRequest", command(text));
        bench.answer_hook(hook, &["allow", "--remember", scope, "--until", "2999-12-31"]);
        drop(watcher);
    }
    let allowed = decision(json!({"behavior": "allow"})).to_string();
    let cases = [
        (json!({"tool_input": {"command": "make a"}}), true),
        (json!({"tool_input": {"command": "make a", "description": "other words"}}), true),
        (json!({"tool_input": {"command": "make a", "timeout": 5}}), false),
        (json!({"tool_input": {"command": "make a "}}), false),
        (json!({"tool_input": {"command": "make a"}, "cwd": "/"}), false),
        (json!({"tool_input": {"command": "make a"}, "session_id": "other"}), false),
        (json!({"tool_input": {"command": "make b"}, "session_id": "other"}), true),
    ];
    for (fields, expected) in cases {
        let said = bench.run_event("PermissionRequest", fields.clone());
        assert_eq!(said.code, 0, "{said:?}");
        assert_eq!(said.stdout.trim() == allowed, expected, "{fields}: {said:?}");
    }
    assert_eq!(bench.count_requests(), 2);
}

#[test]
fn a_denial_cannot_be_lifted() {
    let bench = AnswerBench::new(&format!("{ENABLED}hold = true\n"));
    let _watcher = bench.watch();
    let call = || json!({"tool_input": {"command": "launch rockets"}});
    let hook = bench.spawn_event("PermissionRequest", call());
    bench.answer_hook(hook, &["allow", "--remember", "project"]);
    let denying =
        format!("{ENABLED}hold = true\n[[guard.deny]]\ncommand = \"launch rockets\"\nreason = \"no rockets\"\n");
    std::fs::write(bench.sandbox.home().join(".config/snell/snell.toml"), denying).unwrap();
    for event in ["PreToolUse", "PermissionRequest"] {
        let said = bench.run_event(event, call());
        assert!(said.stdout.contains("\"deny\"") && said.stdout.contains("no rockets"), "{event}: {said:?}");
    }
    assert_eq!(bench.count_requests(), 1);
}
