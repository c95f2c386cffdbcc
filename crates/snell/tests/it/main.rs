//! The engine as a host embeds it: hooks in real files, real processes, through the public API only.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on must fail")]
#![allow(missing_docs, unreachable_pub, reason = "tests are named as sentences")]

mod support;

mod agents;
mod background;
mod concurrency;
mod deadlines;
mod processes;
mod properties;
mod reload;
