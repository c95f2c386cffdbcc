//! Formats times, durations, names and long texts. `assets/times.js` formats times in the same way.

use std::fmt::Display;

use maud::{Markup, Render, html};
use snell::{Timestamp, UserMessage};
use snell_store::{AgentActivity, AgentView, StateConfidence, StateSource, TurnActor};

/// The length of a shortened session id.
const SHORT_ID_CHARS: usize = 8;

/// How times are shown: relative to now, or absolute in files that are read later.
#[derive(Clone, Copy, Debug)]
pub(super) enum TimeStyle {
    /// On a page, where a script updates them.
    RelativeTo(Timestamp),
    /// In a file.
    Absolute,
}

impl TimeStyle {
    /// The time of something.
    pub(super) fn render_ago(self, at: Timestamp) -> Markup {
        match self {
            Self::RelativeTo(now) => render_ago(at, now),
            Self::Absolute => render_clock(at),
        }
    }

    /// The start of something that continues.
    pub(super) fn render_lasting(self, at: Timestamp) -> Markup {
        match self {
            Self::RelativeTo(now) => html! { "for " (render_lasting(at, now)) },
            Self::Absolute => html! { "since " (render_clock(at)) },
        }
    }
}

/// An age, such as `3 min ago`.
pub(super) fn render_ago(at: Timestamp, now: Timestamp) -> Markup {
    render_time(at, "ago", format!("{} ago", format_elapsed(at, now)))
}

/// A duration until now, such as `3 min`.
pub(super) fn render_lasting(at: Timestamp, now: Timestamp) -> Markup {
    render_time(at, "for", format_elapsed(at, now))
}

/// The time that is left until then, such as `3 min`.
pub(super) fn render_left(at: Timestamp, now: Timestamp) -> Markup {
    render_time(at, "left", format_elapsed(now, at))
}

/// A date and time. The script shows it in the reader's time zone.
pub(super) fn render_clock(at: Timestamp) -> Markup {
    render_time(at, "clock", at.strftime("%Y-%m-%d %H:%M:%S UTC"))
}

/// As [`render_clock`], but without the date if it is today, for columns of times.
pub(super) fn render_short_clock(at: Timestamp, now: Timestamp) -> Markup {
    let day = |at: Timestamp| at.strftime("%Y-%m-%d").to_string();
    if day(at) == day(now) { render_time(at, "clock", at.strftime("%H:%M:%S UTC")) } else { render_clock(at) }
}

fn render_time(at: Timestamp, form: &str, text: impl Display) -> Markup {
    let exact = at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string();
    let title = at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string();
    html! { time datetime=(exact) data-form=(form) title=(title) { (text.to_string()) } }
}

/// The time between two times, in its largest unit.
pub(super) fn format_elapsed(from: Timestamp, to: Timestamp) -> String {
    let seconds = to.duration_since(from).as_secs().max(0);
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// A duration, rounded. Non-breaking spaces keep a number with its unit.
pub(super) fn format_duration_ms(ms: f64) -> String {
    let whole = |ms: f64, unit: f64| (ms / unit).floor();
    match ms {
        ms if ms < 10.0 => format!("{ms:.1} ms"),
        ms if ms < SECOND_MS => format!("{ms:.0} ms"),
        ms if ms < MINUTE_MS => format!("{:.1} s", ms / SECOND_MS),
        ms if ms < HOUR_MS => format!("{}\u{a0}min {}\u{a0}s", whole(ms, MINUTE_MS), whole(ms % MINUTE_MS, SECOND_MS)),
        ms => format!("{}\u{a0}h {}\u{a0}min", whole(ms, HOUR_MS), whole(ms % HOUR_MS, MINUTE_MS)),
    }
}

/// Units of durations, in milliseconds.
const SECOND_MS: f64 = 1000.0;
const MINUTE_MS: f64 = 60.0 * SECOND_MS;
const HOUR_MS: f64 = 60.0 * MINUTE_MS;

/// A message as a sentence: with a capital and a period.
pub(super) fn to_sentence(message: &str) -> String {
    capitalize(message) + "."
}

/// A message and its hint as sentences.
pub(super) fn to_sentences(message: &UserMessage) -> String {
    let hint = message.hint.as_deref().map(to_sentence);
    [Some(to_sentence(&message.text)), hint].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// A word with a capital.
pub(super) fn capitalize(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// A number with its noun: `1 run`, `2 runs`.
pub(super) fn pluralize(number: i64, one: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {one}{ending}")
}

/// The maximum length of a name.
pub(super) const MAX_NAME_CHARS: usize = 80;

/// A name from outside. A long one is folded, with up to `most` characters.
pub(super) fn render_name(text: &str, most: usize) -> Markup {
    html! {
        @if text.chars().nth(MAX_NAME_CHARS).is_some() {
            details.long {
                summary { code { (truncate_text(text, MAX_NAME_CHARS)) } }
                p.text { code { (truncate_text(text, most)) } }
            }
        } @else {
            code { (text) }
        }
    }
}

/// A text without leading blank lines. Spaces before the first word stay.
pub(super) fn trim_leading_blank_lines(text: &str) -> &str {
    let blank = text.len() - text.trim_start().len();
    let line = text[..blank].rfind('\n').map_or(0, |end| end + 1);
    &text[line..]
}

/// The start of a text that is longer than `most` characters.
pub(super) fn truncate_text(text: &str, most: usize) -> String {
    let text = trim_leading_blank_lines(text);
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// The name of an agent: its product, its role, and the start of its session id.
pub(super) struct AgentName<'a>(pub(super) &'a AgentView);

impl AgentName<'_> {
    /// The product, if known.
    fn product(&self) -> &str {
        self.0.product.as_deref().unwrap_or("agent")
    }

    /// The role, unless it is also the session id.
    fn role(&self) -> Option<&str> {
        let role = self.0.role.as_deref().filter(|role| !role.is_empty());
        role.filter(|_| self.0.role != self.0.session_id)
    }

    fn short_session(&self) -> String {
        match &self.0.session_id {
            Some(session) => session.chars().take(SHORT_ID_CHARS).collect(),
            None => format!("#{}", self.0.agent_id),
        }
    }

    /// The name as plain text.
    pub(super) fn to_text(&self) -> String {
        let parts = [Some(self.product().to_owned()), self.role().map(str::to_owned), Some(self.short_session())];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

impl Render for AgentName<'_> {
    fn render(&self) -> Markup {
        html! {
            bdi { (truncate_text(self.product(), 40)) }
            @if let Some(role) = self.role() { " " bdi.role { (truncate_text(role, 40)) } }
            " " code { (self.short_session()) }
        }
    }
}

/// The label of the last text: who wrote it.
pub(super) fn speaker_label(agent: &AgentView) -> &'static str {
    match agent.last_words_by {
        Some(TurnActor::Agent) => "last reply ",
        Some(TurnActor::User) => "prompt ",
        None => "",
    }
}

/// The label of a state.
pub(super) fn state_label(activity: impl Into<AgentActivity>) -> &'static str {
    match activity.into() {
        AgentActivity::Idle => "idle",
        AgentActivity::Processing => "working",
        AgentActivity::Background => "working in the background",
        AgentActivity::AwaitingInput => "needs you",
        AgentActivity::Ended => "ended",
    }
}

/// The symbol of a state, so that colour is not the only sign.
pub(super) fn state_symbol(activity: impl Into<AgentActivity>) -> &'static str {
    match activity.into() {
        AgentActivity::Idle => "○",
        AgentActivity::Processing => "▶",
        AgentActivity::Background => "▷",
        AgentActivity::AwaitingInput => "▲",
        AgentActivity::Ended => "■",
    }
}

/// The reason of an end in words, or the recorded value if there are none.
pub(super) fn render_end_reason(reason: &str) -> Markup {
    html! {
        @if let Some(words) = snell_store::describe_end_reason(reason) { (words) }
        @else { code.quiet { (truncate_text(reason, MAX_NAME_CHARS)) } }
    }
}

/// The guard's name of a decision. The log's name of a denial is `block`, and the page's label is "blocked".
pub(super) fn canonical_decision(name: &str) -> &str {
    match name {
        "block" | "blocked" | "denied" => "deny",
        "asked" => "ask",
        "allowed" => "allow",
        "would_block" | "would be blocked" => "would_deny",
        "would be asked" => "would_ask",
        other => other,
    }
}

/// The label of the source of a state.
pub(super) fn source_label(source: StateSource) -> &'static str {
    match source {
        StateSource::Hook => "reported by a hook",
        StateSource::Transcript => "from its transcript",
        StateSource::Process => "from its process",
        StateSource::Poll => "from its terminal",
    }
}

/// The label of the confidence in a state.
pub(super) fn confidence_label(confidence: StateConfidence) -> &'static str {
    match confidence {
        StateConfidence::High => "certain",
        StateConfidence::Medium => "likely",
        StateConfidence::Low => "a guess",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_their_largest_unit() {
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
            assert_eq!(format_elapsed(from, Timestamp::from_second(seconds).unwrap()), expected);
        }
    }

    #[test]
    fn durations_are_rounded() {
        let cases = [
            (0.25, "0.2 ms"),
            (9.94, "9.9 ms"),
            (12.3, "12 ms"),
            (999.0, "999 ms"),
            (1500.0, "1.5 s"),
            (61_000.0, "1 min 1 s"),
            (119_999.0, "1 min 59 s"),
            (3_599_999.0, "59 min 59 s"),
            (3_600_000.0, "1 h 0 min"),
            (90_000_000.0, "25 h 0 min"),
        ];
        for (ms, expected) in cases {
            assert_eq!(format_duration_ms(ms).replace('\u{a0}', " "), expected);
        }
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let cases = [
            ("abc", 3, "abc"),
            ("abcd", 3, "abc…"),
            ("äöüß", 2, "äö…"),
            ("a bc", 2, "a…"),
            ("\n \n  abc", 9, "  abc"),
            ("  abc\n\nd", 9, "  abc\n\nd"),
            ("\n\n", 9, ""),
            ("", 0, ""),
        ];
        for (text, most, expected) in cases {
            assert_eq!(truncate_text(text, most), expected);
        }
    }
}
