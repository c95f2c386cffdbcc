//! The data of the view of hooks.

use std::collections::HashMap;

use maud::{Markup, html};
use snell::Timestamp;
use snell_store::{HookHour, HookStats, Result, Store};

use super::params::{CHART_HOURS, HooksParams};
use super::{latency_chart, table};
use crate::web::buckets::{DAY, HOUR, floor_to_bucket};

/// A hook with its total time of today.
#[derive(Clone, Debug)]
pub(super) struct HookUsage {
    pub(super) stats: HookStats,
    pub(super) today_ms: f64,
}

/// The data of the view.
pub(super) struct HooksOverview {
    pub(super) hooks: Vec<HookUsage>,
    pub(super) hours: Vec<HookHour>,
    /// The start of the current hour.
    pub(super) this_hour: Timestamp,
}

impl HooksOverview {
    /// Loads the data; `None` if the chosen hook never ran.
    pub(super) fn load(store: &mut Store, params: HooksParams, now: Timestamp) -> Result<Option<Self>> {
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
        let stats = store.list_hook_stats(ago(params.period.1 - 1))?;
        if let Some(id) = params.hook_id
            && !is_known(&stats, id)
            && !is_known(&store.list_hook_stats(Timestamp::UNIX_EPOCH)?, id)
        {
            return Ok(None);
        }
        let mut hooks: Vec<_> = stats.into_iter().map(with_today).collect();
        hooks.sort_by(|a, b| params.column.compare_hooks(a, b));
        Ok(Some(Self { hooks, hours: store.list_hook_hours(ago(CHART_HOURS - 1), params.hook_id)?, this_hour }))
    }

    pub(super) fn render(&self, params: HooksParams, now: Timestamp) -> Markup {
        let src = params.url_for("/fragments/hooks");
        let chosen = params.hook_id.map(|id| self.hooks.iter().find(|hook| hook.stats.hook_id == id));
        html! {
            div #hooks data-src=(src) data-when="hook_run" {
                (latency_chart::render_latency_chart(&self.hours, self.this_hour, params, chosen.flatten()))
                (table::render_hooks_table(&self.hooks, params, now))
            }
        }
    }
}
