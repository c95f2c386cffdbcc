//! The index reader, compared with what a real git writes.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use snell_guard::git_index::{FileTime, GitIndex};
use tempfile::TempDir;

/// A repository with these files, all of them added.
struct Repository {
    dir: TempDir,
}

const FILES: &[&str] = &["README.md", "a b", "src/deep/er/file.rs", "src/lib.rs", "src/lib.rs.orig", "zürich"];

impl Repository {
    fn new(init: &[&str]) -> Self {
        let repository = Self { dir: TempDir::new().unwrap() };
        repository.git(&[&["init", "--quiet"], init].concat());
        for file in FILES {
            repository.write(file, &format!("text of {file}\n"));
        }
        repository.git(&["add", "."]);
        repository
    }

    fn path(&self, file: &str) -> PathBuf {
        self.dir.path().join(file)
    }

    fn write(&self, file: &str, text: &str) {
        fs::create_dir_all(self.path(file).parent().unwrap()).unwrap();
        fs::write(self.path(file), text).unwrap();
    }

    fn run_git(&self, arguments: &[&OsStr]) -> (bool, Vec<u8>) {
        let mut git = Command::new("git");
        git.current_dir(self.dir.path()).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        git.env("HOME", self.dir.path()).env("GIT_CONFIG_NOSYSTEM", "1");
        let name = ["-c", "user.name=a", "-c", "user.email=a@localhost"];
        let output = git.args(name).args(arguments).output().unwrap();
        (output.status.success(), output.stdout)
    }

    fn git(&self, arguments: &[&str]) -> Vec<u8> {
        let arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
        let (succeeded, output) = self.run_git(&arguments);
        assert!(succeeded, "git {arguments:?}");
        output
    }

    fn index_bytes(&self) -> Vec<u8> {
        fs::read(self.path(".git/index")).unwrap()
    }

    fn index(&self) -> GitIndex {
        GitIndex::read(&self.index_bytes()).expect("the index of git is read")
    }

    /// Makes the index newer than all files, as it is a moment later.
    fn age_files(&self) {
        for file in self.listed() {
            let path = self.dir.path().join(OsStr::from_bytes(&file));
            let earlier = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
            let _ = fs::File::open(path).and_then(|file| file.set_modified(earlier));
        }
        self.git(&["update-index", "--refresh"]);
    }

    fn listed(&self) -> Vec<Vec<u8>> {
        let listed = self.git(&["ls-files", "-z"]);
        listed.split(|byte| *byte == 0).filter(|name| !name.is_empty()).map(<[u8]>::to_vec).collect()
    }

    fn is_unchanged(&self, file: &str) -> bool {
        let index = self.index();
        let written = file_time(&self.path(".git/index"));
        let size = fs::symlink_metadata(self.path(file)).unwrap().len();
        let entry = index.find(file.as_bytes());
        entry.is_some_and(|entry| entry.is_unchanged(size, file_time(&self.path(file)), written))
    }
}

fn file_time(path: &Path) -> FileTime {
    let status = fs::symlink_metadata(path).unwrap();
    FileTime { seconds: status.mtime(), nanoseconds: status.mtime_nsec().try_into().unwrap() }
}

#[test]
fn every_version_of_the_index_names_the_files_that_git_lists() {
    for (version, init) in [("2", &[][..]), ("3", &[]), ("4", &[]), ("4", &["--object-format=sha256"])] {
        let repository = Repository::new(init);
        repository.git(&["update-index", "--index-version", version]);
        if version == "3" {
            repository.write("announced", "later");
            repository.git(&["add", "--intent-to-add", "announced"]);
        }
        let index = repository.index();
        let listed = repository.listed();
        assert_eq!(index.len(), listed.len(), "version {version}");
        for name in &listed {
            assert!(index.contains(name), "version {version}: {}", String::from_utf8_lossy(name));
        }
        for other in ["src", "src/lib", "README", "zzz", "", "src/lib.rs/x"] {
            assert!(!index.contains(other.as_bytes()), "version {version}: {other}");
        }
        assert_eq!(repository.index_bytes().get(7), version.as_bytes().first().map(|digit| digit - b'0').as_ref());
    }
}

#[test]
fn names_of_any_bytes_and_lengths_are_found() {
    let repository = Repository::new(&[]);
    let blob = String::from_utf8(repository.git(&["rev-parse", ":README.md"])).unwrap();
    let long = vec!["n".repeat(200); 40].join("/");
    for (version, name) in [("2", long.as_bytes()), ("4", b"caf\xe9\n\x1b[2J")] {
        let info = [b"100644,".as_slice(), blob.trim().as_bytes(), b",", name].concat();
        let add = ["update-index", "--index-version", version, "--add", "--cacheinfo"].map(OsStr::new);
        assert!(repository.run_git(&[&add[..], &[OsStr::from_bytes(&info)]].concat()).0);
        assert!(repository.index().contains(name), "version {version}");
    }
}

#[test]
fn only_a_file_that_git_has_as_it_is_counts_as_unchanged() {
    let repository = Repository::new(&[]);
    repository.age_files();
    assert!(repository.is_unchanged("README.md"));
    assert!(repository.is_unchanged("src/deep/er/file.rs"));

    repository.write("README.md", "other text\n");
    assert!(!repository.is_unchanged("README.md"), "another size");
    repository.write("src/lib.rs", &"x".repeat("text of src/lib.rs\n".len()));
    assert!(!repository.is_unchanged("src/lib.rs"), "another time");
    repository.write("untracked", "text");
    assert!(!repository.is_unchanged("untracked"));

    repository.write("announced", "");
    repository.git(&["add", "--intent-to-add", "announced"]);
    assert!(!repository.is_unchanged("announced"), "git has no contents of it");
    repository.git(&["update-index", "--assume-unchanged", "src/deep/er/file.rs"]);
    assert!(!repository.is_unchanged("src/deep/er/file.rs"), "git no longer looks at it");
    std::os::unix::fs::symlink("a b", repository.path("link")).unwrap();
    repository.git(&["add", "link"]);
    assert!(!repository.is_unchanged("link"), "not a regular file");
}

#[test]
fn a_file_that_changed_while_the_index_was_written_is_not_certain() {
    let repository = Repository::new(&[]);
    let entry = repository.index().find(b"README.md").unwrap().clone();
    let modified = file_time(&repository.path("README.md"));
    let size = "text of README.md\n".len() as u64;
    let later = FileTime { seconds: modified.seconds + 1, ..modified };
    assert!(entry.is_unchanged(size, modified, later));
    assert!(!entry.is_unchanged(size, modified, modified));
    assert!(!entry.is_unchanged(size, later, later));
    assert!(!entry.is_unchanged(size + 1, modified, later));
}

#[test]
fn a_file_with_conflicts_is_there_but_not_unchanged() {
    let repository = Repository::new(&[]);
    repository.git(&["commit", "--quiet", "-m", "one"]);
    for (branch, text) in [("left", "left\n"), ("right", "right\n")] {
        repository.git(&["checkout", "--quiet", "-b", branch, "HEAD"]);
        repository.write("README.md", text);
        repository.git(&["commit", "--quiet", "-am", branch]);
        repository.git(&["checkout", "--quiet", "--detach", &format!("{branch}~1")]);
    }
    repository.git(&["checkout", "--quiet", "left"]);
    assert!(!repository.run_git(&["merge", "right"].map(OsStr::new)).0, "there is a conflict");
    assert!(repository.index().contains(b"README.md"));
    assert!(!repository.is_unchanged("README.md"));
}

#[test]
fn an_index_that_does_not_tell_everything_gives_no_answer() {
    let split = Repository::new(&[]);
    split.git(&["update-index", "--split-index"]);
    assert!(GitIndex::read(&split.index_bytes()).is_none(), "split index");

    let sparse = Repository::new(&[]);
    sparse.git(&["commit", "--quiet", "-m", "one"]);
    sparse.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "nothing"]);
    assert!(GitIndex::read(&sparse.index_bytes()).is_none(), "sparse index");

    let bytes = Repository::new(&[]).index_bytes();
    for cut in 0..bytes.len() {
        assert!(GitIndex::read(&bytes[..cut]).is_none(), "cut at {cut}");
    }
    let worktree_file = b"gitdir: /somewhere/.git/worktrees/x\n";
    assert!(GitIndex::read(worktree_file).is_none());
}

#[test]
fn a_changed_byte_never_makes_the_reader_fail() {
    for version in ["2", "4"] {
        let repository = Repository::new(&[]);
        repository.git(&["update-index", "--index-version", version]);
        let bytes = repository.index_bytes();
        for place in 0..bytes.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[place] = value;
                let index = GitIndex::read(&damaged).unwrap_or_default();
                assert!(index.len() <= FILES.len() + 1 && !index.contains(b"nothing"), "byte {place} is {value}");
            }
        }
    }
    let mut promises_much = b"DIRC\0\0\0\x02\xff\xff\xff\xff".to_vec();
    promises_much.extend([0; 200]);
    assert!(GitIndex::read(&promises_much).is_none());
}
