//! Handing a request to the scribe, and hiring one.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use snell::{FileAccess, RegularFile};

use super::{DaemonRequest, DaemonResponse, failure_marker_path, lock_path, socket_path};
use crate::views::session_snapshot::SnapshotQuery;

/// How long a hook waits for the scribe in all. It is longer than the scribe itself waits for the database.
const REPLY_TIMEOUT: Duration = Duration::from_millis(700);

/// What became of a request.
#[derive(Debug)]
pub enum DeliveryOutcome {
    /// The scribe has dealt with it.
    Done(DaemonResponse),
    /// Nobody is there.
    NotRunning,
    /// Somebody is there and did not answer; whether it was stored is not known.
    NoAnswer,
}

/// What became of a request that nobody waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandoffOutcome {
    /// The scribe has it.
    Accepted,
    /// Somebody is there, and has more to do than can be taken at once.
    Busy,
    /// Somebody is there, and cannot store what it is handed.
    Failing,
    /// Nobody is there.
    NotRunning,
}

/// Hands a request to the scribe of this directory, and waits until it is dealt with.
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

/// Hands a request to the scribe of this directory, and leaves without waiting for anything.
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
    // A part of it is of no use to anybody, and the scribe sees that.
    match (&stream).write(text.as_bytes()) {
        Ok(written) if written == text.len() => HandoffOutcome::Accepted,
        Ok(_) | Err(_) => HandoffOutcome::Busy,
    }
}

/// Asks the scribe of this directory what is known of a session. One of an earlier version has no answer to that.
pub fn query_session(directory: &Path, inquiry: &SnapshotQuery) -> DeliveryOutcome {
    send_and_wait(directory, &DaemonRequest::Look(inquiry.clone()))
}

/// Waits until the scribe of this directory, if there is one, has stored everything that came before. Answers `false` if
/// it does not say so in time.
pub fn flush_daemon(directory: &Path) -> bool {
    !matches!(send_and_wait(directory, &DaemonRequest::Settle), DeliveryOutcome::NoAnswer)
}

/// Comes to the scribe's door. Whoever would have to wait there is told so.
fn connect_daemon(directory: &Path) -> Result<UnixStream, HandoffOutcome> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let path = socket_path(directory);
    // What is said there is not for others.
    let own = rustix::process::geteuid().as_raw();
    if fs::metadata(&path).map_or(true, |door| door.uid() != own) {
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

/// How much time is left, which is never nothing.
fn remaining_time(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    Ok(left)
}

/// Starts a scribe for this directory, unless there is one or somebody else is starting one. It runs on by itself.
///
/// `program` is called with `arguments`, and the lock that makes it the only one as its standard input.
///
/// # Errors
///
/// When it cannot be started.
pub fn spawn_daemon(directory: &Path, program: &Path, arguments: &[OsString]) -> io::Result<()> {
    // Nobody could ever come to a door whose address is too long.
    SocketAddrUnix::new(socket_path(directory))?;
    let Some(lock) = try_lock_daemon(directory)? else {
        return Ok(());
    };
    Command::new(program)
        .args(arguments)
        .current_dir("/")
        .stdin(lock)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map(drop)
}

/// The lock of the directory's only scribe, if nobody holds it. It belongs to the open file, so it can be handed on.
pub(super) fn try_lock_daemon(directory: &Path) -> io::Result<Option<File>> {
    let file = RegularFile::open(&lock_path(directory), FileAccess::Write)?.into_file();
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
