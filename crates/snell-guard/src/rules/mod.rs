//! Rules judge effects. They are data (`data/rules`), compiled into a table that is sorted by gravity, so that the
//! gravest of several findings is the one with the smallest number.

use crate::effects::{Effect, EffectKind, PathAction, PathActions};
use crate::paths::{PathClass, PathClasses};

/// How grave something is, gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleTier {
    /// The machine, the home or the project is gone.
    Catastrophic,
    /// Snell itself is tampered with.
    OwnGuard,
    /// Secrets are seen or sent.
    Secret,
    /// Rights are raised, or the system is changed.
    Privilege,
    /// Processes are ended that are not the agent's own.
    Process,
    /// Services, clouds, databases are destroyed.
    Infra,
    /// Files or work are lost.
    Destructive,
    /// It can be undone, but is not the way.
    Style,
}

impl RuleTier {
    /// Its name, as it is written in the data and told to people.
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

/// What the `standard` policy does about a rule that matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleDecision {
    /// It must not happen.
    Deny,
    /// The user decides.
    Ask,
}

/// What must not happen, or not without being asked.
#[derive(Debug, PartialEq, Eq)]
pub struct GuardRule {
    /// Never changes.
    pub id: &'static str,
    /// How grave it is.
    pub tier: RuleTier,
    /// What the `standard` policy does.
    pub decision: RuleDecision,
    /// One sentence, with `{target}` and `{program}`, or with `{field}` of a call.
    pub reason: &'static str,
    /// What to do instead.
    pub advice: &'static str,
    /// Whether a project may not turn it off.
    pub locked: bool,
    /// The effects that it judges; none if programs name the rule themselves.
    pub effects: PathActions,
    /// On which places.
    pub on: PathClasses,
    /// Not on these, although they are among them.
    pub except: PathClasses,
    /// Whether it judges only what goes down into directories.
    pub recursive: bool,
    /// Command lines by which it is tested.
    pub cases: RuleCases,
}

/// Command lines that a rule matches, and that it does not.
#[derive(Debug, PartialEq, Eq)]
pub struct RuleCases {
    /// Simple commands that it matches.
    pub matches: &'static [&'static str],
    /// Simple commands that nothing matches.
    pub not_match: &'static [&'static str],
    /// Command lines that it matches once the shell is understood.
    pub whole_match: &'static [&'static str],
    /// Command lines that nothing matches once the shell is understood.
    pub whole_not_match: &'static [&'static str],
}

include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// What a rule found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleFinding<'a> {
    /// The rule.
    pub rule: &'static GuardRule,
    /// What it is about.
    pub effect: &'a Effect,
}

/// How much of a target is shown.
const MAX_SHOWN_CHARS: usize = 200;

impl RuleFinding<'_> {
    /// Whether it is part of a command that the user lets through, and the rule is not one that holds for those as well.
    pub fn is_exempt(&self) -> bool {
        self.effect.allowed.is_some() && !self.rule.locked
    }

    /// Why, as a sentence.
    pub fn format_reason(&self) -> String {
        let target = self.effect.place.as_ref().map_or("it", |place| place.display_path());
        self.rule
            .reason
            .replace("{target}", &shorten_text(target, MAX_SHOWN_CHARS))
            .replace("{program}", self.effect.program)
            .replace("{field}", self.effect.program)
    }
}

/// Enough of a text to recognise it, with escapes for what would change how a terminal shows it: without them a path
/// would look like that of another file.
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

/// The rules that are about such things, gravest first, and whether each matches.
pub(crate) fn evaluate_rules(effect: &Effect) -> impl Iterator<Item = (&'static GuardRule, bool)> {
    let is_about = |number: usize, rule: &GuardRule| match effect.kind {
        EffectKind::Rule(named) => named == number,
        EffectKind::Path(kind) => rule.effects.contains(kind),
    };
    let all = RULES.iter().enumerate();
    all.filter(move |(number, rule)| is_about(*number, rule))
        .map(|(number, rule)| (rule, rule_matches(number, rule, effect)))
}

fn rule_matches(number: usize, rule: &GuardRule, effect: &Effect) -> bool {
    match effect.kind {
        EffectKind::Rule(named) => named == number,
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
