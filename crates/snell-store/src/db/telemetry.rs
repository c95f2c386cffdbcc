//! Telemetry for an OpenTelemetry collector: reading the record once, and the queue of what is not sent yet.

use serde::Serialize;
use snell::Timestamp;

use crate::db::model::AgentState;
use crate::error::Result;
use crate::views::query_types::{GuardVerdictView, HookRunView};

/// How far the record has been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TelemetryProgress {
    /// The last event that was read.
    pub event_row: i64,
    /// The last change of state without an event that was read.
    pub sighting_id: i64,
    /// The number of batches so far. A batch that another process has read meanwhile is not stored.
    pub revision: i64,
    /// Since when metrics are counted.
    pub started_at: Timestamp,
    /// A random id of this database.
    pub instance: String,
}

/// The agent of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TelemetryAgent {
    /// Its number.
    pub agent_id: i64,
    /// Its product.
    pub product: Option<String>,
    /// Its session.
    pub session_id: Option<String>,
    /// The name of its project.
    pub project: String,
    /// Its host.
    pub host: Option<String>,
    /// Its process.
    pub pid: Option<u32>,
    /// Its model.
    pub model: Option<String>,
}

/// A hook run of an event.
#[derive(Clone, Debug, PartialEq)]
pub struct TelemetryRun {
    /// Its number.
    pub hook_run_id: i64,
    /// The run.
    pub run: HookRunView,
}

/// An event, with all that belongs to it.
#[derive(Clone, Debug, PartialEq)]
pub struct TelemetryEvent {
    /// Its number.
    pub id: i64,
    /// Its id, which no other event ever has.
    pub event_id: String,
    /// Its agent.
    pub agent: TelemetryAgent,
    /// Its canonical name.
    pub name: String,
    /// Its tool.
    pub tool: Option<String>,
    /// The id of the tool call.
    pub tool_use_id: Option<String>,
    /// The duration of the tool call that it ends.
    pub tool_us: Option<i64>,
    /// The event that began the call which this one ends, if calls have no ids.
    pub ends: Option<i64>,
    /// Whether this ends a call whose start is stored.
    pub has_start: bool,
    /// Why the call failed.
    pub error: Option<String>,
    /// The decision: `allow`, `ask` or `block`.
    pub decision: Option<String>,
    /// The agent's state after it.
    pub state: AgentState,
    /// Its time.
    pub at: Timestamp,
    /// The time that the decision took.
    pub took_us: Option<i64>,
    /// The agent's payload, masked.
    pub payload: String,
    /// The runs of all matching hooks.
    pub runs: Vec<TelemetryRun>,
    /// The guard's verdicts.
    pub verdicts: Vec<GuardVerdictView>,
}

/// A change of an agent's state without an event of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TelemetrySighting {
    /// Its number.
    pub sighting_id: i64,
    /// The agent's newest event at that time.
    pub after_event: i64,
    /// The agent.
    pub agent: TelemetryAgent,
    /// Its time.
    pub at: Timestamp,
    /// The new state.
    pub state: AgentState,
}

/// A background hook that has ended, and its span as it was stored.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishedTelemetryRun {
    /// The run.
    pub run: TelemetryRun,
    /// Its span.
    pub span: String,
}

/// The next part of the record.
#[derive(Clone, Debug, PartialEq)]
pub struct TelemetryBatch {
    /// How far the record had been read before.
    pub progress: TelemetryProgress,
    /// The next events, in order.
    pub events: Vec<TelemetryEvent>,
    /// The next changes of state without an event, none of them later than these events.
    pub sightings: Vec<TelemetrySighting>,
    /// Background hooks that have ended meanwhile.
    pub finished_runs: Vec<FinishedTelemetryRun>,
}

/// A span or log record to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TelemetryItem {
    /// Its signal.
    pub signal: &'static str,
    /// The host of its agent.
    pub host: Option<String>,
    /// It as OTLP JSON.
    pub body: String,
}

/// One series of a metric, or what is added to it.
#[derive(Clone, Debug, PartialEq)]
pub struct TelemetrySeries {
    /// The name of the metric.
    pub metric: String,
    /// Its attributes, as OTLP JSON.
    pub attributes: String,
    /// The number of measurements.
    pub count: i64,
    /// Their sum.
    pub total: f64,
    /// The measurements in each bucket of a histogram; empty for a counter.
    pub buckets: Vec<i64>,
}

/// The telemetry of a batch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TelemetryOutcome {
    /// The open spans of each agent of the batch; nothing if it has none any more.
    pub open_spans: Vec<(i64, Option<String>)>,
    /// The spans of background hooks that have not ended.
    pub open_runs: Vec<(i64, String)>,
    /// The items to send, in order.
    pub items: Vec<TelemetryItem>,
    /// The additions to the metrics.
    pub series: Vec<TelemetrySeries>,
}

/// An item that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingTelemetryItem {
    /// Its number.
    pub item_id: i64,
    /// The host of its agent.
    pub host: Option<String>,
    /// It as OTLP JSON.
    pub body: String,
}

/// The result of a request to the collector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TelemetryReply {
    /// It was accepted, except for so many items.
    Accepted {
        /// How many items the collector refused.
        refused: i64,
        /// The collector's message.
        problem: Option<String>,
        /// When the next request is due.
        due_at: Timestamp,
    },
    /// All of it was refused for good. The next request is due at this time.
    Refused(String, Timestamp),
    /// It is tried again at this time.
    Later(String, Timestamp),
}

/// How a signal is doing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TelemetrySignalView {
    /// `traces`, `logs` or `metrics`.
    pub signal: String,
    /// How many items wait.
    pub waiting: i64,
    /// How many requests have failed since the last success.
    pub failures: i64,
    /// How many items were accepted.
    pub sent: i64,
    /// How many the collector refused.
    pub refused: i64,
    /// How many were dropped, because too many waited.
    pub dropped: i64,
    /// When the collector last accepted something.
    pub sent_at: Option<Timestamp>,
    /// The problem of the last request that was not wholly accepted.
    pub problem: Option<String>,
}

/// A process that sends, and until when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TelemetryClaim<'a> {
    /// The process. No other one has this name.
    pub owner: &'a str,
    /// The claim's end.
    pub until: Timestamp,
    /// A process that has ended. Its claim counts no more.
    pub replaces: Option<&'a str>,
}

/// Telemetry that is not sent yet. All times but those of events are those of the real clock.
pub trait TelemetryTable {
    /// Starts with the events since this time, unless the record is being read already.
    fn start_telemetry(&mut self, since: Timestamp) -> Result<()>;
    /// The next part of the record, with at most so many events; nothing if telemetry was not started.
    fn load_telemetry_batch(&mut self, at_most: u32) -> Result<Option<TelemetryBatch>>;
    /// The open spans of an agent.
    fn load_open_spans(&mut self, agent_id: i64) -> Result<Option<String>>;
    /// Stores what follows from a batch, and keeps at most so many items of each signal: the newest. Returns false, and stores
    /// nothing, if another process has read the batch meanwhile.
    fn store_telemetry(&mut self, batch: &TelemetryBatch, outcome: &TelemetryOutcome, keep: u32) -> Result<bool>;
    /// The process that has claimed a signal.
    fn find_telemetry_owner(&mut self, signal: &str) -> Result<Option<String>>;
    /// Claims a signal that is due, if no other process has claimed it.
    fn claim_telemetry(&mut self, signal: &str, claim: TelemetryClaim<'_>, now: Timestamp) -> Result<bool>;
    /// Items of a signal, the oldest first.
    fn list_telemetry_items(&mut self, signal: &str, at_most: u32) -> Result<Vec<WaitingTelemetryItem>>;
    /// All series of all metrics.
    fn list_telemetry_series(&mut self) -> Result<Vec<TelemetrySeries>>;
    /// The number of agents that have not ended, by product and state.
    fn count_live_agents(&mut self) -> Result<Vec<(Option<String>, AgentState, i64)>>;
    /// Stores the reply to a request with these items, and ends the claim.
    fn finish_telemetry(&mut self, signal: &str, owner: &str, items: &[i64], reply: &TelemetryReply) -> Result<()>;
    /// Makes all signals due, because the settings have changed.
    fn retry_telemetry(&mut self) -> Result<()>;
    /// How far the record has been read, and the number of events after that; nothing if telemetry was not started.
    fn find_telemetry_progress(&mut self) -> Result<Option<(TelemetryProgress, i64)>>;
    /// How each signal is doing.
    fn list_telemetry_signals(&mut self) -> Result<Vec<TelemetrySignalView>>;
}
