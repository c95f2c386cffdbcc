//! How times, durations and long texts are put. `assets/times.js` words times in the same way as they pass.

use std::fmt::Display;

use maud::{Markup, Render, html};
use snell::Timestamp;
use snell_store::{AgentView, Confidence, Source, State};

/// How much of a session's id is shown where there is little room.
const SHORT_ID: usize = 8;

/// How long ago something was, as of now.
pub(super) fn ago(at: Timestamp, now: Timestamp) -> Markup {
    time(at, "ago", format!("{} ago", how_long(at, now)))
}

/// How long something has lasted, as of now.
pub(super) fn lasting(at: Timestamp, now: Timestamp) -> Markup {
    time(at, "for", how_long(at, now))
}

/// When something was: the day and the time of day. The script puts it in the reader's own time zone.
pub(super) fn clock(at: Timestamp) -> Markup {
    time(at, "clock", at.strftime("%Y-%m-%d %H:%M:%S UTC"))
}

fn time(at: Timestamp, form: &str, text: impl Display) -> Markup {
    let exact = at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string();
    let title = at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string();
    html! { time datetime=(exact) data-form=(form) title=(title) { (text.to_string()) } }
}

/// The time between two moments, in its largest unit.
pub(super) fn how_long(from: Timestamp, to: Timestamp) -> String {
    let seconds = to.duration_since(from).as_secs().max(0);
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// A duration in milliseconds, to what matters of it.
pub(super) fn duration(ms: f64) -> String {
    match ms {
        ms if ms < 10.0 => format!("{ms:.1} ms"),
        ms if ms < 1000.0 => format!("{ms:.0} ms"),
        ms if ms < 60_000.0 => format!("{:.1} s", ms / 1000.0),
        ms => format!(
            "{:.0} min {:.0} s",
            (ms / 60_000.0).floor(),
            (ms % 60_000.0 / 1000.0).floor()
        ),
    }
}

/// The beginning of a text, if it has more than so many characters.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// What an agent is called: what it is, what it is for, and the beginning of its session's id.
pub(super) struct Name<'a>(pub(super) &'a AgentView);

impl Name<'_> {
    /// What it is: its product, as far as anybody said.
    fn product(&self) -> &str {
        self.0.product.as_deref().unwrap_or("agent")
    }

    fn role(&self) -> Option<&str> {
        self.0.role.as_deref().filter(|role| !role.is_empty())
    }

    fn session(&self) -> String {
        match &self.0.session_id {
            Some(session) => session.chars().take(SHORT_ID).collect(),
            None => format!("#{}", self.0.agent_id),
        }
    }

    /// The name as plain text.
    pub(super) fn text(&self) -> String {
        let parts = [
            Some(self.product().to_owned()),
            self.role().map(str::to_owned),
            Some(self.session()),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

impl Render for Name<'_> {
    fn render(&self) -> Markup {
        html! {
            bdi { (cut(self.product(), 40)) }
            @if let Some(role) = self.role() { " " bdi.role { (cut(role, 40)) } }
            " " code { (self.session()) }
        }
    }
}

/// What a state is called by people.
pub(super) fn state(state: State) -> &'static str {
    match state {
        State::Idle => "idle",
        State::Processing => "working",
        State::AwaitingInput => "needs you",
        State::Ended => "ended",
    }
}

/// The shape that goes with a state, for those who do not see its colour.
pub(super) fn mark(state: State) -> &'static str {
    match state {
        State::Idle => "○",
        State::Processing => "▶",
        State::AwaitingInput => "▲",
        State::Ended => "■",
    }
}

/// How a state is known.
pub(super) fn source(source: Source) -> &'static str {
    match source {
        Source::Hook => "told by a hook",
        Source::Transcript => "read in its transcript",
        Source::Process => "seen at its process",
        Source::Poll => "seen in its terminal",
    }
}

/// How sure a state is.
pub(super) fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::High => "certain",
        Confidence::Medium => "likely",
        Confidence::Low => "a guess",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_their_largest_unit() {
        let cases = [
            (-5, "0 s"),
            (0, "0 s"),
            (59, "59 s"),
            (60, "1 min"),
            (3599, "59 min"),
            (3600, "1 h"),
            (172_799, "47 h"),
            (172_800, "2 d"),
        ];
        let from = Timestamp::UNIX_EPOCH;
        for (seconds, expected) in cases {
            assert_eq!(how_long(from, Timestamp::from_second(seconds).unwrap()), expected);
        }
    }

    #[test]
    fn durations_are_told_to_what_matters() {
        let cases = [
            (0.25, "0.2 ms"),
            (9.94, "9.9 ms"),
            (12.3, "12 ms"),
            (999.0, "999 ms"),
            (1500.0, "1.5 s"),
            (61_000.0, "1 min 1 s"),
            (119_999.0, "1 min 59 s"),
        ];
        for (ms, expected) in cases {
            assert_eq!(duration(ms), expected);
        }
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let cases = [
            ("abc", 3, "abc"),
            ("abcd", 3, "abc…"),
            ("äöüß", 2, "äö…"),
            ("a bc", 2, "a…"),
            ("", 0, ""),
        ];
        for (text, most, expected) in cases {
            assert_eq!(cut(text, most), expected);
        }
    }
}
