//! Pi: messages with counts and their cost. A branch of a session repeats entries with the same ids.

use serde::Deserialize;
use snell::Timestamp;

use super::{LineUsage, UsageFileState, check_reported_cost, limit_text, parse_time};
use crate::usage::request::{TokenCounts, UsageRequest, UsageTurn, WireCount};

#[derive(Deserialize)]
struct PiLineWire {
    #[serde(rename = "type")]
    kind: Option<String>,
    id: Option<String>,
    timestamp: Option<String>,
    cwd: Option<String>,
    message: Option<PiMessageWire>,
}

#[derive(Deserialize)]
struct PiMessageWire {
    role: Option<String>,
    model: Option<String>,
    usage: Option<PiUsageWire>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PiUsageWire {
    #[serde(default)]
    input: WireCount,
    #[serde(default)]
    output: WireCount,
    #[serde(default)]
    cache_read: WireCount,
    #[serde(default)]
    cache_write: WireCount,
    cost: Option<PiCostWire>,
}

#[derive(Deserialize)]
struct PiCostWire {
    total: Option<f64>,
}

pub(super) fn read_line(line: &[u8], state: &mut UsageFileState) -> LineUsage {
    let Ok(line) = serde_json::from_slice::<PiLineWire>(line) else {
        return LineUsage::default();
    };
    let at = parse_time(line.timestamp.as_deref());
    if line.kind.as_deref() == Some("session") {
        state.session_id = limit_text(line.id.unwrap_or_default());
        state.cwd = line.cwd.unwrap_or_default();
        return LineUsage::default();
    }
    let (Some("message"), Some(id), Some(message)) = (line.kind.as_deref(), line.id, line.message) else {
        return LineUsage::default();
    };
    match (message.role.as_deref(), at) {
        (Some("assistant"), Some(at)) => {
            LineUsage { requests: read_request(&id, message, at, state).into_iter().collect(), turn: None }
        }
        (Some("user"), Some(at)) => {
            let turn = UsageTurn { session_id: state.session_id.clone(), key: limit_text(id), at };
            LineUsage { requests: Vec::new(), turn: Some(turn) }
        }
        _ => LineUsage::default(),
    }
}

fn read_request(id: &str, message: PiMessageWire, at: Timestamp, state: &UsageFileState) -> Option<UsageRequest> {
    let usage = message.usage?;
    Some(UsageRequest {
        // Ids are short, so the time belongs to the key.
        key: format!("pi {} {}", limit_text(id.to_owned()), at.as_millisecond()),
        product: "pi".into(),
        session_id: state.session_id.clone(),
        at: Some(at),
        model: limit_text(message.model.unwrap_or_default()),
        project: state.cwd.clone(),
        requests: 1,
        tokens: TokenCounts {
            input: usage.input.get(),
            output: usage.output.get(),
            cache_read: usage.cache_read.get(),
            cache_write: usage.cache_write.get(),
            cache_write_1h: 0,
        },
        cost_usd: usage.cost.and_then(|cost| cost.total).and_then(check_reported_cost),
        ..UsageRequest::default()
    })
}
