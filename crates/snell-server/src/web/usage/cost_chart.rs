//! The cost of each day; the tokens, if no cost is known.

use maud::{Markup, html};
use snell::Timestamp;
use snell_store::usage::{UsagePart, UsageSummary};

use super::params::UsageParams;
use super::{describe_usage, format_tokens};
use crate::web::buckets::{DAY, floor_to_bucket, list_buckets};
use crate::web::chart::{ChartBar, SvgChart};

/// The labels of the time axis, by the number of days.
const MONTH_LABELS: &[(f64, &str)] = &[(0.0, "30 d ago"), (1.0 / 3.0, "20 d"), (2.0 / 3.0, "10 d"), (1.0, "today")];
const WEEK_LABELS: &[(f64, &str)] = &[(0.0, "7 d ago"), (1.0, "today")];

pub(super) fn render_cost_chart(days: &UsageSummary, params: &UsageParams, now: Timestamp) -> Markup {
    let has_cost = days.parts.iter().any(|day| day.cost.usd().is_some_and(|usd| usd > 0.0));
    let slots: Vec<_> = list_buckets(floor_to_bucket(now, DAY), DAY, params.period.1)
        .into_iter()
        .map(|begins| begins.strftime("%Y-%m-%d").to_string())
        .map(|day| days.parts.iter().find(|part| part.key.day.is_some_and(|of_part| of_part.to_string() == day)))
        .collect();
    let value = |day: &UsagePart| if has_cost { day.cost.usd().unwrap_or(0.0) } else { day.tokens.total() as f64 };
    let bar = |day: &Option<&UsagePart>| -> ChartBar<'static> { vec![("good", day.map_or(0.0, value))] };
    let bars: Vec<_> = slots.iter().map(bar).collect();
    let title = if has_cost { "Cost per day" } else { "Tokens per day" };
    let chart = SvgChart {
        id: "usage-days",
        title,
        summary: days.total.as_ref().map_or_else(String::new, |total| format!("Total: {}.", describe_usage(total))),
        axis_labels: if params.period.1 > 7 { MONTH_LABELS } else { WEEK_LABELS },
        format_value: if has_cost { |usd| format!("${usd}") } else { |tokens| format_tokens(tokens as i64) },
    };
    html! {
        section aria-labelledby="usage-days-heading" {
            h2 #usage-days-heading { (title) }
            figure { (chart.render_bars(&bars, |slot| slots[slot].map(describe_day).unwrap_or_default())) }
            (render_days_table(days))
        }
    }
}

fn describe_day(day: &UsagePart) -> String {
    let date = day.key.day.map(|day| day.to_string()).unwrap_or_default();
    format!("{date}: {}", describe_usage(day))
}

fn render_days_table(days: &UsageSummary) -> Markup {
    html! {
        details #usage-days-table {
            summary { "Show as table" }
            div.scroll tabindex="0" role="region" aria-label="Cost per day" { table.small {
                thead { tr { th scope="col" { "Day" } th scope="col" { "Cost" } th scope="col" { "Tokens" } } }
                tbody { @for day in days.parts.iter().rev() {
                    tr {
                        th scope="row" { @if let Some(date) = day.key.day { (date.to_string()) } }
                        td { (day.cost.to_string()) }
                        td { (format_tokens(day.tokens.total())) }
                    }
                } }
            } }
        }
    }
}
