//! A call that is heard: once as the agent has it, and again whenever a hook changes it.

use std::path::Path;

use serde_json::Value;
use snell::{Event, EventName, GuardReport, Settings, Timestamp, Verdict as Answer};
use snell_guard::{Judgement, Verdict};
use snell_store::GuardVerdict;

use super::{Guard, told};

/// The field that says which tool is called.
const TOOL_NAME: &str = "tool_name";

/// A call, and what was said about it.
#[derive(Debug)]
pub(crate) struct Hearing<'a> {
    event: &'a Event,
    guard: Guard,
    judgements: Vec<Judgement>,
    /// How many of them are about the call as the agent has it.
    of_agent: usize,
}

impl<'a> Hearing<'a> {
    /// The hearing of a call that is about to happen; nothing for events that are about none.
    pub(crate) fn of(event: &'a Event, settings: &Settings, project: &Path, now: Timestamp) -> Option<Self> {
        let is_to_come = matches!(event.name, EventName::PreToolUse | EventName::PermissionRequest);
        is_to_come.then(|| Self {
            event,
            guard: Guard::of(settings, project, now),
            judgements: Vec::new(),
            of_agent: 0,
        })
    }

    /// The same, of a call of the agent with this process.
    #[must_use]
    pub(crate) fn with_agent_process(mut self, pid: Option<u32>) -> Self {
        self.guard = self.guard.with_agent_process(pid);
        self
    }

    /// Judges the call as the agent has it, and adds that to the answer.
    pub(crate) fn hear(&mut self, answer: &mut Answer) {
        let input = self.event.tool.as_ref().and_then(|tool| tool.input.as_ref());
        self.judge(input.unwrap_or(&Value::Null), answer);
        self.of_agent = self.judgements.len();
    }

    /// Judges it again if a hook has changed its input.
    pub(crate) fn hear_again(&mut self, answer: &mut Answer) {
        if let Some(input) = answer.tool_input.clone() {
            self.judge(&input, answer);
        }
    }

    /// Says that the call could not be read, or not all of it.
    pub(crate) fn is_unread(&mut self, why: &str, answer: &mut Answer) {
        self.say(Judgement::unread(&self.guard.policy, why), None, answer);
        self.of_agent = self.judgements.len();
    }

    fn judge(&mut self, input: &Value, answer: &mut Answer) {
        // A name of another kind was made a text, and a tool of that name there is not.
        let is_text = |name: &Value| name.is_string();
        let is_named = self.event.raw.get(TOOL_NAME).is_none_or(is_text);
        let tool = self.event.tool_name().filter(|_| is_named).unwrap_or_default();
        let judgement = self.guard.judge(tool, input, self.event.cwd.as_deref());
        let closer = told::closer(tool, input);
        self.say(judgement, closer.as_deref(), answer);
    }

    fn say(&mut self, judgement: Judgement, closer: Option<&str>, answer: &mut Answer) {
        let is_the_same = |earlier: &Judgement| {
            (earlier.decision, earlier.rule, &earlier.reason) == (judgement.decision, judgement.rule, &judgement.reason)
        };
        if self.judgements.iter().any(is_the_same) {
            return;
        }
        // Where permission is requested the user is being asked already.
        let is_asked = self.event.name == EventName::PermissionRequest && judgement.decision == Verdict::Ask;
        if !is_asked {
            told::tell(&judgement, closer, answer);
        }
        self.judgements.push(judgement);
    }

    /// The gravest of what was said, for programs.
    pub(crate) fn report(&self) -> Option<GuardReport> {
        let gravest = self
            .judgements
            .iter()
            .reduce(|gravest, next| if next.would > gravest.would { next } else { gravest });
        gravest.map(told::report)
    }

    /// What is kept of what was said.
    pub(crate) fn recorded(&self) -> Vec<GuardVerdict> {
        let judgements = self.judgements.iter().enumerate();
        let recorded = judgements.filter_map(|(number, judgement)| told::recorded(judgement, number >= self.of_agent));
        recorded.collect()
    }
}
