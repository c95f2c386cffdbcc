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
    assert!(shown.ends_with(&format!("Answer: snell answer {uid} allow | deny\n")), "{shown}");
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
