//! Tests of the store through its public API.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on must fail")]
#![allow(missing_docs, unreachable_pub, reason = "tests are named as sentences")]

mod engines;
mod support;

mod ambiguous_agents;
mod change_feed;
mod correlation;
mod differential;
mod double_faults;
mod embedded;
mod late_events;
mod log_filter;
mod log_search;
mod outbox;
mod pane_requests;
mod pending;
mod postgres_server;
mod projects;
mod questions;
mod reconcile;
mod recorder;
mod requests;
mod rollups;
mod session_snapshot;
mod telemetry;
mod timeline;
mod tool_calls;
mod transcript_states;
mod transitions;
mod turns;
mod usage;
mod workers;
