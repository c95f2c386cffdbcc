//! Where the server listens: a TCP address, and a unix socket in the data directory.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::net::sockopt;
use rustix::process::{Pid, test_kill_process};
use snell::{FileAccess, RegularFile};

use crate::http::errors::ServeError;
use crate::settings::ServeSettings;

/// The maximum number of connections that wait to be accepted.
const BACKLOG: i32 = 1024;

/// The send buffer of a connection. By default, the kernel lets it grow to megabytes.
const SEND_BUFFER_BYTES: usize = 128 * 1024;

/// The server of a directory holds a lock on this file.
const LOCK_FILE_NAME: &str = "snell.sock.lock";

/// If a server is killed while it starts a program, that program holds the lock until it runs.
const ORPHANED_LOCK_TIMEOUT: Duration = Duration::from_secs(1);
const LOCK_POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A longer lock file is not one of a server.
const MAX_LOCK_BYTES: u64 = 200;

/// A bound TCP address.
pub struct ServerListener {
    pub(crate) tcp: TcpListener,
    pub(crate) address: SocketAddr,
    pub(crate) ready: Option<Box<dyn FnOnce(SocketAddr) + Send>>,
}

impl std::fmt::Debug for ServerListener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerListener").field("address", &self.address).finish_non_exhaustive()
    }
}

impl ServerListener {
    /// Listens on this address, or on a free port if the port is 0.
    ///
    /// # Errors
    ///
    /// If another program uses the address, or it is not one of this machine.
    pub fn bind(address: SocketAddr) -> Result<Self, ServeError> {
        let bound = TcpListener::bind(address).and_then(|tcp| {
            tcp.set_nonblocking(true)?;
            sockopt::set_socket_send_buffer_size(&tcp, SEND_BUFFER_BYTES)?;
            rustix::net::listen(&tcp, BACKLOG)?;
            let address = tcp.local_addr()?;
            Ok(Self { tcp, address, ready: None })
        });
        bound.map_err(|source| match source.kind() {
            io::ErrorKind::AddrInUse => ServeError::AddressInUse { address },
            _ => ServeError::Address { address, source },
        })
    }

    /// The address with the actual port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Calls this when the server accepts requests.
    #[must_use]
    pub fn with_ready_callback(mut self, callback: impl FnOnce(SocketAddr) + Send + 'static) -> Self {
        self.ready = Some(Box::new(callback));
        self
    }
}

/// The unix socket. Dropping this removes it.
#[derive(Debug)]
pub(crate) struct UnixSocketGuard {
    path: PathBuf,
    inode: u64,
    /// The system releases the lock if the process is killed, so a stale socket can be recognized.
    _lock: File,
}

impl UnixSocketGuard {
    /// Fails if another server uses the directory. Creates nothing.
    pub(crate) fn ensure_not_served(directory: &Path) -> Result<(), ServeError> {
        match RegularFile::open(&directory.join(LOCK_FILE_NAME), FileAccess::WriteExisting) {
            // The lock is released at once.
            Ok(lock) => lock_directory(&lock.into_file(), directory),
            Err(_) => Ok(()),
        }
    }

    /// Creates the socket of a directory in place of a stale one. Only its owner can use it. There is none if the path
    /// is too long for the system.
    pub(crate) fn create_in(directory: &Path, address: SocketAddr) -> Result<(Option<UnixListener>, Self), ServeError> {
        let path = ServeSettings::socket_path_in(directory);
        let failed = |source| ServeError::Socket { path: path.clone(), source };
        DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(failed)?;
        let lock_path = directory.join(LOCK_FILE_NAME);
        let lock = RegularFile::open(&lock_path, FileAccess::Write)
            .map_err(|source| ServeError::Socket { path: lock_path, source })?;
        let lock = lock.into_file();
        lock_directory(&lock, directory)?;
        ServerOwner { pid: std::process::id(), address }.write_to(&lock);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        let made = UnixListener::bind(&path).and_then(|listener| {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
            listener.set_nonblocking(true)?;
            sockopt::set_socket_send_buffer_size(&listener, SEND_BUFFER_BYTES)?;
            let inode = fs::metadata(&path)?.ino();
            Ok((listener, inode))
        });
        let (listener, inode) = match made {
            Ok((listener, inode)) => (Some(listener), inode),
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                tracing::warn!(%error, "cannot create the unix socket; continuing without it");
                (None, 0)
            }
            Err(error) => return Err(failed(error)),
        };
        let socket = Self { path, inode, _lock: lock };
        Ok((listener, socket))
    }
}

/// The process and the address of a server. They are in its lock file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerOwner {
    /// The process.
    pub pid: u32,
    /// The address.
    pub address: SocketAddr,
}

impl ServerOwner {
    /// Writes it to the lock file. The lock works without it.
    fn write_to(self, mut lock: &File) {
        let text = format!("{}\n{}\n", self.pid, self.address);
        let _ = lock.set_len(0).and_then(|()| lock.write_all(text.as_bytes()));
    }

    /// The server that has locked this directory.
    fn read_from(directory: &Path) -> Option<Self> {
        let file = RegularFile::open(&directory.join(LOCK_FILE_NAME), FileAccess::Read).ok()?.into_file();
        let mut text = String::new();
        file.take(MAX_LOCK_BYTES).read_to_string(&mut text).ok()?;
        let (pid, address) = text.trim_end().split_once('\n')?;
        Some(Self { pid: pid.parse().ok()?, address: address.parse().ok()? })
    }

    fn has_ended(self) -> bool {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        pid.is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH))
    }
}

/// Locks a directory for as long as the file is open. Waits a moment for the lock of a server that was killed.
fn lock_directory(lock: &File, directory: &Path) -> Result<(), ServeError> {
    let deadline = Instant::now() + ORPHANED_LOCK_TIMEOUT;
    loop {
        match flock(lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(Errno::WOULDBLOCK) => {}
            Err(error) => {
                return Err(ServeError::Socket { path: directory.join(LOCK_FILE_NAME), source: error.into() });
            }
        }
        let owner = ServerOwner::read_from(directory);
        if Instant::now() >= deadline || !owner.is_some_and(ServerOwner::has_ended) {
            return Err(ServeError::AlreadyServed { directory: directory.to_owned(), owner });
        }
        std::thread::sleep(LOCK_POLL_INTERVAL);
    }
}

impl Drop for UnixSocketGuard {
    fn drop(&mut self) {
        // Another process may have replaced the file.
        if fs::metadata(&self.path).is_ok_and(|metadata| metadata.ino() == self.inode) {
            let _ = fs::remove_file(&self.path);
        }
    }
}
