//! The guard's decisions in the log, the pages and the stream.

use serde_json::json;
use snell_test_support::payload::merge_fields;
use snell_test_support::wait::wait_until;

use super::{create_configured_sandbox, judge_bash, list_stored_verdicts};
use crate::hook::render_answering_hook;
use crate::serve::{ANYWHERE, start_server};
use crate::support::CliSandbox;

#[test]
fn only_what_a_rule_minds_is_recorded() {
    let sandbox = CliSandbox::with_frozen_clock();
    judge_bash(&sandbox, "ls");
    judge_bash(&sandbox, "git push --force-with-lease");
    judge_bash(&sandbox, "rm -rf /");
    assert_eq!(
        list_stored_verdicts(&sandbox),
        ["ask git.push-with-lease style", "deny files.delete-root catastrophic"]
    );
    let log = sandbox.run_snell(&["log"], "");
    let lines: Vec<_> = log.stdout.lines().collect();
    let said = [
        "Bash rm -rf /  -> block: rm would delete ",
        "Bash git push --force-with-lease  -> ask: git push would ",
        "Bash ls",
    ];
    assert_eq!(lines.len(), said.len(), "{log:?}");
    for (line, said) in lines.iter().zip(said) {
        assert!(line.contains(said), "{said}: {line}");
    }
}

#[test]
fn a_verdict_reaches_the_pages_and_the_stream() {
    let sandbox = CliSandbox::new();
    let receiver = start_server(&sandbox, &[ANYWHERE, &["--log", "off"]].concat());
    let mut stream = receiver.open_stream("?types=guard_verdict");
    let payload = json!({
        "session_id": "s1", "hook_event_name": "PreToolUse", "cwd": sandbox.project(),
        "tool_name": "Bash", "tool_input": {"command": "rm -rf /"},
    });
    let ran = sandbox.run_snell(&["hook"], &payload.to_string());
    assert!(ran.stdout.contains("\"deny\""), "{ran:?}");
    let heard = stream.next_data_of("guard_verdict");
    assert_eq!(
        (&heard["decision"], &heard["rule"], &heard["tier"]),
        (&json!("deny"), &json!("files.delete-root"), &json!("catastrophic")),
        "{heard}"
    );
    let page = wait_until(|| {
        let page = receiver.get_json("/api/guard?decision=deny");
        page["items"].get(0).is_some().then_some(page)
    });
    let item = &page["items"][0];
    assert_eq!(item["rule"], "files.delete-root", "{page}");
    assert!(item["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{page}");
    assert!(item["advice"].as_str().is_some_and(|advice| !advice.is_empty()), "{page}");
}

#[test]
fn a_call_that_is_judged_twice_is_counted_once() {
    let sandbox = CliSandbox::with_frozen_clock();
    let ask = |time: &str, event: &str, more: serde_json::Value| {
        let call = json!({"tool_name": "Bash", "tool_input": {"command": "git push --force-with-lease"}});
        sandbox.send_hook_event(time, event, merge_fields(call, &more));
    };
    // The agent repeats the call after the user's answer.
    for (time, id) in [("11:00:00", "t1"), ("11:00:30", "t2")] {
        ask(time, "PreToolUse", json!({"tool_use_id": id}));
        ask(time, "PermissionRequest", json!({}));
    }
    assert_eq!(list_stored_verdicts(&sandbox).len(), 2);
    // These are other calls: much later, by another id, with another input.
    ask("11:30:00", "PermissionRequest", json!({}));
    ask("11:30:01", "PermissionRequest", json!({"tool_use_id": "t3"}));
    ask("11:00:31", "PermissionRequest", json!({"tool_input": {"command": "git push --force-with-lease=main"}}));
    assert_eq!(list_stored_verdicts(&sandbox).len(), 5);
    let sql = "SELECT CAST(sum(verdicts) AS TEXT) FROM guard_hours";
    assert_eq!(snell_test_support::database::query_texts(&sandbox.database(), sql), ["5"]);
}

#[test]
fn a_verdict_about_what_a_hook_made_of_a_call_says_so() {
    let sandbox = create_configured_sandbox(&render_answering_hook(
        "PreToolUse",
        &json!({"tool_input": {"command": "rm -rf /"}}),
    ));
    assert_eq!(judge_bash(&sandbox, "ls").summarize(), "deny files.delete-root");
    assert_eq!(judge_bash(&sandbox, "git push --force").summarize(), "deny git.push-force files.delete-root");
    let database = rusqlite::Connection::open(sandbox.database()).unwrap();
    let sql = "SELECT rule || ' ' || of_changed_input || ' ' || e.changed_input \
        FROM guard_verdicts g JOIN events e USING (id) ORDER BY guard_verdict_id";
    let mut statement = database.prepare(sql).unwrap();
    let rows: Vec<String> = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let changed = r#"{"command":"rm -rf /"}"#;
    assert_eq!(
        rows,
        [
            format!("files.delete-root 1 {changed}"),
            format!("git.push-force 0 {changed}"),
            format!("files.delete-root 1 {changed}"),
        ]
    );
}
