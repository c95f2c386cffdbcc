//! The whole way: a tool call, to what would happen, to what is to be done about it.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::effects::{Effect, What};
use crate::rules::{self, Decision, Finding, RULES, Rule, Tier};
use crate::shell::{Coverage, Reason};
use crate::syntax::Span;
use crate::tools;
use crate::world::World;

/// What could not be looked at to the end.
const LIMIT: &str = "guard.limit";
/// What may do something that nobody can tell: only `strict` minds, and whoever names it.
const UNCLEAR: &str = "guard.unclear";
/// A function that starts itself twice, without end.
const FORK_BOMB: &str = "process.fork-bomb";

/// A tool that an agent is about to use.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Its name, as the agent has it: `Bash`, `Write`, `mcp__server__tool`.
    pub tool: &'a str,
    /// What it is given.
    pub input: &'a Json,
}

/// What is to be done about a call, mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

/// What the user wants to be done about what is found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// For all rules.
    pub preset: Preset,
    /// For single rules, by id. A locked rule can be made stricter, never milder.
    pub rules: BTreeMap<String, Verdict>,
}

impl Policy {
    /// A preset without exceptions.
    pub fn new(preset: Preset) -> Self {
        Self {
            preset,
            rules: BTreeMap::new(),
        }
    }

    /// What this policy makes of a rule that matches. `Audit` stops nothing, but is told what would have been.
    pub fn verdict(&self, rule: &Rule) -> Verdict {
        let preset = self.preset_for(rule);
        match self.rules.get(rule.id) {
            Some(said) if rule.locked => (*said).max(preset),
            Some(said) => *said,
            None => preset,
        }
    }

    fn preset_for(&self, rule: &Rule) -> Verdict {
        match (self.preset, rule.id) {
            (Preset::Strict, UNCLEAR) => Verdict::Ask,
            (_, UNCLEAR) => Verdict::Allow,
            (Preset::Strict, _) => Verdict::Deny,
            _ => rule.decision.into(),
        }
    }
}

/// What is to be done about a call, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// What is to be done.
    pub decision: Verdict,
    /// The gravest rule that matches. A call may be allowed all the same, if the policy only watches.
    pub rule: Option<&'static str>,
    /// How grave that is.
    pub tier: Option<Tier>,
    /// Why, as a sentence; empty if there is nothing to say.
    pub reason: String,
    /// What to do instead; empty if there is nothing to say.
    pub advice: &'static str,
    /// Where in the command it stands, in order.
    pub spans: Vec<Span>,
    /// Whether everything was seen.
    pub coverage: Coverage,
}

/// What was seen of a call.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) effects: Vec<Effect>,
    pub(crate) coverage: Coverage,
}

impl Seen {
    /// Something that a rule judges by itself.
    pub(crate) fn mark(&mut self, rule: &str, span: Span) {
        if let Some(number) = RULES.iter().position(|known| known.id == rule) {
            self.effects.push(Effect {
                what: What::Rule(number),
                place: None,
                recursive: false,
                program: "the tool",
                span,
            });
        }
    }

    /// There is more to it than could be looked at.
    pub(crate) fn limit(&mut self) {
        self.mark(LIMIT, Span::default());
    }

    /// Functions that start themselves without end.
    pub(crate) fn fork_bombs(&mut self, spans: Vec<Span>) {
        for span in spans {
            self.mark(FORK_BOMB, span);
        }
    }

    /// What is known about how much is known.
    pub(crate) fn cover(&mut self, coverage: Coverage) {
        if let Coverage::Partial(reasons) = &coverage {
            if reasons.iter().any(|reason| matches!(reason, Reason::Limit(_))) {
                self.limit();
            }
            self.mark(UNCLEAR, Span::default());
        }
        self.coverage = coverage;
    }
}

/// Judges a call: what would it do, and may it?
pub fn judge(call: &Call<'_>, policy: &Policy, world: &World) -> Judgement {
    let seen = tools::look(call, world);
    let findings = rules::findings(&seen.effects);
    // They are sorted by gravity, but a policy may see it differently; of equals, the first is the gravest.
    let gravest = findings
        .iter()
        .map(|finding| (policy.verdict(finding.rule), finding))
        .filter(|(verdict, _)| *verdict != Verdict::Allow)
        .reduce(|best, next| if next.0 > best.0 { next } else { best });
    match gravest {
        Some((verdict, finding)) => told(policy, verdict, finding, &findings, seen.coverage),
        None => Judgement {
            decision: Verdict::Allow,
            rule: None,
            tier: None,
            reason: String::new(),
            advice: "",
            spans: Vec::new(),
            coverage: seen.coverage,
        },
    }
}

fn told(
    policy: &Policy,
    verdict: Verdict,
    finding: &Finding<'_>,
    all: &[Finding<'_>],
    coverage: Coverage,
) -> Judgement {
    let rule = finding.rule;
    let mut spans: Vec<Span> = all
        .iter()
        .filter(|other| other.rule.id == rule.id)
        .map(|other| other.effect.span.clone())
        .filter(|span| *span != Span::default())
        .collect();
    spans.sort_by_key(|span| (span.start, span.end));
    spans.dedup();
    Judgement {
        decision: match policy.preset {
            Preset::Audit => Verdict::Allow,
            Preset::Standard | Preset::Strict => verdict,
        },
        rule: Some(rule.id),
        tier: Some(rule.tier),
        reason: finding.reason(),
        advice: rule.advice,
        spans,
        coverage,
    }
}

#[cfg(test)]
mod tests;
