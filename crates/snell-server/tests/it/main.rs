//! The server from outside: a real one on its own port, over real sockets.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on must fail")]
#![allow(missing_docs, unreachable_pub, reason = "tests are named as sentences")]

mod answers;
mod bad_input;
mod connections;
mod ingest;
mod named_tokens;
mod openapi;
mod pagination;
mod poll_mode;
mod properties;
mod security;
mod startup_shutdown;
mod stream;
mod support;
mod tmux;
mod users;
mod web;
mod writer;
