//! The data of the view of the guard.

use maud::{Markup, html};
use snell::Timestamp;
use snell_store::{GuardFilter, GuardHour, GuardLogEntry, Result, Store};

use super::params::GuardParams;
use super::statistics::{self, MONTH};
use super::verdict_list;

/// Verdicts per page.
const MAX_LISTED: u32 = 50;

/// The maximum number of verdicts of one agent that are counted.
pub(super) const MAX_COUNTED: u32 = 5_000;

/// The data of the view.
pub(super) struct GuardOverview {
    /// The verdicts of the last month by hour; of one agent, if one is chosen.
    pub(super) hours: Vec<GuardHour>,
    /// One more than a page has, if there are more.
    pub(super) verdicts: Vec<GuardLogEntry>,
    pub(super) now: Timestamp,
}

impl GuardOverview {
    pub(super) fn load(store: &mut Store, params: &GuardParams, now: Timestamp) -> Result<Self> {
        let filter = GuardFilter { limit: MAX_LISTED + 1, ..params.filter.clone() };
        Ok(Self {
            hours: match params.filter.agent_id {
                Some(agent_id) => store.list_agent_guard_hours(agent_id, a_month_before(now), MAX_COUNTED)?,
                None => store.list_guard_hours(a_month_before(now))?,
            },
            verdicts: store.query_guard_log(&filter)?,
            now,
        })
    }

    /// Only the rules and tiers, for the form.
    pub(super) fn load_hours(store: &mut Store, now: Timestamp) -> Result<Self> {
        Ok(Self { hours: store.list_guard_hours(a_month_before(now))?, verdicts: Vec::new(), now })
    }

    pub(super) fn render(&self, params: &GuardParams) -> Markup {
        let is_live = params.filter.before_id.is_none();
        let src = is_live.then(|| params.url_for("/fragments/guard", None));
        html! {
            div #guard data-src=[src] data-when=[is_live.then_some("guard_verdict")] {
                (statistics::render_over_time(&self.hours, params, self.now))
                (statistics::render_by_rule(&self.hours, params, self.now))
                (verdict_list::render_verdict_list(&self.verdicts, MAX_LISTED as usize, params))
            }
        }
    }
}

fn a_month_before(now: Timestamp) -> Timestamp {
    now.checked_sub(MONTH).unwrap_or(Timestamp::MIN)
}
