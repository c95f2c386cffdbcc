//! Agents, and what was said.

use axum::extract::{RawQuery, State};
use axum::http::Uri;
use snell::Timestamp;
use snell_store::{AgentFilter, AgentView, State as AgentState, TurnFilter};

use super::{Answer, shown};
use crate::app::{App, Shared};
use crate::error::Refusal;
use crate::query::{Page, Query, id};

/// `GET /api/agents`: the one that was last heard of first.
pub(crate) async fn agents(State(app): State<Shared>, RawQuery(query): RawQuery) -> Answer {
    let query = Query::read(query.as_deref(), &["state", "project_id", "ended", "limit", "before"])?;
    let state = query.word(
        "state",
        AgentState::parse,
        AgentState::ALL.iter().map(|state| state.as_str()),
    )?;
    let with_ended = query.flag("ended")? || state == Some(AgentState::Ended);
    let limit = query.limit()?;
    let filter = AgentFilter {
        state,
        project_id: query.id("project_id")?,
        ended_after: with_ended.then_some(Timestamp::MIN),
        after: query.before(place)?,
        limit: Some(limit + 1),
        ..AgentFilter::default()
    };
    let agents = app.readers.ask(move |store| store.agents(&filter)).await?;
    shown(&Page::of(agents, limit, |agent| {
        format!("{}_{}", agent.last_seen_at, agent.agent_id)
    }))
}

/// An agent's place in the list.
fn place(cursor: &str) -> Option<(Timestamp, i64)> {
    let (at, agent_id) = cursor.rsplit_once('_')?;
    Some((at.parse().ok()?, id(agent_id)?))
}

/// `GET /api/agents/{id}`
pub(crate) async fn agent(State(app): State<Shared>, uri: Uri) -> Answer {
    Query::read(uri.query(), &[])?;
    shown(&find(&app, &uri).await?)
}

/// `GET /api/agents/{id}/turns`: the latest first.
pub(crate) async fn turns(State(app): State<Shared>, uri: Uri) -> Answer {
    let query = Query::read(uri.query(), &["limit", "before"])?;
    let limit = query.limit()?;
    let before_id = query.before(id)?;
    let agent = find(&app, &uri).await?;
    let filter = TurnFilter {
        agent_id: agent.agent_id,
        before_id,
        limit: limit + 1,
    };
    let turns = app.readers.ask(move |store| store.turns(&filter)).await?;
    shown(&Page::of(turns, limit, |turn| turn.turn_id.to_string()))
}

/// The agent that a path names.
async fn find(app: &App, uri: &Uri) -> Result<AgentView, Refusal> {
    let named = uri.path().split('/').nth(3).unwrap_or_default();
    let agent_id = id(named).ok_or_else(|| Refusal::bad("an agent is named by its number: /api/agents/17"))?;
    let filter = AgentFilter {
        agent_id: Some(agent_id),
        ended_after: Some(Timestamp::MIN),
        ..AgentFilter::default()
    };
    let mut found = app.readers.ask(move |store| store.agents(&filter)).await?;
    found
        .pop()
        .ok_or_else(|| Refusal::NotFound(format!("there is no agent {agent_id}")))
}
