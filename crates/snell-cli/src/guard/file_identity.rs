//! Snell's own files under other names: hard links, copies of its program, and names in another case.
//!
//! Most calls cost one look at each file that they would write or run, and only if that could be another name.

use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use snell::{FileAccess, RegularFile};
use snell_guard::{AffectedPath, JudgeContext, SelfFile};

/// The name by which the guard knows the program.
const PROGRAM: &str = "snell";
/// No more files of a call are looked at.
const MAX_FILES: usize = 256;
/// No more files of Snell's directories are looked at, and none that lie deeper.
const MAX_OWN_FILES: usize = 4096;
const MAX_OWN_DEPTH: usize = 4;
/// No more files of a call are compared with the program; any other of its size counts as the program.
const MAX_COMPARED: usize = 4;
/// So much of two files is compared at a time.
const CHUNK_BYTES: usize = 1 << 16;

/// Where files really are that a call would write or run, of those that are Snell's own.
pub(super) fn find_own_files(touched: &[AffectedPath], world: &JudgeContext) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut own_files = None;
    let mut program = None;
    for place in touched.iter().take(MAX_FILES) {
        let is_written = !place.is_read_only && !place.is_link_itself;
        if place.is_executed {
            let program = program.get_or_insert_with(OwnProgram::locate);
            if let Some(program) = program.as_mut()
                && program.is_at(&place.path)
            {
                found.push((place.path.clone(), program.guard_path()));
            }
        } else if is_written && let Some(metadata) = read_hard_linked(&place.path) {
            let own_files = own_files.get_or_insert_with(|| list_own_files(world));
            let own = own_files.iter().find(|own| own.matches_file(&metadata) && own.path != place.path);
            found.extend(own.map(|own| (place.path.clone(), own.path.clone())));
        }
    }
    found
}

/// A file that has more than one name.
fn read_hard_linked(path: &str) -> Option<Metadata> {
    let metadata = fs::metadata(path).ok()?;
    (metadata.is_file() && metadata.nlink() > 1).then_some(metadata)
}

/// A file of Snell's own.
struct FileIdentity {
    path: String,
    device: u64,
    inode: u64,
}

impl FileIdentity {
    fn new(path: &Path, metadata: &Metadata) -> Self {
        Self { path: path.to_string_lossy().into_owned(), device: metadata.dev(), inode: metadata.ino() }
    }

    fn matches_file(&self, metadata: &Metadata) -> bool {
        self.device == metadata.dev() && self.inode == metadata.ino()
    }
}

/// Snell's own files, also those in its directories.
fn list_own_files(world: &JudgeContext) -> Vec<FileIdentity> {
    let mut files = Vec::new();
    let own = world.self_paths.iter().filter(|own| own.kind != SelfFile::Hooks);
    let mut rest: Vec<(PathBuf, usize)> = own.map(|own| (PathBuf::from(&own.path), 0)).collect();
    while let Some((path, depth)) = rest.pop() {
        let Ok(metadata) = fs::metadata(&path) else {
            continue;
        };
        if metadata.is_file() {
            files.push(FileIdentity::new(&path, &metadata));
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
    file: FileIdentity,
    size: u64,
    /// The files that were compared with it, and whether each is a copy.
    compared: Vec<(FileIdentity, bool)>,
}

impl OwnProgram {
    fn locate() -> Option<Self> {
        let path = std::env::current_exe().ok()?;
        let metadata = fs::metadata(&path).ok()?;
        Some(Self { file: FileIdentity::new(&path, &metadata), size: metadata.len(), compared: Vec::new(), path })
    }

    /// Whether this is the program: by a link, or a copy of it.
    fn is_at(&mut self, path: &str) -> bool {
        let Some(metadata) = fs::metadata(path).ok().filter(Metadata::is_file) else {
            return false;
        };
        self.file.matches_file(&metadata) || (metadata.len() == self.size && self.is_copied_to(path, &metadata))
    }

    /// Whether a file of the same size holds the same. Each file is compared once, whatever names it has.
    fn is_copied_to(&mut self, path: &str, metadata: &Metadata) -> bool {
        if let Some((_, is_copy)) = self.compared.iter().find(|(file, _)| file.matches_file(metadata)) {
            return *is_copy;
        }
        if self.compared.len() >= MAX_COMPARED {
            return true;
        }
        let path = Path::new(path);
        let is_copy = have_same_contents(&self.path, path).unwrap_or(false);
        self.compared.push((FileIdentity::new(path, metadata), is_copy));
        is_copy
    }

    /// Its path under the name by which the guard knows it.
    fn guard_path(&self) -> String {
        self.path.with_file_name(PROGRAM).to_string_lossy().into_owned()
    }
}

/// Whether two files hold the same, compared up to the first difference.
fn have_same_contents(one: &Path, other: &Path) -> io::Result<bool> {
    let mut one = RegularFile::open(one, FileAccess::Read)?.into_file();
    let mut other = RegularFile::open(other, FileAccess::Read)?.into_file();
    loop {
        let (mut left, mut right) = (Vec::with_capacity(CHUNK_BYTES), Vec::with_capacity(CHUNK_BYTES));
        one.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut left)?;
        other.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut right)?;
        if left != right || left.is_empty() {
            return Ok(left == right);
        }
    }
}

/// Whether a call names something of Snell's own in another case, on a disk that does not tell the two apart.
pub(super) fn has_case_variant(touched: &[AffectedPath], world: &JudgeContext) -> bool {
    let places = touched.iter().filter(|place| !place.is_read_only).take(MAX_FILES);
    places.into_iter().any(|place| {
        let mut own = world.self_paths.iter().map(|own| own.path.as_str());
        own.any(|own| differs_in_case(&place.path, own) && is_same_file(&place.path, own))
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
fn is_same_file(one: &str, other: &str) -> bool {
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
        fs::write(at("snell"), vec![7; 2 * CHUNK_BYTES]).unwrap();
        let metadata = fs::metadata(at("snell")).unwrap();
        let mut program = OwnProgram {
            file: FileIdentity::new(&at("snell"), &metadata),
            size: metadata.len(),
            path: at("snell"),
            compared: Vec::new(),
        };
        let mut is_at = |name: &str| program.is_at(&at(name).to_string_lossy());
        fs::copy(at("snell"), at("copy")).unwrap();
        fs::write(at("short"), vec![7; CHUNK_BYTES]).unwrap();
        let mut other = vec![7; 2 * CHUNK_BYTES];
        other[2 * CHUNK_BYTES - 1] = 8;
        for number in 0..MAX_COMPARED {
            fs::write(at(&format!("other{number}")), &other).unwrap();
            fs::hard_link(at(&format!("other{number}")), at(&format!("same{number}"))).unwrap();
        }
        assert!(is_at("snell") && is_at("copy") && !is_at("short"));
        for number in 0..MAX_COMPARED - 1 {
            assert!(!is_at(&format!("other{number}")) && !is_at(&format!("same{number}")));
        }
        // Enough was compared.
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
        assert!(is_same_file(&at("own/FILE"), &at("own/file")));
        assert!(!is_same_file(&at("own/OTHER"), &at("own/other")));
        assert!(!is_same_file(&at("OWN/file"), &at("own/file")));
    }
}
