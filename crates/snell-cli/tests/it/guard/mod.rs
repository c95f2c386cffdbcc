//! The guard from outside: what agents, their users and the record are told about a call before it runs.

mod doctor;
mod hook;
mod links;
mod own;
mod recorded;
mod run;
mod settings;
mod unread;

use serde_json::{Value, json};

use crate::support::{Ran, Sandbox};

/// What an agent was told about a call.
#[derive(Debug)]
struct Told {
    /// `deny`, `ask`, or nothing.
    decision: Option<String>,
    /// What the model reads.
    reason: String,
    /// What the user reads.
    message: String,
    stderr: String,
}

impl From<Ran> for Told {
    fn from(ran: Ran) -> Self {
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

impl Told {
    /// The decision and the rule, as `deny git.push-force`; nothing if the agent was told nothing.
    #[track_caller]
    fn in_short(&self) -> String {
        let Some(decision) = &self.decision else {
            assert_eq!(self.message, "", "{self:?}");
            return String::new();
        };
        let lines: Vec<_> = self
            .message
            .lines()
            .filter(|line| line.starts_with("Snell: the guard "))
            .collect();
        let rules = lines.iter().filter_map(|line| line.split(['(', ')']).nth(1));
        let rules: Vec<_> = rules.collect();
        assert!(!rules.is_empty() && !self.reason.is_empty(), "{self:?}");
        format!("{decision} {}", rules.join(" "))
    }
}

/// A call of a tool, as Claude Code tells it before it happens.
fn call(sandbox: &Sandbox, tool: &str, input: Value) -> Told {
    let payload = json!({"tool_name": tool, "tool_input": input});
    sandbox.tell("12:00:00", "PreToolUse", payload).into()
}

/// A shell command, as Claude Code tells it.
fn bash(sandbox: &Sandbox, command: &str) -> Told {
    call(sandbox, "Bash", json!({"command": command}))
}

/// A sandbox in which the user's own file says this.
fn configured(text: &str) -> Sandbox {
    Sandbox::recording().home_file(".config/snell/snell.toml", text)
}

/// What is said about each of these commands.
#[track_caller]
fn are_told(sandbox: &Sandbox, cases: &[(&str, &str)]) {
    for (command, expected) in cases {
        let told = bash(sandbox, command);
        assert_eq!(told.in_short(), *expected, "{command}: {told:?}");
    }
}

/// What the database keeps of what the guard said, in the order in which it was said.
fn verdicts(sandbox: &Sandbox) -> Vec<String> {
    let database = rusqlite::Connection::open(sandbox.database()).unwrap();
    let sql = "SELECT decision || ' ' || rule || ' ' || tier FROM guard_verdicts ORDER BY guard_verdict_id";
    let mut statement = database.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}
