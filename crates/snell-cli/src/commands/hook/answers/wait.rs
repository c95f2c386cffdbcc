//! Waits until a request is closed: by an answer, by its time, or because no answer can come any more.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use snell::Timestamp;
use snell_store::requests::{RequestAnswer, RequestStatus, RequestView, WatcherLock};
use snell_store::{ChangeWatcher, EventRecorder, ProcessIdentity, Result, Store, StoreError};

/// How often the hook looks whether it must stop.
const TICK: Duration = Duration::from_secs(1);

/// How long the hook waits without a process that can pass on an answer, for example while such a process restarts.
const WATCHERS_GONE_AFTER: Duration = Duration::from_secs(3);

/// So often in a row the database may be locked.
const MAX_LOCKED: usize = 20;

/// The pause after the database was locked.
const LOCKED_PAUSE: Duration = Duration::from_millis(50);

/// The end of a wait.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum WaitEnd {
    Answered(RequestAnswer),
    /// No answer came in time.
    TimedOut,
    /// The agent goes on by itself: it was answered in its own dialog, no process can pass on an answer, or something failed.
    Withdrawn,
}

/// A request whose answer a hook waits for.
pub(super) struct RequestWait<'a> {
    data: &'a Path,
    database: PathBuf,
    store: Store,
    request: &'a RequestView,
    is_told_to_end: Arc<AtomicBool>,
    agent: Option<ProcessIdentity>,
    /// When a process that can pass on an answer was last seen.
    watched: Instant,
    /// When the processes were last tested.
    tested: Option<Instant>,
}

impl<'a> RequestWait<'a> {
    pub(super) fn new(data: &'a Path, store: Store, request: &'a RequestView, agent: Option<ProcessIdentity>) -> Self {
        let is_told_to_end = Arc::new(AtomicBool::new(false));
        // Agents end a hook this way when their user answers in the dialog. Without a handler the signal ends this process,
        // and the next process that lists requests closes this one.
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            let _ = signal_hook::flag::register(signal, Arc::clone(&is_told_to_end));
        }
        Self {
            data,
            database: EventRecorder::database_path(data),
            store,
            request,
            is_told_to_end,
            agent: agent.filter(|agent| !agent.is_gone()).or_else(parent_process),
            watched: Instant::now(),
            tested: None,
        }
    }

    pub(super) fn run(mut self) -> (WaitEnd, Store) {
        let mut watcher = ChangeWatcher::open(&self.database).ok();
        let mut locked = 0;
        loop {
            match self.check() {
                Ok(Some(end)) => return (end, self.store),
                Ok(None) => locked = 0,
                Err(StoreError::Locked) if locked < MAX_LOCKED => {
                    locked += 1;
                    std::thread::sleep(LOCKED_PAUSE);
                    continue;
                }
                // The request stays open until this process is gone, which is at once.
                Err(_) => return (WaitEnd::Withdrawn, self.store),
            }
            let has_waited = watcher.as_mut().is_some_and(|watcher| watcher.wait(TICK).is_ok());
            if !has_waited {
                std::thread::sleep(TICK);
            }
        }
    }

    /// Looks for an answer, and for reasons to stop. Nothing if the wait goes on.
    fn check(&mut self) -> Result<Option<WaitEnd>> {
        let id = self.request.request_id;
        let status = self.store.find_request(id)?.map(|request| request.status);
        match status {
            Some(RequestStatus::Open) => {}
            Some(RequestStatus::Answered) => return self.store.take_answer(id, Timestamp::now()).map(into_end),
            Some(RequestStatus::Expired) => return Ok(Some(WaitEnd::TimedOut)),
            Some(RequestStatus::Withdrawn) | None => return Ok(Some(WaitEnd::Withdrawn)),
        }
        let Some((status, reason)) = self.find_reason_to_stop() else {
            return Ok(None);
        };
        let closed = self.store.close_request(id, status, reason, Timestamp::now())?;
        match closed.status {
            // An answer came first.
            RequestStatus::Answered => self.store.take_answer(id, Timestamp::now()).map(into_end),
            RequestStatus::Expired => Ok(Some(WaitEnd::TimedOut)),
            RequestStatus::Withdrawn | RequestStatus::Open => Ok(Some(WaitEnd::Withdrawn)),
        }
    }

    fn find_reason_to_stop(&mut self) -> Option<(RequestStatus, &'static str)> {
        if self.is_told_to_end.load(Ordering::Relaxed) {
            return Some((RequestStatus::Withdrawn, "the agent ended the hook that waited"));
        }
        if self.request.expires_at <= Timestamp::now() {
            return Some((RequestStatus::Expired, "no answer came in time"));
        }
        // While other processes write, the wait is interrupted again and again.
        if self.tested.is_some_and(|tested| tested.elapsed() < TICK) {
            return None;
        }
        self.tested = Some(Instant::now());
        if self.agent.is_some_and(ProcessIdentity::is_gone) {
            return Some((RequestStatus::Withdrawn, "the agent ended"));
        }
        if WatcherLock::is_held(self.data) {
            self.watched = Instant::now();
        }
        let is_unwatched = self.watched.elapsed() >= WATCHERS_GONE_AFTER;
        is_unwatched.then_some((RequestStatus::Withdrawn, "no client that can answer was connected any more"))
    }
}

/// An answer that was taken before counts as none: it is given once.
fn into_end(answer: Option<RequestAnswer>) -> Option<WaitEnd> {
    Some(answer.map_or(WaitEnd::Withdrawn, WaitEnd::Answered))
}

/// The process that started this one.
fn parent_process() -> Option<ProcessIdentity> {
    let pid = rustix::process::getppid()?.as_raw_nonzero().get().cast_unsigned();
    Some(ProcessIdentity::from_pid(pid))
}
