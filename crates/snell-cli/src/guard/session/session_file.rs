//! The file of a session in the data directory: facts are appended, each with one write, and read as a whole.
//!
//! A process may be killed while it writes, and calls of one agent run at the same time. So a line is complete or skipped, and nothing
//! waits for a lock. If the file cannot be read or written, calls are judged without the session.

use std::cell::OnceCell;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use snell::{FileAccess, RegularFile};
use snell_guard::SessionFacts;

use super::fact_line::{FactLine, format_lines, parse_lines, shorten_lines, to_facts};

/// The directory of these files in the data directory.
const DIRECTORY: &str = "guard-sessions";

/// Larger files are shortened before something is added.
const MAX_FILE_BYTES: u64 = 192 * 1024;
/// Facts that only relax the guard are not added to larger files.
const MAX_RELAXED_BYTES: u64 = 96 * 1024;
/// Larger files are not read.
const MAX_READ_BYTES: u64 = 1 << 20;

/// File times come from a coarser clock than the system's time.
const CLOCK_TOLERANCE_NS: i64 = 20_000_000;

/// A path that a running call may make or change.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ExpectedPath {
    pub(super) path: String,
    /// Nothing in it may have been made before.
    pub(super) since_ns: i64,
    /// Its stamp, if the session made it in an earlier call.
    pub(super) stamp: Option<u64>,
}

/// The file of one session.
#[derive(Debug)]
pub(crate) struct SessionFile {
    path: PathBuf,
    lines: OnceCell<Vec<FactLine>>,
}

impl SessionFile {
    /// The file of a session; `None` if the session is unknown.
    pub(crate) fn for_session(data: &Path, session_id: &str) -> Option<Self> {
        if session_id.is_empty() {
            return None;
        }
        let path = data.join(DIRECTORY).join(hash_name(&[session_id.as_bytes()]));
        Some(Self { path, lines: OnceCell::new() })
    }

    /// The facts of the session. Without a file, or if another user may have written it, nothing is known.
    pub(crate) fn facts(&self) -> Rc<SessionFacts> {
        self.facts_before_call("")
    }

    /// The same, without those of the call with this key.
    pub(crate) fn facts_before_call(&self, call_key: &str) -> Rc<SessionFacts> {
        to_facts(self.lines(), call_key)
    }

    /// Whether anything is known of the session.
    pub(crate) fn exists(&self) -> bool {
        check_owner(&self.path).is_ok()
    }

    pub(super) fn lines(&self) -> &[FactLine] {
        self.lines.get_or_init(|| self.read_lines().unwrap_or_default())
    }

    fn read_lines(&self) -> io::Result<Vec<FactLine>> {
        let file = RegularFile::open(&self.path, FileAccess::ReadNoFollow)?;
        require_own(file.metadata())?;
        Ok(parse_lines(&file.read_all(MAX_READ_BYTES)?))
    }

    /// Notes that the session started now, if nothing is known of it.
    pub(super) fn start_if_new(&self) {
        if fs::symlink_metadata(&self.path).is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            let started = FactLine::Started(now_ns());
            let _ = create_file(&self.path, format_lines(&[started]).as_bytes());
        }
    }

    /// Adds facts with one write.
    pub(super) fn append(&self, lines: &[FactLine]) {
        // Without them, the session is judged as if it had not happened.
        let _ = self.try_append(lines);
    }

    fn try_append(&self, lines: &[FactLine]) -> io::Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        self.start_if_new();
        let len = check_owner(&self.path)?;
        if len > MAX_FILE_BYTES {
            self.shorten()?;
        }
        let kept: Vec<FactLine> =
            lines.iter().filter(|line| len <= MAX_RELAXED_BYTES || !line.only_relaxes()).cloned().collect();
        let mut file = RegularFile::open(&self.path, FileAccess::Append)?.into_file();
        file.write_all(format_lines(&kept).as_bytes())
    }

    /// Keeps only the facts that still matter. A fact that another process adds at this moment may be lost.
    fn shorten(&self) -> io::Result<()> {
        let lines = shorten_lines(&self.read_lines()?);
        let new = self.path.with_extension(format!("new{}", std::process::id()));
        let written = create_file(&new, format_lines(&lines).as_bytes());
        written.and_then(|()| fs::rename(&new, &self.path)).inspect_err(|_| {
            let _ = fs::remove_file(&new);
        })
    }

    /// Notes the paths that a call may make, until it is over.
    pub(super) fn expect_paths(&self, call: &str, paths: &[ExpectedPath]) {
        if let Ok(text) = serde_json::to_vec(paths) {
            let path = self.expectation_path(call);
            // An earlier call may have had the same id.
            let _ = fs::remove_file(&path);
            let _ = create_file(&path, &text);
        }
    }

    /// The paths that a call could have made. They are returned once.
    pub(super) fn take_expected_paths(&self, call: &str) -> Vec<ExpectedPath> {
        let path = self.expectation_path(call);
        let read = || {
            let file = RegularFile::open(&path, FileAccess::ReadNoFollow)?;
            require_own(file.metadata())?;
            let bytes = file.read_all(MAX_READ_BYTES)?;
            fs::remove_file(&path)?;
            Ok::<_, io::Error>(serde_json::from_slice(&bytes)?)
        };
        read().unwrap_or_default()
    }

    fn expectation_path(&self, call: &str) -> PathBuf {
        self.path.with_extension(hash_name(&[call.as_bytes()]))
    }
}

/// Removes the files of sessions in which nothing happened since this time.
pub(crate) fn prune_session_files(data: &Path, before: SystemTime) {
    for entry in fs::read_dir(data.join(DIRECTORY)).into_iter().flatten().flatten() {
        let is_old = entry.metadata().and_then(|metadata| metadata.modified()).is_ok_and(|time| time < before);
        if is_old {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The time now, in nanoseconds since 1970, by the clock of the file system.
pub(super) fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX).saturating_sub(CLOCK_TOLERANCE_NS)
}

fn create_file(path: &Path, content: &[u8]) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    // Another process may add a line as soon as the file is there.
    let mut file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(content)
}

/// The size of a file of this user.
fn check_owner(path: &Path) -> io::Result<u64> {
    let metadata = fs::symlink_metadata(path)?;
    require_own(&metadata)?;
    Ok(metadata.len())
}

/// Only a regular file is believed that no other user can write.
fn require_own(metadata: &fs::Metadata) -> io::Result<()> {
    let is_own = metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & 0o022 == 0;
    if metadata.is_file() && is_own && metadata.nlink() == 1 {
        return Ok(());
    }
    Err(ErrorKind::PermissionDenied.into())
}

fn hash_name(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    let digest = hash.finalize();
    digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect()
}
