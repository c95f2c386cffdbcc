//! The sources themselves: files are opened by the one helper.

use std::fs;
use std::path::{Path, PathBuf};

use snell_test_support::files::find_repository_root;

/// Calls that open a file by its name.
const OPENS: &[&str] = &[
    "File::open(",
    "File::create(",
    "File::options(",
    "OpenOptions::new(",
    "fs::read(",
    "fs::read_to_string(",
    "fs::write(",
    "fs::copy(",
    "fs::open(",
    "openat(",
    "Connection::open",
    "UnixStream::connect(",
];

/// An open that must be of a new file says so within as many lines.
const NEARBY_LINES: usize = 5;

/// Opens that do not use the helper: the file, the call, and the reason.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("snell/src/regular_file.rs", "OpenOptions::new(", "the helper itself"),
    (
        "snell-store/src/db/sqlite/mod.rs",
        "Connection::open",
        "SQLite opens its files; `check_files` looks at them before",
    ),
    ("snell-store/src/derive/process.rs", "fs::read(", "a file below /proc, by a name of our own"),
    ("snell-store/src/derive/process.rs", "File::open(", "a file below /proc, by a name of our own"),
    ("snell-store/src/derive/process.rs", "fs::read_to_string(", "a file below /proc, by a name of our own"),
    (
        "snell-server/src/answers/key.rs",
        "File::open(",
        "/dev/urandom, which does not block and of which some bytes are read",
    ),
    (
        "snell-server/src/http/connection_owner.rs",
        "fs::read_to_string(",
        "tables below /proc/net, which neither block nor are without end",
    ),
    ("snell-cli/src/record/load.rs", "File::open(", "/proc/loadavg, which neither blocks nor is long"),
    ("snell-cli/src/commands/demo/cleanup/processes.rs", "fs::read(", "a file below /proc, by a name of our own"),
    ("snell-cli/src/commands/demo/stage.rs", "fs::write(", "in a directory that the demo has just made"),
    ("snell-cli/src/settings_file/check.rs", "fs::write(", "in a directory that the check has just made"),
    ("snell-cli/src/doctor/self_test/run.rs", "fs::write(", "in a directory that the doctor has just made"),
    ("snell-cli/src/backup/project_dir.rs", "openat(", "only directories, and no symlinks"),
    ("snell-cli/src/backup/restore.rs", "openat(", "a new file, or without blocking and only if it is a regular file"),
    ("snell-cli/src/commands/man.rs", "fs::write(", "`check_regular_file` looks at it before"),
    (
        "snell-cli/src/commands/worker/summary_file.rs",
        "File::open(",
        "an argument that may be a pipe, as a shell makes it; its caller waits for it",
    ),
];

fn collect_sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && name != "tests" {
            collect_sources(&path, found);
        } else if name.ends_with(".rs") && !matches!(name, "tests.rs" | "test_support.rs") {
            found.push(path);
        }
    }
}

#[test]
fn every_file_is_opened_by_the_helper_or_stands_in_the_list() {
    let crates = find_repository_root().join("crates");
    let mut sources = Vec::new();
    // The helpers of tests run in tests only.
    let packages = fs::read_dir(&crates).unwrap().flatten().filter(|entry| entry.file_name() != "snell-test-support");
    for package in packages {
        collect_sources(&package.path().join("src"), &mut sources);
    }
    assert!(sources.len() > 100);
    let mut seen = vec![false; ALLOWED.len()];
    let mut direct = Vec::new();
    for path in sources {
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let code = code.replace("RegularFile::open", "");
        let lines: Vec<_> = code.lines().collect();
        let shown = path.strip_prefix(&crates).unwrap().to_str().unwrap();
        for (at, line) in lines.iter().enumerate() {
            let calls = OPENS.iter().filter(|open| line.contains(*open) && !line.trim_start().starts_with("//"));
            for call in calls {
                let nearby = &lines[at..lines.len().min(at + NEARBY_LINES)];
                let is_new = nearby.iter().any(|line| line.contains("create_new(true)"));
                let allowed = ALLOWED.iter().position(|(file, open, _)| (*file, open) == (shown, call));
                match allowed {
                    Some(index) => seen[index] = true,
                    None if is_new => {}
                    None => direct.push(format!("{shown}:{}: {}", at + 1, line.trim())),
                }
            }
        }
    }
    assert_eq!(direct, [""; 0], "open these with snell::RegularFile");
    let unused: Vec<_> = ALLOWED.iter().zip(&seen).filter(|(_, seen)| !**seen).map(|(row, _)| row).collect();
    assert!(unused.is_empty(), "these are not needed any more: {unused:?}");
}
