//! Firing an event: lane by lane, each hook under its own contract, one verdict.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use super::prepare::Prepared;
use super::select::{Selection, select};
use super::{Engine, MAX_DEPTH};
use crate::contract::{AfterBlock, Changes, Flow, Scene, SharedBudget};
use crate::diagnostic::{Diagnostic, Severity};
use crate::event::Event;
use crate::hook::{Condition, Hook};
use crate::outcome::Outcome;
use crate::runner::Job;
use crate::verdict::{Answer, Decision, Fold, HookRun, Status, Verdict};

impl Engine {
    /// Fires an event: runs every hook that it concerns and folds their answers into one verdict.
    ///
    /// A hook's failure is data in the verdict, never an error. If the returned future is dropped before it is done,
    /// the hooks that it awaits are killed.
    pub async fn fire(&self, event: Event) -> Verdict {
        let loaded = self.loaded();
        let mut firing = Firing {
            engine: self,
            scene: self.scene(),
            fold: Fold::new(event.name.clone(), Vec::new()),
            event,
        };
        firing.note_missing_tool();
        for lane in loaded.hooks.chunk_by(|a, b| a.contract.lane == b.contract.lane) {
            firing.lane(lane).await;
        }
        firing.fold.finish()
    }
}

/// One event on its way through the lanes.
struct Firing<'a> {
    engine: &'a Engine,
    scene: Scene<'a>,
    fold: Fold,
    /// The event as the next hook will see it: earlier hooks may have changed its tool's input or output.
    event: Event,
}

/// A hook that is to run together with others.
struct Companion {
    hook: Arc<Hook>,
    state: CompanionState,
}

enum CompanionState {
    Waiting(Box<Prepared>),
    Noted(Status, String),
    Done(Outcome),
}

impl Firing<'_> {
    fn note_missing_tool(&mut self) {
        if self.event.name.is_about_a_tool() && self.event.tool_name().is_none() {
            self.fold.warn(Diagnostic::whole_file(
                Severity::Warning,
                "<event>",
                format!(
                    "a {} event without \"tool_name\"; only hooks for every tool can match it",
                    self.event.name
                ),
            ));
        }
    }

    async fn lane(&mut self, hooks: &[Arc<Hook>]) {
        let Some(first) = hooks.first() else {
            return;
        };
        match (first.contract.flow)(&self.event.name) {
            Flow::InOrder => self.in_order(hooks).await,
            Flow::Together { budget } => self.together(hooks, budget).await,
            Flow::Unattended => self.unattended(hooks),
        }
    }

    /// Whether the hook runs; one that matches and does not is noted with the reason.
    fn fires(&mut self, hook: &Arc<Hook>) -> bool {
        match self.select(hook) {
            Selection::OtherEvent | Selection::NoMatch => false,
            Selection::Skip(why) => {
                self.note(hook, Status::Skipped, why);
                false
            }
            Selection::Fire => true,
        }
    }

    fn select(&self, hook: &Hook) -> Selection {
        match select(hook, &self.event, &self.scene) {
            Selection::Fire if self.engine.shared.depth >= MAX_DEPTH => {
                Selection::Skip(format!("hooks fired by hooks stop at depth {MAX_DEPTH}"))
            }
            selection => selection,
        }
    }

    fn note(&mut self, hook: &Arc<Hook>, status: Status, why: String) {
        self.fold.note(HookRun {
            hook: Arc::clone(hook),
            status,
            outcome: None,
            why: Some(why),
        });
    }

    async fn in_order(&mut self, hooks: &[Arc<Hook>]) {
        let mut blocked = false;
        let mut changed = false;
        for hook in hooks {
            if !self.fires(hook) {
                continue;
            }
            if blocked {
                self.note(hook, Status::Skipped, "an earlier hook blocked the event".into());
                continue;
            }
            let prepared = match self.engine.prepare(hook, &self.event, &self.scene, hook.timeout) {
                Ok(prepared) => prepared,
                Err(why) => {
                    blocked |= self.conclude(hook, Outcome::not_started(why, Duration::ZERO), &mut changed);
                    continue;
                }
            };
            if hook.background {
                let job = prepared.into_job(hook, &self.event);
                self.launch(vec![(Arc::clone(hook), job)]);
                continue;
            }
            if let Some(condition) = &prepared.condition {
                let outcome = self.scene.runner.process(condition).await;
                if !outcome.success() {
                    let why = condition_text(hook, &outcome, condition.timeout);
                    self.note(hook, Status::Skipped, why);
                    continue;
                }
            }
            let outcome = self.scene.runner.run(&prepared.work).await;
            blocked |= self.conclude(hook, outcome, &mut changed);
        }
    }

    /// Reads a hook's answer and folds it in; whether later hooks of its contract must not run.
    fn conclude(&mut self, hook: &Arc<Hook>, outcome: Outcome, changed: &mut bool) -> bool {
        let contract = hook.contract;
        let mut answer: Answer = (contract.answer)(hook, &self.event, &outcome);
        let changes = answer.tool_input.is_some() || answer.tool_output.is_some();
        if changes && *changed && contract.changes == Changes::First {
            answer.tool_input = None;
            answer.tool_output = None;
            answer.warnings.push(format!(
                "the change by \"{}\" is left out: an earlier hook's stands",
                hook.command()
            ));
        }
        *changed |= changes;
        if let Some(tool) = &mut self.event.tool {
            tool.input = answer.tool_input.clone().or(tool.input.take());
            tool.output = answer.tool_output.clone().or(tool.output.take());
        }
        let blocks = (contract.blocks)(&self.event.name);
        let stops = blocks && answer.decision == Decision::Deny && contract.after_block == AfterBlock::Stop;
        self.fold.add(hook, outcome, answer, blocks);
        stops
    }

    async fn together(&mut self, hooks: &[Arc<Hook>], budget: Option<SharedBudget>) {
        let mut firing: Vec<Companion> = Vec::new();
        let selected: Vec<_> = hooks.iter().map(|hook| (hook, self.select(hook))).collect();
        let shared = budget.map(|budget| {
            let awaited = selected.iter().filter(|(_, selection)| *selection == Selection::Fire);
            self.shared_time(budget, awaited.map(|(hook, _)| hook.as_ref()))
        });
        for (hook, selection) in selected {
            let state = match selection {
                Selection::OtherEvent | Selection::NoMatch => continue,
                Selection::Skip(why) => CompanionState::Noted(Status::Skipped, why),
                Selection::Fire => match firing.iter().find(|earlier| is_same(&earlier.hook, hook)) {
                    Some(twin) => {
                        CompanionState::Noted(Status::Skipped, format!("it is the same as {}", twin.hook.origin))
                    }
                    None => {
                        let timeout = shared.map_or(hook.timeout, |shared| shared.min(hook.timeout));
                        match self.engine.prepare(hook, &self.event, &self.scene, timeout) {
                            Ok(prepared) => CompanionState::Waiting(Box::new(prepared)),
                            Err(why) => CompanionState::Done(Outcome::not_started(why, Duration::ZERO)),
                        }
                    }
                },
            };
            firing.push(Companion {
                hook: Arc::clone(hook),
                state,
            });
        }
        self.run_together(&mut firing).await;
        let mut changed = false;
        for companion in firing {
            match companion.state {
                CompanionState::Noted(status, why) => self.note(&companion.hook, status, why),
                CompanionState::Done(outcome) => {
                    self.conclude(&companion.hook, outcome, &mut changed);
                }
                CompanionState::Waiting(_) => {}
            }
        }
    }

    /// Starts all that wait, the unattended ones first, and waits for the others.
    async fn run_together(&mut self, firing: &mut [Companion]) {
        let mut jobs = Vec::new();
        let mut unattended = Vec::new();
        let mut running = JoinSet::new();
        for (index, companion) in firing.iter_mut().enumerate() {
            let placeholder = CompanionState::Noted(Status::Failed, "it could not be awaited".into());
            match std::mem::replace(&mut companion.state, placeholder) {
                CompanionState::Waiting(prepared) if companion.hook.background => {
                    jobs.push(prepared.into_job(&companion.hook, &self.event));
                    unattended.push(index);
                }
                CompanionState::Waiting(prepared) => {
                    let runner = self.scene.runner.clone();
                    running.spawn(async move { (index, runner.run(&prepared.work).await) });
                }
                other => companion.state = other,
            }
        }
        if !jobs.is_empty() {
            let launched = self.engine.shared.launcher.launch(jobs, self.scene.runner);
            for index in unattended {
                firing[index].state = match &launched {
                    Ok(why) => CompanionState::Noted(Status::Started, why.clone()),
                    Err(why) => CompanionState::Done(Outcome::not_started(why, Duration::ZERO)),
                };
            }
        }
        while let Some(ended) = running.join_next().await {
            if let Ok((index, outcome)) = ended {
                firing[index].state = CompanionState::Done(outcome);
            }
        }
    }

    fn unattended(&mut self, hooks: &[Arc<Hook>]) {
        let mut jobs = Vec::new();
        for hook in hooks {
            if !self.fires(hook) {
                continue;
            }
            match self.engine.prepare(hook, &self.event, &self.scene, hook.timeout) {
                Ok(prepared) => jobs.push((Arc::clone(hook), prepared.into_job(hook, &self.event))),
                Err(why) => {
                    self.conclude(hook, Outcome::not_started(why, Duration::ZERO), &mut false);
                }
            }
        }
        self.launch(jobs);
    }

    fn launch(&mut self, jobs: Vec<(Arc<Hook>, Job)>) {
        if jobs.is_empty() {
            return;
        }
        let (hooks, jobs): (Vec<_>, Vec<_>) = jobs.into_iter().unzip();
        let launched = self.engine.shared.launcher.launch(jobs, self.scene.runner);
        for hook in hooks {
            match &launched {
                Ok(why) => self.note(&hook, Status::Started, why.clone()),
                Err(why) => {
                    self.conclude(&hook, Outcome::not_started(why, Duration::ZERO), &mut false);
                }
            }
        }
    }

    /// How long all hooks may take that share their time.
    fn shared_time<'h>(&self, budget: SharedBudget, hooks: impl Iterator<Item = &'h Hook>) -> Duration {
        let told = self
            .scene
            .runner
            .variable(budget.variable)
            .and_then(|value| value.to_str()?.parse().ok())
            .map(Duration::from_millis);
        if let Some(told) = told {
            return told;
        }
        let longest = hooks
            .filter(|hook| hook.timeout_is_written)
            .map(|hook| hook.timeout)
            .max();
        longest.unwrap_or_default().clamp(budget.at_least, budget.at_most)
    }
}

/// Whether two hooks would do the same: then one run serves both.
pub(super) fn is_same(a: &Hook, b: &Hook) -> bool {
    a.action == b.action && a.condition == b.condition && a.background == b.background
}

fn condition_text(hook: &Hook, outcome: &Outcome, timeout: Duration) -> String {
    let command = match &hook.condition {
        Some(Condition::Shell(command)) => command.as_str(),
        _ => "",
    };
    format!("its condition \"{command}\" {}", outcome.ending(timeout))
}
