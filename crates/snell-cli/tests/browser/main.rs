//! The page in a real browser: the real server, real events, and what a person sees of them.
//!
//! It takes Chromium and its driver. Where they are missing, nothing is tested and each test says so, unless
//! `SNELL_BROWSER=required`, as `cargo xtask check` sets it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on must fail"
)]
#![allow(missing_docs, unreachable_pub, reason = "tests are named as sentences")]

#[path = "../it/support.rs"]
#[allow(
    dead_code,
    reason = "the sandbox is shared with the other tests, which use more of it"
)]
mod support;

mod axe;
mod chromium;
mod driver;
mod rush;
mod server;
mod story;
mod views;

mod accessible;
mod columns;
mod crowd;
mod export;
mod hostile;
mod keyboard;
mod live;
mod logging;
mod many;
mod narrowing;
mod notices;
mod paint;
mod pictures;
mod readable;
mod restart;
mod sight;
mod timeline;

/// Tells whoever runs the tests what was measured, also when nothing has failed.
fn tell_figure(text: &str) {
    use std::io::Write;

    let _ = writeln!(std::io::stderr(), "measured: {text}");
}
