//! What hooks of each contract can do: all events together, and how they are written.

use std::thread;

use serde_json::json;

use super::events::{Can, tried_by_all};
use super::formats::{CONTRACTS, Written, behave, fire, printing, project};
use super::matchers::{GRAMMARS, knows, unit};
use super::{NOTHING, Table, yes};

/// A question about a contract, answered by a project of its own.
type Question = (&'static str, fn(&str) -> bool);

/// Something that can be done about some events.
type Counted = (&'static str, fn(&Can) -> bool);

const QUESTIONS: &[Question] = &[
    ("blocks by exit code 2", |contract| refused(contract, "exit 2", false)),
    ("blocks by JSON", |contract| {
        let answer = json!({"decision": "block", "reason": "no", "allow": false, "message": "no"});
        refused(contract, &printing(&answer), false)
    }),
    ("lets the user decide (ask)", |contract| {
        let answer = json!({"decision": "ask", "reason": "sure?",
            "hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}});
        let sandbox = behave(
            project(contract, &["PreToolUse"], &Written::default()),
            &printing(&answer),
        );
        fire(&sandbox, "PreToolUse").decision() == "ask"
    }),
    ("a hook that is killed is a failure, and told", |contract| {
        let sandbox = behave(project(contract, &["PreToolUse"], &Written::default()), "kill -9 $$");
        let ran = fire(&sandbox, "PreToolUse");
        ran.statuses() == ["failed"] && !(ran.messages().is_empty() && ran.warnings().is_empty())
    }),
    ("its failure blocks, if it is written so", |contract| {
        refused(contract, "kill -9 $$", true)
    }),
];

/// Whether a hook that does this keeps a tool from running.
fn refused(contract: &str, script: &str, closed: bool) -> bool {
    let hook = Written {
        closed,
        ..Written::default()
    };
    fire(&behave(project(contract, &["PreToolUse"], &hook), script), "PreToolUse").code == 2
}

/// How many events there are with this, of all.
fn count(events: &[Can], has_it: fn(&Can) -> bool) -> String {
    match events.iter().filter(|can| has_it(can)).count() {
        0 => NOTHING.to_owned(),
        found => format!("{found} of {}", events.len()),
    }
}

pub fn table() -> String {
    let head = CONTRACTS.map(|contract| format!("`{contract}`"));
    let mut table = Table::new([""].into_iter().chain(head.iter().map(String::as_str)));
    let tried = tried_by_all();
    let counts: &[Counted] = &[
        ("events on which hooks run", |can| can.run),
        ("… can block", |can| can.block),
        ("… can change a call", |can| can.change_input),
        ("… can change an output", |can| can.change_output),
        ("… can add context", |can| can.add_context),
    ];
    for (name, has_it) in counts {
        table.row(name, tried.iter().map(|events| count(events, *has_it)));
    }
    for (name, holds) in QUESTIONS {
        table.row(name, by_all(|contract| yes(holds(contract))));
    }
    for grammar in GRAMMARS {
        table.row(
            &format!("matcher: {}", grammar.says),
            by_all(|contract| yes(knows(contract, grammar))),
        );
    }
    table.row("timeouts are written in", by_all(unit));
    table.text()
}

/// The answers of all contracts, in their order.
fn by_all(ask: impl Fn(&str) -> String + Sync) -> Vec<String> {
    thread::scope(|scope| {
        let answers = CONTRACTS.map(|contract| scope.spawn(|| ask(contract)));
        answers.map(|answer| answer.join().unwrap()).into()
    })
}
