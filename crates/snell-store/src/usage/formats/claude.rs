//! Claude Code: a line for each block of a message, each with the counts of the message so far.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{LineUsage, UsageFileState, limit_text, parse_time};
use crate::usage::request::{TokenCounts, UsageRequest, UsageTurn, WireCount};

/// The model name of messages that Claude Code wrote itself.
const SYNTHETIC_MODEL: &str = "<synthetic>";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClaudeLineWire {
    #[serde(rename = "type")]
    kind: Option<String>,
    session_id: Option<String>,
    timestamp: Option<String>,
    cwd: Option<String>,
    uuid: Option<String>,
    request_id: Option<String>,
    prompt_id: Option<String>,
    #[serde(default)]
    is_sidechain: bool,
    #[serde(default)]
    is_meta: bool,
    tool_use_result: Option<IgnoredAny>,
    message: Option<ClaudeMessageWire>,
}

#[derive(Deserialize)]
struct ClaudeMessageWire {
    id: Option<String>,
    model: Option<String>,
    usage: Option<ClaudeUsageWire>,
}

/// Its `iterations` repeat the counts.
#[derive(Deserialize)]
struct ClaudeUsageWire {
    #[serde(default)]
    input_tokens: WireCount,
    #[serde(default)]
    output_tokens: WireCount,
    #[serde(default)]
    cache_read_input_tokens: WireCount,
    #[serde(default)]
    cache_creation_input_tokens: WireCount,
    cache_creation: Option<ClaudeCacheCreationWire>,
    speed: Option<String>,
}

#[derive(Deserialize)]
struct ClaudeCacheCreationWire {
    #[serde(default)]
    ephemeral_1h_input_tokens: WireCount,
}

pub(super) fn read_line(line: &[u8], state: &mut UsageFileState) -> LineUsage {
    let Ok(line) = serde_json::from_slice::<ClaudeLineWire>(line) else {
        return LineUsage::default();
    };
    if let Some(session) = &line.session_id {
        state.session_id = limit_text(session.clone());
    }
    if let Some(cwd) = &line.cwd {
        cwd.clone_into(&mut state.cwd);
    }
    match line.kind.as_deref() {
        Some("assistant") => LineUsage { requests: read_request(line, state).into_iter().collect(), turn: None },
        Some("user") => LineUsage { requests: Vec::new(), turn: read_turn(line, state) },
        _ => LineUsage::default(),
    }
}

fn read_request(line: ClaudeLineWire, state: &UsageFileState) -> Option<UsageRequest> {
    let message = line.message?;
    let usage = message.usage?;
    let model = message.model.unwrap_or_default();
    if model == SYNTHETIC_MODEL {
        return None;
    }
    // A message has one id, but some gateways give every message the same.
    let id = match (&message.id, &line.request_id) {
        (None, None) => line.uuid?,
        (message, request) => [message, request].map(|id| id.as_deref().unwrap_or_default()).join(" "),
    };
    let cache_write = usage.cache_creation_input_tokens.get();
    let one_hour = usage.cache_creation.map_or(0, |parts| parts.ephemeral_1h_input_tokens.get());
    let is_fast = usage.speed.as_deref() == Some("fast");
    Some(UsageRequest {
        key: format!("claude {}", limit_text(id)),
        request_id: line.request_id.map(limit_text),
        product: "claude".into(),
        session_id: state.session_id.clone(),
        at: parse_time(line.timestamp.as_deref()),
        // The fast mode has prices of its own.
        model: limit_text(if is_fast { format!("{model} fast") } else { model }),
        project: state.cwd.clone(),
        requests: 1,
        tokens: TokenCounts {
            input: usage.input_tokens.get(),
            output: usage.output_tokens.get(),
            cache_read: usage.cache_read_input_tokens.get(),
            cache_write,
            cache_write_1h: one_hour.min(cache_write),
        },
        ..UsageRequest::default()
    })
}

/// The begin of a turn: a prompt. Its tool results have the same prompt id. Earlier versions have no such id, but mark results.
fn read_turn(line: ClaudeLineWire, state: &mut UsageFileState) -> Option<UsageTurn> {
    if line.is_sidechain || line.is_meta {
        return None;
    }
    let is_result = line.tool_use_result.is_some();
    let key = line.prompt_id.or_else(|| line.uuid.filter(|_| !is_result))?;
    if key == state.turn {
        return None;
    }
    let at = parse_time(line.timestamp.as_deref())?;
    state.turn = limit_text(key);
    Some(UsageTurn { session_id: state.session_id.clone(), key: state.turn.clone(), at })
}
