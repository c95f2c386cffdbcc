//! The guard in the binary: `policy` and `judge_context` turn settings and environment into the library's types,
//! `local_file_system` is the disk, `catch_panic` turns a panic into a judgement, `guard_run` judges a call and every
//! change that hooks make to it, `report` writes texts for agents, users and the store, and `lint` checks the settings.

pub(crate) mod catch_panic;
pub(crate) mod command_matcher;
mod guard_run;
mod judge_context;
mod lint;
mod local_file_system;
mod overview;
mod policy;
mod report;
pub(crate) mod session;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde_json::{Value, json};
use snell::{GuardEntry, SnellSettings, Timestamp, ToolCall, UserMessage, unpack_json_object};
use snell_guard::{
    CallTrail, FileLoss, Guard, GuardDecision, GuardExplanation, GuardJudgement, GuardPolicy, GuardToolCall,
    PolicyEntry, SessionFacts, SessionNotes,
};

pub(crate) use guard_run::{APPROVAL_START, GuardRun};
pub(crate) use lint::{lint_guard_settings, lint_unreadable_config};
use local_file_system::LocalFileSystem;
pub(crate) use overview::{list_relaxed_rules, summarize_decision};
pub(crate) use policy::{choice_from_decision, to_policy_entry};

use crate::output;

/// The tool that reads a file.
const READ_TOOL: &str = "Read";

/// Judges calls in one project, and never panics.
#[derive(Clone, Debug)]
pub(crate) struct ProjectGuard {
    guard: Guard,
    /// All entries of the settings, if some of them are for certain tools or agents.
    entries: Rc<[GuardEntry]>,
    caller: GuardCaller,
    project: PathBuf,
}

/// Who makes a call, beyond the call itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct GuardCaller {
    /// The agent's product.
    pub(crate) agent: Option<String>,
    /// The agent's own name of the tool.
    pub(crate) native_tool: Option<String>,
}

impl ProjectGuard {
    /// A guard with the settings of an agent's project and the environment of this process.
    pub(crate) fn from_settings(settings: &SnellSettings, project: &Path, now: Timestamp) -> Self {
        let mut policy = policy::build_policy(&settings.guard);
        // A relative path matches nothing.
        let may_match =
            |entry: &&GuardEntry| !entry.is_expired(now) && entry.path.as_ref().is_none_or(|path| path.is_absolute());
        let entries = settings.guard.entries.iter().filter(may_match);
        let entries: Rc<[GuardEntry]> = if entries.clone().any(GuardEntry::is_for_some_callers) {
            entries.cloned().collect()
        } else {
            policy.entries = entries.map(to_policy_entry).collect();
            Rc::new([])
        };
        let context = judge_context::build_judge_context(settings, project);
        let guard = Guard::new(policy, context, Rc::new(LocalFileSystem));
        Self { guard, entries, caller: GuardCaller::default(), project: project.to_owned() }
    }

    /// The same, for calls of this agent.
    #[must_use]
    pub(crate) fn with_caller(self, caller: GuardCaller) -> Self {
        Self { caller, ..self }
    }

    /// The guard for calls of this agent.
    pub(crate) fn for_agent(&self, agent: Option<&str>) -> Cow<'_, Self> {
        if self.entries.is_empty() {
            return Cow::Borrowed(self);
        }
        let caller = GuardCaller { agent: agent.map(str::to_owned), native_tool: None };
        Cow::Owned(self.clone().with_caller(caller))
    }

    /// The same, for calls of the agent with this process.
    #[must_use]
    pub(crate) fn with_agent_process(self, pid: Option<u32>) -> Self {
        Self { guard: self.guard.with_agent_process(pid), ..self }
    }

    /// The same with another policy, and only the entries in it.
    #[must_use]
    pub(crate) fn with_policy(self, policy: GuardPolicy) -> Self {
        Self { guard: self.guard.with_policy(policy), entries: Rc::new([]), ..self }
    }

    /// The guard with the entries for this tool and the caller's agent, and with enough knowledge of the project. Only a call
    /// that writes a whole file takes reading the settings of agents there.
    fn guard_for_call(&self, call: &GuardToolCall<'_>) -> Cow<'_, Guard> {
        let mut guard = Cow::Borrowed(&self.guard);
        if !self.entries.is_empty() {
            let policy = GuardPolicy { entries: self.select_entries(call.tool), ..self.guard.policy().clone() };
            guard = Cow::Owned(guard.into_owned().with_policy(policy));
        }
        if call.writes_whole_file() {
            let registrations = judge_context::find_project_registrations(&self.project);
            guard = Cow::Owned(guard.into_owned().with_registrations(&registrations));
        }
        guard
    }

    fn select_entries(&self, tool: &str) -> Vec<PolicyEntry> {
        let native_name = self.caller.native_tool.clone();
        let call = ToolCall { name: tool.to_owned(), native_name, ..ToolCall::default() };
        let applies = |entry: &&GuardEntry| entry.applies_to(&call, self.caller.agent.as_deref());
        self.entries.iter().filter(applies).map(to_policy_entry).collect()
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

    /// The files that a call would delete or overwrite; none if the guard fails.
    pub(crate) fn list_file_losses(&self, tool: &str, input: &Value, cwd: Option<&Path>) -> Vec<FileLoss> {
        let input = unpack_json_object(input);
        let call = GuardToolCall { tool, input: &input };
        let review = || self.guard_for_call(&call).review(&call, cwd).list_file_losses();
        catch_panic::catch_panic(review).unwrap_or_default()
    }

    /// The same, for calls in a session with these facts.
    #[must_use]
    pub(crate) fn with_session(self, facts: Rc<SessionFacts>) -> Self {
        Self { guard: self.guard.with_session(facts), ..self }
    }

    /// Judges a call in its session, and returns the new facts of the session.
    pub(crate) fn judge_in_session(
        &self,
        tool: &str,
        input: &Value,
        cwd: Option<&Path>,
        load_facts: &dyn Fn() -> Rc<SessionFacts>,
    ) -> (GuardJudgement, SessionNotes) {
        let input = unpack_json_object(input);
        let call = GuardToolCall { tool, input: &input };
        let judge = || self.guard_for_call(&call).judge_in_session(&call, cwd, load_facts);
        self.catch_failure(tool, judge, |failed| (failed, SessionNotes::default()))
    }

    /// The traces that a call leaves once it ran. If the guard fails, there are none.
    pub(crate) fn follow(&self, tool: &str, input: &Value, cwd: Option<&Path>) -> CallTrail {
        let input = unpack_json_object(input);
        let call = GuardToolCall { tool, input: &input };
        catch_panic::catch_panic(|| self.guard.follow(&call, cwd)).unwrap_or_default()
    }

    /// The same as [`ProjectGuard::judge`], with the analysis.
    pub(crate) fn explain(&self, tool: &str, input: &Value, cwd: Option<&Path>) -> GuardExplanation {
        let input = unpack_json_object(input);
        let call = GuardToolCall { tool, input: &input };
        self.catch_failure(tool, || self.guard_for_call(&call).explain(&call, cwd), GuardExplanation::from_judgement)
    }

    /// A few plain lines for people that say what a call would do; nothing if the guard fails.
    pub(crate) fn describe_call(&self, tool: &str, input: &Value, cwd: Option<&Path>) -> Vec<String> {
        let input = unpack_json_object(input);
        let call = GuardToolCall { tool, input: &input };
        self.catch_failure(tool, || self.guard_for_call(&call).review(&call, cwd).reading, |_| Vec::new())
    }

    /// Whether a call matches the conditions of an entry on commands, paths and hosts.
    pub(crate) fn matches_entry(&self, entry: &GuardEntry, tool: &str, input: &Value) -> bool {
        let call = GuardToolCall { tool, input };
        catch_panic::catch_panic(|| self.guard.matches_entry(&to_policy_entry(entry), &call, None)).unwrap_or(false)
    }

    /// An entry for another agent that would change the decision about a call, and the decision then.
    pub(crate) fn find_other_agent_entry(
        &self,
        tool: &str,
        input: &Value,
        cwd: Option<&Path>,
        decision: GuardDecision,
    ) -> Option<(&GuardEntry, GuardDecision)> {
        self.entries.iter().find_map(|entry| {
            let agent = entry.agents.first()?;
            let call = ToolCall { name: tool.to_owned(), ..ToolCall::default() };
            let is_met = entry.applies_to(&call, Some(agent)) && self.matches_entry(entry, tool, input);
            let other = is_met.then(|| self.for_agent(Some(agent)).judge(tool, input, cwd).decision)?;
            (other != decision).then_some((entry, other))
        })
    }

    /// The rule that would stop an agent from reading a file, if any.
    pub(crate) fn find_rule_against_reading(&self, file: &Path) -> Option<String> {
        let judgement = self.judge(READ_TOOL, &json!({ "file_path": file.to_string_lossy() }), None);
        judgement.rule_id().filter(|_| judgement.unaudited > GuardDecision::Allow).map(str::to_owned)
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
