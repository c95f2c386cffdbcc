//! The guard of one project: a policy, the context of its calls, and the disk on which they would run.
//!
//! The analysis takes every path literally. If symlinks lead elsewhere, or a file is one of Snell's own under another
//! name, the call is judged again with the real paths, and the graver judgement applies.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::path::Path;
use std::rc::Rc;

use crate::effects::git_push::find_branch_rule;
use crate::explain::{GuardExplanation, explain_call};
use crate::file_system::FileSystem;
use crate::git_repository::read_push_branches;
use crate::judge::context::{JudgeContext, SelfFile};
use crate::judge::review::{CallReview, review_call};
use crate::judge::{
    AffectedPath, GuardJudgement, GuardToolCall, add_approval, analyze_call, judge_analysis, judge_with_approval,
    list_affected_paths, matches_only_entry,
};
use crate::paths::normalize_path;
use crate::policy::{GuardPolicy, PolicyEntry};
use crate::rules::RULES;
use crate::session::{CallTrail, SessionFacts, SessionNotes, SessionScene, concerns_session, follow_call};
use crate::symlinks::{ResolvedCall, ResolvedPathCache};

/// Judges calls in one project.
#[derive(Clone, Debug)]
pub struct Guard {
    policy: GuardPolicy,
    context: JudgeContext,
    resolved_paths: ResolvedPathCache,
    /// The session of the calls, if it is known.
    session: Option<Rc<SessionFacts>>,
}

/// A judgement and the form of the call that led to it: as written, or with symlinks resolved.
struct FormJudgement<'a> {
    judgement: GuardJudgement,
    form: ResolvedCall<'a>,
    notes: SessionNotes,
}

/// Where the facts of a call's session come from.
#[derive(Clone, Copy)]
enum SessionSource<'a> {
    /// The call has no session.
    Absent,
    Facts(&'a Rc<SessionFacts>),
    /// They are loaded only if they can change the judgement.
    IfConcerned(&'a dyn Fn() -> Rc<SessionFacts>),
}

impl<'a> SessionSource<'a> {
    fn from_facts(facts: Option<&'a Rc<SessionFacts>>) -> Self {
        facts.map_or(Self::Absent, Self::Facts)
    }

    fn find_facts(self, concerns_session: impl FnOnce() -> bool) -> Option<Rc<SessionFacts>> {
        match self {
            Self::Absent => None,
            Self::Facts(facts) => Some(Rc::clone(facts)),
            Self::IfConcerned(load) => concerns_session().then(load),
        }
    }
}

impl Guard {
    /// A guard with this policy, for calls in this context and on this disk.
    pub fn new(policy: GuardPolicy, context: JudgeContext, file_system: Rc<dyn FileSystem>) -> Self {
        Self { policy, context, resolved_paths: ResolvedPathCache::new(file_system), session: None }
    }

    /// The same, for calls in a session with these facts.
    #[must_use]
    pub fn with_session(mut self, facts: Rc<SessionFacts>) -> Self {
        self.session = Some(facts);
        self
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
        Self { session: self.session, ..Self::new(policy, self.context, file_system) }
    }

    /// The user's policy.
    pub fn policy(&self) -> &GuardPolicy {
        &self.policy
    }

    /// Judges a call that would start in this directory, or by default in the project.
    pub fn judge(&self, call: &GuardToolCall<'_>, cwd: Option<&Path>) -> GuardJudgement {
        self.judge_resolved(call, cwd).judgement
    }

    /// The same, with the new facts of its session. The known facts are loaded only for calls to which they can matter.
    pub fn judge_in_session(
        &self,
        call: &GuardToolCall<'_>,
        cwd: Option<&Path>,
        load_facts: &dyn Fn() -> Rc<SessionFacts>,
    ) -> (GuardJudgement, SessionNotes) {
        let facts = OnceCell::new();
        let load_once = || Rc::clone(facts.get_or_init(load_facts));
        let judged = self.judge_in_context(call, self.context_at_cwd(cwd), SessionSource::IfConcerned(&load_once));
        (judged.judgement, judged.notes)
    }

    /// The traces that a call leaves once it ran: its session should know them.
    pub fn follow(&self, call: &GuardToolCall<'_>, cwd: Option<&Path>) -> CallTrail {
        let context = self.context_at_cwd(cwd);
        follow_call(call, &analyze_call(call, &self.policy, &context), &context)
    }

    /// The same as [`Guard::judge`], with the analysis.
    pub fn explain(&self, call: &GuardToolCall<'_>, cwd: Option<&Path>) -> GuardExplanation {
        let FormJudgement { judgement, form, .. } = self.judge_resolved(call, cwd);
        let call = GuardToolCall { input: form.input.as_ref().unwrap_or(call.input), ..*call };
        GuardExplanation { judgement, ..explain_call(&call, &form.policy, &form.context) }
    }

    /// The same, with the programs and their effects.
    pub fn review(&self, call: &GuardToolCall<'_>, cwd: Option<&Path>) -> CallReview {
        let FormJudgement { judgement, form, .. } = self.judge_resolved(call, cwd);
        let call = GuardToolCall { input: form.input.as_ref().unwrap_or(call.input), ..*call };
        CallReview { judgement, ..review_call(&call, &form.policy, &form.context) }
    }

    /// Whether a call matches an entry, by its text alone.
    pub fn matches_entry(&self, entry: &PolicyEntry, call: &GuardToolCall<'_>, cwd: Option<&Path>) -> bool {
        let policy = GuardPolicy { entries: vec![entry.clone()], ..self.policy.clone() };
        matches_only_entry(call, &policy, &self.context_at_cwd(cwd))
    }

    /// The gravest judgement of a call, and the form of the call that led to it.
    fn judge_resolved(&self, call: &GuardToolCall<'_>, cwd: Option<&Path>) -> FormJudgement<'_> {
        self.judge_in_context(call, self.context_at_cwd(cwd), SessionSource::from_facts(self.session.as_ref()))
    }

    /// The same in this context. An approval counts only if the disk is as it assumes.
    fn judge_in_context<'a>(
        &'a self,
        call: &GuardToolCall<'_>,
        context: Cow<'a, JudgeContext>,
        session: SessionSource<'_>,
    ) -> FormJudgement<'a> {
        let FormJudgement { mut judgement, form, notes } = self.judge_forms(call, context, session);
        judgement.approval =
            judgement.approval.filter(|approval| self.resolved_paths.confirm_approval(approval, &form.context));
        FormJudgement { judgement, form, notes }
    }

    fn judge_forms<'a>(
        &'a self,
        call: &GuardToolCall<'_>,
        context: Cow<'a, JudgeContext>,
        session: SessionSource<'_>,
    ) -> FormJudgement<'a> {
        self.resolved_paths.forget_missing_paths();
        let as_written =
            ResolvedCall { input: None, policy: Cow::Borrowed(&self.policy), context, leads_elsewhere: false };
        let (written, affected) = self.judge_form(call, as_written, session);
        if let Some(context) = self.context_with_branch(&written.judgement, &written.form.context) {
            return self.judge_forms(call, Cow::Owned(context), session);
        }
        // No affected path, so symlinks cannot change the result.
        if affected.is_empty() && self.resolved_paths.has_no_symlinks(call.input, &written.form.context) {
            return written;
        }
        let (form, has_more) = self.resolved_paths.with_resolved_roots(written.form, &affected);
        let known = if has_more { self.judge_form(call, form, session).0 } else { FormJudgement { form, ..written } };
        let variants = self.resolved_paths.resolved_variants(call, &known.form, affected).into_iter();
        let judged = variants.map(|variant| self.judge_form(call, variant, session).0);
        let worst = judged
            .filter(|variant| {
                variant.judgement.unaudited > known.judgement.unaudited && variant.form.can_override(&variant.judgement)
            })
            .max_by_key(|variant| variant.judgement.unaudited);
        worst.unwrap_or(known)
    }

    /// Judges one form of a call, and lists the paths that it affects.
    fn judge_form<'a>(
        &self,
        call: &GuardToolCall<'_>,
        form: ResolvedCall<'a>,
        session: SessionSource<'_>,
    ) -> (FormJudgement<'a>, Vec<AffectedPath>) {
        let (judgement, notes, affected) = {
            let call = GuardToolCall { input: form.input.as_ref().unwrap_or(call.input), ..*call };
            let (policy, context) = (&*form.policy, &*form.context);
            let mut analysis = analyze_call(&call, policy, context);
            let affected = list_affected_paths(&analysis, context);
            let facts = session.find_facts(|| concerns_session(&judge_analysis(&analysis, policy), &analysis, context));
            match facts {
                None => (judge_with_approval(&call, &analysis, policy, context), SessionNotes::default(), affected),
                Some(facts) => {
                    let disk = self.resolved_paths.file_system();
                    let scene = SessionScene { call: &call, facts: &facts, policy, context, disk: &*disk };
                    let (judgement, notes) = scene.judge(&mut analysis);
                    (add_approval(judgement, &call, &analysis, policy, context), notes, affected)
                }
            }
        };
        (FormJudgement { judgement, form, notes }, affected)
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
