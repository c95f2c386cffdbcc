//! Firing an event: lane by lane, each hook under its own contract, one verdict.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use super::Engine;
use super::prepare::job;
use super::select::Selection;
use crate::contract::{AfterBlock, Changes, Contract, Envelope, Flow, MuteCondition, Scene, SharedBudget, Twins};
use crate::diagnostic::Diagnostic;
use crate::event::Event;
use crate::hook::{Condition, Hook, OnFailure, Timeout};
use crate::outcome::{End, Outcome};
use crate::runner::{Ended, Job, Task};
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
            fold: Fold::new(event.name.clone()),
            event: self.located(event),
        };
        for remark in self.remarks(&firing.event) {
            firing.fold.warn(remark);
        }
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

/// What has happened in a lane so far.
#[derive(Default)]
struct Lane {
    /// A hook blocked, and its contract lets no later one run.
    blocked: bool,
    /// A hook changed the input or the output.
    changed: bool,
}

/// A hook that runs together with others, and how far it is.
struct Companion {
    hook: Arc<Hook>,
    state: CompanionState,
}

enum CompanionState {
    Waiting(Box<Task>),
    Noted(Status, String),
    Ended(Ended),
}

impl Firing<'_> {
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

    async fn in_order(&mut self, hooks: &[Arc<Hook>]) {
        let mut lane = Lane::default();
        for hook in hooks {
            if !self.fires(hook, &mut lane) {
                continue;
            }
            if lane.blocked {
                self.note(hook, Status::Skipped, "an earlier hook blocked the event".into());
                continue;
            }
            let envelope = self.envelope(hook.contract);
            let Some(task) = self.prepare(hook, &envelope, hook.timeout(), &mut lane) else {
                continue;
            };
            if hook.background {
                let job = job(task, hook, &self.event, self.engine.shared.now);
                self.launch(vec![(Arc::clone(hook), job)], &mut lane);
            } else {
                let ended = task.run(self.scene.runner).await;
                self.conclude(hook, ended, &mut lane);
            }
        }
    }

    fn unattended(&mut self, hooks: &[Arc<Hook>]) {
        let mut lane = Lane::default();
        let mut jobs = Vec::new();
        for hook in hooks {
            if !self.fires(hook, &mut lane) {
                continue;
            }
            let envelope = self.envelope(hook.contract);
            if let Some(task) = self.prepare(hook, &envelope, hook.timeout(), &mut lane) {
                jobs.push((Arc::clone(hook), job(task, hook, &self.event, self.engine.shared.now)));
            }
        }
        self.launch(jobs, &mut lane);
    }

    async fn together(&mut self, hooks: &[Arc<Hook>], budget: Option<SharedBudget>) {
        let selected: Vec<_> = hooks.iter().map(|hook| (hook, self.select(hook))).collect();
        let shared = budget.map(|budget| {
            let firing = selected.iter().filter(|(_, selection)| *selection == Selection::Fire);
            self.shared_time(budget, firing.map(|(hook, _)| hook.as_ref()))
        });
        let mut envelopes: Vec<(&Contract, Envelope)> = Vec::new();
        let mut companions: Vec<Companion> = Vec::new();
        for (hook, selection) in selected {
            let twin = companions.iter().find(|earlier| is_twin(&earlier.hook, hook));
            let state = match (selection, twin) {
                (Selection::OtherEvent | Selection::NoMatch, _) => continue,
                (Selection::Skip(why), _) => CompanionState::Noted(Status::Skipped, why),
                (Selection::Withhold(why), _) => CompanionState::Ended(withheld(why)),
                (Selection::Fire, Some(twin)) => CompanionState::Noted(
                    Status::Skipped,
                    format!("it is the same as {}", twin.hook.origin.exact()),
                ),
                (Selection::Fire, None) => {
                    let made = envelopes.iter().position(|(contract, _)| *contract == hook.contract);
                    let index = made.unwrap_or_else(|| {
                        envelopes.push((hook.contract, self.envelope(hook.contract)));
                        envelopes.len() - 1
                    });
                    // What nobody waits for does not use up the time that the others share.
                    let shared = shared.filter(|_| !hook.background);
                    let timeout = shared.map_or(hook.timeout(), |shared| shared.min(hook.timeout()));
                    let envelope = &envelopes[index].1;
                    match self.engine.prepare(hook, &self.event, &self.scene, envelope, timeout) {
                        Ok(task) => CompanionState::Waiting(Box::new(task)),
                        Err(why) => not_started(why),
                    }
                }
            };
            companions.push(Companion {
                hook: Arc::clone(hook),
                state,
            });
        }
        self.run_together(&mut companions).await;
        let mut lane = Lane::default();
        for Companion { hook, state } in companions {
            match state {
                CompanionState::Noted(status, why) => self.note(&hook, status, why),
                CompanionState::Ended(ended) => self.conclude(&hook, ended, &mut lane),
                CompanionState::Waiting(_) => {}
            }
        }
    }

    /// Starts all that wait, the unattended ones first, and waits for the others.
    async fn run_together(&mut self, companions: &mut [Companion]) {
        let mut jobs = Vec::new();
        let mut unattended = Vec::new();
        let mut running = JoinSet::new();
        for (index, companion) in companions.iter_mut().enumerate() {
            // What stays here if its task should die: a failure of the hook, with what that means for it.
            let unawaited = not_started("it could not be awaited");
            match std::mem::replace(&mut companion.state, unawaited) {
                CompanionState::Waiting(task) if companion.hook.background => {
                    jobs.push(job(*task, &companion.hook, &self.event, self.engine.shared.now));
                    unattended.push(index);
                }
                CompanionState::Waiting(task) => {
                    let runner = self.scene.runner.clone();
                    running.spawn(async move { (index, task.run(&runner).await) });
                }
                other => companion.state = other,
            }
        }
        if !jobs.is_empty() {
            let launched = self.engine.shared.launcher.launch(jobs, self.scene.runner);
            for index in unattended {
                companions[index].state = match &launched {
                    Ok(why) => CompanionState::Noted(Status::Started, why.clone()),
                    Err(why) => not_started(why),
                };
            }
        }
        while let Some(ended) = running.join_next().await {
            if let Ok((index, ended)) = ended {
                companions[index].state = CompanionState::Ended(ended);
            }
        }
    }

    fn launch(&mut self, jobs: Vec<(Arc<Hook>, Job)>, lane: &mut Lane) {
        if jobs.is_empty() {
            return;
        }
        let (hooks, jobs): (Vec<_>, Vec<_>) = jobs.into_iter().unzip();
        let launched = self.engine.shared.launcher.launch(jobs, self.scene.runner);
        for hook in hooks {
            match &launched {
                Ok(why) => self.note(&hook, Status::Started, why.clone()),
                Err(why) => {
                    let outcome = Outcome::not_started(why, Duration::ZERO);
                    self.conclude(&hook, Ended::Ran(outcome), lane);
                }
            }
        }
    }

    fn select(&self, hook: &Hook) -> Selection {
        self.engine.select(hook, &self.event, &self.scene)
    }

    /// Whether the hook runs; one that matches and does not is noted with the reason.
    fn fires(&mut self, hook: &Arc<Hook>, lane: &mut Lane) -> bool {
        match self.select(hook) {
            Selection::OtherEvent | Selection::NoMatch => false,
            Selection::Skip(why) => {
                self.note(hook, Status::Skipped, why);
                false
            }
            Selection::Withhold(why) => {
                self.conclude(hook, withheld(why), lane);
                false
            }
            Selection::Fire => true,
        }
    }

    /// What hooks of this contract receive. What had to be cut is no secret.
    fn envelope(&mut self, contract: &Contract) -> Envelope {
        let envelope = (contract.envelope)(&self.event, &self.scene);
        for cut in &envelope.cut {
            self.fold.warn(Diagnostic::about_event(cut));
        }
        envelope
    }

    /// Prepares a hook; one that cannot be prepared has failed.
    fn prepare(&mut self, hook: &Arc<Hook>, envelope: &Envelope, timeout: Duration, lane: &mut Lane) -> Option<Task> {
        match self.engine.prepare(hook, &self.event, &self.scene, envelope, timeout) {
            Ok(task) => Some(task),
            Err(why) => {
                self.conclude(hook, Ended::Ran(Outcome::not_started(why, Duration::ZERO)), lane);
                None
            }
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

    /// Reads a hook's answer, folds it in, and lets the event and the lane know.
    fn conclude(&mut self, hook: &Arc<Hook>, ended: Ended, lane: &mut Lane) {
        let outcome = match ended {
            Ended::Ran(outcome) => outcome,
            Ended::Withheld(condition) => match self.withhold(hook, &condition) {
                Some(failure) => failure,
                None => return,
            },
        };
        let contract = hook.contract;
        let mut answer: Answer = (contract.answer)(hook, &self.event, &outcome);
        let changes = answer.tool_input.is_some() || answer.tool_output.is_some();
        if changes && lane.changed && contract.changes == Changes::First {
            answer.tool_input = None;
            answer.tool_output = None;
            let command = hook.command();
            answer.warnings.push(format!(
                "the change by \"{command}\" is left out: an earlier hook's stands"
            ));
        }
        lane.changed |= changes;
        if let Some(tool) = &mut self.event.tool {
            tool.input = answer.tool_input.clone().or(tool.input.take());
            tool.output = answer.tool_output.clone().or(tool.output.take());
        }
        let blocks = (contract.blocks)(&self.event.name);
        let denied = blocks && answer.decision == Decision::Deny;
        lane.blocked |= denied && contract.after_block == AfterBlock::Stop;
        self.fold.add(hook, outcome, answer);
    }

    /// A hook whose condition did not hold is skipped. A condition that gave no answer at all is a failure, which a
    /// hook that must not fail open turns into one of its own.
    fn withhold(&mut self, hook: &Arc<Hook>, condition: &Outcome) -> Option<Outcome> {
        let written = match &hook.condition {
            Some(Condition::Shell(command)) => command.as_str(),
            _ => "",
        };
        let (why, answered) = match &condition.end {
            End::NotStarted(why) => (why.clone(), false),
            end => {
                let why = format!("its condition \"{written}\" {}", condition.ending());
                // These are how a shell says that there was nothing it could run.
                (why, matches!(end, End::Exited(code) if !matches!(code, 126 | 127)))
            }
        };
        let depends =
            matches!(condition.end, End::NotStarted(_)) || hook.contract.mute_condition == MuteCondition::Failure;
        if !answered && depends && hook.on_failure == OnFailure::Block {
            return Some(Outcome::not_started(why, condition.duration));
        }
        if !answered {
            self.fold.warn(
                hook.origin
                    .warning(format!("\"{}\" did not run: {why}", hook.command())),
            );
        }
        self.note(hook, Status::Skipped, why);
        None
    }

    /// How long all hooks may take that share their time.
    fn shared_time<'h>(&self, budget: SharedBudget, hooks: impl Iterator<Item = &'h Hook>) -> Duration {
        let told = self
            .scene
            .runner
            .variable(budget.variable)
            .and_then(|value| value.to_str()?.parse().ok())
            .map(Duration::from_millis);
        let longest = hooks.filter_map(|hook| match hook.timeout {
            Timeout::Written(timeout) => Some(timeout),
            Timeout::Default(_) => None,
        });
        told.unwrap_or_else(|| longest.max().unwrap_or_default().clamp(budget.at_least, budget.at_most))
    }
}

/// A hook that could not be started at all.
fn not_started(why: impl Into<String>) -> CompanionState {
    CompanionState::Ended(Ended::Ran(Outcome::not_started(why, Duration::ZERO)))
}

/// A hook that matches and that something other than its condition keeps from running.
fn withheld(why: String) -> Ended {
    Ended::Withheld(Outcome::not_started(why, Duration::ZERO))
}

/// Whether one run serves both hooks: they would do the same, and their contract has it so.
pub(super) fn is_twin(a: &Hook, b: &Hook) -> bool {
    b.contract.twins == Twins::RunOnce
        && a.action == b.action
        && a.condition == b.condition
        && a.background == b.background
}
