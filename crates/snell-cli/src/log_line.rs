//! One entry of the log on one line, for people.

use serde_json::Value;
use snell::{Timestamp, Tool};
use snell_store::LogEntry;

use crate::output::{self, Style, harmless, in_brief, shortened, styled};
use crate::times;

/// How much is shown of what an event is about, and of why something was decided, where no terminal sets the limit.
const TEXT_SHOWN: usize = 100;

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

/// The entry as a line. On a terminal it fits, and what stands at its end is never what is cut.
pub(crate) fn of(entry: &LogEntry, now: Timestamp) -> String {
    let before = format!(
        "{}  {:>3}  {:<12}  {:<17}  ",
        times::shown_on(entry.at, now),
        entry.agent_id,
        shortened(&harmless(&entry.project), 12),
        harmless(&entry.event),
    );
    let (decision, style) = decision(entry);
    let hooks = match usize::try_from(entry.hooks).unwrap_or(0) {
        0 => String::new(),
        number => format!("  ({})", output::count(number, "hook")),
    };
    let length = |text: &str| text.chars().count();
    let room = output::terminal_width().map_or(TEXT_SHOWN, |width| {
        let taken = length(&before) + length(&decision) + length(&hooks);
        width.saturating_sub(taken).clamp(10, TEXT_SHOWN)
    });
    let subject = in_brief(&harmless(&in_brief(&subject(entry), room)), room);
    let line = format!(
        "{before}{subject}{}{}",
        styled(&decision, style),
        styled(&hooks, Style::Faint)
    );
    format!("{}\n", line.trim_end())
}

/// What the event is about.
fn subject(entry: &LogEntry) -> String {
    let text = |field: &&str| entry.payload.get(*field).and_then(Value::as_str);
    let Some(name) = &entry.tool else {
        return SUBJECTS.iter().find_map(text).unwrap_or_default().to_owned();
    };
    let tool = Tool {
        name: name.clone(),
        input: entry.payload.get("tool_input").cloned(),
        ..Tool::default()
    };
    match tool.principal_argument() {
        Some(argument) => format!("{name} {argument}"),
        None => name.clone(),
    }
}

fn decision(entry: &LogEntry) -> (String, Style) {
    let Some(decision) = entry.decision.as_deref() else {
        return (String::new(), Style::Plain);
    };
    let style = match decision {
        "block" => Style::Red,
        "ask" => Style::Yellow,
        _ => Style::Plain,
    };
    let text = match &entry.reason {
        Some(reason) => format!("  -> {decision}: {}", harmless(&in_brief(reason, TEXT_SHOWN))),
        None => format!("  -> {decision}"),
    };
    (text, style)
}
