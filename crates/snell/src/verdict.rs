//! The combined decision of all hooks of one event.

use std::cmp::Ordering;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::diagnostic::Diagnostic;
use crate::event::EventName;
use crate::hook::Hook;
use crate::outcome::Outcome;

/// A decision. The order matters: the combined decision is the greatest one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    /// No hook decided.
    #[default]
    None,
    /// A hook allows it.
    Allow,
    /// A hook wants to ask the user.
    Ask,
    /// A hook denies it.
    Deny,
}

/// The combined decision of all hooks of one event.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Verdict {
    /// The event.
    pub event: EventName,
    /// The decision.
    pub decision: Decision,
    /// The reasons of the hooks that made the decision, in configured order, each on its own line.
    pub reason: Option<String>,
    /// The question to the user for an ask, if it differs from the reason, which the model reads if no user can be asked.
    pub question: Option<String>,
    /// The tool's input, if a hook changed it.
    pub tool_input: Option<Value>,
    /// The tool's output, if a hook changed it.
    pub tool_output: Option<Value>,
    /// Text for the model.
    pub context: Vec<String>,
    /// Text for the user.
    pub messages: Vec<String>,
    /// The reason, if a hook ends the whole turn (Claude Code's `continue: false`).
    pub stop: Option<String>,
    /// Further answers of hooks for a host, under Claude Code's names (`sessionTitle`, `watchPaths` …).
    pub extra: Map<String, Value>,
    /// Every hook that matched, in configured order, and its result.
    pub hooks: Vec<HookRun>,
    /// Warnings about the event, about answers without effect, and about hooks that failed without a block.
    pub warnings: Vec<Diagnostic>,
}

impl Verdict {
    /// A verdict without a decision, for a caller that decides itself. [`Engine::fire`](crate::Engine::fire) returns
    /// one from hooks.
    pub fn new(event: EventName) -> Self {
        Self {
            event,
            decision: Decision::None,
            reason: None,
            question: None,
            tool_input: None,
            tool_output: None,
            context: Vec::new(),
            messages: Vec::new(),
            stop: None,
            extra: Map::new(),
            hooks: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Whether the agent must not continue.
    pub fn is_blocked(&self) -> bool {
        self.decision == Decision::Deny
    }

    /// Adds the caller's own denial. If hooks denied too, its reason follows theirs.
    pub fn deny(&mut self, reason: impl Into<String>) {
        self.add_opinion(Decision::Deny, Some(reason.into()), None);
        self.apply_stop_precedence();
    }

    /// Adds the caller's own ask. A denial by a hook overrides it.
    pub fn ask(&mut self, reason: impl Into<String>) {
        self.add_opinion(Decision::Ask, Some(reason.into()), None);
        self.apply_stop_precedence();
    }

    /// Adds the caller's own ask, with a question for the user. The model reads the reason if no user can be asked.
    pub fn ask_question(&mut self, reason: impl Into<String>, question: impl Into<String>) {
        self.add_opinion(Decision::Ask, Some(reason.into()), Some(question.into()));
        self.apply_stop_precedence();
    }

    /// Combines this verdict with a later one on the same event: the caller's own, and then that of hooks.
    #[must_use]
    pub fn merge_later(mut self, later: Self) -> Self {
        if later.decision > Decision::None {
            self.add_opinion(later.decision, later.reason, later.question);
        }
        self.tool_input = later.tool_input.or(self.tool_input);
        self.tool_output = later.tool_output.or(self.tool_output);
        self.context.extend(later.context);
        self.messages.extend(later.messages);
        self.stop = self.stop.or(later.stop);
        self.extra.extend(later.extra);
        self.hooks.extend(later.hooks);
        self.warnings.extend(later.warnings);
        self.apply_stop_precedence();
        self
    }

    /// Adds a text for the user.
    pub fn add_message(&mut self, text: impl Into<String>) {
        self.messages.push(text.into());
    }

    /// Adds a text for the model.
    pub fn add_context(&mut self, text: impl Into<String>) {
        self.context.push(text.into());
    }

    /// Adds a decision. The greatest one applies, with the reasons of all hooks that made it.
    fn add_opinion(&mut self, decision: Decision, reason: Option<String>, question: Option<String>) {
        let reason = reason.filter(|text| !text.is_empty());
        match decision.cmp(&self.decision) {
            Ordering::Less => {}
            Ordering::Greater => {
                self.decision = decision;
                self.reason = reason;
                self.question = question;
            }
            Ordering::Equal => {
                if self.question.is_some() || question.is_some() {
                    let first = self.question.take().or_else(|| self.reason.clone());
                    self.question = join_texts(first, question.or_else(|| reason.clone()));
                }
                self.reason = join_texts(self.reason.take(), reason);
            }
        }
    }

    /// Blocking a stop makes the agent continue. A hook that ends the turn overrides it.
    fn apply_stop_precedence(&mut self) {
        let about_stopping = matches!(self.event, EventName::Stop | EventName::SubagentStop);
        if about_stopping && self.stop.is_some() {
            self.decision = Decision::None;
            self.reason.clone_from(&self.stop);
        }
    }
}

/// Two texts, each on its own line.
fn join_texts(first: Option<String>, second: Option<String>) -> Option<String> {
    let both: Vec<_> = first.into_iter().chain(second).collect();
    (!both.is_empty()).then(|| both.join("\n"))
}

/// One hook that matched an event, and its result.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HookRun {
    /// The hook.
    pub hook: Arc<Hook>,
    /// Its status.
    pub status: HookRunStatus,
    /// Its own decision, before it was combined with others.
    pub decision: Decision,
    /// Its outcome, if it ran in the foreground.
    pub outcome: Option<Outcome>,
    /// Why it was skipped, or other details.
    pub why: Option<String>,
}

/// The status of a hook that matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Status"))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum HookRunStatus {
    /// It ran and did not block.
    Ok,
    /// It failed.
    Failed,
    /// It blocked the event.
    Blocked,
    /// Its deadline passed.
    TimedOut,
    /// It did not run, for the reason in `why`.
    Skipped,
    /// It was started in the background.
    Started,
}

impl HookRunStatus {
    /// Its name in results and records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Blocked => "blocked",
            Self::TimedOut => "timed_out",
            Self::Skipped => "skipped",
            Self::Started => "started",
        }
    }
}

/// The answer of one hook, read by its contract.
#[derive(Clone, Debug, Default)]
pub(crate) struct HookAnswer {
    pub(crate) status: Option<HookRunStatus>,
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

/// Combines answers to a verdict.
#[derive(Debug)]
pub(crate) struct Fold {
    verdict: Verdict,
}

impl Fold {
    pub(crate) fn new(event: EventName) -> Self {
        Self { verdict: Verdict::new(event) }
    }

    /// Records a hook without an answer.
    pub(crate) fn record_run(&mut self, run: HookRun) {
        self.verdict.hooks.push(run);
    }

    pub(crate) fn add_warning(&mut self, diagnostic: Diagnostic) {
        self.verdict.warnings.push(diagnostic);
    }

    /// Adds the answer of a hook.
    pub(crate) fn add_answer(&mut self, hook: &Arc<Hook>, outcome: Outcome, mut answer: HookAnswer) {
        let blocks = (hook.contract.can_block)(&self.verdict.event);
        if answer.decision != Decision::None && !blocks {
            // The event cannot be blocked, but the hook's texts still reach the user and the model.
            let objects = answer.decision > Decision::Allow;
            answer.decision = Decision::None;
            let listeners = match self.verdict.event {
                EventName::PostToolUse | EventName::PostToolUseFailure => &mut answer.context,
                _ => &mut answer.messages,
            };
            listeners.extend(answer.reason.take().filter(|reason| objects && !reason.is_empty()));
        }
        let verdict = &mut self.verdict;
        verdict.warnings.extend(answer.warnings.into_iter().map(|message| hook.origin.make_warning(message)));
        if answer.decision > Decision::None {
            verdict.add_opinion(answer.decision, answer.reason, None);
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
            status: answer.status.unwrap_or(HookRunStatus::Ok),
            decision: answer.decision,
            why: match &outcome.end {
                crate::outcome::RunEnd::NotStarted(why) => Some(why.clone()),
                _ => None,
            },
            outcome: Some(outcome),
        });
    }

    /// The verdict.
    pub(crate) fn into_verdict(mut self) -> Verdict {
        self.verdict.apply_stop_precedence();
        self.verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opinions_fold_whoever_adds_them() {
        use Decision::{Allow, Ask, Deny};
        type OpinionCase<'a> = &'a [(Decision, &'a str)];
        let cases: [(OpinionCase<'_>, Decision, Option<&str>); 6] = [
            (&[], Decision::None, None),
            (&[(Allow, "fine"), (Ask, "sure?")], Ask, Some("sure?")),
            (&[(Deny, "no"), (Ask, "sure?")], Deny, Some("no")),
            (&[(Deny, "no"), (Allow, "fine"), (Deny, "never")], Deny, Some("no\nnever")),
            (&[(Deny, ""), (Deny, "never")], Deny, Some("never")),
            (&[(Deny, "")], Deny, None),
        ];
        for (opinions, decision, reason) in cases {
            let mut verdict = Verdict::new(EventName::PreToolUse);
            for (decision, reason) in opinions {
                verdict.add_opinion(*decision, Some((*reason).to_owned()), None);
            }
            assert_eq!((verdict.decision, verdict.reason.as_deref()), (decision, reason));
        }
    }

    #[test]
    fn a_question_to_the_user_folds_beside_the_reason() {
        let mut verdict = Verdict::new(EventName::PreToolUse);
        verdict.ask("hook?");
        assert_eq!(verdict.question, None);
        verdict.ask_question("why, and advice", "Snell asks: why");
        assert_eq!(verdict.reason.as_deref(), Some("hook?\nwhy, and advice"));
        assert_eq!(verdict.question.as_deref(), Some("hook?\nSnell asks: why"));
        verdict.deny("no");
        assert_eq!((verdict.reason.as_deref(), verdict.question), (Some("no"), None));
    }

    #[test]
    fn what_was_decided_first_leads() {
        let mut first = Verdict::new(EventName::PreToolUse);
        first.deny("first");
        first.add_context("one");
        let mut later = Verdict::new(EventName::PreToolUse);
        later.deny("second");
        later.add_context("two");
        later.add_message("told");
        let both = first.merge_later(later);
        assert_eq!(both.reason.as_deref(), Some("first\nsecond"));
        assert_eq!(both.context, ["one", "two"]);
        assert_eq!(both.messages, ["told"]);
    }

    #[test]
    fn a_caller_cannot_keep_a_turn_going_that_a_hook_ends() {
        let mut verdict = Verdict::new(EventName::Stop);
        verdict.stop = Some("enough".into());
        verdict.deny("go on");
        assert_eq!((verdict.decision, verdict.reason.as_deref()), (Decision::None, Some("enough")));
    }
}
