//! Calls that cannot be read, or only in part: none is allowed silently.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};
use snell_test_support::process::{CommandOutput, wait_for_output};

use super::{GuardHookReply, create_configured_sandbox, judge_call, list_stored_verdicts};
use crate::support::CliSandbox;

/// The start of every payload of Claude Code, before the tool's input.
fn render_payload_opening(sandbox: &CliSandbox, event: &str) -> String {
    let fields = json!({
        "session_id": "session-one", "transcript_path": "/t", "cwd": sandbox.project(),
        "hook_event_name": event, "tool_name": "Bash",
    });
    let text = fields.to_string();
    text.trim_end_matches('}').to_owned()
}

/// Sends a payload as it is.
fn run_hook(sandbox: &CliSandbox, payload: &str) -> CommandOutput {
    let mut child =
        sandbox.command(&["hook"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // An agent that cannot write its whole payload may not read the answer.
    stdin.write_all(payload.as_bytes()).unwrap();
    drop(stdin);
    wait_for_output(child)
}

#[test]
fn a_call_with_invalid_json_is_asked_about_if_it_is_recognised() {
    let sandbox = CliSandbox::with_frozen_clock();
    let begun = render_payload_opening(&sandbox, "PreToolUse");
    let rows = [
        format!("{begun}, \"tool_input\": {{\"command\": \"rm -rf /"),
        format!("{begun}, \"tool_input\": {{\"command\": \"ls\"}}}} and more"),
        format!("{begun}, \"tool_input\": {{'command': 'ls'}}}}"),
        format!("[{begun}, \"tool_input\": {{\"command\": \"ls\"}}}}]"),
        format!("\"{begun}\"}}"),
    ];
    for payload in &rows {
        let told = GuardHookReply::from(run_hook(&sandbox, payload));
        assert_eq!(told.summarize(), "ask guard.unread", "{payload}: {told:?}");
        assert!(
            told.reason.starts_with(
                "Snell asks (guard.unread): The guard could not read all of this call, so it could not check what the call would do: "
            ),
            "{told:?}"
        );
        assert!(told.stderr.starts_with("snell: warning: cannot read all of the event "), "{told:?}");
    }
    assert_eq!(list_stored_verdicts(&sandbox), vec!["ask guard.unread self"; rows.len()]);
}

#[test]
fn a_call_that_is_too_large_is_asked_about() {
    let sandbox = CliSandbox::with_frozen_clock();
    let begun = render_payload_opening(&sandbox, "PreToolUse");
    let payload = format!("{begun}, \"tool_input\": {{\"command\": \"{}\"}}}}", "x".repeat(70 << 20));
    let told = GuardHookReply::from(run_hook(&sandbox, &payload));
    assert_eq!(told.summarize(), "ask guard.unread", "{told:?}");
    assert!(told.reason.contains("larger than 67108864 bytes"), "{told:?}");
    assert_eq!(list_stored_verdicts(&sandbox), ["ask guard.unread self"]);
}

#[test]
fn on_failure_says_what_happens_to_what_cannot_be_read() {
    for (choice, expected) in [("deny", "deny guard.unread"), ("ask", "ask guard.unread"), ("allow", "")] {
        let sandbox = create_configured_sandbox(&format!("[guard]\non_failure = '{choice}'\n"));
        let begun = render_payload_opening(&sandbox, "PreToolUse");
        let told = GuardHookReply::from(run_hook(&sandbox, &begun));
        assert_eq!(told.summarize(), expected, "{told:?}");
        // Allowed calls are recorded too.
        assert_eq!(list_stored_verdicts(&sandbox), [format!("{choice} guard.unread self")]);
    }
    let off = create_configured_sandbox("[handlers]\nguard = false\n");
    let told = GuardHookReply::from(run_hook(&off, &render_payload_opening(&off, "PreToolUse")));
    assert_eq!(told.summarize(), "");
}

#[test]
fn another_unreadable_event_is_recorded_without_a_question() {
    let sandbox = CliSandbox::with_frozen_clock();
    for event in ["PostToolUse", "Stop"] {
        let ran = run_hook(&sandbox, &render_payload_opening(&sandbox, event));
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{ran:?}");
        assert!(ran.stderr.starts_with("snell: warning: cannot read all of the event "), "{ran:?}");
    }
    // Even if only the session is known.
    let ran = run_hook(&sandbox, "{\"session_id\": \"session-one\", oops");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{ran:?}");
    assert!(ran.stderr.contains("event recorded (cannot read all of it: it is not valid JSON"), "{ran:?}");
    let log = sandbox.run_snell(&["log", "--json"], "").stdout;
    for event in ["PostToolUse", "Stop", "Unreadable"] {
        assert!(log.contains(&format!("\"{event}\"")), "{event}: {log}");
    }
}

#[test]
fn an_agent_that_cannot_ask_gets_a_denial_in_its_own_words() {
    let sandbox = CliSandbox::with_frozen_clock();
    let payload = render_payload_opening(&sandbox, "PreToolUse").replacen('{', "{\"cursor_version\": \"1.7\", ", 1);
    let ran = run_hook(&sandbox, &payload);
    assert_eq!((ran.code, &ran.json()["permission"]), (0, &json!("deny")), "{ran:?}");
    assert!(ran.stdout.contains("Snell cannot ask the user in Cursor."), "{ran:?}");
}

#[test]
fn an_unrecognisable_payload_is_reported_and_blocks_nothing() {
    let sandbox = CliSandbox::with_frozen_clock();
    for payload in ["nonsense", "[]", "7", "\"PreToolUse\"", "{\"a\": ", "\u{0}"] {
        let ran = run_hook(&sandbox, payload);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{payload}: {ran:?}");
        assert!(
            ran.stderr.starts_with("snell: error: cannot read the event, so it was not judged: "),
            "{payload}: {ran:?}"
        );
    }
}

#[test]
fn a_field_that_is_not_what_the_tool_takes_is_named() {
    let sandbox = CliSandbox::with_frozen_clock();
    let rows = [
        ("Bash", json!({"command": 7}), "`command`"),
        ("Bash", json!({"command": ["ls", 7]}), "`command`"),
        ("Bash", json!({"timeout": 5}), "`command`"),
        ("Write", json!({"content": "x"}), "`file_path`"),
        ("Write", json!({"file_path": ["a", 7], "content": "x"}), "`file_path`"),
        ("Read", json!({"file_path": true}), "`file_path`"),
        ("NotebookEdit", json!({"notebook_path": {}}), "`notebook_path`"),
        ("Grep", json!({"pattern": "x", "path": 7}), "`path`"),
    ];
    for (tool, input, field) in rows {
        let told = judge_call(&sandbox, tool, input.clone());
        assert_eq!(told.summarize(), "ask guard.unread", "{tool} {input}: {told:?}");
        assert!(told.reason.contains(field), "{tool} {input}: {told:?}");
    }
    // The readable part is judged anyway.
    let told = judge_call(&sandbox, "Read", json!({"paths": ["~/.ssh/id_rsa", 7]}));
    assert_eq!(told.summarize(), "deny secret.read", "{told:?}");
}

#[test]
fn a_tool_without_a_name_is_asked_about() {
    let sandbox = CliSandbox::with_frozen_clock();
    let input = json!({"command": "ls"});
    let rows = [json!({}), json!({"tool_name": 7}), json!({"tool_name": ["Bash"]}), json!({"tool_name": ""})];
    for name in rows {
        let Value::Object(mut payload) = name.clone() else {
            unreachable!();
        };
        payload.insert("tool_input".into(), input.clone());
        let told = GuardHookReply::from(sandbox.send_hook_event("12:00:00", "PreToolUse", Value::Object(payload)));
        assert_eq!(told.summarize(), "ask guard.unread", "{name}: {told:?}");
        assert!(told.reason.contains("`tool_name`"), "{name}: {told:?}");
    }
}
