//! Hooks: which ran, how they fared, and which costs the time.

mod latency;
mod sort;
mod table;

use std::collections::HashMap;

use axum::extract::{RawQuery, State};
use maud::{Markup, html};
use snell::Timestamp;
use snell_store::{HookHour, HookStats, Result, Store};

use super::address::address;
use super::layout::{Tab, View, page};
use super::slots::{DAY, HOUR, begin};
use super::{Answer, html as answer, look};
use crate::app::Shared;
use crate::error::Refusal;
use crate::query::Query;

use sort::{COLUMNS, Column};

/// How many hours the chart shows, the one that has begun counted.
const HOURS: u32 = 24;

/// Over what time hooks are counted: its name in an address, how many hours it has, and what it is called.
const PERIODS: &[(&str, u32, &str)] = &[
    ("day", HOURS, "24 hours"),
    ("week", 7 * 24, "7 days"),
    ("month", 30 * 24, "30 days"),
];

/// What is asked.
#[derive(Clone, Copy)]
struct Asked {
    column: &'static Column,
    period: &'static (&'static str, u32, &'static str),
    /// The hook that the chart is about; all of them if none is named.
    hook_id: Option<i64>,
}

impl Asked {
    fn read(query: Option<&str>) -> std::result::Result<Self, Refusal> {
        let query = Query::read(query, &["sort", "period", "hook"])?;
        let column = |word: &str| COLUMNS.iter().find(|column| column.name == word);
        let period = |word: &str| PERIODS.iter().find(|period| period.0 == word);
        let column = query.word("sort", column, COLUMNS.iter().map(|column| column.name))?;
        let period = query.word("period", period, PERIODS.iter().map(|period| period.0))?;
        Ok(Self {
            column: column.unwrap_or_else(sort::default),
            period: period.unwrap_or(&PERIODS[0]),
            hook_id: query.id("hook")?,
        })
    }

    fn path(&self, path: &str) -> String {
        let default = |word: &'static str, default: &str| if word == default { "" } else { word };
        let hook = self.hook_id.map(|hook| hook.to_string()).unwrap_or_default();
        let parameters = [
            ("sort", default(self.column.name, sort::default().name)),
            ("period", default(self.period.0, PERIODS[0].0)),
            ("hook", hook.as_str()),
        ];
        address(path, parameters)
    }
}

/// A hook, and how much time it has taken today.
#[derive(Clone, Debug)]
struct Hook {
    stats: HookStats,
    today_ms: f64,
}

/// What the view shows.
struct Hooks {
    hooks: Vec<Hook>,
    hours: Vec<HookHour>,
    /// When the hour has begun that is not over.
    this_hour: Timestamp,
}

impl Hooks {
    /// Reads it; nothing if it is asked about a hook that never ran.
    fn read(store: &mut Store, asked: Asked, now: Timestamp) -> Result<Option<Self>> {
        let is_known = |stats: &[HookStats], id| stats.iter().any(|stats| stats.hook_id == id);
        let this_hour = begin(now, HOUR);
        let ago = |hours: u32| this_hour.checked_sub(HOUR * hours).unwrap_or(Timestamp::MIN);
        let today: HashMap<_, _> = store
            .hook_stats(begin(now, DAY))?
            .into_iter()
            .map(|stats| (stats.hook_id, stats.total_ms))
            .collect();
        let with_today = |stats: HookStats| Hook {
            today_ms: today.get(&stats.hook_id).copied().unwrap_or(0.0),
            stats,
        };
        let stats = store.hook_stats(ago(asked.period.1 - 1))?;
        if let Some(id) = asked.hook_id
            && !is_known(&stats, id)
            && !is_known(&store.hook_stats(Timestamp::UNIX_EPOCH)?, id)
        {
            return Ok(None);
        }
        let mut hooks: Vec<_> = stats.into_iter().map(with_today).collect();
        hooks.sort_by(|a, b| asked.column.order(a, b));
        Ok(Some(Self {
            hooks,
            hours: store.hook_hours(ago(HOURS - 1), asked.hook_id)?,
            this_hour,
        }))
    }

    fn shown(&self, asked: Asked, now: Timestamp) -> Markup {
        let src = asked.path("/fragments/hooks");
        let chosen = asked
            .hook_id
            .map(|id| self.hooks.iter().find(|hook| hook.stats.hook_id == id));
        html! {
            div #hooks data-src=(src) data-when="hook_run" {
                (latency::chart(&self.hours, self.this_hour, asked, chosen.flatten()))
                (table::table(&self.hooks, asked, now))
            }
        }
    }
}

/// `GET /hooks`
pub(crate) async fn hooks(State(app): State<Shared>, RawQuery(query): RawQuery) -> Answer {
    let asked = Asked::read(query.as_deref())?;
    let now = app.clock.now();
    let (frame, hooks) = look(&app, move |store| Hooks::read(store, asked, now)).await?;
    let hooks = hooks.ok_or_else(|| unknown(asked))?;
    let main = html! {
        h1 { "Hooks" }
        (hooks.shown(asked, now))
    };
    let view = View {
        tab: Some(Tab::Hooks),
        title: "Hooks",
        main,
    };
    Ok(page(&frame, &view))
}

/// There is no such hook.
fn unknown(asked: Asked) -> Refusal {
    let named = asked.hook_id.unwrap_or_default();
    Refusal::NotFound(format!("there is no hook {named}, or it has not run for long"))
}

/// `GET /fragments/hooks`
pub(crate) async fn table_of_hooks(State(app): State<Shared>, RawQuery(query): RawQuery) -> Answer {
    let asked = Asked::read(query.as_deref())?;
    let now = app.clock.now();
    let hooks = app.readers.ask(move |store| Hooks::read(store, asked, now)).await?;
    let hooks = hooks.ok_or_else(|| unknown(asked))?;
    Ok(answer(hooks.shown(asked, now)))
}

/// The view with a hook of this text, for tests.
#[cfg(test)]
pub(super) fn rendered(text: &str, now: Timestamp) -> Vec<(&'static str, Markup)> {
    let hook = Hook {
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
    let hooks = Hooks {
        hooks: vec![hook],
        hours: Vec::new(),
        this_hour: begin(now, HOUR),
    };
    let asked = Asked {
        column: sort::default(),
        period: &PERIODS[1],
        hook_id: Some(3),
    };
    vec![("hooks", hooks.shown(asked, now))]
}
