//! The parser, used through its public API: shell text to a tree.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on must fail")]
#![allow(missing_docs, unreachable_pub, reason = "tests are named as sentences")]

mod bash_comparison;
mod limits;
mod problems;
mod properties;
mod tree_text;
mod tree_walk;
mod trees;
mod word_expansion;
