//! The helper process of hooks: it keeps the database open for them, or delivers their events to a remote receiver.
//!
//! It has two jobs, each in its own process, because they end at different times and must not wait for each other:
//!
//! - [`DaemonJob::Store`]: opening a database costs a hook more than everything else it does. So the first hook that
//!   finds no daemon records its event itself and starts one. Later hooks send their events over a socket and wait
//!   until they are stored. The daemon exits after a minute without requests.
//! - [`DaemonJob::Forward`]: hooks must not wait for a network. A hook that leaves an event in the outbox starts a
//!   daemon that delivers it, unless one runs already.
//!
//! Hooks depend on neither. Without a daemon each hook records its own event, and the next daemon stores the events
//! that the last one left.

mod client;
mod forwarder;
mod server;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::derive::context_usage::ContextReport;
use crate::record::masked_record::MaskedRecord;
use crate::views::session_snapshot::{SessionSnapshot, SnapshotQuery};

pub use client::{
    DeliveryOutcome, HandoffOutcome, flush_daemon, query_session, send_and_wait, send_nowait, spawn_daemon,
};
pub use forwarder::{ForwarderSettings, run_forwarder};
pub use server::{DaemonSettings, DaemonSignals, run_daemon};

/// The job of a daemon. Each directory has at most one daemon per job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DaemonJob {
    /// Keeps the database open for hooks.
    Store,
    /// Delivers the events of the outbox.
    Forward,
}

/// The socket of a directory's daemon. Its name is older than the word "daemon": hooks of other versions use it too.
pub fn socket_path(directory: &Path) -> PathBuf {
    directory.join("scribe.sock")
}

/// The lock that the daemon holds while it keeps a directory's database open.
pub(crate) fn lock_path(directory: &Path) -> PathBuf {
    directory.join("scribe.lock")
}

/// This file exists while the daemon cannot store events.
fn failure_marker_path(directory: &Path) -> PathBuf {
    directory.join("scribe.trouble")
}

/// A request to the daemon. The JSON names are those of other versions of Snell.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DaemonRequest {
    /// An event.
    Record {
        /// The event to store.
        #[serde(rename = "observation")]
        record: Box<MaskedRecord>,
        /// The name of its pending file, which the daemon removes once the event is stored.
        #[serde(default, rename = "note", skip_serializing_if = "Option::is_none")]
        pending: Option<OsString>,
        /// Whether a copy of it is in the spool.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_spooled: bool,
    },
    /// Nothing to do: the response means that all earlier events are stored.
    Settle,
    /// The context usage of a session.
    Context {
        /// The session.
        session_id: String,
        /// The usage, the size of the context and the model.
        #[serde(flatten)]
        report: ContextReport,
    },
    /// A question about a session, answered after all earlier events are stored.
    Look(SnapshotQuery),
}

/// The response to a request.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DaemonResponse {
    /// Warnings for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// The session's data; nothing if the daemon cannot read it now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<SessionSnapshot>,
    /// Whether the event is only in the pending file that its sender wrote. Otherwise the daemon has removed that file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_note: bool,
}
