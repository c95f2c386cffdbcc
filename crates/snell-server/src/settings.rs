//! The settings of a server: its files and all limits.

use std::path::{Path, PathBuf};
use std::time::Duration;

use snell::Timestamp;
use snell_store::usage::{PriceList, UsageDirectory};
use snell_store::{DatabaseLocation, EventRecorder, TranscriptDirectory};

use crate::http::connection_owner::ConnectionOwner;
use crate::http::proxy_identity::TrustedHeader;
use crate::http::tls::TlsFiles;
use crate::http::token::AccessToken;
use crate::reconciler::poll_mode::PollSchedule;

/// The settings of a server.
#[derive(Clone, Debug)]
pub struct ServeSettings {
    /// The data directory. The unix socket is created there.
    pub directory: PathBuf,
    /// The database, if it is not the one of the data directory.
    pub database: Option<DatabaseLocation>,
    /// Whether the server accepts events. Recorded events are shown either way.
    pub enabled: bool,
    /// The token that TCP requests need. Without it, only loopback addresses are allowed.
    pub token: Option<AccessToken>,
    /// The token of clients that may answer requests of agents. Without any token, connections of this user may.
    pub answer_token: Option<AccessToken>,
    /// The header in which proxies name people.
    pub trusted_header: Option<TrustedHeader>,
    /// The certificate and its key, for TLS.
    pub tls: Option<TlsFiles>,
    /// The name of the user, as the author of answers.
    pub user_name: Option<String>,
    /// Whether hooks may wait for answers although no client is connected: notices have buttons.
    pub sends_answer_links: bool,
    /// Additional host names of the server: `name` with any port, or `name:port`.
    pub allow_hosts: Vec<String>,
    /// The policy for connections without a token whose user the kernel does not know.
    pub unknown_senders: UnknownSenderPolicy,
    /// How often the server checks agents.
    pub poll_schedule: PollSchedule,
    /// The transcript directories. Sessions that no hook reported are found there.
    pub transcripts: Vec<TranscriptDirectory>,
    /// The directories in which tokens are counted.
    pub usage_directories: Vec<UsageDirectory>,
    /// The prices of models.
    pub prices: PriceList,
    /// Older records are removed.
    pub keep: Option<Duration>,
    /// The maximum number of stream clients.
    pub max_stream_clients: usize,
    /// The maximum number of queued changes of a stream client. Beyond it, the client gets a gap.
    pub stream_queue: usize,
    /// The interval of heartbeats on a stream.
    pub heartbeat: Duration,
    /// The maximum number of connections.
    pub max_connections: usize,
    /// How long a client may take to send a request head, also of the next request.
    pub head_timeout: Duration,
    /// How long a client may take to send a request body.
    pub body_timeout: Duration,
    /// How long a client may read nothing of a response. Stream clients have no limit.
    pub write_timeout: Duration,
    /// The memory budget for request bodies that are being read or stored, in bytes.
    pub max_body_bytes_in_all: usize,
    /// How long running requests may take after a shutdown began.
    pub grace: Duration,
    /// A fixed clock, for tests and replays.
    pub now: Option<Timestamp>,
}

/// The policy for connections of unknown users without a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownSenderPolicy {
    /// Refuse them.
    Refuse,
    /// Answer them, but ignore the processes, panes and files that their events name.
    Accept,
}

impl UnknownSenderPolicy {
    /// Whether connections of this owner need a token.
    pub(crate) fn refuses_owner(self, owner: ConnectionOwner) -> bool {
        match owner {
            ConnectionOwner::ThisUser => false,
            ConnectionOwner::OtherUser => true,
            ConnectionOwner::Unknown => self == Self::Refuse,
        }
    }
}

impl Default for UnknownSenderPolicy {
    /// Linux knows the users of connections, so an unknown user is suspicious. Other systems know none.
    fn default() -> Self {
        if cfg!(target_os = "linux") { Self::Refuse } else { Self::Accept }
    }
}

impl ServeSettings {
    /// The default settings with this data directory.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            database: None,
            enabled: true,
            token: None,
            answer_token: None,
            trusted_header: None,
            tls: None,
            user_name: None,
            sends_answer_links: false,
            allow_hosts: Vec::new(),
            unknown_senders: UnknownSenderPolicy::default(),
            poll_schedule: PollSchedule::default(),
            transcripts: Vec::new(),
            usage_directories: Vec::new(),
            prices: PriceList::default(),
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

    /// The place of the database.
    pub fn database_location(&self) -> DatabaseLocation {
        self.database.clone().unwrap_or_else(|| EventRecorder::database_path(&self.directory).into())
    }

    /// Who can use the server over TCP: `token`, `this_user`, `this_user_and_unknown` or `any_user`.
    pub(crate) fn access_label(&self) -> &'static str {
        match (&self.token, self.unknown_senders) {
            (Some(_), _) => "token",
            (None, UnknownSenderPolicy::Refuse) => "this_user",
            (None, UnknownSenderPolicy::Accept) if cfg!(target_os = "linux") => "this_user_and_unknown",
            (None, UnknownSenderPolicy::Accept) => "any_user",
        }
    }

    /// The unix socket of a data directory.
    pub fn socket_path_in(directory: &Path) -> PathBuf {
        directory.join("snell.sock")
    }
}
