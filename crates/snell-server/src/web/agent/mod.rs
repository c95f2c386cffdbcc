//! The page of one agent: its head and its timeline.

mod data;
mod export;
mod header;
mod item_kind;
mod params;
mod render;
mod timeline_item;
mod timeline_view;

use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use maud::{Markup, html};
use snell_store::Store;

use super::agents::{find_agent, unknown_agent_error};
use super::filter_form::{FilterForm, FormValues};
use super::format::AgentName;
use super::layout::{NavTab, PageContent, PageFrame, render_page};
use super::{PageResult, html_response, load_with_frame, parse_path_id};
use crate::app_state::SharedAppState;

use data::TimelinePage;
use header::AgentHeader;
use item_kind::TimelineKindFilter;
use params::{TimelineParams, kind_names};
use timeline_view::{render_kind_filter, render_older_link, render_timeline};

pub(crate) use export::get_agent_export;
pub(super) use render::{decision_class, decision_label, render_hook_run};

/// `GET /agents/{id}`
pub(crate) async fn get_agent_page(State(app): State<SharedAppState>, uri: Uri) -> PageResult {
    let names: Vec<_> = kind_names().collect();
    let query = TimelineParams::parse_query(&uri)?;
    let agent_id = parse_path_id(&uri, 2)?;
    let (_, params) = FormValues::parse_form(&query, &names, |query| TimelineParams::parse(agent_id, query))?;
    let wanted = params.as_ref().ok().map(|params| (params.before, params.kinds.clone()));
    let prices = app.settings.prices.clone();
    let read = move |store: &mut Store| match AgentHeader::load(store, agent_id, &prices)? {
        Some(head) => {
            let page = wanted.map(|(before, kinds)| TimelinePage::load(store, agent_id, before, &kinds));
            Ok(Some((head, page.transpose()?)))
        }
        None => Ok(None),
    };
    let (frame, found) = load_with_frame(&app, read).await?;
    let (head, timeline) = found.ok_or_else(|| unknown_agent_error(agent_id))?;
    let form = FilterForm { values: &FormValues::default(), error: params.as_ref().err() };
    let events = match (&params, &timeline) {
        (Ok(params), Some(timeline)) => html! {
            (render_kind_filter(agent_id, &params.kinds))
            (render_older_link(params, timeline))
            (render_timeline(params, timeline, head.agent.state))
        },
        // The kinds of an invalid form are unknown.
        _ => html! { (form.render_error()) (render_kind_filter(agent_id, &TimelineKindFilter::all())) },
    };
    Ok(form.respond(render_agent_page(&frame, &head, &events)))
}

fn render_agent_page(frame: &PageFrame, head: &AgentHeader, timeline: &Markup) -> Response {
    let main = html! {
        (head.render(frame.now))
        section aria-labelledby="timeline-title" {
            h2 #timeline-title { "Timeline" }
            (timeline)
        }
    };
    let title = AgentName(&head.agent).to_text();
    let view = PageContent { tab: Some(NavTab::Agents), title: &title, main };
    render_page(frame, &view)
}

/// `GET /fragments/agents/{id}/head`
pub(crate) async fn get_agent_header_fragment(State(app): State<SharedAppState>, uri: Uri) -> PageResult {
    let agent_id = parse_path_id(&uri, 3)?;
    let prices = app.settings.prices.clone();
    let head = app.store_pool.with_store(move |store| AgentHeader::load(store, agent_id, &prices)).await?;
    let head = head.ok_or_else(|| unknown_agent_error(agent_id))?;
    Ok(html_response(head.render(app.clock.now())))
}

/// `GET /fragments/agents/{id}/timeline`
pub(crate) async fn get_timeline_fragment(State(app): State<SharedAppState>, uri: Uri) -> PageResult {
    let query = TimelineParams::parse_query(&uri)?;
    let agent_id = parse_path_id(&uri, 3)?;
    let params = TimelineParams::parse(agent_id, &query)?;
    let (before, kinds) = (params.before, params.kinds.clone());
    let read = move |store: &mut Store| match find_agent(store, agent_id)? {
        Some(agent) => Ok(Some((agent.state, TimelinePage::load(store, agent_id, before, &kinds)?))),
        None => Ok(None),
    };
    let found = app.store_pool.with_store(read).await?;
    let (state, timeline) = found.ok_or_else(|| unknown_agent_error(agent_id))?;
    Ok(html_response(render_timeline(&params, &timeline, state)))
}

/// Every part that shows an agent, with this text in all fields, for tests.
#[cfg(test)]
pub(super) fn render_samples(
    agent: &snell_store::AgentView,
    text: &str,
    now: snell::Timestamp,
) -> Vec<(&'static str, Markup)> {
    use super::html_injection_tests::{sample_event, sample_turn};
    use render::{RowTarget, render_row};
    use snell_store::TurnActor;
    use timeline_item::TimelineCursor;

    let head = AgentHeader::with_text(agent.clone(), text);
    let rows_of = |name: &str| {
        let turns = vec![sample_turn(1, TurnActor::User, text, 0), sample_turn(2, TurnActor::Agent, text, 0)];
        let moments = timeline_item::merge_timeline(
            Vec::new(),
            vec![sample_event(name, text)],
            turns,
            &TimelineKindFilter::all(),
        );
        assert_eq!(moments.len(), 8, "all items of {name} are there");
        html! { @for moment in &moments { (render_row(moment, RowTarget::LivePage(TimelineCursor::default()))) } }
    };
    vec![
        ("head", head.render(now)),
        ("a call", rows_of("PreToolUse")),
        ("the end of a call", rows_of("PostToolUse")),
        ("an event", rows_of("Notification")),
        ("an event of any name", rows_of(text)),
        ("export", maud::PreEscaped(export::render_opening(&head, Some(now), now))),
    ]
}
