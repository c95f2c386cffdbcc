//! A call with symlinks resolved: the real paths of the project, the home directory, the protected paths and the call
//! itself.

mod input_paths;
mod own_files;
mod resolved_roots;
mod resolver;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};

use std::rc::Rc;

use serde_json::Value;

use crate::approval::CallApproval;
use crate::approval::disk::ApprovalDisk;
use crate::file_system::FileSystem;
use crate::judge::context::{JudgeContext, SelfPath};
use crate::judge::{AffectedPath, GuardJudgement, GuardToolCall, judge_with_affected_paths};
use crate::policy::{GuardDecision, GuardPolicy, PathProtection};
use crate::rules::RuleTier;
use input_paths::{resolve_affected_paths, resolve_input_paths};
use own_files::OwnFileFinder;
use resolved_roots::ResolvedRoots;
use resolver::SymlinkResolver;

/// Tiers of rules that apply wherever a symlink leads. For all others, a symlink in a project is its user's choice.
const TIERS_EVERYWHERE: &[RuleTier] = &[RuleTier::Catastrophic, RuleTier::OwnGuard, RuleTier::Secret];

/// A call with resolved paths, and its policy and context.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedCall<'a> {
    /// The input of the call, if a path in it leads elsewhere.
    pub(crate) input: Option<Value>,
    pub(crate) policy: Cow<'a, GuardPolicy>,
    pub(crate) context: Cow<'a, JudgeContext>,
    /// Whether a path in its command leads elsewhere.
    pub(crate) leads_elsewhere: bool,
}

impl ResolvedCall<'_> {
    /// Whether a judgement of the resolved call applies. A command that names a file of the project by its absolute
    /// path may lead through the symlink to the project, and the file would then seem to be outside it.
    pub(crate) fn can_override(&self, judgement: &GuardJudgement) -> bool {
        let is_graver = judgement.tier.is_some_and(|tier| TIERS_EVERYWHERE.contains(&tier));
        self.input.is_some()
            || judgement.tier == Some(RuleTier::OwnGuard)
            || judgement.is_about_named_path()
            || (self.leads_elsewhere && is_graver)
    }
}

/// The real paths that are the same for all calls. Each is resolved on first use, because that takes time and most
/// calls need few of them.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedPathCache {
    /// Real paths of Snell's own files.
    own: OnceCell<Vec<SelfPath>>,
    /// Real paths of protected files.
    protected: OnceCell<Vec<PathProtection>>,
    /// Real paths of entries that deny or ask, with the index of the entry.
    entry_paths: OnceCell<Vec<(usize, String)>>,
    /// The project, the home directory, and temporary ones.
    real: OnceCell<ResolvedRoots>,
    links: RefCell<SymlinkResolver>,
    file_system: Rc<dyn FileSystem>,
}

impl ResolvedPathCache {
    pub(crate) fn new(file_system: Rc<dyn FileSystem>) -> Self {
        Self {
            own: OnceCell::new(),
            protected: OnceCell::new(),
            entry_paths: OnceCell::new(),
            real: OnceCell::new(),
            links: RefCell::new(SymlinkResolver::new(file_system.clone())),
            file_system,
        }
    }

    pub(crate) fn file_system(&self) -> Rc<dyn FileSystem> {
        self.file_system.clone()
    }

    /// Forgets which paths do not exist.
    pub(crate) fn forget_missing_paths(&self) {
        self.links.borrow_mut().forget_missing_paths();
    }

    /// The same call with real paths for everything that is guarded, and whether there are any.
    pub(crate) fn with_resolved_roots<'a>(
        &self,
        mut call_form: ResolvedCall<'a>,
        affected: &[AffectedPath],
    ) -> (ResolvedCall<'a>, bool) {
        let protected = self.resolve_protected(&call_form.policy);
        let entry_paths = self.resolve_entry_paths(&call_form.policy);
        // Snell's own files may be read.
        let is_read = !affected.is_empty() && affected.iter().all(|place| place.is_read_only);
        let own = if is_read { &[] } else { self.resolve_self_paths(&call_form.context) };
        if !own.is_empty() {
            call_form.context.to_mut().self_paths.extend(own.iter().cloned());
        }
        if !protected.is_empty() {
            call_form.policy.to_mut().protected.extend(protected.iter().cloned());
        }
        for (number, path) in entry_paths {
            if let Some(entry) = call_form.policy.to_mut().entries.get_mut(*number) {
                entry.paths.push(path.clone());
            }
        }
        (call_form, !own.is_empty() || !protected.is_empty() || !entry_paths.is_empty())
    }

    fn resolve_self_paths(&self, context: &JudgeContext) -> &[SelfPath] {
        self.own.get_or_init(|| {
            let mut links = self.links.borrow_mut();
            let own = context.self_paths.iter().filter_map(|own| {
                let path = links.resolve(&own.path)?;
                Some(SelfPath { path, kind: own.kind })
            });
            own.collect()
        })
    }

    fn resolve_protected(&self, policy: &GuardPolicy) -> &[PathProtection] {
        self.protected.get_or_init(|| {
            let mut links = self.links.borrow_mut();
            let protected = policy.protected.iter().filter_map(|protected| {
                let path = links.resolve(&protected.path)?;
                Some(PathProtection { path, ..*protected })
            });
            protected.collect()
        })
    }

    /// The real paths of entries that deny or ask. An `allow` entry is for its own path only.
    fn resolve_entry_paths(&self, policy: &GuardPolicy) -> &[(usize, String)] {
        self.entry_paths.get_or_init(|| {
            let mut links = self.links.borrow_mut();
            let strict = policy.entries.iter().enumerate().filter(|(_, entry)| entry.action != GuardDecision::Allow);
            let paths = strict.flat_map(|(number, entry)| entry.paths.iter().map(move |path| (number, path)));
            paths.filter_map(|(number, path)| Some((number, links.resolve(path)?))).collect()
        })
    }

    fn resolve_roots(&self, context: &JudgeContext) -> &ResolvedRoots {
        self.real.get_or_init(|| ResolvedRoots::resolve(context, &mut self.links.borrow_mut()))
    }

    /// See [`ResolvedRoots::to_project_path`].
    pub(crate) fn to_project_path(&self, cwd: &str, context: &JudgeContext) -> Option<String> {
        let real = self.resolve_roots(context);
        real.to_project_path(cwd, context, &mut self.links.borrow_mut())
    }

    /// Whether the disk is as an approval assumes.
    pub(crate) fn confirm_approval(&self, approval: &CallApproval, context: &JudgeContext) -> bool {
        let real = self.resolve_roots(context);
        let cwd = real.resolve_cwd(context, &mut self.links.borrow_mut());
        let real_context = real.to_resolved_context(context, cwd);
        let resolve = |path: &str| self.links.borrow_mut().resolve(path);
        let disk = ApprovalDisk::new(&*self.file_system, &real_context, &resolve);
        approval.accesses.iter().all(|access| disk.confirms(access))
    }

    /// Whether no path in the input leads through a symlink.
    pub(crate) fn has_no_symlinks(&self, input: &Value, context: &JudgeContext) -> bool {
        resolve_input_paths(input, context, &mut self.links.borrow_mut()).is_empty()
    }

    /// The call with symlinks resolved, if there are any.
    pub(crate) fn resolved_variants<'a>(
        &self,
        call: &GuardToolCall<'_>,
        call_form: &ResolvedCall<'a>,
        affected: Vec<AffectedPath>,
    ) -> Vec<ResolvedCall<'a>> {
        let real = self.resolve_roots(&call_form.context);
        let links = &mut *self.links.borrow_mut();
        let inputs = resolve_input_paths(call.input, &call_form.context, links);
        let cwd = real.resolve_cwd(&call_form.context, links);
        let is_elsewhere = cwd.is_some();
        let mut context = real.to_resolved_context(&call_form.context, cwd);
        let affected =
            if is_elsewhere { judge_with_affected_paths(call, &call_form.policy, &context).1 } else { affected };
        let own_files = OwnFileFinder { file_system: &*self.file_system, context: &context };
        // A symlink may lead to another name of a file: the first entry of a path is used.
        let mut targets = own_files.find_own_files(&affected);
        targets.extend(resolve_affected_paths(&affected, links));
        let ignores_case = own_files.has_case_variant(&affected);
        let leads_elsewhere = !targets.is_empty();
        context.links = targets;
        context.ignores_case = ignores_case;
        if inputs.is_empty() && !is_elsewhere && !leads_elsewhere && !context.ignores_case {
            return Vec::new();
        }
        let with = |input| ResolvedCall {
            input,
            policy: call_form.policy.clone(),
            context: Cow::Owned(context.clone()),
            leads_elsewhere,
        };
        if inputs.is_empty() {
            return vec![with(None)];
        }
        inputs.into_iter().map(|input| with(Some(input))).collect()
    }
}
