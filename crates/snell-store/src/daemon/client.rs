//! Sending requests to the daemon, and starting one.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

use super::{DaemonJob, DaemonRequest, DaemonResponse, failure_marker_path, lock_path, socket_path};
use crate::queue::file_lock::FileLock;
use crate::queue::outbox::{DeliveryLock, Outbox};
use crate::views::session_snapshot::SnapshotQuery;

/// The time limit of a hook's request. It is longer than the daemon itself waits for the database.
const REPLY_TIMEOUT: Duration = Duration::from_millis(700);

/// The result of a request.
#[derive(Debug)]
pub enum DeliveryOutcome {
    /// The daemon has handled it.
    Done(DaemonResponse),
    /// There is no daemon.
    NotRunning,
    /// The daemon did not answer in time. The event may be stored or not.
    NoAnswer,
}

/// The result of a request that waits for no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandoffOutcome {
    /// The daemon has it.
    Accepted,
    /// The daemon has too many requests.
    Busy,
    /// The daemon cannot store events.
    Failing,
    /// There is no daemon.
    NotRunning,
}

/// Sends a request to the daemon of this directory, and waits for its response.
pub fn send_and_wait(directory: &Path, request: &DaemonRequest) -> DeliveryOutcome {
    let deadline = Instant::now() + REPLY_TIMEOUT;
    match connect_daemon(directory) {
        Ok(stream) => {
            exchange_request(stream, request, deadline).map_or(DeliveryOutcome::NoAnswer, DeliveryOutcome::Done)
        }
        Err(HandoffOutcome::NotRunning) => DeliveryOutcome::NotRunning,
        Err(_) => DeliveryOutcome::NoAnswer,
    }
}

/// Sends a request to the daemon of this directory without waiting for its response.
pub fn send_nowait(directory: &Path, request: &DaemonRequest) -> HandoffOutcome {
    if failure_marker_path(directory).exists() {
        return HandoffOutcome::Failing;
    }
    let stream = match connect_daemon(directory) {
        Ok(stream) => stream,
        Err(refused) => return refused,
    };
    let Ok(text) = serde_json::to_string(request) else {
        return HandoffOutcome::Busy;
    };
    // The daemon ignores incomplete requests.
    match (&stream).write(text.as_bytes()) {
        Ok(written) if written == text.len() => HandoffOutcome::Accepted,
        Ok(_) | Err(_) => HandoffOutcome::Busy,
    }
}

/// Asks the daemon of this directory about a session.
pub fn query_session(directory: &Path, query: &SnapshotQuery) -> DeliveryOutcome {
    send_and_wait(directory, &DaemonRequest::Look(query.clone()))
}

/// Waits until the daemon of this directory, if there is one, has stored all earlier events. Returns `false` on a
/// time-out.
pub fn flush_daemon(directory: &Path) -> bool {
    !matches!(send_and_wait(directory, &DaemonRequest::Settle), DeliveryOutcome::NoAnswer)
}

/// Connects to the daemon without waiting.
fn connect_daemon(directory: &Path) -> Result<UnixStream, HandoffOutcome> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let path = socket_path(directory);
    // Never send events to another user's socket.
    let own = rustix::process::geteuid().as_raw();
    if fs::metadata(&path).map_or(true, |socket| socket.uid() != own) {
        return Err(HandoffOutcome::NotRunning);
    }
    let address = SocketAddrUnix::new(path).map_err(|_| HandoffOutcome::NotRunning)?;
    let socket =
        socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).map_err(|_| HandoffOutcome::NotRunning)?;
    match connect(&socket, &address) {
        Ok(()) => Ok(socket.into()),
        Err(Errno::WOULDBLOCK) => Err(HandoffOutcome::Busy),
        Err(_) => Err(HandoffOutcome::NotRunning),
    }
}

fn exchange_request(mut stream: UnixStream, request: &DaemonRequest, deadline: Instant) -> io::Result<DaemonResponse> {
    stream.set_nonblocking(false)?;
    let text = serde_json::to_string(request)?;
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        stream.set_write_timeout(Some(remaining_time(deadline)?))?;
        let written = stream.write(rest)?;
        rest = &rest[written..];
    }
    stream.shutdown(Shutdown::Write)?;
    let mut answer = Vec::with_capacity(256);
    let mut part = [0; 1024];
    loop {
        stream.set_read_timeout(Some(remaining_time(deadline)?))?;
        match stream.read(&mut part)? {
            0 => break,
            length => answer.extend_from_slice(&part[..length]),
        }
    }
    Ok(serde_json::from_slice(&answer)?)
}

/// The time that is left, which is never zero.
fn remaining_time(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    Ok(left)
}

/// Starts a daemon for a job in this directory, unless one runs or starts already. It outlives this process.
///
/// `program` is called with `arguments`. Its standard input is the lock that makes it the only daemon.
///
/// # Errors
///
/// When it cannot be started.
pub fn spawn_daemon(directory: &Path, job: DaemonJob, program: &Path, arguments: &[OsString]) -> io::Result<()> {
    let lock = match job {
        DaemonJob::Store => {
            // No hook could connect to a socket whose path is too long.
            SocketAddrUnix::new(socket_path(directory))?;
            FileLock::try_acquire(&lock_path(directory))?
        }
        DaemonJob::Forward => Outbox::in_data_dir(directory).try_lock_delivery()?.map(DeliveryLock::into_lock),
    };
    lock.map_or(Ok(()), |lock| lock.hand_to(program, arguments))
}
