//! Judges a call, and judges it again whenever a hook changes its input.

use std::path::Path;

use serde_json::Value;
use snell::{Decision, Event, EventName, GuardReport, HookRunStatus, SnellSettings, Timestamp, Verdict};
use snell_guard::rules::RuleTier;
use snell_guard::{ApprovalClass, CallApproval, FileLoss, GuardDecision, GuardJudgement, SessionNotes};
use snell_store::GuardVerdictRecord;

use super::report::JudgedInput;
use super::session::{self, CallFate, SessionFile};
use super::{GuardCaller, ProjectGuard, report};

/// The permission mode in which agents only plan.
const PLAN_MODE: &str = "plan";

/// The start of the reason of an approved call, for agents and records.
pub(crate) const APPROVAL_START: &str = "Snell approved it:";

/// The field with the tool's name.
const TOOL_NAME: &str = "tool_name";

/// A call and its judgements.
#[derive(Debug)]
pub(crate) struct GuardRun<'a> {
    event: &'a Event,
    guard: ProjectGuard,
    judgements: Vec<GuardJudgement>,
    /// How many judgements are about the agent's own input.
    original_count: usize,
    /// Texts for the user that say that the guard asks.
    question_notes: Vec<String>,
    /// The session of the call, if it is known.
    session: Option<&'a SessionFile>,
    /// New facts of the session, by the last judgement.
    session_notes: SessionNotes,
    /// Why the guard approves the last input that it judged.
    approval: Option<CallApproval>,
}

impl<'a> GuardRun<'a> {
    /// A run for a call that has not happened yet; `None` for other events.
    pub(crate) fn for_event(
        event: &'a Event,
        settings: &SnellSettings,
        project: &Path,
        now: Timestamp,
    ) -> Option<Self> {
        let is_to_come = matches!(event.name, EventName::PreToolUse | EventName::PermissionRequest);
        is_to_come.then(|| Self {
            event,
            guard: ProjectGuard::from_settings(settings, project, now).with_caller(GuardCaller {
                agent: event.platform.clone(),
                native_tool: event.tool.as_ref().and_then(|tool| tool.native_name.clone()),
            }),
            judgements: Vec::new(),
            original_count: 0,
            question_notes: Vec::new(),
            session: None,
            session_notes: SessionNotes::default(),
            approval: None,
        })
    }

    /// The same, for a call of the agent with this process.
    #[must_use]
    pub(crate) fn with_agent_process(mut self, pid: Option<u32>) -> Self {
        self.guard = self.guard.with_agent_process(pid);
        self
    }

    /// The same, for a call in this session.
    #[must_use]
    pub(crate) fn in_session(self, session: Option<&'a SessionFile>) -> Self {
        Self { session, ..self }
    }

    /// Writes what the guard found out about the call to the file of its session.
    pub(crate) fn note_session(&self) {
        let fate = match self.judgements.iter().map(|judgement| judgement.decision).max() {
            Some(GuardDecision::Deny) => CallFate::Denied,
            Some(GuardDecision::Ask) => CallFate::Asked,
            Some(GuardDecision::Allow) | None => CallFate::Allowed,
        };
        if let Some(session) = self.session {
            session::note_call(session, self.event, &self.session_notes, fate);
        }
    }

    /// Judges the agent's own input, and adds the result to the answer.
    pub(crate) fn judge_original(&mut self, answer: &mut Verdict) {
        let input = self.event.tool.as_ref().and_then(|tool| tool.input.as_ref());
        self.judge_input(input.unwrap_or(&Value::Null), answer);
        self.original_count = self.judgements.len();
    }

    /// Judges the call again if a hook has changed its input.
    pub(crate) fn rejudge_if_changed(&mut self, answer: &mut Verdict) {
        if let Some(input) = answer.tool_input.clone() {
            self.judge_input(&input, answer);
        }
    }

    /// Records that the call, or a part of it, could not be read.
    pub(crate) fn mark_unreadable(&mut self, why: &str, answer: &mut Verdict) {
        self.approval = None;
        self.add_judgement(GuardJudgement::for_unreadable_call(self.guard.policy(), why), None, answer);
        self.original_count = self.judgements.len();
    }

    /// A few plain lines for people that say what this input of the call would do. It costs as much as another judgement.
    pub(crate) fn describe_input(&self, input: &Value) -> Vec<String> {
        let tool = self.event.tool_name().unwrap_or_default();
        self.guard.describe_call(tool, input, self.event.cwd.as_deref())
    }

    fn judge_input(&mut self, input: &Value, answer: &mut Verdict) {
        // `tool_name` was not a string, so the tool is unknown.
        let is_text = |name: &Value| name.is_string();
        let is_named = self.event.raw.get(TOOL_NAME).is_none_or(is_text);
        let tool = self.event.tool_name().filter(|_| is_named).unwrap_or_default();
        let cwd = self.event.cwd.as_deref();
        let (mut judgement, notes) = match self.session {
            Some(session) => {
                let key = self.event.tool.as_ref().map(session::find_call_key).unwrap_or_default();
                self.guard.judge_in_session(tool, input, cwd, &|| session.facts_before_call(&key))
            }
            None => (self.guard.judge(tool, input, cwd), SessionNotes::default()),
        };
        self.session_notes = notes;
        self.approval = judgement.approval.take();
        // Such a rule applies only in the session.
        let is_of_session = judgement.rule_id().is_some_and(|rule| rule.starts_with("session."));
        let session = self.event.session_id.as_deref().filter(|_| is_of_session);
        let details = report::format_explain_command(tool, input, session);
        self.add_judgement(judgement, details.as_deref(), answer);
    }

    fn add_judgement(&mut self, judgement: GuardJudgement, details: Option<&str>, answer: &mut Verdict) {
        let is_the_same = |earlier: &GuardJudgement| {
            (earlier.decision, earlier.rule_id(), &earlier.reason)
                == (judgement.decision, judgement.rule_id(), &judgement.reason)
        };
        if self.judgements.iter().any(is_the_same) {
            return;
        }
        // A permission request asks the user already.
        let is_asked = self.event.name == EventName::PermissionRequest && judgement.decision == GuardDecision::Ask;
        if !is_asked {
            let before = answer.messages.len();
            // The line with the details comes last, because people paste its end.
            report::report_repeat(&judgement, self.session_notes.repeats.as_deref(), answer);
            report::apply_judgement(&judgement, details, answer);
            let is_question = judgement.decision == GuardDecision::Ask;
            self.question_notes
                .extend(answer.messages.get(before..).filter(|_| is_question).into_iter().flatten().cloned());
        }
        self.judgements.push(judgement);
    }

    /// The files that the call would delete or overwrite with its present input.
    pub(crate) fn list_file_losses(&self, answer: &Verdict) -> Vec<FileLoss> {
        let own = self.event.tool.as_ref().and_then(|tool| tool.input.as_ref());
        let input = answer.tool_input.as_ref().or(own).unwrap_or(&Value::Null);
        let tool = self.event.tool_name().unwrap_or_default();
        self.guard.list_file_losses(tool, input, self.event.cwd.as_deref())
    }

    /// Why the guard approves the call as it would run, if the verdict of hooks does not stop it. An agent that plans must not change
    /// anything, whatever its user approves otherwise.
    pub(crate) fn find_approval(&self, answer: &Verdict) -> Option<&CallApproval> {
        let is_planning = self.event.permission_mode.as_deref() == Some(PLAN_MODE);
        // A changed input of a permission request does not reach the agent.
        let is_as_judged = answer.tool_input.is_none() || self.event.name == EventName::PreToolUse;
        let has_failure =
            answer.hooks.iter().any(|run| matches!(run.status, HookRunStatus::Failed | HookRunStatus::TimedOut));
        // A part of an answer that was not understood may be a veto.
        let is_understood = answer.warnings.is_empty();
        let is_open = answer.decision <= Decision::Allow && answer.stop.is_none() && !has_failure && is_understood;
        let is_clean = self.judgements.iter().all(|judgement| judgement.unaudited == GuardDecision::Allow);
        let approval = self.approval.as_ref().filter(|_| is_open && is_clean && is_as_judged);
        approval.filter(|approval| !is_planning || approval.class == ApprovalClass::Reads)
    }

    /// Whether the guard asks about Snell's own files or about secrets, which no setting for headless sessions allows.
    pub(crate) fn asks_about_own_or_secret_files(&self) -> bool {
        let is_grave = |judgement: &GuardJudgement| judgement.tier.is_some_and(|tier| tier <= RuleTier::Secret);
        self.judgements.iter().any(|judgement| judgement.decision == GuardDecision::Ask && is_grave(judgement))
    }

    /// Once the user has answered, nothing says any more that the guard asks. Returns whether anything did.
    pub(crate) fn retract_questions(&self, answer: &mut Verdict) -> bool {
        let before = answer.messages.len();
        answer.messages.retain(|message| !self.question_notes.contains(message));
        answer.messages.len() < before
    }

    /// The rules and entries that ask about the call.
    pub(crate) fn list_asking_rules(&self) -> impl Iterator<Item = &str> {
        let asking = self.judgements.iter().filter(|judgement| judgement.decision == GuardDecision::Ask);
        asking.map(|judgement| judgement.rule_id().unwrap_or("guard"))
    }

    /// The gravest judgement as JSON, and why the guard approves the call.
    pub(crate) fn worst_report(&self, answer: &Verdict) -> Option<GuardReport> {
        let gravest = self
            .judgements
            .iter()
            .reduce(|gravest, next| if next.unaudited > gravest.unaudited { next } else { gravest });
        let approved = self.find_approval(answer).map(ToString::to_string);
        gravest.map(|gravest| GuardReport { approved, ..report::build_report(gravest) })
    }

    /// The judgements as the store keeps them.
    pub(crate) fn to_records(&self) -> Vec<GuardVerdictRecord> {
        let judgements = self.judgements.iter().enumerate();
        let input_of = |number| if number < self.original_count { JudgedInput::Original } else { JudgedInput::Changed };
        judgements.filter_map(|(number, judgement)| report::build_record(judgement, input_of(number))).collect()
    }
}
