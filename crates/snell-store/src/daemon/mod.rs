//! The helper process of hooks: it keeps the database open for them, or delivers their events to a remote receiver.
//!
//! It has two jobs, each in a process of its own, because they end at different times and one must not wait for the other:
//!
//! - [`DaemonJob::Store`]: opening a database costs a hook more than everything else it does. So the first hook that finds
//!   no daemon records its event itself and starts one; the next ones hand theirs over a socket and wait until it is
//!   stored. The daemon leaves when nothing has come for a minute.
//! - [`DaemonJob::Forward`]: hooks must not wait for a network. A hook that leaves an event in the outbox starts a daemon
//!   that delivers it, unless one is at work. It stays for a while, and leaves.
//!
//! Hooks do not depend on either. Without a daemon every hook records for itself, and the next daemon finds the events
//! that the last one left.

mod client;
mod forwarder;
mod server;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::record::masked_record::MaskedRecord;
use crate::views::session_snapshot::{SessionSnapshot, SnapshotQuery};

pub use client::{
    DeliveryOutcome, HandoffOutcome, flush_daemon, query_session, send_and_wait, send_nowait, spawn_daemon,
};
pub use forwarder::{ForwarderSettings, run_forwarder};
pub use server::{DaemonSettings, run_daemon};

/// What a daemon does. Each directory has one daemon at most for each job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DaemonJob {
    /// Keeps the database open for hooks.
    Store,
    /// Delivers the events of the outbox.
    Forward,
}

/// The socket of the daemon of a directory. Its name is older than the daemon's: hooks of other versions use it too.
pub fn socket_path(directory: &Path) -> PathBuf {
    directory.join("scribe.sock")
}

/// Held by the daemon that keeps the database of a directory open, for as long as it lives.
pub(crate) fn lock_path(directory: &Path) -> PathBuf {
    directory.join("scribe.lock")
}

/// There while the daemon of a directory cannot store the events that it is handed.
fn failure_marker_path(directory: &Path) -> PathBuf {
    directory.join("scribe.trouble")
}

/// A request to the daemon. Its names as JSON are those that hooks and daemons of other versions know.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DaemonRequest {
    /// An event.
    Record {
        /// What is to be stored.
        #[serde(rename = "observation")]
        record: Box<MaskedRecord>,
        /// The name of its pending file, to be removed when it is stored.
        #[serde(default, rename = "note", skip_serializing_if = "Option::is_none")]
        pending: Option<OsString>,
        /// Whether a copy of it is in the spool.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_spooled: bool,
    },
    /// Nothing: the response says that everything that came before is stored.
    Settle,
    /// How full the context of a session is.
    Context {
        /// The session.
        session_id: String,
        /// In percent.
        percent: f64,
        /// The model in use.
        model: Option<String>,
    },
    /// What is known of a session, once everything is stored that came before.
    Look(SnapshotQuery),
}

/// The response to a request that is done.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DaemonResponse {
    /// Warnings for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// What is known of the session; nothing if that cannot be said now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<SessionSnapshot>,
    /// Whether the event is nowhere but in the pending file that its sender wrote. Else the daemon has removed that file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_note: bool,
}
