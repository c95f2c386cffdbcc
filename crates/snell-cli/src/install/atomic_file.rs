//! Files as they lie on disk: looked at, replaced in one step, and never if somebody else was faster.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use snell::{FileAccess, RegularFile, is_file_kind_error, read_file, read_text_file, sync_directory};

/// A larger file is no settings file.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// So much of a script is looked at.
const MAX_SCRIPT_HEAD_BYTES: u64 = 64 * 1024;

/// A file as it was seen.
#[derive(Debug, Default)]
pub(crate) struct FileSnapshot {
    /// As it was named.
    pub(crate) path: PathBuf,
    /// Where it really is, if links lead to it.
    real_path: PathBuf,
    pub(crate) text: Option<String>,
    mode: u32,
    owner: (u32, u32),
    pub(crate) link_count: u64,
}

/// Who may read what is made anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileModePolicy {
    /// Nobody else.
    Private,
    /// Whoever the user lets read new files.
    Usual,
    /// Whoever gets there, and they may run it.
    Program,
    /// Whoever could before.
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
    /// Looks at a file that need not be there.
    pub(crate) fn load(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        let file = match RegularFile::open(path, FileAccess::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self { path: path.to_owned(), real_path: path.to_owned(), ..Self::default() });
            }
            Err(error) if is_file_kind_error(&error) && !path.exists() => {
                let target = fs::read_link(path).unwrap_or_default();
                bail!("{shown} is a link to {}, which is not there; make it, or remove the link", target.display());
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
            anyhow::anyhow!("{shown}:{line}:{column}: is not UTF-8 text; save it as UTF-8")
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

    /// Who may do what with it, if it is there.
    pub(crate) fn mode(&self) -> Option<u32> {
        self.exists().then_some(self.mode)
    }

    /// Whether it is a link to a file elsewhere.
    pub(crate) fn is_link(&self) -> bool {
        fs::symlink_metadata(&self.path).is_ok_and(|metadata| metadata.is_symlink())
    }

    /// The directories that have to be made for it, the outermost first.
    pub(crate) fn missing_directories(&self) -> Vec<PathBuf> {
        missing_directories(self.real_path.parent().unwrap_or(Path::new("/")))
    }

    /// Puts this text in its place, in one step: whoever reads it sees all of the old or all of the new. A file that is
    /// there keeps its owner and its mode.
    pub(crate) fn replace(&self, text: &str, access: FileModePolicy) -> anyhow::Result<()> {
        let shown = self.path.display().to_string();
        ensure!(
            !self.exists() || self.mode & 0o200 != 0,
            "{shown} may not be written; if that is not on purpose, run: chmod u+w '{shown}'"
        );
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
            // It is not there if it could not even be made.
            let _ = fs::remove_file(&unfinished);
            remove_directories(&made);
            return Err(error);
        }
        // The file is in its place; that the directory says so after a power cut is as much as can be done.
        let _ = sync_directory(directory);
        Ok(())
    }

    /// Removes it, if nobody has changed it since.
    pub(crate) fn remove(&self) -> anyhow::Result<()> {
        self.ensure_unchanged()?;
        fs::remove_file(&self.path).with_context(|| format!("cannot remove {}", self.path.display()))
    }

    /// What is in the place of the copy, and is none of this file.
    pub(crate) fn find_backup_conflict(&self) -> Option<PathBuf> {
        let path = backup_path(&self.path);
        let is_copy = read_text(&path) == self.text;
        (self.exists() && !is_copy && fs::symlink_metadata(&path).is_ok()).then_some(path)
    }

    /// Keeps a copy of it beside it, unless something is there already. Answers where it is if it was made.
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
            return Err(error).with_context(|| format!("cannot write the copy {}", path.display()));
        }
        Ok(Some(path))
    }

    fn write_temp_file(&self, unfinished: &Path, text: &str, access: FileModePolicy) -> io::Result<()> {
        match fs::remove_file(unfinished) {
            // Left by somebody who did not get to the end.
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let mode = if self.exists() { 0o600 } else { access.file_mode() };
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(unfinished)?;
        file.write_all(text.as_bytes())?;
        match (self.exists(), access) {
            (true, FileModePolicy::Private | FileModePolicy::Usual) => self.set_owner_and_mode(&file, self.mode)?,
            // A program that others could not run would be none.
            (_, FileModePolicy::Program | FileModePolicy::AsBefore(_)) => {
                file.set_permissions(Permissions::from_mode(access.file_mode()))?
            }
            (false, _) => {}
        }
        file.sync_all()
    }

    /// Gives a file this one's owner, and a mode.
    fn set_owner_and_mode(&self, file: &File, mode: u32) -> io::Result<()> {
        let metadata = file.metadata()?;
        if metadata.uid() != self.owner.0 {
            fchown(file, Some(self.owner.0), Some(self.owner.1))?;
        } else if metadata.gid() != self.owner.1 {
            // A file may belong to a group that its owner is not in. Then the new one cannot, and is the owner's all the same.
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
        ensure!(
            now.as_deref() == self.text.as_deref().map(str::as_bytes),
            "{shown} was changed by somebody else just now, so it is left as it is; try again"
        );
        Ok(())
    }
}

/// The copy of a file as it was before Snell.
pub(crate) fn backup_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".before-snell");
    name.into()
}

/// The text of a file that is small enough to be a settings file or a script; nothing if it cannot be read.
pub(crate) fn read_text(path: &Path) -> Option<String> {
    read_text_file(path, MAX_BYTES).ok()
}

/// How a script begins; nothing if it is not there. One that cannot be read says nothing that is known.
pub(super) fn read_script_head(path: &Path) -> Option<String> {
    let file = RegularFile::open(path, FileAccess::Read);
    match file.and_then(|file| file.read_prefix(MAX_SCRIPT_HEAD_BYTES)) {
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(_) => Some(String::new()),
        Ok((bytes, _)) => Some(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

/// Makes a directory and those above it; answers which had to be made, the outermost first.
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

/// Removes directories, the innermost first. One that is in use stays.
pub(super) fn remove_directories(made: &[PathBuf]) {
    for directory in made.iter().rev() {
        let _ = fs::remove_dir(directory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_was_faster_is_not_overwritten() {
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
                assert!(error.to_string().contains("try again"), "{error}");
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
