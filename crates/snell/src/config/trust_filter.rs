//! Files of a project that are held against trust, and what becomes of them.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::trust::{TrustStatus, TrustStore};

/// Where pins come from. They are asked for only when a file is there to be judged.
#[derive(Clone)]
pub(crate) struct TrustSource(pub(crate) Arc<dyn Fn() -> TrustStore + Send + Sync>);

impl fmt::Debug for TrustSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pins")
    }
}

/// Which files of a project are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrustScope {
    /// Those that count for a guest: our own, and those that are borrowed.
    Guest,
    /// Those of every contract.
    All,
}

/// What becomes of a project's file that is not pinned as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnpinnedPolicy {
    /// It counts: whoever calls has a trust decision of its own.
    Accept,
    /// It is withheld, and that is said.
    Reject,
}

/// A file that is held against trust: what was read, and what trust says about it.
#[derive(Debug, Clone)]
pub(super) struct ProjectFileTrust {
    /// The path by which it is pinned.
    pub(super) path: PathBuf,
    pub(super) display_path: String,
    pub(super) sha256: String,
    pub(super) status: TrustStatus,
    /// What is to be typed to have it trusted.
    pub(super) command: String,
    /// Why nothing of the file counts, if so.
    pub(super) rejection_reason: Option<String>,
}

impl ProjectFileTrust {
    /// Judges what was read, now or before: trust may have been revoked since.
    pub(super) fn update_status(&mut self, trust: &TrustStore, unpinned: UnpinnedPolicy) {
        self.status = trust.check_hash(&self.path, &self.sha256);
        let counts = self.status == TrustStatus::Trusted || unpinned == UnpinnedPolicy::Accept;
        self.rejection_reason =
            (!counts).then(|| format!("its file {}; run: {}", self.describe_status(), self.command));
    }

    /// That a file is withheld, what is lost by it, and what to do about it.
    pub(super) fn describe_rejection(&self, lost: &str, trust: &TrustStore) -> String {
        let fault = trust.fault().map(|fault| format!(" ({fault})")).unwrap_or_default();
        let (state, command) = (self.describe_status(), &self.command);
        format!("{state}{fault}, so {lost}; look at it, then run: {command}")
    }

    /// What trust says about it, after its name.
    fn describe_status(&self) -> &'static str {
        match self.status {
            TrustStatus::Trusted => "is trusted",
            TrustStatus::Untrusted => "is not trusted",
            TrustStatus::Changed => "was changed since it was trusted",
        }
    }
}
