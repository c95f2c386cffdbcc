//! The guard, as it stands here: the library judges, and this says what surrounds it.
//!
//! `policy` turns settings into what the library understands, `world` looks around, `links` follows what the library
//! cannot, `linked` is the call as it is behind links, `same_files` finds Snell's own files under other names, `quietly` keeps a failure from becoming the agent's, `hearing` judges a call as often as hooks change it, `told`
//! says what agents, users and the store are told, `findings` what is wrong with the settings, and `entries` what is wrong
//! with allowed commands.

mod entries;
mod findings;
mod hearing;
mod linked;
mod links;
mod policy;
pub(crate) mod quietly;
mod same_files;
mod told;
mod world;

use std::borrow::Cow;
use std::path::Path;

use serde_json::{Value, json};
use snell::{Settings, Timestamp, unpack_json_object};
use snell_guard::{Call, Explanation, Judgement, Policy, Verdict, World};

pub(crate) use findings::{findings, unread};
pub(crate) use hearing::Hearing;
use linked::{Case, Linked};
pub(crate) use policy::choice;
pub(crate) use world::tidy;

use crate::output;

/// The tool that reads a file.
const READ: &str = "Read";

/// What judges calls in one project.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    pub(crate) policy: Policy,
    world: World,
    linked: Linked,
}

impl Guard {
    /// For an agent's project: what its settings say, and what surrounds this process.
    pub(crate) fn of(settings: &Settings, project: &Path, now: Timestamp) -> Self {
        Self {
            policy: policy::of(&settings.guard, now),
            world: world::around(settings, project),
            linked: Linked::default(),
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
    pub(crate) fn judge(&self, tool: &str, input: &Value, cwd: Option<&Path>) -> Judgement {
        let input = unpack_json_object(input);
        let call = Call { tool, input: &input };
        let judge = || self.case(&call, cwd).0;
        self.or_failed(tool, judge, |failed| failed)
    }

    /// The same, with everything that led to it.
    pub(crate) fn explain(&self, tool: &str, input: &Value, cwd: Option<&Path>) -> Explanation {
        let input = unpack_json_object(input);
        let call = Call { tool, input: &input };
        let explain = || {
            let (_, case) = self.case(&call, cwd);
            let call = Call {
                input: case.input.as_ref().unwrap_or(call.input),
                ..call
            };
            snell_guard::explain(&call, &case.policy, &case.world)
        };
        self.or_failed(tool, explain, Explanation::of_nothing)
    }

    /// The rule that would keep an agent from reading a file, if one would.
    pub(crate) fn forbids_reading(&self, file: &Path) -> Option<&'static str> {
        let judgement = self.judge(READ, &json!({ "file_path": file.to_string_lossy() }), None);
        judgement.rule.filter(|_| judgement.would > Verdict::Allow)
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

    /// The gravest judgement of a call, and what it was made of: the call as it is written, or where links lead.
    fn case(&self, call: &Call<'_>, cwd: Option<&Path>) -> (Judgement, Case<'_>) {
        let as_written = Case {
            input: None,
            policy: Cow::Borrowed(&self.policy),
            world: self.at(cwd),
            leads_elsewhere: false,
        };
        let (judgement, touched) = snell_guard::judge_with_places(call, &as_written.policy, &as_written.world);
        // What is about no place is about none behind a link either.
        if touched.is_empty() && self.linked.is_none_in(call.input, &as_written.world) {
            return (judgement, as_written);
        }
        let (known, has_more) = self.linked.known(as_written, &touched);
        let judgement = if has_more { known.judge(call) } else { judgement };
        let behind = self.linked.behind(call, &known, touched);
        let judged = behind.into_iter().map(|case| (case.judge(call), case));
        let worst = judged
            .filter(|(judged, case)| judged.would > judgement.would && case.counts(judged))
            .max_by_key(|(judged, _)| judged.would);
        worst.unwrap_or((judgement, known))
    }

    /// The world, seen from this directory.
    fn at(&self, cwd: Option<&Path>) -> Cow<'_, World> {
        let cwd = cwd.map(|cwd| world::tidy(&Path::new(&self.world.project).join(cwd)));
        match cwd.filter(|cwd| *cwd != self.world.cwd) {
            None => Cow::Borrowed(&self.world),
            Some(cwd) => Cow::Owned(World {
                cwd: self.as_the_project_has_it(&cwd).unwrap_or(cwd),
                ..self.world.clone()
            }),
        }
    }

    /// A directory that is in the project although its name does not say so, by the name that the project itself has:
    /// agents take both ways.
    fn as_the_project_has_it(&self, cwd: &str) -> Option<String> {
        let is_plain = Path::new(cwd).starts_with(&self.world.project);
        let real = || self.linked.as_the_project_has_it(cwd, &self.world);
        (!is_plain).then(real).flatten()
    }
}

#[cfg(test)]
mod tests;
