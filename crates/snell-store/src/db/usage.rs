//! The table of requests to models, and what can be asked about it.

use std::collections::HashMap;

use snell::Timestamp;

use crate::error::Result;
use crate::usage::request::{TokenCounts, UsageRequest, UsageTurn};

/// A file, and the position that was read. It is stored with the requests before it, so both are there or neither.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UsageFilePosition {
    pub(crate) path: String,
    /// The stored position that the read began at.
    pub(crate) before: Option<String>,
    pub(crate) position: String,
    pub(crate) state: String,
}

/// Requests and turns to store.
#[derive(Debug, Default)]
pub(crate) struct UsageBatch {
    pub(crate) file: Option<UsageFilePosition>,
    pub(crate) requests: Vec<UsageRequest>,
    pub(crate) turns: Vec<UsageTurn>,
}

/// The stored position of a file, and the knowledge from its earlier lines.
pub(crate) type StoredUsageFile = (String, String);

/// The table of requests.
pub(crate) trait UsageTable {
    /// The position in each file, by its path.
    fn list_usage_positions(&mut self) -> Result<HashMap<String, String>>;
    fn find_usage_file(&mut self, path: &str) -> Result<Option<StoredUsageFile>>;
    /// Product and path of every transcript that an event of this host named.
    fn list_named_transcripts(&mut self, host: Option<&str>) -> Result<Vec<(String, String)>>;
    /// Stores a batch in one transaction. A request that is stored already keeps the larger counts. Returns `false`, and
    /// stores nothing, if another process has read the file meanwhile.
    fn save_usage(&mut self, batch: &UsageBatch) -> Result<bool>;
}

/// The parts of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageGrouping {
    /// Quarters of an hour, which make up the days of any time zone.
    Time,
    /// Projects.
    Project,
    /// Agents that Snell knows; others by their product.
    Agent,
    /// Only products and models, which every summary has.
    Model,
    /// Sessions.
    Session,
    /// Turns of sessions.
    Turn,
}

impl UsageGrouping {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Project => "project",
            Self::Agent => "agent",
            Self::Model => "model",
            Self::Session => "session",
            Self::Turn => "turn",
        }
    }
}

/// The requests to summarize.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageFilter {
    /// From this time on.
    pub since: Option<Timestamp>,
    /// Before this time.
    pub until: Option<Timestamp>,
    /// Of this product.
    pub product: Option<String>,
    /// Of the project with this path.
    pub project: Option<String>,
    /// Of this agent's sessions.
    pub agent_id: Option<i64>,
    /// Of this session.
    pub session_id: Option<String>,
}

/// The sum of requests to one model, in one part of a summary. Parts that the summary does not tell apart are `None`.
#[derive(Clone, Debug, PartialEq)]
pub struct UsageSum {
    /// The product.
    pub product: String,
    /// The model; empty if unknown.
    pub model: String,
    /// Whether the contexts are long, which may cost more.
    pub is_long: bool,
    /// The quarter of an hour.
    pub begins: Option<Timestamp>,
    /// The project's path; empty if unknown.
    pub project: Option<String>,
    /// The agent, if Snell knows it.
    pub agent_id: Option<i64>,
    /// The session; empty if unknown, or for requests that are kept as sums.
    pub session_id: Option<String>,
    /// The begin of the turn, if it is known.
    pub turn_at: Option<Timestamp>,
    /// The first request.
    pub first_at: Timestamp,
    /// The last request.
    pub last_at: Timestamp,
    /// How many requests.
    pub requests: i64,
    /// Their tokens.
    pub tokens: TokenCounts,
    /// The cost in US dollars that the agent reported.
    pub reported_usd: f64,
    /// How many of the requests have such a cost.
    pub costed: i64,
}

/// Summaries of requests.
pub trait UsageQueries {
    /// Sums, in no particular order.
    fn summarize_usage(&mut self, grouping: UsageGrouping, filter: &UsageFilter) -> Result<Vec<UsageSum>>;
    /// The sums of one agent's requests, or of every agent that has not ended.
    fn list_agent_usage(&mut self, agent_id: Option<i64>) -> Result<Vec<UsageSum>>;
    /// The time of the newest request and the number of stored ones: a cheap check for news.
    fn read_usage_version(&mut self) -> Result<(i64, Option<Timestamp>)>;
}
