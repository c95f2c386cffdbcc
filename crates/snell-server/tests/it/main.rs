//! The server from outside: the real one, on a port of its own, asked over real sockets.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on must fail"
)]
#![allow(missing_docs, unreachable_pub, reason = "tests are named as sentences")]

mod bad_input;
mod connections;
mod ends;
mod hooks;
mod mode;
mod openapi;
mod pages;
mod properties;
mod security;
mod stream;
mod support;
mod tmux;
mod users;
mod web;
mod writing;
