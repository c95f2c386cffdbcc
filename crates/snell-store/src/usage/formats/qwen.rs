//! Qwen Code: lines that resemble Claude Code's, with counts as Google's API names them.

use serde::Deserialize;

use super::{LineUsage, UsageFileState, limit_text, parse_time};
use crate::usage::request::{TokenCounts, UsageRequest, UsageTurn, WireCount};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct QwenLineWire {
    uuid: Option<String>,
    session_id: Option<String>,
    timestamp: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    cwd: Option<String>,
    model: Option<String>,
    usage_metadata: Option<QwenCountsWire>,
}

/// Input includes what a cache had.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct QwenCountsWire {
    #[serde(default)]
    prompt_token_count: WireCount,
    #[serde(default)]
    candidates_token_count: WireCount,
    #[serde(default)]
    thoughts_token_count: WireCount,
    #[serde(default)]
    cached_content_token_count: WireCount,
    #[serde(default)]
    total_token_count: WireCount,
}

impl QwenCountsWire {
    /// Some providers count thoughts among the candidates; the total tells which.
    fn count_output(&self) -> i64 {
        let (candidates, thoughts) = (self.candidates_token_count.get(), self.thoughts_token_count.get());
        let total = self.total_token_count.get();
        if total > 0 && total == self.prompt_token_count.get() + candidates {
            candidates
        } else {
            candidates + thoughts
        }
    }
}

pub(super) fn read_line(line: &[u8], state: &mut UsageFileState) -> LineUsage {
    let Ok(line) = serde_json::from_slice::<QwenLineWire>(line) else {
        return LineUsage::default();
    };
    if let Some(session) = &line.session_id {
        state.session_id = limit_text(session.clone());
    }
    if let Some(cwd) = &line.cwd {
        state.cwd.clone_from(cwd);
    }
    match line.kind.as_deref() {
        Some("assistant") => LineUsage { requests: read_request(line, state).into_iter().collect(), turn: None },
        Some("user") => LineUsage { requests: Vec::new(), turn: start_turn(line, state) },
        _ => LineUsage::default(),
    }
}

fn start_turn(line: QwenLineWire, state: &UsageFileState) -> Option<UsageTurn> {
    let at = parse_time(line.timestamp.as_deref())?;
    Some(UsageTurn { session_id: state.session_id.clone(), key: limit_text(line.uuid?), at })
}

fn read_request(line: QwenLineWire, state: &UsageFileState) -> Option<UsageRequest> {
    let counts = line.usage_metadata?;
    let cached = counts.cached_content_token_count.get();
    Some(UsageRequest {
        key: format!("qwen {}", limit_text(line.uuid?)),
        product: "qwen".into(),
        session_id: state.session_id.clone(),
        at: parse_time(line.timestamp.as_deref()),
        model: limit_text(line.model.unwrap_or_default()),
        project: state.cwd.clone(),
        requests: 1,
        tokens: TokenCounts {
            input: (counts.prompt_token_count.get() - cached).max(0),
            output: counts.count_output(),
            cache_read: cached,
            ..TokenCounts::default()
        },
        ..UsageRequest::default()
    })
}
