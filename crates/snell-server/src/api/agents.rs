//! Agents and their turns.

use std::fmt;

use axum::extract::{RawQuery, State};
use axum::http::Uri;
use snell::Timestamp;
use snell_store::{AgentActivity, AgentFilter, AgentView, Store, TurnFilter, TurnView};

use super::{ApiResult, respond_json};
use crate::api::json_page;
use crate::app_state::{AppState, SharedAppState};
use crate::http::errors::HttpError;
use crate::http::query_params::{QueryParams, parse_id, parse_path_id};
use crate::http::rfc3339;

/// `GET /api/agents`: the most recently active first.
pub(crate) async fn list_agents(State(app): State<SharedAppState>, RawQuery(query): RawQuery) -> ApiResult {
    let query = QueryParams::parse(query.as_deref(), &["state", "project_id", "ended", "limit", "before"])?;
    let words = AgentActivity::ALL.iter().map(|activity| activity.as_str());
    let activity = query.choice("state", AgentActivity::parse, words)?;
    let with_ended = query.flag("ended")? || activity == Some(AgentActivity::Ended);
    let limit = query.limit()?;
    let filter = AgentFilter {
        state: activity.map(AgentActivity::state),
        // Clients that do not know the word see agents with work in the background as `processing`.
        in_background: (activity == Some(AgentActivity::Background)).then_some(true),
        project_id: query.id("project_id")?,
        ended_after: with_ended.then_some(Timestamp::MIN),
        ..AgentFilter::default()
    };
    let after = query.before_cursor(AgentListCursor::parse)?;
    let ask = move |store: &mut Store| {
        json_page::write_page(limit, after, AgentListCursor::from_agent, |after, limit| {
            store.list_agents(&AgentFilter {
                after: after.map(|place| (place.last_seen_at, place.agent_id)),
                limit: Some(limit),
                ..filter.clone()
            })
        })
    };
    Ok(app.store_pool.with_store(ask).await?.into_response())
}

/// The position of an agent in the list.
#[derive(Clone, Copy)]
struct AgentListCursor {
    last_seen_at: Timestamp,
    agent_id: i64,
}

impl AgentListCursor {
    fn from_agent(agent: &AgentView) -> Self {
        Self { last_seen_at: agent.last_seen_at, agent_id: agent.agent_id }
    }

    fn parse(cursor: &str) -> Option<Self> {
        let (at, agent_id) = cursor.rsplit_once('_')?;
        Some(Self { last_seen_at: rfc3339::parse_timestamp(at)?, agent_id: parse_id(agent_id)? })
    }
}

impl fmt::Display for AgentListCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.last_seen_at, self.agent_id)
    }
}

/// `GET /api/agents/{id}`
pub(crate) async fn get_agent(State(app): State<SharedAppState>, uri: Uri) -> ApiResult {
    QueryParams::parse(uri.query(), &[])?;
    respond_json(&find_agent(&app, &uri).await?)
}

/// `GET /api/agents/{id}/turns`: the latest first.
pub(crate) async fn list_turns(State(app): State<SharedAppState>, uri: Uri) -> ApiResult {
    let query = QueryParams::parse(uri.query(), &["limit", "before"])?;
    let limit = query.limit()?;
    let before_id = query.before_cursor(parse_id)?;
    let agent = find_agent(&app, &uri).await?;
    let ask = move |store: &mut Store| {
        json_page::write_page(
            limit,
            before_id,
            |turn: &TurnView| turn.turn_id,
            |before_id, limit| {
                store.list_turns(&TurnFilter { agent_id: agent.agent_id, before_id, limit, ..TurnFilter::default() })
            },
        )
    };
    Ok(app.store_pool.with_store(ask).await?.into_response())
}

/// The agent in the path.
async fn find_agent(app: &AppState, uri: &Uri) -> Result<AgentView, HttpError> {
    let agent_id = parse_path_id(uri, 3, "agent", "/api/agents/17")?;
    let filter = AgentFilter { agent_id: Some(agent_id), ended_after: Some(Timestamp::MIN), ..AgentFilter::default() };
    let mut found = app.store_pool.with_store(move |store| store.list_agents(&filter)).await?;
    found.pop().ok_or_else(|| HttpError::NotFound(format!("there is no agent {agent_id}").into()))
}
