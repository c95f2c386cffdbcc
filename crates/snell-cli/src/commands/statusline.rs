//! `snell statusline`: a line for the agent's status line, and a record of how full its context is.
//!
//! It is drawn again and again while somebody types, so it does as little as can be, and never fails.

use std::path::Path;

use anyhow::Context;
use serde_json::Value;
use snell_store::{AgentFilter, State};

use super::DONE;
use super::run::payload_from_stdin;
use crate::memory::Memory;
use crate::output;
use crate::recording::record_context;

/// The window of a model that does not say how large it is.
const WINDOW_TOKENS: f64 = 200_000.0;

/// The tokens that the last request filled the window with.
const USED_TOKENS: &[&str] = &["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];

/// Print a line for Claude Code's status line, and record how full the context is
///
/// Reads the JSON that Claude Code hands to its status line on standard input.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example, in ~/.claude/settings.json:\n  \
    {\"statusLine\": {\"type\": \"command\", \"command\": \"snell statusline\"}}")]
pub(crate) struct Args {}

/// Never fails: whatever is printed is the user's status line.
pub(crate) fn run(_: &Args) -> u8 {
    let line = match told() {
        Ok(told) => line(&told),
        Err(error) => {
            output::error(&error);
            String::new()
        }
    };
    output::line(if line.is_empty() { "snell" } else { &line });
    DONE
}

/// What Claude Code says. Any of it may be missing.
fn told() -> anyhow::Result<Value> {
    let told: Value = serde_json::from_slice(&payload_from_stdin()?).context("the status line's input is not JSON")?;
    anyhow::ensure!(told.is_object(), "the status line's input is no JSON object");
    Ok(told)
}

fn line(told: &Value) -> String {
    let text = |path: &str| {
        told.pointer(path)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
    };
    let percent = percent(told);
    let session = text("/session_id").or_else(|| text("/sessionId"));
    let waiting = record(session, percent, text("/model/id")).unwrap_or_else(|error| {
        output::error(&error);
        0
    });
    let directory = ["/workspace/project_dir", "/workspace/current_dir", "/cwd"]
        .into_iter()
        .find_map(text);
    let project = directory.and_then(|path| Path::new(path).file_name()?.to_str());
    let parts = [
        text("/model/display_name")
            .or_else(|| text("/model/id"))
            .map(str::to_owned),
        project.map(str::to_owned),
        percent.map(|percent| format!("context {percent:.0} %")),
        (waiting > 0).then(|| format!("{waiting} {} for you", if waiting == 1 { "waits" } else { "wait" })),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    output::in_brief(&parts.join(" · "), 200)
}

/// How full the context is, in percent.
fn percent(told: &Value) -> Option<f64> {
    let window = told.get("context_window")?;
    let number = |value: &Value, field: &str| value.get(field).and_then(Value::as_f64).filter(|number| *number >= 0.0);
    let told = number(window, "used_percentage");
    let counted = || {
        let usage = window.get("current_usage").filter(|usage| usage.is_object())?;
        let used: Vec<_> = USED_TOKENS.iter().filter_map(|field| number(usage, field)).collect();
        let size = number(window, "context_window_size")
            .filter(|size| *size > 0.0)
            .unwrap_or(WINDOW_TOKENS);
        (!used.is_empty()).then(|| used.iter().sum::<f64>() / size * 100.0)
    };
    told.or_else(counted).map(|percent| percent.min(100.0))
}

/// Records what was told, and answers how many other agents wait for their user.
fn record(session: Option<&str>, percent: Option<f64>, model: Option<&str>) -> anyhow::Result<usize> {
    let mut memory = Memory::find()?;
    if memory.is_blank() {
        return Ok(0);
    }
    if let (Some(session), Some(percent)) = (session, percent) {
        record_context(&mut memory, session, percent, model)?;
    }
    let waiting = memory.ask(|store| {
        let mut agents = store.agents(&AgentFilter::default())?;
        agents.retain(|agent| agent.state == State::AwaitingInput);
        if let (Some(session), false) = (session, agents.is_empty()) {
            // A session may have other ids beside this one.
            let known = store.sessions(session)?;
            let own = known
                .iter()
                .find(|known| known.session_ids.iter().any(|id| id == session));
            agents.retain(|agent| own.is_none_or(|own| own.agent_id != agent.agent_id));
        }
        Ok(agents.len())
    });
    memory.leave();
    waiting
}
