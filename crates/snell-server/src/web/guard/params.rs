//! The query parameters of the guard's verdicts.

use std::collections::BTreeSet;

use maud::{Markup, html};
use snell_store::{GuardFilter, GuardHour, GuardOutcome};

use super::{outcome_label, plain_outcome_label};
use crate::http::errors::HttpError;
use crate::http::query_params::{QueryParams, parse_id};
use crate::web::filter_form::{FilterForm, FormValues};
use crate::web::format::canonical_decision;
use crate::web::page_url::build_url;

/// The periods: their parameter values and labels.
pub(super) const PERIODS: &[(&str, &str)] = &[("month", "30 days"), ("day", "24 hours")];

/// The filters of verdicts.
pub(super) const FILTER_FIELDS: &[&str] = &["rule", "tier", "decision", "agent_id"];

/// The period, and the start of a page.
pub(super) const PAGING_FIELDS: &[&str] = &["period", "before"];

/// The query parameters.
#[derive(Clone, Debug)]
pub(super) struct GuardParams {
    pub(super) filter: GuardFilter,
    pub(super) period: &'static str,
    /// The values of the form.
    pub(super) values: FormValues,
}

impl GuardParams {
    pub(super) fn parse(query: &QueryParams<'_>) -> Result<Self, HttpError> {
        let period = query.choice_from("period", PERIODS, |period| period.0)?;
        let parse = |name: &str| GuardOutcome::parse(canonical_decision(name));
        let outcomes = GuardOutcome::ALL.iter().map(|outcome| plain_outcome_label(*outcome));
        Ok(Self {
            filter: GuardFilter {
                rule: query.owned_text("rule"),
                tier: query.owned_text("tier"),
                outcome: query.choice("decision", parse, outcomes)?,
                agent_id: query.agent_id("agent_id")?,
                before_id: query.older_than_cursor(parse_id)?,
                ..GuardFilter::default()
            },
            period: period.unwrap_or(&PERIODS[0]).0,
            values: FormValues::from_query(query, FILTER_FIELDS),
        })
    }

    /// The address of the same filters, from a verdict on.
    pub(super) fn url_for(&self, path: &str, before: Option<i64>) -> String {
        let before = before.map(|before| before.to_string()).unwrap_or_default();
        let place = [("period", self.period_param()), ("before", before.as_str())];
        build_url(path, self.values.pairs().chain(place))
    }

    /// The address of the same filters with another period.
    pub(super) fn url_for_period(&self, period: &'static str) -> String {
        let other = Self { period, ..self.clone() };
        other.url_for("/guard", None)
    }

    /// The address of one rule.
    pub(super) fn url_for_rule(&self, rule: &str) -> String {
        let agent = self.values.value("agent_id");
        build_url("/guard", [("rule", rule), ("agent_id", agent), ("period", self.period_param())])
    }

    pub(super) fn period_param(&self) -> &'static str {
        if self.period == PERIODS[0].0 { "" } else { self.period }
    }

    /// Every filter has this value, for tests.
    #[cfg(test)]
    pub(super) fn with_text(text: &str) -> Self {
        Self { filter: GuardFilter::default(), period: PERIODS[0].0, values: FormValues::with_all(FILTER_FIELDS, text) }
    }
}

/// The filter form, which works without scripts. It offers the rules and tiers of recorded verdicts.
pub(super) fn render_filter_form(form: FilterForm<'_>, period: &str, hours: &[GuardHour]) -> Markup {
    let rules: BTreeSet<_> = hours.iter().map(|hour| hour.rule.as_str()).collect();
    let tiers: BTreeSet<_> = hours.iter().map(|hour| hour.tier.as_str()).collect();
    html! {
        (form.render_error())
        form.filter.fields method="get" action="/guard" role="search" aria-label="Decisions" {
            label { "Rule " input name="rule" value=(form.escaped_value("rule")) list="rules" autocomplete="off"; }
            datalist #rules { @for rule in rules { option value=(rule) {} } }
            label { "Tier " input name="tier" value=(form.escaped_value("tier")) list="tiers" autocomplete="off" size="12"; }
            datalist #tiers { @for tier in tiers { option value=(tier) {} } }
            label { "Decision "
                select name="decision" aria-invalid=[form.aria_invalid("decision")] aria-describedby=[form.aria_describedby("decision")] {
                    option value="" { "any" }
                    @for outcome in GuardOutcome::ALL {
                        option value=(outcome) selected[canonical_decision(form.value("decision")) == outcome.as_str()] { (outcome_label(*outcome)) }
                    }
                }
            }
            label { "Agent " input name="agent_id" value=(form.escaped_value("agent_id")) inputmode="numeric" size="6"
                aria-invalid=[form.aria_invalid("agent_id")] aria-describedby=[form.aria_describedby("agent_id")]; }
            @if !period.is_empty() { input type="hidden" name="period" value=(period); }
            button { "Filter" }
            @if !form.values.is_empty() { a href="/guard" { "Clear the filter" } }
        }
    }
}
