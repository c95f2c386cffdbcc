//! The facts of a session, as plain data.

/// The known facts of a session. The default has none, and changes no judgement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFacts {
    /// When the session started, in nanoseconds since 1970.
    pub started_ns: Option<i64>,
    /// Paths that it made.
    pub made: Vec<MadePath>,
    /// Paths that it fetched from elsewhere.
    pub fetched: Vec<FetchedPath>,
    /// Untrusted content that was read since the user's last prompt.
    pub taint: Option<SessionTaint>,
    /// Effects that were denied.
    pub denied: Vec<DeniedEffect>,
}

/// A file, a directory or a branch that the session made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadePath {
    /// Its path. A branch has the path of its file in the repository.
    pub path: String,
    /// The stamp of it and everything in it, after the last call of the session that changed it: see [`stamp_path`].
    ///
    /// [`stamp_path`]: super::stamp_path
    pub stamp: u64,
}

/// A file or a directory that came from elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchedPath {
    /// Its path.
    pub path: String,
    /// Whether it is a directory.
    pub is_directory: bool,
}

/// Untrusted content that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionTaint {
    /// Where it came from, as part of a sentence: "`gh issue view 5`".
    pub source: String,
}

/// An effect of a call that was denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeniedEffect {
    /// The rule.
    pub rule: String,
    /// The name of the effect: `deletion`. Empty if the rule is about no path.
    pub action: String,
    /// The path, or else the target as it was written.
    pub path: String,
    /// The program.
    pub program: String,
}
