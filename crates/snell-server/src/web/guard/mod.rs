//! The view of the guard: verdicts over time, by rule, and one by one.

mod data;
mod params;
mod statistics;
mod verdict_list;

use axum::extract::{RawQuery, State};
use axum::response::Response;
use maud::{Markup, html};
use snell_store::{GuardOutcome, Store};

use super::filter_form::{FilterForm, FormValues};
use super::layout::{NavTab, PageContent, PageFrame, render_page};
use super::{PageResult, html_response, load_with_frame};
use crate::app_state::SharedAppState;
use crate::http::query_params::QueryParams;

use data::GuardOverview;
use params::{GuardParams, render_filter_form};

pub(super) use verdict_list::render_verdict;

/// `GET /guard`
pub(crate) async fn get_guard_page(State(app): State<SharedAppState>, RawQuery(query): RawQuery) -> PageResult {
    let query = QueryParams::parse_with(query.as_deref(), params::FILTER_FIELDS, params::PAGING_FIELDS)?;
    let (values, params) = FormValues::parse_form(&query, params::FILTER_FIELDS, GuardParams::parse)?;
    let (now, wanted) = (app.clock.now(), params.as_ref().ok().cloned());
    let read = move |store: &mut Store| match &wanted {
        Some(params) => GuardOverview::load(store, params, now),
        None => GuardOverview::load_hours(store, now),
    };
    let (frame, guard) = load_with_frame(&app, read).await?;
    let form = FilterForm { values: &values, error: params.as_ref().err() };
    let period = params.as_ref().map_or("", GuardParams::period_param);
    let main = html! {
        (render_filter_form(form, period, &guard.hours))
        // The filter of an invalid form is unknown.
        @if let Ok(params) = &params { (guard.render(params)) }
    };
    Ok(form.respond(render_guard_page(&frame, &main)))
}

fn render_guard_page(frame: &PageFrame, content: &Markup) -> Response {
    let view = PageContent { tab: Some(NavTab::Guard), title: "Guard", main: html! { h1 { "Guard" } (content) } };
    render_page(frame, &view)
}

/// `GET /fragments/guard`
pub(crate) async fn get_verdicts_fragment(State(app): State<SharedAppState>, RawQuery(query): RawQuery) -> PageResult {
    let query = QueryParams::parse_with(query.as_deref(), params::FILTER_FIELDS, params::PAGING_FIELDS)?;
    let params = GuardParams::parse(&query)?;
    let (now, wanted) = (app.clock.now(), params.clone());
    let guard = app.store_pool.with_store(move |store| GuardOverview::load(store, &wanted, now)).await?;
    Ok(html_response(guard.render(&params)))
}

/// The label of an outcome, with a symbol, so that colour is not the only sign.
pub(super) fn outcome_label(outcome: GuardOutcome) -> &'static str {
    match outcome {
        GuardOutcome::Denied => "✕ blocked",
        GuardOutcome::Asked => "? asked",
        GuardOutcome::Allowed => "✓ allowed",
        GuardOutcome::WouldDeny => "◌ would be blocked",
        GuardOutcome::WouldAsk => "◌ would be asked",
    }
}

/// The label of an outcome without its symbol.
pub(super) fn plain_outcome_label(outcome: GuardOutcome) -> &'static str {
    let word = outcome_label(outcome);
    word.split_once(' ').map_or(word, |(_, plain)| plain)
}

pub(super) fn outcome_class(outcome: GuardOutcome) -> &'static str {
    match outcome {
        GuardOutcome::Denied => "bad",
        GuardOutcome::Asked => "warn",
        GuardOutcome::Allowed => "good",
        GuardOutcome::WouldDeny | GuardOutcome::WouldAsk => "watched",
    }
}

/// The view with this text in all fields, for tests.
#[cfg(test)]
pub(super) fn render_samples(text: &str, now: snell::Timestamp) -> Vec<(&'static str, Markup)> {
    use snell_store::{GuardHour, GuardLogEntry};

    let verdict = |number: i64, call: serde_json::Value| GuardLogEntry {
        guard_verdict_id: number,
        at: now,
        agent_id: Some(7),
        event_row: Some(9),
        tool: Some(text.to_owned()),
        payload: serde_json::json!({ "tool_input": call }),
        changed_input: (number == 1).then(|| serde_json::json!({ text: text })),
        verdict: crate::web::html_injection_tests::sample_event("PreToolUse", text).guard_verdicts.remove(0),
    };
    let guard = GuardOverview {
        hours: vec![GuardHour {
            begins: now,
            rule: text.to_owned(),
            tier: text.to_owned(),
            outcome: GuardOutcome::WouldDeny,
            verdicts: 2,
            last_at: now,
        }],
        verdicts: vec![
            verdict(2, serde_json::json!({ "command": text })),
            verdict(1, serde_json::json!({ text: [text] })),
        ],
        now,
    };
    let params = GuardParams::with_text(text);
    vec![
        ("guard", guard.render(&params)),
        ("form of the guard", render_filter_form(FilterForm::without_error(&params.values), "", &guard.hours)),
    ]
}
