//! What happened in every agent's session, kept in one database.
//!
//! An [`Observation`] is one event as it was seen: what the agent sent, who sent it, what was decided. The [`Store`] takes
//! it in, in one transaction: it finds the agent, sees what the event changes, keeps what was said, and keeps the event.
//!
//! ```text
//!  Observation ── mask ──► correlate ──► transition ──► turns ──► rows
//!                              ▲              ▲
//!                        known sessions   transcript, process
//! ```
//!
//! Any number of processes may do this at once on one file. Everything that decides is written once, above the trait
//! `rows::Rows`; the database below it is SQLite.

mod backend;
mod error;
mod ingest;
pub mod intent;
mod json;
pub mod mask;
mod model;
mod notes;
mod observation;
mod premises;
mod process;
pub mod project;
mod query;
mod recorder;
mod rows;
pub mod scribe;
mod spool;
mod sqlite;
mod store;
pub mod transcript;

pub use error::{Result, StoreError};
pub use ingest::Receipt;
pub use intent::Intent;
pub use model::{Actor, Confidence, ContextSource, Correlation, Process, Source, State, TimestampSource};
pub use notes::{Note, Notes, WaitsFor};
pub use observation::{FinishedRun, GuardVerdict, Judgement, Observation, Run, Sender};
pub use premises::{Premises, SetAside};
pub use query::{
    AgentFilter, AgentView, Exported, GuardVerdictView, HookRunView, LogEntry, LogFilter, Pruned, SessionView, Totals,
    TurnView,
};
pub use recorder::Recorder;
pub use spool::Spool;
pub use store::{Opened, Store, Which};
