//! What tmux shows, and what is typed into it.

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

/// How long tmux may take to answer, unless somebody says otherwise.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(2);

/// What tmux says when there is no server at a socket.
const NO_SERVER_MESSAGES: &[&str] = &["no server running", "error connecting to"];

/// A tmux server.
#[derive(Clone, Debug)]
pub struct TmuxServer {
    /// Its socket; nothing stands for the one that tmux asks by itself.
    socket: Option<String>,
    timeout: Duration,
}

/// A pane, as somebody who wants to type into it sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TmuxPaneDetails {
    /// What is shown of it.
    pub pane: TmuxPane,
    /// The process that was started in it.
    pub pid: Option<u32>,
    /// Whether it shows its history, or something else that takes what is typed.
    pub is_in_mode: bool,
    /// Whether what is typed here is typed into the other panes of its window as well.
    pub is_synchronized: bool,
    /// Whether it takes nothing that is typed.
    pub takes_no_input: bool,
}

/// Why tmux did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TmuxError {
    /// There is no such program.
    #[error("tmux cannot be run; is it installed?")]
    NoTmux(#[source] io::Error),
    /// No server listens there.
    #[error("no tmux server is running{}", format_socket_suffix(socket.as_deref()))]
    NoServer {
        /// Its socket.
        socket: Option<String>,
    },
    /// Another user could answer at its socket.
    #[error(transparent)]
    UnsafeSocket(#[from] SocketPathError),
    /// It did not answer in time.
    #[error("tmux did not answer within {} seconds", _0.as_secs())]
    Timeout(Duration),
    /// It said something else than what was asked for.
    #[error("tmux said: {0}")]
    UnexpectedReply(String),
}

fn format_socket_suffix(socket: Option<&str>) -> String {
    socket.map_or_else(String::new, |socket| format!(" at {socket}"))
}

impl TmuxServer {
    /// The server with this socket; nothing stands for the one that tmux asks by itself.
    pub fn new(socket: Option<String>) -> Self {
        Self { socket, timeout: DEFAULT_TIMEOUT }
    }

    /// The same, which may take only so long to answer.
    #[must_use]
    fn with_timeout(self, patience: Duration) -> Self {
        Self { timeout: patience, ..self }
    }

    /// Lets tmux do this, and answers what it says.
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

    /// The socket to ask, checked anew each time, because an event named it.
    fn resolve_socket(&self) -> Result<Option<PathBuf>, TmuxError> {
        let Some(socket) = &self.socket else {
            return Ok(None);
        };
        match resolve_own_socket(Path::new(socket)) {
            Ok(path) => Ok(Some(path)),
            // Where there is no socket there is no server.
            Err(SocketPathError::Missing(_)) => Err(self.no_server_error()),
            Err(error) => Err(error.into()),
        }
    }

    fn parse_output(&self, output: &Output) -> Result<String, TmuxError> {
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        if NO_SERVER_MESSAGES.iter().any(|start| said.starts_with(start)) {
            return Err(self.no_server_error());
        }
        Err(TmuxError::UnexpectedReply(said.trim_end().to_owned()))
    }

    fn no_server_error(&self) -> TmuxError {
        TmuxError::NoServer { socket: self.socket.clone() }
    }
}
