//! Which contracts have each ability of hooks, matchers and timeouts.

use std::thread;

use serde_json::json;

use super::NOTHING;
use super::formats::{CONTRACTS, HookSpec, create_project, render_printing_script, run_full_event, set_hook_script};
use super::matchers::{GRAMMARS, detect_timeout_unit, supports_grammar};

/// A question about a contract, answered by a project of its own.
type ContractQuestion = (&'static str, fn(&str) -> bool);

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

/// A list: each ability with the contracts that have it, then the unit of timeouts of each contract.
pub fn render_contracts_list() -> String {
    let mut list = String::new();
    for (name, holds) in QUESTIONS {
        list += &render_ability(name, holds);
    }
    for grammar in GRAMMARS {
        list += &render_ability(&format!("matcher ({})", grammar.says), |contract| supports_grammar(contract, grammar));
    }
    let units = ask_every_contract(|contract| Some(detect_timeout_unit(contract)).filter(|unit| unit != NOTHING));
    let units = CONTRACTS.iter().zip(units).filter_map(|(contract, unit)| Some(format!("`{contract}` {}", unit?)));
    list + &format!("- unit of timeouts: {}\n", units.collect::<Vec<_>>().join("; "))
}

/// A line: the ability, and the contracts for which the question holds.
fn render_ability(name: &str, holds: impl Fn(&str) -> bool + Sync) -> String {
    let answers = ask_every_contract(holds);
    let found: Vec<_> = CONTRACTS.iter().zip(&answers).filter(|(_, holds)| **holds).collect();
    let names: Vec<_> = found.iter().map(|(contract, _)| format!("`{contract}`")).collect();
    let names = if names.len() == CONTRACTS.len() { "all".to_owned() } else { names.join(", ") };
    format!("- {name}: {names}\n")
}

/// The answers of all contracts, in their order.
fn ask_every_contract<T: Send>(ask: impl Fn(&str) -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let answers = CONTRACTS.map(|contract| scope.spawn(|| ask(contract)));
        answers.map(|answer| answer.join().unwrap()).into()
    })
}
