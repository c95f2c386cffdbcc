//! Events, statistics of hooks, and verdicts of the guard.

use std::time::Duration;

use axum::extract::{RawQuery, State};
use snell::{EventName, Timestamp};
use snell_store::{GuardFilter, GuardLogEntry, GuardOutcome, LogEntry, LogFilter, Store};

use super::ApiResult;
use crate::api::json_page::{self, JsonPage};
use crate::app_state::SharedAppState;
use crate::http::errors::HttpError;
use crate::http::query_params::{QueryParams, parse_id};

/// The default period of hook statistics.
const DEFAULT_HOOKS_WINDOW: Duration = Duration::from_secs(24 * 60 * 60);

/// The decisions about an event.
pub(crate) const DECISIONS: &[&str] = &["allow", "ask", "block"];

/// The filters of events.
const EVENT_FILTERS: &[&str] =
    &["agent_id", "project_id", "session_id", "event", "tool", "decision", "since", "until", "limit", "before"];

/// `GET /api/events`: the newest first.
pub(crate) async fn list_events(State(app): State<SharedAppState>, RawQuery(query): RawQuery) -> ApiResult {
    let query = QueryParams::parse(query.as_deref(), EVENT_FILTERS)?;
    let now = app.clock.now();
    let limit = query.limit()?;
    let filter = LogFilter {
        agent_id: query.id("agent_id")?,
        decision: query.choice_from("decision", DECISIONS, |word| word)?.map(|word| (*word).to_owned()),
        ..parse_event_filter(&query, now)?
    };
    let before_id = query.before_cursor(parse_id)?;
    let ask = move |store: &mut Store| {
        json_page::write_page(
            limit,
            before_id,
            |event: &LogEntry| event.id,
            |before_id, limit| store.query_log(&LogFilter { before_id, limit, ..filter.clone() }),
        )
    };
    Ok(app.store_pool.with_store(ask).await?.into_response())
}

/// The filters that the API and the page have in common. The page parses agents and decisions in more forms.
pub(crate) fn parse_event_filter(query: &QueryParams<'_>, now: Timestamp) -> Result<LogFilter, HttpError> {
    Ok(LogFilter {
        project_id: query.id("project_id")?,
        session: query.owned_text("session_id"),
        event: query.text("event").map(|name| EventName::parse(name).as_str().to_owned()),
        tool: query.owned_text("tool"),
        since: query.timestamp("since", now)?,
        until: query.timestamp("until", now)?,
        ..LogFilter::default()
    })
}

/// `GET /api/hooks`: statistics of each hook, the longest total time first.
pub(crate) async fn list_hook_stats(State(app): State<SharedAppState>, RawQuery(query): RawQuery) -> ApiResult {
    let query = QueryParams::parse(query.as_deref(), &["since", "limit"])?;
    let now = app.clock.now();
    let limit = query.limit()?;
    let a_day_ago = || now.checked_sub(DEFAULT_HOOKS_WINDOW).unwrap_or(Timestamp::MIN);
    let since = query.timestamp("since", now)?.unwrap_or_else(a_day_ago);
    let hooks = app.store_pool.with_store(move |store| store.list_hook_stats(since)).await?;
    let mut page = JsonPage::new(limit);
    let _ = hooks.iter().all(|hook| page.try_push(hook));
    // There is no next page, because new runs change the order.
    Ok(page.finish(None::<i64>).into_response())
}

/// `GET /api/guard`: the newest first.
pub(crate) async fn list_guard_verdicts(State(app): State<SharedAppState>, RawQuery(query): RawQuery) -> ApiResult {
    let query = QueryParams::parse(query.as_deref(), &["agent_id", "rule", "decision", "limit", "before"])?;
    let limit = query.limit()?;
    let filter = GuardFilter {
        agent_id: query.id("agent_id")?,
        rule: query.owned_text("rule"),
        outcome: query.choice(
            "decision",
            GuardOutcome::parse,
            GuardOutcome::ALL.iter().map(|outcome| outcome.as_str()),
        )?,
        ..GuardFilter::default()
    };
    let before_id = query.before_cursor(parse_id)?;
    let number = |verdict: &GuardLogEntry| verdict.guard_verdict_id;
    let ask = move |store: &mut Store| {
        json_page::write_page(limit, before_id, number, |before_id, limit| {
            store.query_guard_log(&GuardFilter { before_id, limit, ..filter.clone() })
        })
    };
    Ok(app.store_pool.with_store(ask).await?.into_response())
}
