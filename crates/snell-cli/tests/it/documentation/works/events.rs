//! What hooks of each contract can do about each event.

use std::sync::OnceLock;
use std::thread;

use serde_json::{Value, json};

use super::formats::{CONTRACTS, Written, behave, events, fire, printing, project};
use super::{NOTHING, Table};
use crate::support::Sandbox;

/// What a hook could do about an event.
#[derive(Clone, Copy, Default, PartialEq)]
pub struct Can {
    pub run: bool,
    pub waited_for: bool,
    pub block: bool,
    pub change_input: bool,
    pub change_output: bool,
    pub add_context: bool,
}

/// Says no in every way that a format may have: each way is tried, because a failure is no opinion in most of them.
const REFUSALS: [&str; 3] = [
    "echo told >&2; exit 2",
    "echo told >&2; exit 1",
    r#"echo '{"decision":"block","reason":"told","allow":false,"message":"told"}'"#,
];

/// A changed input and output under the names of every format.
fn changed(event: &str) -> Value {
    let input = json!({"file_path": "b.txt"});
    json!({
        "tool_input": input, "tool_output": "changed",
        "modified_input": input, "modified_output": "changed",
        "hookSpecificOutput": {
            "hookEventName": event, "updatedInput": input, "updatedToolOutput": "changed",
            "decision": {"behavior": "allow", "updatedInput": input},
        },
    })
}

/// Context under the names of every format.
fn context(event: &str) -> Value {
    json!({"context": "told", "hookSpecificOutput": {"hookEventName": event, "additionalContext": "told"}})
}

/// What hooks of a contract can do about each event, in the order of [`events`].
pub fn tried(contract: &str) -> Vec<Can> {
    let mut sandbox = project(
        contract,
        &events(),
        &Written {
            closed: true,
            ..Written::default()
        },
    );
    let mut found = Vec::new();
    for event in events() {
        let mut can = Can::default();
        (sandbox, can) = with_words(sandbox, event, can);
        (sandbox, can) = with_changes(sandbox, event, can);
        (sandbox, can) = with_refusals(sandbox, event, can);
        found.push(can);
    }
    found
}

fn with_words(mut sandbox: Sandbox, event: &str, mut can: Can) -> (Sandbox, Can) {
    for script in ["echo told".to_owned(), printing(&context(event))] {
        sandbox = behave(sandbox, &script);
        let ran = fire(&sandbox, event);
        let statuses = ran.statuses();
        can.run |= !statuses.is_empty();
        can.waited_for |= statuses.iter().any(|status| status != "started");
        can.add_context |= ran.context() == ["told"];
    }
    (sandbox, can)
}

fn with_changes(sandbox: Sandbox, event: &str, mut can: Can) -> (Sandbox, Can) {
    let sandbox = behave(sandbox, &printing(&changed(event)));
    let ran = fire(&sandbox, event).json();
    can.change_input = ran["tool_input"]["file_path"] == "b.txt";
    can.change_output = ran["tool_output"] == "changed";
    (sandbox, can)
}

fn with_refusals(mut sandbox: Sandbox, event: &str, mut can: Can) -> (Sandbox, Can) {
    for script in REFUSALS {
        sandbox = behave(sandbox, script);
        let ran = fire(&sandbox, event);
        assert_eq!(ran.code == 2, ran.decision() == "block", "{ran:?}");
        can.block |= ran.code == 2;
        can.add_context |= ran.context().iter().any(|text| text.contains("told"));
    }
    (sandbox, can)
}

/// All contracts at once, each in a project of its own; once for all tables that tell of it.
pub fn tried_by_all() -> &'static [Vec<Can>] {
    static TRIED: OnceLock<Vec<Vec<Can>>> = OnceLock::new();
    TRIED.get_or_init(|| {
        thread::scope(|scope| {
            let tries = CONTRACTS.map(|contract| scope.spawn(|| tried(contract)));
            tries.map(|one| one.join().unwrap()).into()
        })
    })
}

fn cell(can: Can) -> String {
    if !can.run {
        return NOTHING.to_owned();
    }
    let parts = [
        (!can.waited_for, "not awaited"),
        (can.block, "blocks"),
        (can.change_input, "changes input"),
        (can.change_output, "changes output"),
        (can.add_context, "context"),
    ];
    let parts: Vec<_> = parts
        .iter()
        .filter(|(whether, _)| *whether)
        .map(|(_, part)| *part)
        .collect();
    if parts.is_empty() {
        "runs".to_owned()
    } else {
        parts.join(", ")
    }
}

pub fn table() -> String {
    let head = CONTRACTS.map(|contract| format!("`{contract}`"));
    let mut table = Table::new(["event"].into_iter().chain(head.iter().map(String::as_str)));
    let tried = tried_by_all();
    for (at, event) in events().iter().enumerate() {
        table.row(&format!("`{event}`"), tried.iter().map(|contract| cell(contract[at])));
    }
    table.text()
}
