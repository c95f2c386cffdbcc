//! Guard: what it said, by rule and over time, and each verdict with the call that it is about.

mod params;
mod statistics;
mod verdict_list;

use axum::extract::{RawQuery, State};
use axum::response::Response;
use maud::{Markup, html};
use snell::Timestamp;
use snell_store::{GuardFilter, GuardHour, GuardLogEntry, GuardOutcome, Result, Store};

use super::filter_form::{FilterForm, FormFieldError, FormValues, mark_bad_request};
use super::layout::{NavTab, PageContent, PageFrame, render_page};
use super::{PageResult, html_response, load_with_frame};
use crate::app_state::{AppState, SharedAppState};
use crate::http::errors::HttpError;
use crate::http::query_params::QueryParams;

use params::{GuardParams, render_filter_form};
use statistics::MONTH;

pub(super) use verdict_list::render_verdict;

/// How many verdicts a page lists.
const MAX_LISTED: u32 = 50;

/// How many verdicts about one agent are counted.
const MAX_COUNTED: u32 = 5_000;

/// What the view shows.
struct GuardOverview {
    /// What was said within a month; about one agent, if one is chosen.
    hours: Vec<GuardHour>,
    /// One more than is shown, if there are more.
    verdicts: Vec<GuardLogEntry>,
    now: Timestamp,
}

impl GuardOverview {
    fn load(store: &mut Store, asked: &GuardParams, now: Timestamp) -> Result<Self> {
        let filter = GuardFilter { limit: MAX_LISTED + 1, ..asked.filter.clone() };
        let since = now.checked_sub(MONTH).unwrap_or(Timestamp::MIN);
        Ok(Self {
            hours: match asked.filter.agent_id {
                Some(agent_id) => store.list_agent_guard_hours(agent_id, since, MAX_COUNTED)?,
                None => store.list_guard_hours(since)?,
            },
            verdicts: store.query_guard_log(&filter)?,
            now,
        })
    }

    fn render(&self, asked: &GuardParams) -> Markup {
        let is_live = asked.filter.before_id.is_none();
        let src = is_live.then(|| asked.url_for("/fragments/guard", None));
        html! {
            div #guard data-src=[src] data-when=[is_live.then_some("guard_verdict")] {
                (statistics::render_over_time(&self.hours, asked, self.now))
                (statistics::render_by_rule(&self.hours, asked, self.now))
                (verdict_list::render_verdict_list(&self.verdicts, MAX_LISTED as usize, asked))
            }
        }
    }
}

/// `GET /guard`
pub(crate) async fn get_guard_page(State(app): State<SharedAppState>, RawQuery(query): RawQuery) -> PageResult {
    let asked = match GuardParams::parse(query.as_deref()) {
        Ok(asked) => asked,
        Err(refusal) => return respond_invalid_params(&app, query.as_deref(), refusal).await,
    };
    let (now, wanted) = (app.clock.now(), asked.clone());
    let (frame, guard) = load_with_frame(&app, move |store| GuardOverview::load(store, &wanted, now)).await?;
    let main = html! {
        (render_filter_form(FilterForm::without_error(&asked.values), asked.period_param(), &guard.hours))
        (guard.render(&asked))
    };
    Ok(render_guard_page(&frame, &main))
}

/// The view without verdicts, for a form that cannot be followed.
async fn respond_invalid_params(app: &AppState, query: Option<&str>, refusal: HttpError) -> PageResult {
    let trouble = FormFieldError::from_http_error(refusal, params::FILTER_FIELDS)?;
    let query = QueryParams::parse_with(query, params::FILTER_FIELDS, params::PAGING_FIELDS)?;
    let told = FormValues::from_query(&query, params::FILTER_FIELDS);
    let since = app.clock.now().checked_sub(MONTH).unwrap_or(Timestamp::MIN);
    let (frame, hours) = load_with_frame(app, move |store| store.list_guard_hours(since)).await?;
    let asked = FilterForm { values: &told, error: Some(&trouble) };
    Ok(mark_bad_request(render_guard_page(&frame, &render_filter_form(asked, "", &hours))))
}

fn render_guard_page(frame: &PageFrame, content: &Markup) -> Response {
    let view = PageContent { tab: Some(NavTab::Guard), title: "Guard", main: html! { h1 { "Guard" } (content) } };
    render_page(frame, &view)
}

/// `GET /fragments/guard`
pub(crate) async fn get_verdicts_fragment(State(app): State<SharedAppState>, RawQuery(query): RawQuery) -> PageResult {
    let asked = GuardParams::parse(query.as_deref())?;
    let (now, wanted) = (app.clock.now(), asked.clone());
    let guard = app.store_pool.with_store(move |store| GuardOverview::load(store, &wanted, now)).await?;
    Ok(html_response(guard.render(&asked)))
}

/// What came of a verdict, as people say it, with a shape for those who do not see its colour.
pub(super) fn outcome_label(outcome: GuardOutcome) -> &'static str {
    match outcome {
        GuardOutcome::Denied => "✕ blocked",
        GuardOutcome::Asked => "? asked",
        GuardOutcome::Allowed => "✓ allowed",
        GuardOutcome::WouldDeny => "◌ would be blocked",
        GuardOutcome::WouldAsk => "◌ would be asked",
    }
}

pub(super) fn outcome_class(outcome: GuardOutcome) -> &'static str {
    match outcome {
        GuardOutcome::Denied => "bad",
        GuardOutcome::Asked => "warn",
        GuardOutcome::Allowed => "good",
        GuardOutcome::WouldDeny | GuardOutcome::WouldAsk => "watched",
    }
}

/// The view with this text in all of it, for tests.
#[cfg(test)]
pub(super) fn render_samples(text: &str, now: Timestamp) -> Vec<(&'static str, Markup)> {
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
    let asked = GuardParams::with_text(text);
    vec![
        ("guard", guard.render(&asked)),
        ("form of the guard", render_filter_form(FilterForm::without_error(&asked.values), "", &guard.hours)),
    ]
}
