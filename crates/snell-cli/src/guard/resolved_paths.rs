//! A call as it is behind links. The library takes every path as it is written; it is judged again where that leads
//! elsewhere, and the graver judgement counts.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};

use serde_json::Value;
use snell_guard::rules::RuleTier;
use snell_guard::{AffectedPath, GuardJudgement, GuardPolicy, GuardToolCall, JudgeContext, PathProtection, SelfPath};

use super::file_identity;
use super::judge_context::ResolvedRoots;
use super::report;
use super::symlinks::{SymlinkResolver, resolve_affected_paths, resolve_input_paths};

/// Tiers of what must be left alone wherever it lies. Anything else behind a link in a project is what its user has put
/// there.
const TIERS_EVERYWHERE: &[RuleTier] = &[RuleTier::Catastrophic, RuleTier::OwnGuard, RuleTier::Secret];

/// What a call is judged by.
#[derive(Clone, Debug)]
pub(super) struct JudgeInput<'a> {
    /// The call's input, if a path in it leads elsewhere.
    pub(super) input: Option<Value>,
    pub(super) policy: Cow<'a, GuardPolicy>,
    pub(super) world: Cow<'a, JudgeContext>,
    /// Whether a path in its command leads elsewhere.
    pub(super) leads_elsewhere: bool,
}

impl JudgeInput<'_> {
    pub(super) fn judge(&self, call: &GuardToolCall<'_>) -> GuardJudgement {
        let call = GuardToolCall { input: self.input.as_ref().unwrap_or(call.input), ..*call };
        snell_guard::judge_call(&call, &self.policy, &self.world)
    }

    /// Whether a judgement of what is behind links counts. What a command names by its whole path may lead through the
    /// link to the project, and is then taken for somebody else's.
    pub(super) fn can_override(&self, judgement: &GuardJudgement) -> bool {
        let is_graver = judgement.tier.is_some_and(|tier| TIERS_EVERYWHERE.contains(&tier));
        self.input.is_some()
            || judgement.tier == Some(RuleTier::OwnGuard)
            || report::is_protected_rule(judgement)
            || (self.leads_elsewhere && is_graver)
    }
}

/// Where links lead that stand in the way to what is always the same here. Looking takes its time, and most calls are about
/// little of it, so each is looked at once somebody asks.
#[derive(Clone, Debug, Default)]
pub(super) struct ResolvedPathCache {
    /// What else is Snell's own.
    own: OnceCell<Vec<SelfPath>>,
    /// What else is to be left alone.
    protected: OnceCell<Vec<PathProtection>>,
    /// The project, the home directory, and temporary ones.
    real: OnceCell<ResolvedRoots>,
    links: RefCell<SymlinkResolver>,
}

impl ResolvedPathCache {
    /// The same call, judged by someone who knows where what is guarded really lies; and whether that is more than before.
    pub(super) fn with_resolved_roots<'a>(
        &self,
        mut case: JudgeInput<'a>,
        touched: &[AffectedPath],
    ) -> (JudgeInput<'a>, bool) {
        let protected = self.resolve_protected(&case.policy);
        // Whoever only looks at something of Snell's own may.
        let is_read = !touched.is_empty() && touched.iter().all(|place| place.is_read_only);
        let own = if is_read { &[] } else { self.resolve_self_paths(&case.world) };
        if !own.is_empty() {
            case.world.to_mut().self_paths.extend(own.iter().cloned());
        }
        if !protected.is_empty() {
            case.policy.to_mut().protected.extend(protected.iter().cloned());
        }
        (case, !own.is_empty() || !protected.is_empty())
    }

    fn resolve_self_paths(&self, world: &JudgeContext) -> &[SelfPath] {
        self.own.get_or_init(|| {
            let mut links = self.links.borrow_mut();
            let own = world.self_paths.iter().filter_map(|own| {
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

    fn resolve_roots(&self, world: &JudgeContext) -> &ResolvedRoots {
        self.real.get_or_init(|| ResolvedRoots::resolve(world, &mut self.links.borrow_mut()))
    }

    /// See [`ResolvedRoots::to_project_path`].
    pub(super) fn to_project_path(&self, cwd: &str, world: &JudgeContext) -> Option<String> {
        let real = self.resolve_roots(world);
        real.to_project_path(cwd, world, &mut self.links.borrow_mut())
    }

    /// Whether no path that a tool is given leads through a link.
    pub(super) fn has_no_symlinks(&self, input: &Value, world: &JudgeContext) -> bool {
        resolve_input_paths(input, world, &mut self.links.borrow_mut()).is_empty()
    }

    /// The call where links lead, if there are any.
    pub(super) fn resolved_variants<'a>(
        &self,
        call: &GuardToolCall<'_>,
        case: &JudgeInput<'a>,
        touched: Vec<AffectedPath>,
    ) -> Vec<JudgeInput<'a>> {
        let real = self.resolve_roots(&case.world);
        let links = &mut *self.links.borrow_mut();
        let inputs = resolve_input_paths(call.input, &case.world, links);
        let cwd = real.resolve_cwd(&case.world, links);
        let is_elsewhere = cwd.is_some();
        let mut world = real.to_resolved_context(&case.world, cwd);
        let touched =
            if is_elsewhere { snell_guard::judge_with_affected_paths(call, &case.policy, &world).1 } else { touched };
        // A link may lead to another name of a file: the first entry of a path counts.
        world.links = file_identity::find_own_files(&touched, &world);
        world.links.extend(resolve_affected_paths(&touched, links));
        world.ignores_case = file_identity::has_case_variant(&touched, &world);
        let leads_elsewhere = !world.links.is_empty();
        if inputs.is_empty() && !is_elsewhere && !leads_elsewhere && !world.ignores_case {
            return Vec::new();
        }
        let with = |input| JudgeInput {
            input,
            policy: case.policy.clone(),
            world: Cow::Owned(world.clone()),
            leads_elsewhere,
        };
        if inputs.is_empty() {
            return vec![with(None)];
        }
        inputs.into_iter().map(|input| with(Some(input))).collect()
    }
}
