//! One entry of the log on one line, for people.

use std::borrow::Cow;

use serde_json::Value;
use snell::{Timestamp, Tool};
use snell_store::{GuardOutcome, LogEntry};

use crate::output::{self, Style, harmless, in_brief, padded, shortened, styled, width};
use crate::times;

/// How much is shown at a terminal of what an event is about, and of why something was decided, however wide it is.
const TEXT_SHOWN: usize = 100;

/// How much of a project's name is shown at a terminal.
const PROJECT_SHOWN: usize = 12;

/// How much room there is for an event's name.
const EVENT_SHOWN: usize = 17;

/// How much of each is shown at least, however narrow the terminal is.
const LEAST_SHOWN: usize = 12;

/// What an event without a tool is about: the first of these that its payload has.
const SUBJECTS: &[&str] = &[
    "prompt",
    "message",
    "last_assistant_message",
    "error",
    "reason",
    "source",
    "trigger",
    "agent_type",
    "notification_type",
];

/// The entry as a line. On a terminal what it was about and why it was decided are shortened until the line fits; elsewhere
/// nothing is.
pub(crate) fn of(entry: &LogEntry, now: Timestamp) -> String {
    let terminal = output::terminal_width();
    let at_most = |shown: usize| terminal.map_or(usize::MAX, |_| shown);
    let before = format!(
        "{}  {:>3}  {}  {}  ",
        times::shown_on(entry.at, now),
        entry.agent_id,
        padded(
            &shortened(&harmless(&entry.project), at_most(PROJECT_SHOWN)),
            PROJECT_SHOWN
        ),
        padded(&harmless(&entry.event), EVENT_SHOWN),
    );
    let hooks = match usize::try_from(entry.hooks).unwrap_or(0) {
        0 => String::new(),
        number => format!("  ({})", output::count(number, "hook")),
    };
    let room = terminal.map_or(usize::MAX, |terminal| {
        terminal
            .saturating_sub(width(&before) + width(&hooks))
            .max(2 * LEAST_SHOWN)
    });
    let (decision, style) = decision(entry, room / 2);
    let subject = brief(&subject(entry), (room - width(&decision)).min(at_most(TEXT_SHOWN)));
    let line = format!(
        "{before}{subject}{}{}",
        styled(&decision, style),
        styled(&hooks, Style::Faint)
    );
    format!("{}\n", line.trim_end())
}

/// A text on one line that cannot steer a terminal, and at most so long.
fn brief(text: &str, cells: usize) -> String {
    shortened(&harmless(&in_brief(text, cells)), cells)
}

/// What the event is about.
fn subject(entry: &LogEntry) -> String {
    let text = |field: &&str| entry.payload.get(*field).and_then(Value::as_str);
    let Some(name) = &entry.tool else {
        return SUBJECTS.iter().find_map(text).unwrap_or_default().to_owned();
    };
    // The summary is short; the payload says it in full, where it names its input as most do.
    let tool = Tool {
        name: name.clone(),
        input: entry.payload.get("tool_input").cloned(),
        ..Tool::default()
    };
    let summary = || entry.tool_summary.as_deref().map(Cow::from);
    match tool.principal_argument().or_else(summary) {
        Some(summary) => format!("{name} {summary}"),
        None => name.clone(),
    }
}

/// What was decided, at most so long, and what would have been if the guard did not only watch.
fn decision(entry: &LogEntry, cells: usize) -> (String, Style) {
    let would = entry.would_be().map_or("", would_be);
    let Some(decision) = entry.decision.as_deref() else {
        return (would.to_owned(), Style::Faint);
    };
    let style = match decision {
        "block" => Style::Red,
        "ask" => Style::Yellow,
        _ => Style::Plain,
    };
    let text = match &entry.reason {
        Some(reason) => format!("  -> {decision}: {}", in_brief(reason, cells)),
        None => format!("  -> {decision}"),
    };
    let cells = cells.saturating_sub(width(would));
    (shortened(&harmless(&text), cells) + would, style)
}

fn would_be(outcome: GuardOutcome) -> &'static str {
    match outcome {
        GuardOutcome::WouldDeny => "  -> would be blocked",
        GuardOutcome::WouldAsk => "  -> would be asked",
        GuardOutcome::Denied | GuardOutcome::Asked | GuardOutcome::Allowed => "",
    }
}
