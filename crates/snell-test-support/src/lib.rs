//! Helpers that the tests of several crates share.
//!
//! This crate depends on no other crate of the workspace, so that each of them can use it in its tests. A helper that starts
//! the `snell` binary takes a command: only the crate that builds the binary knows its path.
//!
//! A helper panics when it cannot do its work, because the test that called it has failed then.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on must fail")]

pub mod agents;
pub mod cli_output;
#[cfg(feature = "sqlite")]
pub mod database;
pub mod database_proxy;
pub mod files;
pub mod http;
pub mod model;
pub mod payload;
pub mod postgres;
pub mod postgres_cluster;
pub mod process;
#[cfg(feature = "scripts")]
pub mod scripts;
pub mod serve_process;
pub mod skip;
pub mod sse;
pub mod stub_server;
pub mod wait;
