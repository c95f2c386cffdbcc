//! The current branch of a repository, read from its files.

use std::path::{Path, PathBuf};

use crate::file_system::FileSystem;

/// Larger files of a repository are not read.
const MAX_FILE_BYTES: u64 = 1 << 16;

/// The branches of the remote that a push without a branch's name may update: the current one, and the one that it follows.
/// `None` if they are unknown.
pub(crate) fn read_push_branches(directory: &str, disk: &dyn FileSystem) -> Option<Vec<String>> {
    let git_dir = find_git_dir(Path::new(directory), disk)?;
    let head = disk.read_text(&git_dir.join("HEAD"), MAX_FILE_BYTES).ok()?;
    let current = head.trim().strip_prefix("ref: refs/heads/")?.to_owned();
    // A linked worktree shares the settings of its repository.
    let shared = disk.read_text(&git_dir.join("commondir"), MAX_FILE_BYTES);
    let shared = shared.map_or_else(|_| git_dir.clone(), |path| git_dir.join(path.trim()));
    let settings = disk.read_text(&shared.join("config"), MAX_FILE_BYTES).ok()?;
    let mut branches = find_followed_branches(&settings, &current)?;
    branches.insert(0, current);
    branches.dedup();
    Some(branches)
}

/// The `.git` directory of a working directory.
fn find_git_dir(directory: &Path, disk: &dyn FileSystem) -> Option<PathBuf> {
    find_work_tree(directory, disk).map(|(_, git_dir)| git_dir)
}

/// The root of the working tree that a directory is in, and its `.git` directory.
pub(crate) fn find_work_tree(directory: &Path, disk: &dyn FileSystem) -> Option<(PathBuf, PathBuf)> {
    let (root, git_dir) = directory.ancestors().find_map(|parent| {
        let entry = parent.join(".git");
        if disk.symlink_metadata(&entry).is_err() {
            return None;
        }
        // In a linked worktree, `.git` is a file with the path.
        match disk.read_text(&entry, MAX_FILE_BYTES) {
            Ok(text) => text.trim().strip_prefix("gitdir: ").map(|path| (parent, parent.join(path))),
            Err(_) => Some((parent, entry)),
        }
    })?;
    Some((root.to_owned(), git_dir))
}

/// The branches that this branch follows; `None` if the settings push anything else.
fn find_followed_branches(settings: &str, current: &str) -> Option<Vec<String>> {
    let mut section = "";
    let mut branches = Vec::new();
    let own_section = format!("[branch \"{current}\"]").to_lowercase();
    for line in settings.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        }
        let (key, value) = line.split_once('=').map(|(key, value)| (key.trim(), value.trim())).unwrap_or_default();
        let key = key.rsplit(']').next().unwrap_or_default().trim().to_lowercase();
        let kind = section.trim_start_matches('[').split([' ', ']', '.']).next().unwrap_or_default().to_lowercase();
        match (kind.as_str(), key.as_str()) {
            ("push", "default") if value == "matching" => return None,
            // Another file may have such settings.
            ("remote", "push" | "mirror") | ("include" | "includeif", "path") => return None,
            ("branch", "merge") if section.to_lowercase().starts_with(&own_section) => {
                branches.push(value.strip_prefix("refs/heads/")?.to_owned());
            }
            _ => {}
        }
    }
    Some(branches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_tell_which_branches_a_plain_push_may_update() {
        let follows =
            |merge: &str| format!("[core]\n\tbare = false\n[branch \"fix\"]\n\tremote = origin\n\tmerge = {merge}\n");
        let cases = [
            (String::new(), Some(vec![])),
            (follows("refs/heads/fix"), Some(vec!["fix"])),
            (follows("refs/heads/main"), Some(vec!["main"])),
            (follows("refs/remotes/x"), None),
            ("[branch \"other\"]\nmerge = refs/heads/main".to_owned(), Some(vec![])),
            ("[push] default = matching".to_owned(), None),
            ("[Push]\nDefault=matching".to_owned(), None),
            ("[remote \"origin\"]\n\turl = x\n\tpush = +refs/heads/*:refs/heads/*".to_owned(), None),
            ("[remote \"origin\"]\n\tmirror = true".to_owned(), None),
            ("[include]\n\tpath = other".to_owned(), None),
        ];
        for (settings, expected) in cases {
            let expected = expected.map(|names| names.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(find_followed_branches(&settings, "fix"), expected, "{settings}");
        }
    }
}
