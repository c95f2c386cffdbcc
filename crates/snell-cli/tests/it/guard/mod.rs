//! The guard from outside: its answers to agents and users, and its records.

mod approvals;
mod doctor;
mod entries;
mod headless;
mod hook;
mod recording;
mod run;
mod self_protection;
mod session;
mod settings;
mod symlinks;
mod unreadable_calls;

use serde_json::{Value, json};
use snell_test_support::database::query_texts;
use snell_test_support::process::CommandOutput;

use crate::support::CliSandbox;

/// The answer to an agent about a call.
#[derive(Debug)]
struct GuardHookReply {
    /// `deny`, `ask`, or nothing.
    decision: Option<String>,
    /// The text for the model.
    reason: String,
    /// The text for the user.
    message: String,
    stderr: String,
}

impl From<CommandOutput> for GuardHookReply {
    fn from(ran: CommandOutput) -> Self {
        assert_eq!(ran.code, 0, "{ran:?}");
        let answer = if ran.stdout.is_empty() { json!({}) } else { ran.json() };
        let specific = &answer["hookSpecificOutput"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Self {
            decision: specific["permissionDecision"].as_str().map(str::to_owned),
            reason: text(&specific["permissionDecisionReason"]),
            message: text(&answer["systemMessage"]),
            stderr: ran.stderr,
        }
    }
}

impl GuardHookReply {
    /// The decision and the rule, as `deny git.push-force`; empty if there is no decision.
    #[track_caller]
    fn summarize(&self) -> String {
        let Some(decision) = &self.decision else {
            assert_eq!(self.message, "", "{self:?}");
            return String::new();
        };
        let lines = self.message.lines().filter(|line| line.starts_with("Snell: ") && line.contains("; details: "));
        let rules = lines.filter_map(|line| line.split_once("rule ")?.1.split([';', ' ']).next());
        let rules: Vec<_> = rules.collect();
        assert!(!rules.is_empty() && !self.reason.is_empty(), "{self:?}");
        format!("{decision} {}", rules.join(" "))
    }
}

/// A tool call, as Claude Code announces it.
fn judge_call(sandbox: &CliSandbox, tool: &str, input: Value) -> GuardHookReply {
    let payload = json!({"tool_name": tool, "tool_input": input});
    sandbox.send_hook_event("12:00:00", "PreToolUse", payload).into()
}

/// A shell command, as Claude Code announces it.
fn judge_bash(sandbox: &CliSandbox, command: &str) -> GuardHookReply {
    judge_call(sandbox, "Bash", json!({"command": command}))
}

/// A sandbox with this text in the user's own file.
fn create_configured_sandbox(text: &str) -> CliSandbox {
    CliSandbox::with_frozen_clock().home_file(".config/snell/snell.toml", text)
}

/// The answers about these commands.
#[track_caller]
fn assert_judgements(sandbox: &CliSandbox, cases: &[(&str, &str)]) {
    for (command, expected) in cases {
        let told = judge_bash(sandbox, command);
        assert_eq!(told.summarize(), *expected, "{command}: {told:?}");
    }
}

/// The guard's decisions in the database, in order.
fn list_stored_verdicts(sandbox: &CliSandbox) -> Vec<String> {
    let sql = "SELECT decision || ' ' || rule || ' ' || tier FROM guard_verdicts ORDER BY guard_verdict_id";
    query_texts(&sandbox.database(), sql)
}
