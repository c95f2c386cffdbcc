//! Directories of a project that are opened name by name, so that no symlink leads out of it.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use rustix::io::Errno;

/// How a directory is opened.
const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);

/// The reaction to a missing directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MissingDirectory {
    IsCreated,
    StaysMissing,
}

/// Why a directory cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DirectoryFault {
    Missing,
    /// A clause with the reason.
    Refused(String),
}

/// A directory that no symlink led to.
#[derive(Debug)]
pub(super) struct ProjectDir {
    fd: OwnedFd,
}

impl ProjectDir {
    /// Opens the directory with this absolute path, which had no symlinks when the files were saved.
    pub(super) fn open(path: &Path, missing: MissingDirectory) -> Result<Self, DirectoryFault> {
        let root = openat(CWD, "/", DIRECTORY, Mode::empty()).map_err(|errno| describe_fault(Path::new("/"), errno))?;
        Self { fd: root }.open_below(path.strip_prefix("/").unwrap_or(path), missing)
    }

    /// Opens a directory below this one.
    pub(super) fn open_below(&self, path: &Path, missing: MissingDirectory) -> Result<Self, DirectoryFault> {
        let fault = |errno| describe_fault(path, errno);
        let mut fd = self.fd.try_clone().map_err(|error| DirectoryFault::Refused(error.to_string()))?;
        for component in path.components() {
            let Component::Normal(name) = component else {
                return Err(DirectoryFault::Refused(format!("its path is not plain: {}", path.display())));
            };
            let next = match openat(&fd, name, DIRECTORY, Mode::empty()) {
                Err(Errno::NOENT) if missing == MissingDirectory::IsCreated => {
                    mkdirat(&fd, name, Mode::RWXU | Mode::RGRP | Mode::XGRP | Mode::ROTH | Mode::XOTH)
                        .or_else(|errno| if errno == Errno::EXIST { Ok(()) } else { Err(errno) })
                        .and_then(|()| openat(&fd, name, DIRECTORY, Mode::empty()))
                }
                opened => opened,
            };
            fd = next.map_err(fault)?;
        }
        Ok(Self { fd })
    }

    pub(super) fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    /// The directory as a file, for its metadata.
    pub(super) fn into_file(self) -> File {
        File::from(self.fd)
    }
}

fn describe_fault(path: &Path, errno: Errno) -> DirectoryFault {
    match errno {
        Errno::NOENT => DirectoryFault::Missing,
        Errno::LOOP | Errno::NOTDIR => {
            DirectoryFault::Refused(format!("a directory on its path is now a symlink or a file: {}", path.display()))
        }
        other => DirectoryFault::Refused(format!("cannot open {}: {other}", path.display())),
    }
}
