//! Timing whole processes side by side, and printing what came out.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Rounds of each whole process; the contenders take turns so that the machine's moods hit all alike.
const ROUNDS: usize = 400;

pub(crate) fn run_to_end(command: &mut Command) {
    command.stdout(Stdio::null()).spawn().unwrap().wait().unwrap();
}

/// Lets the contenders take turns and times each turn.
pub(crate) fn time_contenders<const N: usize>(mut contenders: [&mut dyn FnMut(); N]) -> [TimeSamples; N] {
    let mut times = [const { Vec::new() }; N];
    for round in 0..ROUNDS + 20 {
        for (contender, times) in contenders.iter_mut().zip(&mut times) {
            let started = Instant::now();
            contender();
            if round >= 20 {
                times.push(started.elapsed());
            }
        }
    }
    times.map(TimeSamples::new)
}

pub(crate) fn time_per_call(calls: u32, mut call: impl FnMut()) -> Duration {
    let started = Instant::now();
    for _ in 0..calls {
        call();
    }
    started.elapsed() / calls
}

/// Measured times, sorted.
pub(crate) struct TimeSamples(Vec<Duration>);

impl TimeSamples {
    pub(crate) fn new(mut times: Vec<Duration>) -> Self {
        times.sort();
        Self(times)
    }

    pub(crate) fn percentile(&self, fraction: f64) -> Duration {
        self.0[((self.0.len() - 1) as f64 * fraction) as usize]
    }

    pub(crate) fn p50(&self) -> Duration {
        self.percentile(0.5)
    }
}

pub(crate) fn print_row(what: &str, times: &TimeSamples, remark: Option<String>) {
    println!(
        "{what:<58} {:>7.3} ms {:>7.3} ms {:>7.3} ms   {}",
        to_millis(times.percentile(0.0)),
        to_millis(times.p50()),
        to_millis(times.percentile(0.99)),
        remark.unwrap_or_default()
    );
}

pub(crate) fn print_figure(what: &str, figure: &str) {
    println!("{what:<58} {figure}");
}

pub(crate) fn format_ratio(a: Duration, b: Duration) -> String {
    format!("{:.2}", a.as_secs_f64() / b.as_secs_f64())
}

pub(crate) fn to_millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

pub(crate) fn to_micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}
