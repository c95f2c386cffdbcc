//! Queries and their results: agents, sessions, timelines, the log, rollups.

pub(crate) mod log_search;
pub(crate) mod queries;
pub(crate) mod query_types;
pub(crate) mod rollups;
pub(crate) mod session_snapshot;
pub(crate) mod sessions;
pub(crate) mod timeline;
