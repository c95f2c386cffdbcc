//! Snell's own files under other names: hard links, copies of its program, and names in another case.
//!
//! Most calls cost one look at each file that they would write or run, and only if that could be another name.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use snell::read_file;
use snell_guard::{Owned, Touched, World};

/// The name by which the guard knows the program.
const PROGRAM: &str = "snell";
/// No more files of a call are looked at.
const MAX_FILES: usize = 256;
/// No more files of Snell's directories are looked at, and none that lie deeper.
const MAX_OWN_FILES: usize = 4096;
const MAX_OWN_DEPTH: usize = 4;

/// Where files really are that a call would write or run, of those that are Snell's own.
pub(super) fn of_own(touched: &[Touched], world: &World) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut own_files = None;
    let mut program = None;
    for place in touched.iter().take(MAX_FILES) {
        let is_written = !place.is_read && !place.is_itself;
        if place.is_run {
            let program = program.get_or_insert_with(OwnProgram::find);
            let path = program.as_ref().filter(|program| program.is_at(&place.path));
            found.extend(path.map(|program| (place.path.clone(), program.known_as())));
        } else if is_written && let Some(metadata) = linked_file(&place.path) {
            let own_files = own_files.get_or_insert_with(|| files_of(world));
            let own = own_files.iter().find(|own| own.is(&metadata) && own.path != place.path);
            found.extend(own.map(|own| (place.path.clone(), own.path.clone())));
        }
    }
    found
}

/// A file that has more than one name.
fn linked_file(path: &str) -> Option<Metadata> {
    let metadata = fs::metadata(path).ok()?;
    (metadata.is_file() && metadata.nlink() > 1).then_some(metadata)
}

/// A file of Snell's own.
struct OwnFile {
    path: String,
    device: u64,
    inode: u64,
}

impl OwnFile {
    fn new(path: &Path, metadata: &Metadata) -> Self {
        Self {
            path: path.to_string_lossy().into_owned(),
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }

    fn is(&self, metadata: &Metadata) -> bool {
        self.device == metadata.dev() && self.inode == metadata.ino()
    }
}

/// Snell's own files, also those in its directories.
fn files_of(world: &World) -> Vec<OwnFile> {
    let mut files = Vec::new();
    let own = world.own.iter().filter(|own| own.what != Owned::Hooks);
    let mut rest: Vec<(PathBuf, usize)> = own.map(|own| (PathBuf::from(&own.path), 0)).collect();
    while let Some((path, depth)) = rest.pop() {
        let Ok(metadata) = fs::metadata(&path) else {
            continue;
        };
        if metadata.is_file() {
            files.push(OwnFile::new(&path, &metadata));
        } else if metadata.is_dir() && depth < MAX_OWN_DEPTH {
            let entries = fs::read_dir(&path).into_iter().flatten().flatten();
            rest.extend(entries.take(MAX_OWN_FILES).map(|entry| (entry.path(), depth + 1)));
        }
        if files.len() >= MAX_OWN_FILES {
            break;
        }
    }
    files
}

/// The program that runs here.
struct OwnProgram {
    path: PathBuf,
    file: OwnFile,
    size: u64,
}

impl OwnProgram {
    fn find() -> Option<Self> {
        let path = std::env::current_exe().ok()?;
        let metadata = fs::metadata(&path).ok()?;
        Some(Self {
            file: OwnFile::new(&path, &metadata),
            size: metadata.len(),
            path,
        })
    }

    /// Whether this is the program: by a link, or a copy of it.
    fn is_at(&self, path: &str) -> bool {
        let Some(metadata) = fs::metadata(path).ok().filter(Metadata::is_file) else {
            return false;
        };
        self.file.is(&metadata) || (metadata.len() == self.size && self.has_contents_of(path))
    }

    /// Whether a file of the same size holds the same.
    fn has_contents_of(&self, path: &str) -> bool {
        match (read_file(&self.path, self.size), read_file(Path::new(path), self.size)) {
            (Ok(own), Ok(other)) => own == other,
            _ => false,
        }
    }

    /// Its path under the name by which the guard knows it.
    fn known_as(&self) -> String {
        self.path.with_file_name(PROGRAM).to_string_lossy().into_owned()
    }
}

/// Whether a call names something of Snell's own in another case, on a disk that does not tell the two apart.
pub(super) fn in_another_case(touched: &[Touched], world: &World) -> bool {
    let places = touched.iter().filter(|place| !place.is_read).take(MAX_FILES);
    places.into_iter().any(|place| {
        let mut own = world.own.iter().map(|own| own.path.as_str());
        own.any(|own| differs_in_case(&place.path, own) && are_the_same(&place.path, own))
    })
}

/// Whether one of two paths lies in the other in some case, but not as they are written.
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

/// Whether the nearest directory, or file, that is there is the same by both names, although they are written differently.
fn are_the_same(one: &str, other: &str) -> bool {
    let length = one.len().min(other.len());
    let (Some(one), Some(other)) = (one.get(..length), other.get(..length)) else {
        return false;
    };
    let pairs = Path::new(one).ancestors().zip(Path::new(other).ancestors());
    for (one, other) in pairs.filter(|(one, other)| one != other) {
        match (fs::symlink_metadata(one), fs::symlink_metadata(other)) {
            (Ok(one), Ok(other)) => return (one.dev(), one.ino()) == (other.dev(), other.ino()),
            (Err(_), Err(_)) => {}
            _ => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_another_case_are_told_from_other_names() {
        for (one, other, expected) in [
            ("/home/Ann/.claude", "/home/ann/.claude/settings.json", true),
            (
                "/home/ann/.CLAUDE/settings.json",
                "/home/ann/.claude/settings.json",
                true,
            ),
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
    fn a_disk_is_asked_whether_two_names_are_one_file() {
        let room = tempfile::tempdir().unwrap();
        let at = |name: &str| room.path().join(name).to_string_lossy().into_owned();
        fs::create_dir(at("own")).unwrap();
        fs::write(at("own/file"), "").unwrap();
        // A second name of the same file stands for a disk that ignores case.
        fs::hard_link(at("own/file"), at("own/FILE")).unwrap();
        fs::write(at("own/other"), "").unwrap();
        fs::write(at("own/OTHER"), "").unwrap();
        assert!(are_the_same(&at("own/FILE"), &at("own/file")));
        assert!(!are_the_same(&at("own/OTHER"), &at("own/other")));
        assert!(!are_the_same(&at("OWN/file"), &at("own/file")));
    }
}
