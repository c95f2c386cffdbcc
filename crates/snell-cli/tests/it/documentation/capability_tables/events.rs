//! What hooks of each contract can do about each event.

use std::sync::OnceLock;
use std::thread;

use serde_json::{Value, json};

use super::formats::{
    CONTRACTS, HookSpec, create_project, list_event_names, render_printing_script, run_full_event, set_hook_script,
};
use super::{MarkdownTable, NOTHING};
use crate::support::CliSandbox;

/// What a hook could do about an event.
#[derive(Clone, Copy, Default, PartialEq)]
pub struct HookCapabilities {
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
fn build_changed_answer(event: &str) -> Value {
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
fn build_context_answer(event: &str) -> Value {
    json!({"context": "told", "hookSpecificOutput": {"hookEventName": event, "additionalContext": "told"}})
}

/// What hooks of a contract can do about each event, in the order of [`events`].
pub fn try_contract(contract: &str) -> Vec<HookCapabilities> {
    let mut sandbox = create_project(contract, &list_event_names(), &HookSpec { closed: true, ..HookSpec::default() });
    let mut found = Vec::new();
    for event in list_event_names() {
        let mut can = HookCapabilities::default();
        (sandbox, can) = try_context(sandbox, event, can);
        (sandbox, can) = try_changes(sandbox, event, can);
        (sandbox, can) = try_refusals(sandbox, event, can);
        found.push(can);
    }
    found
}

fn try_context(mut sandbox: CliSandbox, event: &str, mut can: HookCapabilities) -> (CliSandbox, HookCapabilities) {
    for script in ["echo told".to_owned(), render_printing_script(&build_context_answer(event))] {
        sandbox = set_hook_script(sandbox, &script);
        let ran = run_full_event(&sandbox, event);
        let statuses = ran.statuses();
        can.run |= !statuses.is_empty();
        can.waited_for |= statuses.iter().any(|status| status != "started");
        can.add_context |= ran.context() == ["told"];
    }
    (sandbox, can)
}

fn try_changes(sandbox: CliSandbox, event: &str, mut can: HookCapabilities) -> (CliSandbox, HookCapabilities) {
    let sandbox = set_hook_script(sandbox, &render_printing_script(&build_changed_answer(event)));
    let ran = run_full_event(&sandbox, event).json();
    can.change_input = ran["tool_input"]["file_path"] == "b.txt";
    can.change_output = ran["tool_output"] == "changed";
    (sandbox, can)
}

fn try_refusals(mut sandbox: CliSandbox, event: &str, mut can: HookCapabilities) -> (CliSandbox, HookCapabilities) {
    for script in REFUSALS {
        sandbox = set_hook_script(sandbox, script);
        let ran = run_full_event(&sandbox, event);
        assert_eq!(ran.code == 2, ran.decision() == "block", "{ran:?}");
        can.block |= ran.code == 2;
        can.add_context |= ran.context().iter().any(|text| text.contains("told"));
    }
    (sandbox, can)
}

/// All contracts at once, each in a project of its own; once for all tables that tell of it.
pub fn try_all_contracts() -> &'static [Vec<HookCapabilities>] {
    static TRIED: OnceLock<Vec<Vec<HookCapabilities>>> = OnceLock::new();
    TRIED.get_or_init(|| {
        thread::scope(|scope| {
            let tries = CONTRACTS.map(|contract| scope.spawn(|| try_contract(contract)));
            tries.map(|one| one.join().unwrap()).into()
        })
    })
}

fn render_cell(can: HookCapabilities) -> String {
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
    let parts: Vec<_> = parts.iter().filter(|(whether, _)| *whether).map(|(_, part)| *part).collect();
    if parts.is_empty() { "runs".to_owned() } else { parts.join(", ") }
}

/// Contracts that can do the same about every event share a column.
pub fn render_events_table() -> String {
    let tried = try_all_contracts();
    let mut columns: Vec<(String, &[HookCapabilities])> = Vec::new();
    for (contract, found) in CONTRACTS.iter().zip(tried) {
        match columns.iter_mut().find(|(_, same)| same == found) {
            Some((names, _)) => *names += &format!(", `{contract}`"),
            None => columns.push((format!("`{contract}`"), found)),
        }
    }
    let mut table = MarkdownTable::new(["event"].into_iter().chain(columns.iter().map(|(names, _)| names.as_str())));
    for (at, event) in list_event_names().iter().enumerate() {
        table.push_row(&format!("`{event}`"), columns.iter().map(|(_, found)| render_cell(found[at])));
    }
    table.to_markdown()
}
