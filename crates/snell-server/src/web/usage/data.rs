//! The data of the view of usage.

use jiff::tz::TimeZone;
use maud::{Markup, html};
use snell::Timestamp;
use snell_store::usage::{PriceList, UsageBreakdown, UsageSummary};
use snell_store::{Result, Store, UsageFilter};

use super::params::UsageParams;
use super::{cost_chart, table};
use crate::web::buckets::{DAY, floor_to_bucket};

/// The data of the view.
pub(super) struct UsageOverview {
    pub(super) days: UsageSummary,
    pub(super) parts: UsageSummary,
    pub(super) now: Timestamp,
}

impl UsageOverview {
    pub(super) fn load(store: &mut Store, params: &UsageParams, prices: &PriceList, now: Timestamp) -> Result<Self> {
        let days_before = params.period.1.saturating_sub(1);
        let since = floor_to_bucket(now, DAY).checked_sub(DAY * days_before).ok();
        let filter = UsageFilter { since, ..params.to_filter() };
        let mut summarize = |by: UsageBreakdown| -> Result<UsageSummary> {
            let sums = store.summarize_usage(by.grouping(), &filter)?;
            Ok(UsageSummary::new(by, &sums, prices, &TimeZone::UTC))
        };
        let (days, mut parts) = (summarize(UsageBreakdown::Day)?, summarize(params.by)?);
        parts.parts.sort_by(|a, b| params.column.compare_parts(a, b).then_with(|| a.key.cmp(&b.key)));
        Ok(Self { days, parts, now })
    }

    pub(super) fn render(&self, params: &UsageParams) -> Markup {
        html! {
            div #usage data-src=(params.url_for("/fragments/usage")) data-when="card_refresh" {
                @if self.days.total.is_some() && params.period.1 > 1 {
                    (cost_chart::render_cost_chart(&self.days, params, self.now))
                }
                (table::render_usage_table(&self.parts, params))
            }
        }
    }
}
