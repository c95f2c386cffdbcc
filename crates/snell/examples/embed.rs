//! A tiny agent that embeds the engine.
//!
//! It "plans" a few tool calls, fires an event before each one, follows the verdict, and fires an event after it. Run it in
//! the repository: `cargo run -p snell --example embed`.

#![allow(clippy::print_stdout, reason = "an agent talks to its user")]

use std::path::Path;

use serde_json::{Value, json};
use snell::{Decision, Engine, Event, EventName};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/guarded");
    let (engine, diagnostics) = Engine::builder().project(project).env(std::env::vars_os()).load();
    for diagnostic in &diagnostics {
        println!("configuration: {diagnostic}");
    }

    let start = engine.fire(Event::new(EventName::SessionStart).in_session("demo")).await;
    for text in &start.context {
        println!("context for the model: {text}");
    }
    for command in ["git status --short", "git push --force origin main", "echo done"] {
        call_tool(&engine, "Bash", json!({ "command": command })).await;
    }
    engine.fire(Event::new(EventName::SessionEnd).in_session("demo")).await;
    // Background hooks belong to this process, so wait for them.
    engine.wait_for_background().await;
}

/// One tool call, with an event before and after it.
async fn call_tool(engine: &Engine, tool: &str, input: Value) {
    println!("\nthe model wants: {tool} {input}");
    let verdict = engine.fire(Event::pre_tool_use(tool, input.clone()).in_session("demo")).await;
    for message in &verdict.messages {
        println!("  for the user: {message}");
    }
    match verdict.decision {
        Decision::Deny => {
            println!("  blocked: {}", verdict.reason.unwrap_or_default());
            return;
        }
        Decision::Ask => println!("  (an agent with a user would ask now)"),
        Decision::Allow | Decision::None => {}
    }
    // A hook may have changed the input, so the tool runs with the input of the verdict.
    let input = verdict.tool_input.unwrap_or(input);
    let output = run_tool(&input);
    println!("  the tool answered: {output}");
    let after = Event::new(EventName::PostToolUse).with_tool(tool, input).with_tool_output(output).in_session("demo");
    for text in engine.fire(after).await.context {
        println!("  context for the model: {text}");
    }
}

/// Stands in for a real tool.
fn run_tool(input: &Value) -> Value {
    json!({ "stdout": format!("(pretending to run {})", input["command"]), "exit_code": 0 })
}
