//! Hybrid mode: hooks report what agents do, and the server polls more often while no hook events arrive.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use snell::Timestamp;

/// How the server learns what agents do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PollMode {
    /// From hooks; it polls rarely, for missed events.
    HooksActive,
    /// By polling, because no hook event arrived for a while.
    PollingFallback,
}

impl PollMode {
    /// Both modes.
    pub const ALL: &[Self] = &[Self::HooksActive, Self::PollingFallback];

    /// The name of the mode.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::HooksActive => "hooks_active",
            Self::PollingFallback => "polling_fallback",
        }
    }
}

/// The poll intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollSchedule {
    /// The interval while hook events arrive.
    pub poll_active: Duration,
    /// The interval while no hook events arrive.
    pub poll_silent: Duration,
    /// The time without hook events before `poll_silent` applies.
    pub silent_after: Duration,
}

impl Default for PollSchedule {
    fn default() -> Self {
        Self {
            poll_active: Duration::from_secs(60),
            poll_silent: Duration::from_secs(2),
            silent_after: Duration::from_secs(300),
        }
    }
}

impl PollSchedule {
    /// The mode if the last hook event was at this time.
    pub fn compute_mode(&self, last_hook_at: Option<Timestamp>, now: Timestamp) -> PollMode {
        match self.time_until_silent(last_hook_at, now) {
            Some(_) => PollMode::HooksActive,
            None => PollMode::PollingFallback,
        }
    }

    /// The poll interval in a mode.
    pub fn poll_interval(&self, mode: PollMode) -> Duration {
        match mode {
            PollMode::HooksActive => self.poll_active,
            PollMode::PollingFallback => self.poll_silent,
        }
    }

    /// The time until hooks count as silent; `None` if they already do.
    pub fn time_until_silent(&self, last_hook_at: Option<Timestamp>, now: Timestamp) -> Option<Duration> {
        // If the clock was set back, an event in the future counts as current.
        let silence = now.duration_since(last_hook_at?.min(now)).unsigned_abs();
        self.silent_after.checked_sub(silence).filter(|left| !left.is_zero())
    }
}

/// The mode, shared by the routes and the reconciler thread.
#[derive(Debug)]
pub(crate) struct PollScheduler {
    pub(crate) schedule: PollSchedule,
    state: Mutex<PollSchedulerState>,
    changed: Condvar,
}

#[derive(Debug)]
struct PollSchedulerState {
    last_hook_at: Option<Timestamp>,
    mode: PollMode,
    /// Agents whose turn has just ended.
    ended_agents: Vec<i64>,
    stopping: bool,
}

/// The next task of the reconciler thread.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ReconcilerTask {
    /// Check all agents.
    ReconcileAll,
    /// Turns of these agents have just ended.
    TurnsEnded(Vec<i64>),
    /// The server ends.
    Stop,
    /// Nothing.
    Nothing,
}

/// The maximum number of queued ended turns. Beyond it, the next check of all agents reads their transcripts.
const MAX_ENDED_TURNS: usize = 64;

impl PollScheduler {
    pub(crate) fn new(schedule: PollSchedule) -> Self {
        Self {
            schedule,
            state: Mutex::new(PollSchedulerState {
                last_hook_at: None,
                mode: PollMode::PollingFallback,
                ended_agents: Vec::new(),
                stopping: false,
            }),
            changed: Condvar::new(),
        }
    }

    fn lock_state(&self) -> MutexGuard<'_, PollSchedulerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the time of the last hook event and returns the mode. Wakes waiting threads if the mode changed.
    pub(crate) fn update_mode(&self, last_hook_at: Option<Timestamp>, now: Timestamp) -> PollMode {
        let mut state = self.lock_state();
        state.last_hook_at = state.last_hook_at.max(last_hook_at);
        let mode = self.schedule.compute_mode(state.last_hook_at, now);
        if mode != state.mode {
            state.mode = mode;
            tracing::debug!(mode = mode.as_str(), "the mode changed");
            self.changed.notify_all();
        }
        mode
    }

    /// Notes that a turn of an agent ended: the transcript may get its last lines later.
    pub(crate) fn record_ended_turn(&self, agent_id: i64) {
        let mut state = self.lock_state();
        if state.ended_agents.len() < MAX_ENDED_TURNS && !state.ended_agents.contains(&agent_id) {
            state.ended_agents.push(agent_id);
            self.changed.notify_all();
        }
    }

    /// Stops the reconciler thread.
    pub(crate) fn stop(&self) {
        self.lock_state().stopping = true;
        self.changed.notify_all();
    }

    /// Waits for a task. `since` is the time since the last check of all agents, and `most` the longest wait.
    pub(crate) fn wait_for_task(&self, since: Duration, most: Duration, now: Timestamp) -> ReconcilerTask {
        let mut state = self.lock_state();
        if state.stopping {
            return ReconcilerTask::Stop;
        }
        if !state.ended_agents.is_empty() {
            return ReconcilerTask::TurnsEnded(std::mem::take(&mut state.ended_agents));
        }
        let due = self.schedule.poll_interval(state.mode).saturating_sub(since);
        if due.is_zero() {
            return ReconcilerTask::ReconcileAll;
        }
        let turns = self.schedule.time_until_silent(state.last_hook_at, now).unwrap_or(due);
        let pause = due.min(turns).min(most);
        // The next call reads the changed state.
        drop(self.changed.wait_timeout(state, pause));
        ReconcilerTask::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timestamp_at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_767_607_200 + seconds).unwrap()
    }

    #[test]
    fn the_mode_depends_on_the_time_since_the_last_hook_event() {
        let schedule = PollSchedule::default();
        let cases = [
            (None, PollMode::PollingFallback, 2),
            (Some(0), PollMode::HooksActive, 60),
            (Some(-299), PollMode::HooksActive, 60),
            (Some(-300), PollMode::PollingFallback, 2),
            (Some(-86_400), PollMode::PollingFallback, 2),
            (Some(86_400), PollMode::HooksActive, 60),
        ];
        for (last_hook, mode, seconds) in cases {
            let found = schedule.compute_mode(last_hook.map(timestamp_at), timestamp_at(0));
            assert_eq!(found, mode, "{last_hook:?}");
            assert_eq!(schedule.poll_interval(found), Duration::from_secs(seconds), "{last_hook:?}");
        }
    }

    #[test]
    fn an_older_event_does_not_make_hooks_silent() {
        let scheduler = PollScheduler::new(PollSchedule::default());
        assert_eq!(scheduler.update_mode(Some(timestamp_at(0)), timestamp_at(10)), PollMode::HooksActive);
        assert_eq!(scheduler.update_mode(Some(timestamp_at(-900)), timestamp_at(11)), PollMode::HooksActive);
        assert_eq!(scheduler.update_mode(None, timestamp_at(301)), PollMode::PollingFallback);
        assert_eq!(scheduler.update_mode(Some(timestamp_at(302)), timestamp_at(302)), PollMode::HooksActive);
    }

    #[test]
    fn the_poll_interval_depends_on_the_mode() {
        let scheduler = PollScheduler::new(PollSchedule::default());
        let ten_seconds = Duration::from_secs(10);
        let next = |now| scheduler.wait_for_task(ten_seconds, Duration::ZERO, now);
        assert_eq!(next(timestamp_at(0)), ReconcilerTask::ReconcileAll, "no hook event yet");
        scheduler.update_mode(Some(timestamp_at(0)), timestamp_at(0));
        assert_eq!(next(timestamp_at(1)), ReconcilerTask::Nothing, "hook events arrive");
        scheduler.update_mode(None, timestamp_at(301));
        assert_eq!(next(timestamp_at(301)), ReconcilerTask::ReconcileAll, "hooks are silent");
        scheduler.update_mode(Some(timestamp_at(302)), timestamp_at(302));
        assert_eq!(next(timestamp_at(302)), ReconcilerTask::Nothing, "hook events arrive again");
    }

    #[test]
    fn tasks_come_in_order_of_urgency() {
        let scheduler = PollScheduler::new(PollSchedule::default());
        let long_ago = Duration::from_secs(3600);
        scheduler.record_ended_turn(7);
        scheduler.record_ended_turn(7);
        assert_eq!(scheduler.wait_for_task(long_ago, long_ago, timestamp_at(0)), ReconcilerTask::TurnsEnded(vec![7]));
        assert_eq!(scheduler.wait_for_task(long_ago, long_ago, timestamp_at(0)), ReconcilerTask::ReconcileAll);
        scheduler.stop();
        assert_eq!(scheduler.wait_for_task(long_ago, long_ago, timestamp_at(0)), ReconcilerTask::Stop);
    }
}
