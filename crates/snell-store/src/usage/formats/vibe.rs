//! Mistral Vibe: the totals of a session in its `meta.json`, which is written anew after each turn.

use serde::Deserialize;

use super::{LineUsage, UsageFileState, check_reported_cost, limit_text, parse_time};
use crate::usage::request::{TokenCounts, UsageRequest, UsageSourceRank, WireCount};

#[derive(Deserialize)]
struct VibeSessionWire {
    session_id: Option<String>,
    start_time: Option<String>,
    stats: Option<VibeStatsWire>,
    #[serde(default)]
    config: VibeConfigWire,
    #[serde(default)]
    environment: VibeEnvironmentWire,
}

#[derive(Deserialize)]
struct VibeStatsWire {
    #[serde(default)]
    steps: WireCount,
    #[serde(default)]
    session_prompt_tokens: WireCount,
    #[serde(default)]
    session_completion_tokens: WireCount,
    #[serde(default)]
    session_cached_tokens: WireCount,
    session_cost: Option<f64>,
}

#[derive(Default, Deserialize)]
struct VibeConfigWire {
    active_model: Option<String>,
}

#[derive(Default, Deserialize)]
struct VibeEnvironmentWire {
    working_directory: Option<String>,
}

pub(super) fn read_document(document: &[u8], _: &mut UsageFileState) -> LineUsage {
    let session = serde_json::from_slice::<VibeSessionWire>(document).ok();
    LineUsage { requests: session.and_then(read_session).into_iter().collect(), turn: None }
}

fn read_session(session: VibeSessionWire) -> Option<UsageRequest> {
    let (id, stats) = (limit_text(session.session_id?), session.stats?);
    // The tokens of prompts include those from the cache.
    let cached = stats.session_cached_tokens.get();
    Some(UsageRequest {
        key: format!("vibe {id}"),
        product: "vibe".into(),
        session_id: id,
        at: parse_time(session.start_time.as_deref()),
        model: limit_text(session.config.active_model.unwrap_or_default()),
        project: session.environment.working_directory.unwrap_or_default(),
        rank: UsageSourceRank::Totals,
        requests: stats.steps.get().max(1),
        tokens: TokenCounts {
            input: stats.session_prompt_tokens.get().saturating_sub(cached).max(0),
            output: stats.session_completion_tokens.get(),
            cache_read: cached,
            ..TokenCounts::default()
        },
        cost_usd: stats.session_cost.and_then(check_reported_cost),
        ..UsageRequest::default()
    })
}
