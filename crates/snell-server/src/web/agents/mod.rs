//! The view of all agents: those that need you, and the cards.

mod card;
mod data;
mod params;
mod render;

use axum::extract::{RawQuery, State};
use axum::http::Uri;
use axum::response::Response;
use maud::{Markup, html};
#[cfg(test)]
use snell::Timestamp;
use snell_store::{AgentFilter, AgentState, Store};

use super::filter_form::{FilterForm, FormValues};
use super::layout::{NavTab, PageContent, PageFrame, render_page};
use super::project_names::ProjectNames;
use super::{PageResult, html_response, load_with_frame, parse_path_id};
use crate::app_state::SharedAppState;
use crate::http::errors::HttpError;
use crate::http::query_params::{QueryParams, parse_id};

use data::{AgentsOverview, MAX_AGENTS, find_agents, sort_by_wait};
use params::AgentsParams;

pub(super) use card::{render_background_work, render_facts, render_question, render_silence, render_state};
pub(super) use data::{find_agent, unknown_agent_error};

/// `GET /`
pub(crate) async fn get_agents_page(State(app): State<SharedAppState>, RawQuery(query): RawQuery) -> PageResult {
    let query = QueryParams::parse(query.as_deref(), params::FILTER_FIELDS)?;
    let now = app.clock.now();
    let (frame, agents) = load_with_frame(&app, move |store| AgentsOverview::load(store, now)).await?;
    let (values, params) = FormValues::parse_form(&query, params::FILTER_FIELDS, AgentsParams::parse)?;
    let form = FilterForm { values: &values, error: params.as_ref().err() };
    let cards = params.as_ref().map_or(html! {}, |params| render::render_cards(&agents, params, now));
    Ok(form.respond(render_agents_page(&frame, &agents, form, &cards)))
}

fn render_agents_page(frame: &PageFrame, agents: &AgentsOverview, form: FilterForm<'_>, cards: &Markup) -> Response {
    let main = html! {
        h1 { "Agents" }
        // Screen readers announce new entries, but not passing times.
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

/// `GET /fragments/agents`: all cards, or only some of them.
pub(crate) async fn get_cards_fragment(State(app): State<SharedAppState>, RawQuery(query): RawQuery) -> PageResult {
    let query = QueryParams::parse_with(query.as_deref(), params::FILTER_FIELDS, &["only"])?;
    let (params, now) = (AgentsParams::parse(&query)?, app.clock.now());
    if let Some(only) = query.text("only") {
        let wanted = only.split(',').take(MAX_AGENTS as usize).map(parse_id);
        let wanted: Option<Vec<_>> = wanted.collect();
        let wanted =
            wanted.ok_or_else(|| HttpError::bad_request("\"only\" must be a list of agent numbers such as 17,18"))?;
        let agents = app.store_pool.with_store(move |store| find_agents(store, &wanted)).await?;
        let wanted = agents.iter().filter(|agent| params.matches_agent(agent));
        return Ok(html_response(html! { @for agent in wanted { (card::render_card(agent, now)) } }));
    }
    let agents = app.store_pool.with_store(move |store| AgentsOverview::load(store, now)).await?;
    Ok(html_response(render::render_cards(&agents, &params, now)))
}

/// `GET /fragments/agents/{id}`
pub(crate) async fn get_card_fragment(State(app): State<SharedAppState>, uri: Uri) -> PageResult {
    let agent_id = parse_path_id(&uri, 3)?;
    let agent = app.store_pool.with_store(move |store| find_agent(store, agent_id)).await?;
    let agent = agent.ok_or_else(|| unknown_agent_error(agent_id))?;
    Ok(html_response(card::render_card(&agent, app.clock.now())))
}

/// Every part that shows an agent, for tests.
#[cfg(test)]
pub(super) fn render_samples(agent: &snell_store::AgentView, now: Timestamp) -> Vec<(&'static str, maud::Markup)> {
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
