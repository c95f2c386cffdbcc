//! Events, hooks and what the guard said.

use std::time::Duration;

use axum::extract::{RawQuery, State};
use snell::{EventName, Timestamp};
use snell_store::{GuardEntry, GuardFilter, GuardOutcome, LogEntry, LogFilter, Store};

use super::Answer;
use crate::app::Shared;
use crate::error::Refusal;
use crate::page::{self, Page};
use crate::query::{Query, id};

/// How far back hooks are counted, unless it is said.
const HOOKS_SINCE: Duration = Duration::from_secs(24 * 60 * 60);

/// What may be decided about an event.
pub(crate) const DECISIONS: &[&str] = &["allow", "ask", "block"];

/// By what events can be chosen.
const EVENT_FILTERS: &[&str] = &[
    "agent_id",
    "project_id",
    "session_id",
    "event",
    "tool",
    "decision",
    "since",
    "until",
    "limit",
    "before",
];

/// `GET /api/events`: the newest first.
pub(crate) async fn events(State(app): State<Shared>, RawQuery(query): RawQuery) -> Answer {
    let query = Query::read(query.as_deref(), EVENT_FILTERS)?;
    let now = app.clock.now();
    let limit = query.limit()?;
    let filter = LogFilter {
        agent_id: query.id("agent_id")?,
        decision: decision(&query)?,
        ..event_filter(&query, now)?
    };
    let before_id = query.before(id)?;
    let ask = move |store: &mut Store| {
        page::write(
            limit,
            before_id,
            |event: &LogEntry| event.id,
            |before_id, limit| {
                store.log(&LogFilter {
                    before_id,
                    limit,
                    ..filter.clone()
                })
            },
        )
    };
    Ok(app.readers.ask(ask).await?.answer())
}

/// What programs and people write alike to choose events. An agent and a decision people write in more ways.
pub(crate) fn event_filter(query: &Query<'_>, now: Timestamp) -> Result<LogFilter, Refusal> {
    Ok(LogFilter {
        project_id: query.id("project_id")?,
        session: query.string("session_id"),
        event: query
            .text("event")
            .map(|name| EventName::parse(name).as_str().to_owned()),
        tool: query.string("tool"),
        since: query.time("since", now)?,
        until: query.time("until", now)?,
        ..LogFilter::default()
    })
}

/// `GET /api/hooks`: what each hook costs, the one that took the most time first.
pub(crate) async fn hooks(State(app): State<Shared>, RawQuery(query): RawQuery) -> Answer {
    let query = Query::read(query.as_deref(), &["since", "limit"])?;
    let now = app.clock.now();
    let limit = query.limit()?;
    let a_day_ago = || now.checked_sub(HOOKS_SINCE).unwrap_or(Timestamp::MIN);
    let since = query.time("since", now)?.unwrap_or_else(a_day_ago);
    let hooks = app.readers.ask(move |store| store.hook_stats(since)).await?;
    let mut page = Page::new(limit);
    let _ = hooks.iter().all(|hook| page.add(hook));
    // There is no next page: what has run meanwhile would have changed the order.
    Ok(page.end(None::<i64>).answer())
}

/// `GET /api/guard`: the newest first.
pub(crate) async fn guard(State(app): State<Shared>, RawQuery(query): RawQuery) -> Answer {
    let query = Query::read(query.as_deref(), &["agent_id", "rule", "decision", "limit", "before"])?;
    let limit = query.limit()?;
    let filter = GuardFilter {
        agent_id: query.id("agent_id")?,
        rule: query.string("rule"),
        outcome: query.word(
            "decision",
            GuardOutcome::parse,
            GuardOutcome::ALL.iter().map(|outcome| outcome.as_str()),
        )?,
        ..GuardFilter::default()
    };
    let before_id = query.before(id)?;
    let number = |verdict: &GuardEntry| verdict.guard_verdict_id;
    let ask = move |store: &mut Store| {
        page::write(limit, before_id, number, |before_id, limit| {
            store.guard_log(&GuardFilter {
                before_id,
                limit,
                ..filter.clone()
            })
        })
    };
    Ok(app.readers.ask(ask).await?.answer())
}

fn decision(query: &Query<'_>) -> Result<Option<String>, Refusal> {
    let known = |word: &str| DECISIONS.iter().copied().find(|known| *known == word);
    let decision = query.word("decision", known, DECISIONS.iter().copied())?;
    Ok(decision.map(str::to_owned))
}
