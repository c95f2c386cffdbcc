//! What hooks of each contract can do: all events together, and how they are written.

use std::thread;

use serde_json::json;

use super::events::{HookCapabilities, try_all_contracts};
use super::formats::{CONTRACTS, HookSpec, create_project, render_printing_script, run_full_event, set_hook_script};
use super::matchers::{GRAMMARS, detect_timeout_unit, supports_grammar};
use super::{MarkdownTable, NOTHING, render_yes};

/// A question about a contract, answered by a project of its own.
type ContractQuestion = (&'static str, fn(&str) -> bool);

/// Something that can be done about some events.
type CapabilityCounter = (&'static str, fn(&HookCapabilities) -> bool);

const QUESTIONS: &[ContractQuestion] = &[
    ("exit code 2 blocks", |contract| is_tool_refused(contract, "exit 2", false)),
    ("JSON blocks", |contract| {
        let answer = json!({"decision": "block", "reason": "no", "allow": false, "message": "no"});
        is_tool_refused(contract, &render_printing_script(&answer), false)
    }),
    ("can ask the user", |contract| {
        let answer = json!({"decision": "ask", "reason": "sure?",
            "hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}});
        let sandbox = set_hook_script(
            create_project(contract, &["PreToolUse"], &HookSpec::default()),
            &render_printing_script(&answer),
        );
        run_full_event(&sandbox, "PreToolUse").decision() == "ask"
    }),
    ("a killed hook is a failure, and reported", |contract| {
        let sandbox = set_hook_script(create_project(contract, &["PreToolUse"], &HookSpec::default()), "kill -9 $$");
        let ran = run_full_event(&sandbox, "PreToolUse");
        ran.statuses() == ["failed"] && !(ran.messages().is_empty() && ran.warnings().is_empty())
    }),
    ("can fail closed", |contract| is_tool_refused(contract, "kill -9 $$", true)),
];

/// Whether a hook that does this keeps a tool from running.
fn is_tool_refused(contract: &str, script: &str, closed: bool) -> bool {
    let hook = HookSpec { closed, ..HookSpec::default() };
    run_full_event(&set_hook_script(create_project(contract, &["PreToolUse"], &hook), script), "PreToolUse").code == 2
}

/// How many events there are with this.
fn count_events_with(events: &[HookCapabilities], has_it: fn(&HookCapabilities) -> bool) -> String {
    match events.iter().filter(|can| has_it(can)).count() {
        0 => NOTHING.to_owned(),
        found => found.to_string(),
    }
}

pub fn render_contracts_table() -> String {
    let head = CONTRACTS.map(|contract| format!("`{contract}`"));
    let mut table = MarkdownTable::new([""].into_iter().chain(head.iter().map(String::as_str)));
    let tried = try_all_contracts();
    let counts: &[CapabilityCounter] = &[
        ("events that run hooks, of ALL", |can| can.run),
        ("… can block", |can| can.block),
        ("… can change a call", |can| can.change_input),
        ("… can change an output", |can| can.change_output),
        ("… can add context", |can| can.add_context),
    ];
    for (name, has_it) in counts {
        let name = name.replace("ALL", &tried[0].len().to_string());
        table.push_row(&name, tried.iter().map(|events| count_events_with(events, *has_it)));
    }
    for (name, holds) in QUESTIONS {
        table.push_row(name, ask_every_contract(|contract| render_yes(holds(contract))));
    }
    for grammar in GRAMMARS {
        table.push_row(
            &format!("matcher: {}", grammar.says),
            ask_every_contract(|contract| render_yes(supports_grammar(contract, grammar))),
        );
    }
    table.push_row("unit of timeouts", ask_every_contract(detect_timeout_unit));
    table.to_markdown()
}

/// The answers of all contracts, in their order.
fn ask_every_contract(ask: impl Fn(&str) -> String + Sync) -> Vec<String> {
    thread::scope(|scope| {
        let answers = CONTRACTS.map(|contract| scope.spawn(|| ask(contract)));
        answers.map(|answer| answer.join().unwrap()).into()
    })
}
