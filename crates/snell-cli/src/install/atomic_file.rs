//! Reads files, and replaces them atomically, unless another process changed them.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use snell::{FileAccess, RegularFile, is_file_kind_error, read_file, read_text_file, sync_directory};

use crate::output::CommandError;

/// A larger file is not a settings file.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Only this much of a script is read.
const MAX_SCRIPT_HEAD_BYTES: u64 = 64 * 1024;

/// A file at the time when it was read.
#[derive(Debug, Default)]
pub(crate) struct FileSnapshot {
    /// The given path.
    pub(crate) path: PathBuf,
    /// The path with symlinks resolved.
    real_path: PathBuf,
    pub(crate) text: Option<String>,
    mode: u32,
    owner: (u32, u32),
    pub(crate) link_count: u64,
}

/// The access mode of new files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileModePolicy {
    /// Only for this user.
    Private,
    /// As the user's umask allows.
    Usual,
    /// Readable and executable by all.
    Program,
    /// The mode of the earlier file.
    AsBefore(u32),
}

impl FileModePolicy {
    fn file_mode(self) -> u32 {
        match self {
            Self::Private => 0o600,
            Self::Usual => 0o666,
            Self::Program => 0o755,
            Self::AsBefore(mode) => mode,
        }
    }

    fn directory_mode(self) -> u32 {
        match self {
            Self::Private | Self::Program | Self::AsBefore(_) => 0o700,
            Self::Usual => 0o777,
        }
    }
}

impl FileSnapshot {
    /// Reads a file, which may be missing.
    pub(crate) fn load(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        let file = match RegularFile::open(path, FileAccess::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self { path: path.to_owned(), real_path: path.to_owned(), ..Self::default() });
            }
            Err(error) if is_file_kind_error(&error) && !path.exists() => {
                let target = fs::read_link(path).unwrap_or_default();
                let problem = format!("{shown} is a symlink to {}, which does not exist", target.display());
                return Err(CommandError::new(problem).with_hint("create that file, or remove the symlink").into());
            }
            Err(error) => return Err(error).with_context(|| format!("cannot use {shown}")),
        };
        let metadata = file.metadata().clone();
        ensure!(metadata.len() <= MAX_BYTES, "{shown} is too large to be a settings file ({} bytes)", metadata.len());
        let real_path = path.canonicalize().with_context(|| format!("cannot find {shown}"))?;
        let bytes = file.read_all(MAX_BYTES).with_context(|| format!("cannot read {shown}"))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]).into_owned();
            let (line, column) = super::jsonc::line_and_column(&valid, valid.len());
            CommandError::new(format!("{shown}:{line}:{column}: not UTF-8 text")).with_hint("save it as UTF-8")
        })?;
        Ok(Self {
            path: path.to_owned(),
            real_path,
            text: Some(text),
            mode: metadata.mode() & 0o7777,
            owner: (metadata.uid(), metadata.gid()),
            link_count: metadata.nlink(),
        })
    }

    pub(crate) fn exists(&self) -> bool {
        self.text.is_some()
    }

    /// Its mode, if it exists.
    pub(crate) fn mode(&self) -> Option<u32> {
        self.exists().then_some(self.mode)
    }

    /// Whether the path is a symlink.
    pub(crate) fn is_link(&self) -> bool {
        fs::symlink_metadata(&self.path).is_ok_and(|metadata| metadata.is_symlink())
    }

    /// The directories that must be created for it, the outermost first.
    pub(crate) fn missing_directories(&self) -> Vec<PathBuf> {
        missing_directories(self.real_path.parent().unwrap_or(Path::new("/")))
    }

    /// Replaces the content atomically: readers see all of the old text or all of the new. An existing file keeps its owner and
    /// mode.
    pub(crate) fn replace(&self, text: &str, access: FileModePolicy) -> anyhow::Result<()> {
        let shown = self.path.display().to_string();
        if self.exists() && self.mode & 0o200 == 0 {
            let hint = format!("if that is not intended, run: chmod u+w '{shown}'");
            return Err(CommandError::new(format!("{shown} is read-only")).with_hint(hint).into());
        }
        let directory = self.real_path.parent().unwrap_or(Path::new("/"));
        let made =
            make_directories(directory, access).with_context(|| format!("cannot create {}", directory.display()))?;
        let name = self.real_path.file_name().unwrap_or_default().to_string_lossy();
        let unfinished = self.real_path.with_file_name(format!(".{name}.snell-new"));
        let replaced = self
            .write_temp_file(&unfinished, text, access)
            .with_context(|| format!("cannot write to {}", directory.display()))
            .and_then(|()| self.ensure_unchanged())
            .and_then(|()| fs::rename(&unfinished, &self.real_path).with_context(|| format!("cannot replace {shown}")));
        if let Err(error) = replaced {
            // It does not exist if it could not be created.
            let _ = fs::remove_file(&unfinished);
            remove_directories(&made);
            return Err(error);
        }
        // The file is replaced. If this fails, a power cut may still undo it.
        let _ = sync_directory(directory);
        Ok(())
    }

    /// Removes it, unless another process changed it.
    pub(crate) fn remove(&self) -> anyhow::Result<()> {
        self.ensure_unchanged()?;
        fs::remove_file(&self.path).with_context(|| format!("cannot remove {}", self.path.display()))
    }

    /// A file at the path of the backup that is not a backup of this file.
    pub(crate) fn find_backup_conflict(&self) -> Option<PathBuf> {
        let path = backup_path(&self.path);
        let is_copy = read_text(&path) == self.text;
        (self.exists() && !is_copy && fs::symlink_metadata(&path).is_ok()).then_some(path)
    }

    /// Writes a backup beside the file, unless one exists. Returns its path if it was written.
    pub(crate) fn back_up(&self) -> anyhow::Result<Option<PathBuf>> {
        let Some(text) = &self.text else {
            return Ok(None);
        };
        let path = backup_path(&self.path);
        if fs::symlink_metadata(&path).is_ok() {
            return Ok(None);
        }
        let written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            self.set_owner_and_mode(&file, self.mode)?;
            file.sync_all()
        });
        if let Err(error) = written {
            let _ = fs::remove_file(&path);
            return Err(error).with_context(|| format!("cannot write the backup {}", path.display()));
        }
        Ok(Some(path))
    }

    fn write_temp_file(&self, unfinished: &Path, text: &str, access: FileModePolicy) -> io::Result<()> {
        match fs::remove_file(unfinished) {
            // Left by a process that was interrupted.
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let mode = if self.exists() { 0o600 } else { access.file_mode() };
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(unfinished)?;
        file.write_all(text.as_bytes())?;
        match (self.exists(), access) {
            (true, FileModePolicy::Private | FileModePolicy::Usual) => self.set_owner_and_mode(&file, self.mode)?,
            // A program must be executable by others too.
            (_, FileModePolicy::Program | FileModePolicy::AsBefore(_)) => {
                file.set_permissions(Permissions::from_mode(access.file_mode()))?
            }
            (false, _) => {}
        }
        file.sync_all()
    }

    /// Gives another file this file's owner, and a mode.
    fn set_owner_and_mode(&self, file: &File, mode: u32) -> io::Result<()> {
        let metadata = file.metadata()?;
        if metadata.uid() != self.owner.0 {
            fchown(file, Some(self.owner.0), Some(self.owner.1))?;
        } else if metadata.gid() != self.owner.1 {
            // The owner may not be a member of the file's group. Then the new file has the owner's group.
            let _ = fchown(file, None, Some(self.owner.1));
        }
        file.set_permissions(Permissions::from_mode(mode))
    }

    fn ensure_unchanged(&self) -> anyhow::Result<()> {
        let now = match read_file(&self.real_path, MAX_BYTES) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", self.path.display())),
        };
        let shown = self.path.display();
        if now.as_deref() != self.text.as_deref().map(str::as_bytes) {
            let problem = format!("another process changed {shown} just now, so Snell did not change it");
            return Err(CommandError::new(problem).with_hint("try again").into());
        }
        Ok(())
    }
}

/// The path of the backup.
pub(crate) fn backup_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".before-snell");
    name.into()
}

/// The text of a settings file or script; nothing if it cannot be read or is too large.
pub(crate) fn read_text(path: &Path) -> Option<String> {
    read_text_file(path, MAX_BYTES).ok()
}

/// The beginning of a script; nothing if it does not exist, and empty if it cannot be read.
pub(super) fn read_script_head(path: &Path) -> Option<String> {
    let file = RegularFile::open(path, FileAccess::Read);
    match file.and_then(|file| file.read_prefix(MAX_SCRIPT_HEAD_BYTES)) {
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(_) => Some(String::new()),
        Ok((bytes, _)) => Some(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

/// Creates a directory and those above it. Returns the new ones, the outermost first.
pub(super) fn make_directories(directory: &Path, access: FileModePolicy) -> io::Result<Vec<PathBuf>> {
    let missing = missing_directories(directory);
    for (index, path) in missing.iter().enumerate() {
        if let Err(error) = DirBuilder::new().mode(access.directory_mode()).create(path) {
            remove_directories(&missing[..index]);
            return Err(error);
        }
    }
    Ok(missing)
}

fn missing_directories(directory: &Path) -> Vec<PathBuf> {
    let missing = directory.ancestors().take_while(|path| fs::metadata(path).is_err());
    let mut missing: Vec<_> = missing.map(Path::to_owned).collect();
    missing.reverse();
    missing
}

/// Removes directories, the innermost first. One that is not empty stays.
pub(super) fn remove_directories(made: &[PathBuf]) {
    for directory in made.iter().rev() {
        let _ = fs::remove_dir(directory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_concurrent_change_is_not_overwritten() {
        type ConcurrentChange = fn(&Path);
        let cases: [(Option<&str>, ConcurrentChange); 4] = [
            (Some("{}"), |path| fs::write(path, "{ }").unwrap()),
            (Some("{}"), |path| fs::remove_file(path).unwrap()),
            (None, |path| fs::write(path, "{}").unwrap()),
            (Some(""), |path| fs::write(path, "{}").unwrap()),
        ];
        for (text, meanwhile) in cases {
            let root = tempfile::tempdir().unwrap();
            let path = root.path().join("settings.json");
            if let Some(text) = text {
                fs::write(&path, text).unwrap();
            }
            let seen = FileSnapshot::load(&path).unwrap();
            meanwhile(&path);
            let theirs = fs::read_to_string(&path).ok();
            for error in [seen.replace("ours", FileModePolicy::Private).unwrap_err(), seen.remove().unwrap_err()] {
                assert!(error.to_string().starts_with("another process changed "), "{error}");
            }
            assert_eq!(fs::read_to_string(&path).ok(), theirs);
            assert!(fs::read_dir(root.path()).unwrap().flatten().all(|entry| entry.path() == path));
        }
    }

    #[test]
    fn directories_are_made_and_taken_back_if_nothing_comes_of_it() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("a/b");
        assert_eq!(make_directories(&inner, FileModePolicy::Private).unwrap(), [root.path().join("a"), inner.clone()]);
        assert_eq!(fs::metadata(&inner).unwrap().mode() & 0o777, 0o700);
        fs::write(root.path().join("file"), "").unwrap();
        assert!(make_directories(&root.path().join("file/c/d"), FileModePolicy::Usual).is_err());
        fs::write(inner.join("kept"), "").unwrap();
        remove_directories(&[root.path().join("a"), inner.clone()]);
        assert!(inner.exists());
    }
}
