//! The context of a judgement: directories, variables and Snell's own files.

/// The context of a call. All paths are absolute, without `.`, `..` or a trailing slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgeContext {
    /// Where the command would start.
    pub cwd: String,
    /// The user's home directory.
    pub home: String,
    /// The user's name.
    pub user: String,
    /// The agent's project, in which it may change and delete files.
    pub project: String,
    /// Directories for temporary files.
    pub temp: Vec<String>,
    /// Snell's own files.
    pub self_paths: Vec<SelfPath>,
    /// Whether file names ignore case.
    pub ignores_case: bool,
    /// The process of the agent that makes the call.
    pub agent_pid: Option<u32>,
    /// Known variables, such as `TMPDIR`. All others are unknown unless the command sets them.
    pub variables: Vec<(String, String)>,
    /// The real paths of affected paths that lead through symlinks. [`Guard`](crate::Guard) fills it.
    pub links: Vec<(String, String)>,
    /// The branches of the remote that a push without a branch's name may update in `cwd`, if they are known.
    /// [`Guard`](crate::Guard) fills it, only for a forced push.
    pub current_push: Option<Vec<String>>,
}

impl JudgeContext {
    /// Whether a text is the id of the agent's process or process group.
    pub(crate) fn is_agent_process(&self, text: &str) -> bool {
        let number = text.strip_prefix(['-', '+']).unwrap_or(text);
        self.agent_pid.is_some() && number.parse().ok() == self.agent_pid
    }
}

/// A file of Snell's own, which an agent may read but not change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelfPath {
    /// A file, or a directory with everything in it.
    pub path: String,
    /// Its type.
    pub kind: SelfFile,
}

/// The types of Snell's own files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelfFile {
    /// Settings, trust, contacts.
    Config,
    /// The database, the socket and other data.
    Data,
    /// The program.
    Program,
    /// Settings of an agent in which Snell is registered.
    Registration,
    /// Settings of an agent that could turn Snell off, without Snell in them.
    Settings,
    /// A project's own hooks.
    Hooks,
}

impl SelfPath {
    /// A file at a path.
    pub fn new(path: impl Into<String>, kind: SelfFile) -> Self {
        Self { path: path.into(), kind }
    }
}

/// A temporary directory has one of these words in its name. Otherwise an agent's settings could set `TMPDIR` to any
/// directory, for example to a home directory, and everything in it could be deleted.
const TEMPORARY_NAMES: &[&str] = &["tmp", "temp", "temporary", "scratch", "cache", "t"];

/// The directories that are temporary by name.
pub fn filter_temp_dirs(directories: impl Iterator<Item = String>) -> Vec<String> {
    let has_name = |directory: &String| {
        let mut words = directory.split(|c: char| !c.is_alphanumeric());
        words.any(|word| {
            let word = word.to_ascii_lowercase();
            word.contains("tmp") || TEMPORARY_NAMES.contains(&word.as_str())
        })
    };
    directories.filter(has_name).collect()
}
