//! Restores the files of a backup.
//!
//! A missing file comes back. A file with other contents stays, unless the user insists; then its present contents become a
//! backup first. Every file is written beside its place and renamed, so that it is never seen half-written.

use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, Timespec, Timestamps, fchmod, fstat, futimens, openat, readlinkat, renameat,
    statat, symlinkat, unlinkat,
};
use rustix::io::Errno;
use serde::Serialize;
use snell::{FileAccess, RegularFile};

use super::file_copy::{clone_blocks, copy_bytes, have_same_contents};
use super::manifest::{BackupManifest, ByteFaithfulPath, CopyWay, SavedFile, SavedForm};
use super::project_dir::{DirectoryFault, MissingDirectory, ProjectDir};
use super::save::{BackedUpCall, save_present_files};
use super::store::{BackupStore, StoredBackup};

/// How far a restoration may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RestoreMode {
    /// Nothing is changed.
    DryRun,
    /// Nothing is changed, and the user would insist.
    ForcedDryRun,
    /// Files with other contents stay.
    Careful,
    /// Files with other contents are saved and replaced.
    Forced,
}

impl RestoreMode {
    fn replaces(self) -> bool {
        matches!(self, Self::Forced | Self::ForcedDryRun)
    }

    /// Whether nothing is changed.
    pub(crate) fn is_dry(self) -> bool {
        matches!(self, Self::DryRun | Self::ForcedDryRun)
    }
}

/// The outcome for a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "status", content = "why", rename_all = "lowercase")]
pub(crate) enum RestoreStatus {
    /// It was missing, and is there again.
    Restored,
    /// It had other contents, which are saved now.
    Replaced,
    /// It is as it was saved.
    Unchanged,
    /// It has other contents, and stays.
    Differs,
    /// Snell does not touch it, for this reason.
    Refused(String),
}

/// A file of a restoration.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RestoredFile {
    pub(crate) path: ByteFaithfulPath,
    /// Directories do not count as files.
    #[serde(skip)]
    pub(crate) is_directory: bool,
    #[serde(flatten)]
    pub(crate) status: RestoreStatus,
}

/// The result of a restoration.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RestoreReport {
    pub(crate) files: Vec<RestoredFile>,
    /// The backup of the contents that were replaced.
    pub(crate) saved_as: Option<String>,
}

/// Restores the selected files of a backup.
pub(crate) fn restore_backup(
    store: &BackupStore,
    backup: &StoredBackup,
    (manifest, selected): (&BackupManifest, &dyn Fn(&Path) -> bool),
    mode: RestoreMode,
    call: BackedUpCall,
) -> anyhow::Result<RestoreReport> {
    let project = manifest.project.as_path();
    let restorer = FileRestorer { backup, project, mode };
    let files: Vec<&SavedFile> = manifest.files.iter().filter(|file| selected(file.path.as_path())).collect();
    let states: Vec<FileState> = files.iter().map(|file| restorer.inspect(file)).collect();
    let differing: Vec<PathBuf> = files
        .iter()
        .zip(&states)
        .filter(|(_, state)| **state == FileState::Differs)
        .map(|(file, _)| project.join(file.path.as_path()))
        .collect();
    let mut saved_as = None;
    if mode == RestoreMode::Forced && !differing.is_empty() {
        let saved = save_present_files(store, project, &differing, call);
        saved_as = Some(saved.map_err(|unsaved| {
            anyhow::anyhow!("cannot save the present contents of {} first: {}", unsaved.path, unsaved.reason.describe())
        })?);
    }
    let mut report = RestoreReport { files: Vec::new(), saved_as };
    for (file, state) in files.iter().zip(&states) {
        let status = restorer.restore(file, state);
        let is_directory = matches!(file.form, SavedForm::Directory);
        report.files.push(RestoredFile { path: file.path.clone(), is_directory, status });
    }
    // Files in a directory change its time, and its mode may forbid them.
    for (file, state) in files.iter().zip(&states).rev() {
        if *state == FileState::Missing && !mode.is_dry() && matches!(file.form, SavedForm::Directory) {
            restorer.finish_directory(file);
        }
    }
    Ok(report)
}

/// A saved file compared with what is at its place now.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FileState {
    Missing,
    Same,
    Differs,
    Refused(String),
}

impl From<DirectoryFault> for FileState {
    fn from(fault: DirectoryFault) -> Self {
        match fault {
            DirectoryFault::Missing => Self::Missing,
            DirectoryFault::Refused(why) => Self::Refused(why),
        }
    }
}

struct FileRestorer<'a> {
    backup: &'a StoredBackup,
    project: &'a Path,
    mode: RestoreMode,
}

impl FileRestorer<'_> {
    fn inspect(&self, file: &SavedFile) -> FileState {
        let path = file.path.as_path();
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return FileState::Refused("its path is not plain".to_owned());
        };
        let content = match self.open_content(file) {
            Ok(content) => content,
            Err(why) => return FileState::Refused(why),
        };
        let directory = match self.open_directory(parent, MissingDirectory::StaysMissing) {
            Ok(directory) => directory,
            Err(fault) => return fault.into(),
        };
        let status = match statat(directory.fd(), name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(status) => status,
            Err(Errno::NOENT) => return FileState::Missing,
            Err(errno) => return FileState::Refused(errno.to_string()),
        };
        let is_same = match (FileType::from_raw_mode(status.st_mode), &file.form) {
            (FileType::Directory, SavedForm::Directory) => true,
            (FileType::Directory, _) => return FileState::Refused("a directory is there now".to_owned()),
            (FileType::Symlink, SavedForm::Symlink { target }) => readlinkat(directory.fd(), name, Vec::new())
                .is_ok_and(|link| link.as_bytes() == target.as_path().as_os_str().as_bytes()),
            (FileType::RegularFile, SavedForm::File { .. }) => {
                let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
                let present = openat(directory.fd(), name, flags, Mode::empty()).map(File::from);
                match (content, present) {
                    (Some(content), Ok(present)) => have_same_contents(content, present).unwrap_or(false),
                    _ => false,
                }
            }
            (FileType::RegularFile | FileType::Symlink, _) => false,
            _ => return FileState::Refused("a special file is there now".to_owned()),
        };
        if is_same { FileState::Same } else { FileState::Differs }
    }

    fn restore(&self, file: &SavedFile, state: &FileState) -> RestoreStatus {
        let done = match state {
            FileState::Same => return RestoreStatus::Unchanged,
            FileState::Refused(why) => return RestoreStatus::Refused(why.clone()),
            FileState::Differs if !self.mode.replaces() => return RestoreStatus::Differs,
            FileState::Differs => RestoreStatus::Replaced,
            FileState::Missing => RestoreStatus::Restored,
        };
        if self.mode.is_dry() {
            return done;
        }
        match self.write_file(file, &done) {
            Ok(()) => done,
            Err(why) => RestoreStatus::Refused(why),
        }
    }

    fn write_file(&self, file: &SavedFile, done: &RestoreStatus) -> Result<(), String> {
        let path = file.path.as_path();
        let fault = |fault| match fault {
            DirectoryFault::Missing => "its directory is missing".to_owned(),
            DirectoryFault::Refused(why) => why,
        };
        if matches!(file.form, SavedForm::Directory) {
            return self.open_directory(path, MissingDirectory::IsCreated).map(drop).map_err(fault);
        }
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err("its path is not plain".to_owned());
        };
        let directory = self.open_directory(parent, MissingDirectory::IsCreated).map_err(fault)?;
        let draft = format!(".snell-undo-{}", std::process::id());
        let _ = unlinkat(directory.fd(), &*draft, AtFlags::empty());
        let written = self.write_draft(file, &directory, &draft).and_then(|()| {
            let renamed = match done {
                RestoreStatus::Replaced => renameat(directory.fd(), &*draft, directory.fd(), name),
                _ => rename_to_missing(&directory, &draft, name.as_bytes()),
            };
            renamed.map_err(|errno| format!("cannot write it: {errno}"))
        });
        written.inspect_err(|_| {
            let _ = unlinkat(directory.fd(), &*draft, AtFlags::empty());
        })
    }

    /// Writes the file under another name.
    fn write_draft(&self, file: &SavedFile, directory: &ProjectDir, draft: &str) -> Result<(), String> {
        let describe = |errno: Errno| format!("cannot write it: {errno}");
        let times = to_timestamps(file);
        if let SavedForm::Symlink { target } = &file.form {
            symlinkat(target.as_path(), directory.fd(), draft).map_err(describe)?;
            // A symlink without its time is still the same symlink.
            let _ = rustix::fs::utimensat(directory.fd(), draft, &times, AtFlags::SYMLINK_NOFOLLOW);
            return Ok(());
        }
        let content = self.open_content(file)?.ok_or("its saved copy is missing")?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let target = openat(directory.fd(), draft, flags, Mode::RUSR | Mode::WUSR).map(File::from).map_err(describe)?;
        if !clone_blocks(&content, &target) {
            let size = content.metadata().map_err(|error| error.to_string())?.len();
            copy_bytes(&content, size, &target, &|| false).map_err(|reason| reason.describe().to_owned())?;
        }
        fchmod(&target, Mode::from_raw_mode(file.mode)).map_err(describe)?;
        futimens(&target, &times).map_err(describe)
    }

    fn open_directory(&self, path: &Path, missing: MissingDirectory) -> Result<ProjectDir, DirectoryFault> {
        ProjectDir::open(self.project, missing)?.open_below(path, missing)
    }

    /// The saved contents of a regular file, as they were when they were saved.
    fn open_content(&self, file: &SavedFile) -> Result<Option<File>, String> {
        let SavedForm::File { size, content, way } = &file.form else {
            return Ok(None);
        };
        let missing = || "its saved copy is missing".to_owned();
        let path = self.backup.content_path(content).ok_or_else(missing)?;
        let saved = RegularFile::open(&path, FileAccess::ReadNoFollow).map_err(|_| missing())?.into_file();
        let status = fstat(&saved).map_err(|_| missing())?;
        let modified = (status.st_mtime, u32::try_from(status.st_mtime_nsec).unwrap_or_default());
        let is_complete = u64::try_from(status.st_size).is_ok_and(|found| found == *size);
        if !is_complete || (*way == CopyWay::Link && modified != file.modified) {
            return Err("its saved copy was changed afterwards".to_owned());
        }
        Ok(Some(saved))
    }

    /// Gives a restored directory its mode and its time.
    fn finish_directory(&self, file: &SavedFile) {
        if let Ok(directory) = self.open_directory(file.path.as_path(), MissingDirectory::StaysMissing) {
            let directory = directory.into_file();
            // The files are more important than the directory's mode.
            let _ = fchmod(&directory, Mode::from_raw_mode(file.mode));
            let _ = futimens(&directory, &to_timestamps(file));
        }
    }
}

fn to_timestamps(file: &SavedFile) -> Timestamps {
    let (tv_sec, nanoseconds) = file.modified;
    let time = Timespec { tv_sec, tv_nsec: i64::from(nanoseconds) as _ };
    Timestamps { last_access: time, last_modification: time }
}

/// Renames a file unless its new name was taken meanwhile.
#[cfg(target_os = "linux")]
fn rename_to_missing(directory: &ProjectDir, draft: &str, name: &[u8]) -> Result<(), Errno> {
    let flags = rustix::fs::RenameFlags::NOREPLACE;
    match rustix::fs::renameat_with(directory.fd(), draft, directory.fd(), name, flags) {
        // Some file systems cannot do that at once.
        Err(Errno::INVAL) => renameat(directory.fd(), draft, directory.fd(), name),
        done => done,
    }
}

/// Renames a file.
#[cfg(not(target_os = "linux"))]
fn rename_to_missing(directory: &ProjectDir, draft: &str, name: &[u8]) -> Result<(), Errno> {
    renameat(directory.fd(), draft, directory.fd(), name)
}
