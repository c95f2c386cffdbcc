//! What the user wants to be done about what is found.

pub(crate) mod allow_list;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::rules::{GuardRule, RuleDecision};

/// What could not be looked at to the end.
pub(crate) const LIMIT_RULE: &str = "guard.limit";
/// What could not be read at all.
pub(crate) const UNREADABLE_RULE: &str = "guard.unread";
/// What the guard itself has failed at.
pub(crate) const FAILURE_RULE: &str = "guard.failure";
/// What may do something that nobody can tell: only `strict` minds, and whoever names it.
pub(crate) const UNCLEAR_RULE: &str = "guard.unclear";

/// What is to be done about a call, mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GuardDecision {
    /// It may happen.
    Allow,
    /// The user decides.
    Ask,
    /// It must not happen.
    Deny,
}

impl GuardDecision {
    /// Its name, as it is written in settings and told to people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl From<RuleDecision> for GuardDecision {
    fn from(decision: RuleDecision) -> Self {
        match decision {
            RuleDecision::Deny => Self::Deny,
            RuleDecision::Ask => Self::Ask,
        }
    }
}

/// How much is minded, before single rules are named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PolicyPreset {
    /// As the rules say.
    #[default]
    Standard,
    /// What others would ask about is denied, and what cannot be known is asked about.
    Strict,
    /// Everything is judged and told, nothing is stopped.
    Audit,
}

impl PolicyPreset {
    /// Its name, as it is written in settings and told to people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Strict => "strict",
            Self::Audit => "audit",
        }
    }
}

/// Who says something about a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyAuthor {
    /// The user, in their own settings.
    User,
    /// Whoever wrote the settings of a project.
    Project,
}

/// What is said about one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleOverride {
    /// What is to be done when it matches.
    pub decision: GuardDecision,
    /// Who says so.
    pub by: PolicyAuthor,
}

/// A place that the user wants to be left alone, wherever it lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathProtection {
    /// An absolute path. `*` and `?` stand for characters of a name, `**` for any number of names; what lies below a
    /// protected directory is protected as well.
    pub path: String,
    /// From what.
    pub from: ForbiddenAccess,
}

/// What a place is protected from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForbiddenAccess {
    /// It must not be changed.
    Change,
    /// It must not even be read, and not be changed either.
    Read,
}

/// A command that the user wants to be let through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowListEntry {
    /// One simple command. A word `*` stands for any one word, a last word `**` for any further words, `*` inside a word
    /// for any characters.
    pub command: String,
    /// Why it is let through.
    pub reason: String,
}

/// What the user wants to be done about what is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardPolicy {
    /// For all rules.
    pub preset: PolicyPreset,
    /// For single rules, by id. What a project says makes a locked rule stricter, never milder.
    pub rules: BTreeMap<String, RuleOverride>,
    /// What is to be done when the guard itself fails: when a call is more than can be looked at, or cannot be read, or
    /// an error is made.
    pub on_failure: GuardDecision,
    /// Places that are to be left alone.
    pub protected: Vec<PathProtection>,
    /// Commands that are let through. Those that have expired are left out by whoever makes the policy.
    pub allowed: Vec<AllowListEntry>,
}

impl Default for GuardPolicy {
    fn default() -> Self {
        Self::new(PolicyPreset::default())
    }
}

/// Where a verdict about a rule comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecisionSource {
    /// The rule itself.
    Rule,
    /// The preset.
    Preset,
    /// What is said about the guard's own failures.
    OnFailure,
    /// The user's choice for this rule.
    User,
    /// The project's choice for this rule.
    Project,
}

impl GuardPolicy {
    /// A preset without exceptions.
    pub fn new(preset: PolicyPreset) -> Self {
        Self {
            preset,
            rules: BTreeMap::new(),
            on_failure: GuardDecision::Ask,
            protected: Vec::new(),
            allowed: Vec::new(),
        }
    }

    /// What this policy makes of a rule that matches. `Audit` stops nothing, but is told what would have been.
    pub fn decide(&self, rule: &GuardRule) -> GuardDecision {
        self.decide_with_source(rule).0
    }

    /// The same, and where it comes from.
    pub fn decide_with_source(&self, rule: &GuardRule) -> (GuardDecision, DecisionSource) {
        let general = self.default_decision(rule);
        match self.rules.get(rule.id) {
            Some(choice) if choice.by == PolicyAuthor::User => (choice.decision, DecisionSource::User),
            Some(choice) if !rule.locked || choice.decision > general.0 => (choice.decision, DecisionSource::Project),
            _ => general,
        }
    }

    /// What is really done, where this would be.
    pub(crate) fn enforced_decision(&self, would: GuardDecision) -> GuardDecision {
        match self.preset {
            PolicyPreset::Audit => GuardDecision::Allow,
            PolicyPreset::Standard | PolicyPreset::Strict => would,
        }
    }

    /// What is to be done about a rule that nobody has named.
    fn default_decision(&self, rule: &GuardRule) -> (GuardDecision, DecisionSource) {
        match (self.preset, rule.id) {
            (_, LIMIT_RULE | UNREADABLE_RULE | FAILURE_RULE) => (self.on_failure, DecisionSource::OnFailure),
            (PolicyPreset::Strict, UNCLEAR_RULE) => (GuardDecision::Ask, DecisionSource::Preset),
            (_, UNCLEAR_RULE) => (GuardDecision::Allow, DecisionSource::Preset),
            (PolicyPreset::Strict, _) if rule.decision == RuleDecision::Ask => {
                (GuardDecision::Deny, DecisionSource::Preset)
            }
            _ => (rule.decision.into(), DecisionSource::Rule),
        }
    }
}
