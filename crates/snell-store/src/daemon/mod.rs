//! The scribe: a process that keeps the database open for a while, so that hooks need not open it each time.
//!
//! Opening a database costs a hook more than everything else it does. So the first hook that finds nobody there records
//! its event itself and starts a scribe; the next ones hand theirs over a socket and wait until it is stored. The scribe
//! leaves when nothing has come for a minute. Nobody depends on it: without one, every hook records for itself.

mod client;
mod server;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::record::event_record::EventRecord;
use crate::views::session_snapshot::{SessionSnapshot, SnapshotQuery};

pub use client::{
    DeliveryOutcome, HandoffOutcome, flush_daemon, query_session, send_and_wait, send_nowait, spawn_daemon,
};
pub use server::{DaemonSettings, run_daemon};

/// The socket of the scribe of a directory.
pub fn socket_path(directory: &Path) -> PathBuf {
    directory.join("scribe.sock")
}

/// Held by the scribe of a directory for as long as it lives.
pub(crate) fn lock_path(directory: &Path) -> PathBuf {
    directory.join("scribe.lock")
}

/// There while the scribe of a directory cannot store what it is handed.
fn failure_marker_path(directory: &Path) -> PathBuf {
    directory.join("scribe.trouble")
}

/// What a scribe is asked to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DaemonRequest {
    /// An event.
    Record {
        /// What was observed.
        observation: Box<EventRecord>,
        /// The name of the note that was written of it, to be removed when it is stored.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<OsString>,
        /// Whether a copy of it is in the spool.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_spooled: bool,
    },
    /// Nothing: the answer says that everything that came before is stored.
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

/// What the scribe answers when a request is dealt with: perhaps there is something to tell.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DaemonResponse {
    /// What people should be told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// What is known of the session that was asked about; nothing if that cannot be said now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<SessionSnapshot>,
    /// Whether the event is nowhere but in the note that its sender wrote.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_note: bool,
}
