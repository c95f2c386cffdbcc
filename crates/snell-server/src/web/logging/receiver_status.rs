//! How the receiver is: whether it takes events, what it heard last, and where it gets to know what agents do.

use std::time::Duration;

use maud::{Markup, html};
use snell::Timestamp;

use crate::app_state::AppState;
use crate::reconciler::hook_activity::ActivitySnapshot;
use crate::reconciler::poll_mode::{PollMode, PollSchedule};
use crate::web::format::{render_ago, render_clock, truncate_text};

/// What is known of the receiver.
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

    /// Whether it takes events, and where it gets to know what agents do, with what that means.
    pub(super) fn render_mode(&self) -> Markup {
        let Self { enabled, activity: beat, .. } = self;
        html! {
            div #receiver-mode data-src="/fragments/receiver" data-when="*" data-mode=(beat.mode.as_str()) {
                p.enabled {
                    @if *enabled {
                        strong.good { "● enabled" } " – events are taken."
                    } @else {
                        strong.bad { "✕ disabled" } " – events are refused: " code { "enabled = false" } " stands in "
                        code { "[server]" } " of " code { "snell.toml" } ". What was recorded is shown all the same."
                    }
                }
                p.mode {
                    @if *enabled {
                        strong class=(mode_class(beat.mode)) { (mode_symbol(beat.mode)) " " (beat.mode.as_str()) }
                        " – " (self.describe_mode())
                    } @else {
                        strong.warn { "◌ " (beat.mode.as_str()) }
                        " – this receiver takes nothing. What hooks on this machine record by themselves is seen all the same, and
                        the server looks every " (format_seconds(self.poll_schedule.poll_interval(beat.mode))) " at transcripts, processes and
                        terminals."
                    }
                }
            }
        }
    }

    fn describe_mode(&self) -> String {
        let PollSchedule { poll_active, poll_silent, silent_after } = self.poll_schedule;
        match (self.activity.mode, self.activity.last_at) {
            (PollMode::HooksActive, _) => format!(
                "agents tell what they do through their hooks, so the server only looks every {} whether something was \
                 missed.",
                format_seconds(poll_active)
            ),
            (PollMode::PollingFallback, Some(_)) => format!(
                "no hook was heard for {}, so the server looks every {} at transcripts, processes and terminals. It \
                 returns to hooks_active with the next hook.",
                format_seconds(silent_after),
                format_seconds(poll_silent)
            ),
            (PollMode::PollingFallback, None) => format!(
                "no hook was ever heard, so the server looks every {} at transcripts, processes and terminals. `snell \
                 install` registers hooks, and `snell doctor` says what is wrong.",
                format_seconds(poll_silent)
            ),
        }
    }

    /// What it heard, and how it is configured.
    pub(super) fn render_facts(&self) -> Markup {
        let Self { activity: beat, poll_schedule: rhythm, .. } = self;
        html! {
            dl #receiver data-src="/fragments/receiver" data-when="*" {
                div { dt { "Last event" } dd #receiver-last {
                    @match beat.last_at {
                        Some(at) => {
                            (render_ago(at, self.now)) " · " (render_clock(at))
                            @if let Some(event) = &beat.last_event { " · " code { (truncate_text(event, 80)) } }
                        },
                        None => "none yet",
                    }
                } }
                div { dt { "Events received" } dd { (beat.received) span.quiet { " since the server started" } } }
                div { dt { "Polling interval" } dd { (format_seconds(rhythm.poll_interval(beat.mode))) } }
                div { dt { "Configuration" } dd {
                    code title="how often agents are looked after while hooks are heard" { "poll_active" } " " (format_seconds(rhythm.poll_active)) " · "
                    code title="how often while no hook is heard" { "poll_silent" } " " (format_seconds(rhythm.poll_silent)) " · "
                    code title="how long without a hook until the server looks by itself" { "silent_after" } " " (format_seconds(rhythm.silent_after)) " · "
                    "heartbeat " (format_seconds(self.heartbeat)) " · "
                    code title="how many pages and programs may listen at the same time" { "max_stream_clients" } " " (self.max_stream_clients)
                } }
            }
        }
    }

    /// One that heard an event of this name, for tests.
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

/// The shape that goes with a mode, for those who do not see its colour.
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
    fn what_a_mode_means_is_said_in_a_sentence() {
        let now = Timestamp::from_second(1000).unwrap();
        let said = |mode, last_at| {
            let mut receiver = ReceiverStatus::with_last_event("Stop", now);
            receiver.activity.mode = mode;
            receiver.activity.last_at = last_at;
            receiver.render_mode().0
        };
        let cases = [
            (PollMode::HooksActive, Some(now), "hooks_active</strong> – agents tell", "every 60 s"),
            (PollMode::PollingFallback, Some(now), "no hook was heard for 300 s", "every 2 s"),
            (PollMode::PollingFallback, None, "no hook was ever heard", "every 2 s"),
        ];
        for (mode, last_at, meaning, often) in cases {
            let said = said(mode, last_at);
            assert!(said.contains(meaning) && said.contains(often), "{said}");
        }
    }

    #[test]
    fn a_receiver_that_takes_no_events_says_so_and_why() {
        let mut receiver = ReceiverStatus::with_last_event("Stop", Timestamp::UNIX_EPOCH);
        assert!(receiver.render_mode().0.contains("● enabled"));
        receiver.enabled = false;
        let said = receiver.render_mode().0;
        assert!(said.contains("✕ disabled") && said.contains("enabled = false"), "{said}");
        assert!(said.contains("takes nothing") && !said.contains("good"), "{said}");
    }

    #[test]
    fn durations_are_told_without_needless_figures() {
        assert_eq!(format_seconds(Duration::from_secs(60)), "60 s");
        assert_eq!(format_seconds(Duration::from_millis(1500)), "1.5 s");
    }
}
