//! Copilot CLI: totals of the whole session for each model, when the program ends. The difference of two totals is the part that a resumed session adds.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{LineUsage, UsageFileState, limit_text, parse_time};
use crate::usage::request::{TokenCounts, UsageRequest, UsageTurn, WireCount};

#[derive(Deserialize)]
struct CopilotLineWire {
    #[serde(rename = "type")]
    kind: Option<String>,
    id: Option<String>,
    timestamp: Option<String>,
    data: Option<CopilotDataWire>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CopilotDataWire {
    session_id: Option<String>,
    context: Option<CopilotContextWire>,
    model_metrics: Option<BTreeMap<String, CopilotMetricsWire>>,
}

#[derive(Deserialize)]
struct CopilotContextWire {
    cwd: Option<String>,
}

#[derive(Deserialize)]
struct CopilotMetricsWire {
    requests: Option<CopilotRequestsWire>,
    usage: Option<CopilotCountsWire>,
}

#[derive(Deserialize)]
struct CopilotRequestsWire {
    #[serde(default)]
    count: WireCount,
}

/// Input includes what a cache had or got.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CopilotCountsWire {
    #[serde(default)]
    input_tokens: WireCount,
    #[serde(default)]
    output_tokens: WireCount,
    #[serde(default)]
    cache_read_tokens: WireCount,
    #[serde(default)]
    cache_write_tokens: WireCount,
}

pub(super) fn read_line(line: &[u8], state: &mut UsageFileState) -> LineUsage {
    let Ok(CopilotLineWire { kind: Some(kind), id, timestamp, data: Some(data) }) = serde_json::from_slice(line) else {
        return LineUsage::default();
    };
    if let Some(session) = data.session_id.filter(|_| kind == "session.start").map(limit_text)
        && session != state.session_id
    {
        *state = UsageFileState { session_id: session, ..UsageFileState::default() };
    }
    if let Some(cwd) = data.context.and_then(|context| context.cwd) {
        state.cwd = cwd;
    }
    let at = parse_time(timestamp.as_deref());
    match (kind.as_str(), id, at) {
        ("user.message", Some(id), Some(at)) => {
            let turn = UsageTurn { session_id: state.session_id.clone(), key: limit_text(id), at };
            LineUsage { requests: Vec::new(), turn: Some(turn) }
        }
        ("session.shutdown", Some(id), _) => {
            let models = data.model_metrics.unwrap_or_default();
            let read = |(model, metrics)| {
                let request = read_model(model, metrics, state)?;
                let key = format!("copilot {} {}", limit_text(id.clone()), request.model);
                Some(UsageRequest { key, at, ..request })
            };
            LineUsage { requests: models.into_iter().filter_map(read).collect(), turn: None }
        }
        _ => LineUsage::default(),
    }
}

/// The requests to a model since the last end of the program.
fn read_model(model: String, metrics: CopilotMetricsWire, state: &mut UsageFileState) -> Option<UsageRequest> {
    let (model, counts) = (limit_text(model), metrics.usage?);
    let (read, write) = (counts.cache_read_tokens.get(), counts.cache_write_tokens.get());
    let totals = TokenCounts {
        input: (counts.input_tokens.get() - read - write).max(0),
        output: counts.output_tokens.get(),
        cache_read: read,
        cache_write: write,
        cache_write_1h: 0,
    };
    let requests = metrics.requests.map_or(1, |requests| requests.count.get());
    let before = state.totals.insert(model.clone(), totals).unwrap_or_default();
    let earlier = state.requests.insert(model.clone(), requests).unwrap_or_default();
    let tokens = totals.since(&before);
    (tokens.total() > 0).then(|| UsageRequest {
        product: "copilot".into(),
        session_id: state.session_id.clone(),
        model,
        project: state.cwd.clone(),
        requests: (requests - earlier).max(1),
        tokens,
        ..UsageRequest::default()
    })
}
