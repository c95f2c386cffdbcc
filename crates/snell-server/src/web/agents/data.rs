//! The data of the view of agents.

use std::time::Duration;

use snell::Timestamp;
use snell_store::usage::PriceList;
use snell_store::{AgentFilter, AgentState, AgentView, Result, Store};

use crate::http::errors::HttpError;
use crate::web::project_names::{ProjectNames, project_sort_key};
use crate::web::usage::AgentCosts;

/// The maximum number of cards.
pub(super) const MAX_AGENTS: u32 = 500;

/// The maximum number of ended agents.
const MAX_ENDED: u32 = 100;

/// How long ended agents are shown.
const ENDED_WINDOW: Duration = Duration::from_secs(24 * 60 * 60);

/// An agent, whether or not it has ended.
pub(in crate::web) fn find_agent(store: &mut Store, agent_id: i64) -> Result<Option<AgentView>> {
    let filter = AgentFilter { agent_id: Some(agent_id), ..AgentFilter::default() };
    Ok(store.list_agents(&filter)?.pop())
}

/// The agents with these numbers that exist.
pub(super) fn find_agents(store: &mut Store, wanted: &[i64]) -> Result<Vec<AgentView>> {
    let mut agents = Vec::new();
    for agent_id in wanted {
        agents.extend(find_agent(store, *agent_id)?);
    }
    Ok(agents)
}

/// The error for an unknown agent.
pub(in crate::web) fn unknown_agent_error(agent_id: i64) -> HttpError {
    HttpError::NotFound(format!("there is no agent {agent_id}").into())
}

/// The agents in the view.
pub(super) struct AgentsOverview {
    /// Sorted by project and number, so that a card keeps its place when its state changes.
    pub(super) active: Vec<AgentView>,
    /// Whether there are more running agents.
    pub(super) is_truncated: bool,
    /// The latest first.
    pub(super) ended: Vec<AgentView>,
    pub(super) projects: ProjectNames,
    /// Of agents that have not ended.
    pub(super) costs: AgentCosts,
}

impl AgentsOverview {
    pub(super) fn load(store: &mut Store, prices: &PriceList, now: Timestamp) -> Result<Self> {
        let filter = AgentFilter { limit: Some(MAX_AGENTS + 1), ..AgentFilter::default() };
        let mut active = store.list_agents(&filter)?;
        let is_truncated = active.len() > MAX_AGENTS as usize;
        active.truncate(MAX_AGENTS as usize);
        let projects = ProjectNames::load(store)?;
        active.sort_by_cached_key(|agent| {
            (project_sort_key(&agent.project, projects.name_for_agent(agent)), agent.project_id, agent.agent_id)
        });
        let ended = store.list_agents(&AgentFilter {
            state: Some(AgentState::Ended),
            ended_after: Some(now.checked_sub(ENDED_WINDOW).unwrap_or(Timestamp::MIN)),
            limit: Some(MAX_ENDED),
            ..AgentFilter::default()
        })?;
        Ok(Self { active, is_truncated, ended, projects, costs: AgentCosts::load(store, prices, None)? })
    }

    pub(super) fn waiting_agents(&self) -> Vec<&AgentView> {
        let waits = |agent: &&AgentView| agent.state == AgentState::AwaitingInput;
        sort_by_wait(self.active.iter().filter(waits))
    }
}

/// Sorts agents by waiting time, the longest first.
pub(super) fn sort_by_wait<'a>(waiting: impl Iterator<Item = &'a AgentView>) -> Vec<&'a AgentView> {
    let mut waiting: Vec<_> = waiting.collect();
    waiting.sort_by_key(|agent| (agent.state_since, agent.agent_id));
    waiting
}
