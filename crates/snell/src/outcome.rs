//! The outcome of one run of a hook.

use std::time::Duration;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunEnd {
    /// The process exited with this code.
    Exited(i32),
    /// A signal killed the process. That is a failure, never a success.
    Signaled(i32),
    /// The deadline passed after this time, and Snell ended the process group.
    TimedOut(Duration),
    /// Nothing ran, for this reason.
    NotStarted(String),
    /// A server answered with this HTTP status.
    Answered(u16),
}

/// The outcome of one run of a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// How it ended.
    pub end: RunEnd,
    /// Standard output, or the body of an HTTP answer. Bytes that are not UTF-8 are replaced.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// How long it took.
    pub duration: Duration,
    /// Whether a process that the hook started still had its output open at the end.
    pub leaked: bool,
    /// Whether it did not read all of its standard input. That is not a failure.
    pub stdin_unread: bool,
    /// Whether output beyond the limit was dropped.
    pub truncated: bool,
}

impl Outcome {
    pub(crate) fn not_started(why: impl Into<String>, duration: Duration) -> Self {
        Self {
            end: RunEnd::NotStarted(why.into()),
            stdout: String::new(),
            stderr: String::new(),
            duration,
            leaked: false,
            stdin_unread: false,
            truncated: false,
        }
    }

    /// Whether it succeeded: exit code 0, or an HTTP status of success.
    pub fn is_success(&self) -> bool {
        matches!(self.end, RunEnd::Exited(0) | RunEnd::Answered(200..=299))
    }

    /// The exit code, if the process exited.
    pub fn exit_code(&self) -> Option<i32> {
        match self.end {
            RunEnd::Exited(code) => Some(code),
            _ => None,
        }
    }

    /// The signal, if one killed the process.
    pub fn signal(&self) -> Option<i32> {
        match self.end {
            RunEnd::Signaled(signal) => Some(signal),
            _ => None,
        }
    }

    /// Whether the deadline passed.
    pub fn has_timed_out(&self) -> bool {
        matches!(self.end, RunEnd::TimedOut(_))
    }

    /// How it ended, in words.
    pub(crate) fn describe_end(&self) -> String {
        match &self.end {
            RunEnd::Exited(code) => format!("exited with {code}"),
            RunEnd::Signaled(signal) => format!("was killed by signal {signal}"),
            RunEnd::TimedOut(timeout) => format!("timed out after {}", crate::config::format_duration(*timeout)),
            RunEnd::NotStarted(why) => format!("did not run: {why}"),
            RunEnd::Answered(status) => format!("answered with HTTP status {status}"),
        }
    }
}
