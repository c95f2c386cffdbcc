//! What a judgement takes for granted: where the agent is, and whose places are which.

/// What is known of the place where a call would run. All paths are absolute, without `.`, `..` or a slash at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct World {
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
    /// Snell's own directories and programs, and the settings of agents in which it is registered.
    pub own: Vec<String>,
    /// Variables that are known, such as `TMPDIR`. Everything else that a command does not set itself is unknown.
    pub variables: Vec<(String, String)>,
}
