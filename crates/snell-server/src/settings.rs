//! How a server works: where it keeps things, and every limit it has.

use std::path::{Path, PathBuf};
use std::time::Duration;

use snell::Timestamp;
use snell_store::EventRecorder;

use crate::http::connection_owner::ConnectionOwner;
use crate::http::token::AccessToken;
use crate::reconciler::poll_mode::PollSchedule;

/// How a server works.
#[derive(Clone, Debug)]
pub struct ServeSettings {
    /// Where Snell keeps what it records. The unix socket is made there.
    pub directory: PathBuf,
    /// The database, if it is not the one of the directory.
    pub database: Option<PathBuf>,
    /// Whether hook events are taken. What was recorded is shown either way.
    pub enabled: bool,
    /// What a request must show that does not come through the unix socket. Without it only a loopback address is served.
    pub token: Option<AccessToken>,
    /// Names by which the server may be called beside its own: `name`, with any port, or `name:port`.
    pub allow_hosts: Vec<String>,
    /// What to do with requests without a token over connections whose user the kernel does not tell.
    pub unknown_senders: UnknownSenderPolicy,
    /// How often agents are looked after.
    pub poll_schedule: PollSchedule,
    /// Where agents write transcripts: each holds a directory for every project. Sessions that no hook reported are found
    /// there.
    pub transcripts: Vec<PathBuf>,
    /// What is older than this is removed.
    pub keep: Option<Duration>,
    /// How many may listen to the stream at a time.
    pub max_stream_clients: usize,
    /// How many changes may wait for one listener before it is told of a gap.
    pub stream_queue: usize,
    /// How often a listener is told that the stream is still there.
    pub heartbeat: Duration,
    /// How many connections there may be at a time.
    pub max_connections: usize,
    /// How long a client may take to send the head of a request, and to begin the next one.
    pub head_timeout: Duration,
    /// How long a client may take to send the body of a request.
    pub body_timeout: Duration,
    /// How long a client may take nothing of what it is answered. Those who listen to the stream may.
    pub write_timeout: Duration,
    /// How many bytes of bodies there may be at a time that are being read or wait to be stored.
    pub max_body_bytes_in_all: usize,
    /// How long requests that are under way may take to end once the server is told to.
    pub grace: Duration,
    /// A fixed clock, for tests and replays.
    pub now: Option<Timestamp>,
}

/// What to do with requests of unknown users, where there is no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownSenderPolicy {
    /// Refuse them.
    Refuse,
    /// Answer them, and ignore the processes, panes and files that their events name.
    Accept,
}

impl UnknownSenderPolicy {
    /// Whether a connection of this owner gets nothing without a token.
    pub(crate) fn refuses_owner(self, owner: ConnectionOwner) -> bool {
        match owner {
            ConnectionOwner::ThisUser => false,
            ConnectionOwner::OtherUser => true,
            ConnectionOwner::Unknown => self == Self::Refuse,
        }
    }
}

impl Default for UnknownSenderPolicy {
    /// Linux knows the users of connections, so an unknown one is suspicious; other systems know none.
    fn default() -> Self {
        if cfg!(target_os = "linux") { Self::Refuse } else { Self::Accept }
    }
}

impl ServeSettings {
    /// A server that keeps everything in this directory, and works as it does by default.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            database: None,
            enabled: true,
            token: None,
            allow_hosts: Vec::new(),
            unknown_senders: UnknownSenderPolicy::default(),
            poll_schedule: PollSchedule::default(),
            transcripts: Vec::new(),
            keep: None,
            max_stream_clients: 1000,
            stream_queue: 1024,
            heartbeat: Duration::from_secs(30),
            max_connections: 4096,
            head_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            max_body_bytes_in_all: 64 * 1024 * 1024,
            grace: Duration::from_secs(5),
            now: None,
        }
    }

    /// The database's path.
    pub fn database_path(&self) -> PathBuf {
        self.database.clone().unwrap_or_else(|| EventRecorder::database_path(&self.directory))
    }

    /// Who can use the server over TCP, in a word: `token`, `this_user`, `this_user_and_unknown` or `any_user`.
    pub(crate) fn access_label(&self) -> &'static str {
        match (&self.token, self.unknown_senders) {
            (Some(_), _) => "token",
            (None, UnknownSenderPolicy::Refuse) => "this_user",
            (None, UnknownSenderPolicy::Accept) if cfg!(target_os = "linux") => "this_user_and_unknown",
            (None, UnknownSenderPolicy::Accept) => "any_user",
        }
    }

    /// The unix socket of a server that keeps everything in this directory.
    pub fn socket_path_in(directory: &Path) -> PathBuf {
        directory.join("snell.sock")
    }
}
