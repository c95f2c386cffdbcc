//! Hybrid mode: agents tell what they do; when they have fallen silent, somebody looks more often.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use snell::Timestamp;

/// Where the server gets to know what agents do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// From hooks; it looks only now and then whether something was missed.
    HooksActive,
    /// By looking, because no hook has been heard of for a while.
    PollingFallback,
}

impl Mode {
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
pub struct Rhythm {
    /// So often while hooks are heard.
    pub poll_active: Duration,
    /// So often when they are silent.
    pub poll_silent: Duration,
    /// They are silent when nothing has been heard for so long.
    pub silent_after: Duration,
}

impl Default for Rhythm {
    fn default() -> Self {
        Self {
            poll_active: Duration::from_secs(60),
            poll_silent: Duration::from_secs(2),
            silent_after: Duration::from_secs(300),
        }
    }
}

impl Rhythm {
    /// The mode, when the last hook was heard at this time, if ever.
    pub fn mode(&self, heard_at: Option<Timestamp>, now: Timestamp) -> Mode {
        match self.silent_in(heard_at, now) {
            Some(_) => Mode::HooksActive,
            None => Mode::PollingFallback,
        }
    }

    /// How often agents are looked after in a mode.
    pub fn interval(&self, mode: Mode) -> Duration {
        match mode {
            Mode::HooksActive => self.poll_active,
            Mode::PollingFallback => self.poll_silent,
        }
    }

    /// How long it is until hooks count as silent; nothing if they do already.
    pub fn silent_in(&self, heard_at: Option<Timestamp>, now: Timestamp) -> Option<Duration> {
        // A clock that was set back makes an event of the future one of just now.
        let silence = now.duration_since(heard_at?.min(now)).unsigned_abs();
        self.silent_after.checked_sub(silence).filter(|left| !left.is_zero())
    }
}

/// The mode, shared between those who hear of hooks and the one who looks after agents.
#[derive(Debug)]
pub(crate) struct Hybrid {
    pub(crate) rhythm: Rhythm,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    heard_at: Option<Timestamp>,
    mode: Mode,
    /// Agents whose turn has just ended.
    ended: Vec<i64>,
    leaving: bool,
}

/// What to do next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// It is time to look after all agents.
    Look,
    /// These have just ended a turn.
    Ended(Vec<i64>),
    /// The server ends.
    Leave,
    /// Nothing.
    Nothing,
}

/// How many ended turns may wait. Beyond that the next look at everybody finds their last words.
const MAX_ENDED: usize = 64;

impl Hybrid {
    pub(crate) fn new(rhythm: Rhythm) -> Self {
        Self {
            rhythm,
            state: Mutex::new(State {
                heard_at: None,
                mode: Mode::PollingFallback,
                ended: Vec::new(),
                leaving: false,
            }),
            changed: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes when a hook was last heard of, and answers the mode. Whoever waits for a change of it is woken.
    pub(crate) fn turn(&self, heard_at: Option<Timestamp>, now: Timestamp) -> Mode {
        let mut state = self.state();
        state.heard_at = state.heard_at.max(heard_at);
        let mode = self.rhythm.mode(state.heard_at, now);
        if mode != state.mode {
            state.mode = mode;
            tracing::info!(mode = mode.as_str(), "the mode has changed");
            self.changed.notify_all();
        }
        mode
    }

    /// Notes that an agent's turn has ended: its last words may yet be written.
    pub(crate) fn has_ended(&self, agent_id: i64) {
        let mut state = self.state();
        if state.ended.len() < MAX_ENDED && !state.ended.contains(&agent_id) {
            state.ended.push(agent_id);
            self.changed.notify_all();
        }
    }

    /// Ends every wait.
    pub(crate) fn leave(&self) {
        self.state().leaving = true;
        self.changed.notify_all();
    }

    /// Waits until there is something to do. `since` is how long ago agents were last looked after, and `most` how long
    /// the caller can wait.
    pub(crate) fn wait(&self, since: Duration, most: Duration, now: Timestamp) -> Next {
        let mut state = self.state();
        if state.leaving {
            return Next::Leave;
        }
        if !state.ended.is_empty() {
            return Next::Ended(std::mem::take(&mut state.ended));
        }
        let due = self.rhythm.interval(state.mode).saturating_sub(since);
        if due.is_zero() {
            return Next::Look;
        }
        let turns = self.rhythm.silent_in(state.heard_at, now).unwrap_or(due);
        let pause = due.min(turns).min(most);
        // What has changed is seen by whoever comes again.
        drop(self.changed.wait_timeout(state, pause));
        Next::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_767_607_200 + seconds).unwrap()
    }

    #[test]
    fn the_mode_follows_the_time_since_a_hook_was_heard() {
        let rhythm = Rhythm::default();
        let cases = [
            (None, Mode::PollingFallback, 2),
            (Some(0), Mode::HooksActive, 60),
            (Some(-299), Mode::HooksActive, 60),
            (Some(-300), Mode::PollingFallback, 2),
            (Some(-86_400), Mode::PollingFallback, 2),
            (Some(86_400), Mode::HooksActive, 60),
        ];
        for (heard, mode, seconds) in cases {
            let found = rhythm.mode(heard.map(at), at(0));
            assert_eq!(found, mode, "{heard:?}");
            assert_eq!(rhythm.interval(found), Duration::from_secs(seconds), "{heard:?}");
        }
    }

    #[test]
    fn an_older_event_does_not_make_hooks_silent() {
        let hybrid = Hybrid::new(Rhythm::default());
        assert_eq!(hybrid.turn(Some(at(0)), at(10)), Mode::HooksActive);
        assert_eq!(hybrid.turn(Some(at(-900)), at(11)), Mode::HooksActive);
        assert_eq!(hybrid.turn(None, at(301)), Mode::PollingFallback);
        assert_eq!(hybrid.turn(Some(at(302)), at(302)), Mode::HooksActive);
    }

    #[test]
    fn how_often_agents_are_looked_after_follows_the_mode() {
        let hybrid = Hybrid::new(Rhythm::default());
        let ten_seconds = Duration::from_secs(10);
        let next = |now| hybrid.wait(ten_seconds, Duration::ZERO, now);
        assert_eq!(next(at(0)), Next::Look, "nothing was ever heard");
        hybrid.turn(Some(at(0)), at(0));
        assert_eq!(next(at(1)), Next::Nothing, "hooks are heard");
        hybrid.turn(None, at(301));
        assert_eq!(next(at(301)), Next::Look, "they have fallen silent");
        hybrid.turn(Some(at(302)), at(302));
        assert_eq!(next(at(302)), Next::Nothing, "they are heard again");
    }

    #[test]
    fn what_is_to_be_done_comes_in_the_order_of_its_urgency() {
        let hybrid = Hybrid::new(Rhythm::default());
        let long_ago = Duration::from_secs(3600);
        hybrid.has_ended(7);
        hybrid.has_ended(7);
        assert_eq!(hybrid.wait(long_ago, long_ago, at(0)), Next::Ended(vec![7]));
        assert_eq!(hybrid.wait(long_ago, long_ago, at(0)), Next::Look);
        hybrid.leave();
        assert_eq!(hybrid.wait(long_ago, long_ago, at(0)), Next::Leave);
    }
}
