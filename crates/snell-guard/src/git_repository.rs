//! The branches, the remote and the settings of a repository, read from its files.

use std::path::{Path, PathBuf};

use crate::file_system::FileSystem;
use crate::paths::normalize_path;
use crate::policy::hosts::find_address_host;

/// Larger files of a repository are not read.
const MAX_FILE_BYTES: u64 = 1 << 16;
/// A list of more packed branches is not read.
const MAX_PACKED_BYTES: u64 = 1 << 20;

/// The branches of the remote that a push without a branch's name may update: the current one, and the one that it follows.
/// `None` if they are unknown.
pub(crate) fn read_push_branches(directory: &str, disk: &dyn FileSystem) -> Option<Vec<String>> {
    let (_, git_dir) = find_git_dir(Path::new(directory), disk)?;
    let head = disk.read_text(&git_dir.join("HEAD"), MAX_FILE_BYTES).ok()?;
    let current = head.trim().strip_prefix("ref: refs/heads/")?.to_owned();
    let settings = disk.read_text(&find_shared_dir(&git_dir, disk).join("config"), MAX_FILE_BYTES).ok()?;
    let mut branches = find_followed_branches(&settings, &current)?;
    branches.insert(0, current);
    branches.dedup();
    Some(branches)
}

/// The host of the remote `origin`, in lower case.
pub(crate) fn read_origin_host(directory: &str, disk: &dyn FileSystem) -> Option<String> {
    let (_, git_dir) = find_git_dir(Path::new(directory), disk)?;
    let settings = disk.read_text(&find_shared_dir(&git_dir, disk).join("config"), MAX_FILE_BYTES).ok()?;
    let lines = settings.lines().map(str::trim).skip_while(|line| *line != "[remote \"origin\"]").skip(1);
    let mut section = lines.take_while(|line| !line.starts_with('['));
    let url = section.find_map(|line| line.split_once('=').filter(|(key, _)| key.trim() == "url"));
    url.and_then(|(_, url)| find_address_host(url.trim()))
}

/// The file of a branch in the repository, whether or not there is such a branch.
pub(crate) fn find_branch_file(directory: &str, branch: &str, disk: &dyn FileSystem) -> Option<String> {
    let is_odd = |c: char| c.is_control() || c.is_whitespace() || "~^:?*[\\".contains(c);
    if branch.is_empty() || branch.starts_with(['-', '/', '.']) || branch.contains("..") || branch.contains(is_odd) {
        return None;
    }
    let (_, git_dir) = find_git_dir(Path::new(directory), disk)?;
    Some(normalize_path(&find_shared_dir(&git_dir, disk).join("refs/heads").join(branch)))
}

/// Whether a branch is in the list of packed branches, or may be.
pub(crate) fn has_packed_branch(directory: &str, branch: &str, disk: &dyn FileSystem) -> bool {
    let Some((_, git_dir)) = find_git_dir(Path::new(directory), disk) else {
        return true;
    };
    match disk.read_text(&find_shared_dir(&git_dir, disk).join("packed-refs"), MAX_PACKED_BYTES) {
        Ok(packed) => packed.lines().any(|line| line.ends_with(&format!(" refs/heads/{branch}"))),
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    }
}

/// The user's own files with patterns of files that git ignores. `None` if they cannot be known.
pub(crate) fn read_excludes_files(git_dir: &Path, home: &Path, disk: &dyn FileSystem) -> Option<Vec<PathBuf>> {
    let mut files = vec![home.join(".config/git/ignore")];
    let settings =
        [find_shared_dir(git_dir, disk).join("config"), home.join(".gitconfig"), home.join(".config/git/config")];
    for file in settings {
        let text = match disk.read_text(&file, MAX_FILE_BYTES) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(_) => return None,
        };
        // Another file may be named by another file.
        if text.to_lowercase().contains("[include") {
            return None;
        }
        let is_excludes = |line: &&str| line.trim_start().to_lowercase().starts_with("excludesfile");
        for line in text.lines().filter(is_excludes) {
            let (_, path) = line.split_once('=')?;
            let path = path.trim().trim_matches('"');
            let path = path.strip_prefix("~/").map_or_else(|| PathBuf::from(path), |rest| home.join(rest));
            files.push(path);
        }
    }
    Some(files)
}

/// The directory that a linked worktree shares with its repository.
fn find_shared_dir(git_dir: &Path, disk: &dyn FileSystem) -> PathBuf {
    let shared = disk.read_text(&git_dir.join("commondir"), MAX_FILE_BYTES);
    shared.map_or_else(|_| git_dir.to_owned(), |path| git_dir.join(path.trim()))
}

/// The working tree around a directory, and its `.git` directory.
pub(crate) fn find_git_dir(directory: &Path, disk: &dyn FileSystem) -> Option<(PathBuf, PathBuf)> {
    let root = directory.ancestors().find(|parent| disk.symlink_metadata(&parent.join(".git")).is_ok())?;
    Some((root.to_owned(), read_git_dir(root, disk)?))
}

fn read_git_dir(root: &Path, disk: &dyn FileSystem) -> Option<PathBuf> {
    let entry = root.join(".git");
    // In a linked worktree, `.git` is a file with the path.
    match disk.read_text(&entry, MAX_FILE_BYTES) {
        Ok(text) => text.trim().strip_prefix("gitdir: ").map(|path| root.join(path)),
        Err(_) => Some(entry),
    }
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
