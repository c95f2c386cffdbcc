//! The guard, used as a host would: through the public API only.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on must fail")]
#![allow(missing_docs, unreachable_pub, reason = "tests are named as sentences")]

mod allow_list;
mod approvals;
mod corpus;
mod docs_page;
mod flips;
mod fuzz;
mod git_index;
mod hostile;
mod judge;
mod presets;
mod protected_paths;
mod rewrites;
mod secrets;
mod self_protection;
mod session;
mod shell;
mod symlinks;
mod tool_calls;
