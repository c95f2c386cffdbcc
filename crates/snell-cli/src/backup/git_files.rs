//! Which files git has, by the indexes of the repositories that they are in.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use snell::{FileAccess, RegularFile, read_text_file};
use snell_guard::git_index::{FileTime, GitIndex};

/// Reading a larger index would take too long for a hook. Without an index, no file is known to git.
const MAX_INDEX_BYTES: u64 = 4 << 20;

/// A `.git` file holds one path.
const MAX_LINK_BYTES: u64 = 1 << 13;

/// The repositories of some files. Each index is read once.
#[derive(Debug, Default)]
pub(super) struct GitFiles {
    work_trees: HashMap<PathBuf, Option<Rc<GitWorkTree>>>,
    /// Directories that will be deleted, with the repositories in them.
    doomed: Vec<PathBuf>,
}

/// The working tree of a repository.
#[derive(Debug)]
pub(super) struct GitWorkTree {
    pub(super) root: PathBuf,
    pub(super) git_dir: PathBuf,
    pub(super) index: Option<GitIndex>,
    index_written: FileTime,
}

impl GitFiles {
    /// Notes that everything below a directory will be deleted.
    pub(super) fn add_doomed(&mut self, directory: &Path) {
        self.doomed.push(directory.to_owned());
    }

    /// The working tree that a directory is in.
    pub(super) fn find_work_tree(&mut self, directory: &Path) -> Option<Rc<GitWorkTree>> {
        if let Some(known) = self.work_trees.get(directory) {
            return known.clone();
        }
        let found = match GitWorkTree::at(directory) {
            Some(tree) => Some(Rc::new(tree)),
            None => directory.parent().and_then(|parent| self.find_work_tree(parent)),
        };
        self.work_trees.insert(directory.to_owned(), found.clone());
        found
    }

    /// Whether git has this file as it is, and keeps it.
    pub(super) fn has_unchanged(&mut self, file: &Path, metadata: &Metadata) -> bool {
        let Some(tree) = file.parent().and_then(|parent| self.find_work_tree(parent)) else {
            return false;
        };
        !self.doomed.iter().any(|doomed| tree.git_dir.starts_with(doomed)) && tree.has_unchanged(file, metadata)
    }
}

impl GitWorkTree {
    /// The working tree whose root is this directory.
    fn at(root: &Path) -> Option<Self> {
        let entry = root.join(".git");
        let status = fs::symlink_metadata(&entry).ok()?;
        let git_dir = if status.is_file() {
            // In a linked worktree and in a submodule, `.git` is a file with the path.
            let text = read_text_file(&entry, MAX_LINK_BYTES).ok()?;
            root.join(text.trim().strip_prefix("gitdir: ")?)
        } else {
            entry
        };
        let git_dir = fs::canonicalize(git_dir).ok()?;
        let (index, index_written) = read_index(&git_dir.join("index")).unzip();
        let index_written = index_written.unwrap_or(FileTime { seconds: 0, nanoseconds: 0 });
        Some(Self { root: root.to_owned(), git_dir, index, index_written })
    }

    /// Whether git has this file as it is.
    pub(super) fn has_unchanged(&self, file: &Path, metadata: &Metadata) -> bool {
        let entry = self.index.as_ref().and_then(|index| {
            let name = file.strip_prefix(&self.root).ok()?;
            index.find(name.as_os_str().as_bytes())
        });
        entry.is_some_and(|entry| entry.is_unchanged(metadata.len(), modified_time(metadata), self.index_written))
    }
}

fn read_index(path: &Path) -> Option<(GitIndex, FileTime)> {
    let file = RegularFile::open(path, FileAccess::Read).ok()?.into_file();
    let metadata = file.metadata().ok().filter(|metadata| metadata.len() <= MAX_INDEX_BYTES)?;
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).ok()?);
    file.take(MAX_INDEX_BYTES).read_to_end(&mut bytes).ok()?;
    Some((GitIndex::read(&bytes)?, modified_time(&metadata)))
}

fn modified_time(metadata: &Metadata) -> FileTime {
    FileTime { seconds: metadata.mtime(), nanoseconds: u32::try_from(metadata.mtime_nsec()).unwrap_or_default() }
}
