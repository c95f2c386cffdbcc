//! One who listens: first what was missed, from the database, then what comes.

use std::time::Duration;

use axum::body::Bytes;
use snell_store::{Change, ChangeRange};
use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior, interval_at};

use super::filter::Filter;
use super::frame::{Batch, HEARTBEAT, gap, gap_between_databases, greeting};
use super::hub::{Found, Place};
use crate::app::{App, Shared};
use crate::connections::{Phase, closing};
use crate::error::Refusal;
use crate::metrics::Counted;

/// How many changes are read from the database at a time.
const PAGE: u32 = 256;

/// When to come again if there is no room.
const FULL_FOR: Duration = Duration::from_secs(5);

/// One who listens.
pub(super) struct Listener {
    app: Shared,
    filter: Filter,
    place: Place,
    /// The last change that was sent, or left out on purpose.
    seen: i64,
    /// Whether it does not come back from somewhere.
    is_new: bool,
    /// Whether changes after that are gone.
    is_behind: bool,
    stage: Stage,
    heartbeat: Interval,
    phase: watch::Receiver<Phase>,
    _counted: Counted,
}

#[derive(Debug)]
enum Stage {
    /// It is told that it is heard, and perhaps that something is missing from here on.
    Greeting { gap_from: Option<i64> },
    /// It gets what it has missed.
    CatchingUp,
    /// It gets what comes.
    Live,
}

impl Listener {
    /// Lets somebody listen who has seen everything up to a change, or who wants only what comes from now on.
    pub(super) async fn arrive(app: Shared, filter: Filter, seen: Option<i64>) -> Result<Self, Refusal> {
        // A place first, and only then a look at what there is: nothing falls in between.
        let place = app.hub.join().ok_or_else(|| Refusal::Busy {
            why: "too many listen to the stream".into(),
            again_in: FULL_FOR,
        })?;
        let range = app.readers.ask(|store| store.change_range()).await?;
        app.hub.begin_after(range.newest);
        let is_new = seen.is_none();
        let (seen, gap_from) = begin(seen, range);
        let every = app.settings.heartbeat;
        let mut heartbeat = interval_at(tokio::time::Instant::now() + every, every);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let counted = Counted::new(&app.metrics.stream_clients);
        Ok(Self {
            filter,
            place,
            seen,
            is_new,
            is_behind: false,
            stage: Stage::Greeting { gap_from },
            heartbeat,
            phase: app.phase.clone(),
            _counted: counted,
            app,
        })
    }

    /// What is sent next. Nothing when the stream ends.
    pub(super) async fn next(mut self) -> Option<(Bytes, Self)> {
        let mut phase = self.phase.clone();
        let told = tokio::select! {
            biased;
            () = closing(&mut phase) => None,
            told = self.tell() => told,
        };
        told.map(|told| (told, self))
    }

    async fn tell(&mut self) -> Option<Bytes> {
        loop {
            let told = match &self.stage {
                Stage::Greeting { gap_from } => {
                    let greeting = self.greet(*gap_from);
                    self.stage = Stage::CatchingUp;
                    Some(greeting)
                }
                Stage::CatchingUp => self.catch_up().await?,
                Stage::Live => self.hear().await?,
            };
            if told.is_some() {
                return told;
            }
        }
    }

    fn greet(&self, gap_from: Option<i64>) -> Bytes {
        let Some(from) = gap_from else {
            return greeting(self.is_new.then_some(self.seen));
        };
        let mut greeting = greeting(None).to_vec();
        greeting.extend_from_slice(&self.gap(from));
        greeting.into()
    }

    /// Tells that everything after a change, up to the one that counts as seen now, was left out.
    fn gap(&self, from: i64) -> Bytes {
        self.app.metrics.gaps.inc();
        gap(from, self.seen)
    }

    /// The next page of what was missed. The stream ends (`None`) if it cannot be read: the client comes again.
    async fn catch_up(&mut self) -> Option<Option<Bytes>> {
        let page = missed(&self.app, self.seen).await.ok()?;
        let is_last = page.changes.len() < PAGE as usize;
        let mut told = Vec::new();
        if page.forgotten_up_to > self.seen {
            let from = std::mem::replace(&mut self.seen, page.forgotten_up_to);
            told.extend_from_slice(&self.gap(from));
        }
        let batch = Batch::of(&page.changes);
        told.extend(self.pick(&batch).unwrap_or_default());
        // Were the database replaced before the follower gets there, it could not tell otherwise.
        self.app.hub.is_known_up_to(batch.last().unwrap_or(0));
        // Whoever took so long that the queue has moved on goes on reading here.
        if is_last && !self.place.skip_if_gone() {
            self.stage = Stage::Live;
        }
        Some(Some(Bytes::from(told)).filter(|told| !told.is_empty()))
    }

    /// What comes next, or a sign of life. The stream ends (`None`) if it cannot go on: the client comes again.
    async fn hear(&mut self) -> Option<Option<Bytes>> {
        match self.place.look() {
            Found::Batch(batch) if self.is_behind => Some(self.go_on_with(&batch)),
            Found::Batch(batch) => Some(self.pick(&batch)),
            Found::Gone => {
                self.is_behind = true;
                Some(None)
            }
            Found::Replaced => self.begin_anew().await.map(Some),
            Found::Nothing => {
                tokio::select! {
                    () = self.place.wait() => Some(None),
                    _ = self.heartbeat.tick() => Some(Some(Bytes::from_static(HEARTBEAT.as_bytes()))),
                }
            }
        }
    }

    /// Goes on with the database that is there now. What happened between the two is unknown.
    async fn begin_anew(&mut self) -> Option<Bytes> {
        // A place first, as when somebody comes.
        self.place.move_over();
        let range = self.app.readers.ask(|store| store.change_range()).await.ok()?;
        self.app.hub.begin_after(range.newest);
        let from = std::mem::replace(&mut self.seen, range.newest);
        self.is_behind = false;
        self.stage = Stage::CatchingUp;
        self.app.metrics.gaps.inc();
        Some(gap_between_databases(from, self.seen))
    }

    /// Tells what was left out before the oldest batch that is still there, and goes on with that.
    fn go_on_with(&mut self, batch: &Batch) -> Option<Bytes> {
        self.is_behind = false;
        let before = (batch.first()? - 1).max(self.seen);
        let from = std::mem::replace(&mut self.seen, before);
        let mut told = self.gap(from).to_vec();
        told.extend(self.pick(batch).unwrap_or_default());
        Some(told.into())
    }

    /// What this one wants of a batch, which counts as seen.
    fn pick(&mut self, batch: &Batch) -> Option<Bytes> {
        let wanted = batch.wanted(&self.filter, self.seen);
        self.seen = batch.last().unwrap_or(0).max(self.seen);
        wanted
    }
}

/// After which change somebody begins who has seen so much, and after which one something is missing.
fn begin(seen: Option<i64>, range: ChangeRange) -> (i64, Option<i64>) {
    match seen {
        None => (range.newest, None),
        // It comes from another database.
        Some(seen) if seen > range.newest => (range.newest, Some(seen)),
        // What it has missed is not kept any more.
        Some(seen) if seen + 1 < range.oldest => (range.oldest - 1, Some(seen)),
        Some(seen) => (seen, None),
    }
}

/// What was missed.
struct Missed {
    changes: Vec<Change>,
    /// Changes up to this one are not kept any more.
    forgotten_up_to: i64,
}

async fn missed(app: &App, seen: i64) -> Result<Missed, Refusal> {
    let ask = move |store: &mut snell_store::Store| {
        let changes = store.changes_after(seen, PAGE)?;
        let skips = changes.first().is_some_and(|first| first.id > seen + 1);
        let forgotten_up_to = if skips { store.change_range()?.oldest - 1 } else { 0 };
        Ok(Missed {
            changes,
            forgotten_up_to,
        })
    };
    app.readers.ask(ask).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_listener_begins_depends_on_what_it_has_seen_and_what_is_kept() {
        let range = ChangeRange { oldest: 10, newest: 20 };
        let none = ChangeRange::default();
        let cases = [
            (None, range, (20, None)),
            (Some(15), range, (15, None)),
            (Some(20), range, (20, None)),
            (Some(9), range, (9, None)),
            (Some(8), range, (9, Some(8))),
            (Some(0), range, (9, Some(0))),
            (Some(21), range, (20, Some(21))),
            (Some(i64::MAX), range, (20, Some(i64::MAX))),
            (None, none, (0, None)),
            (Some(0), none, (0, None)),
            (Some(5), none, (0, Some(5))),
        ];
        for (seen, range, expected) in cases {
            assert_eq!(begin(seen, range), expected, "{seen:?} {range:?}");
        }
    }
}
