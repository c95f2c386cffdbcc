//! The page in a real browser, with a real server and real events.
//!
//! The tests need Chromium and its driver. Without them, each test is skipped with a message, unless
//! `SNELL_BROWSER=required`, which `cargo xtask check` sets.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on must fail")]
#![allow(missing_docs, unreachable_pub, reason = "tests are named as sentences")]

#[path = "../it/support.rs"]
#[allow(dead_code, reason = "the sandbox is shared with the other tests, which use more of it")]
mod support;

mod agent_story;
mod axe;
mod chromium;
mod driver;
mod event_rush;
mod server;
mod views;

mod accessibility;
mod export;
mod first_paint;
mod hostile;
mod keyboard;
mod live;
mod load;
mod logging;
mod many_windows;
mod notifications;
mod page_visibility;
mod requests;
mod responsive_layout;
mod restart;
mod screenshots;
mod search;
mod tables;
mod timeline;

/// Prints a measurement, also if the tests pass.
fn report_measurement(text: &str) {
    use std::io::Write;

    let _ = writeln!(std::io::stderr(), "measured: {text}");
}
