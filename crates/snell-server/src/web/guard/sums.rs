//! What the guard said in sum: over time, and by rule.

use std::collections::BTreeMap;
use std::time::Duration;

use maud::{Markup, html};
use snell::Timestamp;
use snell_store::{GuardHour, GuardOutcome};

use super::asked::{Asked, PERIODS};
use super::{MAX_COUNTED, class, word};
use crate::web::chart::{Bar, Chart};
use crate::web::slots::{DAY, HOUR, begin, slots};
use crate::web::words::{ago, clock, cut};

/// How far back verdicts are counted.
pub(super) const MONTH: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// How many rules are listed.
const MAX_RULES: usize = 200;

/// How the time is divided: how long a piece is, how many there are, and what stands below them.
struct Division {
    piece: Duration,
    count: u32,
    form: &'static str,
    /// How the table says when a piece began.
    begun: fn(Timestamp) -> Markup,
    marks: &'static [(f64, &'static str)],
}

const BY_DAY: Division = Division {
    piece: DAY,
    count: 30,
    form: "%Y-%m-%d",
    // A day that begins at midnight UTC is the same day for everybody.
    begun: |day| html! { (day.strftime("%Y-%m-%d").to_string()) },
    marks: &[
        (0.0, "30 d ago"),
        (1.0 / 3.0, "20 d"),
        (2.0 / 3.0, "10 d"),
        (1.0, "today"),
    ],
};

const BY_HOUR: Division = Division {
    piece: HOUR,
    count: 24,
    form: "%H:%M UTC",
    begun: clock,
    marks: &[
        (0.0, "24 h ago"),
        (0.25, "18 h"),
        (0.5, "12 h"),
        (0.75, "6 h"),
        (1.0, "now"),
    ],
};

/// How often each outcome came.
type Counts = [i64; GuardOutcome::ALL.len()];

fn add(counts: &mut Counts, hour: &GuardHour) {
    let place = GuardOutcome::ALL.iter().position(|outcome| *outcome == hour.outcome);
    if let Some(count) = place.and_then(|place| counts.get_mut(place)) {
        *count += hour.verdicts;
    }
}

fn each(counts: &Counts) -> impl Iterator<Item = (GuardOutcome, i64)> {
    GuardOutcome::ALL.iter().copied().zip(counts.iter().copied())
}

/// What was said in each piece of the time, chosen by rule, tier and decision.
fn counted(hours: &[GuardHour], asked: &Asked, division: &Division, now: Timestamp) -> Vec<(Timestamp, Counts)> {
    let last = begin(now, division.piece);
    let pieces = slots(last, division.piece, division.count);
    let mut counted: Vec<_> = pieces.into_iter().map(|begins| (begins, Counts::default())).collect();
    for hour in hours.iter().filter(|hour| is_asked_for(hour, asked)) {
        let begins = begin(hour.begins, division.piece);
        if let Some((_, counts)) = counted.iter_mut().find(|(piece, _)| *piece == begins) {
            add(counts, hour);
        }
    }
    counted
}

fn is_asked_for(hour: &GuardHour, asked: &Asked) -> bool {
    let filter = &asked.filter;
    filter.rule.as_ref().is_none_or(|rule| *rule == hour.rule)
        && filter.tier.as_ref().is_none_or(|tier| *tier == hour.tier)
        && filter.outcome.is_none_or(|outcome| outcome == hour.outcome)
}

/// The chart of verdicts over time, and the same as a table.
pub(super) fn over_time(hours: &[GuardHour], asked: &Asked, now: Timestamp) -> Markup {
    let division = if asked.period == "day" { &BY_HOUR } else { &BY_DAY };
    let counted = counted(hours, asked, division, now);
    let bar = |(_, counts): &(Timestamp, Counts)| -> Bar<'static> {
        each(counts)
            .map(|(outcome, count)| (class(outcome), count as f64))
            .collect()
    };
    let bars: Vec<_> = counted.iter().map(bar).collect();
    let told = |slot: usize| {
        let (begins, counts) = &counted[slot];
        format!("{}: {}", begins.strftime(division.form), in_words(counts))
    };
    let mut all = Counts::default();
    counted
        .iter()
        .flat_map(|(_, counts)| counts.iter().enumerate())
        .for_each(|(place, count)| all[place] += count);
    let chart = Chart {
        id: "verdicts",
        title: "What the guard said over time",
        summary: format!("In all: {}.", in_words(&all)),
        marks: division.marks,
        written: |value| {
            if value.fract() == 0.0 {
                value.to_string()
            } else {
                String::new()
            }
        },
    };
    html! {
        section aria-labelledby="verdicts-heading" {
            h2 #verdicts-heading { "Over time" }
            nav.choice aria-label="Time" {
                @for (period, name) in PERIODS {
                    a href=(asked.over(period)) aria-current=[(*period == asked.period).then_some("true")] { (name) } " "
                }
            }
            figure {
                (chart.bars(&bars, told))
                figcaption.legend {
                    @for outcome in [GuardOutcome::Denied, GuardOutcome::Asked, GuardOutcome::Allowed] {
                        span class={ "key " (class(outcome)) } { (word(outcome)) } " "
                    }
                    span.key.watched { "◌ would be blocked or asked, but the guard only watches" }
                    @if let Some(agent) = asked.filter.agent_id { " " span.quiet { (only(agent, hours)) } }
                }
            }
            (as_table(&counted, division))
        }
    }
}

/// Whose verdicts are counted, and how many at most.
fn only(agent_id: i64, hours: &[GuardHour]) -> String {
    let all: i64 = hours.iter().map(|hour| hour.verdicts).sum();
    if all >= i64::from(MAX_COUNTED) {
        format!("about agent #{agent_id} alone, its latest {MAX_COUNTED} verdicts")
    } else {
        format!("about agent #{agent_id} alone")
    }
}

/// How often each outcome came, in words: only those that did.
fn in_words(counts: &Counts) -> String {
    let came: Vec<_> = each(counts)
        .filter(|(_, count)| *count > 0)
        .map(|(outcome, count)| format!("{count} {}", plain(outcome)))
        .collect();
    if came.is_empty() {
        "nothing".to_owned()
    } else {
        came.join(", ")
    }
}

/// What came of a verdict, without its shape.
fn plain(outcome: GuardOutcome) -> &'static str {
    let word = word(outcome);
    word.split_once(' ').map_or(word, |(_, plain)| plain)
}

fn as_table(counted: &[(Timestamp, Counts)], division: &Division) -> Markup {
    let is_something = |(_, counts): &&(Timestamp, Counts)| counts.iter().any(|count| *count > 0);
    html! {
        details #verdicts-table {
            summary { "The same as a table" }
            div.scroll tabindex="0" role="region" aria-label="What the guard said over time" { table.small {
                thead { tr { th scope="col" { "From" } @for outcome in GuardOutcome::ALL { th scope="col" { (plain(*outcome)) } } } }
                tbody { @for (begins, counts) in counted.iter().rev().filter(is_something) {
                    tr { th scope="row" { ((division.begun)(*begins)) } @for count in counts { td { (count) } } }
                } }
            } }
        }
    }
}

/// What is known of a rule.
#[derive(Clone, Copy, Debug, Default)]
struct Rule {
    counts: Counts,
    last_at: Timestamp,
}

/// Verdicts by rule, the most frequent first.
pub(super) fn by_rule(hours: &[GuardHour], asked: &Asked, now: Timestamp) -> Markup {
    let mut rules: BTreeMap<(&str, &str), Rule> = BTreeMap::new();
    for hour in hours {
        let rule = rules.entry((&hour.rule, &hour.tier)).or_default();
        add(&mut rule.counts, hour);
        rule.last_at = rule.last_at.max(hour.last_at);
    }
    let mut rules: Vec<_> = rules.into_iter().collect();
    rules.sort_by_key(|(_, rule)| std::cmp::Reverse(rule.counts.iter().sum::<i64>()));
    html! {
        section aria-labelledby="rules-title" {
            h2 #rules-title {
                "By rule, within 30 days"
                @if let Some(agent) = asked.filter.agent_id { ", " (only(agent, hours)) }
            }
            @if rules.is_empty() {
                p.quiet { "The guard had nothing to say." }
            } @else {
                table.costs.rules role="table" {
                    thead role="rowgroup" { tr role="row" {
                        th scope="col" role="columnheader" { "Rule" }
                        th scope="col" role="columnheader" title="what kind of harm the rule is about" { "Tier" }
                        @for outcome in GuardOutcome::ALL { th scope="col" role="columnheader" { (plain(*outcome)) } }
                        th scope="col" role="columnheader" { "Last" }
                    } }
                    tbody role="rowgroup" { @for ((name, tier), rule) in rules.iter().take(MAX_RULES) {
                        tr.chosen[asked.filter.rule.as_deref() == Some(name)] role="row" {
                            th role="rowheader" scope="row" { a href=(asked.of_rule(name)) { code { (cut(name, 100)) } } }
                            td role="cell" data-label="Tier" { (cut(tier, 40)) }
                            @for (outcome, count) in each(&rule.counts) {
                                td role="cell" data-label=(plain(outcome)) {
                                    @if count > 0 { strong class=(class(outcome)) { (count) } } @else { span.quiet { "0" } }
                                }
                            }
                            td role="cell" data-label="Last" { (ago(rule.last_at, now)) }
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

    fn hour(begins: &str, rule: &str, outcome: GuardOutcome, verdicts: i64) -> GuardHour {
        let begins: Timestamp = begins.parse().unwrap();
        GuardHour {
            begins,
            rule: rule.to_owned(),
            tier: "t".to_owned(),
            outcome,
            verdicts,
            last_at: begins,
        }
    }

    #[test]
    fn verdicts_are_counted_in_the_hour_and_on_the_day_they_were_said() {
        let now = "2026-03-02T12:30:00Z".parse().unwrap();
        let hours = [
            hour("2026-03-02T12:00:00Z", "a", GuardOutcome::Denied, 2),
            hour("2026-03-02T03:00:00Z", "b", GuardOutcome::WouldAsk, 3),
            hour("2026-03-01T03:00:00Z", "a", GuardOutcome::Asked, 4),
            hour("2026-01-01T03:00:00Z", "a", GuardOutcome::Asked, 9),
        ];
        let told = |query: &str, division: &Division| -> Vec<_> {
            let asked = Asked::read(Some(query)).unwrap();
            let counted = counted(&hours, &asked, division, now);
            assert_eq!(counted.len(), division.count as usize);
            let some = counted.into_iter().filter(|(_, counts)| *counts != Counts::default());
            some.map(|(begins, counts)| format!("{begins} {}", in_words(&counts)))
                .collect()
        };
        assert_eq!(
            told("", &BY_DAY),
            [
                "2026-03-01T00:00:00Z 4 asked",
                "2026-03-02T00:00:00Z 2 blocked, 3 would be asked"
            ]
        );
        assert_eq!(
            told("", &BY_HOUR),
            [
                "2026-03-02T03:00:00Z 3 would be asked",
                "2026-03-02T12:00:00Z 2 blocked"
            ]
        );
        assert_eq!(
            told("rule=a&decision=deny", &BY_DAY),
            ["2026-03-02T00:00:00Z 2 blocked"]
        );
        assert_eq!(told("tier=x", &BY_DAY), [""; 0]);
    }
}
