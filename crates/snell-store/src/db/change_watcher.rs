//! Waiting until any process has written to the database.
//!
//! Each commit is appended to the database's log, and the system reports that write at once. The commit becomes visible
//! a moment later, through shared memory, and the system does not report that. Also, reports of every write slow down
//! writers when there are many. So after the first write, `wait` returns again and again, with short pauses, until the
//! log has not changed for a while. Only then it asks the system for a report again.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::db::location::DatabaseLocation;
#[cfg(feature = "postgres")]
use crate::db::postgres::ChangeListener;

/// The pause between polls while the log changes.
const BUSY_POLL_INTERVAL: Duration = Duration::from_millis(2);

/// The log is quiet if it has not changed for this long.
const QUIET_AFTER: Duration = Duration::from_millis(100);

/// A notification of a server may be lost with the connection, so a wait ends after this time.
#[cfg(feature = "postgres")]
const MAX_SERVER_WAIT: Duration = Duration::from_secs(1);

/// Waits for writes of other processes to one database.
#[derive(Debug)]
pub struct ChangeWatcher {
    source: ChangeSource,
    woken: UnixStream,
    waker: UnixStream,
}

/// The source of reports about writes.
#[derive(Debug)]
enum ChangeSource {
    File(LogWatcher),
    /// It wakes the watcher by itself.
    #[cfg(feature = "postgres")]
    Server(#[expect(dead_code, reason = "it listens until it is dropped")] ChangeListener),
}

/// Watches the log of a database.
#[derive(Debug)]
struct LogWatcher {
    log: PathBuf,
    notifier: wal_notifier::WalNotifier,
    /// The last state of the log and its time, while it changes.
    busy: Option<(WalState, Instant)>,
}

/// The length of the log, and the time of its last write.
type WalState = Option<(u64, SystemTime)>;

/// Ends a wait from another thread.
#[derive(Debug)]
pub struct WatcherWaker(UnixStream);

impl WatcherWaker {
    /// Ends the current wait, or the next one.
    pub fn wake(&self) {
        // If the socket is full, a wake-up is under way.
        let _ = (&self.0).write(&[1]);
    }
}

impl ChangeWatcher {
    /// Watches the database at this path. Its directory must be there.
    ///
    /// # Errors
    ///
    /// When the system cannot watch it.
    pub fn open(database: &Path) -> io::Result<Self> {
        Self::open_at(&database.into())
    }

    /// Watches the database at this place.
    ///
    /// # Errors
    ///
    /// When the system cannot watch it.
    pub fn open_at(location: &DatabaseLocation) -> io::Result<Self> {
        let (woken, waker) = UnixStream::pair()?;
        woken.set_nonblocking(true)?;
        waker.set_nonblocking(true)?;
        let source = match location {
            DatabaseLocation::File(path) => {
                let mut log = path.as_os_str().to_owned();
                log.push("-wal");
                let notifier = wal_notifier::WalNotifier::new(path)?;
                ChangeSource::File(LogWatcher { log: log.into(), notifier, busy: None })
            }
            #[cfg(feature = "postgres")]
            DatabaseLocation::Postgres(address) => {
                ChangeSource::Server(ChangeListener::start(address.clone(), waker.try_clone()?)?)
            }
        };
        Ok(Self { source, woken, waker })
    }

    /// Returns a handle that can end a wait.
    ///
    /// # Errors
    ///
    /// When the process has no file descriptor left.
    pub fn waker(&self) -> io::Result<WatcherWaker> {
        self.waker.try_clone().map(WatcherWaker)
    }

    /// Waits until there may be a change or a wake-up, at most for so long.
    ///
    /// # Errors
    ///
    /// When the system cannot wait.
    pub fn wait(&mut self, at_most: Duration) -> io::Result<()> {
        match &mut self.source {
            ChangeSource::File(log) => log.wait(&self.woken, at_most)?,
            #[cfg(feature = "postgres")]
            ChangeSource::Server(_) => wait_readable([poll_readable(&self.woken)], at_most.min(MAX_SERVER_WAIT))?,
        }
        let mut drained = [0; 64];
        while self.woken.read(&mut drained).is_ok_and(|length| length > 0) {}
        Ok(())
    }
}

impl LogWatcher {
    fn wait(&mut self, woken: &UnixStream, at_most: Duration) -> io::Result<()> {
        match &mut self.busy {
            None => {
                if self.notifier.wait(woken, at_most)? {
                    self.notifier.disarm();
                    self.busy = Some((read_wal_state(&self.log), Instant::now()));
                }
            }
            Some((before, since)) => {
                wait_readable([poll_readable(woken)], at_most.min(BUSY_POLL_INTERVAL))?;
                let now = read_wal_state(&self.log);
                if now != *before {
                    (*before, *since) = (now, Instant::now());
                } else if since.elapsed() > QUIET_AFTER {
                    // The caller reads once more after this, so no write is missed in between.
                    self.notifier.arm()?;
                    self.busy = None;
                }
            }
        }
        Ok(())
    }
}

fn read_wal_state(log: &Path) -> WalState {
    let metadata = std::fs::metadata(log).ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

fn poll_readable(fd: &impl AsFd) -> PollFd<'_> {
    PollFd::new(fd, PollFlags::IN)
}

/// Waits until one of these can be read.
fn wait_readable<const N: usize>(mut fds: [PollFd<'_>; N], at_most: Duration) -> io::Result<()> {
    let at_most = Timespec::try_from(at_most).ok();
    match poll(&mut fds, at_most.as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Reports writes to the log, where the system supports it.
#[cfg(target_os = "linux")]
mod wal_notifier {
    use std::ffi::OsString;
    use std::io;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    use std::path::{Path, PathBuf};
    use std::time::Duration;

    use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init, remove_watch};

    use super::{poll_readable, wait_readable};

    #[derive(Debug)]
    pub(crate) struct WalNotifier {
        inotify: OwnedFd,
        watch: Option<i32>,
        directory: PathBuf,
        log: OsString,
    }

    impl WalNotifier {
        pub(crate) fn new(database: &Path) -> io::Result<Self> {
            let mut log = database.file_name().unwrap_or_default().to_owned();
            log.push("-wal");
            let mut notifier = Self {
                inotify: init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?,
                watch: None,
                directory: database.parent().unwrap_or(Path::new("/")).to_owned(),
                log,
            };
            notifier.arm()?;
            Ok(notifier)
        }

        pub(crate) fn arm(&mut self) -> io::Result<()> {
            // The log itself may not exist yet, or may be replaced.
            let flags = WatchFlags::MODIFY | WatchFlags::CREATE;
            self.watch = Some(add_watch(&self.inotify, &self.directory, flags)?);
            Ok(())
        }

        pub(crate) fn disarm(&mut self) {
            if let Some(watch) = self.watch.take() {
                // A superfluous report only costs time.
                let _ = remove_watch(&self.inotify, watch);
            }
        }

        /// Waits; returns whether there was a write.
        pub(crate) fn wait(&self, woken: &UnixStream, at_most: Duration) -> io::Result<bool> {
            wait_readable([poll_readable(&self.inotify), poll_readable(woken)], at_most)?;
            let mut buffer = [MaybeUninit::uninit(); 4096];
            let mut inotify = Reader::new(&self.inotify, &mut buffer);
            let mut rang = false;
            while let Ok(event) = inotify.next() {
                let is_log = |name: &std::ffi::CStr| name.to_bytes() == self.log.as_encoded_bytes();
                // The system dropped reports.
                let overflowed = event.events().contains(ReadFlags::QUEUE_OVERFLOW);
                rang |= overflowed || event.file_name().is_some_and(is_log);
            }
            Ok(rang)
        }
    }
}

/// Systems without such reports: poll the log.
#[cfg(not(target_os = "linux"))]
mod wal_notifier {
    use std::io;
    use std::os::unix::net::UnixStream;
    use std::path::Path;
    use std::time::Duration;

    pub(crate) use PollingNotifier as WalNotifier;

    #[derive(Debug)]
    pub(crate) struct PollingNotifier;

    impl PollingNotifier {
        pub(crate) fn new(_: &Path) -> io::Result<Self> {
            Ok(Self)
        }

        pub(crate) fn arm(&mut self) -> io::Result<()> {
            Ok(())
        }

        pub(crate) fn disarm(&mut self) {}

        pub(crate) fn wait(&self, _: &UnixStream, _: Duration) -> io::Result<bool> {
            Ok(true)
        }
    }
}
