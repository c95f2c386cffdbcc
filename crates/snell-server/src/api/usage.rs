//! Tokens and their cost: `GET /api/usage`.

use axum::extract::{RawQuery, State};
use jiff::tz::TimeZone;
use snell_store::UsageFilter;
use snell_store::usage::{UsageBreakdown, UsageSummary};

use super::{ApiResult, respond_json};
use crate::app_state::SharedAppState;
use crate::http::query_params::QueryParams;

const PARAMETERS: &[&str] = &["by", "since", "until", "product", "project", "agent_id", "session_id"];

/// `GET /api/usage`: days are those of UTC.
pub(crate) async fn get_usage(State(app): State<SharedAppState>, RawQuery(query): RawQuery) -> ApiResult {
    let query = QueryParams::parse(query.as_deref(), PARAMETERS)?;
    let now = app.clock.now();
    let words = UsageBreakdown::ALL.iter().map(|by| by.as_str());
    let by = query.choice("by", UsageBreakdown::parse, words)?.unwrap_or(UsageBreakdown::Day);
    let filter = UsageFilter {
        since: query.timestamp("since", now)?,
        until: query.timestamp("until", now)?,
        product: query.owned_text("product"),
        project: query.owned_text("project"),
        agent_id: query.id("agent_id")?,
        session_id: query.owned_text("session_id"),
    };
    let sums = app.store_pool.with_store(move |store| store.summarize_usage(by.grouping(), &filter)).await?;
    respond_json(&UsageSummary::new(by, &sums, &app.settings.prices, &TimeZone::UTC))
}
