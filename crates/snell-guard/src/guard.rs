//! The guard of one project: a policy, the context of its calls, and the disk on which they would run.
//!
//! The analysis takes every path literally. If symlinks lead elsewhere, or a file is one of Snell's own under another
//! name, the call is judged again with the real paths, and the graver judgement applies.

use std::borrow::Cow;
use std::path::Path;
use std::rc::Rc;

use crate::effects::git_push::find_branch_rule;
use crate::explain::{GuardExplanation, explain_call};
use crate::file_system::FileSystem;
use crate::git_repository::read_push_branches;
use crate::judge::context::{JudgeContext, SelfFile};
use crate::judge::review::{CallReview, review_call};
use crate::judge::{GuardJudgement, GuardToolCall, judge_with_affected_paths, matches_only_entry};
use crate::paths::normalize_path;
use crate::policy::{GuardPolicy, PolicyEntry};
use crate::rules::RULES;
use crate::symlinks::{ResolvedCall, ResolvedPathCache};

/// Judges calls in one project.
#[derive(Clone, Debug)]
pub struct Guard {
    policy: GuardPolicy,
    context: JudgeContext,
    resolved_paths: ResolvedPathCache,
}

impl Guard {
    /// A guard with this policy, for calls in this context and on this disk.
    pub fn new(policy: GuardPolicy, context: JudgeContext, file_system: Rc<dyn FileSystem>) -> Self {
        Self { policy, context, resolved_paths: ResolvedPathCache::new(file_system) }
    }

    /// The same, for calls of the agent with this process.
    #[must_use]
    pub fn with_agent_process(mut self, pid: Option<u32>) -> Self {
        self.context.agent_pid = pid;
        self
    }

    /// The same, with Snell registered in these settings of agents, which [`SelfFile::Settings`] lists.
    #[must_use]
    pub fn with_registrations(mut self, registered: &[String]) -> Self {
        let settings = self.context.self_paths.iter_mut().filter(|own| own.kind == SelfFile::Settings);
        for own in settings.filter(|own| registered.contains(&own.path)) {
            own.kind = SelfFile::Registration;
        }
        self
    }

    /// The same with another policy.
    #[must_use]
    pub fn with_policy(self, policy: GuardPolicy) -> Self {
        let file_system = self.resolved_paths.file_system();
        Self::new(policy, self.context, file_system)
    }

    /// The user's policy.
    pub fn policy(&self) -> &GuardPolicy {
        &self.policy
    }

    /// Judges a call that would start in this directory, or by default in the project.
    pub fn judge(&self, call: &GuardToolCall<'_>, cwd: Option<&Path>) -> GuardJudgement {
        self.judge_resolved(call, cwd).0
    }

    /// The same, with the analysis.
    pub fn explain(&self, call: &GuardToolCall<'_>, cwd: Option<&Path>) -> GuardExplanation {
        let (judgement, resolved) = self.judge_resolved(call, cwd);
        let call = GuardToolCall { input: resolved.input.as_ref().unwrap_or(call.input), ..*call };
        let mut explanation = explain_call(&call, &resolved.policy, &resolved.context);
        explanation.judgement.approval = judgement.approval;
        explanation
    }

    /// The same, with the programs and their effects.
    pub fn review(&self, call: &GuardToolCall<'_>, cwd: Option<&Path>) -> CallReview {
        let (judgement, resolved) = self.judge_resolved(call, cwd);
        let call = GuardToolCall { input: resolved.input.as_ref().unwrap_or(call.input), ..*call };
        CallReview { judgement, ..review_call(&call, &resolved.policy, &resolved.context) }
    }

    /// Whether a call matches an entry, by its text alone.
    pub fn matches_entry(&self, entry: &PolicyEntry, call: &GuardToolCall<'_>, cwd: Option<&Path>) -> bool {
        let policy = GuardPolicy { entries: vec![entry.clone()], ..self.policy.clone() };
        matches_only_entry(call, &policy, &self.context_at_cwd(cwd))
    }

    /// The gravest judgement of a call, and the form of the call that led to it: as written, or with symlinks resolved.
    fn judge_resolved(&self, call: &GuardToolCall<'_>, cwd: Option<&Path>) -> (GuardJudgement, ResolvedCall<'_>) {
        self.resolved_paths.forget_missing_paths();
        let (mut judgement, resolved) = self.judge_in_context(call, self.context_at_cwd(cwd));
        judgement.approval =
            judgement.approval.filter(|approval| self.resolved_paths.confirm_approval(approval, &resolved.context));
        (judgement, resolved)
    }

    fn judge_in_context<'a>(
        &'a self,
        call: &GuardToolCall<'_>,
        context: Cow<'a, JudgeContext>,
    ) -> (GuardJudgement, ResolvedCall<'a>) {
        let as_written =
            ResolvedCall { input: None, policy: Cow::Borrowed(&self.policy), context, leads_elsewhere: false };
        let (judgement, affected) = judge_with_affected_paths(call, &as_written.policy, &as_written.context);
        if let Some(context) = self.context_with_branch(&judgement, &as_written.context) {
            return self.judge_in_context(call, Cow::Owned(context));
        }
        // No affected path, so symlinks cannot change the result.
        if affected.is_empty() && self.resolved_paths.has_no_symlinks(call.input, &as_written.context) {
            return (judgement, as_written);
        }
        let (known, has_more) = self.resolved_paths.with_resolved_roots(as_written, &affected);
        let judgement = if has_more { known.judge(call) } else { judgement };
        let variants = self.resolved_paths.resolved_variants(call, &known, affected);
        let judged = variants.into_iter().map(|variant| (variant.judge(call), variant));
        let worst = judged
            .filter(|(judged, variant)| judged.unaudited > judgement.unaudited && variant.can_override(judged))
            .max_by_key(|(judged, _)| judged.unaudited);
        worst.unwrap_or((judgement, known))
    }

    /// The context with the current branch, if it may make the judgement of a forced push milder.
    fn context_with_branch(&self, judgement: &GuardJudgement, context: &JudgeContext) -> Option<JudgeContext> {
        let milder = find_branch_rule(judgement.rule?).filter(|_| context.current_push.is_none())?;
        let milder = RULES.iter().find(|rule| rule.id == milder)?;
        if self.policy.decide(milder) >= judgement.unaudited {
            return None;
        }
        let branches = read_push_branches(&context.cwd, &*self.resolved_paths.file_system())?;
        Some(JudgeContext { current_push: Some(branches), ..context.clone() })
    }

    /// The context with this working directory.
    fn context_at_cwd(&self, cwd: Option<&Path>) -> Cow<'_, JudgeContext> {
        let cwd = cwd.map(|cwd| normalize_path(&Path::new(&self.context.project).join(cwd)));
        match cwd.filter(|cwd| *cwd != self.context.cwd) {
            None => Cow::Borrowed(&self.context),
            Some(cwd) => {
                Cow::Owned(JudgeContext { cwd: self.to_project_path(&cwd).unwrap_or(cwd), ..self.context.clone() })
            }
        }
    }

    /// The project's own name for a directory in it, if symlinks give it another one: agents use both.
    fn to_project_path(&self, cwd: &str) -> Option<String> {
        let is_plain = Path::new(cwd).starts_with(&self.context.project);
        let real = || self.resolved_paths.to_project_path(cwd, &self.context);
        (!is_plain).then(real).flatten()
    }
}
