//! Hooks that take their time, while the agent goes on or loses its patience.

use std::fs;
use std::process::Child;

use serde_json::{Value, json};
use snell_test_support::database::extract_first_column;
use snell_test_support::process::{Signal, send_signal, spawn_with_stdin};

use super::{HookSandbox, RecordingMode};

/// Takes until it is let go, or nothing of its project is left: who kills `snell` leaves its hooks without a deadline, and this
/// one would then wait for a file that cannot come any more.
pub const SLOW: &str = "cd \"$SNELL_PROJECT_DIR\"; echo yes > begun; \
    until [ -e go ] || [ ! -e begun ]; do sleep 0.02; done; echo yes > ended";

/// A project with a hook for this event that takes until it is let go.
fn create_slow_hook_sandbox(mode: RecordingMode, event: &str) -> HookSandbox {
    let text = format!("[[hook]]\nevent = \"{event}\"\nrun = '{SLOW}'\n");
    HookSandbox::with_user_config(mode, &text)
}

impl HookSandbox {
    /// Calls a hook, and waits until its slow part has begun.
    fn start_slow_hook(&self, payload: &Value) -> Child {
        let hook = spawn_with_stdin(&mut self.hook_command(), payload.to_string());
        self.sandbox.wait_for_content("begun");
        hook
    }

    fn release_slow_hook(&self) {
        fs::write(self.sandbox.project().join("go"), "").unwrap();
    }
}

#[test]
fn an_agent_that_does_not_wait_for_its_hooks_loses_no_event() {
    for mode in [RecordingMode::Alone, RecordingMode::WithDaemon] {
        for (signal, code) in
            [(Signal::TERM, Some(0)), (Signal::INT, Some(0)), (Signal::HUP, Some(0)), (Signal::KILL, None)]
        {
            let watched = create_slow_hook_sandbox(mode, "PreToolUse");
            watched.send_prompt("s1", "Go.");
            let tool = json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "make"}});
            let hook = watched.start_slow_hook(&watched.build_payload("s1", "PreToolUse", tool));
            send_signal(hook.id(), signal);
            let output = hook.wait_with_output().unwrap();
            watched.release_slow_hook();
            if signal == Signal::KILL {
                watched.sandbox.wait_for_content("ended");
            }
            assert_eq!(output.status.code(), code, "{mode:?} {signal:?}: {output:?}");
            // An agent that still listens asks its user, because the verdict of the hook is unknown.
            let is_asked = String::from_utf8_lossy(&output.stdout).contains("\"permissionDecision\":\"ask\"");
            assert_eq!(is_asked, signal != Signal::KILL, "{mode:?} {signal:?}: {output:?}");
            watched.send_prompt("s1", "Go on.");
            let kept = extract_first_column(&watched.query_rows("SELECT name FROM events ORDER BY id"));
            assert_eq!(kept, ["UserPromptSubmit", "PreToolUse", "UserPromptSubmit"], "{mode:?} {signal:?}");
            assert_eq!(watched.count_pending(), 0, "{mode:?} {signal:?}");
        }
    }
}

#[test]
fn an_event_whose_hook_took_long_does_not_undo_what_came_after_it() {
    for mode in [RecordingMode::Alone, RecordingMode::WithDaemon] {
        let watched = create_slow_hook_sandbox(mode, "PostToolUse");
        watched.send_prompt("s1", "Go.");
        let tool = json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {}, "tool_response": {}});
        let slow = watched.start_slow_hook(&watched.build_payload("s1", "PostToolUse", tool));
        watched.send_silent_event("s1", "Stop", json!({"last_assistant_message": "All done."}));
        assert_eq!(watched.list_agent_states(), ["idle"], "{mode:?}");
        watched.release_slow_hook();
        let output = slow.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{mode:?}: {output:?}");
        assert_eq!(watched.list_agent_states(), ["idle"], "{mode:?}");
        // It happened when the agent told it, not when its hook had ended.
        let kept = extract_first_column(&watched.query_rows("SELECT name FROM events ORDER BY at"));
        assert_eq!(kept, ["UserPromptSubmit", "PostToolUse", "Stop"], "{mode:?}");
    }
}
