//! `snell statusline`: prints a line for the agent's status line, and records its context use.
//!
//! Claude Code calls it often, so it does little work, and it never fails.

use std::path::Path;

use anyhow::Context;
use serde_json::Value;
use snell_store::{AgentFilter, AgentState, ContextReport};

use super::DONE;
use super::run::read_payload_from_stdin;
use crate::output;
use crate::record::open_store::StoreHandle;
use crate::record::record_event::record_context_usage;

/// The context window of a model that does not report its size.
const DEFAULT_WINDOW_TOKENS: f64 = 200_000.0;

/// The tokens of the last request, which fill the window.
const USED_TOKEN_FIELDS: &[&str] = &["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];

/// Print Claude Code's status line, and record the context use
///
/// Reads the JSON that Claude Code writes to the standard input of its status line command.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example, in ~/.claude/settings.json:\n  \
    {\"statusLine\": {\"type\": \"command\", \"command\": \"snell statusline\"}}")]
pub(crate) struct Args {}

/// Always succeeds, because its output is the user's status line.
pub(crate) fn run(_: &Args) -> u8 {
    let line = match read_payload() {
        Ok(payload) => build_status_line(&payload),
        Err(error) => {
            output::print_error(&error);
            String::new()
        }
    };
    output::print_line(if line.is_empty() { "snell" } else { &line });
    DONE
}

/// Reads Claude Code's payload. Any field may be missing.
fn read_payload() -> anyhow::Result<Value> {
    let payload: Value =
        serde_json::from_slice(&read_payload_from_stdin()?).context("the status line's input is not JSON")?;
    anyhow::ensure!(payload.is_object(), "the status line's input is not a JSON object");
    Ok(payload)
}

fn build_status_line(payload: &Value) -> String {
    let text = |path: &str| payload.pointer(path).and_then(Value::as_str).filter(|text| !text.is_empty());
    let percent = compute_context_percent(payload);
    let session = text("/session_id").or_else(|| text("/sessionId"));
    let report =
        ContextReport { percent, window: read_window_tokens(payload), model: text("/model/id").map(str::to_owned) };
    let waiting = record_and_count_waiting(session, report).unwrap_or_else(|error| {
        output::print_error(&error);
        0
    });
    let directory = ["/workspace/project_dir", "/workspace/current_dir", "/cwd"].into_iter().find_map(text);
    let project = directory.and_then(|path| Path::new(path).file_name()?.to_str());
    let parts = [
        text("/model/display_name").or_else(|| text("/model/id")).map(str::to_owned),
        project.map(str::to_owned),
        percent.map(|percent| format!("context {percent:.0} %")),
        (waiting > 0).then(|| format!("{waiting} {} for you", if waiting == 1 { "waits" } else { "wait" })),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    output::shorten_to_one_line(&parts.join(" · "), 200)
}

/// The context use in percent.
fn compute_context_percent(payload: &Value) -> Option<f64> {
    let window = payload.get("context_window")?;
    let number = |value: &Value, field: &str| value.get(field).and_then(Value::as_f64).filter(|number| *number >= 0.0);
    let reported = number(window, "used_percentage");
    let computed = || {
        let usage = window.get("current_usage").filter(|usage| usage.is_object())?;
        let used: Vec<_> = USED_TOKEN_FIELDS.iter().filter_map(|field| number(usage, field)).collect();
        let size = number(window, "context_window_size").filter(|size| *size > 0.0).unwrap_or(DEFAULT_WINDOW_TOKENS);
        (!used.is_empty()).then(|| used.iter().sum::<f64>() / size * 100.0)
    };
    reported.or_else(computed).map(|percent| percent.min(100.0))
}

/// The size of the context window, which is known before the first answer of the model.
fn read_window_tokens(payload: &Value) -> Option<u32> {
    let size = payload.pointer("/context_window/context_window_size")?.as_u64()?;
    u32::try_from(size).ok().filter(|size| *size > 0)
}

/// Records the context use, and returns how many other agents wait for their user.
fn record_and_count_waiting(session: Option<&str>, report: ContextReport) -> anyhow::Result<usize> {
    let mut store_handle = StoreHandle::open()?;
    if store_handle.has_no_records() {
        return Ok(0);
    }
    if let Some(session) = session.filter(|_| report.percent.is_some() || report.window.is_some()) {
        record_context_usage(&mut store_handle, session, report)?;
    }
    let waiting = store_handle.query(|store| {
        let mut agents = store.list_agents(&AgentFilter::default())?;
        agents.retain(|agent| agent.state == AgentState::AwaitingInput);
        if let (Some(session), false) = (session, agents.is_empty()) {
            // A session may have several ids.
            let known = store.find_sessions(session)?;
            let own = known.iter().find(|known| known.session_ids.iter().any(|id| id == session));
            agents.retain(|agent| own.is_none_or(|own| own.agent_id != agent.agent_id));
        }
        Ok(agents.len())
    });
    store_handle.close_without_cleanup();
    waiting
}
