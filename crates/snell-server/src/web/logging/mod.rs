//! Logging: how the receiver is, and the log of events.

mod event_detail;
mod log_table;
mod params;
mod receiver_status;

use axum::extract::{RawQuery, State};
use axum::http::Uri;
use axum::response::Response;
use maud::{Markup, html};
use snell::EventName;
use snell_store::{LogFilter, LogSearchResult, Result, Store};

use super::agent::decision_label;
use super::filter_form::{FilterForm, FormFieldError, FormValues, mark_bad_request};
use super::format::{canonical_decision, truncate_text};
use super::layout::{NavTab, PageContent, PageFrame, render_page};
use super::project_names::ProjectNames;
use super::{PageResult, html_response, load_with_frame};
use crate::api::DECISIONS;
use crate::app_state::{AppState, SharedAppState};
use crate::http::errors::HttpError;
use crate::http::query_params::{QueryParams, parse_id};

use log_table::{MAX_LINES, render_log_table, render_new_count as shown_news};
use params::LogParams;
use receiver_status::ReceiverStatus;

/// How many new events are counted; more are "more".
const MAX_NEW: u32 = 100;

/// `GET /logging`
pub(crate) async fn get_logging_page(State(app): State<SharedAppState>, RawQuery(query): RawQuery) -> PageResult {
    let now = app.clock.now();
    let query = QueryParams::parse_with(query.as_deref(), params::FILTER_FIELDS, params::PAGING_FIELDS)?;
    let asked = match LogParams::parse(&query, now) {
        Ok(asked) => asked,
        Err(refusal) => return respond_invalid_params(&app, &query, refusal).await,
    };
    let (wanted, pulse) = (asked.clone(), app.hook_activity.clone());
    let read = move |store: &mut Store| {
        Ok((pulse.refresh(store, now)?, ProjectNames::load(store)?, read_lines(store, &wanted, MAX_LINES + 1)?))
    };
    let (frame, (beat, projects, lines)) = load_with_frame(&app, read).await?;
    let events = html! {
        (render_filter_form(FilterForm::without_error(&asked.values), &projects))
        (render_log_table(&asked, &lines, &projects, now))
    };
    Ok(render_logging_page(&frame, &ReceiverStatus::new(&app, beat, now), &events))
}

/// The view without events, for a form that cannot be followed: which of them were meant is not known.
async fn respond_invalid_params(app: &AppState, query: &QueryParams<'_>, refusal: HttpError) -> PageResult {
    let trouble = FormFieldError::from_http_error(refusal, params::FILTER_FIELDS)?;
    let (told, now, pulse) =
        (FormValues::from_query(query, params::FILTER_FIELDS), app.clock.now(), app.hook_activity.clone());
    let read = move |store: &mut Store| Ok((pulse.refresh(store, now)?, ProjectNames::load(store)?));
    let (frame, (beat, projects)) = load_with_frame(app, read).await?;
    let asked = FilterForm { values: &told, error: Some(&trouble) };
    let page = render_logging_page(&frame, &ReceiverStatus::new(app, beat, now), &render_filter_form(asked, &projects));
    Ok(mark_bad_request(page))
}

fn render_logging_page(frame: &PageFrame, receiver: &ReceiverStatus, events: &Markup) -> Response {
    let main = html! {
        h1 { "Logging" }
        section.receiver aria-labelledby="receiver-title" {
            h2 #receiver-title { "Hook receiver" }
            // What changes here is read out; that times pass is not.
            div aria-live="polite" { (receiver.render_mode()) }
            (receiver.render_facts())
        }
        section aria-labelledby="log-title" {
            h2 #log-title { "Events" }
            (events)
        }
    };
    let view = PageContent { tab: Some(NavTab::Logging), title: "Logging", main };
    render_page(frame, &view)
}

/// `GET /fragments/receiver`
pub(crate) async fn get_receiver_fragment(State(app): State<SharedAppState>, RawQuery(query): RawQuery) -> PageResult {
    QueryParams::parse(query.as_deref(), &[])?;
    let (pulse, now) = (app.hook_activity.clone(), app.clock.now());
    let beat = app.store_pool.with_store(move |store| pulse.refresh(store, now)).await?;
    let receiver = ReceiverStatus::new(&app, beat, now);
    Ok(html_response(html! { (receiver.render_mode()) (receiver.render_facts()) }))
}

/// `GET /fragments/log`: the newest lines.
pub(crate) async fn get_log_fragment(State(app): State<SharedAppState>, RawQuery(query): RawQuery) -> PageResult {
    let query = QueryParams::parse_with(query.as_deref(), params::FILTER_FIELDS, params::PAGING_FIELDS)?;
    let now = app.clock.now();
    let asked = LogParams::parse(&query, now)?;
    let wanted = asked.clone();
    let read = move |store: &mut Store| Ok((read_lines(store, &wanted, MAX_LINES + 1)?, ProjectNames::load(store)?));
    let (lines, projects) = app.store_pool.with_store(read).await?;
    Ok(html_response(render_log_table(&asked, &lines, &projects, now)))
}

/// `GET /fragments/log/new`: how many events came after one.
pub(crate) async fn get_new_count_fragment(State(app): State<SharedAppState>, RawQuery(query): RawQuery) -> PageResult {
    let places = [params::PAGING_FIELDS, &["after"]].concat();
    let query = QueryParams::parse_with(query.as_deref(), params::FILTER_FIELDS, &places)?;
    let asked = LogParams::parse(&query, app.clock.now())?;
    let after = query.text("after").unwrap_or("0");
    let after = (after == "0").then_some(0).or_else(|| parse_id(after));
    let after = after.ok_or_else(|| HttpError::bad_request("\"after\" must be the number of an event"))?;
    let wanted = asked.after_event(after);
    let found = app.store_pool.with_store(move |store| read_lines(store, &wanted, MAX_NEW + 1)).await?;
    Ok(html_response(shown_news(&asked, found.lines.len(), MAX_NEW as usize)))
}

/// `GET /logging/{id}`
pub(crate) async fn get_event_page(State(app): State<SharedAppState>, uri: Uri) -> PageResult {
    QueryParams::parse(uri.query(), &[])?;
    let named = uri.path().split('/').nth(2).and_then(parse_id);
    let id = named.ok_or_else(|| HttpError::bad_request("an event is named by its number: /logging/17"))?;
    let read = move |store: &mut Store| Ok((store.find_event(id)?, ProjectNames::load(store)?));
    let (frame, (found, projects)) = load_with_frame(&app, read).await?;
    let found = found.ok_or_else(|| HttpError::NotFound(format!("there is no event {id}")))?;
    let title = format!("Event {id}");
    let view =
        PageContent { tab: Some(NavTab::Logging), title: &title, main: event_detail::render_event(&found, &projects) };
    Ok(render_page(&frame, &view))
}

fn read_lines(store: &mut Store, asked: &LogParams, limit: u32) -> Result<LogSearchResult> {
    let filter = LogFilter { limit, ..asked.filter.clone() };
    store.search_log(&filter, asked.text.as_deref())
}

/// A decision as it is chosen: most calls run without anybody having allowed them.
fn decision_choice_label(word: &str) -> &str {
    match word {
        "allow" => "allowed (by a hook)",
        other => decision_label(other),
    }
}

/// The choice of events: a form that needs no script.
fn render_filter_form(asked: FilterForm<'_>, projects: &ProjectNames) -> Markup {
    let project = asked.value("project_id");
    let times = "how long ago: 2h, 3d; or when: 2026-03-01, 2026-03-01 12:00 (as times are shown here), 2026-03-01T12:00:00+02:00";
    html! {
        (asked.render_error())
        form #log-form.filter.fields method="get" action="/logging" role="search" aria-label="Events" {
            label.wide { "Search " input type="search" name="q" value=(asked.escaped_value("q")) maxlength="200"; }
            label { "Event " input name="event" value=(asked.escaped_value("event")) list="event-names" autocomplete="off"; }
            datalist #event-names { @for name in EventName::canonical_names() { option value=(name) {} } }
            label { "Tool " input name="tool" value=(asked.escaped_value("tool")) autocomplete="off"; }
            label { "Decision "
                select name="decision" aria-invalid=[asked.aria_invalid("decision")] aria-describedby=[asked.aria_describedby("decision")] {
                    option value="" { "any" }
                    @for word in DECISIONS {
                        @let is_asked = canonical_decision(asked.value("decision")) == canonical_decision(word);
                        option value=(word) selected[is_asked] { (decision_choice_label(word)) }
                    }
                }
            }
            label { "Project "
                select name="project_id" aria-invalid=[asked.aria_invalid("project_id")] aria-describedby=[asked.aria_describedby("project_id")] {
                    option value="" { "all" }
                    @for one in projects.all() {
                        @let number = one.view.project_id.to_string();
                        option value=(number) title=(truncate_text(&one.view.path, 200)) selected[project == number] { (truncate_text(&one.display_name, 60)) }
                    }
                }
            }
            label { "Agent " input name="agent_id" value=(asked.escaped_value("agent_id")) inputmode="numeric" size="6"
                aria-invalid=[asked.aria_invalid("agent_id")] aria-describedby=[asked.aria_describedby("agent_id")]; }
            label { "Session " input name="session_id" value=(asked.escaped_value("session_id")) autocomplete="off"; }
            label title=(times) { "Since " input name="since" value=(asked.escaped_value("since")) placeholder="2h" size="16"
                aria-invalid=[asked.aria_invalid("since")] aria-describedby=[asked.aria_describedby("since")]; }
            label title=(times) { "Until " input name="until" value=(asked.escaped_value("until")) placeholder="1h" size="16"
                aria-invalid=[asked.aria_invalid("until")] aria-describedby=[asked.aria_describedby("until")]; }
            button { "Show" }
            @if !asked.values.is_empty() { a href="/logging" { "Everything" } }
        }
    }
}

/// Every part, with this text in all of it, for tests.
#[cfg(test)]
pub(super) fn render_samples(text: &str, now: snell::Timestamp) -> Vec<(&'static str, Markup)> {
    let asked = LogParams::with_text(text);
    let projects = ProjectNames::new(vec![snell_store::ProjectView {
        project_id: 1,
        name: text.to_owned(),
        path: text.to_owned(),
    }]);
    vec![
        ("form of the log", render_filter_form(FilterForm::without_error(&asked.values), &projects)),
        ("lines of the log", render_log_table(&asked, &log_table::sample_lines(text), &projects, now)),
        ("how much is new", shown_news(&asked, 3, 100)),
        ("one event", event_detail::render_event(&event_detail::sample_full_event(text), &projects)),
        ("receiver", ReceiverStatus::with_last_event(text, now).render_facts()),
    ]
}
