//! The guard in the binary: `policy` and `judge_context` turn settings and environment into the library's types,
//! `local_file_system` is the disk, `catch_panic` turns a panic into a judgement, `guard_run` judges a call and every
//! change that hooks make to it, `report` writes texts for agents, users and the store, and `lint` checks the settings.

pub(crate) mod catch_panic;
mod guard_run;
mod judge_context;
mod lint;
mod local_file_system;
mod policy;
mod report;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde_json::{Value, json};
use snell::{SnellSettings, Timestamp, UserMessage, unpack_json_object};
use snell_guard::{Guard, GuardDecision, GuardExplanation, GuardJudgement, GuardPolicy, GuardToolCall};

pub(crate) use guard_run::GuardRun;
pub(crate) use lint::{lint_guard_settings, lint_unreadable_config};
use local_file_system::LocalFileSystem;
pub(crate) use policy::choice_from_decision;

use crate::output;

/// The tool that reads a file.
const READ_TOOL: &str = "Read";

/// Judges calls in one project, and never panics.
#[derive(Clone, Debug)]
pub(crate) struct ProjectGuard {
    guard: Guard,
    project: PathBuf,
}

impl ProjectGuard {
    /// A guard with the settings of an agent's project and the environment of this process.
    pub(crate) fn from_settings(settings: &SnellSettings, project: &Path, now: Timestamp) -> Self {
        let policy = policy::build_policy(&settings.guard, now);
        let context = judge_context::build_judge_context(settings, project);
        Self { guard: Guard::new(policy, context, Rc::new(LocalFileSystem)), project: project.to_owned() }
    }

    /// The same, for calls of the agent with this process.
    #[must_use]
    pub(crate) fn with_agent_process(self, pid: Option<u32>) -> Self {
        Self { guard: self.guard.with_agent_process(pid), ..self }
    }

    /// The same with another policy.
    #[must_use]
    pub(crate) fn with_policy(self, policy: GuardPolicy) -> Self {
        Self { guard: self.guard.with_policy(policy), ..self }
    }

    pub(crate) fn policy(&self) -> &GuardPolicy {
        self.guard.policy()
    }

    /// Judges a call that would start in this directory, or by default in the project. A panic becomes a judgement too.
    pub(crate) fn judge(&self, tool: &str, input: &Value, cwd: Option<&Path>) -> GuardJudgement {
        let input = unpack_json_object(input);
        let call = GuardToolCall { tool, input: &input };
        self.catch_failure(tool, || self.guard_for_call(&call).judge(&call, cwd), |failed| failed)
    }

    /// The same, with the analysis.
    pub(crate) fn explain(&self, tool: &str, input: &Value, cwd: Option<&Path>) -> GuardExplanation {
        let input = unpack_json_object(input);
        let call = GuardToolCall { tool, input: &input };
        self.catch_failure(tool, || self.guard_for_call(&call).explain(&call, cwd), GuardExplanation::from_judgement)
    }

    /// The guard that knows enough about the project to judge this call. Only a call that writes a whole file takes reading
    /// the settings of agents there.
    fn guard_for_call(&self, call: &GuardToolCall<'_>) -> Cow<'_, Guard> {
        if !call.writes_whole_file() {
            return Cow::Borrowed(&self.guard);
        }
        Cow::Owned(self.guard.clone().with_registrations(&judge_context::find_project_registrations(&self.project)))
    }

    /// The rule that would stop an agent from reading a file, if any.
    pub(crate) fn find_rule_against_reading(&self, file: &Path) -> Option<&'static str> {
        let judgement = self.judge(READ_TOOL, &json!({ "file_path": file.to_string_lossy() }), None);
        judgement.rule.filter(|_| judgement.unaudited > GuardDecision::Allow)
    }

    /// The result of `work`, or the judgement for a failure of the guard if `work` panics.
    fn catch_failure<T>(&self, tool: &str, work: impl FnOnce() -> T, failed: impl FnOnce(GuardJudgement) -> T) -> T {
        catch_panic::catch_panic(work).unwrap_or_else(|place| {
            let warning = UserMessage::new(format!("the guard failed at {place} while judging a call of {tool}"));
            output::print_warning(warning.with_hint("report this as a bug of Snell"));
            failed(GuardJudgement::for_guard_failure(self.policy()))
        })
    }
}

#[cfg(test)]
mod tests;
