//! A short overview of a policy: how many rules deny and ask, with examples.

use snell_guard::rules::{GuardRule, RULES};
use snell_guard::{GuardDecision, GuardPolicy, PolicyPreset};

/// How many rules have a decision, and commands that some of them match.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DecisionOverview {
    pub(crate) rules: usize,
    pub(crate) examples: Vec<&'static str>,
}

/// The rules with this decision.
pub(crate) fn summarize_decision(policy: &GuardPolicy, decision: GuardDecision) -> DecisionOverview {
    let mut rules: Vec<&GuardRule> = RULES.iter().filter(|rule| policy.decide(rule) == decision).collect();
    rules.sort_by_key(|rule| rule.tier);
    let headlines = rules.iter().filter(|rule| rule.headline);
    DecisionOverview {
        examples: headlines.filter_map(|rule| rule.cases.matches.first().copied()).collect(),
        rules: rules.len(),
    }
}

/// The rules that the default preset asks about, and that it denied before it became milder.
pub(crate) fn list_relaxed_rules() -> Vec<&'static str> {
    let [before, now] = [PolicyPreset::ClaudeOs, PolicyPreset::default()].map(GuardPolicy::new);
    RULES.iter().filter(|rule| now.decide(rule) < before.decide(rule)).map(|rule| rule.id).collect()
}
