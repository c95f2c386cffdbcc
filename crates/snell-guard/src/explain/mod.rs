//! A judgement with everything that led to it: what was read, what it would do, which rules looked, and what would have to
//! be different. It costs many times as much as a judgement and is for people who ask.

mod flips;
mod parts;
mod toml;
mod wording;

pub use flips::{Change, Flip};

use serde::Serialize;

use crate::effects::{Effect, What};
use crate::invocation::{Invocation, Value};
use crate::judge::{Call, Judgement, Seen, judge_seen, look};
use crate::policy::{Policy, Source, Verdict};
use crate::rules::{self, Finding, Rule};
use crate::syntax::Span;
use crate::tools;
use crate::world::World;

/// More commands of one call are not told.
pub const MAX_STEPS: usize = 200;
/// More effects of one command are not told.
pub const MAX_EFFECTS_TOLD: usize = 50;
/// Longer texts are shortened.
const MAX_SHOWN: usize = 400;

/// A judgement with everything that led to it.
///
/// The judgement is not written with it: whoever writes both has one form for them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// What is to be done, and why.
    #[serde(skip)]
    pub judgement: Judgement,
    /// The programs that would run, in order.
    pub steps: Vec<Step>,
    /// How many more there are.
    pub steps_left_off: usize,
    /// What happens by no program: by the tool itself, or by all of it together.
    pub effects: Vec<Consequence>,
    /// What could not be seen, in words; nothing if everything was.
    pub unseen: Vec<String>,
    /// What would change the verdict, the smallest change first.
    pub flips: Vec<Flip>,
}

/// One program that would run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// As it stands in the command, with what it was unwrapped from.
    pub text: String,
    /// Where that is.
    pub span: Span,
    /// What it was unwrapped from, outermost first.
    pub through: Vec<String>,
    /// The program and its arguments, after expansion.
    pub words: Vec<Word>,
    /// Variables that are set for it alone, as `NAME=value`.
    pub variables: Vec<String>,
    /// The directory in which it would run; nothing if that cannot be known.
    pub cwd: Option<String>,
    /// What it would read, in words.
    pub stdin: String,
    /// Whether it would run as another user.
    pub privileged: bool,
    /// Whether it would run on another machine or in a container.
    pub elsewhere: bool,
    /// Why the user lets it through, if they do.
    pub allowed_by: Option<String>,
    /// What it would do.
    pub effects: Vec<Consequence>,
    /// How much more it would do.
    pub effects_left_off: usize,
}

/// A word of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Word {
    /// The word, with `…` where something is unknown.
    pub text: String,
    /// Whether all of it is known.
    pub known: bool,
}

/// Something that would happen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Consequence {
    /// What, in words: `deletes`.
    pub does: &'static str,
    /// To what: a path if it is known, else what was written.
    pub target: Option<String>,
    /// What that is, in words.
    pub place: Vec<&'static str>,
    /// Whether it goes down into directories.
    pub recursive: bool,
    /// The program that does it.
    pub program: &'static str,
    /// The rules that are about such things.
    pub rules: Vec<Look>,
}

/// What a rule made of something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Look {
    /// The rule.
    pub rule: &'static str,
    /// How grave it is.
    pub tier: &'static str,
    /// Whether it matches.
    pub matched: bool,
    /// What the policy does about it when it matches.
    pub verdict: Verdict,
    /// Where that comes from.
    pub source: Source,
    /// Whether a project may not make it milder.
    pub locked: bool,
    /// Why it does not count here, if it is part of a command that the user lets through.
    pub allowed_by: Option<String>,
}

impl Explanation {
    /// A judgement of which nobody knows what led to it.
    pub fn of_nothing(judgement: Judgement) -> Self {
        Self {
            unseen: judgement.coverage.unseen(),
            judgement,
            steps: Vec::new(),
            steps_left_off: 0,
            effects: Vec::new(),
            flips: Vec::new(),
        }
    }
}

/// Judges a call, and tells everything that led to it.
pub fn explain(call: &Call<'_>, policy: &Policy, world: &World) -> Explanation {
    let seen = look(call, policy, world);
    let judgement = judge_seen(&seen, policy);
    let text = tools::command(call.input).unwrap_or_default();
    let told = |effect: &&Effect| effect.by.is_none();
    Explanation {
        steps: steps(&text, &seen, policy),
        steps_left_off: seen.invocations.len().saturating_sub(MAX_STEPS),
        effects: consequences(seen.effects.iter().filter(told), policy),
        unseen: judgement.coverage.unseen(),
        flips: flips::find(call, &seen, &judgement, policy, world),
        judgement,
    }
}

fn steps(text: &str, seen: &Seen, policy: &Policy) -> Vec<Step> {
    let all = seen.invocations.iter().enumerate().take(MAX_STEPS);
    all.map(|(number, invocation)| {
        let own = || seen.effects.iter().filter(move |effect| effect.by == Some(number));
        Step {
            effects: consequences(own(), policy),
            effects_left_off: own().count().saturating_sub(MAX_EFFECTS_TOLD),
            ..step(text, invocation, policy)
        }
    })
    .collect()
}

fn step(text: &str, invocation: &Invocation, policy: &Policy) -> Step {
    Step {
        text: shortened(text.get(invocation.span.clone()).unwrap_or_default()),
        span: invocation.span.clone(),
        through: invocation.via.clone(),
        words: invocation.argv.iter().map(word).collect(),
        variables: invocation
            .variables
            .iter()
            .map(|(name, value)| shortened(&format!("{name}={value}")))
            .collect(),
        cwd: invocation.cwd.clone(),
        stdin: shortened(&wording::stdin(&invocation.stdin)),
        privileged: invocation.privileged,
        elsewhere: invocation.elsewhere,
        allowed_by: allowed_by(invocation.allowed, policy),
        effects: Vec::new(),
        effects_left_off: 0,
    }
}

fn word(value: &Value) -> Word {
    Word {
        text: shortened(&value.to_string()),
        known: value.as_text().is_some(),
    }
}

fn consequences<'a>(effects: impl Iterator<Item = &'a Effect>, policy: &Policy) -> Vec<Consequence> {
    let told = |effect: &Effect| Consequence {
        does: match effect.what {
            What::Kind(kind) => wording::does(kind),
            What::Rule(_) => "does what only one rule is about",
        },
        target: effect.place.as_ref().map(|place| shortened(place.told())),
        place: effect
            .place
            .as_ref()
            .map_or_else(Vec::new, |place| wording::place(place.classes)),
        recursive: effect.recursive,
        program: effect.program,
        rules: rules::looks(effect)
            .map(|(rule, matched)| looked(rule, matched, effect, policy))
            .collect(),
    };
    effects.take(MAX_EFFECTS_TOLD).map(told).collect()
}

fn looked(rule: &'static Rule, matched: bool, effect: &Effect, policy: &Policy) -> Look {
    let (verdict, source) = policy.verdict_with_source(rule);
    let through = matched && Finding { rule, effect }.is_let_through();
    Look {
        rule: rule.id,
        tier: rule.tier.name(),
        matched,
        verdict,
        source,
        locked: rule.locked,
        allowed_by: allowed_by(effect.allowed.filter(|_| through), policy),
    }
}

fn allowed_by(number: Option<usize>, policy: &Policy) -> Option<String> {
    Some(policy.allowed.get(number?)?.reason.clone())
}

/// Enough of a text to recognise it, on one line, with escapes for what would change how a terminal shows it.
fn shortened(text: &str) -> String {
    let mut shown = String::with_capacity(text.len().min(MAX_SHOWN));
    for c in text.chars().take(MAX_SHOWN) {
        match c {
            '\n' | '\t' => shown.push(' '),
            c if c.is_control() => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
    if text.chars().nth(MAX_SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests;
