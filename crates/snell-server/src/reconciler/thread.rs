//! Checks silent agents at the interval of the mode, and removes old records.

use std::sync::Arc;
use std::time::{Duration, Instant};

use snell::Timestamp;
use snell_store::{ReconcileScope, Result, Store, StoreError, TranscriptDirectory};
use tokio::runtime::Handle;

use crate::clock::ServerClock;
use crate::http::errors::format_error_chain;
use crate::ingest::outbox_drain::OutboxDrain;
use crate::metrics::{MetricOutcome, SharedMetrics};
use crate::reconciler::agent_watch::{AgentWatch, ChangedAgents, WATCH_INTERVAL};
use crate::reconciler::poll_mode::{PollScheduler, ReconcilerTask};
use crate::reconciler::tmux;
use crate::store_pool::PooledStore;

/// The last lines of a turn may appear in the transcript after the turn has ended: how long, and how often, to look for
/// them.
const LATE_TRANSCRIPT_WINDOW: Duration = Duration::from_secs(2);
const LATE_TRANSCRIPT_INTERVAL: Duration = Duration::from_millis(100);

/// How often the server checks whether the hook of an open request is gone, or its time is over.
const REQUEST_SWEEP_INTERVAL: Duration = Duration::from_secs(1);

/// The retry interval for undelivered outbox messages.
const OUTBOX_RETRY_INTERVAL: Duration = Duration::from_millis(500);

/// How often sessions are searched that no hook reported.
const DISCOVERY_INTERVAL: Duration = Duration::from_secs(1);

/// A search that takes long is repeated after this many times its duration: it uses at most 2 % of a processor.
const DISCOVERY_PAUSE_FACTOR: u32 = 50;

/// How often old records are removed.
const PRUNE_INTERVAL: Duration = Duration::from_secs(60 * 60);

/// The thread that checks agents.
pub(crate) struct ReconcilerThread {
    pub(crate) poll_scheduler: Arc<PollScheduler>,
    pub(crate) metrics: SharedMetrics,
    pub(crate) clock: ServerClock,
    pub(crate) store: PooledStore,
    /// The transcript directories.
    pub(crate) transcripts: Vec<TranscriptDirectory>,
    /// The outbox messages for this server.
    pub(crate) outbox_drain: OutboxDrain,
    /// Runs async calls.
    pub(crate) runtime: Handle,
    /// Older records are removed.
    pub(crate) keep: Option<Duration>,
}

/// An agent whose turn has just ended.
struct EndedAgentTurn {
    agent_id: i64,
    at: Instant,
}

impl ReconcilerThread {
    /// Runs until the server ends.
    pub(crate) fn run(mut self) {
        let mut last_check: Option<Instant> = None;
        let mut last_pruned = Instant::now();
        let mut ended: Vec<EndedAgentTurn> = Vec::new();
        let mut has_undelivered = false;
        let mut last_drain = Instant::now();
        let mut watch = AgentWatch::default();
        let mut last_sweep = Instant::now();
        let mut next_search = Instant::now();
        loop {
            let now = self.clock.now();
            self.metrics.set_mode(self.poll_scheduler.update_mode(None, now));
            let since = last_check.map_or(Duration::MAX, |at| at.elapsed());
            let most = if ended.is_empty() { WATCH_INTERVAL } else { LATE_TRANSCRIPT_INTERVAL };
            match self.poll_scheduler.wait_for_task(since, most, now) {
                ReconcilerTask::Stop => return,
                ReconcilerTask::ReconcileAll => {
                    last_check = Some(Instant::now());
                    has_undelivered = self.outbox_drain.drain_messages();
                    self.reconcile_agents(ReconcileScope::All);
                    self.check_panes();
                }
                ReconcilerTask::TurnsEnded(agents) => {
                    let at = Instant::now();
                    ended.retain(|one| !agents.contains(&one.agent_id));
                    ended.extend(agents.into_iter().map(|agent_id| EndedAgentTurn { agent_id, at }));
                }
                ReconcilerTask::Nothing => {
                    self.check_changed(&mut watch);
                    for one in &ended {
                        self.reconcile_agents(ReconcileScope::Agent(one.agent_id));
                    }
                    ended.retain(|one| one.at.elapsed() < LATE_TRANSCRIPT_WINDOW);
                    if has_undelivered && last_drain.elapsed() >= OUTBOX_RETRY_INTERVAL {
                        last_drain = Instant::now();
                        has_undelivered = self.outbox_drain.drain_messages();
                    }
                }
            }
            if last_sweep.elapsed() >= REQUEST_SWEEP_INTERVAL {
                last_sweep = Instant::now();
                self.close_overdue_requests();
            }
            if next_search <= Instant::now() {
                let started = Instant::now();
                self.discover_unreported();
                next_search = Instant::now() + DISCOVERY_INTERVAL.max(started.elapsed() * DISCOVERY_PAUSE_FACTOR);
            }
            if let Some(keep) = self.keep.filter(|_| last_pruned.elapsed() > PRUNE_INTERVAL) {
                last_pruned = Instant::now();
                self.try_with_store("remove old records", |store| store.prune_older_than(keep).map(drop));
            }
        }
    }

    /// Checks agents whose files, processes or terminals changed.
    fn check_changed(&mut self, watch: &mut AgentWatch) {
        let mut changed = ChangedAgents::default();
        self.try_with_store("look at transcripts", |store| {
            changed = watch.find_changed(store)?;
            Ok(())
        });
        for agent_id in changed.agents {
            self.reconcile_agents(ReconcileScope::Agent(agent_id));
        }
        if !changed.without_terminal.is_empty() {
            let now = self.clock.now();
            let agents = changed.without_terminal;
            self.try_with_store("end agents without terminals", |store| store.end_hung_up_agents(&agents, now));
        }
    }

    /// Closes requests that nothing waits for any more.
    fn close_overdue_requests(&mut self) {
        self.try_with_store("close requests", |store| store.sweep_requests(Timestamp::now()).map(drop));
    }

    fn reconcile_agents(&mut self, which: ReconcileScope) {
        let now = self.clock.now();
        let done = self.try_with_store("check agents", |store| store.reconcile_agents(which, now));
        self.metrics.count_reconciliation(if done { MetricOutcome::Done } else { MetricOutcome::Unavailable });
    }

    /// Finds sessions that no hook reported.
    fn discover_unreported(&mut self) {
        let now = self.clock.now();
        let directories = std::mem::take(&mut self.transcripts);
        self.try_with_store("look for sessions", |store| {
            let found = store.discover_sessions(&directories, now)?;
            if found > 0 {
                tracing::info!(sessions = found, "found sessions that no hook reported");
            }
            Ok(())
        });
        self.transcripts = directories;
    }

    /// Finds panes that agents have left.
    fn check_panes(&mut self) {
        let now = self.clock.now();
        let mut sockets = Vec::new();
        self.try_with_store("list tmux servers", |store| {
            sockets = store.list_tmux_servers()?;
            Ok(())
        });
        if !sockets.is_empty() {
            let servers = self.runtime.block_on(tmux::query_pane_servers(sockets));
            self.try_with_store("check tmux panes", |store| store.reconcile_panes(&servers, now));
        }
    }

    /// Runs a task that can wait until the next time. Returns whether it succeeded.
    fn try_with_store(&mut self, what: &str, work: impl FnOnce(&mut Store) -> Result<()>) -> bool {
        match self.store.get_or_open().and_then(|(store, _)| work(store)) {
            Ok(()) => true,
            // Another process is writing; the next attempt may succeed.
            Err(StoreError::Locked) => false,
            Err(error) => {
                tracing::warn!(error = format_error_chain(&error), "cannot {what}");
                false
            }
        }
    }
}
