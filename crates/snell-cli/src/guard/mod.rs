//! The guard, as it stands here: the library judges, and this says what surrounds it.
//!
//! `policy` turns settings into what the library understands, `world` looks around, `links` follows what the library
//! cannot, `quietly` keeps a failure from becoming the agent's, `hearing` judges a call as often as hooks change it, `told`
//! says what agents, users and the store are told, and `findings` what is wrong with the settings.

mod findings;
mod hearing;
mod links;
mod policy;
mod quietly;
mod told;
mod world;

use std::borrow::Cow;
use std::path::Path;

use serde_json::Value;
use snell::{Settings, Timestamp};
use snell_guard::rules::Tier;
use snell_guard::{Call, Explanation, Judgement, Policy, Protected, World};

pub(crate) use findings::findings;
pub(crate) use hearing::Hearing;
use links::{Links, with_links_followed};
pub(crate) use policy::choice;
use world::Real;
pub(crate) use world::tidy;

use crate::output;

/// What judges calls in one project.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    pub(crate) policy: Policy,
    world: World,
    /// Where links lead that stand in the way to the project and to the home directory.
    real: Real,
}

impl Guard {
    /// For an agent's project: what its settings say, and what surrounds this process.
    pub(crate) fn of(settings: &Settings, project: &Path, now: Timestamp) -> Self {
        let mut links = Links::default();
        let world = world::around(settings, project, &mut links);
        let mut policy = policy::of(&settings.guard, now);
        let behind = policy.protected.iter().filter_map(|protected| {
            let path = links.followed(&protected.path)?;
            Some(Protected { path, ..*protected })
        });
        let behind: Vec<_> = behind.collect();
        policy.protected.extend(behind);
        Self {
            policy,
            real: Real::of(&world, &mut links),
            world,
        }
    }

    /// What is to be done about a call that would start in this directory, or else in the project. Never panics: a failure
    /// is a judgement of its own.
    pub(crate) fn judge(&self, tool: &str, input: &Value, cwd: Option<&Path>) -> Judgement {
        let call = Call { tool, input };
        let judge = || {
            let world = self.at(cwd);
            let judgement = snell_guard::judge(&call, &self.policy, &world);
            match self.worst_behind_links(&call, &world, &judgement) {
                Some((worse, _)) => worse,
                None => judgement,
            }
        };
        self.or_failed(tool, judge, |failed| failed)
    }

    /// The same, with everything that led to it.
    pub(crate) fn explain(&self, tool: &str, input: &Value, cwd: Option<&Path>) -> Explanation {
        let call = Call { tool, input };
        let explain = || {
            let world = self.at(cwd);
            let judgement = snell_guard::judge(&call, &self.policy, &world);
            match self.worst_behind_links(&call, &world, &judgement) {
                Some((_, behind)) => snell_guard::explain(&behind.call(&call), &self.policy, &behind.world),
                None => snell_guard::explain(&call, &self.policy, &world),
            }
        };
        self.or_failed(tool, explain, told::unexplained)
    }

    /// What this answers; if it breaks, what is to be done about a call of which nothing is known.
    fn or_failed<T>(&self, tool: &str, work: impl FnOnce() -> T, failed: impl FnOnce(Judgement) -> T) -> T {
        quietly::run(work).unwrap_or_else(|place| {
            output::note(&format!(
                "the guard failed at {place} when it judged a call of {tool}; please report it"
            ));
            failed(Judgement::failed(&self.policy))
        })
    }

    /// The world, seen from this directory.
    fn at(&self, cwd: Option<&Path>) -> Cow<'_, World> {
        let cwd = cwd.map(|cwd| world::tidy(&Path::new(&self.world.project).join(cwd)));
        match cwd.filter(|cwd| *cwd != self.world.cwd) {
            None => Cow::Borrowed(&self.world),
            Some(cwd) => Cow::Owned(World {
                cwd: self.real.as_the_project_has_it(&cwd, &self.world).unwrap_or(cwd),
                ..self.world.clone()
            }),
        }
    }

    /// What is to be done about the call where links lead, if that is worse.
    fn worst_behind_links(&self, call: &Call<'_>, world: &World, before: &Judgement) -> Option<(Judgement, Behind)> {
        let judged = self.look_behind(call, world).into_iter().filter_map(|behind| {
            let judgement = self.judge_behind(call, &behind)?;
            Some((judgement, behind))
        });
        judged
            .filter(|(judgement, _)| judgement.would > before.would)
            .max_by_key(|(judgement, _)| judgement.would)
    }

    /// The same call where links lead, if there are any: the library takes every path as it is written.
    fn look_behind(&self, call: &Call<'_>, world: &World) -> Vec<Behind> {
        let inputs = with_links_followed(call.input, world);
        let cwd = self.real.cwd(world);
        if inputs.is_empty() && cwd.is_none() {
            return Vec::new();
        }
        let real = self.real.world(world, cwd);
        let behind = |input| Behind {
            input,
            world: real.clone(),
        };
        if inputs.is_empty() {
            return vec![behind(None)];
        }
        inputs.into_iter().map(|input| behind(Some(input))).collect()
    }

    fn judge_behind(&self, call: &Call<'_>, behind: &Behind) -> Option<Judgement> {
        let judgement = snell_guard::judge(&behind.call(call), &self.policy, &behind.world);
        // What a command names by its whole path may lead through the link to the project, and is then taken for somebody
        // else's. So only what must be left alone wherever it lies counts there.
        let counts =
            behind.input.is_some() || judgement.tier == Some(Tier::OwnGuard) || told::is_about_protected(&judgement);
        counts.then_some(judgement)
    }
}

/// A call where links lead.
struct Behind {
    /// Its input, if a path in it leads elsewhere.
    input: Option<Value>,
    world: World,
}

impl Behind {
    fn call<'a>(&'a self, call: &Call<'a>) -> Call<'a> {
        Call {
            input: self.input.as_ref().unwrap_or(call.input),
            ..*call
        }
    }
}

#[cfg(test)]
mod tests;
