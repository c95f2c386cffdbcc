//! Where the server listens: a TCP address, and a unix socket beside what it records.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::net::sockopt;
use snell::{FileAccess, RegularFile};

use crate::http::errors::ServeError;
use crate::settings::ServeSettings;

/// How many may knock before they are let in.
const BACKLOG: i32 = 1024;

/// How much may wait in the system for a client to read it. The system would otherwise let it grow to megabytes for each.
const SEND_BUFFER_BYTES: usize = 128 * 1024;

/// Held by the server of a directory.
const LOCK_FILE_NAME: &str = "snell.sock.lock";

/// A TCP address that is listened on.
pub struct ServerListener {
    pub(crate) tcp: TcpListener,
    pub(crate) address: SocketAddr,
    pub(crate) ready: Option<Box<dyn FnOnce(SocketAddr) + Send>>,
}

impl std::fmt::Debug for ServerListener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listener").field("address", &self.address).finish_non_exhaustive()
    }
}

impl ServerListener {
    /// Listens on this address; on a free port if its port is 0.
    ///
    /// # Errors
    ///
    /// When somebody else does, or the address is not one of this machine.
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

    /// The address, with the port that was found.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Calls this once requests are answered.
    #[must_use]
    pub fn with_ready_callback(mut self, tell: impl FnOnce(SocketAddr) + Send + 'static) -> Self {
        self.ready = Some(Box::new(tell));
        self
    }
}

/// The unix socket. It is there for as long as this is.
#[derive(Debug)]
pub(crate) struct UnixSocketGuard {
    path: PathBuf,
    inode: u64,
    /// Held for as long as we live, and let go by the system if we are killed: so one that is left behind is known.
    _lock: File,
}

impl UnixSocketGuard {
    /// Refuses to serve a directory that another server serves, without making anything.
    pub(crate) fn ensure_not_served(directory: &Path) -> Result<(), ServeError> {
        match RegularFile::open(&directory.join(LOCK_FILE_NAME), FileAccess::WriteExisting) {
            // It is let go at once.
            Ok(lock) => lock_directory(&lock.into_file(), directory),
            Err(_) => Ok(()),
        }
    }

    /// Makes the socket of a directory, in place of one that was left behind. Only its owner can use it. Where its path is
    /// longer than the system can take there is none.
    pub(crate) fn create_in(directory: &Path) -> Result<(Option<UnixListener>, Self), ServeError> {
        let path = ServeSettings::socket_path_in(directory);
        let failed = |source| ServeError::Socket { path: path.clone(), source };
        DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(failed)?;
        let lock_path = directory.join(LOCK_FILE_NAME);
        let lock = RegularFile::open(&lock_path, FileAccess::Write)
            .map_err(|source| ServeError::Socket { path: lock_path, source })?;
        let lock = lock.into_file();
        lock_directory(&lock, directory)?;
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
                tracing::warn!(%error, "there is no unix socket");
                (None, 0)
            }
            Err(error) => return Err(failed(error)),
        };
        let socket = Self { path, inode, _lock: lock };
        Ok((listener, socket))
    }
}

/// Holds the lock of a directory for as long as the file is open.
fn lock_directory(lock: &File, directory: &Path) -> Result<(), ServeError> {
    flock(lock, FlockOperation::NonBlockingLockExclusive).map_err(|error| match error {
        rustix::io::Errno::WOULDBLOCK => ServeError::AlreadyServed { directory: directory.to_owned() },
        other => ServeError::Socket { path: directory.join(LOCK_FILE_NAME), source: other.into() },
    })
}

impl Drop for UnixSocketGuard {
    fn drop(&mut self) {
        // Somebody may have put another one in its place.
        if fs::metadata(&self.path).is_ok_and(|metadata| metadata.ino() == self.inode) {
            let _ = fs::remove_file(&self.path);
        }
    }
}
