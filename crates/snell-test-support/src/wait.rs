//! Waiting for something that another thread or process does.

use std::time::{Duration, Instant};

/// Longer than anything takes, also on a slow machine.
pub const WAIT_TIMEOUT: Duration = Duration::from_secs(60);

/// Probes until there is an answer; panics after [`WAIT_TIMEOUT`].
#[track_caller]
pub fn wait_until<T>(probe: impl FnMut() -> Option<T>) -> T {
    wait_until_within(WAIT_TIMEOUT, probe).expect("nothing came")
}

/// Probes until there is an answer; `None` if there is none within the limit.
pub fn wait_until_within<T>(limit: Duration, mut probe: impl FnMut() -> Option<T>) -> Option<T> {
    let started = Instant::now();
    loop {
        let answer = probe();
        if answer.is_some() || started.elapsed() >= limit {
            return answer;
        }
        std::thread::yield_now();
    }
}
