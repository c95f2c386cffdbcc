//! Firing an event: lane by lane, each hook under its own contract, one verdict.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use super::Engine;
use super::prepare::build_job;
use super::select::HookSelection;
use crate::contract::{
    AfterBlock, ChangePolicy, ConditionFailure, DedupPolicy, Envelope, ExecutionMode, HookContext, SharedTimeBudget,
};
use crate::diagnostic::Diagnostic;
use crate::event::Event;
use crate::hook::{FailurePolicy, Hook, HookCondition, HookTimeout};
use crate::outcome::{Outcome, RunEnd};
use crate::runner::{BackgroundJob, HookTask, TaskEnd};
use crate::verdict::{Decision, Fold, HookAnswer, HookRun, HookRunStatus, Verdict};

impl Engine {
    /// Fires an event: runs every hook that matches and folds the answers into one verdict.
    ///
    /// A hook's failure is data in the verdict, never an error. If the returned future is dropped before it is done,
    /// the hooks that it awaits are killed.
    pub async fn fire(&self, event: Event) -> Verdict {
        let loaded = self.loaded_config();
        let mut firing = EventFiring {
            engine: self,
            context: self.hook_context(),
            fold: Fold::new(event.name.clone()),
            event: self.with_absolute_cwd(event),
        };
        for remark in self.check_event(&firing.event) {
            firing.fold.add_warning(remark);
        }
        for lane in loaded.hooks.chunk_by(|a, b| a.contract.lane == b.contract.lane) {
            firing.run_lane(lane).await;
        }
        firing.fold.into_verdict()
    }
}

/// One event on its way through the lanes.
struct EventFiring<'a> {
    engine: &'a Engine,
    context: HookContext<'a>,
    fold: Fold,
    /// The event as the next hook will see it: earlier hooks may have changed its tool's input or output.
    event: Event,
}

/// The state of a lane.
#[derive(Default)]
struct LaneProgress {
    /// A hook blocked, and its contract then skips later hooks.
    is_blocked: bool,
    /// A hook changed the input or the output.
    is_changed: bool,
}

/// A hook that runs together with others, and its state.
struct ParallelHook {
    hook: Arc<Hook>,
    state: ParallelHookState,
}

enum ParallelHookState {
    Waiting(Box<HookTask>),
    NotRun(HookRunStatus, String),
    Ended(TaskEnd),
}

impl EventFiring<'_> {
    async fn run_lane(&mut self, hooks: &[Arc<Hook>]) {
        let Some(first) = hooks.first() else {
            return;
        };
        let runs_in_order =
            |hook: &&Arc<Hook>| hook.agent_entry.runs_in_order && self.select_hook(hook) == HookSelection::Fire;
        match (first.contract.execution_mode)(&self.event.name) {
            ExecutionMode::Together { .. } if hooks.iter().any(|hook| runs_in_order(&hook)) => {
                self.run_in_order(hooks).await;
            }
            ExecutionMode::InOrder => self.run_in_order(hooks).await,
            ExecutionMode::Together { budget } => self.run_in_parallel(hooks, budget).await,
            ExecutionMode::Unattended => self.start_unattended(hooks),
        }
    }

    async fn run_in_order(&mut self, hooks: &[Arc<Hook>]) {
        let mut lane = LaneProgress::default();
        let mut earlier: Vec<&Arc<Hook>> = Vec::new();
        for hook in hooks {
            if !self.should_fire(hook, &mut lane) {
                continue;
            }
            if let Some(twin) = earlier.iter().find(|earlier| is_duplicate_hook(earlier, hook)) {
                let why = format!("it is a duplicate of {}", twin.origin.to_string_with_column());
                self.record_not_run(hook, HookRunStatus::Skipped, why);
                continue;
            }
            earlier.push(hook);
            if lane.is_blocked {
                self.record_not_run(hook, HookRunStatus::Skipped, "an earlier hook blocked the event".into());
                continue;
            }
            let envelope = self.build_envelope(hook);
            let Some(task) = self.prepare_task(hook, &envelope, hook.timeout(), &mut lane) else {
                continue;
            };
            if hook.background {
                let job = build_job(task, hook, &self.event, self.engine.shared.now);
                self.launch_jobs(vec![(Arc::clone(hook), job)], &mut lane);
            } else {
                let ended = task.run(self.context.runner).await;
                self.conclude_hook(hook, ended, &mut lane);
            }
        }
    }

    fn start_unattended(&mut self, hooks: &[Arc<Hook>]) {
        let mut lane = LaneProgress::default();
        let mut jobs = Vec::new();
        for hook in hooks {
            if !self.should_fire(hook, &mut lane) {
                continue;
            }
            let envelope = self.build_envelope(hook);
            if let Some(task) = self.prepare_task(hook, &envelope, hook.timeout(), &mut lane) {
                jobs.push((Arc::clone(hook), build_job(task, hook, &self.event, self.engine.shared.now)));
            }
        }
        self.launch_jobs(jobs, &mut lane);
    }

    async fn run_in_parallel(&mut self, hooks: &[Arc<Hook>], budget: Option<SharedTimeBudget>) {
        let selected: Vec<_> = hooks.iter().map(|hook| (hook, self.select_hook(hook))).collect();
        let shared = budget.map(|budget| {
            let firing = selected.iter().filter(|(_, selection)| *selection == HookSelection::Fire);
            self.compute_shared_time(budget, firing.map(|(hook, _)| hook.as_ref()))
        });
        let mut envelopes: Vec<(&Hook, Envelope)> = Vec::new();
        let mut companions: Vec<ParallelHook> = Vec::new();
        for (hook, selection) in selected {
            let twin = companions.iter().find(|earlier| is_duplicate_hook(&earlier.hook, hook));
            let state = match (selection, twin) {
                (HookSelection::OtherEvent | HookSelection::NoMatch, _) => continue,
                (HookSelection::Skip(why), _) => ParallelHookState::NotRun(HookRunStatus::Skipped, why),
                (HookSelection::Withhold(why), _) => ParallelHookState::Ended(withheld_end(why)),
                (HookSelection::Fire, Some(twin)) => ParallelHookState::NotRun(
                    HookRunStatus::Skipped,
                    format!("it is a duplicate of {}", twin.hook.origin.to_string_with_column()),
                ),
                (HookSelection::Fire, None) => {
                    let made = envelopes.iter().position(|(earlier, _)| have_equal_envelopes(earlier, hook));
                    let index = made.unwrap_or_else(|| {
                        envelopes.push((hook.as_ref(), self.build_envelope(hook)));
                        envelopes.len() - 1
                    });
                    // Background hooks do not share the time of the others.
                    let shared = shared.filter(|_| !hook.background);
                    let timeout = shared.map_or(hook.timeout(), |shared| shared.min(hook.timeout()));
                    let envelope = &envelopes[index].1;
                    match self.engine.prepare_task(hook, &self.event, &self.context, envelope, timeout) {
                        Ok(task) => ParallelHookState::Waiting(Box::new(task)),
                        Err(why) => not_started_state(why),
                    }
                }
            };
            companions.push(ParallelHook { hook: Arc::clone(hook), state });
        }
        self.run_parallel_hooks(&mut companions).await;
        let mut lane = LaneProgress::default();
        for ParallelHook { hook, state } in companions {
            match state {
                ParallelHookState::NotRun(status, why) => self.record_not_run(&hook, status, why),
                ParallelHookState::Ended(ended) => self.conclude_hook(&hook, ended, &mut lane),
                ParallelHookState::Waiting(_) => {}
            }
        }
    }

    /// Starts all waiting hooks, and waits for those that are not in the background.
    async fn run_parallel_hooks(&mut self, companions: &mut [ParallelHook]) {
        let mut jobs = Vec::new();
        let mut unattended = Vec::new();
        let mut running = JoinSet::new();
        for (index, companion) in companions.iter_mut().enumerate() {
            // This state remains if the task panics: then the hook has failed.
            let unawaited = not_started_state("Snell could not wait for it");
            match std::mem::replace(&mut companion.state, unawaited) {
                ParallelHookState::Waiting(task) if companion.hook.background => {
                    jobs.push(build_job(*task, &companion.hook, &self.event, self.engine.shared.now));
                    unattended.push(index);
                }
                ParallelHookState::Waiting(task) => {
                    let runner = self.context.runner.clone();
                    running.spawn(async move { (index, task.run(&runner).await) });
                }
                other => companion.state = other,
            }
        }
        if !jobs.is_empty() {
            let launched = self.engine.shared.launcher.launch_jobs(jobs, self.context.runner);
            for index in unattended {
                companions[index].state = match &launched {
                    Ok(why) => ParallelHookState::NotRun(HookRunStatus::Started, why.clone()),
                    Err(why) => not_started_state(why),
                };
            }
        }
        while let Some(ended) = running.join_next().await {
            if let Ok((index, ended)) = ended {
                companions[index].state = ParallelHookState::Ended(ended);
            }
        }
    }

    fn launch_jobs(&mut self, jobs: Vec<(Arc<Hook>, BackgroundJob)>, lane: &mut LaneProgress) {
        if jobs.is_empty() {
            return;
        }
        let (hooks, jobs): (Vec<_>, Vec<_>) = jobs.into_iter().unzip();
        let launched = self.engine.shared.launcher.launch_jobs(jobs, self.context.runner);
        for hook in hooks {
            match &launched {
                Ok(why) => self.record_not_run(&hook, HookRunStatus::Started, why.clone()),
                Err(why) => {
                    let outcome = Outcome::not_started(why, Duration::ZERO);
                    self.conclude_hook(&hook, TaskEnd::Ran(outcome), lane);
                }
            }
        }
    }

    fn select_hook(&self, hook: &Hook) -> HookSelection {
        self.engine.select_hook(hook, &self.event, &self.context)
    }

    /// Whether the hook runs. If it matches and does not run, this records the reason.
    fn should_fire(&mut self, hook: &Arc<Hook>, lane: &mut LaneProgress) -> bool {
        match self.select_hook(hook) {
            HookSelection::OtherEvent | HookSelection::NoMatch => false,
            HookSelection::Skip(why) => {
                self.record_not_run(hook, HookRunStatus::Skipped, why);
                false
            }
            HookSelection::Withhold(why) => {
                self.conclude_hook(hook, withheld_end(why), lane);
                false
            }
            HookSelection::Fire => true,
        }
    }

    /// The input of a hook. Adds a warning for each value that had to be cut.
    fn build_envelope(&mut self, hook: &Hook) -> Envelope {
        let envelope = (hook.contract.build_envelope)(hook, &self.event, &self.context);
        for cut in &envelope.truncations {
            self.fold.add_warning(Diagnostic::for_event(cut));
        }
        envelope
    }

    /// Prepares a hook. If that fails, the hook has failed.
    fn prepare_task(
        &mut self,
        hook: &Arc<Hook>,
        envelope: &Envelope,
        timeout: Duration,
        lane: &mut LaneProgress,
    ) -> Option<HookTask> {
        match self.engine.prepare_task(hook, &self.event, &self.context, envelope, timeout) {
            Ok(task) => Some(task),
            Err(why) => {
                self.conclude_hook(hook, TaskEnd::Ran(Outcome::not_started(why, Duration::ZERO)), lane);
                None
            }
        }
    }

    fn record_not_run(&mut self, hook: &Arc<Hook>, status: HookRunStatus, why: String) {
        let decision = Decision::None;
        self.fold.record_run(HookRun { hook: Arc::clone(hook), status, decision, outcome: None, why: Some(why) });
    }

    /// Reads a hook's answer, adds it to the verdict, and updates the event and the lane.
    fn conclude_hook(&mut self, hook: &Arc<Hook>, ended: TaskEnd, lane: &mut LaneProgress) {
        let outcome = match ended {
            TaskEnd::Ran(outcome) => outcome,
            TaskEnd::Withheld(condition) => match self.handle_unmet_condition(hook, &condition) {
                Some(failure) => failure,
                None => return,
            },
        };
        let contract = hook.contract;
        let mut answer: HookAnswer = (contract.read_answer)(hook, &self.event, &outcome);
        let changes = answer.tool_input.is_some() || answer.tool_output.is_some();
        if changes && lane.is_changed && contract.changes == ChangePolicy::First {
            answer.tool_input = None;
            answer.tool_output = None;
            let command = hook.command_summary();
            answer.warnings.push(format!("the change by \"{command}\" is ignored because an earlier hook made one"));
        }
        lane.is_changed |= changes;
        if let Some(tool) = &mut self.event.tool {
            tool.input = answer.tool_input.clone().or(tool.input.take());
            tool.output = answer.tool_output.clone().or(tool.output.take());
        }
        let blocks = (contract.can_block)(&self.event.name);
        let denied = blocks && answer.decision == Decision::Deny;
        lane.is_blocked |= denied && contract.after_block == AfterBlock::Stop;
        self.fold.add_answer(hook, outcome, answer);
    }

    /// Skips a hook whose condition is false. If the condition could not run and the hook must not fail open, the hook has
    /// failed.
    fn handle_unmet_condition(&mut self, hook: &Arc<Hook>, condition: &Outcome) -> Option<Outcome> {
        let written = match &hook.condition {
            Some(HookCondition::Shell(command)) => command.as_str(),
            _ => "",
        };
        let (why, answered) = match &condition.end {
            RunEnd::NotStarted(why) => (why.clone(), false),
            end => {
                let why = format!("its condition \"{written}\" {}", condition.describe_end());
                // With these codes a shell reports that it could not run the command.
                (why, matches!(end, RunEnd::Exited(code) if !matches!(code, 126 | 127)))
            }
        };
        let depends = matches!(condition.end, RunEnd::NotStarted(_))
            || hook.contract.condition_failure == ConditionFailure::Failure;
        if !answered && depends && hook.on_failure == FailurePolicy::Block {
            return Some(Outcome::not_started(why, condition.duration));
        }
        if !answered {
            self.fold
                .add_warning(hook.origin.make_warning(format!("\"{}\" did not run: {why}", hook.command_summary())));
        }
        self.record_not_run(hook, HookRunStatus::Skipped, why);
        None
    }

    /// The time that hooks with a shared budget may take together.
    fn compute_shared_time<'h>(&self, budget: SharedTimeBudget, hooks: impl Iterator<Item = &'h Hook>) -> Duration {
        let configured = self
            .context
            .runner
            .env_var(budget.variable)
            .and_then(|value| value.to_str()?.parse().ok())
            .map(Duration::from_millis);
        let longest = hooks.filter_map(|hook| match hook.timeout {
            HookTimeout::Written(timeout) => Some(timeout),
            HookTimeout::Default(_) => None,
        });
        configured.unwrap_or_else(|| longest.max().unwrap_or_default().clamp(budget.at_least, budget.at_most))
    }
}

/// A hook that could not be started at all.
fn not_started_state(why: impl Into<String>) -> ParallelHookState {
    ParallelHookState::Ended(TaskEnd::Ran(Outcome::not_started(why, Duration::ZERO)))
}

/// A hook that matches and does not run, for another reason than its condition.
fn withheld_end(why: String) -> TaskEnd {
    TaskEnd::Withheld(Outcome::not_started(why, Duration::ZERO))
}

/// Whether both hooks get the same input: it depends on the contract, and on the agent's own name of the event.
fn have_equal_envelopes(a: &Hook, b: &Hook) -> bool {
    a.contract == b.contract && a.agent_entry.native_event == b.agent_entry.native_event && a.filters == b.filters
}

/// Whether one run is enough for both hooks: they are the same, and their contract removes duplicates.
pub(super) fn is_duplicate_hook(a: &Hook, b: &Hook) -> bool {
    b.contract.dedup == DedupPolicy::RunOnce
        && a.action == b.action
        && a.agent_entry.name == b.agent_entry.name
        && a.agent_entry.native_event == b.agent_entry.native_event
        && a.condition == b.condition
        && a.filters == b.filters
        && a.background == b.background
}
