//! What all hooks of one event decided together, and how their answers are folded into it.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::diagnostic::Diagnostic;
use crate::event::EventName;
use crate::hook::Hook;
use crate::outcome::Outcome;

/// What was decided. Ordered: folding opinions is taking the greatest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    /// No hook had an opinion.
    #[default]
    None,
    /// A hook allows it.
    Allow,
    /// A hook wants the user to be asked.
    Ask,
    /// A hook denies it.
    Deny,
}

/// What all hooks of one event decided together.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Verdict {
    /// The event that was judged.
    pub event: EventName,
    /// What was decided.
    pub decision: Decision,
    /// Why, in the words of the hooks that decided it, in configured order, each on its own line.
    pub reason: Option<String>,
    /// The tool's input, if a hook changed it.
    pub tool_input: Option<Value>,
    /// The tool's output, if a hook changed it.
    pub tool_output: Option<Value>,
    /// Text for the model.
    pub context: Vec<String>,
    /// Text for the user.
    pub messages: Vec<String>,
    /// Set when a hook asks that the whole turn ends, with its reason (Claude Code's `continue: false`).
    pub stop: Option<String>,
    /// What else hooks answered that a host may honour, under Claude Code's names (`sessionTitle`, `watchPaths` …).
    pub extra: Map<String, Value>,
    /// Every hook that matched, in configured order, and what became of it.
    pub hooks: Vec<HookRun>,
    /// What is odd about the event, and what hooks did that had no effect or failed and went on.
    pub warnings: Vec<Diagnostic>,
}

impl Verdict {
    /// Whether the agent must not go on with what it was about to do.
    pub fn is_blocked(&self) -> bool {
        self.decision == Decision::Deny
    }
}

/// One hook that matched an event, and what became of it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HookRun {
    /// The hook.
    pub hook: Arc<Hook>,
    /// What became of it.
    pub status: Status,
    /// What it produced, if it ran and was awaited.
    pub outcome: Option<Outcome>,
    /// Why it was skipped, or what else there is to know.
    pub why: Option<String>,
}

/// What became of a hook that matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// It ran and had nothing against the event.
    Ok,
    /// It failed by itself.
    Failed,
    /// It answered that the event is to be blocked.
    Blocked,
    /// Its deadline passed.
    TimedOut,
    /// It did not run; `why` says why.
    Skipped,
    /// It was started and is not awaited.
    Started,
}

/// What one hook answered, read by its contract.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: Option<Status>,
    pub(crate) decision: Decision,
    pub(crate) reason: Option<String>,
    pub(crate) tool_input: Option<Value>,
    pub(crate) tool_output: Option<Value>,
    pub(crate) context: Vec<String>,
    pub(crate) messages: Vec<String>,
    pub(crate) warnings: Vec<String>,
    pub(crate) stop: Option<String>,
    pub(crate) extra: Map<String, Value>,
}

/// Folds answers into a verdict.
#[derive(Debug)]
pub(crate) struct Fold {
    verdict: Verdict,
    opinions: Vec<(Decision, Option<String>)>,
}

impl Fold {
    pub(crate) fn new(event: EventName) -> Self {
        Self {
            verdict: Verdict {
                event,
                decision: Decision::None,
                reason: None,
                tool_input: None,
                tool_output: None,
                context: Vec::new(),
                messages: Vec::new(),
                stop: None,
                extra: Map::new(),
                hooks: Vec::new(),
                warnings: Vec::new(),
            },
            opinions: Vec::new(),
        }
    }

    /// Notes a hook of which there is nothing to fold.
    pub(crate) fn note(&mut self, run: HookRun) {
        self.verdict.hooks.push(run);
    }

    pub(crate) fn warn(&mut self, diagnostic: Diagnostic) {
        self.verdict.warnings.push(diagnostic);
    }

    /// Folds in what a hook answered.
    pub(crate) fn add(&mut self, hook: &Arc<Hook>, outcome: Outcome, mut answer: Answer) {
        let blocks = (hook.contract.blocks)(&self.verdict.event);
        if answer.decision != Decision::None && !blocks {
            // There is nothing to decide; what the hook has to say still reaches whom it concerns.
            let objects = answer.decision > Decision::Allow;
            answer.decision = Decision::None;
            let listeners = match self.verdict.event {
                EventName::PostToolUse | EventName::PostToolUseFailure => &mut answer.context,
                _ => &mut answer.messages,
            };
            listeners.extend(answer.reason.take().filter(|reason| objects && !reason.is_empty()));
        }
        let verdict = &mut self.verdict;
        verdict
            .warnings
            .extend(answer.warnings.into_iter().map(|message| hook.origin.warning(message)));
        if answer.decision > Decision::None {
            self.opinions.push((answer.decision, answer.reason));
        }
        verdict.tool_input = answer.tool_input.or(verdict.tool_input.take());
        verdict.tool_output = answer.tool_output.or(verdict.tool_output.take());
        verdict.context.extend(answer.context);
        verdict.messages.extend(answer.messages);
        if verdict.stop.is_none() {
            verdict.stop = answer.stop;
        }
        verdict.extra.extend(answer.extra);
        verdict.hooks.push(HookRun {
            hook: Arc::clone(hook),
            status: answer.status.unwrap_or(Status::Ok),
            why: match &outcome.end {
                crate::outcome::End::NotStarted(why) => Some(why.clone()),
                _ => None,
            },
            outcome: Some(outcome),
        });
    }

    /// The verdict. The greatest opinion decides, and the reasons of all who hold it are its reason.
    pub(crate) fn finish(mut self) -> Verdict {
        let decision = self
            .opinions
            .iter()
            .map(|(decision, _)| *decision)
            .max()
            .unwrap_or_default();
        let reasons: Vec<_> = self
            .opinions
            .into_iter()
            .filter(|(opinion, _)| *opinion == decision)
            .filter_map(|(_, reason)| reason.filter(|text| !text.is_empty()))
            .collect();
        self.verdict.decision = decision;
        self.verdict.reason = (!reasons.is_empty()).then(|| reasons.join("\n"));
        // Blocking a stop means "go on"; a hook that wants the turn to end beats it.
        let about_stopping = matches!(self.verdict.event, EventName::Stop | EventName::SubagentStop);
        if about_stopping && self.verdict.stop.is_some() {
            self.verdict.decision = Decision::None;
            self.verdict.reason.clone_from(&self.verdict.stop);
        }
        self.verdict
    }
}
