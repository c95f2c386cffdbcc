//! Codex: events with the counts of the last request and of the whole session.
//!
//! A fork begins with a copy of the session that it continues, with other times. The totals and the turn are the same there, so
//! they identify a request.

use serde::Deserialize;

use super::{LineUsage, UsageFileState, limit_text, parse_time};
use crate::usage::request::{TokenCounts, UsageRequest, UsageTurn, WireCount};

/// The key of the session's totals.
const SESSION_TOTALS: &str = "session";

#[derive(Deserialize)]
struct CodexLineWire {
    timestamp: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    payload: Option<CodexPayloadWire>,
}

#[derive(Deserialize)]
struct CodexPayloadWire {
    #[serde(rename = "type")]
    kind: Option<String>,
    id: Option<String>,
    cwd: Option<String>,
    model: Option<String>,
    turn_id: Option<String>,
    info: Option<CodexInfoWire>,
}

#[derive(Deserialize)]
struct CodexInfoWire {
    total_token_usage: Option<CodexCountsWire>,
    last_token_usage: Option<CodexCountsWire>,
}

/// Input includes what a cache had; output includes reasoning.
#[derive(Deserialize)]
struct CodexCountsWire {
    #[serde(default)]
    input_tokens: WireCount,
    #[serde(default)]
    cached_input_tokens: WireCount,
    #[serde(default)]
    cache_write_input_tokens: WireCount,
    #[serde(default)]
    output_tokens: WireCount,
}

impl CodexCountsWire {
    fn to_counts(&self) -> TokenCounts {
        let (read, write) = (self.cached_input_tokens.get(), self.cache_write_input_tokens.get());
        TokenCounts {
            input: (self.input_tokens.get() - read - write).max(0),
            output: self.output_tokens.get(),
            cache_read: read,
            cache_write: write,
            cache_write_1h: 0,
        }
    }
}

pub(super) fn read_line(line: &[u8], state: &mut UsageFileState) -> LineUsage {
    let Ok(CodexLineWire { timestamp, kind: Some(kind), payload: Some(payload) }) = serde_json::from_slice(line) else {
        return LineUsage::default();
    };
    if let Some(cwd) = payload.cwd {
        state.cwd = cwd;
    }
    match (kind.as_str(), payload.kind.as_deref()) {
        // A fork names its own session first, and then the one that it continues.
        ("session_meta", _) if state.session_id.is_empty() => {
            state.session_id = limit_text(payload.id.unwrap_or_default());
        }
        ("turn_context", _) => {
            state.model = limit_text(payload.model.unwrap_or_default());
            return LineUsage {
                turn: start_turn(payload.turn_id, timestamp.as_deref(), state),
                ..LineUsage::default()
            };
        }
        ("event_msg", Some("token_count")) => {
            let request = payload.info.and_then(|info| read_request(&info, timestamp.as_deref(), state));
            return LineUsage { requests: request.into_iter().collect(), turn: None };
        }
        _ => {}
    }
    LineUsage::default()
}

/// A turn has a context of its own for each step.
fn start_turn(turn: Option<String>, time: Option<&str>, state: &mut UsageFileState) -> Option<UsageTurn> {
    let (turn, at) = (limit_text(turn?), parse_time(time)?);
    if turn == state.turn {
        return None;
    }
    state.turn.clone_from(&turn);
    Some(UsageTurn { session_id: state.session_id.clone(), key: turn, at })
}

fn read_request(info: &CodexInfoWire, time: Option<&str>, state: &mut UsageFileState) -> Option<UsageRequest> {
    let totals = info.total_token_usage.as_ref()?.to_counts();
    let before = state.totals.insert(SESSION_TOTALS.into(), totals);
    // It is repeated at the start of a turn, and when only the limits change.
    if before == Some(totals) {
        return None;
    }
    let last = info.last_token_usage.as_ref().map(CodexCountsWire::to_counts);
    let tokens = last.unwrap_or_else(|| totals.since(&before.unwrap_or_default()));
    // Earlier versions have no turns.
    let owner = if state.turn.is_empty() { &state.session_id } else { &state.turn };
    let TokenCounts { input, output, cache_read, cache_write, .. } = totals;
    Some(UsageRequest {
        key: format!("codex {owner} {input} {cache_read} {cache_write} {output}"),
        product: "codex".into(),
        session_id: state.session_id.clone(),
        at: parse_time(time),
        model: state.model.clone(),
        project: state.cwd.clone(),
        requests: 1,
        tokens,
        ..UsageRequest::default()
    })
}
