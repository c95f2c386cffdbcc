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
mod changes;
mod context;
mod error;
mod facts;
mod ingest;
pub mod intent;
mod journal;
mod json;
mod losses;
pub mod mask;
mod model;
mod notes;
mod observation;
pub mod outbox;
mod premises;
mod prepared;
mod process;
pub mod project;
mod query;
mod reconcile;
mod recorder;
mod rows;
pub mod scribe;
mod search;
mod sessions;
mod spoken;
mod spool;
mod sqlite;
mod store;
mod sums;
mod tail;
mod timeline;
pub mod transcript;
mod workers;

pub use changes::{Change, ChangeKind, ChangeRange};
pub use error::{Result, StoreError, with_causes};
pub use facts::{Facts, FinishedWorker, Inquiry, Reminded, no_facts};
pub use ingest::Receipt;
pub use intent::Intent;
pub use losses::Losses;
pub use model::{Actor, Confidence, ContextSource, Correlation, Process, Source, State, TimestampSource};
pub use notes::{Note, Notes, WaitsFor};
pub use observation::{FinishedRun, GuardVerdict, Judgement, Observation, Run, Sender};
pub use premises::{MisplacedFile, Premises, SetAside};
pub use prepared::Prepared;
pub use query::{
    AgentFilter, AgentView, Exported, GuardEntry, GuardFilter, GuardVerdictView, Heard, HookRunView, HookStats,
    LogEntry, LogFilter, Pruned, SessionView, Totals, TurnFilter, TurnView,
};
pub use reconcile::{Pane, PaneServer, Which};
pub use recorder::{DiskCopy, RecordedEvent, Recorder};
pub use search::{FullEvent, LogLine, LogLines, ProjectView};
pub use sessions::{MissionView, OpenSession, SessionFilter, SessionRow, Whereabouts};
pub use spoken::ending;
pub use spool::Spool;
pub use store::{Opened, Store};
pub use sums::{GuardHour, GuardOutcome, HookHour};
pub use tail::{Tail, TailWaker};
pub use timeline::{ChangedInput, SightingFilter, SightingView, TimelineEvent, TimelineFilter, With};
pub use workers::{Worker, WorkerKind, WorkerNote, WorkerStatus};
