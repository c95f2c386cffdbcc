//! Kimi Code: a record of tokens after each request. The file's directories name the session and the (sub-)agent.

use serde::Deserialize;
use snell::Timestamp;

use super::{LineUsage, UsageFileState, limit_text};
use crate::usage::request::{TokenCounts, UsageRequest, UsageTurn, WireCount};

#[derive(Deserialize)]
struct KimiLineWire {
    #[serde(rename = "type")]
    kind: Option<String>,
    time: Option<i64>,
    cwd: Option<String>,
    model: Option<String>,
    usage: Option<KimiUsageWire>,
    origin: Option<KimiOriginWire>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct KimiUsageWire {
    #[serde(default)]
    input_other: WireCount,
    #[serde(default)]
    output: WireCount,
    #[serde(default)]
    input_cache_read: WireCount,
    #[serde(default)]
    input_cache_creation: WireCount,
}

#[derive(Deserialize)]
struct KimiOriginWire {
    kind: Option<String>,
}

pub(super) fn read_line(line: &[u8], state: &mut UsageFileState) -> LineUsage {
    let Ok(line) = serde_json::from_slice::<KimiLineWire>(line) else {
        return LineUsage::default();
    };
    let at = line.time.and_then(|time| Timestamp::from_millisecond(time).ok());
    match line.kind.as_deref() {
        Some("config.update") => {
            state.cwd = line.cwd.unwrap_or_else(|| std::mem::take(&mut state.cwd));
            LineUsage::default()
        }
        Some("usage.record") => {
            let request = line.usage.map(|usage| read_request(&usage, line.model, at, state));
            LineUsage { requests: request.into_iter().collect(), turn: None }
        }
        Some("turn.prompt") if line.origin.and_then(|origin| origin.kind).as_deref() == Some("user") => {
            let begin = |at: Timestamp| {
                let key = at.as_millisecond().to_string();
                UsageTurn { session_id: state.session_id.clone(), key, at }
            };
            LineUsage { requests: Vec::new(), turn: at.map(begin) }
        }
        _ => LineUsage::default(),
    }
}

fn read_request(
    usage: &KimiUsageWire,
    model: Option<String>,
    at: Option<Timestamp>,
    state: &mut UsageFileState,
) -> UsageRequest {
    // A record has no id. Its number in its file is the same whenever the file is read.
    let number = state.requests.entry(String::new()).or_default();
    *number += 1;
    UsageRequest {
        key: format!("kimi {} {} {number}", state.session_id, state.turn),
        product: "kimi".into(),
        session_id: state.session_id.clone(),
        at,
        model: limit_text(model.unwrap_or_default()),
        project: state.cwd.clone(),
        requests: 1,
        tokens: TokenCounts {
            input: usage.input_other.get(),
            output: usage.output.get(),
            cache_read: usage.input_cache_read.get(),
            cache_write: usage.input_cache_creation.get(),
            cache_write_1h: 0,
        },
        ..UsageRequest::default()
    }
}
