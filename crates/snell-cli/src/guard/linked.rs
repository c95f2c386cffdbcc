//! A call as it is behind links. The library takes every path as it is written; it is judged again where that leads
//! elsewhere, and the graver judgement counts.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};

use serde_json::Value;
use snell_guard::rules::Tier;
use snell_guard::{Call, Judgement, Own, Policy, Protected, Touched, World};

use super::links::{Links, behind, with_links_followed};
use super::same_files;
use super::told;
use super::world::Real;

/// Tiers of what must be left alone wherever it lies. Anything else behind a link in a project is what its user has put
/// there.
const EVERYWHERE: &[Tier] = &[Tier::Catastrophic, Tier::OwnGuard, Tier::Secret];

/// What a call is judged by.
#[derive(Clone, Debug)]
pub(super) struct Case<'a> {
    /// The call's input, if a path in it leads elsewhere.
    pub(super) input: Option<Value>,
    pub(super) policy: Cow<'a, Policy>,
    pub(super) world: Cow<'a, World>,
    /// Whether a path in its command leads elsewhere.
    pub(super) leads_elsewhere: bool,
}

impl Case<'_> {
    pub(super) fn judge(&self, call: &Call<'_>) -> Judgement {
        let call = Call {
            input: self.input.as_ref().unwrap_or(call.input),
            ..*call
        };
        snell_guard::judge(&call, &self.policy, &self.world)
    }

    /// Whether a judgement of what is behind links counts. What a command names by its whole path may lead through the
    /// link to the project, and is then taken for somebody else's.
    pub(super) fn counts(&self, judgement: &Judgement) -> bool {
        let is_graver = judgement.tier.is_some_and(|tier| EVERYWHERE.contains(&tier));
        self.input.is_some()
            || judgement.tier == Some(Tier::OwnGuard)
            || told::is_about_protected(judgement)
            || (self.leads_elsewhere && is_graver)
    }
}

/// Where links lead that stand in the way to what is always the same here. Looking takes its time, and most calls are about
/// little of it, so each is looked at once somebody asks.
#[derive(Clone, Debug, Default)]
pub(super) struct Linked {
    /// What else is Snell's own.
    own: OnceCell<Vec<Own>>,
    /// What else is to be left alone.
    protected: OnceCell<Vec<Protected>>,
    /// The project, the home directory, and temporary ones.
    real: OnceCell<Real>,
    links: RefCell<Links>,
}

impl Linked {
    /// The same call, judged by someone who knows where what is guarded really lies; and whether that is more than before.
    pub(super) fn known<'a>(&self, mut case: Case<'a>, touched: &[Touched]) -> (Case<'a>, bool) {
        let protected = self.protected(&case.policy);
        // Whoever only looks at something of Snell's own may.
        let is_read = !touched.is_empty() && touched.iter().all(|place| place.is_read);
        let own = if is_read { &[] } else { self.own(&case.world) };
        if !own.is_empty() {
            case.world.to_mut().own.extend(own.iter().cloned());
        }
        if !protected.is_empty() {
            case.policy.to_mut().protected.extend(protected.iter().cloned());
        }
        (case, !own.is_empty() || !protected.is_empty())
    }

    fn own(&self, world: &World) -> &[Own] {
        self.own.get_or_init(|| {
            let mut links = self.links.borrow_mut();
            let own = world.own.iter().filter_map(|own| {
                let path = links.followed(&own.path)?;
                Some(Own { path, what: own.what })
            });
            own.collect()
        })
    }

    fn protected(&self, policy: &Policy) -> &[Protected] {
        self.protected.get_or_init(|| {
            let mut links = self.links.borrow_mut();
            let protected = policy.protected.iter().filter_map(|protected| {
                let path = links.followed(&protected.path)?;
                Some(Protected { path, ..*protected })
            });
            protected.collect()
        })
    }

    fn real(&self, world: &World) -> &Real {
        self.real.get_or_init(|| Real::of(world, &mut self.links.borrow_mut()))
    }

    /// See [`Real::as_the_project_has_it`].
    pub(super) fn as_the_project_has_it(&self, cwd: &str, world: &World) -> Option<String> {
        let real = self.real(world);
        real.as_the_project_has_it(cwd, world, &mut self.links.borrow_mut())
    }

    /// Whether no path that a tool is given leads through a link.
    pub(super) fn is_none_in(&self, input: &Value, world: &World) -> bool {
        with_links_followed(input, world, &mut self.links.borrow_mut()).is_empty()
    }

    /// The call where links lead, if there are any.
    pub(super) fn behind<'a>(&self, call: &Call<'_>, case: &Case<'a>, touched: Vec<Touched>) -> Vec<Case<'a>> {
        let real = self.real(&case.world);
        let links = &mut *self.links.borrow_mut();
        let inputs = with_links_followed(call.input, &case.world, links);
        let cwd = real.cwd(&case.world, links);
        let is_elsewhere = cwd.is_some();
        let mut world = real.world(&case.world, cwd);
        let touched = if is_elsewhere {
            snell_guard::judge_with_places(call, &case.policy, &world).1
        } else {
            touched
        };
        // A link may lead to another name of a file: the first entry of a path counts.
        world.links = same_files::of_own(&touched, &world);
        world.links.extend(behind(&touched, links));
        world.ignores_case = same_files::in_another_case(&touched, &world);
        let leads_elsewhere = !world.links.is_empty();
        if inputs.is_empty() && !is_elsewhere && !leads_elsewhere && !world.ignores_case {
            return Vec::new();
        }
        let with = |input| Case {
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
