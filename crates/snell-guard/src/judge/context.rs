//! What a judgement takes for granted: where the agent is, and whose places are which.

/// What is known of the place where a call would run. All paths are absolute, without `.`, `..` or a slash at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgeContext {
    /// Where the command would start.
    pub cwd: String,
    /// The user's home directory.
    pub home: String,
    /// The user's name.
    pub user: String,
    /// The project that the agent works on: its own to change and to delete in.
    pub project: String,
    /// Directories for what nobody will miss.
    pub temp: Vec<String>,
    /// What is Snell's own.
    pub self_paths: Vec<SelfPath>,
    /// Whether names in another case are names of the same file.
    pub ignores_case: bool,
    /// The process of the agent that makes the call.
    pub agent_pid: Option<u32>,
    /// Variables that are known, such as `TMPDIR`. Everything else that a command does not set itself is unknown.
    pub variables: Vec<(String, String)>,
    /// Real paths of those affected paths that lead through symlinks. [`Guard`](crate::Guard) fills it.
    pub links: Vec<(String, String)>,
}

impl JudgeContext {
    /// Whether a text is the number of the agent's process, or of its process group.
    pub(crate) fn is_agent_process(&self, text: &str) -> bool {
        let number = text.strip_prefix(['-', '+']).unwrap_or(text);
        self.agent_pid.is_some() && number.parse().ok() == self.agent_pid
    }
}

/// Something of Snell's own, which an agent may look at and not change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelfPath {
    /// A file, or a directory with all that is in it.
    pub path: String,
    /// What it is.
    pub kind: SelfFile,
}

/// What something of Snell's own is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelfFile {
    /// Settings, trust, contacts.
    Config,
    /// The database, the socket and what else is kept.
    Data,
    /// The program.
    Program,
    /// Settings of an agent, in which Snell is registered.
    Registration,
    /// Settings of an agent in which it is not, but which could switch it off.
    Settings,
    /// A project's own hooks.
    Hooks,
}

impl SelfPath {
    /// Something at a path.
    pub fn new(path: impl Into<String>, kind: SelfFile) -> Self {
        Self { path: path.into(), kind }
    }
}

/// Directories in which everything is temporary have one of these in a name. An agent's settings can set `TMPDIR` to any other
/// directory, for example to a home directory, and everything in it could be deleted.
const TEMPORARY_NAMES: &[&str] = &["tmp", "temp", "temporary", "scratch", "cache", "t"];

/// Those of the directories that are temporary by their names.
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
