//! How telemetry is doing, for people.

use serde::Serialize;
use snell::Timestamp;
use snell_store::{Result, Store, TelemetrySignalView};

use crate::output;
use crate::output::time;

/// How telemetry is doing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct TelemetryReport {
    /// Events that are recorded and not read yet.
    pub(crate) unread_events: i64,
    pub(crate) signals: Vec<TelemetrySignalView>,
}

impl TelemetryReport {
    /// The report; nothing if telemetry was never sent.
    pub(crate) fn read(store: &mut Store) -> Result<Option<Self>> {
        let Some((_, unread_events)) = store.telemetry().find_telemetry_progress()? else {
            return Ok(None);
        };
        Ok(Some(Self { unread_events, signals: store.telemetry().list_telemetry_signals()? }))
    }

    /// The counts in one line, with the signals that are sent.
    pub(crate) fn describe(&self, now: Timestamp) -> String {
        let mut parts: Vec<_> = self.signals.iter().map(|signal| describe_signal(signal, now)).collect();
        if self.unread_events > 0 {
            let unread = usize::try_from(self.unread_events).unwrap_or(0);
            parts.push(format!("{} to be read", output::format_count(unread, "event")));
        }
        if parts.is_empty() { "nothing sent yet".into() } else { parts.join("; ") }
    }

    /// The signals whose last request failed, with the reason.
    pub(crate) fn list_failures(&self) -> Vec<String> {
        let failing = self.signals.iter().filter(|signal| signal.failures > 0);
        let describe = |signal: &TelemetrySignalView| {
            let why = signal.problem.as_deref().unwrap_or("unknown reason");
            format!("cannot send {} to the collector: {why}", signal.signal)
        };
        failing.map(describe).collect()
    }
}

fn describe_signal(signal: &TelemetrySignalView, now: Timestamp) -> String {
    let ago = signal.sent_at.map(|sent| time::format_elapsed(sent, now));
    // Metrics are cumulative, so that there is nothing to count.
    if signal.signal == "metrics" {
        return ago.map_or_else(|| "metrics: never sent".into(), |ago| format!("metrics: last sent {ago} ago"));
    }
    let ago = ago.map(|ago| format!(", last {ago} ago")).unwrap_or_default();
    let mut text = format!("{}: {} sent{ago}", signal.signal, signal.sent);
    for (count, word) in [(signal.waiting, "waiting"), (signal.refused, "refused"), (signal.dropped, "dropped")] {
        if count > 0 {
            text.push_str(&format!(", {count} {word}"));
        }
    }
    text
}
