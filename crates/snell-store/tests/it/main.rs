//! The store from outside: what is handed to it, and what it answers.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on must fail"
)]
#![allow(missing_docs, unreachable_pub, reason = "tests are named as sentences")]

mod support;

mod asking;
mod correlation;
mod delayed;
mod double_faults;
mod embedded;
mod facts;
mod listing;
mod notes;
mod outbox;
mod projects;
mod reconciling;
mod recorder;
mod searching;
mod side_by_side;
mod sums;
mod timeline;
mod tools;
mod transitions;
mod turns;
mod watching;
mod workers;
