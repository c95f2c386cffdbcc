//! Hybrid mode: agents tell what they do; when they have fallen silent, somebody looks more often.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use snell::Timestamp;

/// Where the server gets to know what agents do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PollMode {
    /// From hooks; it looks only now and then whether something was missed.
    HooksActive,
    /// By looking, because no hook has been heard of for a while.
    PollingFallback,
}

impl PollMode {
    /// Both of them.
    pub const ALL: &[Self] = &[Self::HooksActive, Self::PollingFallback];

    /// How it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::HooksActive => "hooks_active",
            Self::PollingFallback => "polling_fallback",
        }
    }
}

/// How often agents are looked after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollSchedule {
    /// So often while hooks are heard.
    pub poll_active: Duration,
    /// So often when they are silent.
    pub poll_silent: Duration,
    /// They are silent when nothing has been heard for so long.
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
    /// The mode, when the last hook was heard at this time, if ever.
    pub fn compute_mode(&self, heard_at: Option<Timestamp>, now: Timestamp) -> PollMode {
        match self.time_until_silent(heard_at, now) {
            Some(_) => PollMode::HooksActive,
            None => PollMode::PollingFallback,
        }
    }

    /// How often agents are looked after in a mode.
    pub fn poll_interval(&self, mode: PollMode) -> Duration {
        match mode {
            PollMode::HooksActive => self.poll_active,
            PollMode::PollingFallback => self.poll_silent,
        }
    }

    /// How long it is until hooks count as silent; nothing if they do already.
    pub fn time_until_silent(&self, heard_at: Option<Timestamp>, now: Timestamp) -> Option<Duration> {
        // A clock that was set back makes an event of the future one of just now.
        let silence = now.duration_since(heard_at?.min(now)).unsigned_abs();
        self.silent_after.checked_sub(silence).filter(|left| !left.is_zero())
    }
}

/// The mode, shared between those who hear of hooks and the one who looks after agents.
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

/// What to do next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ReconcilerTask {
    /// It is time to look after all agents.
    ReconcileAll,
    /// These have just ended a turn.
    TurnsEnded(Vec<i64>),
    /// The server ends.
    Stop,
    /// Nothing.
    Nothing,
}

/// How many ended turns may wait. Beyond that the next look at everybody finds their last words.
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

    /// Notes when a hook was last heard of, and answers the mode. Whoever waits for a change of it is woken.
    pub(crate) fn update_mode(&self, heard_at: Option<Timestamp>, now: Timestamp) -> PollMode {
        let mut state = self.lock_state();
        state.last_hook_at = state.last_hook_at.max(heard_at);
        let mode = self.schedule.compute_mode(state.last_hook_at, now);
        if mode != state.mode {
            state.mode = mode;
            tracing::info!(mode = mode.as_str(), "the mode has changed");
            self.changed.notify_all();
        }
        mode
    }

    /// Notes that an agent's turn has ended: its last words may yet be written.
    pub(crate) fn record_ended_turn(&self, agent_id: i64) {
        let mut state = self.lock_state();
        if state.ended_agents.len() < MAX_ENDED_TURNS && !state.ended_agents.contains(&agent_id) {
            state.ended_agents.push(agent_id);
            self.changed.notify_all();
        }
    }

    /// Ends every wait.
    pub(crate) fn stop(&self) {
        self.lock_state().stopping = true;
        self.changed.notify_all();
    }

    /// Waits until there is something to do. `since` is how long ago agents were last looked after, and `most` how long
    /// the caller can wait.
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
        // What has changed is seen by whoever comes again.
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
    fn the_mode_follows_the_time_since_a_hook_was_heard() {
        let rhythm = PollSchedule::default();
        let cases = [
            (None, PollMode::PollingFallback, 2),
            (Some(0), PollMode::HooksActive, 60),
            (Some(-299), PollMode::HooksActive, 60),
            (Some(-300), PollMode::PollingFallback, 2),
            (Some(-86_400), PollMode::PollingFallback, 2),
            (Some(86_400), PollMode::HooksActive, 60),
        ];
        for (heard, mode, seconds) in cases {
            let found = rhythm.compute_mode(heard.map(timestamp_at), timestamp_at(0));
            assert_eq!(found, mode, "{heard:?}");
            assert_eq!(rhythm.poll_interval(found), Duration::from_secs(seconds), "{heard:?}");
        }
    }

    #[test]
    fn an_older_event_does_not_make_hooks_silent() {
        let hybrid = PollScheduler::new(PollSchedule::default());
        assert_eq!(hybrid.update_mode(Some(timestamp_at(0)), timestamp_at(10)), PollMode::HooksActive);
        assert_eq!(hybrid.update_mode(Some(timestamp_at(-900)), timestamp_at(11)), PollMode::HooksActive);
        assert_eq!(hybrid.update_mode(None, timestamp_at(301)), PollMode::PollingFallback);
        assert_eq!(hybrid.update_mode(Some(timestamp_at(302)), timestamp_at(302)), PollMode::HooksActive);
    }

    #[test]
    fn how_often_agents_are_looked_after_follows_the_mode() {
        let hybrid = PollScheduler::new(PollSchedule::default());
        let ten_seconds = Duration::from_secs(10);
        let next = |now| hybrid.wait_for_task(ten_seconds, Duration::ZERO, now);
        assert_eq!(next(timestamp_at(0)), ReconcilerTask::ReconcileAll, "nothing was ever heard");
        hybrid.update_mode(Some(timestamp_at(0)), timestamp_at(0));
        assert_eq!(next(timestamp_at(1)), ReconcilerTask::Nothing, "hooks are heard");
        hybrid.update_mode(None, timestamp_at(301));
        assert_eq!(next(timestamp_at(301)), ReconcilerTask::ReconcileAll, "they have fallen silent");
        hybrid.update_mode(Some(timestamp_at(302)), timestamp_at(302));
        assert_eq!(next(timestamp_at(302)), ReconcilerTask::Nothing, "they are heard again");
    }

    #[test]
    fn what_is_to_be_done_comes_in_the_order_of_its_urgency() {
        let hybrid = PollScheduler::new(PollSchedule::default());
        let long_ago = Duration::from_secs(3600);
        hybrid.record_ended_turn(7);
        hybrid.record_ended_turn(7);
        assert_eq!(hybrid.wait_for_task(long_ago, long_ago, timestamp_at(0)), ReconcilerTask::TurnsEnded(vec![7]));
        assert_eq!(hybrid.wait_for_task(long_ago, long_ago, timestamp_at(0)), ReconcilerTask::ReconcileAll);
        hybrid.stop();
        assert_eq!(hybrid.wait_for_task(long_ago, long_ago, timestamp_at(0)), ReconcilerTask::Stop);
    }
}
