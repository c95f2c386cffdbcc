//! Denied effects that another call tries again by another road.

use serde_json::Value as Json;

use super::{DeniedEffect, SessionMark, SessionScene};
use crate::effects::{Effect, EffectKind, PathAction};
use crate::invocation::Invocation;
use crate::judge::{CallAnalysis, GuardJudgement};
use crate::policy::GuardDecision;
use crate::programs::{self, ProgramHandler};
use crate::rules::{RULES, collect_findings, shorten_text};

/// Actions that come to the same, and their name.
const ROADS: &[(&str, &[PathAction])] = &[
    (DELETION, &[PathAction::Delete, PathAction::Take, PathAction::Overwrite, PathAction::Replace]),
    (
        "reading or sending",
        &[PathAction::Read, PathAction::Copy, PathAction::Link, PathAction::Send, PathAction::SendRaw],
    ),
    (
        "change",
        &[
            PathAction::Put,
            PathAction::Append,
            PathAction::Edit,
            PathAction::MayEdit,
            PathAction::Make,
            PathAction::Unpack,
            PathAction::Mode,
            PathAction::Chown,
        ],
    ),
];

const DELETION: &str = "deletion";

/// The rule for an effect that was denied.
const AGAIN_RULE: &str = "session.again";
/// The rule for a call that names its target, and that may have the same effect.
const UNCLEAR_RULE: &str = "session.again-unclear";

/// How many effects of one call are remembered.
const MAX_DENIED: usize = 8;
/// Effects on longer paths are not remembered.
const MAX_PATH_BYTES: usize = 4096;
/// How much text of a call is searched for a target.
const MAX_TEXT_BYTES: usize = 1 << 20;
const MAX_SHOWN_CHARS: usize = 200;

/// An effect that was denied before.
pub(super) struct RepeatedEffect {
    /// The rule for it.
    pub(super) rule: &'static str,
    pub(super) by: Option<usize>,
    pub(super) sentence: String,
}

/// The effect of a call that was denied before, if any.
pub(super) fn find_repeat(
    scene: &SessionScene<'_>,
    analysis: &CallAnalysis,
    judgement: &GuardJudgement,
) -> Option<RepeatedEffect> {
    // The user's entry allows the call, perhaps because of the denial.
    if judgement.allowed_by.is_some() {
        return None;
    }
    let may_apply = |denied: &&DeniedEffect| {
        let rule = RULES.iter().find(|rule| rule.id == denied.rule);
        rule.is_none_or(|rule| scene.policy.decide(rule) > GuardDecision::Allow)
    };
    let mut newest_first = scene.facts.denied.iter().rev().filter(may_apply);
    newest_first.find_map(|denied| {
        if denied.action.is_empty() {
            return repeat_of_rule(denied, analysis, judgement);
        }
        repeat_of_effect(scene, denied, analysis).or_else(|| repeat_of_mention(scene, denied, analysis))
    })
}

/// A call for the same target that the same rule denies.
fn repeat_of_rule(
    denied: &DeniedEffect,
    analysis: &CallAnalysis,
    judgement: &GuardJudgement,
) -> Option<RepeatedEffect> {
    let is_denied = judgement.unaudited == GuardDecision::Deny && judgement.rule == Some(denied.rule.as_str());
    let is_same = |effect: &&Effect| {
        let rule = match effect.kind {
            EffectKind::Rule(number) => RULES.get(number),
            EffectKind::Path(_) | EffectKind::Watched(_) => None,
        };
        rule.is_some_and(|rule| rule.id == denied.rule) && describe_target(effect) == denied.path
    };
    let effect = analysis.effects.iter().find(is_same).filter(|_| is_denied)?;
    let sentence = format!("{} denied the same before.", denied.rule);
    Some(RepeatedEffect { rule: AGAIN_RULE, by: effect.by, sentence })
}

/// The target of an effect without a known path, as it was written.
fn describe_target(effect: &Effect) -> String {
    let written = effect.place.as_ref().map(|place| place.written.as_str());
    [written, effect.command.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// An effect that comes to the same, on the same target.
fn repeat_of_effect(
    scene: &SessionScene<'_>,
    denied: &DeniedEffect,
    analysis: &CallAnalysis,
) -> Option<RepeatedEffect> {
    let is_same = |effect: &&Effect| {
        let EffectKind::Path(action) = effect.kind else {
            return false;
        };
        let is_free = effect.allowed.is_some() || effect.session == Some(SessionMark::Made);
        !is_free && find_road(action) == Some(denied.action.as_str()) && has_target(effect, &denied.path)
    };
    let effect = analysis.effects.iter().find(is_same)?;
    let mut earlier = scene.facts.denied.iter().filter(|other| other.path == denied.path);
    let is_known = earlier.any(|other| other.program == effect.program);
    let now = if is_known { String::new() } else { format!(", now by {}", effect.program) };
    let sentence =
        format!("It is the {} of {} that {} denied before{now}.", denied.action, show(&denied.path), denied.rule);
    Some(RepeatedEffect { rule: AGAIN_RULE, by: effect.by, sentence })
}

fn has_target(effect: &Effect, path: &str) -> bool {
    let Some(place) = &effect.place else {
        return false;
    };
    // To delete everything in a directory comes to the same.
    let is_all_in = || place.written.ends_with("/*") && place.known_prefix().is_some_and(|(prefix, _)| prefix == path);
    place.path.as_deref() == Some(path) || is_all_in()
}

/// A call that names the target, and that the guard cannot read completely.
fn repeat_of_mention(
    scene: &SessionScene<'_>,
    denied: &DeniedEffect,
    analysis: &CallAnalysis,
) -> Option<RepeatedEffect> {
    let names = list_names_of(&denied.path, scene);
    let mentions = |text: &str| names.iter().any(|name| contains_path(text, name));
    let by = analysis.invocations.iter().enumerate().find_map(|(number, invocation)| {
        let is_hidden = denied.action == DELETION && is_interpreter(invocation) && !invocation.elsewhere;
        let mut words = invocation.argv.iter().chain(invocation.stdin.as_text());
        let is_read =
            || analysis.effects.iter().any(|effect| effect.by == Some(number) && has_target(effect, &denied.path));
        (is_hidden && words.any(|word| mentions(&word.to_string())) && !is_read()).then_some(number)
    });
    let is_partial = || !analysis.coverage.is_full() && mentions(&join_texts(scene.call.input));
    if by.is_none() && !is_partial() {
        return None;
    }
    let sentence = format!(
        "It names {}, whose {} {} denied before, and the guard cannot tell what it does with it.",
        show(&denied.path),
        denied.action,
        denied.rule
    );
    Some(RepeatedEffect { rule: UNCLEAR_RULE, by, sentence })
}

fn is_interpreter(invocation: &Invocation) -> bool {
    let program = invocation.name().and_then(programs::find_program);
    program.is_some_and(|(_, program)| program.handler == Some(ProgramHandler::Interpreter))
}

/// The ways to write a path.
fn list_names_of(path: &str, scene: &SessionScene<'_>) -> Vec<String> {
    let context = scene.context;
    let mut names = vec![path.to_owned()];
    let below = |directory: &str| path.strip_prefix(directory)?.strip_prefix('/').map(str::to_owned);
    if let Some(rest) = below(&context.home) {
        names.extend(["~/", "$HOME/", "${HOME}/"].map(|start| format!("{start}{rest}")));
    }
    let mut up = String::new();
    for directory in std::path::Path::new(&context.cwd).ancestors().take(8).filter_map(|directory| directory.to_str()) {
        // A short word may be anything.
        names.extend(below(directory).map(|rest| format!("{up}{rest}")).filter(|name| name.len() > 3));
        up.push_str("../");
    }
    names
}

/// Whether a text has a path that is not a part of a longer word.
fn contains_path(text: &str, path: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    text.match_indices(path).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + path.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(|c| is_word(c) || matches!(c, '.' | '/')) && !after.is_some_and(|c| is_word(c) || c == '.')
    })
}

/// All texts of an input.
fn join_texts(input: &Json) -> String {
    let mut all = String::new();
    let mut rest = vec![input];
    while let Some(value) = rest.pop() {
        match value {
            Json::String(text) if all.len() + text.len() <= MAX_TEXT_BYTES => {
                all.push_str(text);
                all.push('\n');
            }
            Json::Array(items) => rest.extend(items),
            Json::Object(fields) => rest.extend(fields.values()),
            _ => {}
        }
    }
    all
}

/// The effects for which a call is denied.
pub(super) fn list_denied_effects(scene: &SessionScene<'_>, analysis: &CallAnalysis) -> Vec<DeniedEffect> {
    let findings = collect_findings(&analysis.effects);
    let denied = findings.iter().filter(|finding| {
        !finding.is_exempt()
            && scene.policy.decide(finding.rule) == GuardDecision::Deny
            && !matches!(finding.effect.session, Some(SessionMark::Because(_)))
    });
    let mut effects: Vec<DeniedEffect> = denied
        .filter_map(|finding| {
            let effect = finding.effect;
            let road = match effect.kind {
                EffectKind::Path(action) => find_road(action),
                EffectKind::Rule(_) | EffectKind::Watched(_) => None,
            };
            let path = effect.place.as_ref().and_then(|place| place.path.as_deref()).zip(road);
            let (path, action) =
                path.map_or_else(|| (describe_target(effect), ""), |(path, action)| (path.to_owned(), action));
            let effect = DeniedEffect {
                rule: finding.rule.id.to_owned(),
                action: action.to_owned(),
                path,
                program: effect.program.to_owned(),
            };
            (effect.path.len() <= MAX_PATH_BYTES).then_some(effect)
        })
        .take(MAX_DENIED)
        .collect();
    effects.dedup();
    effects
}

fn find_road(action: PathAction) -> Option<&'static str> {
    ROADS.iter().find(|(_, actions)| actions.contains(&action)).map(|(name, _)| *name)
}

fn show(path: &str) -> String {
    shorten_text(path, MAX_SHOWN_CHARS)
}
