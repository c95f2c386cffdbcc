//! Compares what a call's text tells with the disk: symlinks, files that patterns match, and which files git has.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use super::places::{
    AccessKind, PlaceAccess, check_place, is_generated, is_in_reach, is_private_name, is_source_pattern,
};
use super::table::words;
use crate::file_system::{FileKind, FileStatus, FileSystem};
use crate::git_index::{FileTime, GitIndex, MAX_INDEX_BYTES};
use crate::git_repository::find_git_dir;
use crate::invocation::SymbolicText;
use crate::judge::context::JudgeContext;
use crate::paths::{PathClass, locate_path, matches_glob};

/// How many entries of directories are compared with the patterns of one call.
const MAX_ENTRIES: usize = 4_000;

/// Larger settings of git are not read.
const MAX_CONFIG_BYTES: u64 = 65_536;

/// The disk on which an approved call would run.
pub(crate) struct ApprovalDisk<'a> {
    pub(crate) file_system: &'a dyn FileSystem,
    /// With real paths.
    pub(crate) context: &'a JudgeContext,
    /// The real path, if a path leads through symlinks.
    pub(crate) resolve: &'a dyn Fn(&str) -> Option<String>,
    repository: OnceCell<Option<TrackedFiles>>,
    left: std::cell::Cell<usize>,
}

/// The files that git has.
struct TrackedFiles {
    root: PathBuf,
    index: GitIndex,
    written: FileTime,
}

impl<'a> ApprovalDisk<'a> {
    pub(crate) fn new(
        file_system: &'a dyn FileSystem,
        context: &'a JudgeContext,
        resolve: &'a dyn Fn(&str) -> Option<String>,
    ) -> Self {
        Self { file_system, context, resolve, repository: OnceCell::new(), left: std::cell::Cell::new(MAX_ENTRIES) }
    }

    /// Whether the disk is as the text tells.
    pub(crate) fn confirms(&self, access: &PlaceAccess) -> bool {
        let real = (self.resolve)(&access.path);
        let path = match &real {
            None => access.path.as_str(),
            Some(real) => {
                let place = locate_path(&SymbolicText::from_text(real.clone()), None, self.context);
                let is_link_changed = access.kind.is_change() && self.is_link(&access.path);
                let is_same = check_place(&place, access.kind, self.context).is_some();
                if !is_same || is_link_changed || !is_in_reach(real, self.context) {
                    return false;
                }
                real.as_str()
            }
        };
        if !access.pattern.is_empty() {
            let names: Vec<&str> = access.pattern.split('/').collect();
            return self.has_plain_matches(Path::new(path), &names, access.kind);
        }
        match access.kind {
            AccessKind::Read | AccessKind::Found | AccessKind::List => true,
            AccessKind::Code => !self.has_bare_repository(path),
            AccessKind::Contents if !self.is_directory(Path::new(path)) => true,
            AccessKind::Contents | AccessKind::Tree => {
                self.has_plain_matches(Path::new(path), &["**"], AccessKind::Tree)
            }
            AccessKind::Search => self.has_no_secrets(Path::new(path)),
            AccessKind::Exist => self.file_system.metadata(Path::new(path)).is_ok(),
            AccessKind::Absent => self.file_system.symlink_metadata(Path::new(path)).is_err(),
            AccessKind::Modules => self.has_no_modules(Path::new(path)),
            AccessKind::Make => true,
            AccessKind::Mode => self.is_single_file(path),
            AccessKind::Edit => self.may_change(path, TrackedFiles::contains),
            AccessKind::Overwrite | AccessKind::Delete => self.may_change(path, TrackedFiles::has_same),
            AccessKind::DeleteTree => self.has_no_own_files(path),
            AccessKind::Run => {
                let file = self.file_system.metadata(Path::new(path));
                file.is_ok_and(|status| self.is_in_git(path, status, TrackedFiles::has_same))
            }
        }
    }

    /// Whether git would take a directory from here to the project for a repository without a work tree. Its configuration may
    /// run programs, and may come with the project's files.
    fn has_bare_repository(&self, path: &str) -> bool {
        let is_there = |path: PathBuf| self.file_system.metadata(&path).is_ok();
        let project = Path::new(&self.context.project);
        let mut directories = Path::new(path).ancestors().take_while(|directory| directory.starts_with(project));
        directories.any(|directory| is_there(directory.join("HEAD")) && is_there(directory.join("objects")))
    }

    fn is_link(&self, path: &str) -> bool {
        self.file_system.read_link(Path::new(path)).is_ok()
    }

    /// Whether a path is a regular file without another name.
    fn is_single_file(&self, path: &str) -> bool {
        let status = self.file_system.symlink_metadata(Path::new(path));
        status.is_ok_and(|status| status.kind == FileKind::Regular && status.hard_links == 1)
    }

    /// Whether a file is new, generated or temporary, or git has it.
    fn may_change(&self, path: &str, is_kept: impl Fn(&TrackedFiles, &str, FileStatus, FileTime) -> bool) -> bool {
        let status = match self.file_system.symlink_metadata(Path::new(path)) {
            Ok(status) => status,
            Err(error) => return error.kind() == std::io::ErrorKind::NotFound,
        };
        if status.kind != FileKind::Regular || status.hard_links > 1 {
            return false;
        }
        let place = locate_path(&SymbolicText::from_text(path), None, self.context);
        let is_project = crate::paths::is_within_directory(path, &self.context.project);
        let is_temporary = !is_project && place.classes.contains(PathClass::Temp);
        is_temporary || self.is_untracked_output(path) || self.is_in_git(path, status, is_kept)
    }

    /// Whether a file is below a directory of generated files in which git has nothing.
    fn is_untracked_output(&self, path: &str) -> bool {
        let mut above = Path::new(path).ancestors().skip(1);
        above.any(|directory| {
            let directory = directory.to_string_lossy();
            is_generated(&format!("{directory}/x"), self.context) && self.has_no_own_files(&directory)
        })
    }

    /// Whether git has nothing below a directory, or it does not exist.
    fn has_no_own_files(&self, path: &str) -> bool {
        match self.file_system.symlink_metadata(Path::new(path)) {
            Ok(status) if status.kind == FileKind::Directory => {}
            Ok(_) => return false,
            Err(error) => return error.kind() == std::io::ErrorKind::NotFound,
        }
        let repository = self.repository.get_or_init(|| self.read_repository(path));
        let files = repository.as_ref().and_then(|files| Some((files, files.name(path)?)));
        files.is_some_and(|(files, name)| !files.index.contains_below(name.as_os_str().as_encoded_bytes()))
    }

    fn is_in_git(
        &self,
        path: &str,
        status: FileStatus,
        is_kept: impl Fn(&TrackedFiles, &str, FileStatus, FileTime) -> bool,
    ) -> bool {
        let repository = self.repository.get_or_init(|| self.read_repository(path));
        let modified = self.file_system.modified(Path::new(path));
        repository.as_ref().zip(modified.ok()).is_some_and(|(files, modified)| is_kept(files, path, status, modified))
    }

    fn read_repository(&self, path: &str) -> Option<TrackedFiles> {
        let (root, git_dir) = find_git_dir(Path::new(path).parent()?, self.file_system)?;
        let file = git_dir.join("index");
        let bytes = self.file_system.read_bytes(&file, MAX_INDEX_BYTES as u64).ok()?;
        Some(TrackedFiles { root, index: GitIndex::read(&bytes)?, written: self.file_system.modified(&file).ok()? })
    }

    /// Whether no file that a pattern matches is a symlink, or is shown and holds secrets.
    fn has_plain_matches(&self, directory: &Path, names: &[&str], kind: AccessKind) -> bool {
        let Some((pattern, below)) = names.split_first() else { return true };
        let left = self.left.get();
        let entries = self.file_system.list_directory(directory, left + 1);
        if entries.len() > left {
            return false;
        }
        self.left.set(left - entries.len());
        let is_any = pattern.contains("**");
        let wanted = match below {
            [name] if *pattern == "**" => name,
            _ => pattern,
        };
        entries.iter().all(|entry| {
            let name = entry.file_name().unwrap_or_default().to_string_lossy();
            // No other repository makes the files of git.
            let is_git = name == ".git" && is_source_pattern(wanted);
            let is_hidden = !matches!(kind, AccessKind::Tree | AccessKind::Found)
                && name.starts_with('.')
                && !pattern.starts_with('.');
            let is_generated = kind == AccessKind::Found && words::files::GENERATED.contains(&&*name);
            if is_git || is_hidden || is_generated {
                return true;
            }
            // Brackets may match any sign.
            let may_match = wanted.contains("**") || wanted.contains('[') || matches_glob(&name, wanted);
            let is_link = self.file_system.read_link(entry).is_ok();
            // `find` does not follow symlinks, a shell does.
            if is_link && kind == AccessKind::Found {
                return true;
            }
            if is_link && (may_match || is_any && kind != AccessKind::Tree) {
                return false;
            }
            if may_match && kind != AccessKind::List && self.is_secret(entry) {
                return false;
            }
            let rest = if is_any { names } else { below };
            is_link
                || !may_match && !is_any
                || rest.is_empty()
                || !self.is_directory(entry)
                || self.has_plain_matches(entry, rest, kind)
        })
    }

    fn is_directory(&self, path: &Path) -> bool {
        self.file_system.symlink_metadata(path).is_ok_and(|status| status.kind == FileKind::Directory)
    }

    /// Whether nothing in this directory has the name of a module of Python.
    fn has_no_modules(&self, directory: &Path) -> bool {
        let entries = self.file_system.list_directory(directory, MAX_ENTRIES + 1);
        let is_module = |entry: &PathBuf| {
            let name = entry.file_name().unwrap_or_default().to_string_lossy();
            words::python::STANDARD_MODULES.contains(&name.split('.').next().unwrap_or_default())
        };
        entries.len() <= MAX_ENTRIES && !entries.iter().any(is_module)
    }

    /// Whether no file of secrets is below this directory, besides generated ones. Git's own files are searched, too.
    fn has_no_secrets(&self, directory: &Path) -> bool {
        let left = self.left.get();
        let entries = self.file_system.list_directory(directory, left + 1);
        if entries.len() > left || self.has_secret_setting(directory) {
            return false;
        }
        self.left.set(left - entries.len());
        entries.iter().all(|entry| {
            let name = entry.file_name().unwrap_or_default().to_string_lossy();
            let is_skipped = name == ".git" || words::files::GENERATED.contains(&&*name);
            is_skipped || !self.is_secret(entry) && (!self.is_directory(entry) || self.has_no_secrets(entry))
        })
    }

    /// Whether git's settings hold a token: in an address, or in a header.
    fn has_secret_setting(&self, directory: &Path) -> bool {
        let text = self.file_system.read_text(&directory.join(".git/config"), MAX_CONFIG_BYTES).unwrap_or_default();
        text.to_lowercase().lines().any(|line| {
            let has_name = line
                .split_once("://")
                .is_some_and(|(_, rest)| rest.split('/').next().unwrap_or_default().contains('@'));
            has_name || line.contains("extraheader") || line.contains("password") || line.contains("token")
        })
    }

    fn is_secret(&self, path: &Path) -> bool {
        let value = SymbolicText::from_text(path.to_string_lossy());
        let is_private = path.file_name().is_some_and(|name| is_private_name(&name.to_string_lossy()));
        is_private || locate_path(&value, None, self.context).classes.contains(PathClass::Secret)
    }
}

impl TrackedFiles {
    fn name<'p>(&self, path: &'p str) -> Option<&'p Path> {
        Path::new(path).strip_prefix(&self.root).ok()
    }

    /// Whether git has a version of the file.
    fn contains(&self, path: &str, _: FileStatus, _: FileTime) -> bool {
        self.name(path).is_some_and(|name| self.index.contains(name.as_os_str().as_encoded_bytes()))
    }

    /// Whether git has the file as it is.
    fn has_same(&self, path: &str, status: FileStatus, modified: FileTime) -> bool {
        let entry = self.name(path).and_then(|name| self.index.find(name.as_os_str().as_encoded_bytes()));
        entry.is_some_and(|entry| entry.is_unchanged(status.len, modified, self.written))
    }
}
