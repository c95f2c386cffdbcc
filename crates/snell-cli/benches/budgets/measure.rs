//! Timing whole processes side by side, and printing what came out.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Rounds of each whole process; the contenders take turns so that the machine's moods hit all alike.
const ROUNDS: usize = 400;

pub(crate) fn wait(command: &mut Command) {
    command.stdout(Stdio::null()).spawn().unwrap().wait().unwrap();
}

/// Lets the contenders take turns and times each turn.
pub(crate) fn timed<const N: usize>(mut contenders: [&mut dyn FnMut(); N]) -> [Times; N] {
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
    times.map(Times::new)
}

pub(crate) fn per_call(calls: u32, mut call: impl FnMut()) -> Duration {
    let started = Instant::now();
    for _ in 0..calls {
        call();
    }
    started.elapsed() / calls
}

/// Measured times, sorted.
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn new(mut times: Vec<Duration>) -> Self {
        times.sort();
        Self(times)
    }

    pub(crate) fn at(&self, fraction: f64) -> Duration {
        self.0[((self.0.len() - 1) as f64 * fraction) as usize]
    }

    pub(crate) fn p50(&self) -> Duration {
        self.at(0.5)
    }
}

pub(crate) fn row(what: &str, times: &Times, remark: Option<String>) {
    println!(
        "{what:<58} {:>7.3} ms {:>7.3} ms {:>7.3} ms   {}",
        millis(times.at(0.0)),
        millis(times.p50()),
        millis(times.at(0.99)),
        remark.unwrap_or_default()
    );
}

pub(crate) fn figure(what: &str, figure: &str) {
    println!("{what:<58} {figure}");
}

pub(crate) fn ratio(a: Duration, b: Duration) -> String {
    format!("{:.2}", a.as_secs_f64() / b.as_secs_f64())
}

pub(crate) fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

pub(crate) fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

pub(crate) fn resident_kib(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}
