//! The events of all agents' sessions in one database.
//!
//! An [`EventRecord`] is one event: the agent's payload, its sender, and the decision. The [`Store`] ingests it in one
//! transaction: it finds the agent, computes the changes, stores the turns, and stores the event.
//!
//! ```text
//! EventRecord ── record: mask ──► derive: correlate ► transition ► turns ──► db: rows, change feed
//!                     │                               ▲             ▲
//!               queue, daemon                  known sessions   transcript, process
//! ```
//!
//! Any number of processes may do this at once on one file. All decisions are made above the trait `db::rows::Rows`;
//! the database below it is SQLite.

pub mod daemon;
mod db;
pub mod derive;
mod error;
pub mod queue;
mod reconcile;
pub mod record;
pub mod requests;
mod store;
pub mod usage;
mod views;

pub use db::agent_activity::{AgentActivity, BackgroundWork};
pub use db::change_feed::{ChangeKind, ChangeRange, ChangeRow};
pub use db::change_watcher::{ChangeWatcher, WatcherWaker};
pub use db::data_dir::{DamagedDatabase, DataDirReport, MisplacedFile};
pub use db::dispatches::{
    ClaimedDelivery, DeliveryClaim, DeliveryResult, DeliveryStatus, DeliveryView, DispatchTable, DispatchView,
    PlannedDelivery,
};
pub use db::location::DatabaseLocation;
pub use db::model::{
    AgentState, ContextSource, CorrelationMethod, ProcessIdentity, StateConfidence, StateSource, TimestampSource,
    TurnActor,
};
#[cfg(feature = "postgres")]
pub use db::postgres::PostgresAddress;
pub use db::telemetry::{
    FinishedTelemetryRun, TelemetryAgent, TelemetryBatch, TelemetryClaim, TelemetryEvent, TelemetryItem,
    TelemetryOutcome, TelemetryProgress, TelemetryReply, TelemetryRun, TelemetrySeries, TelemetrySighting,
    TelemetrySignalView, TelemetryTable, WaitingTelemetryItem,
};
pub use db::usage::{UsageFilter, UsageGrouping, UsageQueries, UsageSum};
pub use db::workers::{SessionWorker, WorkerKind, WorkerStatus, WorkerUpdate};
pub use derive::IngestReceipt;
pub use derive::context_usage::ContextReport;
pub use derive::intent::TurnIntent;
pub use derive::labels::describe_end_reason;
pub use derive::normalize::NormalizedEvent;
pub use derive::process::ProcessFingerprint;
pub use derive::tool_calls::summarize_tool_call;
pub use error::{Result, StoreError, format_error_chain};
pub use queue::pending::{PendingClaim, PendingEvent, PendingQueue};
pub use queue::recorder::{DiskCopy, EventRecorder, RecordOutcome};
pub use queue::spool::EventSpool;
pub use reconcile::{FileFingerprint, ReconcileScope, TmuxPane, TmuxServerPanes, TranscriptDirectory, WatchTarget};
pub use record::event_record::{
    DecisionRecord, EventRecord, EventSender, FinishedHookRun, GuardVerdictRecord, HookRunRecord,
};
pub use record::masked_record::MaskedRecord;
pub use record::redaction_marks::Redactions;
pub use store::{OpenedStore, Store};
pub use views::log_search::{EventDetails, LogLine, LogSearchResult, ProjectView};
pub use views::queries::{
    LiveQueries, LogQueries, Queries, RequestQueries, RollupQueries, SessionQueries, TimelineQueries,
};
pub use views::query_types::{
    AgentFilter, AgentView, DecisionAuthor, EventActivity, ExportLine, FailedHook, GuardFilter, GuardLogEntry,
    GuardVerdictView, HookRunView, HookStats, LogEntry, LogFilter, PruneCounts, SessionView, StoreTotals, TurnFilter,
    TurnView,
};
pub use views::rollups::{GuardHour, GuardOutcome, HookHour};
pub use views::session_snapshot::{
    FinishedWorker, ReminderRecord, SessionSnapshot, SnapshotQuery, format_snapshot_error,
};
pub use views::sessions::{AgentLocation, MissionView, OpenSession, SessionFilter, SessionRow};
pub use views::timeline::{ChangedInput, SightingFilter, SightingView, TimelineAspect, TimelineEvent, TimelineFilter};
