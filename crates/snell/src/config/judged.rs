//! Files of a project that are held against trust, and what becomes of them.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::trust::{Judgement, Trust};

/// Where pins come from. They are asked for only when a file is there to be judged.
#[derive(Clone)]
pub(crate) struct Pins(pub(crate) Arc<dyn Fn() -> Trust + Send + Sync>);

impl fmt::Debug for Pins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pins")
    }
}

/// Which files of a project are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Those that count for a guest: our own, and those that are borrowed.
    Guest,
    /// Those of every contract.
    All,
}

/// What becomes of a project's file that is not pinned as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unpinned {
    /// It counts: whoever calls has a trust decision of its own.
    Counts,
    /// It is withheld, and that is said.
    Withheld,
}

/// A file that is held against trust: what was read, and what trust says about it.
#[derive(Debug, Clone)]
pub(super) struct Judged {
    /// The path by which it is pinned.
    pub(super) path: PathBuf,
    pub(super) shown: String,
    pub(super) sha256: String,
    pub(super) judgement: Judgement,
    /// What is to be typed to have it trusted.
    pub(super) command: String,
    /// Why nothing of the file counts, if so.
    pub(super) withheld: Option<String>,
}

impl Judged {
    /// Judges what was read, now or before: trust may have been revoked since.
    pub(super) fn decide(&mut self, trust: &Trust, unpinned: Unpinned) {
        self.judgement = trust.judge_hash(&self.path, &self.sha256);
        let counts = self.judgement == Judgement::Trusted || unpinned == Unpinned::Counts;
        self.withheld = (!counts).then(|| format!("its file {}; run: {}", self.state(), self.command));
    }

    /// That a file is withheld, what is lost by it, and what to do about it.
    pub(super) fn cost(&self, lost: &str, trust: &Trust) -> String {
        let fault = trust.fault().map(|fault| format!(" ({fault})")).unwrap_or_default();
        let (state, command) = (self.state(), &self.command);
        format!("{state}{fault}, so {lost}; look at it, then run: {command}")
    }

    /// What trust says about it, after its name.
    fn state(&self) -> &'static str {
        match self.judgement {
            Judgement::Trusted => "is trusted",
            Judgement::Untrusted => "is not trusted",
            Judgement::Changed => "was changed since it was trusted",
        }
    }
}
