//! Looks after agents of which nothing is heard, as often as the mode says, and forgets what is old.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use snell_store::{Result, Store, StoreError, Which};
use tokio::runtime::Handle;

use crate::clock::Clock;
use crate::error::with_causes;
use crate::hybrid::{Hybrid, Next};
use crate::mail::Mail;
use crate::metrics::{Outcome, SharedMetrics};
use crate::readers::Held;
use crate::tmux;

/// The last words of a turn may be written after the turn has ended: so long, and so often, they are looked for.
const LATE_WORDS_WITHIN: Duration = Duration::from_secs(2);
const LATE_WORDS_EVERY: Duration = Duration::from_millis(100);

/// How soon to come again for what waits on disk and could not be taken.
const MAIL_AGAIN: Duration = Duration::from_millis(500);

/// How often what is old is removed.
const FORGET_EVERY: Duration = Duration::from_secs(60 * 60);

/// How long there may be nothing to do.
const LOOK_UP_EVERY: Duration = Duration::from_secs(60 * 60);

/// The one who looks after agents.
pub(crate) struct Caretaker {
    pub(crate) hybrid: Arc<Hybrid>,
    pub(crate) metrics: SharedMetrics,
    pub(crate) clock: Clock,
    pub(crate) store: Held,
    /// Where agents write transcripts.
    pub(crate) transcripts: Vec<PathBuf>,
    /// What waits on disk for this server.
    pub(crate) mail: Mail,
    /// For what has to be waited for.
    pub(crate) runtime: Handle,
    /// What is older than this is removed.
    pub(crate) keep: Option<Duration>,
}

/// An agent whose turn has just ended.
struct Ended {
    agent_id: i64,
    at: Instant,
}

impl Caretaker {
    /// Works until the server ends.
    pub(crate) fn work(mut self) {
        let mut last_look: Option<Instant> = None;
        let mut last_forgot = Instant::now();
        let mut ended: Vec<Ended> = Vec::new();
        let mut mail_waits = false;
        loop {
            let now = self.clock.now();
            self.metrics.set_mode(self.hybrid.turn(None, now));
            let since = last_look.map_or(Duration::MAX, |look| look.elapsed());
            let most = match (ended.is_empty(), mail_waits) {
                (false, _) => LATE_WORDS_EVERY,
                (true, true) => MAIL_AGAIN,
                (true, false) => LOOK_UP_EVERY,
            };
            match self.hybrid.wait(since, most, now) {
                Next::Leave => return,
                Next::Look => {
                    last_look = Some(Instant::now());
                    mail_waits = self.mail.take();
                    self.look_after(Which::All);
                    self.look_around();
                }
                Next::Ended(agents) => {
                    let at = Instant::now();
                    ended.retain(|one| !agents.contains(&one.agent_id));
                    ended.extend(agents.into_iter().map(|agent_id| Ended { agent_id, at }));
                }
                Next::Nothing => {
                    for one in &ended {
                        self.look_after(Which::Agent(one.agent_id));
                    }
                    ended.retain(|one| one.at.elapsed() < LATE_WORDS_WITHIN);
                    mail_waits = mail_waits && self.mail.take();
                }
            }
            if let Some(keep) = self.keep.filter(|_| last_forgot.elapsed() > FORGET_EVERY) {
                last_forgot = Instant::now();
                self.attempt("forget what is old", |store| store.forget_older_than(keep).map(drop));
            }
        }
    }

    fn look_after(&mut self, which: Which) {
        let now = self.clock.now();
        let done = self.attempt("look after agents", |store| store.reconcile(which, now));
        self.metrics
            .reconciled(if done { Outcome::Done } else { Outcome::Unavailable });
    }

    /// Looks for what no event led to: sessions that nobody reported, and panes that agents have left.
    fn look_around(&mut self) {
        let now = self.clock.now();
        let directories = std::mem::take(&mut self.transcripts);
        self.attempt("look for sessions", |store| {
            let found = store.discover(&directories, now)?;
            if found > 0 {
                tracing::info!(sessions = found, "found sessions that no hook reported");
            }
            Ok(())
        });
        self.transcripts = directories;
        let mut sockets = Vec::new();
        self.attempt("look for tmux servers", |store| {
            sockets = store.tmux_servers()?;
            Ok(())
        });
        if !sockets.is_empty() {
            let servers = self.runtime.block_on(tmux::look(sockets));
            self.attempt("look at panes", |store| store.see_panes(&servers, now));
        }
    }

    /// Does something that can be done later if it cannot be done now. Answers whether it was done.
    fn attempt(&mut self, what: &str, work: impl FnOnce(&mut Store) -> Result<()>) -> bool {
        match self.store.store().and_then(|(store, _)| work(store)) {
            Ok(()) => true,
            // Somebody else writes; the next time it may be free.
            Err(StoreError::Locked) => false,
            Err(error) => {
                tracing::warn!(error = with_causes(&error), "cannot {what}");
                false
            }
        }
    }
}
