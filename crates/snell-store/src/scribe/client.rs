//! Handing a request to the scribe, and hiring one.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SendFlags, SocketAddrUnix, SocketFlags, SocketType, connect, send, socket_with};

use super::{Request, Response, lock_in, socket_in};

/// How long a hook waits for the scribe. It is longer than the scribe itself waits for the database.
const PATIENCE: Duration = Duration::from_millis(900);

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

/// Hands a request to the scribe of this directory, and waits until it is stored.
pub fn deliver(directory: &Path, request: &Request) -> Delivery {
    let Ok(mut stream) = UnixStream::connect(socket_in(directory)) else {
        return Delivery::NobodyThere;
    };
    match ask(&mut stream, request) {
        Ok(response) => Delivery::Done(response),
        Err(_) => Delivery::NoAnswer,
    }
}

/// Waits until the scribe of this directory, if there is one, has stored everything that came before.
pub fn settle(directory: &Path) {
    deliver(directory, &Request::Settle);
}

/// What became of a request that nobody waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandOver {
    /// The scribe has it.
    Taken,
    /// The scribe has more to do than it can take at once.
    Busy,
    /// Nobody is there.
    NobodyThere,
}

/// Hands a request to the scribe of this directory, and leaves without waiting for anything.
pub fn hand_over(directory: &Path, request: &Request) -> HandOver {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let (Ok(address), Ok(text)) = (
        SocketAddrUnix::new(socket_in(directory)),
        serde_json::to_string(request),
    ) else {
        return HandOver::NobodyThere;
    };
    let Ok(socket) = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None) else {
        return HandOver::NobodyThere;
    };
    match connect(&socket, &address) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => return HandOver::Busy,
        Err(_) => return HandOver::NobodyThere,
    }
    // A part of it is of no use to anybody, and the scribe sees that.
    match send(&socket, text.as_bytes(), SendFlags::NOSIGNAL) {
        Ok(sent) if sent == text.len() => HandOver::Taken,
        Ok(_) | Err(_) => HandOver::Busy,
    }
}

fn say(stream: &mut UnixStream, request: &Request) -> io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(serde_json::to_string(request)?.as_bytes())?;
    stream.shutdown(Shutdown::Write)
}

fn ask(stream: &mut UnixStream, request: &Request) -> io::Result<Response> {
    say(stream, request)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut answer = Vec::with_capacity(256);
    stream.read_to_end(&mut answer)?;
    Ok(serde_json::from_slice(&answer)?)
}

/// Starts a scribe for this directory, unless there is one or somebody else is starting one. It runs on by itself.
///
/// `program` is called with `arguments` and the directory; the lock that makes it the only one is its standard input.
///
/// # Errors
///
/// When it cannot be started.
pub fn hire(directory: &Path, program: &Path, arguments: &[&OsStr]) -> io::Result<()> {
    let Some(lock) = only_one(directory)? else {
        return Ok(());
    };
    Command::new(program)
        .args(arguments)
        .arg(directory)
        .current_dir("/")
        .stdin(lock)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map(drop)
}

/// The lock of the directory's only scribe, if nobody holds it. It belongs to the open file, so it can be handed on.
pub(super) fn only_one(directory: &Path) -> io::Result<Option<File>> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(lock_in(directory))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
