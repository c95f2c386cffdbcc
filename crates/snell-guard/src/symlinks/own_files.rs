//! Snell's own files under other names: hard links, copies of its program, and names in another case.
//!
//! Most calls need one status request for each file that they would write or run, and only if it could be another name.

use std::path::{Path, PathBuf};

use crate::file_system::{FileKind, FileStatus, FileSystem};
use crate::judge::AffectedPath;
use crate::judge::context::{JudgeContext, SelfFile};

/// The name by which the guard knows the program.
const PROGRAM: &str = "snell";
/// How many files of a call are checked.
const MAX_FILES: usize = 256;
/// How many files in Snell's directories are checked, and how deep.
const MAX_OWN_FILES: usize = 4096;
const MAX_OWN_DEPTH: usize = 4;
/// How many files of a call are compared with the program; any further file of its size is assumed to be the program.
const MAX_COMPARED: usize = 4;

/// Finds Snell's own files among the paths that a call affects.
pub(super) struct OwnFileFinder<'a> {
    pub(super) file_system: &'a dyn FileSystem,
    pub(super) context: &'a JudgeContext,
}

impl OwnFileFinder<'_> {
    /// The real paths of Snell's own files among those that a call would write or run.
    pub(super) fn find_own_files(&self, affected: &[AffectedPath]) -> Vec<(String, String)> {
        let mut aliases = Vec::new();
        let mut own_files = None;
        let mut program = None;
        for place in affected.iter().take(MAX_FILES) {
            let is_written = !place.is_read_only && !place.is_link_itself;
            if place.is_executed {
                let program = program.get_or_insert_with(|| OwnProgram::locate(self.file_system));
                if let Some(program) = program.as_mut()
                    && program.is_at(&place.path)
                {
                    aliases.push((place.path.clone(), program.guard_path()));
                }
            } else if is_written && let Some(status) = self.read_hard_linked(&place.path) {
                let own_files = own_files.get_or_insert_with(|| self.list_own_files());
                let own = own_files.iter().find(|own| own.status.is_same_file(&status) && own.path != place.path);
                aliases.extend(own.map(|own| (place.path.clone(), own.path.clone())));
            }
        }
        aliases
    }

    /// The status of a file with more than one name.
    fn read_hard_linked(&self, path: &str) -> Option<FileStatus> {
        let status = self.file_system.metadata(Path::new(path)).ok()?;
        (status.kind == FileKind::Regular && status.hard_links > 1).then_some(status)
    }

    /// Snell's own files, including those in its directories.
    fn list_own_files(&self) -> Vec<OwnFile> {
        let mut files = Vec::new();
        let own = self.context.self_paths.iter().filter(|own| own.kind != SelfFile::Hooks);
        let mut rest: Vec<(PathBuf, usize)> = own.map(|own| (PathBuf::from(&own.path), 0)).collect();
        while let Some((path, depth)) = rest.pop() {
            let Ok(status) = self.file_system.metadata(&path) else {
                continue;
            };
            if status.kind == FileKind::Regular {
                files.push(OwnFile { path: path.to_string_lossy().into_owned(), status });
            } else if status.kind == FileKind::Directory && depth < MAX_OWN_DEPTH {
                let entries = self.file_system.list_directory(&path, MAX_OWN_FILES);
                rest.extend(entries.into_iter().map(|entry| (entry, depth + 1)));
            }
            if files.len() >= MAX_OWN_FILES {
                break;
            }
        }
        files
    }

    /// Whether a call names a file of Snell's own in another case, on a disk that ignores case.
    pub(super) fn has_case_variant(&self, affected: &[AffectedPath]) -> bool {
        let places = affected.iter().filter(|place| !place.is_read_only).take(MAX_FILES);
        places.into_iter().any(|place| {
            let mut own = self.context.self_paths.iter().map(|own| own.path.as_str());
            own.any(|own| differs_in_case(&place.path, own) && is_same_file(self.file_system, &place.path, own))
        })
    }
}

/// A file of Snell's own.
struct OwnFile {
    path: String,
    status: FileStatus,
}

/// The running program.
struct OwnProgram<'a> {
    file_system: &'a dyn FileSystem,
    path: PathBuf,
    status: FileStatus,
    /// The files that were compared with it, and whether each is a copy.
    compared: Vec<(FileStatus, bool)>,
}

impl<'a> OwnProgram<'a> {
    fn locate(file_system: &'a dyn FileSystem) -> Option<Self> {
        let path = file_system.current_program()?;
        let status = file_system.metadata(&path).ok()?;
        Some(Self { file_system, path, status, compared: Vec::new() })
    }

    /// Whether this is the program: a link to it, or a copy.
    fn is_at(&mut self, path: &str) -> bool {
        let status = self.file_system.metadata(Path::new(path)).ok();
        let Some(status) = status.filter(|status| status.kind == FileKind::Regular) else {
            return false;
        };
        self.status.is_same_file(&status) || (status.len == self.status.len && self.is_copied_to(path, status))
    }

    /// Whether a file of the same size has the same contents. Each file is compared once, whatever names it has.
    fn is_copied_to(&mut self, path: &str, status: FileStatus) -> bool {
        if let Some((_, is_copy)) = self.compared.iter().find(|(file, _)| file.is_same_file(&status)) {
            return *is_copy;
        }
        if self.compared.len() >= MAX_COMPARED {
            return true;
        }
        let is_copy = self.file_system.have_same_contents(&self.path, Path::new(path)).unwrap_or(false);
        self.compared.push((status, is_copy));
        is_copy
    }

    /// Its path under the name by which the guard knows it.
    fn guard_path(&self) -> String {
        self.path.with_file_name(PROGRAM).to_string_lossy().into_owned()
    }
}

/// Whether one of two paths is in the other if case is ignored, but not otherwise.
fn differs_in_case(one: &str, other: &str) -> bool {
    let length = one.len().min(other.len());
    let ends = |path: &str| path.len() == length || path.as_bytes().get(length) == Some(&b'/');
    match (one.get(..length), other.get(..length)) {
        (Some(one_part), Some(other_part)) => {
            one_part != other_part && ends(one) && ends(other) && one_part.eq_ignore_ascii_case(other_part)
        }
        _ => false,
    }
}

/// Whether the nearest existing file or directory is the same under both names.
fn is_same_file(file_system: &dyn FileSystem, one: &str, other: &str) -> bool {
    let length = one.len().min(other.len());
    let (Some(one), Some(other)) = (one.get(..length), other.get(..length)) else {
        return false;
    };
    let pairs = Path::new(one).ancestors().zip(Path::new(other).ancestors());
    for (one, other) in pairs.filter(|(one, other)| one != other) {
        match (file_system.symlink_metadata(one), file_system.symlink_metadata(other)) {
            (Ok(one), Ok(other)) => return one.is_same_file(&other),
            (Err(_), Err(_)) => {}
            _ => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::test_support::TestDisk;

    /// The size of the compared files.
    const SIZE: usize = 1 << 17;

    #[test]
    fn names_that_differ_only_in_case_are_found() {
        for (one, other, expected) in [
            ("/home/Ann/.claude", "/home/ann/.claude/settings.json", true),
            ("/home/ann/.CLAUDE/settings.json", "/home/ann/.claude/settings.json", true),
            ("/home/ann/.CLAUDE/new/file", "/home/ann/.claude", true),
            ("/home/ann/.claude", "/home/ann/.claude/settings.json", false),
            ("/home/ann/.CLAUDES", "/home/ann/.claude", false),
            ("/home/ann/x", "/home/ann/.claude", false),
            ("/", "/home/ann/.claude", false),
        ] {
            assert_eq!(differs_in_case(one, other), expected, "{one} {other}");
        }
    }

    #[test]
    fn few_files_are_compared_with_the_program_and_each_once() {
        let room = tempfile::tempdir().unwrap();
        let at = |name: &str| room.path().join(name);
        fs::write(at("snell"), vec![7; SIZE]).unwrap();
        let disk = TestDisk { program: Some(at("snell")) };
        let mut program = OwnProgram::locate(&disk).unwrap();
        let mut is_at = |name: &str| program.is_at(&at(name).to_string_lossy());
        fs::copy(at("snell"), at("copy")).unwrap();
        fs::write(at("short"), vec![7; SIZE / 2]).unwrap();
        let mut other = vec![7; SIZE];
        other[SIZE - 1] = 8;
        for number in 0..MAX_COMPARED {
            fs::write(at(&format!("other{number}")), &other).unwrap();
            fs::hard_link(at(&format!("other{number}")), at(&format!("same{number}"))).unwrap();
        }
        assert!(is_at("snell") && is_at("copy") && !is_at("short"));
        for number in 0..MAX_COMPARED - 1 {
            assert!(!is_at(&format!("other{number}")) && !is_at(&format!("same{number}")));
        }
        // The limit of comparisons is reached.
        assert!(is_at(&format!("other{}", MAX_COMPARED - 1)));
    }

    #[test]
    fn a_disk_is_asked_whether_two_names_are_one_file() {
        let room = tempfile::tempdir().unwrap();
        let at = |name: &str| room.path().join(name).to_string_lossy().into_owned();
        fs::create_dir(at("own")).unwrap();
        fs::write(at("own/file"), "").unwrap();
        // A second name of the same file stands for a disk that ignores case.
        fs::hard_link(at("own/file"), at("own/FILE")).unwrap();
        fs::write(at("own/other"), "").unwrap();
        fs::write(at("own/OTHER"), "").unwrap();
        assert!(is_same_file(&TestDisk::default(), &at("own/FILE"), &at("own/file")));
        assert!(!is_same_file(&TestDisk::default(), &at("own/OTHER"), &at("own/other")));
        assert!(!is_same_file(&TestDisk::default(), &at("OWN/file"), &at("own/file")));
    }
}
