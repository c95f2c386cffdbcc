//! Requests as a terminal shows them: texts of agents cannot look like anything else.

use serde_json::json;
use snell_test_support::process::ChildGuard;

use super::{AnswerBench, ENABLED};

#[test]
fn hostile_text_stays_behind_its_bar() {
    let bench = AnswerBench::new(ENABLED);
    let _watcher = bench.watch();
    let hostile =
        "ls\nAnswer: snell answer 0 allow\nRequest 1: allowed by you\u{1b}[2J\u{1b}]0;x\u{7}\r\u{202e}txt.exe\u{200b}";
    let input = json!({"command": hostile, "Guard\nallow": hostile});
    let hook =
        bench.spawn_event("PermissionRequest", json!({"tool_input": input, "permission_suggestions": [hostile]}));
    let uid = bench.wait_for_open();
    for arguments in [vec!["requests", &uid], vec!["requests"], vec!["requests", "--all"]] {
        let shown = bench.sandbox.run_snell(&arguments, "").stdout;
        let is_seen = |letter: char| letter == '\n' || !(letter.is_control() || "\u{202e}\u{200b}".contains(letter));
        assert!(shown.chars().all(is_seen), "{arguments:?}: {shown}");
        let is_faked = |line: &&str| line.starts_with("Answer: snell answer 0 ") || line.starts_with("Request 1:");
        assert_eq!(shown.lines().find(is_faked), None, "{arguments:?}: {shown}");
    }
    let shown = bench.sandbox.run_snell(&["requests", &uid], "").stdout;
    assert!(shown.contains("  │ Answer: snell answer 0 allow\n"), "{shown}");
    assert!(shown.ends_with(&format!("Answer: snell answer {uid} allow [--suggestion NUMBER] | deny\n")), "{shown}");
    drop(ChildGuard(hook));
}

#[test]
fn a_request_says_what_its_call_would_do() {
    let cases = [
        (json!({"command": "rm -rf build"}), "deletes build/ (in the project), with everything in it"),
        (json!({"command": "curl -T dist.tgz https://example.com"}), "sends dist.tgz (in the project) to example.com"),
        (json!({"command": "npm test"}), "runs: npm test"),
        // A secret is masked where the call shows it, and here too.
        (json!({"command": "login --token ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"}), "runs: login --token "),
    ];
    let bench = AnswerBench::new(ENABLED);
    let _watcher = bench.watch();
    for (input, expected) in cases {
        let hook = bench.spawn_event("PermissionRequest", json!({ "tool_input": input }));
        let uid = bench.wait_for_open();
        let reading = bench.list_requests()[0]["detail"]["reading"].clone();
        assert!(reading[0].as_str().unwrap().starts_with(expected), "{reading}");
        let shown = bench.sandbox.run_snell(&["requests", &uid], "").stdout;
        assert!(shown.contains(&format!("It would:\n  │ {expected}")), "{shown}");
        assert!(!shown.contains("ghp_0123"), "{shown}");
        bench.answer_hook(hook, &["deny"]);
    }
}

#[test]
fn a_request_describes_the_call_as_hooks_changed_it() {
    let answer = r#"{"decision": "ask", "reason": "changed", "tool_input": {"command": "rm b"}}"#;
    let hook = format!("[[hook]]\nevent = \"PreToolUse\"\nmodify = true\nrun = \"\"\"echo '{answer}'\"\"\"\n");
    let config = format!("{ENABLED}hold = true\n{hook}");
    let bench = AnswerBench::new(&config);
    let _watcher = bench.watch();
    let hook = bench.spawn_event("PreToolUse", json!({"tool_input": {"command": "rm a"}}));
    bench.wait_for_open();
    assert_eq!(bench.list_requests()[0]["detail"]["reading"], json!(["deletes b (in the project)"]));
    drop(ChildGuard(hook));
}

#[test]
fn a_call_with_too_many_fields_is_cut_as_a_whole_and_says_so() {
    let bench = AnswerBench::new(ENABLED);
    let _watcher = bench.watch();
    let edits = vec![json!({"old_string": "a".repeat(1000), "new_string": "b"}); 3000];
    let hook = bench.spawn_event(
        "PermissionRequest",
        json!({"tool_name": "MultiEdit", "tool_input": {"file_path": "y.rs", "edits": edits}}),
    );
    let uid = bench.wait_for_open();
    let request = bench.list_requests()[0].clone();
    assert!(request["detail"].to_string().len() <= 256 * 1024 + 100, "{}", request["detail"].to_string().len());
    assert!(request["detail"]["left_out"].as_u64().unwrap() > 2_000_000);
    let refused = bench.answer(&[&uid, "allow", "--remember", "project"]);
    assert!(refused.stderr.contains("not shown in full"), "{refused:?}");
    drop(ChildGuard(hook));
}

#[test]
fn a_command_of_a_megabyte_is_cut_with_the_number_of_bytes_that_are_missing() {
    let bench = AnswerBench::new(ENABLED);
    let _watcher = bench.watch();
    let command = format!("echo {}", "x".repeat(1_000_000));
    let hook = bench.spawn_event("PermissionRequest", json!({"tool_input": {"command": command}}));
    let uid = bench.wait_for_open();
    let shown = bench.sandbox.run_snell(&["requests", &uid], "").stdout;
    assert!(shown.len() < 10_000, "{} bytes", shown.len());
    assert!(shown.contains("more bytes"), "{shown}");
    let said = bench.answer_hook(hook, &["allow"]);
    assert!(said.stdout.contains("allow"), "{said:?}");
}
