//! Finds the files that a call would delete or overwrite, and that git does not have. It only looks at the disk.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use snell_guard::{FileLoss, FileNamePattern, LossKind, LossScope};

use super::budget::{BackupBudget, MAX_FILES};
use super::file_copy::ContentFate;
use super::generated_dirs::{GeneratedKind, classify_directory};
use super::git_files::GitFiles;
use super::manifest::{ByteFaithfulPath, UnsavedFile, UnsavedReason};

/// Stands for all files that were not looked at.
const FURTHER_FILES: &str = "…";

/// The entries of a repository that hold its stashes.
const STASH_FILES: &[&str] = &["refs/stash", "logs/refs/stash"];

/// A file that a call would delete or overwrite.
#[derive(Clone, Debug)]
pub(super) struct LostFile {
    pub(super) metadata: Metadata,
    pub(super) fate: ContentFate,
    pub(super) rank: LossRank,
}

/// Which files are saved first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LossRank {
    /// The call names it.
    Named,
    /// It is below a directory that the call names.
    Below,
    /// It can probably be made again.
    Generated,
}

/// The files that a call would delete or overwrite.
#[derive(Debug, Default)]
pub(super) struct LostFiles {
    pub(super) files: BTreeMap<PathBuf, LostFile>,
    pub(super) unsaved: Vec<UnsavedFile>,
}

/// Looks for lost files of one project.
#[derive(Debug)]
pub(super) struct LossSearch<'a> {
    /// The project, with symlinks resolved.
    project: &'a Path,
    /// Snell's own directory, which is never saved.
    data: &'a Path,
    budget: &'a BackupBudget,
    git: GitFiles,
    found: LostFiles,
    /// How many names it has seen.
    looked_at: usize,
    /// Of the gravest file that was not looked at.
    cut_short: Option<LossRank>,
}

/// A directory that is still to be searched.
#[derive(Debug)]
struct OpenDirectory {
    path: PathBuf,
    rank: LossRank,
}

impl<'a> LossSearch<'a> {
    pub(super) fn new(project: &'a Path, data: &'a Path, budget: &'a BackupBudget) -> Self {
        let (git, found) = (GitFiles::default(), LostFiles::default());
        Self { project, data, budget, git, found, looked_at: 0, cut_short: None }
    }

    /// Finds the files.
    pub(super) fn find(mut self, losses: &[FileLoss]) -> LostFiles {
        for loss in losses.iter().filter(|loss| loss.recursive && loss.only.is_none()) {
            if let LossScope::Path(path) = &loss.scope {
                let path = locate_entry(Path::new(path));
                path.iter().for_each(|path| self.git.add_doomed(path));
            }
        }
        for loss in losses {
            match &loss.scope {
                LossScope::Path(path) => self.add_path(Path::new(path), loss),
                LossScope::Pattern { directory, names } => self.add_matches(Path::new(directory), names, loss),
                LossScope::GitTree { directory, operands } => self.add_git_files(Path::new(directory), operands, loss),
                LossScope::Unknown(written) => self.add_unsaved(Path::new(written), UnsavedReason::UnknownPath),
            }
        }
        match self.cut_short {
            Some(LossRank::Generated) => self.add_unsaved(Path::new(FURTHER_FILES), UnsavedReason::Generated),
            Some(_) => self.add_unsaved(Path::new(FURTHER_FILES), UnsavedReason::TooMany),
            None => {}
        }
        self.drop_needless_directories();
        self.found
    }

    fn add_unsaved(&mut self, path: &Path, reason: UnsavedReason) {
        let below = path.strip_prefix(self.project).unwrap_or(path);
        let path = if below.as_os_str().is_empty() { Path::new(FURTHER_FILES) } else { below };
        self.found.unsaved.push(UnsavedFile { path: ByteFaithfulPath::from(path), reason });
    }

    fn add_path(&mut self, path: &Path, loss: &FileLoss) {
        let fate = find_fate(loss.kind);
        let real = match loss.kind {
            // The symlink itself is removed, but writing follows it.
            LossKind::Deleted | LossKind::Removed => locate_entry(path),
            _ => fs::canonicalize(path).ok(),
        };
        let Some(real) = real else {
            return;
        };
        // A directory around the project takes all of it away.
        let real = if self.project.starts_with(&real) { self.project.to_owned() } else { real };
        match fs::symlink_metadata(&real) {
            Ok(metadata) if metadata.is_dir() && loss.recursive => {
                let rank = match classify_directory(&real) {
                    GeneratedKind::Always => return,
                    GeneratedKind::Usually => LossRank::Generated,
                    GeneratedKind::No => LossRank::Below,
                };
                if loss.only.is_none() {
                    self.git.add_doomed(&real);
                }
                self.walk(OpenDirectory { path: real, rank }, loss);
            }
            Ok(metadata) if !metadata.is_dir() => self.consider(real, metadata, fate, LossRank::Named),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(_) => self.add_unsaved(&real, UnsavedReason::Unreadable),
        }
    }

    /// Adds the files whose names match, level by level.
    fn add_matches(&mut self, directory: &Path, names: &[FileNamePattern], loss: &FileLoss) {
        let Some((name, rest)) = names.split_first() else {
            return self.add_path(directory, loss);
        };
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            if self.has_enough(LossRank::Below) {
                return;
            }
            let is_directory = || entry.file_type().is_ok_and(|kind| kind.is_dir());
            if !name.matches(entry.file_name().as_bytes()) || (!rest.is_empty() && !is_directory()) {
                continue;
            }
            self.add_matches(&entry.path(), rest, loss);
        }
    }

    fn add_git_files(&mut self, directory: &Path, operands: &[String], loss: &FileLoss) {
        let Some(directory) = fs::canonicalize(directory).ok() else {
            return;
        };
        let Some(tree) = self.git.find_work_tree(&directory) else {
            return;
        };
        let named: Vec<PathBuf> = operands.iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
        match loss.kind {
            LossKind::TrackedChanges => {
                let roots = if named.is_empty() { vec![tree.root.clone()] } else { named };
                roots.iter().for_each(|root| self.add_tracked_changes(root));
            }
            LossKind::UntrackedFiles => {
                let roots = if named.is_empty() { vec![directory] } else { named };
                for path in roots {
                    self.walk(OpenDirectory { path, rank: LossRank::Below }, loss);
                }
            }
            LossKind::Stashes => {
                for name in STASH_FILES {
                    let path = tree.git_dir.join(name);
                    if let Ok(metadata) = fs::symlink_metadata(&path) {
                        self.consider(path, metadata, ContentFate::Changes, LossRank::Named);
                    }
                }
            }
            LossKind::Deleted | LossKind::Removed | LossKind::Overwritten => {}
        }
    }

    /// Adds the files at or below a path that git has in another state.
    fn add_tracked_changes(&mut self, root: &Path) {
        let directory = if root.is_dir() { root } else { root.parent().unwrap_or(root) };
        let Some(tree) = self.git.find_work_tree(directory) else {
            return;
        };
        let (Some(index), Ok(below)) = (&tree.index, root.strip_prefix(&tree.root)) else {
            return self.add_unsaved(root, UnsavedReason::TooLarge);
        };
        for (name, _) in index.entries_below(below.as_os_str().as_bytes()) {
            if self.has_enough(LossRank::Below) {
                return;
            }
            let path = tree.root.join(Path::new(std::ffi::OsStr::from_bytes(name)));
            if let Ok(metadata) = fs::symlink_metadata(&path)
                && !metadata.is_dir()
            {
                self.consider(path, metadata, ContentFate::Changes, LossRank::Below);
            }
        }
    }

    /// Whether there is no time or no room for further files. Then it notes what is left out.
    fn has_enough(&mut self, rank: LossRank) -> bool {
        let found = self.found.files.len();
        let is_over = found >= MAX_FILES || self.budget.is_search_over(found, self.looked_at);
        self.looked_at += 1;
        if is_over {
            self.cut_short = Some(self.cut_short.map_or(rank, |earlier| earlier.min(rank)));
        }
        is_over
    }

    /// Adds everything below a directory. Directories that can probably be made again come last.
    fn walk(&mut self, start: OpenDirectory, loss: &FileLoss) {
        let mut open = vec![start];
        let mut later = Vec::new();
        while let Some(directory) = open.pop().or_else(|| later.pop()) {
            if self.has_enough(directory.rank) {
                return;
            }
            for inner in self.walk_directory(directory, loss) {
                let rows = if inner.rank == LossRank::Generated { &mut later } else { &mut open };
                rows.push(inner);
            }
        }
    }

    /// Adds the files of a directory. Returns the directories in it.
    fn walk_directory(&mut self, directory: OpenDirectory, loss: &FileLoss) -> Vec<OpenDirectory> {
        let OpenDirectory { path: parent, rank } = directory;
        let fate = find_fate(loss.kind);
        let mut inner = Vec::new();
        if parent.starts_with(self.data) || !parent.starts_with(self.project) {
            return inner;
        }
        let (Ok(metadata), Ok(entries)) = (fs::symlink_metadata(&parent), fs::read_dir(&parent)) else {
            self.add_unsaved(&parent, UnsavedReason::Unreadable);
            return inner;
        };
        if parent != self.project {
            self.found.files.entry(parent).or_insert(LostFile { metadata, fate, rank });
        }
        for entry in entries.flatten() {
            if self.has_enough(rank) {
                break;
            }
            let (path, name) = (entry.path(), entry.file_name());
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => inner.extend(open_inner_directory(path, rank, loss)),
                Ok(metadata) if loss.only.as_ref().is_none_or(|only| only.matches(name.as_bytes())) => {
                    self.consider(path, metadata, fate, rank);
                }
                _ => {}
            }
        }
        inner
    }

    /// Adds a file that is no directory, if it is in the project and git does not have it.
    fn consider(&mut self, path: PathBuf, metadata: Metadata, fate: ContentFate, rank: LossRank) {
        if !path.starts_with(self.project) || path.starts_with(self.data) || self.git.has_unchanged(&path, &metadata) {
            return;
        }
        if !metadata.is_file() && !metadata.is_symlink() {
            return self.add_unsaved(&path, UnsavedReason::NotRegular);
        }
        let entry = self.found.files.entry(path).or_insert(LostFile { metadata, fate, rank });
        entry.rank = entry.rank.min(rank);
        if fate == ContentFate::Changes {
            entry.fate = fate;
        }
    }

    /// Keeps a directory only if a saved file is in it, or if it is empty.
    fn drop_needless_directories(&mut self) {
        let mut needed: Option<PathBuf> = None;
        let mut dropped = Vec::new();
        // In this order, the contents of a directory come after it.
        for (path, file) in self.found.files.iter().rev() {
            if !file.metadata.is_dir() {
                needed = Some(path.clone());
                continue;
            }
            let holds_needed = needed.as_ref().is_some_and(|needed| needed.starts_with(path));
            if holds_needed || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none()) {
                needed = Some(path.clone());
            } else {
                dropped.push(path.clone());
            }
        }
        for path in dropped {
            self.found.files.remove(&path);
        }
    }
}

/// A directory that is searched too. Git removes no repositories.
fn open_inner_directory(path: PathBuf, rank: LossRank, loss: &FileLoss) -> Option<OpenDirectory> {
    let is_git_clean = loss.kind == LossKind::UntrackedFiles;
    let is_git_dir = path.ends_with(".git");
    if is_git_dir && (is_git_clean || loss.only.is_some()) || is_git_clean && path.join(".git").exists() {
        return None;
    }
    match classify_directory(&path) {
        GeneratedKind::Always => None,
        GeneratedKind::Usually => Some(OpenDirectory { path, rank: LossRank::Generated }),
        GeneratedKind::No => Some(OpenDirectory { path, rank }),
    }
}

fn find_fate(kind: LossKind) -> ContentFate {
    match kind {
        LossKind::Deleted | LossKind::UntrackedFiles => ContentFate::Stays,
        LossKind::Removed | LossKind::Overwritten | LossKind::TrackedChanges | LossKind::Stashes => {
            ContentFate::Changes
        }
    }
}

/// The path of a directory entry, with symlinks resolved up to its directory.
fn locate_entry(path: &Path) -> Option<PathBuf> {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Some(fs::canonicalize(parent).ok()?.join(name)),
        _ => Some(path.to_owned()),
    }
}
