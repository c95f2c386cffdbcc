//! The user's policy: the decisions about findings.

pub(crate) mod allow_list;
pub(crate) mod entries;
pub(crate) mod hosts;
mod preset;
pub(crate) mod word_pattern;

use std::collections::BTreeMap;

use serde::Serialize;

pub use entries::PolicyEntry;
pub use word_pattern::WordPattern;

use crate::approval::ApprovalPolicy;
use crate::rules::{GuardRule, RuleDecision};

pub use preset::PolicyPreset;

/// Matches calls that exceed a limit of the analysis.
pub(crate) const LIMIT_RULE: &str = "guard.limit";
/// Matches calls that cannot be read.
pub(crate) const UNREADABLE_RULE: &str = "guard.unread";
/// Matches calls that made the guard fail.
pub(crate) const FAILURE_RULE: &str = "guard.failure";
/// Matches calls with unknown effects; off unless the preset is `strict` or the settings choose otherwise.
pub(crate) const UNCLEAR_RULE: &str = "guard.unclear";

/// The protected branches, unless the settings name others.
pub const DEFAULT_PROTECTED_BRANCHES: [&str; 3] = ["main", "master", "release/*"];

/// The decision about a call, mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GuardDecision {
    /// The call may run.
    Allow,
    /// The user decides.
    Ask,
    /// The call must not run.
    Deny,
}

impl GuardDecision {
    /// Its name in settings and output.
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

/// Who chose a rule's decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyAuthor {
    /// The user, in their own settings.
    User,
    /// The author of a project's settings.
    Project,
}

/// A choice for one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleOverride {
    /// The decision if the rule matches.
    pub decision: GuardDecision,
    /// Who chose it.
    pub by: PolicyAuthor,
}

/// A path that the user protects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathProtection {
    /// An absolute path. `*` and `?` stand for characters of a name, `**` for any number of names. Everything below a
    /// protected directory is protected too.
    pub path: String,
    /// The forbidden access.
    pub from: ForbiddenAccess,
}

/// The access that a protection forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForbiddenAccess {
    /// It must not be changed.
    Change,
    /// It must be neither read nor changed.
    Read,
}

/// The user's policy: the decisions about findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardPolicy {
    /// For all rules.
    pub preset: PolicyPreset,
    /// Choices for single rules, by id. A project's choice can make a locked rule stricter, but not milder.
    pub rules: BTreeMap<String, RuleOverride>,
    /// The decision if the guard itself fails: if a call exceeds a limit or cannot be read, or if an error occurs.
    pub on_failure: GuardDecision,
    /// Protected paths.
    pub protected: Vec<PathProtection>,
    /// Branches that no push may overwrite or delete: names, and patterns such as `release/*`.
    pub protected_branches: Vec<String>,
    /// Calls that are denied, asked about or allowed. The caller omits expired entries, and those for other tools or agents.
    pub entries: Vec<PolicyEntry>,
    /// The calls that are approved.
    pub approval: ApprovalPolicy,
}

impl Default for GuardPolicy {
    fn default() -> Self {
        Self::new(PolicyPreset::default())
    }
}

/// The source of a decision about a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecisionSource {
    /// The rule itself.
    Rule,
    /// The preset.
    Preset,
    /// The setting for the guard's own failures.
    OnFailure,
    /// The user's choice for this rule.
    User,
    /// The project's choice for this rule.
    Project,
}

impl GuardPolicy {
    /// The policy of a preset.
    pub fn new(preset: PolicyPreset) -> Self {
        Self {
            preset,
            rules: BTreeMap::new(),
            on_failure: GuardDecision::Ask,
            protected: Vec::new(),
            protected_branches: DEFAULT_PROTECTED_BRANCHES.map(str::to_owned).into(),
            entries: Vec::new(),
            approval: ApprovalPolicy::default(),
        }
    }

    /// The decision about a rule that matches. `Audit` enforces nothing, but still reports this decision.
    pub fn decide(&self, rule: &GuardRule) -> GuardDecision {
        self.decide_with_source(rule).0
    }

    /// The same, with its source.
    pub fn decide_with_source(&self, rule: &GuardRule) -> (GuardDecision, DecisionSource) {
        let general = self.default_decision(rule);
        match self.rules.get(rule.id) {
            Some(choice) if choice.by == PolicyAuthor::User => (choice.decision, DecisionSource::User),
            Some(choice) if !rule.locked || choice.decision > general.0 => (choice.decision, DecisionSource::Project),
            _ => general,
        }
    }

    /// The decision that is enforced.
    pub(crate) fn enforced_decision(&self, would: GuardDecision) -> GuardDecision {
        if self.preset == PolicyPreset::Audit { GuardDecision::Allow } else { would }
    }

    /// The decision about a rule without a choice.
    fn default_decision(&self, rule: &GuardRule) -> (GuardDecision, DecisionSource) {
        match rule.id {
            LIMIT_RULE | UNREADABLE_RULE | FAILURE_RULE => (self.on_failure, DecisionSource::OnFailure),
            UNCLEAR_RULE => (self.preset.unclear_decision(), DecisionSource::Preset),
            _ => {
                let decision = self.preset.rule_decision(rule);
                let is_usual = decision == PolicyPreset::default().rule_decision(rule);
                (decision, if is_usual { DecisionSource::Rule } else { DecisionSource::Preset })
            }
        }
    }
}
