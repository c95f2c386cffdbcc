//! What a judgement costs, printed as a table.
//!
//! `cargo bench -p snell-guard --bench guard`, or a part of it: `… -- ordinary`, `… -- hostile`, `… -- hostile pushd`. Timings
//! never gate a test: this prints figures and always succeeds.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    missing_docs,
    unreachable_pub,
    reason = "a bench that cannot go on must stop, and its output is its purpose"
)]

#[path = "../../tests/it/corpus.rs"]
#[allow(dead_code, unused_imports, reason = "the test needs more of it")]
mod corpus;
#[path = "../../tests/it/hostile/inputs/mod.rs"]
mod inputs;

use std::hint::black_box;
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use snell_guard::judge::context::JudgeContext;
use snell_guard::judge::{GuardToolCall, judge_call};
use snell_guard::policy::{GuardDecision, GuardPolicy};

/// The median time for an ordinary command.
const ORDINARY_MICROS: f64 = 50.0;
/// The time for any mebibyte.
const HOSTILE_MILLIS: f64 = 100.0;

/// How often the whole corpus is judged, and how often each hostile call.
const ROUNDS: usize = 20;
const TRIES: usize = 3;

/// How many of the slowest are shown.
const SHOWN: usize = 12;

fn main() {
    // `cargo test --benches` runs this file too; there it only has to build.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let mut words = std::env::args().skip(1).filter(|word| !word.starts_with('-'));
    let (part, about) = (words.next(), words.next().unwrap_or_default());
    let is_wanted = |name: &str| part.as_deref().is_none_or(|part| part == name);
    if is_wanted("ordinary") {
        ordinary();
    }
    if is_wanted("hostile") {
        hostile(&about);
    }
}

/// Judges every row of the corpus in turns, so that other load affects all of them.
fn ordinary() {
    println!("{:<44} {:>9} {:>9} {:>9} {:>9}", "ordinary calls", "p50", "p99", "longest", "calls/s");
    let rows = corpus::read_corpus();
    let is_harmless = |row: &&corpus::CorpusRow| row.expected == GuardDecision::Allow;
    let (harmless, dangerous): (Vec<_>, Vec<_>) = rows.iter().partition(is_harmless);
    for (name, rows) in [("harmless", harmless), ("dangerous", dangerous)] {
        let commands = rows.iter().filter(|row| row.tool == "Bash").copied().collect::<Vec<_>>();
        let others = rows.iter().filter(|row| row.tool != "Bash").copied().collect::<Vec<_>>();
        print_timings(&format!("{} {name} commands", commands.len()), &commands);
        print_timings(&format!("{} other {name} calls", others.len()), &others);
    }
    println!();
}

/// Uses the shortest time of each row: longer ones are due to other load.
fn print_timings(name: &str, rows: &[&corpus::CorpusRow]) {
    let worlds: Vec<JudgeContext> = rows.iter().map(|row| row.judge_context()).collect();
    let mut best = vec![Duration::MAX; rows.len()];
    for _ in 0..ROUNDS {
        for ((row, world), best) in rows.iter().zip(&worlds).zip(&mut best) {
            *best = (*best).min(timed(&row.tool, &row.input, world));
        }
    }
    best.sort();
    let micros = |at: usize| best[at].as_secs_f64() * 1e6;
    let total: Duration = best.iter().sum();
    println!(
        "{name:<44} {:>6.1} µs {:>6.1} µs {:>6.1} µs {:>9.0}   budget p50 {ORDINARY_MICROS} µs",
        micros(best.len() / 2),
        micros(best.len() * 99 / 100),
        micros(best.len() - 1),
        best.len() as f64 / total.as_secs_f64()
    );
}

/// The slowest hostile calls, or those that match the argument.
fn hostile(about: &str) {
    let world = corpus::build_corpus_context();
    let mut all: Vec<(Duration, String)> = Vec::new();
    for call in inputs::iter_hostile_calls().filter(|call| call.name.contains(about)) {
        let input = call.input();
        let times = (0..TRIES).map(|_| {
            let before = on_processor();
            let whole = timed(call.tool, &input, &world);
            on_processor().saturating_sub(before).min(whole)
        });
        all.push((times.min().unwrap(), format!("{}: {}", call.tool, call.name)));
        inputs::drop_iteratively(input);
    }
    all.sort_by(|a, b| b.cmp(a));
    let over = |millis: f64| all.iter().filter(|(time, _)| time.as_secs_f64() * 1e3 > millis).count();
    println!(
        "{} hostile calls of a mebibyte or so: {} take longer than {HOSTILE_MILLIS} ms, {} than 50 ms, {} than 10 ms",
        all.len(),
        over(HOSTILE_MILLIS),
        over(50.0),
        over(10.0)
    );
    for (time, name) in all.iter().take(SHOWN) {
        println!("{:>9.1} ms  {name}", time.as_secs_f64() * 1e3);
    }
}

/// The CPU time of this thread, if the system reports it: other processes do not affect it.
fn on_processor() -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = told.split(' ').next().and_then(|text| text.parse().ok());
    Duration::from_nanos(nanos.unwrap_or_default())
}

fn timed(tool: &str, input: &Json, context: &JudgeContext) -> Duration {
    let policy = GuardPolicy::default();
    let call = GuardToolCall { tool, input };
    let started = Instant::now();
    black_box(judge_call(black_box(&call), &policy, context));
    started.elapsed()
}
