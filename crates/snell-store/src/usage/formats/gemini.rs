//! Gemini CLI: messages with an id and counts. A resumed session repeats its messages in one line.

use serde::Deserialize;

use super::{LineUsage, UsageFileState, limit_text, parse_time};
use crate::usage::request::{TokenCounts, UsageRequest, UsageTurn, WireCount};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiLineWire {
    session_id: Option<String>,
    #[serde(rename = "$set")]
    set: Option<GeminiSetWire>,
    #[serde(flatten)]
    message: GeminiMessageWire,
}

#[derive(Deserialize)]
struct GeminiSetWire {
    #[serde(default)]
    messages: Vec<GeminiMessageWire>,
}

#[derive(Deserialize)]
struct GeminiMessageWire {
    id: Option<String>,
    timestamp: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    model: Option<String>,
    tokens: Option<GeminiCountsWire>,
}

/// Input includes what a cache had.
#[derive(Deserialize)]
struct GeminiCountsWire {
    #[serde(default)]
    input: WireCount,
    #[serde(default)]
    output: WireCount,
    #[serde(default)]
    cached: WireCount,
    #[serde(default)]
    thoughts: WireCount,
    #[serde(default)]
    tool: WireCount,
}

pub(super) fn read_line(line: &[u8], state: &mut UsageFileState) -> LineUsage {
    let Ok(line) = serde_json::from_slice::<GeminiLineWire>(line) else {
        return LineUsage::default();
    };
    if let Some(session) = line.session_id {
        state.session_id = limit_text(session);
    }
    let mut found = LineUsage::default();
    let messages = line.set.into_iter().flat_map(|set| set.messages).chain([line.message]);
    for message in messages {
        match message.kind.as_deref() {
            Some("gemini") => found.requests.extend(read_request(message, state)),
            Some("user") => found.turn = start_turn(message, state),
            _ => {}
        }
    }
    found
}

fn start_turn(message: GeminiMessageWire, state: &UsageFileState) -> Option<UsageTurn> {
    let at = parse_time(message.timestamp.as_deref())?;
    Some(UsageTurn { session_id: state.session_id.clone(), key: limit_text(message.id?), at })
}

fn read_request(message: GeminiMessageWire, state: &UsageFileState) -> Option<UsageRequest> {
    let counts = message.tokens?;
    let cached = counts.cached.get();
    Some(UsageRequest {
        key: format!("gemini {}", limit_text(message.id?)),
        product: "gemini".into(),
        session_id: state.session_id.clone(),
        at: parse_time(message.timestamp.as_deref()),
        model: limit_text(message.model.unwrap_or_default()),
        project: state.cwd.clone(),
        requests: 1,
        tokens: TokenCounts {
            input: (counts.input.get() - cached).max(0) + counts.tool.get(),
            output: counts.output.get() + counts.thoughts.get(),
            cache_read: cached,
            ..TokenCounts::default()
        },
        ..UsageRequest::default()
    })
}
