//! What the user wants to be done about what is found.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::rules::{Decision, Rule};

/// What could not be looked at to the end.
pub(crate) const LIMIT: &str = "guard.limit";
/// What could not be read at all.
pub(crate) const UNREAD: &str = "guard.unread";
/// What the guard itself has failed at.
pub(crate) const FAILURE: &str = "guard.failure";
/// What may do something that nobody can tell: only `strict` minds, and whoever names it.
pub(crate) const UNCLEAR: &str = "guard.unclear";

/// What is to be done about a call, mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It may happen.
    Allow,
    /// The user decides.
    Ask,
    /// It must not happen.
    Deny,
}

impl Verdict {
    /// Its name, as it is written in settings and told to people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl From<Decision> for Verdict {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Deny => Self::Deny,
            Decision::Ask => Self::Ask,
        }
    }
}

/// How much is minded, before single rules are named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preset {
    /// As the rules say.
    #[default]
    Standard,
    /// What others would ask about is denied, and what cannot be known is asked about.
    Strict,
    /// Everything is judged and told, nothing is stopped.
    Audit,
}

impl Preset {
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
pub enum Author {
    /// The user, in their own settings.
    User,
    /// Whoever wrote the settings of a project.
    Project,
}

/// What is said about one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What is to be done when it matches.
    pub verdict: Verdict,
    /// Who says so.
    pub by: Author,
}

/// A place that the user wants to be left alone, wherever it lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protected {
    /// An absolute path. `*` and `?` stand for characters of a name, `**` for any number of names; what lies below a
    /// protected directory is protected as well.
    pub path: String,
    /// From what.
    pub from: Guarded,
}

/// What a place is protected from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guarded {
    /// It must not be changed.
    Change,
    /// It must not even be read, and not be changed either.
    Look,
}

/// A command that the user wants to be let through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// One simple command. A word `*` stands for any one word, a last word `**` for any further words, `*` inside a word
    /// for any characters.
    pub command: String,
    /// Why it is let through.
    pub reason: String,
}

/// What the user wants to be done about what is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// For all rules.
    pub preset: Preset,
    /// For single rules, by id. What a project says makes a locked rule stricter, never milder.
    pub rules: BTreeMap<String, Choice>,
    /// What is to be done when the guard itself fails: when a call is more than can be looked at, or cannot be read, or
    /// an error is made.
    pub on_failure: Verdict,
    /// Places that are to be left alone.
    pub protected: Vec<Protected>,
    /// Commands that are let through. Those that have expired are left out by whoever makes the policy.
    pub allowed: Vec<Allowed>,
}

impl Default for Policy {
    fn default() -> Self {
        Self::new(Preset::default())
    }
}

/// Where a verdict about a rule comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
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

impl Policy {
    /// A preset without exceptions.
    pub fn new(preset: Preset) -> Self {
        Self {
            preset,
            rules: BTreeMap::new(),
            on_failure: Verdict::Ask,
            protected: Vec::new(),
            allowed: Vec::new(),
        }
    }

    /// What this policy makes of a rule that matches. `Audit` stops nothing, but is told what would have been.
    pub fn verdict(&self, rule: &Rule) -> Verdict {
        self.verdict_with_source(rule).0
    }

    /// The same, and where it comes from.
    pub fn verdict_with_source(&self, rule: &Rule) -> (Verdict, Source) {
        let general = self.general(rule);
        match self.rules.get(rule.id) {
            Some(choice) if choice.by == Author::User => (choice.verdict, Source::User),
            Some(choice) if !rule.locked || choice.verdict > general.0 => (choice.verdict, Source::Project),
            _ => general,
        }
    }

    /// What is really done, where this would be.
    pub(crate) fn enforced(&self, would: Verdict) -> Verdict {
        match self.preset {
            Preset::Audit => Verdict::Allow,
            Preset::Standard | Preset::Strict => would,
        }
    }

    /// What is to be done about a rule that nobody has named.
    fn general(&self, rule: &Rule) -> (Verdict, Source) {
        match (self.preset, rule.id) {
            (_, LIMIT | UNREAD | FAILURE) => (self.on_failure, Source::OnFailure),
            (Preset::Strict, UNCLEAR) => (Verdict::Ask, Source::Preset),
            (_, UNCLEAR) => (Verdict::Allow, Source::Preset),
            (Preset::Strict, _) if rule.decision == Decision::Ask => (Verdict::Deny, Source::Preset),
            _ => (rule.decision.into(), Source::Rule),
        }
    }
}
