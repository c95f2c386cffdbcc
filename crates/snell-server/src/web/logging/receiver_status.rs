//! The state of the receiver: whether it accepts events, its last event, and its mode.

use std::time::Duration;

use maud::{Markup, html};
use snell::Timestamp;

use crate::app_state::AppState;
use crate::reconciler::hook_activity::ActivitySnapshot;
use crate::reconciler::poll_mode::{PollMode, PollSchedule};
use crate::web::format::{render_ago, render_clock, truncate_text};

/// The state of the receiver.
pub(super) struct ReceiverStatus {
    enabled: bool,
    activity: ActivitySnapshot,
    poll_schedule: PollSchedule,
    heartbeat: Duration,
    max_stream_clients: usize,
    now: Timestamp,
}

impl ReceiverStatus {
    pub(super) fn new(app: &AppState, activity: ActivitySnapshot, now: Timestamp) -> Self {
        Self {
            enabled: app.settings.enabled,
            activity,
            poll_schedule: app.poll_scheduler.schedule,
            heartbeat: app.settings.heartbeat,
            max_stream_clients: app.settings.max_stream_clients,
            now,
        }
    }

    /// Whether the receiver accepts events, and its mode with an explanation.
    pub(super) fn render_mode(&self) -> Markup {
        let Self { enabled, activity, .. } = self;
        html! {
            div #receiver-mode data-src="/fragments/receiver" data-when="*" data-mode=(activity.mode.as_str()) {
                p.enabled {
                    @if *enabled {
                        strong.good { "● enabled" } " – the receiver accepts events."
                    } @else {
                        strong.bad { "✕ disabled" } " – the receiver refuses events, because " code { "[server]" } " of "
                        code { "snell.toml" } " has " code { "enabled = false" } ". Recorded events are still shown."
                    }
                }
                p.mode {
                    @if *enabled {
                        strong class=(mode_class(activity.mode)) { (mode_symbol(activity.mode)) " " (activity.mode.as_str()) }
                        " – " (self.describe_mode())
                    } @else {
                        strong.warn { "◌ " (activity.mode.as_str()) }
                        " – the receiver accepts no events. It still shows events that hooks on this machine record, and checks
                        transcripts, processes and terminals every "
                        (format_seconds(self.poll_schedule.poll_interval(activity.mode))) "."
                    }
                }
            }
        }
    }

    fn describe_mode(&self) -> String {
        let PollSchedule { poll_active, poll_silent, silent_after } = self.poll_schedule;
        match (self.activity.mode, self.activity.last_at) {
            (PollMode::HooksActive, _) => format!(
                "hook events arrive, so the server checks only every {} whether it missed something.",
                format_seconds(poll_active)
            ),
            (PollMode::PollingFallback, Some(_)) => format!(
                "no hook event for {}, so the server checks transcripts, processes and terminals every {}. It returns to \
                 hooks_active with the next hook event.",
                format_seconds(silent_after),
                format_seconds(poll_silent)
            ),
            (PollMode::PollingFallback, None) => format!(
                "no hook event yet, so the server checks transcripts, processes and terminals every {}. Run `snell install` \
                 to register hooks, or `snell doctor` to find problems.",
                format_seconds(poll_silent)
            ),
        }
    }

    /// The last event, the counters and the configuration.
    pub(super) fn render_facts(&self) -> Markup {
        let Self { activity, poll_schedule, .. } = self;
        html! {
            dl #receiver data-src="/fragments/receiver" data-when="*" {
                div { dt { "Last event" } dd #receiver-last {
                    @match activity.last_at {
                        Some(at) => {
                            (render_ago(at, self.now)) " · " (render_clock(at))
                            @if let Some(event) = &activity.last_event { " · " code { (truncate_text(event, 80)) } }
                        },
                        None => "none yet",
                    }
                } }
                div { dt { "Events received" } dd { (activity.received) span.quiet { " since the server started" } } }
                div { dt { "Polling interval" } dd { (format_seconds(poll_schedule.poll_interval(activity.mode))) } }
                div { dt { "Configuration" } dd {
                    code title="poll interval while hook events arrive" { "poll_active" } " " (format_seconds(poll_schedule.poll_active)) " · "
                    code title="poll interval while no hook events arrive" { "poll_silent" } " " (format_seconds(poll_schedule.poll_silent)) " · "
                    code title="time without hook events before the server polls more often" { "silent_after" } " " (format_seconds(poll_schedule.silent_after)) " · "
                    "heartbeat " (format_seconds(self.heartbeat)) " · "
                    code title="maximum number of pages and programs with live updates" { "max_stream_clients" } " " (self.max_stream_clients)
                } }
            }
        }
    }

    /// A receiver with this last event, for tests.
    #[cfg(test)]
    pub(super) fn with_last_event(text: &str, now: Timestamp) -> Self {
        Self {
            enabled: true,
            activity: ActivitySnapshot {
                received: 1,
                last_at: Some(now),
                last_event: Some(text.to_owned()),
                mode: PollMode::HooksActive,
            },
            poll_schedule: PollSchedule::default(),
            heartbeat: Duration::from_secs(30),
            max_stream_clients: 1,
            now,
        }
    }
}

fn mode_class(mode: PollMode) -> &'static str {
    match mode {
        PollMode::HooksActive => "good",
        PollMode::PollingFallback => "warn",
    }
}

/// The symbol of a mode, so that colour is not the only sign.
fn mode_symbol(mode: PollMode) -> &'static str {
    match mode {
        PollMode::HooksActive => "●",
        PollMode::PollingFallback => "◌",
    }
}

fn format_seconds(duration: Duration) -> String {
    format!("{} s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mode_has_an_explanation() {
        let now = Timestamp::from_second(1000).unwrap();
        let render = |mode, last_at| {
            let mut receiver = ReceiverStatus::with_last_event("Stop", now);
            receiver.activity.mode = mode;
            receiver.activity.last_at = last_at;
            receiver.render_mode().0
        };
        let cases = [
            (PollMode::HooksActive, Some(now), "hooks_active</strong> – hook events arrive", "every 60 s"),
            (PollMode::PollingFallback, Some(now), "no hook event for 300 s", "every 2 s"),
            (PollMode::PollingFallback, None, "no hook event yet", "every 2 s"),
        ];
        for (mode, last_at, meaning, often) in cases {
            let text = render(mode, last_at);
            assert!(text.contains(meaning) && text.contains(often), "{text}");
        }
    }

    #[test]
    fn a_disabled_receiver_shows_the_reason() {
        let mut receiver = ReceiverStatus::with_last_event("Stop", Timestamp::UNIX_EPOCH);
        assert!(receiver.render_mode().0.contains("● enabled"));
        receiver.enabled = false;
        let text = receiver.render_mode().0;
        assert!(text.contains("✕ disabled") && text.contains("enabled = false"), "{text}");
        assert!(text.contains("accepts no events") && !text.contains("good"), "{text}");
    }

    #[test]
    fn durations_have_no_needless_digits() {
        assert_eq!(format_seconds(Duration::from_secs(60)), "60 s");
        assert_eq!(format_seconds(Duration::from_millis(1500)), "1.5 s");
    }
}
