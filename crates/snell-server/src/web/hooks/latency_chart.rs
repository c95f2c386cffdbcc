//! The durations of hook runs in each hour of the last day.

use maud::{Markup, html};
use snell::Timestamp;
use snell_store::HookHour;

use super::data::HookUsage;
use super::params::{CHART_HOURS, HooksParams};
use crate::web::buckets::{HOUR, list_buckets};
use crate::web::chart::{ChartLine, SvgChart};
use crate::web::format::{format_duration_ms, pluralize, render_clock, truncate_text};

/// The labels of the time axis.
const AXIS_LABELS: &[(f64, &str)] = &[(0.0, "24 h ago"), (0.25, "18 h"), (0.5, "12 h"), (0.75, "6 h"), (1.0, "now")];

/// The columns of the table and their tooltips.
const COLUMN_HEADS: &[(&str, Option<&str>)] = &[
    ("Hour", None),
    ("Runs", None),
    ("p50", Some("50 % of the runs took at most this long")),
    ("p95", Some("95 % of the runs took at most this long")),
    ("Longest", None),
];

/// The chart, and a table with the same data.
pub(super) fn render_latency_chart(
    hours: &[HookHour],
    this_hour: Timestamp,
    params: HooksParams,
    hook: Option<&HookUsage>,
) -> Markup {
    let slots: Vec<_> = list_buckets(this_hour, HOUR, CHART_HOURS)
        .into_iter()
        .map(|begins| hours.iter().find(|hour| hour.begins == begins))
        .collect();
    let line = |class, value: fn(&HookHour) -> f64| ChartLine {
        class,
        values: slots.iter().map(|hour| hour.map(value)).collect(),
    };
    let lines = [line("p95", |hour| hour.p95_ms), line("p50", |hour| hour.p50_ms)];
    let chart = SvgChart {
        id: "latency",
        title: "Time per hook run in the last 24 hours",
        summary: summarize_hours(hours),
        axis_labels: AXIS_LABELS,
        format_value: format_scale_ms,
    };
    html! {
        section aria-labelledby="latency-heading" {
            h2 #latency-heading {
                "Time per run"
                @if let Some(hook) = hook { ": " code { (truncate_text(&hook.stats.command, 80)) } }
            }
            @if params.hook_id.is_some() {
                p { "Only this hook. " a href=(HooksParams { hook_id: None, ..params }.url_for("/hooks")) { "Show all hooks" } }
            }
            figure {
                (chart.render_lines(&lines, |slot| slots[slot].map(describe_hour).unwrap_or_default()))
                figcaption.legend {
                    span.key.p50 { "p50: 50 % took at most this long" } " " span.key.p95 { "p95: 95 % took at most this long" }
                }
            }
            (render_hours_table(hours))
        }
    }
}

/// A duration as a short label of the value axis.
fn format_scale_ms(ms: f64) -> String {
    let (number, unit) = if ms < 1000.0 { (ms, "ms") } else { (ms / 1000.0, "s") };
    let number = format!("{number:.2}");
    match number.trim_end_matches('0').trim_end_matches('.') {
        "0" => "0".to_owned(),
        number => format!("{number} {unit}"),
    }
}

fn describe_hour(hour: &HookHour) -> String {
    format!(
        "{} UTC: {}, p50 {}, p95 {}",
        hour.begins.strftime("%H:%M"),
        pluralize(hour.runs, "run"),
        format_duration_ms(hour.p50_ms),
        format_duration_ms(hour.p95_ms)
    )
}

fn summarize_hours(hours: &[HookHour]) -> String {
    let slowest = hours.iter().max_by(|a, b| a.p95_ms.total_cmp(&b.p95_ms));
    match slowest {
        None => "No hooks ran in the last 24 hours.".to_owned(),
        Some(slowest) => {
            let runs: i64 = hours.iter().map(|hour| hour.runs).sum();
            format!("{} in the last 24 hours. The slowest hour was {}.", pluralize(runs, "run"), describe_hour(slowest))
        }
    }
}

fn render_hours_table(hours: &[HookHour]) -> Markup {
    html! {
        @if !hours.is_empty() {
            details #latency-table {
                summary { "Show as table" }
                div.scroll tabindex="0" role="region" aria-label="Time per hook run in each hour" { table.small {
                    thead { tr { @for (name, about) in COLUMN_HEADS { th scope="col" title=[about] { (name) } } } }
                    tbody { @for hour in hours.iter().rev() {
                        tr {
                            th scope="row" { (render_clock(hour.begins)) }
                            td { (hour.runs) }
                            td { (format_duration_ms(hour.p50_ms)) }
                            td { (format_duration_ms(hour.p95_ms)) }
                            td { (format_duration_ms(hour.max_ms)) }
                        }
                    } }
                } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_short() {
        let cases = [
            (0.0, "0"),
            (0.25, "0.25 ms"),
            (50.0, "50 ms"),
            (100.0, "100 ms"),
            (2500.0, "2.5 s"),
            (100_000.0, "100 s"),
        ];
        for (ms, expected) in cases {
            assert_eq!(format_scale_ms(ms), expected);
        }
    }

    #[test]
    fn a_chart_has_a_summary() {
        let hour = |second: i64, p95_ms: f64| HookHour {
            begins: Timestamp::from_second(second).unwrap(),
            runs: 3,
            p50_ms: 1.0,
            p95_ms,
            max_ms: p95_ms,
        };
        assert_eq!(summarize_hours(&[]), "No hooks ran in the last 24 hours.");
        assert_eq!(
            summarize_hours(&[hour(0, 5.0), hour(3600, 20.0), hour(7200, 7.0)]),
            "9 runs in the last 24 hours. The slowest hour was 01:00 UTC: 3 runs, p50 1.0 ms, p95 20 ms."
        );
    }
}
