//! Agents whose transcript, session file or process changed since the last look.
//!
//! Files are compared by their metadata a few times a second. That finds interruptions, API errors, refused permissions and
//! crashes within a second, on every system and file system, and costs one `stat` per file.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use snell_store::{Result, Store, WatchFingerprint, WatchTarget};

/// How often the server compares files and checks processes.
pub(crate) const WATCH_INTERVAL: Duration = Duration::from_millis(250);

/// The targets are loaded again after this time, even if the database shows no change.
const RELOAD_INTERVAL: Duration = Duration::from_secs(5);

/// After a change, the agent is checked again: the end of a turn counts later than its line, if a hook may report it.
const SECOND_CHECK_DELAY: Duration = Duration::from_millis(700);

/// The watched agents.
#[derive(Debug, Default)]
pub(crate) struct AgentWatch {
    targets: Vec<WatchTarget>,
    /// When the targets were loaded, and the newest change then.
    loaded: Option<(Instant, i64)>,
    agents: HashMap<i64, WatchedAgent>,
}

#[derive(Debug)]
struct WatchedAgent {
    fingerprint: WatchFingerprint,
    second_check_at: Option<Instant>,
}

impl AgentWatch {
    /// Finds the agents to check now.
    pub(crate) fn find_changed(&mut self, store: &mut Store) -> Result<Vec<i64>> {
        let now = Instant::now();
        let newest = store.change_range()?.newest;
        let is_current = |(at, change): (Instant, i64)| change == newest && now.duration_since(at) < RELOAD_INTERVAL;
        if !self.loaded.is_some_and(is_current) {
            self.targets = store.list_watch_targets()?;
            self.loaded = Some((now, newest));
        }
        Ok(self.compare_targets(now))
    }

    fn compare_targets(&mut self, now: Instant) -> Vec<i64> {
        let mut before = std::mem::take(&mut self.agents);
        let mut changed = Vec::new();
        for target in &self.targets {
            let known = before.remove(&target.agent_id);
            let fingerprint = target.take_fingerprint();
            let is_same = known.as_ref().is_some_and(|known| known.fingerprint == fingerprint);
            let second_check_at = known.and_then(|known| known.second_check_at);
            let is_due = second_check_at.is_some_and(|at| at <= now);
            let second_check_at = match (is_same, is_due) {
                (false, _) => Some(now + SECOND_CHECK_DELAY),
                (true, true) => None,
                (true, false) => second_check_at,
            };
            if !is_same || is_due {
                changed.push(target.agent_id);
            }
            self.agents.insert(target.agent_id, WatchedAgent { fingerprint, second_check_at });
        }
        changed
    }
}
