//! Counts of verdicts: over time and by rule.

use std::collections::BTreeMap;
use std::time::Duration;

use maud::{Markup, html};
use snell::Timestamp;
use snell_store::{GuardHour, GuardOutcome};

use super::data::MAX_COUNTED;
use super::params::{GuardParams, PERIODS};
use super::{outcome_class, outcome_label, plain_outcome_label};
use crate::web::buckets::{DAY, HOUR, floor_to_bucket, list_buckets};
use crate::web::chart::{ChartBar, SvgChart};
use crate::web::format::{render_ago, render_clock, truncate_text};

/// The period of the counts.
pub(super) const MONTH: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The maximum number of listed rules.
const MAX_RULES: usize = 200;

/// The buckets of a chart: their length, number and axis labels.
struct TimeDivision {
    bucket: Duration,
    count: u32,
    time_format: &'static str,
    /// Renders the start of a bucket in the table.
    render_start: fn(Timestamp) -> Markup,
    axis_labels: &'static [(f64, &'static str)],
}

const BY_DAY: TimeDivision = TimeDivision {
    bucket: DAY,
    count: 30,
    time_format: "%Y-%m-%d",
    // Days begin at midnight UTC for every reader.
    render_start: |day| html! { (day.strftime("%Y-%m-%d").to_string()) },
    axis_labels: &[(0.0, "30 d ago"), (1.0 / 3.0, "20 d"), (2.0 / 3.0, "10 d"), (1.0, "today")],
};

const BY_HOUR: TimeDivision = TimeDivision {
    bucket: HOUR,
    count: 24,
    time_format: "%H:%M UTC",
    render_start: render_clock,
    axis_labels: &[(0.0, "24 h ago"), (0.25, "18 h"), (0.5, "12 h"), (0.75, "6 h"), (1.0, "now")],
};

/// The number of verdicts per outcome.
type OutcomeCounts = [i64; GuardOutcome::ALL.len()];

fn add_hour(counts: &mut OutcomeCounts, hour: &GuardHour) {
    let place = GuardOutcome::ALL.iter().position(|outcome| *outcome == hour.outcome);
    if let Some(count) = place.and_then(|place| counts.get_mut(place)) {
        *count += hour.verdicts;
    }
}

fn iter_outcomes(counts: &OutcomeCounts) -> impl Iterator<Item = (GuardOutcome, i64)> {
    GuardOutcome::ALL.iter().copied().zip(counts.iter().copied())
}

/// The counts per bucket, filtered by rule, tier and decision.
fn count_by_bucket(
    hours: &[GuardHour],
    params: &GuardParams,
    division: &TimeDivision,
    now: Timestamp,
) -> Vec<(Timestamp, OutcomeCounts)> {
    let last = floor_to_bucket(now, division.bucket);
    let pieces = list_buckets(last, division.bucket, division.count);
    let mut counted: Vec<_> = pieces.into_iter().map(|begins| (begins, OutcomeCounts::default())).collect();
    for hour in hours.iter().filter(|hour| matches_filter(hour, params)) {
        let begins = floor_to_bucket(hour.begins, division.bucket);
        if let Some((_, counts)) = counted.iter_mut().find(|(piece, _)| *piece == begins) {
            add_hour(counts, hour);
        }
    }
    counted
}

fn matches_filter(hour: &GuardHour, params: &GuardParams) -> bool {
    let filter = &params.filter;
    filter.rule.as_ref().is_none_or(|rule| *rule == hour.rule)
        && filter.tier.as_ref().is_none_or(|tier| *tier == hour.tier)
        && filter.outcome.is_none_or(|outcome| outcome == hour.outcome)
}

/// The chart of verdicts over time, and a table with the same data.
pub(super) fn render_over_time(hours: &[GuardHour], params: &GuardParams, now: Timestamp) -> Markup {
    let division = if params.period == "day" { &BY_HOUR } else { &BY_DAY };
    let counted = count_by_bucket(hours, params, division, now);
    let bar = |(_, counts): &(Timestamp, OutcomeCounts)| -> ChartBar<'static> {
        iter_outcomes(counts).map(|(outcome, count)| (outcome_class(outcome), count as f64)).collect()
    };
    let bars: Vec<_> = counted.iter().map(bar).collect();
    let describe_slot = |slot: usize| {
        let (begins, counts) = &counted[slot];
        format!("{}: {}", begins.strftime(division.time_format), describe_counts(counts))
    };
    let mut all = OutcomeCounts::default();
    counted.iter().flat_map(|(_, counts)| counts.iter().enumerate()).for_each(|(place, count)| all[place] += count);
    let chart = SvgChart {
        id: "verdicts",
        title: "Guard decisions over time",
        summary: format!("Total: {}.", describe_counts(&all)),
        axis_labels: division.axis_labels,
        format_value: |value| {
            if value.fract() == 0.0 { value.to_string() } else { String::new() }
        },
    };
    html! {
        section aria-labelledby="verdicts-heading" {
            h2 #verdicts-heading { "Decisions over time" }
            nav.choice aria-label="Time" {
                @for (period, name) in PERIODS {
                    a href=(params.url_for_period(period)) aria-current=[(*period == params.period).then_some("true")] { (name) } " "
                }
            }
            figure {
                (chart.render_bars(&bars, describe_slot))
                figcaption.legend {
                    @for outcome in [GuardOutcome::Denied, GuardOutcome::Asked, GuardOutcome::Allowed] {
                        span class={ "key " (outcome_class(outcome)) } { (outcome_label(outcome)) } " "
                    }
                    span.key.watched { "◌ would be blocked or asked (audit mode)" }
                    @if let Some(agent) = params.filter.agent_id { " " span.quiet { (describe_agent_scope(agent, hours)) } }
                }
            }
            (render_table(&counted, division))
        }
    }
}

/// The agent whose verdicts are counted, and their maximum number.
fn describe_agent_scope(agent_id: i64, hours: &[GuardHour]) -> String {
    let all: i64 = hours.iter().map(|hour| hour.verdicts).sum();
    if all >= i64::from(MAX_COUNTED) {
        format!("only agent #{agent_id}, its latest {MAX_COUNTED} decisions")
    } else {
        format!("only agent #{agent_id}")
    }
}

/// The counts in words, without zeros.
fn describe_counts(counts: &OutcomeCounts) -> String {
    let came: Vec<_> = iter_outcomes(counts)
        .filter(|(_, count)| *count > 0)
        .map(|(outcome, count)| format!("{count} {}", plain_outcome_label(outcome)))
        .collect();
    if came.is_empty() { "none".to_owned() } else { came.join(", ") }
}

fn render_table(counted: &[(Timestamp, OutcomeCounts)], division: &TimeDivision) -> Markup {
    let is_something = |(_, counts): &&(Timestamp, OutcomeCounts)| counts.iter().any(|count| *count > 0);
    html! {
        details #verdicts-table {
            summary { "Show as table" }
            div.scroll tabindex="0" role="region" aria-label="Guard decisions over time" { table.small {
                thead { tr { th scope="col" { "From" } @for outcome in GuardOutcome::ALL { th scope="col" { (plain_outcome_label(*outcome)) } } } }
                tbody { @for (begins, counts) in counted.iter().rev().filter(is_something) {
                    tr { th scope="row" { ((division.render_start)(*begins)) } @for count in counts { td { (count) } } }
                } }
            } }
        }
    }
}

/// The counts of a rule.
#[derive(Clone, Copy, Debug, Default)]
struct RuleStats {
    counts: OutcomeCounts,
    last_at: Timestamp,
}

/// Verdicts by rule, the most frequent first.
pub(super) fn render_by_rule(hours: &[GuardHour], params: &GuardParams, now: Timestamp) -> Markup {
    let mut rules: BTreeMap<(&str, &str), RuleStats> = BTreeMap::new();
    for hour in hours {
        let rule = rules.entry((&hour.rule, &hour.tier)).or_default();
        add_hour(&mut rule.counts, hour);
        rule.last_at = rule.last_at.max(hour.last_at);
    }
    let mut rules: Vec<_> = rules.into_iter().collect();
    rules.sort_by_key(|(_, rule)| std::cmp::Reverse(rule.counts.iter().sum::<i64>()));
    html! {
        section aria-labelledby="rules-title" {
            h2 #rules-title {
                "By rule, last 30 days"
                @if let Some(agent) = params.filter.agent_id { ", " (describe_agent_scope(agent, hours)) }
            }
            @if rules.is_empty() {
                p.quiet { "No guard decisions in the last 30 days." }
            } @else {
                table.costs.rules role="table" {
                    thead role="rowgroup" { tr role="row" {
                        th scope="col" role="columnheader" { "Rule" }
                        th scope="col" role="columnheader" title="the group of the rule, by severity" { "Tier" }
                        @for outcome in GuardOutcome::ALL { th scope="col" role="columnheader" { (plain_outcome_label(*outcome)) } }
                        th scope="col" role="columnheader" { "Last" }
                    } }
                    tbody role="rowgroup" { @for ((name, tier), rule) in rules.iter().take(MAX_RULES) {
                        tr.chosen[params.filter.rule.as_deref() == Some(name)] role="row" {
                            th role="rowheader" scope="row" { a href=(params.url_for_rule(name)) { code { (truncate_text(name, 100)) } } }
                            td role="cell" data-label="Tier" { (truncate_text(tier, 40)) }
                            @for (outcome, count) in iter_outcomes(&rule.counts) {
                                td role="cell" data-label=(plain_outcome_label(outcome)) {
                                    @if count > 0 { strong class=(outcome_class(outcome)) { (count) } } @else { span.quiet { "0" } }
                                }
                            }
                            td role="cell" data-label="Last" { (render_ago(rule.last_at, now)) }
                        }
                    } }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::query_params::QueryParams;
    use crate::web::guard::params;

    fn sample_hour(begins: &str, rule: &str, outcome: GuardOutcome, verdicts: i64) -> GuardHour {
        let begins: Timestamp = begins.parse().unwrap();
        GuardHour { begins, rule: rule.to_owned(), tier: "t".to_owned(), outcome, verdicts, last_at: begins }
    }

    #[test]
    fn verdicts_are_counted_in_their_hour_and_on_their_day() {
        let now = "2026-03-02T12:30:00Z".parse().unwrap();
        let hours = [
            sample_hour("2026-03-02T12:00:00Z", "a", GuardOutcome::Denied, 2),
            sample_hour("2026-03-02T03:00:00Z", "b", GuardOutcome::WouldAsk, 3),
            sample_hour("2026-03-01T03:00:00Z", "a", GuardOutcome::Asked, 4),
            sample_hour("2026-01-01T03:00:00Z", "a", GuardOutcome::Asked, 9),
        ];
        let count = |query: &str, division: &TimeDivision| -> Vec<_> {
            let query = QueryParams::parse_with(Some(query), params::FILTER_FIELDS, params::PAGING_FIELDS).unwrap();
            let params = GuardParams::parse(&query).unwrap();
            let counted = count_by_bucket(&hours, &params, division, now);
            assert_eq!(counted.len(), division.count as usize);
            let some = counted.into_iter().filter(|(_, counts)| *counts != OutcomeCounts::default());
            some.map(|(begins, counts)| format!("{begins} {}", describe_counts(&counts))).collect()
        };
        assert_eq!(
            count("", &BY_DAY),
            ["2026-03-01T00:00:00Z 4 asked", "2026-03-02T00:00:00Z 2 blocked, 3 would be asked"]
        );
        assert_eq!(count("", &BY_HOUR), ["2026-03-02T03:00:00Z 3 would be asked", "2026-03-02T12:00:00Z 2 blocked"]);
        assert_eq!(count("rule=a&decision=deny", &BY_DAY), ["2026-03-02T00:00:00Z 2 blocked"]);
        assert_eq!(count("tier=x", &BY_DAY), [""; 0]);
    }
}
