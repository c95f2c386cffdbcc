//! All agents: who needs somebody, and what each is doing.

mod card;
mod params;
mod render;

use std::time::Duration;

use axum::extract::{RawQuery, State};
use axum::http::Uri;
use axum::response::Response;
use maud::{Markup, html};
use snell::Timestamp;
use snell_store::{AgentFilter, AgentState, AgentView, Result, Store};

use super::filter_form::{FilterForm, FormFieldError, FormValues, mark_bad_request};
use super::layout::{NavTab, PageContent, PageFrame, render_page};
use super::project_names::{ProjectNames, project_sort_key};
use super::{PageResult, html_response, load_with_frame, parse_path_id};
use crate::app_state::SharedAppState;
use crate::http::errors::HttpError;
use crate::http::query_params::{QueryParams, parse_id};

use params::AgentsParams;

pub(super) use card::{render_facts, render_question, render_state};

/// How many agents are shown that have not ended. Nobody looks at more cards.
const MAX_AGENTS: u32 = 500;

/// How many are shown that have.
const MAX_ENDED: u32 = 100;

/// How long an agent is shown that has ended.
const ENDED_WINDOW: Duration = Duration::from_secs(24 * 60 * 60);

/// `GET /`
pub(crate) async fn get_agents_page(State(app): State<SharedAppState>, RawQuery(query): RawQuery) -> PageResult {
    let query = QueryParams::parse(query.as_deref(), params::FILTER_FIELDS)?;
    let now = app.clock.now();
    let (frame, agents) = load_with_frame(&app, move |store| AgentsOverview::load(store, now)).await?;
    let told = FormValues::from_query(&query, params::FILTER_FIELDS);
    let answer = match AgentsParams::parse(&query) {
        Ok(asked) => {
            let cards = render::render_cards(&agents, &asked, now);
            render_agents_page(&frame, &agents, FilterForm::without_error(&told), &cards)
        }
        Err(refusal) => {
            let trouble = FormFieldError::from_http_error(refusal, params::FILTER_FIELDS)?;
            let form = FilterForm { values: &told, error: Some(&trouble) };
            mark_bad_request(render_agents_page(&frame, &agents, form, &html! {}))
        }
    };
    Ok(answer)
}

fn render_agents_page(frame: &PageFrame, agents: &AgentsOverview, form: FilterForm<'_>, cards: &Markup) -> Response {
    let main = html! {
        h1 { "Agents" }
        // What comes here is read out; that times pass is not.
        div aria-live="polite" aria-relevant="additions" { (render::render_waiting_agents(&agents.waiting_agents(), &agents.projects, frame.now)) }
        (params::render_filter_form(form))
        (cards)
    };
    let view = PageContent { tab: Some(NavTab::Agents), title: "Agents", main };
    render_page(frame, &view)
}

/// `GET /fragments/needs`
pub(crate) async fn get_waiting_fragment(State(app): State<SharedAppState>) -> PageResult {
    let filter =
        AgentFilter { state: Some(AgentState::AwaitingInput), limit: Some(MAX_AGENTS), ..AgentFilter::default() };
    let read = move |store: &mut Store| Ok((store.list_agents(&filter)?, ProjectNames::load(store)?));
    let (waiting, projects) = app.store_pool.with_store(read).await?;
    Ok(html_response(render::render_waiting_agents(&sort_by_wait(waiting.iter()), &projects, app.clock.now())))
}

/// `GET /fragments/agents`: all cards as they stand on the page, or only some, one after another.
pub(crate) async fn get_cards_fragment(State(app): State<SharedAppState>, RawQuery(query): RawQuery) -> PageResult {
    let query = QueryParams::parse_with(query.as_deref(), params::FILTER_FIELDS, &["only"])?;
    let (asked, now) = (AgentsParams::parse(&query)?, app.clock.now());
    if let Some(only) = query.text("only") {
        let wanted = only.split(',').take(MAX_AGENTS as usize).map(parse_id);
        let wanted: Option<Vec<_>> = wanted.collect();
        let wanted = wanted.ok_or_else(|| HttpError::bad_request("\"only\" must be numbers of agents: 17,18"))?;
        let agents = app.store_pool.with_store(move |store| find_agents(store, &wanted)).await?;
        let wanted = agents.iter().filter(|agent| asked.matches_agent(agent));
        return Ok(html_response(html! { @for agent in wanted { (card::render_card(agent, now)) } }));
    }
    let agents = app.store_pool.with_store(move |store| AgentsOverview::load(store, now)).await?;
    Ok(html_response(render::render_cards(&agents, &asked, now)))
}

/// `GET /fragments/agents/{id}`
pub(crate) async fn get_card_fragment(State(app): State<SharedAppState>, uri: Uri) -> PageResult {
    let agent_id = parse_path_id(&uri, 3)?;
    let agent = app.store_pool.with_store(move |store| find_agent(store, agent_id)).await?;
    let agent = agent.ok_or_else(|| unknown_agent_error(agent_id))?;
    Ok(html_response(card::render_card(&agent, app.clock.now())))
}

/// An agent, whether or not it has ended.
pub(super) fn find_agent(store: &mut Store, agent_id: i64) -> Result<Option<AgentView>> {
    let filter = AgentFilter { agent_id: Some(agent_id), ..AgentFilter::default() };
    Ok(store.list_agents(&filter)?.pop())
}

/// Those of the agents that there are.
fn find_agents(store: &mut Store, wanted: &[i64]) -> Result<Vec<AgentView>> {
    let mut agents = Vec::new();
    for agent_id in wanted {
        agents.extend(find_agent(store, *agent_id)?);
    }
    Ok(agents)
}

/// There is no such agent.
pub(super) fn unknown_agent_error(agent_id: i64) -> HttpError {
    HttpError::NotFound(format!("there is no agent {agent_id}"))
}

/// The agents that are shown.
struct AgentsOverview {
    /// By project, and there by their numbers: a card stays in its place whatever its agent does.
    active: Vec<AgentView>,
    /// Whether there are more of these.
    is_truncated: bool,
    /// The latest first.
    ended: Vec<AgentView>,
    projects: ProjectNames,
}

impl AgentsOverview {
    fn load(store: &mut Store, now: Timestamp) -> Result<Self> {
        let filter = AgentFilter { limit: Some(MAX_AGENTS + 1), ..AgentFilter::default() };
        let mut at_work = store.list_agents(&filter)?;
        let is_cut = at_work.len() > MAX_AGENTS as usize;
        at_work.truncate(MAX_AGENTS as usize);
        let projects = ProjectNames::load(store)?;
        at_work.sort_by_cached_key(|agent| {
            (project_sort_key(&agent.project, projects.name_for_agent(agent)), agent.project_id, agent.agent_id)
        });
        let ended = store.list_agents(&AgentFilter {
            state: Some(AgentState::Ended),
            ended_after: Some(now.checked_sub(ENDED_WINDOW).unwrap_or(Timestamp::MIN)),
            limit: Some(MAX_ENDED),
            ..AgentFilter::default()
        })?;
        Ok(Self { active: at_work, is_truncated: is_cut, ended, projects })
    }

    fn waiting_agents(&self) -> Vec<&AgentView> {
        let waits = |agent: &&AgentView| agent.state == AgentState::AwaitingInput;
        sort_by_wait(self.active.iter().filter(waits))
    }
}

/// Who has waited for longest comes first.
fn sort_by_wait<'a>(waiting: impl Iterator<Item = &'a AgentView>) -> Vec<&'a AgentView> {
    let mut waiting: Vec<_> = waiting.collect();
    waiting.sort_by_key(|agent| (agent.state_since, agent.agent_id));
    waiting
}

/// Every part that shows something of an agent, for tests.
#[cfg(test)]
pub(super) fn render_samples(agent: &AgentView, now: Timestamp) -> Vec<(&'static str, maud::Markup)> {
    let agents = AgentsOverview {
        active: vec![agent.clone()],
        is_truncated: true,
        ended: vec![agent.clone()],
        projects: ProjectNames::default(),
    };
    vec![
        ("card", card::render_card(agent, now)),
        ("state", render_state(agent, now)),
        ("needs", render::render_waiting_agents(&[agent], &ProjectNames::default(), now)),
        ("cards", render::render_cards(&agents, &AgentsParams::default(), now)),
        (
            "form of agents",
            params::render_filter_form(FilterForm::without_error(&FormValues::with_all(
                params::FILTER_FIELDS,
                &agent.why,
            ))),
        ),
    ]
}
