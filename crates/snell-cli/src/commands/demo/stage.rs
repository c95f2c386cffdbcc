//! The temporary directory of the demo, and the environment of its processes.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, ensure};
use snell_store::{EventRecorder, Store};
use tempfile::TempDir;
use tokio::process::Command;

use super::cast::{HARBOUR, LIGHTHOUSE};
use super::cleanup::directories::{DIRECTORY_PREFIX, DemoLivenessLock};
use crate::output::CommandError;

/// A file of the project with the hooks. Scripts are those whose name ends in `.sh`.
struct DemoProp {
    path: &'static str,
    text: &'static str,
}

macro_rules! props {
    ($($path:literal from $file:literal),* $(,)?) => {
        &[$(DemoProp { path: $path, text: include_str!(concat!("props/", $file)) }),*]
    };
}

/// Hooks of every format, in the files of that format.
const PROPS: &[DemoProp] = props![
    "snell.toml" from "snell.toml",
    "hooks/lock-file.sh" from "hooks/lock-file.sh",
    ".wave/settings.json" from "wave.json",
    "hooks/freeze.sh" from "hooks/freeze.sh",
    "hooks/format.sh" from "hooks/format.sh",
    ".microai/settings.json" from "microai.json",
    "hooks/no-force.sh" from "hooks/no-force.sh",
    ".claude/settings.json" from "claude.json",
    ".claude/hooks/main-is-protected.sh" from "hooks/main-is-protected.sh",
    ".claude/hooks/greet.sh" from "hooks/greet.sh",
    ".whale/hooks.json" from "whale.json",
    "hooks/reproducible.sh" from "hooks/reproducible.sh",
    "hooks/seen.sh" from "hooks/seen.sh",
    "Desktop/TODAY.md" from "today.md",
    "Desktop/MEMORY.md" from "memory.md",
    ".claude/roles/builder.md" from "role.md",
    "docs/lamp.md" from "lamp.md",
];

/// The user's own file: the demo shows files at the start of a session, reminders and rules for messages.
const USER_CONFIG_FILE: &str = ".config/snell/snell.toml";
const USER_CONFIG: &str = "profile = \"claude-os\"\n";

/// A script that does nothing.
const HARMLESS_SCRIPT: &str = "hooks/seen.sh";

/// The file that marks a project.
const PROJECT_MARKER: &str = "package.json";

/// The only inherited variable, needed to find programs.
const INHERITED_VARIABLE: &str = "PATH";

/// With less free space than this, the disk is the cause of a failure.
const MIN_FREE_BYTES: u64 = 256 * 1024;

/// The attempts to remove the directory, in case a process still writes to it.
const REMOVE_ATTEMPTS: u32 = 20;
const REMOVE_RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// The directory, which is removed on drop.
#[derive(Debug)]
pub(super) struct DemoStage {
    directory: TempDir,
    /// Its path with all symlinks resolved.
    root: PathBuf,
    program: PathBuf,
    _alive: DemoLivenessLock,
}

impl DemoStage {
    /// Creates the directory and all files.
    pub(super) fn set_up() -> anyhow::Result<Self> {
        let parent = std::env::temp_dir();
        let unusable = || {
            CommandError::new(format!("cannot use {} for the demo", parent.display()))
                .with_hint("set TMPDIR to another directory")
        };
        let directory = tempfile::Builder::new().prefix(DIRECTORY_PREFIX).tempdir_in(&parent).with_context(unusable)?;
        let root = directory.path().canonicalize().with_context(unusable)?;
        let program = std::env::current_exe().context("cannot find the path of this program")?;
        let stage = Self { _alive: DemoLivenessLock::acquire(&root).with_context(unusable)?, directory, root, program };
        stage.write_files().and_then(|()| stage.check_scripts_run()).with_context(unusable)?;
        Ok(stage)
    }

    fn write_files(&self) -> anyhow::Result<()> {
        for directory in ["home", "data", "tmp"] {
            fs::create_dir(self.root.join(directory))?;
        }
        for project in [LIGHTHOUSE, HARBOUR] {
            write_file(&self.project_dir(project).join(PROJECT_MARKER), "{}\n")?;
        }
        write_file(&self.root.join("home").join(USER_CONFIG_FILE), USER_CONFIG)?;
        for prop in PROPS {
            write_file(&self.project_dir(LIGHTHOUSE).join(prop.path), prop.text)?;
        }
        Ok(())
    }

    /// Checks that scripts can run and the path is UTF-8, because hooks would fail otherwise.
    fn check_scripts_run(&self) -> anyhow::Result<()> {
        ensure!(self.root.to_str().is_some(), "its path is not UTF-8");
        let script = self.project_dir(LIGHTHOUSE).join(HARMLESS_SCRIPT);
        let mut command = std::process::Command::new(&script);
        let ran = command.env_clear().stdin(Stdio::null()).status();
        let ran = ran.with_context(|| format!("cannot run {}", script.display()))?;
        ensure!(ran.success(), "{} failed ({ran})", script.display());
        Ok(())
    }

    pub(super) fn project_dir(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The data directory.
    pub(super) fn data_dir(&self) -> PathBuf {
        data_dir_in(&self.root)
    }

    /// Queries the records.
    pub(super) fn query_store<T>(&self, query: impl FnOnce(&mut Store) -> snell_store::Result<T>) -> anyhow::Result<T> {
        Ok(EventRecorder::new(self.data_dir()).open_store_for_reading().and_then(query)?)
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// This program, without the user's environment.
    pub(super) fn snell_command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = self.isolated_command(&self.program);
        command.args(args);
        command
    }

    /// A program without the user's environment, which is killed when its handle is dropped.
    pub(super) fn isolated_command(&self, program: impl AsRef<OsStr>) -> Command {
        let home = self.root.join("home");
        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(std::env::var_os(INHERITED_VARIABLE).map(|value| (INHERITED_VARIABLE, value)))
            .env("HOME", &home)
            .env("USER", "demo")
            .env("TMPDIR", self.root.join("tmp"))
            .env("XDG_CONFIG_HOME", home.join(".config"))
            .env("XDG_DATA_HOME", home.join(".local/share"))
            .env("XDG_STATE_HOME", home.join(".local/state"))
            .env("XDG_CACHE_HOME", home.join(".cache"))
            .env("XDG_RUNTIME_DIR", self.root.join("tmp"))
            .env("SNELL_HOME", self.data_dir())
            // A daemon would outlive the demo. Without one, hooks record by themselves.
            .env("SNELL_DAEMON", "off")
            .current_dir(&self.root)
            // Ctrl-C reaches only the demo, which then ends the others in order.
            .process_group(0)
            .kill_on_drop(true)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Whether the disk is full.
    pub(super) fn is_disk_full(&self) -> bool {
        let disk = rustix::fs::statvfs(&self.root);
        disk.is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) < MIN_FREE_BYTES)
    }

    /// Adds to an error that the disk is full, because the error itself rarely shows it.
    pub(super) fn add_disk_full_context(&self, error: anyhow::Error) -> anyhow::Error {
        if !self.is_disk_full() {
            return error;
        }
        let full = CommandError::new(format!("no space left for {}", self.root.display()));
        error.context(full.with_hint("set TMPDIR to a directory with more space"))
    }

    /// Removes the directory, with several attempts, because a process may have written to it just before its end.
    pub(super) async fn remove(self) -> anyhow::Result<()> {
        let path = self.directory.keep();
        let mut removed = fs::remove_dir_all(&path);
        for _ in 0..REMOVE_ATTEMPTS {
            if !path.exists() {
                return Ok(());
            }
            tokio::time::sleep(REMOVE_RETRY_INTERVAL).await;
            removed = fs::remove_dir_all(&path);
        }
        removed.with_context(|| {
            CommandError::new(format!("cannot remove {}", path.display())).with_hint("remove the directory yourself")
        })
    }
}

/// The data directory of a demo in this directory.
pub(super) fn data_dir_in(root: &Path) -> PathBuf {
    root.join("data")
}

fn write_file(path: &Path, text: &str) -> anyhow::Result<()> {
    let written = path.parent().map_or(Ok(()), fs::create_dir_all);
    let written = written.and_then(|()| fs::write(path, text));
    let is_script = path.extension().is_some_and(|extension| extension == "sh");
    let mode = Permissions::from_mode(if is_script { 0o755 } else { 0o644 });
    written.and_then(|()| fs::set_permissions(path, mode)).with_context(|| format!("cannot write {}", path.display()))
}
