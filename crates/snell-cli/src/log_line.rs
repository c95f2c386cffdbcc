//! One entry of the log, for people: a line, and below it a reason for which there is no room on it.

use std::borrow::Cow;

use serde_json::Value;
use snell::{Timestamp, Tool};
use snell_store::{GuardOutcome, LogEntry};

use crate::output::{self, Style, harmless, in_brief, padded, shortened, styled, width, wrapped};
use crate::times;

/// How much is shown at a terminal of what an event is about, however wide it is.
const TEXT_SHOWN: usize = 100;

/// How much of a project's name is shown at a terminal.
const PROJECT_SHOWN: usize = 12;

/// How much room there is for an event's name.
const EVENT_SHOWN: usize = 17;

/// How much is shown of what an event is about where columns stand under each other; where there is less room, they do not.
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

/// In how many lines it is said at most why something was decided, where that does not fit behind it.
const REASON_LINES: usize = 3;

/// What such lines are set in by.
const INDENT: &str = "    ";

/// The entry as a line. On a terminal it is never wider than that. Why something was decided is what people look for: where it
/// does not fit behind the rest, it stands in lines of its own below, and only the rest is shortened. Elsewhere nothing is.
pub(crate) fn of(entry: &LogEntry, now: Timestamp) -> String {
    let shown = Shown::of(entry, now);
    let (line, below) = match output::terminal_width() {
        None => (shown.line(&shown.subject, &shown.with_reason()), Vec::new()),
        Some(terminal) => shown.within(terminal),
    };
    let below = below
        .iter()
        .map(|line| format!("{INDENT}{}\n", styled(line, shown.style)));
    format!("{}\n{}", line.trim_end(), below.collect::<String>())
}

/// The parts of a line.
struct Shown {
    time: String,
    agent: String,
    project: String,
    event: String,
    subject: String,
    /// What was decided, without the reason.
    decision: String,
    reason: Option<String>,
    /// What would have been decided if the guard did not only watch.
    would: &'static str,
    style: Style,
    hooks: String,
}

impl Shown {
    fn of(entry: &LogEntry, now: Timestamp) -> Self {
        let would = entry.would_be().map_or("", would_be);
        let (decision, style) = match entry.decision.as_deref() {
            None => (String::new(), Style::Faint),
            Some(decision) => (format!("  -> {}", harmless(decision)), style_of(decision)),
        };
        let hooks = match usize::try_from(entry.hooks).unwrap_or(0) {
            0 => String::new(),
            number => format!("  ({})", output::count(number, "hook")),
        };
        let reason = entry.decision.as_ref().and(entry.reason.as_deref());
        Self {
            time: times::shown_on(entry.at, now),
            agent: entry.agent_id.to_string(),
            project: harmless(&entry.project),
            event: harmless(&entry.event),
            subject: on_one_line(&subject(entry)),
            decision,
            reason: reason.map(on_one_line),
            would,
            style,
            hooks,
        }
    }

    /// What was decided, and why.
    fn with_reason(&self) -> String {
        let reason = self.reason.as_ref().map(|reason| format!(": {reason}"));
        format!("{}{}{}", self.decision, reason.unwrap_or_default(), self.would)
    }

    fn without_reason(&self) -> String {
        format!("{}{}", self.decision, self.would)
    }

    /// What stands before that which the event is about, each under its like.
    fn before(&self, project: &str) -> String {
        let (project, event) = (padded(project, PROJECT_SHOWN), padded(&self.event, EVENT_SHOWN));
        format!("{}  {:>3}  {project}  {event}  ", self.time, self.agent)
    }

    fn line(&self, subject: &str, decided: &str) -> String {
        let before = self.before(&self.project);
        format!(
            "{before}{subject}{}{}",
            self.decided(decided),
            styled(&self.hooks, Style::Faint)
        )
    }

    fn decided(&self, decided: &str) -> String {
        styled(decided, self.style)
    }

    /// The line in so many cells, and what stands below it.
    fn within(&self, terminal: usize) -> (String, Vec<String>) {
        let before = self.before(&shortened(&self.project, PROJECT_SHOWN));
        let subject = cut(&self.subject, TEXT_SHOWN);
        let room = terminal.saturating_sub(width(&before) + width(&self.hooks));
        let whole = self.with_reason();
        let fits = width(&subject) + width(&whole) <= room;
        let (decided, below) = match &self.reason {
            Some(reason) if !fits => {
                let cells = terminal.saturating_sub(INDENT.len()).max(1);
                (self.without_reason(), wrapped(reason, Some(cells), REASON_LINES))
            }
            _ => (whole, Vec::new()),
        };
        let hooks = styled(&self.hooks, Style::Faint);
        let is_wide = fits || room >= width(&decided) + LEAST_SHOWN;
        let (before, room, hooks) = if is_wide {
            (before, room, hooks)
        } else {
            // There is no room for columns.
            let before = format!("{} {} {} {} ", self.time, self.agent, self.project, self.event);
            let before = shortened(&before, terminal.saturating_sub(width(&decided)));
            let room = terminal.saturating_sub(width(&before));
            (before, room, String::new())
        };
        let decided = shortened(&decided, room);
        let subject = cut(&subject, room.saturating_sub(width(&decided)));
        (format!("{before}{subject}{}{hooks}", self.decided(&decided)), below)
    }
}

/// A text on one line that cannot steer a terminal.
fn on_one_line(text: &str) -> String {
    harmless(&in_brief(text, usize::MAX))
}

/// A text that takes at most so many cells; nothing where only the mark that it was cut would be left.
fn cut(text: &str, cells: usize) -> String {
    if cells < 2 {
        String::new()
    } else {
        shortened(text, cells)
    }
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

fn style_of(decision: &str) -> Style {
    match decision {
        "block" => Style::Red,
        "ask" => Style::Yellow,
        _ => Style::Plain,
    }
}

fn would_be(outcome: GuardOutcome) -> &'static str {
    match outcome {
        GuardOutcome::WouldDeny => "  -> would be blocked",
        GuardOutcome::WouldAsk => "  -> would be asked",
        GuardOutcome::Denied | GuardOutcome::Asked | GuardOutcome::Allowed => "",
    }
}
