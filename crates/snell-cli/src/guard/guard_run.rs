//! A call that is heard: once as the agent has it, and again whenever a hook changes it.

use std::path::Path;

use serde_json::Value;
use snell::{Event, EventName, GuardReport, SnellSettings, Timestamp, Verdict};
use snell_guard::{GuardDecision, GuardJudgement};
use snell_store::GuardVerdictRecord;

use super::report::JudgedInput;
use super::{ProjectGuard, report};

/// The field that says which tool is called.
const TOOL_NAME: &str = "tool_name";

/// A call, and what was said about it.
#[derive(Debug)]
pub(crate) struct GuardRun<'a> {
    event: &'a Event,
    guard: ProjectGuard,
    judgements: Vec<GuardJudgement>,
    /// How many of them are about the call as the agent has it.
    original_count: usize,
}

impl<'a> GuardRun<'a> {
    /// The hearing of a call that is about to happen; nothing for events that are about none.
    pub(crate) fn for_event(
        event: &'a Event,
        settings: &SnellSettings,
        project: &Path,
        now: Timestamp,
    ) -> Option<Self> {
        let is_to_come = matches!(event.name, EventName::PreToolUse | EventName::PermissionRequest);
        is_to_come.then(|| Self {
            event,
            guard: ProjectGuard::from_settings(settings, project, now),
            judgements: Vec::new(),
            original_count: 0,
        })
    }

    /// The same, of a call of the agent with this process.
    #[must_use]
    pub(crate) fn with_agent_process(mut self, pid: Option<u32>) -> Self {
        self.guard = self.guard.with_agent_process(pid);
        self
    }

    /// Judges the call as the agent has it, and adds that to the answer.
    pub(crate) fn judge_original(&mut self, answer: &mut Verdict) {
        let input = self.event.tool.as_ref().and_then(|tool| tool.input.as_ref());
        self.judge_input(input.unwrap_or(&Value::Null), answer);
        self.original_count = self.judgements.len();
    }

    /// Judges it again if a hook has changed its input.
    pub(crate) fn rejudge_if_changed(&mut self, answer: &mut Verdict) {
        if let Some(input) = answer.tool_input.clone() {
            self.judge_input(&input, answer);
        }
    }

    /// Says that the call could not be read, or not all of it.
    pub(crate) fn mark_unreadable(&mut self, why: &str, answer: &mut Verdict) {
        self.add_judgement(GuardJudgement::for_unreadable_call(self.guard.policy(), why), None, answer);
        self.original_count = self.judgements.len();
    }

    fn judge_input(&mut self, input: &Value, answer: &mut Verdict) {
        // A name of another kind was made a text, and a tool of that name there is not.
        let is_text = |name: &Value| name.is_string();
        let is_named = self.event.raw.get(TOOL_NAME).is_none_or(is_text);
        let tool = self.event.tool_name().filter(|_| is_named).unwrap_or_default();
        let judgement = self.guard.judge(tool, input, self.event.cwd.as_deref());
        let closer = report::format_explain_command(tool, input);
        self.add_judgement(judgement, closer.as_deref(), answer);
    }

    fn add_judgement(&mut self, judgement: GuardJudgement, closer: Option<&str>, answer: &mut Verdict) {
        let is_the_same = |earlier: &GuardJudgement| {
            (earlier.decision, earlier.rule, &earlier.reason) == (judgement.decision, judgement.rule, &judgement.reason)
        };
        if self.judgements.iter().any(is_the_same) {
            return;
        }
        // Where permission is requested the user is being asked already.
        let is_asked = self.event.name == EventName::PermissionRequest && judgement.decision == GuardDecision::Ask;
        if !is_asked {
            report::apply_judgement(&judgement, closer, answer);
        }
        self.judgements.push(judgement);
    }

    /// The gravest of what was said, for programs.
    pub(crate) fn worst_report(&self) -> Option<GuardReport> {
        let gravest = self
            .judgements
            .iter()
            .reduce(|gravest, next| if next.unaudited > gravest.unaudited { next } else { gravest });
        gravest.map(report::build_report)
    }

    /// What is kept of what was said.
    pub(crate) fn to_records(&self) -> Vec<GuardVerdictRecord> {
        let judgements = self.judgements.iter().enumerate();
        let input_of = |number| if number < self.original_count { JudgedInput::Original } else { JudgedInput::Changed };
        judgements.filter_map(|(number, judgement)| report::build_record(judgement, input_of(number))).collect()
    }
}
