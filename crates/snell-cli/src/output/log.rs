//! Renders an entry of the log: a line, and below it the reason if it does not fit on the line.

use std::borrow::Cow;

use serde_json::Value;
use snell::{Timestamp, ToolCall};
use snell_store::{DecisionAuthor, GuardOutcome, LogEntry};

use crate::output::time;
use crate::output::{
    self, TextStyle, apply_style, display_width, escape_invisible, pad_to_width, shorten_to_one_line,
    truncate_to_width, wrap_lines,
};

/// The longest subject on a terminal, even on a wide one.
const MAX_SUBJECT_CELLS: usize = 100;

/// The width of the product column.
const PRODUCT_CELLS: usize = 8;

/// The width of the project column on a terminal.
const PROJECT_CELLS: usize = 12;

/// The width of the event column.
const EVENT_CELLS: usize = 17;

/// The subject that columns are dropped for on a narrow terminal.
const MIN_SUBJECT_CELLS: usize = 16;

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

/// More about the decision of an entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogEntryNotes<'a> {
    /// The authors of the decision.
    pub(crate) authors: &'a [DecisionAuthor],
    /// The guard's advice for the model, which is in the reason too.
    pub(crate) advice: &'a [&'a str],
}

/// The entry as a line. On a terminal the line is cut to the width, and a reason that does not fit goes on its own lines below with
/// the author of the decision, because people look for them. Elsewhere nothing is cut.
pub(crate) fn render_log_entry(entry: &LogEntry, notes: LogEntryNotes<'_>, now: Timestamp) -> String {
    render_entry_within(&LogLineParts::from_entry(entry, notes, now), output::terminal_width())
}

fn render_entry_within(parts: &LogLineParts, terminal: Option<usize>) -> String {
    let (line, below) = match terminal {
        None => {
            let before = parts.render_prefix(PREFIXES[0], usize::MAX);
            (parts.render_line(&before, &parts.subject, &parts.whole_decision()), Vec::new())
        }
        Some(terminal) => parts.render_within(terminal),
    };
    let below = below.iter().map(|line| format!("{INDENT}{}\n", apply_style(line, parts.style)));
    format!("{}\n{}", line.trim_end(), below.collect::<String>())
}

/// A column before the subject.
#[derive(Clone, Copy, Debug, PartialEq)]
enum PrefixColumn {
    Time,
    Agent,
    Product,
    Project,
    Event,
    /// The event without padding.
    ShortEvent,
}

/// The columns before the subject, from wide terminals to narrow ones. The first that leaves enough room is used.
const PREFIXES: [&[PrefixColumn]; 5] = [
    &[PrefixColumn::Time, PrefixColumn::Agent, PrefixColumn::Product, PrefixColumn::Project, PrefixColumn::Event],
    &[PrefixColumn::Time, PrefixColumn::Agent, PrefixColumn::Project, PrefixColumn::Event],
    &[PrefixColumn::Time, PrefixColumn::Agent, PrefixColumn::Event],
    &[PrefixColumn::Time, PrefixColumn::Agent, PrefixColumn::ShortEvent],
    &[PrefixColumn::Agent, PrefixColumn::ShortEvent],
];

/// The parts of a line.
struct LogLineParts {
    time: String,
    agent: String,
    product: String,
    project: String,
    event: String,
    subject: String,
    /// The decision without the reason.
    decision: String,
    reason: Option<String>,
    /// The author of the decision: `[guard RULE]`, `[hook FILE:LINE]`; empty if there is none.
    author: String,
    /// The decision of the guard if its preset were not `audit`.
    would: &'static str,
    style: TextStyle,
    hooks: String,
}

impl LogLineParts {
    fn from_entry(entry: &LogEntry, notes: LogEntryNotes<'_>, now: Timestamp) -> Self {
        let would = entry.unaudited_outcome().map_or("", format_would_outcome);
        let (decision, style) = match entry.decision.as_deref() {
            None => (String::new(), TextStyle::Faint),
            Some(decision) => (format!("  -> {}", escape_invisible(decision)), decision_style(decision)),
        };
        let reason = entry.decision.as_ref().and(entry.reason.as_deref());
        let reason = reason.map(|reason| remove_advice(reason, notes.advice));
        Self {
            time: time::format_time_short(entry.at, now),
            agent: entry.agent_id.to_string(),
            product: escape_invisible(entry.product.as_deref().unwrap_or("-")),
            project: escape_invisible(&entry.project),
            event: escape_invisible(&entry.event),
            subject: sanitize_to_one_line(&describe_subject(entry)),
            decision,
            reason: reason.map(|reason| sanitize_to_one_line(&reason)),
            author: format_authors(notes.authors),
            would,
            style,
            hooks: format_hook_counts(entry),
        }
    }

    /// The decision with the reason and the author.
    fn whole_decision(&self) -> String {
        let reason = self.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        let author = if self.author.is_empty() { String::new() } else { format!("  {}", self.author) };
        format!("{}{reason}{}{author}", self.decision, self.would)
    }

    /// These columns before the subject, with a project of at most so many cells.
    fn render_prefix(&self, columns: &[PrefixColumn], project_cells: usize) -> String {
        let render = |column: &PrefixColumn| match column {
            PrefixColumn::Time => format!("{}  ", self.time),
            PrefixColumn::Agent => format!("{:>3}  ", self.agent),
            PrefixColumn::Product => format!("{}  ", pad_to_width(&self.product, PRODUCT_CELLS)),
            PrefixColumn::Project => {
                format!("{}  ", pad_to_width(&truncate_to_width(&self.project, project_cells), PROJECT_CELLS))
            }
            PrefixColumn::Event => format!("{}  ", pad_to_width(&self.event, EVENT_CELLS)),
            PrefixColumn::ShortEvent => format!("{}  ", self.event),
        };
        columns.iter().map(render).collect()
    }

    fn render_line(&self, before: &str, subject: &str, decided: &str) -> String {
        format!("{before}{subject}{}{}", apply_style(decided, self.style), apply_style(&self.hooks, TextStyle::Faint))
    }

    /// The line in this many cells, and the lines below it.
    fn render_within(&self, terminal: usize) -> (String, Vec<String>) {
        let before = self.render_prefix(PREFIXES[0], PROJECT_CELLS);
        let subject = truncate_or_empty(&self.subject, MAX_SUBJECT_CELLS);
        let whole = self.whole_decision();
        let room = terminal.saturating_sub(display_width(&before) + display_width(&self.hooks));
        if display_width(&subject) + display_width(&whole) <= room {
            return (self.render_line(&before, &subject, &whole), Vec::new());
        }
        let decided = format!("{}{}", self.decision, self.would);
        let wanted = display_width(&decided) + MIN_SUBJECT_CELLS.min(display_width(&subject));
        let has_room = |before: &String, hooks: &str| display_width(before) + display_width(hooks) + wanted <= terminal;
        let hooks = if has_room(&before, &self.hooks) { self.hooks.as_str() } else { "" };
        let mut prefixes = PREFIXES.iter().map(|columns| self.render_prefix(columns, PROJECT_CELLS));
        let before = prefixes.find(|before| has_room(before, hooks));
        let before = before.unwrap_or_else(|| self.render_prefix(PREFIXES[PREFIXES.len() - 1], PROJECT_CELLS));
        let before = truncate_to_width(&before, terminal.saturating_sub(display_width(&decided)));
        let room = terminal.saturating_sub(display_width(&before) + display_width(hooks));
        let decided = truncate_to_width(&decided, room);
        let subject = truncate_or_empty(&subject, room.saturating_sub(display_width(&decided)));
        let hooks = apply_style(hooks, TextStyle::Faint);
        (format!("{before}{subject}{}{hooks}", apply_style(&decided, self.style)), self.lines_below(terminal))
    }

    /// The reason, and the author behind it or on a line of its own.
    fn lines_below(&self, terminal: usize) -> Vec<String> {
        let cells = terminal.saturating_sub(INDENT.len()).max(1);
        let mut lines =
            self.reason.as_ref().map(|reason| wrap_lines(reason, Some(cells), MAX_REASON_LINES)).unwrap_or_default();
        match lines.last_mut() {
            _ if self.author.is_empty() => {}
            Some(last) if display_width(last) + 2 + display_width(&self.author) <= cells => {
                last.push_str(&format!("  {}", self.author));
            }
            _ => lines.push(truncate_to_width(&self.author, cells)),
        }
        lines
    }
}

/// The reason without the advice for the model.
fn remove_advice(reason: &str, advice: &[&str]) -> String {
    let without = advice.iter().fold(reason.to_owned(), |reason, advice| reason.replace(advice, ""));
    without.trim().to_owned()
}

/// `(2 hooks, 1 failed)`; empty if no hook reacted.
fn format_hook_counts(entry: &LogEntry) -> String {
    let hooks = match usize::try_from(entry.hooks).unwrap_or(0) {
        0 => return String::new(),
        number => output::format_count(number, "hook"),
    };
    match entry.hooks_failed {
        0 => format!("  ({hooks})"),
        failed => format!("  ({hooks}, {failed} failed)"),
    }
}

/// `[guard RULE, hook FILE:LINE]`; empty if there is none.
fn format_authors(authors: &[DecisionAuthor]) -> String {
    let format = |author: &DecisionAuthor| match author {
        DecisionAuthor::Guard { rule } => format!("guard {rule}"),
        DecisionAuthor::Hook { source, line, .. } => format!("hook {source}:{line}"),
        DecisionAuthor::Snell => "snell".into(),
    };
    let names: Vec<_> = authors.iter().map(format).collect();
    if names.is_empty() { String::new() } else { format!("[{}]", escape_invisible(&names.join(", "))) }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn build_parts() -> LogLineParts {
        let rule = DecisionAuthor::Guard { rule: "git-force-push".into() };
        LogLineParts {
            time: "10:00:02".into(),
            agent: "1".into(),
            product: "claude".into(),
            project: "snell".into(),
            event: "PreToolUse".into(),
            subject: "Bash git push --force origin main".into(),
            decision: "  -> block".into(),
            reason: Some("a forced push to main removes commits of others".into()),
            author: format_authors(&[rule]),
            would: "",
            style: TextStyle::Plain,
            hooks: "  (2 hooks)".into(),
        }
    }

    #[test]
    fn the_decision_its_reason_and_its_author_are_read_on_every_terminal() {
        let parts = build_parts();
        let shown = [Some(40), Some(60), Some(80), Some(120), Some(200), None].map(|terminal| {
            let text = render_entry_within(&parts, terminal);
            let widest = text.lines().map(display_width).max();
            assert!(terminal.is_none() || widest <= terminal, "{terminal:?}: {text}");
            format!("{terminal:?}\n{text}")
        });
        insta::assert_snapshot!(shown.concat(), @"
        Some(40)
          1  PreToolUse  Bash git pus…  -> block
            a forced push to main removes
            commits of others
            [guard git-force-push]
        Some(60)
        10:00:02    1  PreToolUse         Bash git push -…  -> block
            a forced push to main removes commits of others
            [guard git-force-push]
        Some(80)
        10:00:02    1  snell         PreToolUse         Bash git push --force…  -> block
            a forced push to main removes commits of others  [guard git-force-push]
        Some(120)
        10:00:02    1  claude    snell         PreToolUse         Bash git push --force origin main  -> block  (2 hooks)
            a forced push to main removes commits of others  [guard git-force-push]
        Some(200)
        10:00:02    1  claude    snell         PreToolUse         Bash git push --force origin main  -> block: a forced push to main removes commits of others  [guard git-force-push]  (2 hooks)
        None
        10:00:02    1  claude    snell         PreToolUse         Bash git push --force origin main  -> block: a forced push to main removes commits of others  [guard git-force-push]  (2 hooks)
        ");
    }

    #[test]
    fn authors_are_named_by_rule_and_position() {
        let hook = DecisionAuthor::Hook { contract: "native".into(), source: "snell.toml".into(), line: 3 };
        let rule = DecisionAuthor::Guard { rule: "delete-root".into() };
        assert_eq!(format_authors(&[rule, hook]), "[guard delete-root, hook snell.toml:3]");
        assert_eq!(format_authors(&[DecisionAuthor::Snell]), "[snell]");
        assert_eq!(format_authors(&[]), "");
    }
}
