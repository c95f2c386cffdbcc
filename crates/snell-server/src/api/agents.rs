//! Agents, and what was said.

use std::fmt;

use axum::extract::{RawQuery, State};
use axum::http::Uri;
use snell::Timestamp;
use snell_store::{AgentFilter, AgentView, State as AgentState, Store, TurnFilter, TurnView};

use super::{Answer, shown};
use crate::app::{App, Shared};
use crate::error::Refusal;
use crate::page;
use crate::query::{Query, id};
use crate::time;

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
        ..AgentFilter::default()
    };
    let after = query.before(Place::read)?;
    let ask = move |store: &mut Store| {
        page::write(limit, after, Place::of, |after, limit| {
            store.agents(&AgentFilter {
                after: after.map(|place| (place.last_seen_at, place.agent_id)),
                limit: Some(limit),
                ..filter.clone()
            })
        })
    };
    Ok(app.readers.ask(ask).await?.answer())
}

/// An agent's place in the list.
#[derive(Clone, Copy)]
struct Place {
    last_seen_at: Timestamp,
    agent_id: i64,
}

impl Place {
    fn of(agent: &AgentView) -> Self {
        Self {
            last_seen_at: agent.last_seen_at,
            agent_id: agent.agent_id,
        }
    }

    fn read(cursor: &str) -> Option<Self> {
        let (at, agent_id) = cursor.rsplit_once('_')?;
        Some(Self {
            last_seen_at: time::read(at)?,
            agent_id: id(agent_id)?,
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.last_seen_at, self.agent_id)
    }
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
    let ask = move |store: &mut Store| {
        page::write(
            limit,
            before_id,
            |turn: &TurnView| turn.turn_id,
            |before_id, limit| {
                store.turns(&TurnFilter {
                    agent_id: agent.agent_id,
                    before_id,
                    limit,
                    ..TurnFilter::default()
                })
            },
        )
    };
    Ok(app.readers.ask(ask).await?.answer())
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
