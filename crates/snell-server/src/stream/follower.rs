//! Reads changes as soon as anybody has written some, and puts them where listeners find them.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use snell_store::{StoreError, Tail, TailWaker};

use super::frame::Batch;
use super::hub::Hub;
use crate::clock::Clock;
use crate::error::with_causes;
use crate::pulse::Pulse;
use crate::readers::{Held, Which};

/// How many changes are read at a time.
const AT_ONCE: u32 = 256;

/// How long to wait at most before looking, whatever the system tells.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// How often it is looked at most whether hooks were heard.
const FEEL_EVERY: Duration = Duration::from_millis(200);

/// What is new is gathered for a moment: for so long, and for so much longer with each listener.
const GATHER: Duration = Duration::from_millis(1);
const GATHER_FOR_EACH: Duration = Duration::from_micros(10);

/// The thread that follows the database.
pub(crate) struct Follower {
    pub(crate) hub: Arc<Hub>,
    pub(crate) pulse: Arc<Pulse>,
    pub(crate) clock: Clock,
    pub(crate) store: Held,
    pub(crate) database: PathBuf,
    pub(crate) tail: Tail,
    /// Ends a wait of this thread.
    pub(crate) waker: Arc<Mutex<TailWaker>>,
    /// Set when the server ends.
    pub(crate) leaving: Arc<AtomicBool>,
}

impl Follower {
    /// Works until the server ends.
    pub(crate) fn work(mut self) {
        self.hub.is_followed_by(std::thread::current());
        let mut felt: Option<Instant> = None;
        while !self.leaving.load(Ordering::Relaxed) {
            let is_time = felt.is_none_or(|felt| felt.elapsed() >= FEEL_EVERY);
            if is_time {
                felt = Some(Instant::now());
            }
            match self.look(is_time) {
                // Whoever ends the server may have woken a wait that is not ours any more.
                Ok(0) if self.leaving.load(Ordering::Relaxed) => {}
                Ok(0) => self.wait(if is_time { LOOK_EVERY } else { FEEL_EVERY }),
                Ok(_) => {}
                Err(error) => {
                    if !matches!(error, StoreError::Locked) {
                        tracing::warn!(error = with_causes(&error), "cannot read what has changed");
                    }
                    self.wait(FEEL_EVERY);
                }
            }
            self.gather();
        }
    }

    /// Tells listeners what is new; answers how much that was.
    fn look(&mut self, feel: bool) -> Result<usize, StoreError> {
        let position = self.hub.position();
        if position.is_none() && !feel {
            return Ok(0);
        }
        let (store, which) = self.store.store()?;
        if which == Which::Another {
            self.begin_anew();
            return Ok(0);
        }
        if feel {
            self.pulse.feel(store, self.clock.now())?;
        }
        let Some(after) = position else {
            return Ok(0);
        };
        // Asked for first: whatever was seen by then is there when the database is read.
        let furthest = self.hub.furthest();
        let changes = store.changes_after(after, AT_ONCE)?;
        if !changes.is_empty() {
            self.hub.put(after, Batch::of(&changes));
        } else if store.change_range()?.newest < furthest {
            // The newest change is never removed, so the file is the same but what is in it is another's.
            self.begin_anew();
        }
        Ok(changes.len())
    }

    /// Another database has taken the place of the one that was followed, perhaps with its whole directory.
    fn begin_anew(&mut self) {
        tracing::warn!("the database was replaced; those who listen are told of a gap");
        self.hub.replace();
        let watched = Tail::of(&self.database).and_then(|tail| Ok((tail.waker()?, tail)));
        match watched {
            Ok((waker, tail)) => {
                self.tail = tail;
                *self.waker.lock().unwrap_or_else(PoisonError::into_inner) = waker;
            }
            // Then it is looked at now and then.
            Err(error) => tracing::warn!(%error, "cannot watch the database"),
        }
    }

    /// Lets a moment pass, so that many changes are read at once and wake each listener once. A commit is many writes,
    /// and being woken by each would cost as much as storing it. While nobody listens there is time.
    fn gather(&self) {
        if self.hub.position().is_none() {
            std::thread::park_timeout(FEEL_EVERY);
            return;
        }
        let each = u32::try_from(self.hub.listeners()).unwrap_or(u32::MAX);
        std::thread::sleep(GATHER + GATHER_FOR_EACH.saturating_mul(each));
    }

    fn wait(&mut self, at_most: Duration) {
        if let Err(error) = self.tail.wait(at_most) {
            tracing::warn!(%error, "cannot wait for the database to change");
            std::thread::sleep(FEEL_EVERY);
        }
    }
}
