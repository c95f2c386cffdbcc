//! A judgement with everything that led to it: what was read, what it would do, which rules looked, and what would have to
//! be different. It costs many times as much as a judgement and is for people who ask.

mod descriptions;
mod editable_spans;
mod flips;
mod toml_string;

pub use flips::{DecisionFlip, FlipKind};

use serde::Serialize;

use crate::effects::{Effect, EffectKind};
use crate::invocation::SymbolicText;
use crate::judge::context::JudgeContext;
use crate::judge::{CallAnalysis, GuardJudgement, GuardToolCall, analyze_call, judge_analysis};
use crate::policy::{DecisionSource, GuardDecision, GuardPolicy};
use crate::rules::{self, GuardRule, RuleFinding};
use crate::tools;
use snell_shell::ByteSpan;

/// More commands of one call are not told.
pub const MAX_STEPS: usize = 200;
/// More effects of one command are not told.
pub const MAX_EFFECTS_PER_STEP: usize = 50;
/// Longer texts are shortened.
const MAX_TEXT_CHARS: usize = 400;

/// A judgement with everything that led to it.
///
/// The judgement is not written with it: whoever writes both has one form for them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GuardExplanation {
    /// What is to be done, and why.
    #[serde(skip)]
    pub judgement: GuardJudgement,
    /// The programs that would run, in order.
    pub steps: Vec<ExplainedStep>,
    /// How many more there are.
    pub steps_left_off: usize,
    /// What happens by no program: by the tool itself, or by all of it together.
    pub effects: Vec<ExplainedEffect>,
    /// What could not be seen, in words; nothing if everything was.
    pub unseen: Vec<String>,
    /// What would change the verdict, the smallest change first.
    pub flips: Vec<DecisionFlip>,
}

/// One program that would run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedStep {
    /// As it stands in the command, with what it was unwrapped from.
    pub text: String,
    /// Where that is.
    pub span: ByteSpan,
    /// What it was unwrapped from, outermost first.
    pub through: Vec<String>,
    /// The program and its arguments, after expansion.
    pub words: Vec<ExplainedWord>,
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
    pub effects: Vec<ExplainedEffect>,
    /// How much more it would do.
    pub effects_left_off: usize,
}

/// A word of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedWord {
    /// The word, with `…` where something is unknown.
    pub text: String,
    /// Whether all of it is known.
    pub known: bool,
}

/// Something that would happen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedEffect {
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
    pub rules: Vec<RuleEvaluation>,
}

/// What a rule made of something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleEvaluation {
    /// The rule.
    pub rule: &'static str,
    /// How grave it is.
    pub tier: &'static str,
    /// Whether it matches.
    pub matched: bool,
    /// What the policy does about it when it matches.
    pub verdict: GuardDecision,
    /// Where that comes from.
    pub source: DecisionSource,
    /// Whether a project may not make it milder.
    pub locked: bool,
    /// Why it does not count here, if it is part of a command that the user lets through.
    pub allowed_by: Option<String>,
}

impl GuardExplanation {
    /// A judgement of which nobody knows what led to it.
    pub fn from_judgement(judgement: GuardJudgement) -> Self {
        Self {
            unseen: judgement.coverage.describe_gaps(),
            judgement,
            steps: Vec::new(),
            steps_left_off: 0,
            effects: Vec::new(),
            flips: Vec::new(),
        }
    }
}

/// Judges a call, and tells everything that led to it.
pub fn explain_call(call: &GuardToolCall<'_>, policy: &GuardPolicy, context: &JudgeContext) -> GuardExplanation {
    let seen = analyze_call(call, policy, context);
    let judgement = judge_analysis(&seen, policy);
    let text = tools::command_from_input(call.input).unwrap_or_default();
    let told = |effect: &&Effect| effect.by.is_none();
    GuardExplanation {
        steps: explain_steps(&text, &seen, policy),
        steps_left_off: seen.invocations.len().saturating_sub(MAX_STEPS),
        effects: explain_effects(seen.effects.iter().filter(told), policy),
        flips: flips::find_flips(call, &seen, &judgement, policy, context),
        ..GuardExplanation::from_judgement(judgement)
    }
}

fn explain_steps(text: &str, analysis: &CallAnalysis, policy: &GuardPolicy) -> Vec<ExplainedStep> {
    let word =
        |word: &SymbolicText| ExplainedWord { text: shorten_text(&word.to_string()), known: word.as_text().is_some() };
    let variable = |(name, value): &(String, SymbolicText)| shorten_text(&format!("{name}={value}"));
    let all = analysis.invocations.iter().enumerate().take(MAX_STEPS);
    all.map(|(number, invocation)| {
        let own = || analysis.effects.iter().filter(move |effect| effect.by == Some(number));
        ExplainedStep {
            text: shorten_text(text.get(invocation.span.clone()).unwrap_or_default()),
            span: invocation.span.clone(),
            through: invocation.via.clone(),
            words: invocation.argv.iter().map(word).collect(),
            variables: invocation.variables.iter().map(variable).collect(),
            cwd: invocation.cwd.clone(),
            stdin: shorten_text(&descriptions::describe_stdin(&invocation.stdin)),
            privileged: invocation.privileged,
            elsewhere: invocation.elsewhere,
            allowed_by: find_allow_reason(invocation.allowed, policy),
            effects: explain_effects(own(), policy),
            effects_left_off: own().count().saturating_sub(MAX_EFFECTS_PER_STEP),
        }
    })
    .collect()
}

fn explain_effects<'a>(effects: impl Iterator<Item = &'a Effect>, policy: &GuardPolicy) -> Vec<ExplainedEffect> {
    let told = |effect: &Effect| ExplainedEffect {
        does: match effect.kind {
            EffectKind::Path(kind) => descriptions::describe_action(kind),
            EffectKind::Rule(_) => "does what only one rule is about",
        },
        target: effect.place.as_ref().map(|place| shorten_text(place.display_path())),
        place: effect.place.as_ref().map_or_else(Vec::new, |place| descriptions::describe_classes(place.classes)),
        recursive: effect.recursive,
        program: effect.program,
        rules: rules::evaluate_rules(effect)
            .map(|(rule, matched)| evaluate_rule(rule, matched, effect, policy))
            .collect(),
    };
    effects.take(MAX_EFFECTS_PER_STEP).map(told).collect()
}

fn evaluate_rule(rule: &'static GuardRule, matched: bool, effect: &Effect, policy: &GuardPolicy) -> RuleEvaluation {
    let (verdict, source) = policy.decide_with_source(rule);
    let through = matched && RuleFinding { rule, effect }.is_exempt();
    RuleEvaluation {
        rule: rule.id,
        tier: rule.tier.name(),
        matched,
        verdict,
        source,
        locked: rule.locked,
        allowed_by: find_allow_reason(effect.allowed.filter(|_| through), policy),
    }
}

fn find_allow_reason(number: Option<usize>, policy: &GuardPolicy) -> Option<String> {
    Some(policy.allowed.get(number?)?.reason.clone())
}

/// Enough of a text to recognise it, on one line.
fn shorten_text(text: &str) -> String {
    rules::shorten_text(&text.replace(['\n', '\t'], " "), MAX_TEXT_CHARS)
}

#[cfg(test)]
mod tests;
