//! What Snell costs, as ratios within one run on one machine, printed as a table.
//!
//! `cargo xtask bench`, or one part of it: `cargo bench --bench budgets -- serve`. Timings never gate a test: this prints figures and always succeeds.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    missing_docs,
    unreachable_pub,
    reason = "a bench that cannot go on must stop, and its output is its purpose"
)]

mod backup;
mod browser;
mod hook;
mod measure;
mod run;
mod serve;

// A browser and a server for it are driven here as in the tests.
#[path = "../../tests/browser/chromium.rs"]
mod chromium;
#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../../tests/browser/driver.rs"]
mod driver;
#[path = "../../tests/browser/event_rush.rs"]
mod event_rush;
#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../../tests/browser/server.rs"]
mod server;
#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../../tests/it/support.rs"]
mod support;

fn main() {
    // `cargo test --benches` runs this file too; there it only has to build.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    if std::env::args().nth(1).is_some_and(|argument| argument == serve::EMPTY_HANDLER) {
        serve::serve_empty_handler();
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path();
    // All parts, or the one that is named.
    let named = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let is_wanted = |part: &str| named.as_deref().is_none_or(|named| named == part);
    if is_wanted("hook") || is_wanted("run") || is_wanted("backup") {
        println!("{:<58} {:>10} {:>10} {:>10}   ratio", "whole processes, spawn to exit", "min", "p50", "p99");
    }
    if is_wanted("hook") {
        hook::bench_hook_processes(root);
        println!();
    }
    if is_wanted("backup") {
        backup::bench_backups(root);
        println!();
    }
    if is_wanted("run") {
        run::bench_run_processes(root);
        println!();
        println!("{:<58} figure", "in process");
        run::bench_embedded(root);
        println!();
    }
    if is_wanted("serve") {
        println!("{:<58} figure", "snell serve");
        serve::bench_server(root);
        println!();
    }
    if is_wanted("team") {
        println!("{:<58} figure", "snell serve with the database of a team");
        serve::bench_team(root);
        println!();
    }
    if is_wanted("browser") {
        println!("{:<58} figure", "the page in a browser");
        browser::bench_browser();
    }
}
