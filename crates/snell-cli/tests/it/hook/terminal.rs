//! What people see on a terminal of what agents were told.

use serde_json::json;
use snell_test_support::process::spawn_with_stdin;
use snell_test_support::skip::require_util_linux_script;

use super::{HookSandbox, RecordingMode};

/// What a command shows on a terminal; nothing if there is no way to get one here.
fn run_in_terminal(watched: &HookSandbox, args: &str) -> Option<String> {
    require_util_linux_script()?;
    let line = format!("exec script --quiet --return --command \"$0 {args}\" /dev/null </dev/null");
    let mut command = watched.sandbox.shell(&line, &[]);
    let output = spawn_with_stdin(command.env("TERM", "xterm"), "").wait_with_output().unwrap();
    assert!(output.status.success(), "{args}: {output:?}");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn nothing_that_an_agent_was_told_steers_a_terminal() {
    const STEERING: [char; 8] =
        ['\u{7}', '\u{7f}', '\u{9b}', '\u{200f}', '\u{2028}', '\u{202e}', '\u{2066}', '\u{2069}'];
    let watched = HookSandbox::new(RecordingMode::Alone);
    let hostile: String = STEERING.iter().flat_map(|c| ['x', *c]).collect();
    watched.send_silent_event("s1", "SessionStart", json!({"source": "startup"}));
    watched.send_prompt("s1", &format!("{hostile} is in \u{1b}[31mhere"));
    watched.send_silent_event(
        "s1",
        "Notification",
        json!({"notification_type": "permission_prompt", "message": hostile}),
    );
    for args in ["log --json", "log", "agents --json", "agents", "export s1", "status --json", "status"] {
        let Some(shown) = run_in_terminal(&watched, args) else {
            return;
        };
        assert!(!shown.is_empty(), "{args}");
        let raw: Vec<_> = STEERING.iter().filter(|c| shown.contains(**c)).collect();
        assert!(raw.is_empty(), "{args}: {raw:?} in {shown}");
        assert!(!shown.contains("\u{1b}[31mhere"), "{args}: {shown}");
        if ["log --json", "agents --json", "export s1"].contains(&args) {
            assert!(shown.contains("\\u202e"), "{args}: {shown}");
        }
    }
}

#[test]
fn json_that_nobody_looks_at_is_as_it_was() {
    let watched = HookSandbox::new(RecordingMode::Alone);
    watched.send_prompt("s1", "x\u{9b}\u{202e}");
    let ran = watched.sandbox.run_snell(&["log", "--json"], "");
    assert_eq!(ran.json()["payload"]["prompt"], "x\u{9b}\u{202e}");
    assert!(ran.stdout.contains('\u{202e}'), "{ran:?}");
}
