//! Files and directories: writing, listing, comparing.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::process::run_with_stdin;

/// Writes a file and creates the directories above it.
#[track_caller]
pub fn write_file(path: &Path, text: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// As [`write_file`], with these permissions.
#[track_caller]
pub fn write_file_with_mode(path: &Path, text: impl AsRef<[u8]>, mode: u32) {
    write_file(path, text);
    set_file_mode(path, mode);
}

/// Writes an executable script for `/bin/sh`; the first line is added.
#[track_caller]
pub fn write_script(path: &Path, body: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    // Another process writes it: a process that another thread starts meanwhile would inherit the open file, and Linux does
    // not run a file that is open for writing ("text file busy").
    let mut writer = Command::new("/bin/sh");
    writer.args(["-c", r#"cat > "$0" && chmod 755 "$0""#]).arg(path);
    let written = run_with_stdin(&mut writer, format!("#!/bin/sh\n{body}\n"));
    assert_eq!(written.code, 0, "{}: {written:?}", path.display());
}

/// Sets the permissions of a file or directory.
#[track_caller]
pub fn set_file_mode(path: impl AsRef<Path>, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// The permissions of a file or directory, without its type.
#[track_caller]
pub fn read_file_mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// The names in a directory, sorted.
#[track_caller]
pub fn list_names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The paths in a directory that end so, sorted; none if there is no such directory.
pub fn list_paths_ending(directory: &Path, end: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.to_str().is_some_and(|path| path.ends_with(end)));
    paths.sort();
    paths
}

/// The paths of everything below a directory, sorted; none if there is no such directory. Symlinks are not followed.
pub fn list_entries_recursively(directory: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            paths.extend(list_entries_recursively(&path));
        }
        paths.push(path);
    }
    paths.sort();
    paths
}

/// Everything below a directory: the content of each file, and the target of each symlink.
pub fn list_tree(directory: &Path) -> Vec<(PathBuf, String)> {
    let describe = |path: PathBuf| {
        let metadata = fs::symlink_metadata(&path).unwrap();
        let content = if metadata.is_dir() {
            "directory".to_owned()
        } else if metadata.is_symlink() {
            format!("{:?}", fs::read_link(&path).unwrap())
        } else if metadata.is_file() {
            String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned()
        } else {
            "something else".to_owned()
        };
        (path, content)
    };
    list_entries_recursively(directory).into_iter().map(describe).collect()
}

/// The state of a file that is visible from outside.
#[derive(Debug, PartialEq, Eq)]
pub struct FileStateSnapshot {
    /// The content.
    pub bytes: Vec<u8>,
    /// The permissions.
    pub mode: u32,
    /// The time of the last change: seconds and nanoseconds.
    pub modified: (i64, i64),
}

/// The state of a file now.
#[track_caller]
pub fn snapshot_file(path: &Path) -> FileStateSnapshot {
    let metadata = fs::metadata(path).unwrap();
    FileStateSnapshot {
        bytes: fs::read(path).unwrap(),
        mode: read_file_mode(path),
        modified: (metadata.mtime(), metadata.mtime_nsec()),
    }
}

/// The root of the repository.
pub fn find_repository_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Text with one JSON value in each line.
#[track_caller]
pub fn parse_json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}
