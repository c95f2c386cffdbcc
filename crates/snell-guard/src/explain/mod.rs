//! A judgement with the analysis behind it: the programs, their effects, the rules that check them, and the changes
//! that flip the decision. It costs many times as much as a judgement.

mod descriptions;
mod editable_spans;
mod flips;
pub(crate) mod reading;
mod toml_string;

pub use flips::{DecisionFlip, FlipKind};
pub use toml_string::quote_toml_string;

use serde::Serialize;

use crate::effects::{Effect, EffectKind};
use crate::invocation::SymbolicText;
use crate::judge::context::JudgeContext;
use crate::judge::{CallAnalysis, GuardJudgement, GuardToolCall, analyze_call, judge_with_approval};
use crate::policy::{DecisionSource, GuardDecision, GuardPolicy};
use crate::rules::{self, GuardRule, RuleFinding};
use crate::tools;
use snell_shell::ByteSpan;

/// How many programs of one call are listed.
pub const MAX_STEPS: usize = 200;
/// How many effects of one program are listed.
pub const MAX_EFFECTS_PER_STEP: usize = 50;
/// Longer texts are shortened.
const MAX_TEXT_CHARS: usize = 400;

/// A judgement with the analysis behind it.
///
/// The judgement is not serialized with it: callers that write both have their own form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GuardExplanation {
    /// The decision and its reason.
    #[serde(skip)]
    pub judgement: GuardJudgement,
    /// The programs that would run, in order.
    pub steps: Vec<ExplainedStep>,
    /// How many more there are.
    pub steps_left_off: usize,
    /// Effects of no single program: of the tool itself, or of the whole call.
    pub effects: Vec<ExplainedEffect>,
    /// The gaps of the analysis; empty if it is complete.
    pub unseen: Vec<String>,
    /// The changes that flip the decision, smallest first.
    pub flips: Vec<DecisionFlip>,
}

/// One program that would run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedStep {
    /// Its text in the command, with its wrappers.
    pub text: String,
    /// The place of that text.
    pub span: ByteSpan,
    /// The wrappers that run it, outermost first.
    pub through: Vec<String>,
    /// The program and its arguments, after expansion.
    pub words: Vec<ExplainedWord>,
    /// Variables that are set for it alone, as `NAME=value`.
    pub variables: Vec<String>,
    /// The directory in which it would run; `None` if that is unknown.
    pub cwd: Option<String>,
    /// The description of its standard input.
    pub stdin: String,
    /// Whether it would run as another user.
    pub privileged: bool,
    /// Whether it would run on another machine or in a container.
    pub elsewhere: bool,
    /// The reason of the `allow` entry that applies, if any.
    pub allowed_by: Option<String>,
    /// Its effects.
    pub effects: Vec<ExplainedEffect>,
    /// How many more effects it has.
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

/// One effect of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedEffect {
    /// The verb: `deletes`.
    pub does: &'static str,
    /// The target: a path if it is known, or else the text of the command.
    pub target: Option<String>,
    /// Descriptions of that path.
    pub place: Vec<&'static str>,
    /// Whether it includes everything below a directory.
    pub recursive: bool,
    /// The program that does it.
    pub program: &'static str,
    /// The rules for such effects.
    pub rules: Vec<RuleEvaluation>,
}

/// A rule's result for an effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleEvaluation {
    /// The rule.
    pub rule: &'static str,
    /// How grave it is.
    pub tier: &'static str,
    /// Whether it matches.
    pub matched: bool,
    /// The policy's decision if the rule matches.
    pub verdict: GuardDecision,
    /// The source of that decision.
    pub source: DecisionSource,
    /// Whether a project may not make it milder.
    pub locked: bool,
    /// The reason of the `allow` entry that overrides the rule, if any.
    pub allowed_by: Option<String>,
}

impl GuardExplanation {
    /// An explanation of a judgement without an analysis.
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

/// Judges a call and explains the judgement.
pub fn explain_call(call: &GuardToolCall<'_>, policy: &GuardPolicy, context: &JudgeContext) -> GuardExplanation {
    let seen = analyze_call(call, policy, context);
    let judgement = judge_with_approval(call, &seen, policy, context);
    let text = tools::command_from_input(call.input).unwrap_or_default();
    let is_call_effect = |effect: &&Effect| effect.by.is_none();
    GuardExplanation {
        steps: explain_steps(&text, &seen, policy),
        steps_left_off: seen.invocations.len().saturating_sub(MAX_STEPS),
        effects: explain_effects(seen.effects.iter().filter(is_call_effect), policy),
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
    let explain = |effect: &Effect| ExplainedEffect {
        does: match effect.kind {
            EffectKind::Path(kind) => descriptions::describe_action(kind),
            EffectKind::Rule(_) | EffectKind::Watched(_) => "affects",
        },
        target: effect.place.as_ref().map(|place| shorten_text(place.display_path())),
        place: effect.place.as_ref().map_or_else(Vec::new, |place| descriptions::describe_classes(place.classes)),
        recursive: effect.recursive,
        program: effect.program,
        rules: rules::evaluate_rules(effect)
            .map(|(rule, matched)| evaluate_rule(rule, matched, effect, policy))
            .collect(),
    };
    effects.take(MAX_EFFECTS_PER_STEP).map(explain).collect()
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
    Some(policy.entries.get(number?)?.reason.clone())
}

/// Enough of a text to recognise it, on one line.
fn shorten_text(text: &str) -> String {
    rules::shorten_text(&text.replace(['\n', '\t'], " "), MAX_TEXT_CHARS)
}

#[cfg(test)]
mod tests;
