//! Hooks: which ran, how they fared, and which costs the time.

mod columns;
mod latency_chart;
mod table;

use std::collections::HashMap;

use axum::extract::{RawQuery, State};
use maud::{Markup, html};
use snell::Timestamp;
use snell_store::{HookHour, HookStats, Result, Store};

use super::buckets::{DAY, HOUR, floor_to_bucket};
use super::layout::{NavTab, PageContent, render_page};
use super::page_url::build_url;
use super::{PageResult, html_response, load_with_frame};
use crate::app_state::SharedAppState;
use crate::http::errors::HttpError;
use crate::http::query_params::QueryParams;

use columns::{COLUMNS, HookColumn};

/// How many hours the chart shows, the one that has begun counted.
const CHART_HOURS: u32 = 24;

/// Over what time hooks are counted: its name in an address, how many hours it has, and what it is called.
const PERIODS: &[(&str, u32, &str)] =
    &[("day", CHART_HOURS, "24 hours"), ("week", 7 * 24, "7 days"), ("month", 30 * 24, "30 days")];

/// What is asked.
#[derive(Clone, Copy)]
struct HooksParams {
    column: &'static HookColumn,
    period: &'static (&'static str, u32, &'static str),
    /// The hook that the chart is about; all of them if none is named.
    hook_id: Option<i64>,
}

impl HooksParams {
    fn parse(query: Option<&str>) -> std::result::Result<Self, HttpError> {
        let query = QueryParams::parse(query, &["sort", "period", "hook"])?;
        let column = |word: &str| COLUMNS.iter().find(|column| column.name == word);
        let period = |word: &str| PERIODS.iter().find(|period| period.0 == word);
        let column = query.choice("sort", column, COLUMNS.iter().map(|column| column.name))?;
        let period = query.choice("period", period, PERIODS.iter().map(|period| period.0))?;
        Ok(Self {
            column: column.unwrap_or_else(columns::default_column),
            period: period.unwrap_or(&PERIODS[0]),
            hook_id: query.id("hook")?,
        })
    }

    fn url_for(&self, path: &str) -> String {
        let default = |word: &'static str, default: &str| if word == default { "" } else { word };
        let hook = self.hook_id.map(|hook| hook.to_string()).unwrap_or_default();
        let parameters = [
            ("sort", default(self.column.name, columns::default_column().name)),
            ("period", default(self.period.0, PERIODS[0].0)),
            ("hook", hook.as_str()),
        ];
        build_url(path, parameters)
    }
}

/// A hook, and how much time it has taken today.
#[derive(Clone, Debug)]
struct HookUsage {
    stats: HookStats,
    today_ms: f64,
}

/// What the view shows.
struct HooksOverview {
    hooks: Vec<HookUsage>,
    hours: Vec<HookHour>,
    /// When the hour has begun that is not over.
    this_hour: Timestamp,
}

impl HooksOverview {
    /// Reads it; nothing if it is asked about a hook that never ran.
    fn load(store: &mut Store, asked: HooksParams, now: Timestamp) -> Result<Option<Self>> {
        let is_known = |stats: &[HookStats], id| stats.iter().any(|stats| stats.hook_id == id);
        let this_hour = floor_to_bucket(now, HOUR);
        let ago = |hours: u32| this_hour.checked_sub(HOUR * hours).unwrap_or(Timestamp::MIN);
        let today: HashMap<_, _> = store
            .list_hook_stats(floor_to_bucket(now, DAY))?
            .into_iter()
            .map(|stats| (stats.hook_id, stats.total_ms))
            .collect();
        let with_today =
            |stats: HookStats| HookUsage { today_ms: today.get(&stats.hook_id).copied().unwrap_or(0.0), stats };
        let stats = store.list_hook_stats(ago(asked.period.1 - 1))?;
        if let Some(id) = asked.hook_id
            && !is_known(&stats, id)
            && !is_known(&store.list_hook_stats(Timestamp::UNIX_EPOCH)?, id)
        {
            return Ok(None);
        }
        let mut hooks: Vec<_> = stats.into_iter().map(with_today).collect();
        hooks.sort_by(|a, b| asked.column.compare_hooks(a, b));
        Ok(Some(Self { hooks, hours: store.list_hook_hours(ago(CHART_HOURS - 1), asked.hook_id)?, this_hour }))
    }

    fn render(&self, asked: HooksParams, now: Timestamp) -> Markup {
        let src = asked.url_for("/fragments/hooks");
        let chosen = asked.hook_id.map(|id| self.hooks.iter().find(|hook| hook.stats.hook_id == id));
        html! {
            div #hooks data-src=(src) data-when="hook_run" {
                (latency_chart::render_latency_chart(&self.hours, self.this_hour, asked, chosen.flatten()))
                (table::render_hooks_table(&self.hooks, asked, now))
            }
        }
    }
}

/// `GET /hooks`
pub(crate) async fn get_hooks_page(State(app): State<SharedAppState>, RawQuery(query): RawQuery) -> PageResult {
    let asked = HooksParams::parse(query.as_deref())?;
    let now = app.clock.now();
    let (frame, hooks) = load_with_frame(&app, move |store| HooksOverview::load(store, asked, now)).await?;
    let hooks = hooks.ok_or_else(|| unknown_hook_error(asked))?;
    let main = html! {
        h1 { "Hooks" }
        (hooks.render(asked, now))
    };
    let view = PageContent { tab: Some(NavTab::Hooks), title: "Hooks", main };
    Ok(render_page(&frame, &view))
}

/// There is no such hook.
fn unknown_hook_error(asked: HooksParams) -> HttpError {
    let named = asked.hook_id.unwrap_or_default();
    HttpError::NotFound(format!("there is no hook {named}, or it has not run for long"))
}

/// `GET /fragments/hooks`
pub(crate) async fn get_hooks_fragment(State(app): State<SharedAppState>, RawQuery(query): RawQuery) -> PageResult {
    let asked = HooksParams::parse(query.as_deref())?;
    let now = app.clock.now();
    let hooks = app.store_pool.with_store(move |store| HooksOverview::load(store, asked, now)).await?;
    let hooks = hooks.ok_or_else(|| unknown_hook_error(asked))?;
    Ok(html_response(hooks.render(asked, now)))
}

/// The view with a hook of this text, for tests.
#[cfg(test)]
pub(super) fn render_samples(text: &str, now: Timestamp) -> Vec<(&'static str, Markup)> {
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
    let asked = HooksParams { column: columns::default_column(), period: &PERIODS[1], hook_id: Some(3) };
    vec![("hooks", hooks.render(asked, now))]
}
