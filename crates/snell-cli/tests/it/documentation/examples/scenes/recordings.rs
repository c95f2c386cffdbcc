//! Scenes in which something has happened already. It is noon on the day on which tests record.

use serde_json::{Value, json};
use snell_test_support::payload::merge_fields;

use crate::support::CliSandbox;

/// A clock that stands still, so that "3m ago" is always that.
pub fn freeze_clock_at_noon(sandbox: CliSandbox) -> CliSandbox {
    sandbox.env("SNELL_NOW", "2026-03-01T12:00:00Z")
}

/// Tells of a session in a directory of its name in the home directory.
fn send_session_event(sandbox: &CliSandbox, time: &str, name: &str, event: &str, more: &Value) {
    let payload = merge_fields(json!({"session_id": name, "cwd": sandbox.home().join(name)}), more);
    sandbox.send_hook_event(time, event, payload);
}

/// One has ended its turn, one is at work, and one has asked something.
pub fn record_three_agents(sandbox: CliSandbox) -> CliSandbox {
    let sandbox = freeze_clock_at_noon(sandbox);
    let tell =
        |time: &str, name: &str, event: &str, more: Value| send_session_event(&sandbox, time, name, event, &more);
    for name in ["docs", "web", "api"] {
        tell("10:30:00", name, "SessionStart", json!({"source": "startup"}));
    }
    tell("11:00:00", "docs", "Stop", json!({"last_assistant_message": "Done."}));
    tell("11:50:00", "web", "UserPromptSubmit", json!({"prompt": "Build it."}));
    tell("11:57:00", "api", "Stop", json!({"last_assistant_message": "May I drop the table?"}));
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "make"}});
    tell("11:59:48", "web", "PreToolUse", call);
    sandbox
}

/// Somebody wanted to publish something.
pub fn record_morning(sandbox: CliSandbox) -> CliSandbox {
    let sandbox = freeze_clock_at_noon(sandbox).home_file(
        ".config/snell/snell.toml",
        "[[hook]]\nevent = \"PreToolUse\"\ntool = \"shell\"\n\
         run = 'case $SNELL_COMMAND in *push*) echo not today >&2; exit 2; esac'\n",
    );
    let call = |command: &str| json!({"tool_name": "Bash", "tool_input": {"command": command}});
    for (time, event, payload) in [
        ("09:00:00", "SessionStart", json!({"source": "startup"})),
        ("10:00:00", "UserPromptSubmit", json!({"prompt": "Publish it, please."})),
        ("10:00:01", "PreToolUse", call("make")),
        ("10:00:02", "PreToolUse", call("git push origin")),
        ("11:30:00", "Stop", json!({"last_assistant_message": "I may not."})),
    ] {
        sandbox.send_hook_event(time, event, payload);
    }
    sandbox
}

/// Calls about which the guard said different things.
pub fn record_judged_calls(sandbox: CliSandbox) -> CliSandbox {
    let sandbox = freeze_clock_at_noon(sandbox);
    for (time, command) in [("10:00:01", "make"), ("10:00:02", "history -c"), ("10:00:05", "$TOOL build")] {
        let call = json!({"tool_name": "Bash", "tool_input": {"command": command}});
        sandbox.send_hook_event(time, "PreToolUse", call);
    }
    sandbox
}

/// A file that is not trusted, and an agent that waits.
pub fn record_attention_items(sandbox: CliSandbox) -> CliSandbox {
    let hook = "[[hook]]\nevent = \"Stop\"\nrun = \"true\"\n";
    let sandbox = freeze_clock_at_noon(sandbox).file("snell.toml", &format!("{hook}\n{hook}"));
    sandbox.send_hook_event("11:50:00", "SessionStart", json!({"source": "startup"}));
    sandbox.send_hook_event("11:55:00", "UserPromptSubmit", json!({"prompt": "Try it."}));
    let asks = json!({"notification_type": "permission_prompt", "message": "May I use Bash?"});
    sandbox.send_hook_event("11:58:00", "Notification", asks);
    // As it is for users: there may be a scribe, but none is running.
    sandbox.env("SNELL_SCRIBE", "on")
}

/// Snell in settings that had a hook already, in a project that is trusted.
pub fn install_snell(sandbox: CliSandbox) -> CliSandbox {
    let settings = r#"{
  "model": "opus",
  "hooks": {
    "Stop": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "say done"
          }
        ]
      }
    ]
  }
}
"#;
    let sandbox = freeze_clock_at_noon(sandbox).home_file(".claude/settings.json", settings).file(
        "snell.toml",
        "[guard.rules]\n\"git.push-force\" = \"ask\"\n\n[[hook]]\nevent = \"Stop\"\nrun = \"true\"\n",
    );
    let program = sandbox.home().join(".cargo/bin/snell");
    for args in [&["install", "claude"][..], &["trust"]] {
        let output = sandbox.program(&program).args(args).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    sandbox.send_hook_event("11:30:00", "SessionStart", json!({}));
    sandbox
}
