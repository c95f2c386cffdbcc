//! Renders an entry of the log: a line, and below it the reason if it does not fit on the line.

use std::borrow::Cow;

use serde_json::Value;
use snell::{Timestamp, ToolCall};
use snell_store::{GuardOutcome, LogEntry};

use crate::output::time;
use crate::output::{
    self, TextStyle, apply_style, display_width, escape_invisible, pad_to_width, shorten_to_one_line,
    truncate_to_width, wrap_lines,
};

/// The longest subject on a terminal, even on a wide one.
const MAX_SUBJECT_CELLS: usize = 100;

/// The width of the project column on a terminal.
const PROJECT_CELLS: usize = 12;

/// The width of the event column.
const EVENT_CELLS: usize = 17;

/// The shortest subject with aligned columns. With less room, columns are not aligned.
const MIN_SUBJECT_CELLS: usize = 12;

/// The subject of an event without a tool: the first of these fields in its payload.
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

/// The most lines of a reason that does not fit behind the decision.
const MAX_REASON_LINES: usize = 3;

/// The indent of these lines.
const INDENT: &str = "    ";

/// The entry as a line. On a terminal the line is cut to the width, and a reason that does not fit goes on its own lines below,
/// because people look for it. Elsewhere nothing is cut.
pub(crate) fn render_log_entry(entry: &LogEntry, now: Timestamp) -> String {
    let shown = LogLineParts::from_entry(entry, now);
    let (line, below) = match output::terminal_width() {
        None => (shown.render_line(&shown.subject, &shown.decision_with_reason()), Vec::new()),
        Some(terminal) => shown.render_within(terminal),
    };
    let below = below.iter().map(|line| format!("{INDENT}{}\n", apply_style(line, shown.style)));
    format!("{}\n{}", line.trim_end(), below.collect::<String>())
}

/// The parts of a line.
struct LogLineParts {
    time: String,
    agent: String,
    project: String,
    event: String,
    subject: String,
    /// The decision without the reason.
    decision: String,
    reason: Option<String>,
    /// The decision of the guard if its preset were not `audit`.
    would: &'static str,
    style: TextStyle,
    hooks: String,
}

impl LogLineParts {
    fn from_entry(entry: &LogEntry, now: Timestamp) -> Self {
        let would = entry.unaudited_outcome().map_or("", format_would_outcome);
        let (decision, style) = match entry.decision.as_deref() {
            None => (String::new(), TextStyle::Faint),
            Some(decision) => (format!("  -> {}", escape_invisible(decision)), decision_style(decision)),
        };
        let hooks = match usize::try_from(entry.hooks).unwrap_or(0) {
            0 => String::new(),
            number => format!("  ({})", output::format_count(number, "hook")),
        };
        let reason = entry.decision.as_ref().and(entry.reason.as_deref());
        Self {
            time: time::format_time_short(entry.at, now),
            agent: entry.agent_id.to_string(),
            project: escape_invisible(&entry.project),
            event: escape_invisible(&entry.event),
            subject: sanitize_to_one_line(&describe_subject(entry)),
            decision,
            reason: reason.map(sanitize_to_one_line),
            would,
            style,
            hooks,
        }
    }

    /// The decision with the reason.
    fn decision_with_reason(&self) -> String {
        let reason = self.reason.as_ref().map(|reason| format!(": {reason}"));
        format!("{}{}{}", self.decision, reason.unwrap_or_default(), self.would)
    }

    /// The columns before the subject.
    fn render_prefix(&self, project: &str) -> String {
        let (project, event) = (pad_to_width(project, PROJECT_CELLS), pad_to_width(&self.event, EVENT_CELLS));
        format!("{}  {:>3}  {project}  {event}  ", self.time, self.agent)
    }

    fn render_line(&self, subject: &str, decided: &str) -> String {
        let before = self.render_prefix(&self.project);
        format!("{before}{subject}{}{}", apply_style(decided, self.style), apply_style(&self.hooks, TextStyle::Faint))
    }

    /// The line in this many cells, and the lines below it.
    fn render_within(&self, terminal: usize) -> (String, Vec<String>) {
        let before = self.render_prefix(&truncate_to_width(&self.project, PROJECT_CELLS));
        let subject = truncate_or_empty(&self.subject, MAX_SUBJECT_CELLS);
        let room = terminal.saturating_sub(display_width(&before) + display_width(&self.hooks));
        let whole = self.decision_with_reason();
        let fits = display_width(&subject) + display_width(&whole) <= room;
        let (decided, below) = match &self.reason {
            Some(reason) if !fits => {
                let cells = terminal.saturating_sub(INDENT.len()).max(1);
                (format!("{}{}", self.decision, self.would), wrap_lines(reason, Some(cells), MAX_REASON_LINES))
            }
            _ => (whole, Vec::new()),
        };
        let hooks = apply_style(&self.hooks, TextStyle::Faint);
        let is_wide = fits || room >= display_width(&decided) + MIN_SUBJECT_CELLS;
        let (before, room, hooks) = if is_wide {
            (before, room, hooks)
        } else {
            // No room for aligned columns.
            let before = format!("{} {} {} {} ", self.time, self.agent, self.project, self.event);
            let before = truncate_to_width(&before, terminal.saturating_sub(display_width(&decided)));
            let room = terminal.saturating_sub(display_width(&before));
            (before, room, String::new())
        };
        let decided = truncate_to_width(&decided, room);
        let subject = truncate_or_empty(&subject, room.saturating_sub(display_width(&decided)));
        (format!("{before}{subject}{}{hooks}", apply_style(&decided, self.style)), below)
    }
}

/// A text on one line that cannot control a terminal.
fn sanitize_to_one_line(text: &str) -> String {
    escape_invisible(&shorten_to_one_line(text, usize::MAX))
}

/// A text of at most this many cells; nothing if only the ellipsis would be left.
fn truncate_or_empty(text: &str, cells: usize) -> String {
    if cells < 2 { String::new() } else { truncate_to_width(text, cells) }
}

/// The subject of the event.
fn describe_subject(entry: &LogEntry) -> String {
    let text = |field: &&str| entry.payload.get(*field).and_then(Value::as_str);
    let Some(name) = &entry.tool else {
        let summary = entry.tool_summary.as_deref();
        return summary.or_else(|| SUBJECTS.iter().find_map(text)).unwrap_or_default().to_owned();
    };
    // The summary is short; the payload usually has the whole input.
    let tool = ToolCall { name: name.clone(), input: entry.payload.get("tool_input").cloned(), ..ToolCall::default() };
    let summary = || entry.tool_summary.as_deref().map(Cow::from);
    match tool.principal_argument().or_else(summary) {
        Some(summary) => format!("{name} {summary}"),
        None => name.clone(),
    }
}

fn decision_style(decision: &str) -> TextStyle {
    match decision {
        "block" => TextStyle::Red,
        "ask" => TextStyle::Yellow,
        _ => TextStyle::Plain,
    }
}

fn format_would_outcome(outcome: GuardOutcome) -> &'static str {
    match outcome {
        GuardOutcome::WouldDeny => "  -> would be blocked",
        GuardOutcome::WouldAsk => "  -> would be asked",
        GuardOutcome::Denied | GuardOutcome::Asked | GuardOutcome::Allowed => "",
    }
}
