//! How many calls would be decided differently, and by which rules.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use snell_guard::GuardDecision;

use super::replayed_call::ReplayedCall;
use crate::output::{escape_invisible, format_count};

/// The name of each change, for people and in JSON, gravest first.
const DECISION_CHANGES: &[(GuardDecision, GuardDecision, &str, &str)] = &[
    (GuardDecision::Allow, GuardDecision::Deny, "newly denied", "newly_denied"),
    (GuardDecision::Ask, GuardDecision::Deny, "denied instead of asked", "denied_instead_of_asked"),
    (GuardDecision::Allow, GuardDecision::Ask, "newly asked", "newly_asked"),
    (GuardDecision::Deny, GuardDecision::Ask, "asked instead of denied", "asked_instead_of_denied"),
    (GuardDecision::Ask, GuardDecision::Allow, "no longer asked", "no_longer_asked"),
    (GuardDecision::Deny, GuardDecision::Allow, "no longer denied", "no_longer_denied"),
];

/// How many rules are named for each kind of change.
const RULES_NAMED: usize = 5;

/// The counts of a replay.
#[derive(Debug, Default)]
pub(super) struct ReplaySummary {
    calls: usize,
    unchanged: usize,
    masked: usize,
    shortened: usize,
    incomplete: usize,
    /// Whether the settings only watch now.
    pub(super) is_audit: bool,
    /// The calls that would be stopped, by decision and rule.
    stopped: BTreeMap<(Reverse<GuardDecision>, String), StoppedCalls>,
    /// Counts by change and rule.
    changed: BTreeMap<(GuardDecision, GuardDecision), BTreeMap<String, usize>>,
}

/// The calls that one rule would stop.
#[derive(Debug, Default)]
struct StoppedCalls {
    calls: usize,
    agents: BTreeSet<i64>,
    /// The newest call.
    example: String,
}

/// The same as JSON.
#[derive(Serialize)]
struct StoppedCallsView<'a> {
    decision: &'static str,
    rule: &'a str,
    calls: usize,
    agents: &'a BTreeSet<i64>,
    example: &'a str,
}

/// The same as JSON.
#[derive(Serialize)]
pub(super) struct ReplaySummaryView<'a> {
    r#type: &'static str,
    calls: usize,
    unchanged: usize,
    masked: usize,
    shortened: usize,
    /// The calls that would be stopped, by rule.
    stopped: Vec<StoppedCallsView<'a>>,
    /// The number of changes of each kind, and their rules.
    changed: BTreeMap<&'static str, DecisionChangeView<'a>>,
}

#[derive(Serialize)]
struct DecisionChangeView<'a> {
    calls: usize,
    rules: &'a BTreeMap<String, usize>,
}

impl ReplaySummary {
    pub(super) fn calls(&self) -> usize {
        self.calls
    }

    pub(super) fn add(&mut self, change: &ReplayedCall<'_>) {
        self.calls += 1;
        let losses = change.redactions;
        self.masked += usize::from(losses.masked);
        self.shortened += usize::from(losses.shortened);
        self.incomplete += usize::from(losses.has_any());
        if change.now.decision > GuardDecision::Allow {
            self.add_stopped(change);
        }
        if !change.is_changed() {
            self.unchanged += 1;
            return;
        }
        let rules = self.changed.entry(change.decisions()).or_default();
        *rules.entry(change.rule().to_owned()).or_default() += 1;
    }

    fn add_stopped(&mut self, change: &ReplayedCall<'_>) {
        let key = (Reverse(change.now.decision), change.rule().to_owned());
        let stopped = self.stopped.entry(key).or_default();
        stopped.calls += 1;
        stopped.agents.insert(change.recorded.entry.agent_id);
        if stopped.example.is_empty() {
            stopped.example = change.summarize();
        }
    }

    /// The calls that would be stopped: denied ones first, then the most frequent rules.
    fn stopped_calls(&self) -> Vec<StoppedCallsView<'_>> {
        let mut rows: Vec<_> = self.stopped.iter().collect();
        rows.sort_by_key(|((decision, rule), stopped)| (*decision, Reverse(stopped.calls), rule.clone()));
        let to_view = rows.into_iter().map(|((decision, rule), stopped)| StoppedCallsView {
            decision: decision.0.name(),
            rule,
            calls: stopped.calls,
            agents: &stopped.agents,
            example: &stopped.example,
        });
        to_view.collect()
    }

    /// The changes that occurred: names, count, and count by rule.
    fn decision_changes(&self) -> impl Iterator<Item = (&'static str, &'static str, usize, &BTreeMap<String, usize>)> {
        DECISION_CHANGES.iter().filter_map(|(then, now, words, name)| {
            let rules = self.changed.get(&(*then, *now))?;
            Some((*words, *name, rules.values().sum(), rules))
        })
    }

    pub(super) fn to_view(&self) -> ReplaySummaryView<'_> {
        ReplaySummaryView {
            r#type: "summary",
            calls: self.calls,
            unchanged: self.unchanged,
            masked: self.masked,
            shortened: self.shortened,
            stopped: self.stopped_calls(),
            changed: self
                .decision_changes()
                .map(|(_, name, calls, rules)| (name, DecisionChangeView { calls, rules }))
                .collect(),
        }
    }

    pub(super) fn render(&self) -> String {
        let calls = format_count(self.calls, "recorded call");
        let mut text = if self.calls == self.unchanged {
            format!("{calls}: nothing would change.\n")
        } else {
            format!("{calls}: {} would be decided differently.\n", self.calls - self.unchanged)
        };
        for (words, _, calls, rules) in self.decision_changes() {
            text.push_str(&format!("{calls:>7} {words}: {}\n", format_top_rules(rules)));
        }
        self.render_stopped(&mut text);
        if self.incomplete > 0 {
            let (some, masked, shortened) = (self.incomplete, self.masked, self.shortened);
            text.push_str(&format!(
                "{some:>7} were recorded incompletely (secrets masked: {masked}, shortened: {shortened}), so their new \
                 decisions may be wrong.\n"
            ));
        }
        if self.is_audit {
            text.push_str(
                "Snell only watches now (preset audit). To enforce these decisions, remove preset = \"audit\" from [guard] of \
                 your snell.toml.\n",
            );
        }
        text
    }

    /// One line for each rule that would stop calls.
    fn render_stopped(&self, text: &mut String) {
        let rows = self.stopped_calls();
        if rows.is_empty() || self.calls == self.unchanged {
            return;
        }
        text.push_str("By rule, these calls would be stopped:\n");
        for row in rows {
            text.push_str(&format!(
                "{:>7} {:<4}  {:<24}  {}: {}\n",
                row.calls,
                row.decision,
                escape_invisible(row.rule),
                format_count(row.agents.len(), "agent"),
                row.example
            ));
        }
    }
}

/// The most frequent rules first.
fn format_top_rules(rules: &BTreeMap<String, usize>) -> String {
    let mut rules: Vec<_> = rules.iter().collect();
    rules.sort_by_key(|(_, calls)| Reverse(**calls));
    let more = rules.len().saturating_sub(RULES_NAMED);
    let mut named: Vec<_> =
        rules.iter().take(RULES_NAMED).map(|(rule, calls)| format!("{} ({calls})", escape_invisible(rule))).collect();
    if more > 0 {
        named.push(format!("and {}", format_count(more, "more rule")));
    }
    named.join(", ")
}
