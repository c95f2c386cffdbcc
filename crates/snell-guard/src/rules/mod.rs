//! Rules judge effects. They are data (`data/rules`), compiled into a table that is sorted by gravity: the gravest of
//! several findings has the smallest number.

use crate::effects::{Effect, EffectKind, PathAction, PathActions};
use crate::paths::{PathClass, PathClasses};
use crate::session::{SessionMark, is_relaxed_rule};

/// The severity of a rule, gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleTier {
    /// The machine, the home directory or the project is lost.
    Catastrophic,
    /// Snell itself is changed or turned off.
    OwnGuard,
    /// Secrets are shown or sent.
    Secret,
    /// Rights are raised, or the system is changed.
    Privilege,
    /// Processes end that are not the agent's own.
    Process,
    /// Services, clouds or databases are destroyed.
    Infra,
    /// Files or work are lost.
    Destructive,
    /// It can be undone, but there is a better way.
    Style,
}

impl RuleTier {
    /// Its name in the data and in output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Catastrophic => "catastrophic",
            Self::OwnGuard => "self",
            Self::Secret => "secret",
            Self::Privilege => "privilege",
            Self::Process => "process",
            Self::Infra => "infra",
            Self::Destructive => "destructive",
            Self::Style => "style",
        }
    }
}

/// A preset's decision about a rule that matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleDecision {
    /// The call must not run.
    Deny,
    /// The user decides.
    Ask,
}

/// A check of the guard.
#[derive(Debug, PartialEq, Eq)]
pub struct GuardRule {
    /// Its id, which never changes.
    pub id: &'static str,
    /// Its tier.
    pub tier: RuleTier,
    /// The decision of the `claude-os` preset.
    pub decision: RuleDecision,
    /// The decision of the `standard` preset, which is never stricter.
    pub standard: RuleDecision,
    /// The rule that this one was a part of. Settings for that rule apply to this one too.
    pub split_from: Option<&'static str>,
    /// Whether its first case is an example in overviews.
    pub headline: bool,
    /// One sentence, with `{target}`, `{program}` and the `{command}` that it runs, or with `{field}` of a call.
    pub reason: &'static str,
    /// The alternative to suggest.
    pub advice: &'static str,
    /// Whether a project may not turn it off.
    pub locked: bool,
    /// The effects that it judges; empty if programs name the rule themselves.
    pub effects: PathActions,
    /// The classes of paths that it judges.
    pub on: PathClasses,
    /// Classes that exclude a path, even if `on` matches.
    pub except: PathClasses,
    /// Whether it judges only recursive effects.
    pub recursive: bool,
    /// Its test cases.
    pub cases: RuleCases,
}

/// Command lines that a rule matches, and that it does not.
#[derive(Debug, PartialEq, Eq)]
pub struct RuleCases {
    /// Simple commands that it matches.
    pub matches: &'static [&'static str],
    /// Simple commands that nothing matches.
    pub not_match: &'static [&'static str],
    /// Command lines that it matches after shell analysis.
    pub whole_match: &'static [&'static str],
    /// Command lines that no rule matches after shell analysis.
    pub whole_not_match: &'static [&'static str],
}

include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// A match of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleFinding<'a> {
    /// The rule.
    pub rule: &'static GuardRule,
    /// The effect that it matches.
    pub effect: &'a Effect,
}

/// How many characters of a target are shown.
const MAX_SHOWN_CHARS: usize = 200;

impl RuleFinding<'_> {
    /// Whether an allowed command excuses it, or a target that the session made: locked rules are never excused.
    pub fn is_exempt(&self) -> bool {
        let is_own = self.effect.session == Some(SessionMark::Made) && is_relaxed_rule(self.rule);
        (self.effect.allowed.is_some() || is_own) && !self.rule.locked
    }

    /// The reason as a sentence.
    pub fn format_reason(&self) -> String {
        let target = self.effect.place.as_ref().map_or("it", |place| place.display_path());
        let command = match self.effect.command.as_deref() {
            Some(command) => format!("`{}`", shorten_text(command, MAX_SHOWN_CHARS)),
            None => "a command".to_owned(),
        };
        self.rule
            .reason
            .replace("{cause}", self.effect.session_cause())
            .replace("{command}", &command)
            .replace("{target}", &shorten_text(target, MAX_SHOWN_CHARS))
            .replace("{program}", &self.effect.program.replacen("the ", "The ", 1))
            .replace("{field}", self.effect.program)
    }
}

/// Shortens a text and escapes control characters, with which a terminal could show another path.
pub(crate) fn shorten_text(text: &str, max_chars: usize) -> String {
    let mut shown = String::with_capacity(text.len().min(max_chars));
    for c in text.chars().take(max_chars) {
        if c.is_control() {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    if text.chars().nth(max_chars).is_some() {
        shown.push('…');
    }
    shown
}

/// Every finding, gravest first: a policy may turn some off.
pub fn collect_findings(effects: &[Effect]) -> Vec<RuleFinding<'_>> {
    let all = RULES.iter().enumerate();
    all.flat_map(|(number, rule)| {
        effects
            .iter()
            .filter(move |effect| rule_matches(number, rule, effect))
            .map(move |effect| RuleFinding { rule, effect })
    })
    .collect()
}

/// The rules for such effects, gravest first, and whether each matches.
pub(crate) fn evaluate_rules(effect: &Effect) -> impl Iterator<Item = (&'static GuardRule, bool)> {
    let is_about = |number: usize, rule: &GuardRule| match effect.kind {
        EffectKind::Rule(named) => named == number,
        EffectKind::Watched(_) => false,
        EffectKind::Path(kind) => rule.effects.contains(kind),
    };
    let all = RULES.iter().enumerate();
    all.filter(move |(number, rule)| is_about(*number, rule))
        .map(|(number, rule)| (rule, rule_matches(number, rule, effect)))
}

fn rule_matches(number: usize, rule: &GuardRule, effect: &Effect) -> bool {
    match effect.kind {
        EffectKind::Rule(named) => named == number,
        EffectKind::Watched(_) => false,
        EffectKind::Path(kind) => {
            let place = effect.place.as_ref();
            rule.effects.contains(kind)
                && place
                    .is_some_and(|place| place.classes.intersects(rule.on) && !place.classes.intersects(rule.except))
                && (effect.recursive || !rule.recursive)
        }
    }
}

#[cfg(test)]
mod tests;
