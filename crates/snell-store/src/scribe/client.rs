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

use super::{Request, Response, lock_in, socket_in, trouble_in};
use crate::facts::Inquiry;

/// How long a hook waits for the scribe in all. It is longer than the scribe itself waits for the database.
const PATIENCE: Duration = Duration::from_millis(700);

/// What became of a request.
#[derive(Debug)]
pub enum Delivery {
    /// The scribe has dealt with it.
    Done(Response),
    /// Nobody is there.
    NobodyThere,
    /// Somebody is there and did not answer; whether it was stored is not known.
    NoAnswer,
}

/// What became of a request that nobody waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandOver {
    /// The scribe has it.
    Taken,
    /// Somebody is there, and has more to do than can be taken at once.
    Busy,
    /// Somebody is there, and cannot store what it is handed.
    Troubled,
    /// Nobody is there.
    NobodyThere,
}

/// Hands a request to the scribe of this directory, and waits until it is dealt with.
pub fn deliver(directory: &Path, request: &Request) -> Delivery {
    let deadline = Instant::now() + PATIENCE;
    match knock(directory) {
        Ok(stream) => ask(stream, request, deadline).map_or(Delivery::NoAnswer, Delivery::Done),
        Err(HandOver::NobodyThere) => Delivery::NobodyThere,
        Err(_) => Delivery::NoAnswer,
    }
}

/// Hands a request to the scribe of this directory, and leaves without waiting for anything.
pub fn hand_over(directory: &Path, request: &Request) -> HandOver {
    if trouble_in(directory).exists() {
        return HandOver::Troubled;
    }
    let stream = match knock(directory) {
        Ok(stream) => stream,
        Err(refused) => return refused,
    };
    let Ok(text) = serde_json::to_string(request) else {
        return HandOver::Busy;
    };
    // A part of it is of no use to anybody, and the scribe sees that.
    match (&stream).write(text.as_bytes()) {
        Ok(written) if written == text.len() => HandOver::Taken,
        Ok(_) | Err(_) => HandOver::Busy,
    }
}

/// Asks the scribe of this directory what is known of a session. One of an earlier version has no answer to that.
pub fn look(directory: &Path, inquiry: &Inquiry) -> Delivery {
    deliver(directory, &Request::Look(inquiry.clone()))
}

/// Waits until the scribe of this directory, if there is one, has stored everything that came before. Answers `false` if
/// it does not say so in time.
pub fn settle(directory: &Path) -> bool {
    !matches!(deliver(directory, &Request::Settle), Delivery::NoAnswer)
}

/// Comes to the scribe's door. Whoever would have to wait there is told so.
fn knock(directory: &Path) -> Result<UnixStream, HandOver> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let path = socket_in(directory);
    // What is said there is not for others.
    let own = rustix::process::geteuid().as_raw();
    if fs::metadata(&path).map_or(true, |door| door.uid() != own) {
        return Err(HandOver::NobodyThere);
    }
    let address = SocketAddrUnix::new(path).map_err(|_| HandOver::NobodyThere)?;
    let socket =
        socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).map_err(|_| HandOver::NobodyThere)?;
    match connect(&socket, &address) {
        Ok(()) => Ok(socket.into()),
        Err(Errno::WOULDBLOCK) => Err(HandOver::Busy),
        Err(_) => Err(HandOver::NobodyThere),
    }
}

fn ask(mut stream: UnixStream, request: &Request, deadline: Instant) -> io::Result<Response> {
    stream.set_nonblocking(false)?;
    let text = serde_json::to_string(request)?;
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        stream.set_write_timeout(Some(left(deadline)?))?;
        let written = stream.write(rest)?;
        rest = &rest[written..];
    }
    stream.shutdown(Shutdown::Write)?;
    let mut answer = Vec::with_capacity(256);
    let mut part = [0; 1024];
    loop {
        stream.set_read_timeout(Some(left(deadline)?))?;
        match stream.read(&mut part)? {
            0 => break,
            length => answer.extend_from_slice(&part[..length]),
        }
    }
    Ok(serde_json::from_slice(&answer)?)
}

/// How much time is left, which is never nothing.
fn left(deadline: Instant) -> io::Result<Duration> {
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
pub fn hire(directory: &Path, program: &Path, arguments: &[OsString]) -> io::Result<()> {
    // Nobody could ever come to a door whose address is too long.
    SocketAddrUnix::new(socket_in(directory))?;
    let Some(lock) = only_one(directory)? else {
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
pub(super) fn only_one(directory: &Path) -> io::Result<Option<File>> {
    let file = RegularFile::open(&lock_in(directory), FileAccess::Write)?.into_file();
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
