//! The path of a tmux socket that an event named, checked so that no other user can lead tmux elsewhere.
//!
//! A tmux server may tell its client which program to run, so a client must only ever talk to a server of its own user. A
//! check alone leaves a gap: a user who can write to a directory on the way can swap an entry between the check and the moment
//! when tmux opens the path. So other users must not be able to write to any directory on the way. The check goes from the
//! root down and follows no symlinks: at each step other users cannot change the entries above any more, so tmux later opens
//! the path that was checked.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Others may write to a directory with one of these bits.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// In a directory with this bit, others cannot move or remove entries that they do not own.
const STICKY: u32 = 0o1000;

/// Why a path is not used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SocketPathError {
    /// The path does not exist.
    #[error("{0} does not exist")]
    Missing(String),
    /// The path is relative.
    #[error("{0} is not an absolute path")]
    Relative(String),
    /// The file is not a socket, or another user owns it.
    #[error("{0} is not a socket that you own")]
    NotOwnSocket(String),
    /// Other users could replace the socket.
    #[error("other users can change {directory}, so Snell does not use {socket}")]
    Exposed {
        /// The socket.
        socket: String,
        /// The directory on the way to it.
        directory: String,
    },
}

/// The real path of a tmux socket. Other users cannot make it lead to another socket.
pub(super) fn resolve_own_socket(path: &Path) -> Result<PathBuf, SocketPathError> {
    let shown = || path.display().to_string();
    if !path.is_absolute() {
        return Err(SocketPathError::Relative(shown()));
    }
    // The resolved path is checked, and only it is used.
    let real = fs::canonicalize(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => SocketPathError::Missing(shown()),
        _ => SocketPathError::NotOwnSocket(shown()),
    })?;
    let mut above: Option<(&Path, Metadata)> = None;
    let mut steps: Vec<_> = real.ancestors().collect();
    steps.reverse();
    // The owner of the root directory controls all paths. In a container that may be another user than 0.
    let root = fs::symlink_metadata("/").map_or(0, |root| root.uid());
    let own = rustix::process::geteuid().as_raw();
    let is_trusted = |uid: u32| [own, 0, root].contains(&uid);
    for step in steps {
        let entry = fs::symlink_metadata(step).map_err(|_| SocketPathError::Missing(shown()))?;
        if let Some((directory, above)) = &above
            && !(is_trusted(above.uid()) && is_entry_protected(above, is_trusted(entry.uid())))
        {
            return Err(SocketPathError::Exposed { socket: shown(), directory: directory.display().to_string() });
        }
        above = Some((step, entry));
    }
    match above {
        Some((_, socket)) if socket.file_type().is_socket() && socket.uid() == own => Ok(real),
        _ => Err(SocketPathError::NotOwnSocket(shown())),
    }
}

/// Whether only a directory's owner can replace one of its entries.
fn is_entry_protected(directory: &Metadata, entry_is_trusted: bool) -> bool {
    let mode = directory.mode();
    directory.is_dir() && (mode & WRITABLE_BY_OTHERS == 0 || mode & STICKY != 0 && entry_is_trusted)
}
