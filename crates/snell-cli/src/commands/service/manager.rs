//! The service managers: where their files are, and their commands.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Serialize;

use super::unit_file::{LAUNCHD_LABEL, ServiceFormat};
use crate::env::read_dir_variable;
use crate::install::notify_script::shell_quote;

/// The name of the systemd unit.
const SYSTEMD_UNIT: &str = "snell.service";

/// The service manager of the user.
#[derive(Debug)]
pub(super) struct ServiceManager {
    pub(super) format: ServiceFormat,
    /// The service file.
    pub(super) unit_path: PathBuf,
    /// The log file, if the manager has no log of its own.
    pub(super) log_path: PathBuf,
}

/// The state of the service, as its manager reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ServiceState {
    Running,
    Stopped,
    Failed,
    /// The manager cannot be reached.
    Unknown,
}

impl ServiceState {
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
            Self::Unknown => "unknown: the service manager cannot be reached",
        }
    }
}

/// One command of a service manager.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ManagerCommand {
    program: &'static str,
    arguments: Vec<String>,
}

impl ManagerCommand {
    fn new(program: &'static str, arguments: &[&str]) -> Self {
        Self { program, arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect() }
    }

    /// Runs it. The error has the manager's own words.
    pub(super) fn run(&self) -> Result<(), String> {
        match self.read_output() {
            None => Err(format!("`{}` cannot be run", self.program)),
            Some((true, _, _)) => Ok(()),
            Some((false, _, stderr)) => Err(format!("`{self}` failed: {}", stderr.trim())),
        }
    }

    /// Whether it succeeds, its output and its errors; nothing if the program cannot be run.
    fn read_output(&self) -> Option<(bool, String, String)> {
        let output = Command::new(self.program).args(&self.arguments).stdin(Stdio::null()).output().ok()?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Some((output.status.success(), text(&output.stdout), text(&output.stderr)))
    }
}

/// The command for a shell.
impl fmt::Display for ManagerCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.program)?;
        for argument in &self.arguments {
            let is_plain = argument.chars().all(|c| c.is_alphanumeric() || "/._-+@".contains(c));
            match is_plain {
                true => write!(f, " {argument}")?,
                false => write!(f, " {}", shell_quote(argument))?,
            }
        }
        Ok(())
    }
}

impl ServiceManager {
    pub(super) fn new(format: ServiceFormat, home: &Path) -> Self {
        let unit_path = match format {
            ServiceFormat::Systemd => {
                let config = read_dir_variable("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
                config.join("systemd/user").join(SYSTEMD_UNIT)
            }
            ServiceFormat::Launchd => home.join("Library/LaunchAgents").join(format!("{LAUNCHD_LABEL}.plist")),
        };
        Self { format, unit_path, log_path: home.join("Library/Logs/snell.log") }
    }

    /// Fails if the manager does not answer, with the reason.
    pub(super) fn check_reachable(&self) -> Result<(), String> {
        let probe = match self.format {
            ServiceFormat::Systemd => systemctl(&["show-environment"]),
            ServiceFormat::Launchd => ManagerCommand::new("launchctl", &["print", &user_domain()]),
        };
        probe.run()
    }

    /// Starts a new service, now and at every login.
    pub(super) fn start_commands(&self) -> Vec<ManagerCommand> {
        match self.format {
            ServiceFormat::Systemd => {
                vec![
                    systemctl(&["daemon-reload"]),
                    systemctl(&["enable", SYSTEMD_UNIT]),
                    systemctl(&["start", SYSTEMD_UNIT]),
                ]
            }
            ServiceFormat::Launchd => {
                let path = self.unit_path.display().to_string();
                vec![ManagerCommand::new("launchctl", &["bootstrap", &user_domain(), &path])]
            }
        }
    }

    /// Starts a service whose file exists. launchd must forget the old file first, if it is loaded.
    pub(super) fn update_commands(&self) -> Vec<ManagerCommand> {
        match self.format {
            ServiceFormat::Systemd => vec![
                systemctl(&["daemon-reload"]),
                systemctl(&["enable", SYSTEMD_UNIT]),
                systemctl(&["restart", SYSTEMD_UNIT]),
            ],
            ServiceFormat::Launchd if self.query_state() == ServiceState::Stopped => self.start_commands(),
            ServiceFormat::Launchd => self.stop_commands().into_iter().chain(self.start_commands()).collect(),
        }
    }

    /// Stops the service, and starts it at no login.
    pub(super) fn stop_commands(&self) -> Vec<ManagerCommand> {
        match self.format {
            ServiceFormat::Systemd => vec![systemctl(&["disable", "--now", SYSTEMD_UNIT])],
            ServiceFormat::Launchd => {
                vec![ManagerCommand::new("launchctl", &["bootout", &format!("{}/{LAUNCHD_LABEL}", user_domain())])]
            }
        }
    }

    /// Makes the manager forget a removed file.
    pub(super) fn reload_commands(&self) -> Vec<ManagerCommand> {
        match self.format {
            ServiceFormat::Systemd => vec![systemctl(&["daemon-reload"])],
            ServiceFormat::Launchd => Vec::new(),
        }
    }

    pub(super) fn query_state(&self) -> ServiceState {
        match self.format {
            ServiceFormat::Systemd => match systemctl(&["is-active", SYSTEMD_UNIT]).read_output() {
                None => ServiceState::Unknown,
                Some((_, state, _)) => match state.trim() {
                    "active" | "activating" | "reloading" => ServiceState::Running,
                    "inactive" | "deactivating" => ServiceState::Stopped,
                    "failed" => ServiceState::Failed,
                    _ => ServiceState::Unknown,
                },
            },
            ServiceFormat::Launchd => {
                let target = format!("{}/{LAUNCHD_LABEL}", user_domain());
                match ManagerCommand::new("launchctl", &["print", &target]).read_output() {
                    None => ServiceState::Unknown,
                    Some((true, state, _)) if state.contains("state = running") => ServiceState::Running,
                    Some((true, ..)) => ServiceState::Failed,
                    Some((false, ..)) => ServiceState::Stopped,
                }
            }
        }
    }

    /// The command that shows the log.
    pub(super) fn log_command(&self) -> String {
        match self.format {
            ServiceFormat::Systemd => format!("journalctl --user -u {SYSTEMD_UNIT}"),
            ServiceFormat::Launchd => format!("tail -f {}", shell_quote(&self.log_path.display().to_string())),
        }
    }

    /// The command that keeps the services of a user running after logout.
    pub(super) fn linger_command(&self) -> Option<&'static str> {
        match self.format {
            ServiceFormat::Systemd => Some("loginctl enable-linger"),
            ServiceFormat::Launchd => None,
        }
    }
}

fn systemctl(arguments: &[&str]) -> ManagerCommand {
    ManagerCommand::new("systemctl", &[&["--user"], arguments].concat())
}

/// The user's domain of launchd.
fn user_domain() -> String {
    format!("gui/{}", rustix::process::geteuid().as_raw())
}
