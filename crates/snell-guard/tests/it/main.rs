//! The guard, used as a host would: through the public API only.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on must fail"
)]
#![allow(missing_docs, unreachable_pub, reason = "tests are named as sentences")]

mod allowed;
mod calls;
mod corpus;
mod flips;
mod fuzz;
mod hostile;
mod judge;
mod own;
mod page;
mod protected;
mod rewrites;
mod secrets;
mod shell;
mod syntax;
