//! Who calls `snell hook`, and where: what the environment tells about the agent.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use snell::{EngineBuilder, FileAccess, Guest, RegularFile, Settings, Timestamp, read_text_file};
use snell_store::{Process, Sender};

use crate::around::{self, Around, variable, variable_as_said};

/// Variables that agents and their launchers set.
mod variables {
    /// Set by Claude Code.
    pub(super) const CLAUDE_PID: &str = "CLAUDE_PID";
    /// Set by launchers, for what they start.
    pub(super) const SESSION_ID: &str = "CLAUDE_SESSION_ID";
    /// Set by Claude Code, for what it starts.
    pub(super) const OWN_SESSION_ID: &str = "CLAUDE_CODE_SESSION_ID";
    pub(super) const SESSION_ROLE: &str = "CLAUDE_SESSION_ROLE";
    pub(super) const SESSION_MODE: &str = "CLAUDE_SESSION_MODE";
    pub(super) const MISSION: &str = "MISSION_EXECUTION_ID";
    pub(super) const HEADSPACE_SESSION_ID: &str = "CLAUDE_HEADSPACE_SESSION_ID";
    pub(super) const HEADSPACE_TMUX_SESSION: &str = "CLAUDE_HEADSPACE_TMUX_SESSION";
    /// Set by tmux.
    pub(super) const TMUX: &str = "TMUX";
    pub(super) const TMUX_PANE: &str = "TMUX_PANE";
}

/// A larger mark holds no number.
const MAX_MARK_BYTES: u64 = 64;

/// What surrounds a call.
#[derive(Debug)]
pub(crate) struct Caller {
    /// Where Snell keeps what it records.
    pub(crate) data: PathBuf,
    /// A fixed clock, for tests and replays.
    pub(crate) now: Option<Timestamp>,
}

impl Caller {
    pub(crate) fn look() -> Self {
        Self {
            data: Around::of(None, None).data_dir(),
            now: around::now(),
        }
    }

    /// An engine for this project, in the making.
    pub(crate) fn engine(project: PathBuf) -> anyhow::Result<EngineBuilder> {
        // A directory that is gone has no hooks; what happens in it is judged and recorded all the same.
        let project = if project.is_dir() { project } else { PathBuf::from("/") };
        Around::of_guest(project).engine_with_pins()
    }

    /// What the user's own files say beside their hooks.
    pub(crate) fn settings() -> anyhow::Result<Settings> {
        let (engine, _) = Self::engine("/".into())?.survey().load();
        Ok(engine.settings())
    }

    /// The nearest directory above that looks like a project, else the directory itself.
    pub(crate) fn project_at(directory: &Path) -> PathBuf {
        let is_root = |candidate: &&Path| Self::is_marked(candidate);
        directory.ancestors().find(is_root).unwrap_or(directory).to_owned()
    }

    /// Whether something in a directory says that it is a project.
    pub(crate) fn is_marked(directory: &Path) -> bool {
        ["snell.toml", ".git"]
            .iter()
            .any(|marker| directory.join(marker).exists())
    }

    /// What is known of the agent beside its payload.
    pub(crate) fn sender(&self, guest: Option<&'static Guest>) -> Sender {
        let told = variable(variables::CLAUDE_PID).and_then(|pid| pid.parse().ok());
        // No process has the number 0.
        let told = told.filter(|pid| *pid > 0);
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Sender {
            product: guest.map(|guest| guest.name.to_owned()),
            process_is_told: told.is_some(),
            process: told.map(Process::now).or_else(Process::calling),
            host: Some(host).filter(|host| !host.is_empty()),
            cwd: None,
            launcher_session_id: variable_as_said(variables::SESSION_ID),
            headspace_session_id: variable_as_said(variables::HEADSPACE_SESSION_ID),
            tmux_pane: variable_as_said(variables::TMUX_PANE),
            tmux_session: variable_as_said(variables::HEADSPACE_TMUX_SESSION),
            tmux_server: tmux_server(),
            role: trimmed(variables::SESSION_ROLE),
            mode: trimmed(variables::SESSION_MODE).map(|mode| mode.to_lowercase()),
            mission_execution_id: variable_as_said(variables::MISSION),
            context_window: None,
        }
    }

    /// What is known of an agent of this name that fires its events itself. `CLAUDE_PID` says nothing of it: where it is set,
    /// Claude Code has started this agent, and is another one.
    pub(crate) fn host(&self, name: Option<String>) -> Sender {
        Sender {
            product: name,
            process_is_told: false,
            process: Process::calling(),
            ..self.sender(None)
        }
    }

    /// The ids of the session that the environment names, each with the variable that does. The launcher's comes first.
    pub(crate) fn session_ids() -> Vec<(&'static str, String)> {
        [variables::SESSION_ID, variables::OWN_SESSION_ID]
            .into_iter()
            .filter_map(|name| Some((name, variable(name)?)))
            .collect()
    }

    /// The tmux pane that this process sits in, and the server that it belongs to.
    pub(crate) fn tmux_pane() -> Option<(Option<String>, String)> {
        Some((tmux_server(), variable_as_said(variables::TMUX_PANE)?))
    }

    /// Whether nobody has been told this yet. Where that cannot be remembered, everybody is told every time.
    pub(crate) fn is_first_time(&self, key: &[&str]) -> bool {
        match leave_mark(&self.mark(key)) {
            Err(error) => error.kind() != io::ErrorKind::AlreadyExists,
            Ok(()) => true,
        }
    }

    /// How often this was counted; nothing if that cannot be known.
    pub(crate) fn counted(&self, key: &[&str]) -> Option<u32> {
        match read_text_file(&self.mark(key), MAX_MARK_BYTES) {
            // What is no number was never written to its end.
            Ok(text) => Some(text.trim().parse().unwrap_or(0)),
            Err(error) => (error.kind() == io::ErrorKind::NotFound).then_some(0),
        }
    }

    /// Remembers how often this was counted; answers whether it will be known.
    pub(crate) fn count(&self, key: &[&str], times: u32) -> bool {
        let mark = self.mark(key);
        // It may be there already; whether it can be written is seen next.
        let _ = leave_mark(&mark);
        let file = RegularFile::open(&mark, FileAccess::WriteExisting).map(RegularFile::into_file);
        file.is_ok_and(|mut file| file.set_len(0).is_ok() && file.write_all(times.to_string().as_bytes()).is_ok())
    }

    /// Begins to count anew.
    pub(crate) fn forget_count(&self, key: &[&str]) {
        // Mostly nothing was counted. What cannot be removed cannot be counted either.
        let _ = fs::remove_file(self.mark(key));
    }

    /// The file that stands for this among what sessions have to remember.
    fn mark(&self, key: &[&str]) -> PathBuf {
        let mut hash = Sha256::new();
        for part in key {
            hash.update(part.len().to_le_bytes());
            hash.update(part.as_bytes());
        }
        let digest = hash.finalize();
        let name: String = digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
        self.data.join("told").join(name)
    }
}

/// The socket of the tmux server that this process sits in.
fn tmux_server() -> Option<String> {
    // The server's socket, its process and the session's number, separated by commas.
    variable(variables::TMUX).and_then(|tmux| tmux.split(',').next().map(str::to_owned))
}

/// What a variable says, without blanks around it.
fn trimmed(name: &str) -> Option<String> {
    let said = variable_as_said(name)?.trim().to_owned();
    (!said.is_empty()).then_some(said)
}

fn leave_mark(mark: &Path) -> io::Result<()> {
    if let Some(directory) = mark.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(mark);
    made.map(drop)
}

/// Forgets what was told long ago: those sessions are over.
pub(crate) fn forget_told(data: &Path, before: std::time::SystemTime) {
    let Ok(entries) = fs::read_dir(data.join("told")) else {
        return;
    };
    for entry in entries.flatten() {
        let old = entry
            .metadata()
            .and_then(|metadata| metadata.modified())
            .is_ok_and(|time| time < before);
        if old {
            let _ = fs::remove_file(entry.path());
        }
    }
}
