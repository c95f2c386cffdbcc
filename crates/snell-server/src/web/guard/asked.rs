//! What is asked of the guard's verdicts.

use std::collections::BTreeSet;

use maud::{Markup, html};
use snell_store::{GuardFilter, GuardHour, GuardOutcome};

use super::word;
use crate::error::Refusal;
use crate::query::{Query, id};
use crate::web::address::address;

/// Over what time verdicts are shown: its name in an address, and what it is called.
pub(super) const PERIODS: &[(&str, &str)] = &[("month", "30 days"), ("day", "24 hours")];

/// By what verdicts can be chosen.
const FILTERS: &[&str] = &["rule", "tier", "decision", "agent_id"];

/// What is asked.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) filter: GuardFilter,
    pub(super) period: &'static str,
    /// What each filter was told, as it was written.
    told: Vec<(&'static str, String)>,
}

impl Asked {
    pub(super) fn read(query: Option<&str>) -> Result<Self, Refusal> {
        let query = Query::read(query, &["rule", "tier", "decision", "agent_id", "period", "before"])?;
        let period = |word: &str| PERIODS.iter().map(|period| period.0).find(|known| *known == word);
        let period = query.word("period", period, PERIODS.iter().map(|period| period.0))?;
        let outcomes = GuardOutcome::ALL.iter().map(|outcome| outcome.as_str());
        let told = FILTERS.iter().filter_map(|name| Some((*name, query.string(name)?)));
        Ok(Self {
            filter: GuardFilter {
                rule: query.string("rule"),
                tier: query.string("tier"),
                outcome: query.word("decision", GuardOutcome::parse, outcomes)?,
                agent_id: query.id("agent_id")?,
                before_id: query.before(id)?,
                ..GuardFilter::default()
            },
            period: period.unwrap_or(PERIODS[0].0),
            told: told.collect(),
        })
    }

    /// What a filter was told; nothing is an empty text.
    pub(super) fn told(&self, name: &str) -> &str {
        let found = self.told.iter().find(|(other, _)| *other == name);
        found.map_or("", |(_, value)| value)
    }

    pub(super) fn is_narrowed(&self) -> bool {
        !self.told.is_empty()
    }

    /// An address that asks for the same, from a place on.
    pub(super) fn path(&self, path: &str, before: Option<i64>) -> String {
        let before = before.map(|before| before.to_string()).unwrap_or_default();
        let told = self.told.iter().map(|(name, value)| (*name, value.as_str()));
        address(path, told.chain([("period", self.period_told()), ("before", &before)]))
    }

    /// An address that asks for the same over another time.
    pub(super) fn over(&self, period: &'static str) -> String {
        let other = Self { period, ..self.clone() };
        other.path("/guard", None)
    }

    /// An address that asks for one rule.
    pub(super) fn of_rule(&self, rule: &str) -> String {
        address("/guard", [("rule", rule), ("period", self.period_told())])
    }

    fn period_told(&self) -> &'static str {
        if self.period == PERIODS[0].0 { "" } else { self.period }
    }

    /// Every filter is told this, for tests.
    #[cfg(test)]
    pub(super) fn with(text: &str) -> Self {
        Self {
            filter: GuardFilter::default(),
            period: PERIODS[0].0,
            told: FILTERS.iter().map(|name| (*name, text.to_owned())).collect(),
        }
    }
}

/// The choice of verdicts: a form that needs no script. It offers the rules and tiers that were heard of.
pub(super) fn form(asked: &Asked, hours: &[GuardHour]) -> Markup {
    let rules: BTreeSet<_> = hours.iter().map(|hour| hour.rule.as_str()).collect();
    let tiers: BTreeSet<_> = hours.iter().map(|hour| hour.tier.as_str()).collect();
    html! {
        form.filter.fields method="get" action="/guard" role="search" aria-label="Verdicts" {
            label { "Rule " input name="rule" value=(asked.told("rule")) list="rules" autocomplete="off"; }
            datalist #rules { @for rule in rules { option value=(rule) {} } }
            label { "Tier " input name="tier" value=(asked.told("tier")) list="tiers" autocomplete="off" size="12"; }
            datalist #tiers { @for tier in tiers { option value=(tier) {} } }
            label { "Decision "
                select name="decision" {
                    option value="" { "any" }
                    @for outcome in GuardOutcome::ALL {
                        option value=(outcome) selected[asked.told("decision") == outcome.as_str()] { (word(*outcome)) }
                    }
                }
            }
            label { "Agent " input name="agent_id" value=(asked.told("agent_id")) inputmode="numeric" size="6"; }
            @if !asked.period_told().is_empty() { input type="hidden" name="period" value=(asked.period); }
            button { "Show" }
            @if asked.is_narrowed() { a href="/guard" { "Everything" } }
        }
    }
}
