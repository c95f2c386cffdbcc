//! Hooks that failed in the last day, as a sentence.

use std::time::Duration;

use snell::Timestamp;
use snell_store::FailedHook;

use crate::output;
use crate::output::time::format_elapsed;

/// Failures of this time are shown.
const RECENT: Duration = Duration::from_secs(24 * 60 * 60);

/// The most hooks in the sentence.
const MAX_NAMED: usize = 3;

/// The longest reason of a failure.
const WHY_SHOWN: usize = 80;

/// The start of the time whose failures are shown.
pub(crate) fn start_of_recent(now: Timestamp) -> Timestamp {
    now.checked_sub(RECENT).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// `2 hook runs failed in the last day: FILE:LINE (last: 5m ago, exit code 1)`; nothing if none failed.
pub(crate) fn describe_failed_hooks(failed: &[FailedHook], now: Timestamp) -> Option<String> {
    let last = failed.first()?;
    let runs: i64 = failed.iter().map(|hook| hook.runs).sum();
    let runs = output::format_count(usize::try_from(runs).unwrap_or(0), "hook run");
    let mut names: Vec<_> =
        failed.iter().take(MAX_NAMED).map(|hook| format!("{}:{}", hook.source, hook.line)).collect();
    if failed.len() > MAX_NAMED {
        names.push("…".into());
    }
    let ago = format_elapsed(last.last_at, now);
    Some(format!("{runs} failed in the last day: {} (last: {ago} ago, {})", names.join(", "), describe_failure(last)))
}

fn describe_failure(hook: &FailedHook) -> String {
    match (&hook.last_why, hook.last_exit_code) {
        (Some(why), _) => output::shorten_to_one_line(why, WHY_SHOWN),
        (None, Some(code)) => format!("exit code {code}"),
        (None, None) => hook.last_status.replace('_', " "),
    }
}
