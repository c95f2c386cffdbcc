//! How times, durations and long texts are put. `assets/times.js` words times in the same way as they pass.

use std::fmt::Display;

use maud::{Markup, Render, html};
use snell::Timestamp;
use snell_store::{AgentState, AgentView, StateConfidence, StateSource, TurnActor};

/// How much of a session's id is shown where there is little room.
const SHORT_ID_CHARS: usize = 8;

/// How moments are told that are near: as of now, or for good, in what is kept and read later.
#[derive(Clone, Copy, Debug)]
pub(super) enum TimeStyle {
    /// On a page, on which they are worded anew as time passes.
    RelativeTo(Timestamp),
    /// In a file.
    Absolute,
}

impl TimeStyle {
    /// When something was.
    pub(super) fn render_ago(self, at: Timestamp) -> Markup {
        match self {
            Self::RelativeTo(now) => render_ago(at, now),
            Self::Absolute => render_clock(at),
        }
    }

    /// Since when something has lasted.
    pub(super) fn render_lasting(self, at: Timestamp) -> Markup {
        match self {
            Self::RelativeTo(now) => html! { "for " (render_lasting(at, now)) },
            Self::Absolute => html! { "since " (render_clock(at)) },
        }
    }
}

/// How long ago something was, as of now.
pub(super) fn render_ago(at: Timestamp, now: Timestamp) -> Markup {
    render_time(at, "ago", format!("{} ago", format_elapsed(at, now)))
}

/// How long something has lasted, as of now.
pub(super) fn render_lasting(at: Timestamp, now: Timestamp) -> Markup {
    render_time(at, "for", format_elapsed(at, now))
}

/// When something was: the day and the time of day. The script puts it in the reader's own time zone.
pub(super) fn render_clock(at: Timestamp) -> Markup {
    render_time(at, "clock", at.strftime("%Y-%m-%d %H:%M:%S UTC"))
}

/// As [`clock`], but without the day if that is today, as the script words it: where many stand below each other.
pub(super) fn render_short_clock(at: Timestamp, now: Timestamp) -> Markup {
    let day = |at: Timestamp| at.strftime("%Y-%m-%d").to_string();
    if day(at) == day(now) { render_time(at, "clock", at.strftime("%H:%M:%S UTC")) } else { render_clock(at) }
}

fn render_time(at: Timestamp, form: &str, text: impl Display) -> Markup {
    let exact = at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string();
    let title = at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string();
    html! { time datetime=(exact) data-form=(form) title=(title) { (text.to_string()) } }
}

/// The time between two moments, in its largest unit.
pub(super) fn format_elapsed(from: Timestamp, to: Timestamp) -> String {
    let seconds = to.duration_since(from).as_secs().max(0);
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// A duration in milliseconds, to what matters of it. Where it stands on two lines a number stays with its unit.
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

/// A message as a sentence: with a capital and a full stop.
pub(super) fn to_sentence(message: &str) -> String {
    capitalize(message) + "."
}

/// A word with a capital.
pub(super) fn capitalize(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// So many of something: `1 run`, `2 runs`.
pub(super) fn pluralize(number: i64, one: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {one}{ending}")
}

/// How much of a name is shown.
pub(super) const MAX_NAME_CHARS: usize = 80;

/// A name that somebody else gave. Of one that is long, all is folded, up to so many characters.
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

/// A text without the blank lines that it begins with. Blanks before its first word stay.
pub(super) fn trim_leading_blank_lines(text: &str) -> &str {
    let blank = text.len() - text.trim_start().len();
    let line = text[..blank].rfind('\n').map_or(0, |end| end + 1);
    &text[line..]
}

/// The beginning of a text, if it has more than so many characters.
pub(super) fn truncate_text(text: &str, most: usize) -> String {
    let text = trim_leading_blank_lines(text);
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// What an agent is called: what it is, what it is for, and the beginning of its session's id.
pub(super) struct AgentName<'a>(pub(super) &'a AgentView);

impl AgentName<'_> {
    /// What it is: its product, as far as anybody said.
    fn product(&self) -> &str {
        self.0.product.as_deref().unwrap_or("agent")
    }

    /// What it is for, unless its session is called so anyway.
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

/// Who said what was said last, before it is told what.
pub(super) fn speaker_label(agent: &AgentView) -> &'static str {
    match agent.last_words_by {
        Some(TurnActor::Agent) => "said ",
        Some(TurnActor::User) => "was told ",
        None => "",
    }
}

/// What a state is called by people.
pub(super) fn state_label(state: AgentState) -> &'static str {
    match state {
        AgentState::Idle => "idle",
        AgentState::Processing => "working",
        AgentState::AwaitingInput => "needs you",
        AgentState::Ended => "ended",
    }
}

/// The shape that goes with a state, for those who do not see its colour.
pub(super) fn state_symbol(state: AgentState) -> &'static str {
    match state {
        AgentState::Idle => "○",
        AgentState::Processing => "▶",
        AgentState::AwaitingInput => "▲",
        AgentState::Ended => "■",
    }
}

/// Why something ended, for people, and as it is kept beside it.
pub(super) fn render_end_reason(reason: &str) -> Markup {
    html! {
        @if let Some(words) = snell_store::describe_end_reason(reason) { (words) " " }
        code.quiet { (truncate_text(reason, MAX_NAME_CHARS)) }
    }
}

/// A decision by any of its names, as the guard calls it. The log calls a denial a block, and people say that it was blocked.
pub(super) fn canonical_decision(told: &str) -> &str {
    match told {
        "block" | "blocked" | "denied" => "deny",
        "asked" => "ask",
        "allowed" => "allow",
        "would_block" | "would be blocked" => "would_deny",
        "would be asked" => "would_ask",
        other => other,
    }
}

/// How a state is known.
pub(super) fn source_label(source: StateSource) -> &'static str {
    match source {
        StateSource::Hook => "told by a hook",
        StateSource::Transcript => "read in its transcript",
        StateSource::Process => "seen at its process",
        StateSource::Poll => "seen in its terminal",
    }
}

/// How sure a state is.
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
            assert_eq!(format_elapsed(from, Timestamp::from_second(seconds).unwrap()), expected);
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
