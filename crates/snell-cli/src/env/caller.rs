//! Who calls `snell hook`, and where: what the environment tells about the agent.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use snell::{EngineBuilder, FileAccess, Guest, RegularFile, SnellSettings, Timestamp, read_text_file};
use snell_store::{EventSender, ProcessIdentity};

use crate::env::{self, ConfigArgs, read_variable, read_variable_lossy};

/// Variables that agents and their launchers set.
mod variables {
    /// Set by Claude Code.
    pub(crate) const CLAUDE_PID: &str = "CLAUDE_PID";
    /// Set by launchers, for what they start.
    pub(crate) const SESSION_ID: &str = "CLAUDE_SESSION_ID";
    /// Set by Claude Code, for what it starts.
    pub(crate) const OWN_SESSION_ID: &str = "CLAUDE_CODE_SESSION_ID";
    pub(crate) const SESSION_ROLE: &str = "CLAUDE_SESSION_ROLE";
    pub(crate) const SESSION_MODE: &str = "CLAUDE_SESSION_MODE";
    pub(crate) const MISSION: &str = "MISSION_EXECUTION_ID";
    pub(crate) const HEADSPACE_SESSION_ID: &str = "CLAUDE_HEADSPACE_SESSION_ID";
    pub(crate) const HEADSPACE_TMUX_SESSION: &str = "CLAUDE_HEADSPACE_TMUX_SESSION";
    /// Set by tmux.
    pub(crate) const TMUX: &str = "TMUX";
    pub(crate) const TMUX_PANE: &str = "TMUX_PANE";
}

/// A larger mark holds no number.
const MAX_MARKER_BYTES: u64 = 64;

/// What surrounds a call.
#[derive(Debug)]
pub(crate) struct CallerEnv {
    /// Where Snell keeps what it records.
    pub(crate) data: PathBuf,
    /// A fixed clock, for tests and replays.
    pub(crate) now: Option<Timestamp>,
}

impl CallerEnv {
    pub(crate) fn from_env() -> Self {
        Self { data: ConfigArgs::new(None, None).data_dir(), now: env::read_clock_override() }
    }

    /// An engine for this project, in the making.
    pub(crate) fn engine_builder(project: PathBuf) -> anyhow::Result<EngineBuilder> {
        // A directory that is gone has no hooks; what happens in it is judged and recorded all the same.
        let project = if project.is_dir() { project } else { PathBuf::from("/") };
        ConfigArgs::for_guest(project).engine_builder_with_trust()
    }

    /// What the user's own files say beside their hooks.
    pub(crate) fn load_user_settings() -> anyhow::Result<SnellSettings> {
        let (engine, _) = Self::engine_builder("/".into())?.survey().load();
        Ok(engine.settings())
    }

    /// The nearest directory above that looks like a project, else the directory itself.
    pub(crate) fn find_project(directory: &Path) -> PathBuf {
        let is_root = |candidate: &&Path| Self::has_project_marker(candidate);
        directory.ancestors().find(is_root).unwrap_or(directory).to_owned()
    }

    /// Whether something in a directory says that it is a project.
    pub(crate) fn has_project_marker(directory: &Path) -> bool {
        ["snell.toml", ".git"].iter().any(|marker| directory.join(marker).exists())
    }

    /// What is known of the agent beside its payload.
    pub(crate) fn build_sender(&self, guest: Option<&'static Guest>) -> EventSender {
        let told = read_variable(variables::CLAUDE_PID).and_then(|pid| pid.parse().ok());
        // No process has the number 0.
        let told = told.filter(|pid| *pid > 0);
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        EventSender {
            product: guest.map(|guest| guest.name.to_owned()),
            process_is_told: told.is_some(),
            process: told.map(ProcessIdentity::from_pid).or_else(ProcessIdentity::find_caller),
            host: Some(host).filter(|host| !host.is_empty()),
            cwd: None,
            launcher_session_id: read_variable_lossy(variables::SESSION_ID),
            headspace_session_id: read_variable_lossy(variables::HEADSPACE_SESSION_ID),
            tmux_pane: read_variable_lossy(variables::TMUX_PANE),
            tmux_session: read_variable_lossy(variables::HEADSPACE_TMUX_SESSION),
            tmux_server: read_tmux_server(),
            role: read_variable_trimmed(variables::SESSION_ROLE),
            mode: read_variable_trimmed(variables::SESSION_MODE).map(|mode| mode.to_lowercase()),
            mission_execution_id: read_variable_lossy(variables::MISSION),
            context_window: None,
        }
    }

    /// What is known of an agent of this name that fires its events itself. `CLAUDE_PID` says nothing of it: where it is set,
    /// Claude Code has started this agent, and is another one.
    pub(crate) fn build_host_sender(&self, name: Option<String>) -> EventSender {
        EventSender {
            product: name,
            process_is_told: false,
            process: ProcessIdentity::find_caller(),
            ..self.build_sender(None)
        }
    }

    /// The ids of the session that the environment names, each with the variable that does. The launcher's comes first.
    pub(crate) fn read_session_ids() -> Vec<(&'static str, String)> {
        [variables::SESSION_ID, variables::OWN_SESSION_ID]
            .into_iter()
            .filter_map(|name| Some((name, read_variable(name)?)))
            .collect()
    }

    /// The tmux pane that this process sits in, and the server that it belongs to.
    pub(crate) fn read_tmux_pane() -> Option<(Option<String>, String)> {
        Some((read_tmux_server(), read_variable_lossy(variables::TMUX_PANE)?))
    }

    /// Whether nobody has been told this yet. Where that cannot be remembered, everybody is told every time.
    pub(crate) fn claim_once(&self, key: &[&str]) -> bool {
        match create_marker(&self.marker_path(key)) {
            Err(error) => error.kind() != io::ErrorKind::AlreadyExists,
            Ok(()) => true,
        }
    }

    /// How often this was counted; nothing if that cannot be known.
    pub(crate) fn read_count(&self, key: &[&str]) -> Option<u32> {
        match read_text_file(&self.marker_path(key), MAX_MARKER_BYTES) {
            // What is no number was never written to its end.
            Ok(text) => Some(text.trim().parse().unwrap_or(0)),
            Err(error) => (error.kind() == io::ErrorKind::NotFound).then_some(0),
        }
    }

    /// Remembers how often this was counted; answers whether it will be known.
    pub(crate) fn write_count(&self, key: &[&str], times: u32) -> bool {
        let mark = self.marker_path(key);
        // It may be there already; whether it can be written is seen next.
        let _ = create_marker(&mark);
        let file = RegularFile::open(&mark, FileAccess::WriteExisting).map(RegularFile::into_file);
        file.is_ok_and(|mut file| file.set_len(0).is_ok() && file.write_all(times.to_string().as_bytes()).is_ok())
    }

    /// Begins to count anew.
    pub(crate) fn reset_count(&self, key: &[&str]) {
        // Mostly nothing was counted. What cannot be removed cannot be counted either.
        let _ = fs::remove_file(self.marker_path(key));
    }

    /// The file that stands for this among what sessions have to remember.
    fn marker_path(&self, key: &[&str]) -> PathBuf {
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
fn read_tmux_server() -> Option<String> {
    // The server's socket, its process and the session's number, separated by commas.
    read_variable(variables::TMUX).and_then(|tmux| tmux.split(',').next().map(str::to_owned))
}

/// What a variable says, without blanks around it.
fn read_variable_trimmed(name: &str) -> Option<String> {
    let said = read_variable_lossy(name)?.trim().to_owned();
    (!said.is_empty()).then_some(said)
}

fn create_marker(mark: &Path) -> io::Result<()> {
    if let Some(directory) = mark.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(mark);
    made.map(drop)
}

/// Forgets what was told long ago: those sessions are over.
pub(crate) fn prune_markers(data: &Path, before: std::time::SystemTime) {
    let Ok(entries) = fs::read_dir(data.join("told")) else {
        return;
    };
    for entry in entries.flatten() {
        let old = entry.metadata().and_then(|metadata| metadata.modified()).is_ok_and(|time| time < before);
        if old {
            let _ = fs::remove_file(entry.path());
        }
    }
}
