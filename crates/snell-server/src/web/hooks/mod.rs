//! The view of hooks: their runs, results and durations.

mod columns;
mod data;
mod latency_chart;
mod params;
mod table;

use axum::extract::{RawQuery, State};
#[cfg(test)]
use maud::Markup;
use maud::html;

use super::layout::{NavTab, PageContent, render_page};
use super::{PageResult, html_response, load_with_frame};
use crate::app_state::SharedAppState;
use crate::http::errors::HttpError;

use data::HooksOverview;
use params::HooksParams;

/// `GET /hooks`
pub(crate) async fn get_hooks_page(State(app): State<SharedAppState>, RawQuery(query): RawQuery) -> PageResult {
    let params = HooksParams::parse(query.as_deref())?;
    let now = app.clock.now();
    let (frame, hooks) = load_with_frame(&app, move |store| HooksOverview::load(store, params, now)).await?;
    let hooks = hooks.ok_or_else(|| unknown_hook_error(params))?;
    let main = html! {
        h1 { "Hooks" }
        (hooks.render(params, now))
    };
    let view = PageContent { tab: Some(NavTab::Hooks), title: "Hooks", main };
    Ok(render_page(&frame, &view))
}

/// The error for an unknown hook.
fn unknown_hook_error(params: HooksParams) -> HttpError {
    let id = params.hook_id.unwrap_or_default();
    HttpError::NotFound(format!("there is no hook {id}, or it has not run recently").into())
}

/// `GET /fragments/hooks`
pub(crate) async fn get_hooks_fragment(State(app): State<SharedAppState>, RawQuery(query): RawQuery) -> PageResult {
    let params = HooksParams::parse(query.as_deref())?;
    let now = app.clock.now();
    let hooks = app.store_pool.with_store(move |store| HooksOverview::load(store, params, now)).await?;
    let hooks = hooks.ok_or_else(|| unknown_hook_error(params))?;
    Ok(html_response(hooks.render(params, now)))
}

/// The view of a hook with this text in all fields, for tests.
#[cfg(test)]
pub(super) fn render_samples(text: &str, now: snell::Timestamp) -> Vec<(&'static str, Markup)> {
    use super::buckets::{HOUR, floor_to_bucket};
    use data::HookUsage;
    use params::PERIODS;
    use snell_store::HookStats;

    let hook = HookUsage {
        stats: HookStats {
            hook_id: 3,
            contract: text.to_owned(),
            source: text.to_owned(),
            line: 1,
            command: text.to_owned(),
            runs: 2,
            failures: 1,
            p50_ms: 1.0,
            ..HookStats::default()
        },
        today_ms: 5.0,
    };
    let hooks = HooksOverview { hooks: vec![hook], hours: Vec::new(), this_hour: floor_to_bucket(now, HOUR) };
    let params = HooksParams { column: columns::default_column(), period: &PERIODS[1], hook_id: Some(3) };
    vec![("hooks", hooks.render(params, now))]
}
