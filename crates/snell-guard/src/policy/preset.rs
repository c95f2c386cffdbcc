//! Presets: the decisions about rules without a setting of their own.

use super::GuardDecision;
use crate::rules::GuardRule;

/// The decisions for rules without a setting of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PolicyPreset {
    /// Asks about everything that people do on purpose now and then, and denies the rest.
    #[default]
    Standard,
    /// Denies as the document of Claude OS does, and asks where that document is silent.
    ClaudeOs,
    /// Denies instead of asking, and asks about unknown effects.
    Strict,
    /// Judges and reports everything as `Standard` does, and stops nothing.
    Audit,
}

impl PolicyPreset {
    /// All presets that stop calls, mildest first.
    pub const ENFORCING: [Self; 3] = [Self::Standard, Self::ClaudeOs, Self::Strict];

    /// Its name in settings and output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::ClaudeOs => "claude-os",
            Self::Strict => "strict",
            Self::Audit => "audit",
        }
    }

    /// The decision about a rule with a decision of its own.
    pub fn rule_decision(self, rule: &GuardRule) -> GuardDecision {
        match self {
            Self::Standard | Self::Audit => rule.standard.into(),
            Self::ClaudeOs => rule.decision.into(),
            Self::Strict => GuardDecision::Deny,
        }
    }

    /// The decision about a call with unknown effects.
    pub(super) fn unclear_decision(self) -> GuardDecision {
        match self {
            Self::Strict => GuardDecision::Ask,
            Self::Standard | Self::ClaudeOs | Self::Audit => GuardDecision::Allow,
        }
    }
}
