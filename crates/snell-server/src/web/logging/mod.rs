//! The view of the receiver and the log of events.

mod event_detail;
mod log_table;
mod params;
mod receiver_status;
mod render;

use axum::extract::{RawQuery, State};
use axum::http::Uri;
#[cfg(test)]
use maud::Markup;
use maud::html;
use snell_store::{LogFilter, LogSearchResult, Result, Store};

use super::filter_form::{FilterForm, FormValues};
use super::layout::{NavTab, PageContent, render_page};
use super::project_names::ProjectNames;
use super::{PageResult, html_response, load_with_frame};
use crate::app_state::SharedAppState;
use crate::http::errors::HttpError;
use crate::http::query_params::{QueryParams, parse_id, parse_path_id};

use log_table::{MAX_LINES, render_log_table, render_new_count};
use params::LogParams;
use receiver_status::ReceiverStatus;
use render::{render_filter_form, render_logging_page};

/// The maximum number of new events that are counted.
const MAX_NEW: u32 = 100;

/// `GET /logging`
pub(crate) async fn get_logging_page(State(app): State<SharedAppState>, RawQuery(query): RawQuery) -> PageResult {
    let now = app.clock.now();
    let query = QueryParams::parse_with(query.as_deref(), params::FILTER_FIELDS, params::PAGING_FIELDS)?;
    let (values, params) = FormValues::parse_form(&query, params::FILTER_FIELDS, |query| LogParams::parse(query, now))?;
    let (wanted, activity) = (params.as_ref().ok().cloned(), app.hook_activity.clone());
    let read = move |store: &mut Store| {
        let (activity, projects) = (activity.refresh(store, now)?, ProjectNames::load(store)?);
        // The filter of an invalid form is unknown.
        let lines = wanted.map(|params| read_lines(store, &params, MAX_LINES + 1)).transpose()?;
        Ok((activity, projects, lines))
    };
    let (frame, (activity, projects, lines)) = load_with_frame(&app, read).await?;
    let form = FilterForm { values: &values, error: params.as_ref().err() };
    let events = html! {
        (render_filter_form(form, &projects))
        @if let (Ok(params), Some(lines)) = (&params, &lines) { (render_log_table(params, lines, &projects, now)) }
    };
    Ok(form.respond(render_logging_page(&frame, &ReceiverStatus::new(&app, activity, now), &events)))
}

/// `GET /fragments/receiver`
pub(crate) async fn get_receiver_fragment(State(app): State<SharedAppState>, RawQuery(query): RawQuery) -> PageResult {
    QueryParams::parse(query.as_deref(), &[])?;
    let (activity, now) = (app.hook_activity.clone(), app.clock.now());
    let activity = app.store_pool.with_store(move |store| activity.refresh(store, now)).await?;
    let receiver = ReceiverStatus::new(&app, activity, now);
    Ok(html_response(html! { (receiver.render_mode()) (receiver.render_facts()) }))
}

/// `GET /fragments/log`: the newest lines.
pub(crate) async fn get_log_fragment(State(app): State<SharedAppState>, RawQuery(query): RawQuery) -> PageResult {
    let query = QueryParams::parse_with(query.as_deref(), params::FILTER_FIELDS, params::PAGING_FIELDS)?;
    let now = app.clock.now();
    let params = LogParams::parse(&query, now)?;
    let wanted = params.clone();
    let read = move |store: &mut Store| Ok((read_lines(store, &wanted, MAX_LINES + 1)?, ProjectNames::load(store)?));
    let (lines, projects) = app.store_pool.with_store(read).await?;
    Ok(html_response(render_log_table(&params, &lines, &projects, now)))
}

/// `GET /fragments/log/new`: the number of events after one.
pub(crate) async fn get_new_count_fragment(State(app): State<SharedAppState>, RawQuery(query): RawQuery) -> PageResult {
    let places = [params::PAGING_FIELDS, &["after"]].concat();
    let query = QueryParams::parse_with(query.as_deref(), params::FILTER_FIELDS, &places)?;
    let params = LogParams::parse(&query, app.clock.now())?;
    let after = query.text("after").unwrap_or("0");
    let after = (after == "0").then_some(0).or_else(|| parse_id(after));
    let after = after.ok_or_else(|| HttpError::bad_request("\"after\" must be an event number"))?;
    let wanted = params.after_event(after);
    let found = app.store_pool.with_store(move |store| read_lines(store, &wanted, MAX_NEW + 1)).await?;
    Ok(html_response(render_new_count(&params, found.lines.len(), MAX_NEW as usize)))
}

/// `GET /logging/{id}`
pub(crate) async fn get_event_page(State(app): State<SharedAppState>, uri: Uri) -> PageResult {
    QueryParams::parse(uri.query(), &[])?;
    let id = parse_path_id(&uri, 2, "event", "/logging/17")?;
    let read = move |store: &mut Store| Ok((store.find_event(id)?, ProjectNames::load(store)?));
    let (frame, (found, projects)) = load_with_frame(&app, read).await?;
    let found = found.ok_or_else(|| HttpError::NotFound(format!("there is no event {id}").into()))?;
    let title = format!("Event {id}");
    let view =
        PageContent { tab: Some(NavTab::Logging), title: &title, main: event_detail::render_event(&found, &projects) };
    Ok(render_page(&frame, &view))
}

fn read_lines(store: &mut Store, params: &LogParams, limit: u32) -> Result<LogSearchResult> {
    let filter = LogFilter { limit, ..params.filter.clone() };
    store.search_log(&filter, params.text.as_deref())
}

/// Every part with this text in all fields, for tests.
#[cfg(test)]
pub(super) fn render_samples(text: &str, now: snell::Timestamp) -> Vec<(&'static str, Markup)> {
    let params = LogParams::with_text(text);
    let projects = ProjectNames::new(vec![snell_store::ProjectView {
        project_id: 1,
        name: text.to_owned(),
        path: text.to_owned(),
    }]);
    vec![
        ("form of the log", render_filter_form(FilterForm::without_error(&params.values), &projects)),
        ("lines of the log", render_log_table(&params, &log_table::sample_lines(text), &projects, now)),
        ("count of new events", render_new_count(&params, 3, 100)),
        ("one event", event_detail::render_event(&event_detail::sample_full_event(text), &projects)),
        ("receiver", ReceiverStatus::with_last_event(text, now).render_facts()),
    ]
}
