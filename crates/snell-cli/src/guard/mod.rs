//! The guard, as it stands here: the library judges, and this says what surrounds it.
//!
//! `policy` turns settings into what the library understands, `world` looks around, `links` follows what the library
//! cannot, `linked` is the call as it is behind links, `file_identity` finds Snell's own files under other names, `quietly` keeps a failure from becoming the agent's, `hearing` judges a call as often as hooks change it, `told`
//! says what agents, users and the store are told, `findings` what is wrong with the settings, and `entries` what is wrong
//! with allowed commands.

pub(crate) mod catch_panic;
mod file_identity;
mod guard_run;
mod judge_context;
mod lint;
mod policy;
mod report;
mod resolved_paths;
mod symlinks;

use std::borrow::Cow;
use std::path::Path;

use serde_json::{Value, json};
use snell::{SnellSettings, Timestamp, unpack_json_object};
use snell_guard::{GuardDecision, GuardExplanation, GuardJudgement, GuardPolicy, GuardToolCall, JudgeContext};

pub(crate) use guard_run::GuardRun;
pub(crate) use judge_context::normalize_path;
pub(crate) use lint::{lint_guard_settings, lint_unreadable_config};
pub(crate) use policy::choice_from_decision;
use resolved_paths::{JudgeInput, ResolvedPathCache};

use crate::output;

/// The tool that reads a file.
const READ_TOOL: &str = "Read";

/// What judges calls in one project.
#[derive(Clone, Debug)]
pub(crate) struct ProjectGuard {
    pub(crate) policy: GuardPolicy,
    world: JudgeContext,
    resolved_paths: ResolvedPathCache,
}

impl ProjectGuard {
    /// For an agent's project: what its settings say, and what surrounds this process.
    pub(crate) fn from_settings(settings: &SnellSettings, project: &Path, now: Timestamp) -> Self {
        Self {
            policy: policy::build_policy(&settings.guard, now),
            world: judge_context::build_judge_context(settings, project),
            resolved_paths: ResolvedPathCache::default(),
        }
    }

    /// The same, for calls of the agent with this process.
    #[must_use]
    pub(crate) fn with_agent_process(mut self, pid: Option<u32>) -> Self {
        self.world.agent_pid = pid;
        self
    }

    /// What is to be done about a call that would start in this directory, or else in the project. Never panics: a failure
    /// is a judgement of its own.
    pub(crate) fn judge(&self, tool: &str, input: &Value, cwd: Option<&Path>) -> GuardJudgement {
        let input = unpack_json_object(input);
        let call = GuardToolCall { tool, input: &input };
        let judge = || self.judge_with_symlinks(&call, cwd).0;
        self.catch_failure(tool, judge, |failed| failed)
    }

    /// The same, with everything that led to it.
    pub(crate) fn explain(&self, tool: &str, input: &Value, cwd: Option<&Path>) -> GuardExplanation {
        let input = unpack_json_object(input);
        let call = GuardToolCall { tool, input: &input };
        let explain = || {
            let (_, case) = self.judge_with_symlinks(&call, cwd);
            let call = GuardToolCall { input: case.input.as_ref().unwrap_or(call.input), ..call };
            snell_guard::explain_call(&call, &case.policy, &case.world)
        };
        self.catch_failure(tool, explain, GuardExplanation::from_judgement)
    }

    /// The rule that would keep an agent from reading a file, if one would.
    pub(crate) fn find_rule_against_reading(&self, file: &Path) -> Option<&'static str> {
        let judgement = self.judge(READ_TOOL, &json!({ "file_path": file.to_string_lossy() }), None);
        judgement.rule.filter(|_| judgement.unaudited > GuardDecision::Allow)
    }

    /// What this answers; if it breaks, what is to be done about a call of which nothing is known.
    fn catch_failure<T>(&self, tool: &str, work: impl FnOnce() -> T, failed: impl FnOnce(GuardJudgement) -> T) -> T {
        catch_panic::catch_panic(work).unwrap_or_else(|place| {
            output::print_note(&format!(
                "the guard failed at {place} when it judged a call of {tool}; please report it"
            ));
            failed(GuardJudgement::for_guard_failure(&self.policy))
        })
    }

    /// The gravest judgement of a call, and what it was made of: the call as it is written, or where links lead.
    fn judge_with_symlinks(&self, call: &GuardToolCall<'_>, cwd: Option<&Path>) -> (GuardJudgement, JudgeInput<'_>) {
        let as_written = JudgeInput {
            input: None,
            policy: Cow::Borrowed(&self.policy),
            world: self.context_at_cwd(cwd),
            leads_elsewhere: false,
        };
        let (judgement, touched) = snell_guard::judge_with_affected_paths(call, &as_written.policy, &as_written.world);
        // What is about no place is about none behind a link either.
        if touched.is_empty() && self.resolved_paths.has_no_symlinks(call.input, &as_written.world) {
            return (judgement, as_written);
        }
        let (known, has_more) = self.resolved_paths.with_resolved_roots(as_written, &touched);
        let judgement = if has_more { known.judge(call) } else { judgement };
        let behind = self.resolved_paths.resolved_variants(call, &known, touched);
        let judged = behind.into_iter().map(|case| (case.judge(call), case));
        let worst = judged
            .filter(|(judged, case)| judged.unaudited > judgement.unaudited && case.can_override(judged))
            .max_by_key(|(judged, _)| judged.unaudited);
        worst.unwrap_or((judgement, known))
    }

    /// The world, seen from this directory.
    fn context_at_cwd(&self, cwd: Option<&Path>) -> Cow<'_, JudgeContext> {
        let cwd = cwd.map(|cwd| judge_context::normalize_path(&Path::new(&self.world.project).join(cwd)));
        match cwd.filter(|cwd| *cwd != self.world.cwd) {
            None => Cow::Borrowed(&self.world),
            Some(cwd) => {
                Cow::Owned(JudgeContext { cwd: self.to_project_path(&cwd).unwrap_or(cwd), ..self.world.clone() })
            }
        }
    }

    /// A directory that is in the project although its name does not say so, by the name that the project itself has:
    /// agents take both ways.
    fn to_project_path(&self, cwd: &str) -> Option<String> {
        let is_plain = Path::new(cwd).starts_with(&self.world.project);
        let real = || self.resolved_paths.to_project_path(cwd, &self.world);
        (!is_plain).then(real).flatten()
    }
}

#[cfg(test)]
mod tests;
