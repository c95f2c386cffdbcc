//! What the view of the guard shows.

use maud::{Markup, html};
use snell::Timestamp;
use snell_store::{GuardFilter, GuardHour, GuardLogEntry, Result, Store};

use super::params::GuardParams;
use super::statistics::{self, MONTH};
use super::verdict_list;

/// How many verdicts a page lists.
const MAX_LISTED: u32 = 50;

/// How many verdicts about one agent are counted.
pub(super) const MAX_COUNTED: u32 = 5_000;

/// What the view shows.
pub(super) struct GuardOverview {
    /// What was said within a month; about one agent, if one is chosen.
    pub(super) hours: Vec<GuardHour>,
    /// One more than is shown, if there are more.
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

    /// The rules and tiers alone, which the form offers.
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
