//! `snell guard replay`: judges recorded calls again.

use serde_json::{Value, json};
use snell::{Event, Timestamp};
use snell_store::{DecisionRecord, EventRecord, EventSender, GuardVerdictRecord, Store};
use snell_test_support::files::parse_json_lines;
use snell_test_support::process::CommandOutput;

use crate::support::CliSandbox;

/// A recorded call, and the guard's decision.
struct RecordedBashCall<'a> {
    session: &'a str,
    input: Value,
    said: Option<(&'a str, &'a str)>,
}

fn build_bash_call<'a>(command: &str, said: Option<(&'a str, &'a str)>) -> RecordedBashCall<'a> {
    RecordedBashCall { session: "session-one", input: json!({ "command": command }), said }
}

/// A sandbox with these recorded calls, one second apart from ten o'clock on.
fn record_calls(calls: &[RecordedBashCall<'_>]) -> CliSandbox {
    let sandbox = CliSandbox::with_frozen_clock();
    let mut store = Store::open(&sandbox.database()).unwrap().store;
    for (number, call) in calls.iter().enumerate() {
        let at: Timestamp = format!("2026-03-01T10:00:{number:02}Z").parse().unwrap();
        let payload = json!({
            "session_id": call.session,
            "cwd": sandbox.project(),
            "tool_name": "Bash",
            "tool_input": call.input,
        });
        let (event, _) = Event::from_object(Some("PreToolUse"), payload.as_object().unwrap().clone()).unwrap();
        let mut observation = EventRecord::new(&event, at);
        observation.sender = EventSender { product: Some("claude".into()), ..EventSender::default() };
        observation.judgement = Some(DecisionRecord {
            guard: call.said.iter().map(|(decision, rule)| build_guard_verdict(decision, rule)).collect(),
            ..DecisionRecord::default()
        });
        store.ingest(observation).unwrap();
    }
    store.close().unwrap();
    sandbox
}

fn build_guard_verdict(decision: &str, rule: &str) -> GuardVerdictRecord {
    let verdict = json!({"decision": decision, "rule": rule, "tier": "destructive", "reason": "Because."});
    serde_json::from_value(verdict).unwrap()
}

fn parse_lines(ran: &CommandOutput) -> Vec<Value> {
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    parse_json_lines(&ran.stdout)
}

/// One call for each change of a decision, and some without a change.
fn record_every_change() -> CliSandbox {
    record_calls(&[
        build_bash_call("ls", None),
        build_bash_call("rm -rf /", Some(("deny", "files.delete-root"))),
        build_bash_call("rm -rf /", None),
        build_bash_call("rm -rf ~", Some(("allow", "files.delete-home"))),
        build_bash_call("rm -rf /", Some(("ask", "old.rule"))),
        build_bash_call("history -c", None),
        build_bash_call("history -c", Some(("deny", "self.cover-tracks"))),
        build_bash_call("ls -l", Some(("ask", "old.rule"))),
        build_bash_call("pwd", Some(("deny", "other.rule"))),
    ])
}

#[test]
fn before_anything_happened_it_says_so() {
    let ran = CliSandbox::with_frozen_clock().run_snell(&["guard", "replay"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "0 recorded calls: nothing would change.\n"));
    assert_eq!(ran.stderr, "note: nothing has been recorded yet\n");
}

#[test]
fn people_see_what_would_change_and_how_often() {
    let ran = record_every_change().run_snell(&["guard", "replay"], "");
    assert_eq!(ran.stderr, "");
    insta::assert_snapshot!(ran.stdout, @"
    10:00:08    1  project        deny -> allow  other.rule                Bash pwd
    10:00:07    1  project         ask -> allow  old.rule                  Bash ls -l
    10:00:06    1  project        deny -> ask    self.cover-tracks         Bash history -c
    10:00:05    1  project       allow -> ask    self.cover-tracks         Bash history -c
    10:00:04    1  project         ask -> deny   files.delete-root         Bash rm -rf /
    10:00:03    1  project       allow -> deny   files.delete-home         Bash rm -rf ~
    10:00:02    1  project       allow -> deny   files.delete-root         Bash rm -rf /
    9 recorded calls: 7 would be decided differently.
          2 newly denied: files.delete-home (1), files.delete-root (1)
          1 denied instead of asked: files.delete-root (1)
          1 newly asked: self.cover-tracks (1)
          1 asked instead of denied: self.cover-tracks (1)
          1 no longer asked: old.rule (1)
          1 no longer denied: other.rule (1)
    By rule, these calls would be stopped:
          3 deny  files.delete-root         1 agent: Bash rm -rf /
          1 deny  files.delete-home         1 agent: Bash rm -rf ~
          2 ask   self.cover-tracks         1 agent: Bash history -c
    ");
}

#[test]
fn programs_see_each_change_then_and_now_and_the_counts_at_the_end() {
    let sandbox = record_every_change();
    let changed = parse_lines(&sandbox.run_snell(&["guard", "replay", "--json"], ""));
    let turns: Vec<_> = changed[..changed.len() - 1]
        .iter()
        .map(|line| format!("{} {}", line["was"]["decision"], line["now"]["decision"]).replace('"', ""))
        .collect();
    assert_eq!(turns, ["deny allow", "ask allow", "deny ask", "allow ask", "ask deny", "allow deny", "allow deny"]);
    assert!(changed[..7].iter().all(|line| line["type"] == "call" && line["changed"] == true));
    assert_eq!(changed[0]["was"]["rule"], "other.rule");
    assert_eq!(changed[6]["input"]["command"], "rm -rf /");
    assert_eq!(changed[6]["now"]["rule"], "files.delete-root");
    let summary = changed.last().unwrap();
    assert_eq!(summary["type"], "summary");
    assert_eq!((&summary["calls"], &summary["unchanged"]), (&json!(9), &json!(2)));
    assert_eq!(
        summary["changed"]["newly_denied"],
        json!({"calls": 2, "rules": {"files.delete-home": 1, "files.delete-root": 1}})
    );
    let all = parse_lines(&sandbox.run_snell(&["guard", "replay", "--json", "--all"], ""));
    assert_eq!(all.len(), 10);
    assert_eq!(all[8]["changed"], false);
}

#[test]
fn a_preset_can_be_tried_out_on_what_was_recorded() {
    let sandbox = record_calls(&[
        build_bash_call("$X build", None),
        build_bash_call("rm -rf /", Some(("deny", "files.delete-root"))),
    ]);
    let counts = |args: &[&str]| {
        let lines = parse_lines(&sandbox.run_snell(&[&["guard", "replay", "--json"], args].concat(), ""));
        lines.last().unwrap()["changed"].clone()
    };
    assert_eq!(counts(&[]), json!({}));
    assert_eq!(counts(&["--preset", "strict"])["newly_asked"]["calls"], 1);
    assert_eq!(counts(&["--preset", "audit"])["no_longer_denied"]["calls"], 1);
}

#[test]
fn filters_find_the_calls_that_they_name() {
    let mut calls = [build_bash_call("ls", None), build_bash_call("pwd", None), build_bash_call("make", None)];
    calls[2].session = "another";
    let sandbox = record_calls(&calls);
    let project = sandbox.project();
    let project = project.to_str().unwrap();
    let cases: &[(&[&str], u64)] = &[
        (&[], 3),
        (&["--session", "session-"], 2),
        (&["--session", "nobody"], 0),
        (&["--agent", "99"], 0),
        (&["--tool", "Bash"], 3),
        (&["--tool", "Write"], 0),
        (&["--since", "2026-03-01T10:00:01Z"], 2),
        (&["--until", "2026-03-01T10:00:01Z"], 1),
        (&["--since", "1h"], 0),
        (&["--project", project], 3),
        (&["--project", "."], 3),
    ];
    for (args, expected) in cases {
        let lines = parse_lines(&sandbox.run_snell(&[&["guard", "replay", "--json"], *args].concat(), ""));
        assert_eq!(lines.last().unwrap()["calls"], *expected, "{args:?}");
    }
    let ran = sandbox.run_snell(&["guard", "replay", "--project", "/"], "");
    assert_eq!((ran.code, ran.stderr.as_str()), (1, "error: no events are recorded for project /\n"));
}

#[test]
fn incompletely_recorded_calls_are_reported() {
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let long = format!("echo {}; rm -rf /", "x ".repeat(100_000));
    let sandbox = record_calls(&[
        build_bash_call(&format!("GITHUB_TOKEN={token} rm -rf /"), None),
        build_bash_call(&long, None),
        build_bash_call("ls", None),
    ]);
    let json = parse_lines(&sandbox.run_snell(&["guard", "replay", "--json", "--all"], ""));
    let losses: Vec<_> = json[..3].iter().map(|line| (&line["masked"], &line["shortened"])).collect();
    let (yes, no) = (&json!(true), &json!(false));
    assert_eq!(losses, [(no, no), (no, yes), (yes, no)]);
    let ran = sandbox.run_snell(&["guard", "replay"], "");
    assert!(ran.stdout.contains("(recorded with secrets masked)\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("(recorded shortened)\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("2 were recorded incompletely (secrets masked: 1, shortened: 1)"), "{}", ran.stdout);
}

#[test]
fn more_calls_than_are_held_at_once_are_judged_to_the_last() {
    let sandbox = record_calls(&[build_bash_call("rm -rf /", None)]);
    let copies = "WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) ";
    sandbox.open_database_with(&format!(
        "INSERT INTO events (id, event_id, agent_id, conversation_id, name, tool, state, correlation, at) \
         {copies} SELECT i, 'copy-' || i, agent_id, conversation_id, name, tool, state, correlation, at FROM n, events WHERE id = 1; \
         INSERT INTO payloads (id, payload) {copies} SELECT i, payload FROM n, payloads WHERE id = 1;"
    ));
    let lines = parse_lines(&sandbox.run_snell(&["guard", "replay", "--json"], ""));
    assert_eq!(lines.len(), 1001);
    assert_eq!(lines[1000]["changed"]["newly_denied"]["calls"], 1000);
}

#[test]
fn recorded_decisions_are_compared_with_new_ones() {
    let sandbox = CliSandbox::with_frozen_clock();
    let call = |command: &str| json!({"tool_name": "Bash", "tool_input": {"command": command}});
    let told = sandbox.send_hook_event("10:00:00", "PreToolUse", call("git push --force origin main"));
    assert!(told.stdout.contains("deny"), "{told:?}");
    sandbox.send_hook_event("10:00:01", "PreToolUse", call("history -c"));
    sandbox.send_hook_event("10:00:02", "PreToolUse", call("cargo test"));
    let ran = sandbox.run_snell(&["guard", "replay"], "");
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("3 recorded calls: nothing would change.\n", ""));
    let sandbox = sandbox.home_file(
        ".config/snell/snell.toml",
        "[guard.rules]\n\"git.push-force\" = \"allow\"\n\"self.cover-tracks\" = \"deny\"\n",
    );
    let ran = sandbox.run_snell(&["guard", "replay"], "");
    insta::assert_snapshot!(ran.stdout, @"
    10:00:01    1  project         ask -> deny   self.cover-tracks         Bash history -c
    10:00:00    1  project        deny -> allow  git.push-force            Bash git push --force origin main
    3 recorded calls: 2 would be decided differently.
          1 denied instead of asked: self.cover-tracks (1)
          1 no longer denied: git.push-force (1)
    By rule, these calls would be stopped:
          1 deny  self.cover-tracks         1 agent: Bash history -c
    ");
}

#[test]
fn after_a_week_of_audit_it_shows_what_would_have_been_stopped() {
    let sandbox =
        CliSandbox::with_frozen_clock().home_file(".config/snell/snell.toml", "[guard]\npreset = \"audit\"\n");
    for (second, command) in ["rm -rf /", "sudo ls", "sudo id", "cargo test"].iter().enumerate() {
        let call = json!({"tool_name": "Bash", "tool_input": {"command": command}});
        let told = sandbox.send_hook_event(&format!("10:00:0{second}"), "PreToolUse", call);
        assert!(!told.stdout.contains("permissionDecision"), "{told:?}");
    }
    let ran = sandbox.run_snell(&["guard", "replay", "--since", "7d"], "");
    insta::assert_snapshot!(ran.stdout, @r#"
    10:00:02    1  project       allow -> ask    privilege.raise           Bash sudo id
    10:00:01    1  project       allow -> ask    privilege.raise           Bash sudo ls
    10:00:00    1  project       allow -> deny   files.delete-root         Bash rm -rf /
    4 recorded calls: 3 would be decided differently.
          1 newly denied: files.delete-root (1)
          2 newly asked: privilege.raise (2)
    By rule, these calls would be stopped:
          1 deny  files.delete-root         1 agent: Bash rm -rf /
          2 ask   privilege.raise           1 agent: Bash sudo id
    Snell only watches now (preset audit). To enforce these decisions, remove preset = "audit" from [guard] of your snell.toml.
    "#);
    let json = parse_lines(&sandbox.run_snell(&["guard", "replay", "--json"], ""));
    let stopped = &json.last().unwrap()["stopped"];
    assert_eq!(
        stopped[1],
        json!({"decision": "ask", "rule": "privilege.raise", "calls": 2, "agents": [1], "example": "Bash sudo id"})
    );
    let audit = sandbox.run_snell(&["guard", "replay", "--preset", "audit"], "");
    assert_eq!(audit.stdout, "4 recorded calls: nothing would change.\n");
}

#[test]
fn calls_are_judged_for_the_project_of_their_agent() {
    let sandbox = CliSandbox::with_frozen_clock().file("snell.toml", "[guard.rules]\n\"git.push-force\" = \"ask\"\n");
    assert_eq!(sandbox.run_snell(&["trust"], "").code, 0);
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "git push --force"}});
    sandbox.send_hook_event("10:00:00", "PreToolUse", call.clone());
    // The agent's project and its file apply, wherever the agent works since.
    let mut elsewhere = call;
    elsewhere["cwd"] = json!("/usr");
    elsewhere["tool_input"]["command"] = json!("rm -rf lib; git push --force");
    sandbox.send_hook_event("10:00:01", "PreToolUse", elsewhere);
    let mut command = sandbox.command(&["guard", "replay", "--all", "--json"]);
    let ran: CommandOutput = command.current_dir(sandbox.home()).output().unwrap().into();
    let lines = parse_lines(&ran);
    let now: Vec<_> = lines[..2].iter().map(|line| line["now"]["rule"].as_str().unwrap()).collect();
    assert_eq!(now, ["files.delete-system", "git.push-force"]);
    assert_eq!(lines[1]["now"]["decision"], "ask");
}

#[test]
fn a_time_that_is_none_is_a_mistake_also_before_anything_is_recorded() {
    let sandbox = CliSandbox::with_frozen_clock();
    for option in ["--since", "--until"] {
        let ran = sandbox.run_snell(&["guard", "replay", option, "x"], "");
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{option}");
        assert!(ran.stderr.contains(option), "{ran:?}");
    }
}
