//! What Snell costs, as ratios within one run on one machine, printed as a table.
//!
//! `cargo xtask bench`. Timings never gate a test: this prints figures and always succeeds.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    missing_docs,
    reason = "a bench that cannot go on must stop, and its output is its purpose"
)]

mod hook;
mod measure;
mod run;

fn main() {
    // `cargo test --benches` runs this file too; there it only has to build.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path();
    println!(
        "{:<58} {:>10} {:>10} {:>10}   ratio",
        "whole processes, spawn to exit", "min", "p50", "p99"
    );
    hook::processes(root);
    println!();
    run::processes(root);
    println!();
    println!("{:<58} figure", "in process");
    run::embedded(root);
}
