//! Reads tmux panes and types into them.

mod focus;
mod panes;
mod send_keys;
mod socket_path;

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use snell_store::TmuxPane;
use tokio::process::Command;

pub(crate) use panes::query_pane_servers;
pub use socket_path::SocketPathError;
use socket_path::resolve_own_socket;

/// The default time limit of a tmux command.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(2);

/// The messages of tmux if no server is running at a socket.
const NO_SERVER_MESSAGES: &[&str] = &["no server running", "error connecting to"];

/// A tmux server.
#[derive(Clone, Debug)]
pub struct TmuxServer {
    /// Its socket; `None` is the default of tmux.
    socket: Option<String>,
    timeout: Duration,
}

/// A pane, with what matters before typing into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TmuxPaneDetails {
    /// The pane itself.
    pub pane: TmuxPane,
    /// The process that was started in the pane.
    pub pid: Option<u32>,
    /// Whether the pane is in a mode that reads the keys, such as copy mode.
    pub is_in_mode: bool,
    /// Whether typed text also goes to the other panes of the window.
    pub is_synchronized: bool,
    /// Whether the pane ignores typed text.
    pub takes_no_input: bool,
}

/// Why a tmux command failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TmuxError {
    /// tmux cannot be started.
    #[error("cannot run tmux")]
    NoTmux(#[source] io::Error),
    /// No server is running at the socket.
    #[error("no tmux server is running{}", format_socket_suffix(socket.as_deref()))]
    NoServer {
        /// Its socket.
        socket: Option<String>,
    },
    /// Another user could control the socket.
    #[error(transparent)]
    UnsafeSocket(#[from] SocketPathError),
    /// tmux did not answer in time.
    #[error("tmux did not answer within {} seconds", _0.as_secs())]
    Timeout(Duration),
    /// tmux failed or printed something unexpected.
    #[error("tmux reported: {0}")]
    UnexpectedReply(String),
}

impl TmuxError {
    /// A remedy for the user.
    pub fn hint(&self) -> Option<&'static str> {
        matches!(self, Self::NoTmux(_)).then_some("install tmux, or add it to PATH")
    }
}

fn format_socket_suffix(socket: Option<&str>) -> String {
    socket.map_or_else(String::new, |socket| format!(" at {socket}"))
}

impl TmuxServer {
    /// The server with this socket; `None` is the default of tmux.
    pub fn new(socket: Option<String>) -> Self {
        Self { socket, timeout: DEFAULT_TIMEOUT }
    }

    /// The same with another time limit.
    #[must_use]
    fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Runs a tmux command and returns its output.
    async fn run_command(&self, args: &[&str]) -> Result<String, TmuxError> {
        let mut tmux = Command::new("tmux");
        if let Some(socket) = self.resolve_socket()? {
            tmux.arg("-S").arg(socket);
        }
        tmux.args(args).stdin(Stdio::null()).kill_on_drop(true);
        let output = tokio::time::timeout(self.timeout, tmux.output())
            .await
            .map_err(|_| TmuxError::Timeout(self.timeout))?
            .map_err(TmuxError::NoTmux)?;
        self.parse_output(&output)
    }

    /// The socket, checked before each use, because an event named it.
    fn resolve_socket(&self) -> Result<Option<PathBuf>, TmuxError> {
        let Some(socket) = &self.socket else {
            return Ok(None);
        };
        match resolve_own_socket(Path::new(socket)) {
            Ok(path) => Ok(Some(path)),
            // Without a socket there is no server.
            Err(SocketPathError::Missing(_)) => Err(self.no_server_error()),
            Err(error) => Err(error.into()),
        }
    }

    fn parse_output(&self, output: &Output) -> Result<String, TmuxError> {
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        if NO_SERVER_MESSAGES.iter().any(|start| stderr.starts_with(start)) {
            return Err(self.no_server_error());
        }
        Err(TmuxError::UnexpectedReply(stderr.trim_end().to_owned()))
    }

    fn no_server_error(&self) -> TmuxError {
        TmuxError::NoServer { socket: self.socket.clone() }
    }
}
