//! Whether a project's files are trusted, and whether they are used.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::diagnostic::UserMessage;
use crate::trust::{TrustStatus, TrustStore};

/// Loads the pins, only when there is a file to check.
#[derive(Clone)]
pub(crate) struct TrustSource(pub(crate) Arc<dyn Fn() -> TrustStore + Send + Sync>);

impl fmt::Debug for TrustSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pins")
    }
}

/// Which files of a project are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrustScope {
    /// The files that a guest reads: `snell.toml` and borrowed files.
    Guest,
    /// The files of every contract.
    All,
}

/// The handling of a project's file whose content is not pinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnpinnedPolicy {
    /// It is used: the caller decides about trust itself.
    Accept,
    /// It is not used, with a warning.
    Reject,
}

/// A project's file, and its trust status.
#[derive(Debug, Clone)]
pub(super) struct ProjectFileTrust {
    /// The path that is pinned.
    pub(super) path: PathBuf,
    pub(super) display_path: String,
    pub(super) sha256: String,
    pub(super) status: TrustStatus,
    /// The command that trusts it.
    pub(super) command: String,
    /// Why the file is not used, if so.
    pub(super) rejection_reason: Option<String>,
}

impl ProjectFileTrust {
    /// Updates the status. Trust may have been revoked since the file was read.
    pub(super) fn update_status(&mut self, trust: &TrustStore, unpinned: UnpinnedPolicy) {
        self.status = trust.check_hash(&self.path, &self.sha256);
        let is_accepted = self.status == TrustStatus::Trusted || unpinned == UnpinnedPolicy::Accept;
        self.rejection_reason = (!is_accepted).then(|| {
            let message = UserMessage::new(format!("its file {}", self.describe_status()));
            message.with_hint(format!("run `{}`", self.command)).to_string()
        });
    }

    /// The message about a rejected file: its status, what does not run, and the command to trust it.
    pub(super) fn describe_rejection(&self, lost: &str, trust: &TrustStore) -> UserMessage {
        let fault = trust.fault().map(|fault| format!(" ({fault})")).unwrap_or_default();
        let message = UserMessage::new(format!("{}{fault}, so {lost}", self.describe_status()));
        message.with_hint(format!("review the file, then run `{}`", self.command))
    }

    /// The status as a predicate, to follow the name of the file.
    fn describe_status(&self) -> &'static str {
        match self.status {
            TrustStatus::Trusted => "is trusted",
            TrustStatus::Untrusted => "is not trusted",
            TrustStatus::Changed => "has changed since you trusted it",
        }
    }
}
