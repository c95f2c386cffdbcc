//! What is asked of the guard's verdicts.

use std::collections::BTreeSet;

use maud::{Markup, html};
use snell_store::{GuardFilter, GuardHour, GuardOutcome};

use super::word;
use crate::error::Refusal;
use crate::query::{Query, id};
use crate::web::address::address;
use crate::web::form::{Form, Told};
use crate::web::words::decision;

/// Over what time verdicts are shown: its name in an address, and what it is called.
pub(super) const PERIODS: &[(&str, &str)] = &[("month", "30 days"), ("day", "24 hours")];

/// By what verdicts can be chosen.
pub(super) const FILTERS: &[&str] = &["rule", "tier", "decision", "agent_id"];

/// Over what time, and where a page begins.
pub(super) const PLACE: &[&str] = &["period", "before"];

/// What is asked.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) filter: GuardFilter,
    pub(super) period: &'static str,
    /// What each filter was told.
    pub(super) told: Told,
}

impl Asked {
    pub(super) fn read(query: Option<&str>) -> Result<Self, Refusal> {
        let query = Query::read_with(query, FILTERS, PLACE)?;
        let period = |word: &str| PERIODS.iter().map(|period| period.0).find(|known| *known == word);
        let period = query.word("period", period, PERIODS.iter().map(|period| period.0))?;
        let parse = |told: &str| GuardOutcome::parse(decision(told));
        let outcomes = GuardOutcome::ALL.iter().map(|outcome| without_mark(*outcome));
        Ok(Self {
            filter: GuardFilter {
                rule: query.string("rule"),
                tier: query.string("tier"),
                outcome: query.word("decision", parse, outcomes)?,
                agent_id: query.agent("agent_id")?,
                before_id: query.older_than(id)?,
                ..GuardFilter::default()
            },
            period: period.unwrap_or(PERIODS[0].0),
            told: Told::read(&query, FILTERS),
        })
    }

    /// An address that asks for the same, from a place on.
    pub(super) fn path(&self, path: &str, before: Option<i64>) -> String {
        let before = before.map(|before| before.to_string()).unwrap_or_default();
        let place = [("period", self.period_told()), ("before", before.as_str())];
        address(path, self.told.pairs().chain(place))
    }

    /// An address that asks for the same over another time.
    pub(super) fn over(&self, period: &'static str) -> String {
        let other = Self { period, ..self.clone() };
        other.path("/guard", None)
    }

    /// An address that asks for one rule.
    pub(super) fn of_rule(&self, rule: &str) -> String {
        let agent = self.told.of("agent_id");
        address(
            "/guard",
            [("rule", rule), ("agent_id", agent), ("period", self.period_told())],
        )
    }

    pub(super) fn period_told(&self) -> &'static str {
        if self.period == PERIODS[0].0 { "" } else { self.period }
    }

    /// Every filter is told this, for tests.
    #[cfg(test)]
    pub(super) fn with(text: &str) -> Self {
        Self {
            filter: GuardFilter::default(),
            period: PERIODS[0].0,
            told: Told::with(FILTERS, text),
        }
    }
}

/// What came of a verdict, in words alone.
fn without_mark(outcome: GuardOutcome) -> &'static str {
    let word = word(outcome);
    word.split_once(' ').map_or(word, |(_, word)| word)
}

/// The choice of verdicts: a form that needs no script. It offers the rules and tiers that were heard of.
pub(super) fn form(asked: Form<'_>, period: &str, hours: &[GuardHour]) -> Markup {
    let rules: BTreeSet<_> = hours.iter().map(|hour| hour.rule.as_str()).collect();
    let tiers: BTreeSet<_> = hours.iter().map(|hour| hour.tier.as_str()).collect();
    html! {
        (asked.message())
        form.filter.fields method="get" action="/guard" role="search" aria-label="Verdicts" {
            label { "Rule " input name="rule" value=(asked.typed("rule")) list="rules" autocomplete="off"; }
            datalist #rules { @for rule in rules { option value=(rule) {} } }
            label { "Tier " input name="tier" value=(asked.typed("tier")) list="tiers" autocomplete="off" size="12"; }
            datalist #tiers { @for tier in tiers { option value=(tier) {} } }
            label { "Decision "
                select name="decision" aria-invalid=[asked.wrong("decision")] aria-describedby=[asked.why("decision")] {
                    option value="" { "any" }
                    @for outcome in GuardOutcome::ALL {
                        option value=(outcome) selected[decision(asked.of("decision")) == outcome.as_str()] { (word(*outcome)) }
                    }
                }
            }
            label { "Agent " input name="agent_id" value=(asked.typed("agent_id")) inputmode="numeric" size="6"
                aria-invalid=[asked.wrong("agent_id")] aria-describedby=[asked.why("agent_id")]; }
            @if !period.is_empty() { input type="hidden" name="period" value=(period); }
            button { "Show" }
            @if !asked.told.is_empty() { a href="/guard" { "Everything" } }
        }
    }
}
