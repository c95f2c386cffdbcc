//! The list of events as people look at it: line by line, searched for a text, and one event in full.

use serde_json::Value;

use crate::views::query_types::{GuardVerdictView, HookRunView, LogEntry, LogFilter};

/// How many events are looked at in one search, and how much text. Those of one project or one kind lie apart, and each costs
/// several times what it costs to read on.
const MAX_SCANNED_EVENTS: usize = 4000;
const MAX_SCANNED_FILTERED_EVENTS: usize = 2000;
pub(crate) const MAX_SCANNED_BYTES: usize = 8 * 1024 * 1024;

/// By what a subagent is known.
const SUBAGENT_FIELDS: &[&str] = &["agent_type", "agent_id"];

/// Events that say something in words, by the names of the fields in which they do; the first one that is there counts.
pub(crate) const EVENT_TEXT_FIELDS: &[(&str, &[&str])] = &[
    ("UserPromptSubmit", &["prompt"]),
    ("Notification", &["message"]),
    ("Stop", &["last_assistant_message"]),
    ("SubagentStart", SUBAGENT_FIELDS),
    ("SubagentStop", &["last_assistant_message"]),
    ("SessionStart", &["source"]),
    ("SessionEnd", &["reason"]),
    ("PreCompact", &["trigger"]),
    ("TaskCreated", &["task_subject"]),
    ("TaskCompleted", &["task_subject"]),
    ("PostToolUseFailure", &["error"]),
    ("Status", &["message"]),
    ("Ping", &["message"]),
    ("StopFailure", &["error_details", "error"]),
    ("PermissionDenied", &["reason"]),
];

/// An event in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct LogLine {
    /// The event, without what the agent sent.
    pub entry: LogEntry,
    /// What it says in words, if it is of a kind that does.
    pub message: Option<String>,
}

/// Some lines of the list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogSearchResult {
    /// The lines, in the order of the list.
    pub lines: Vec<LogLine>,
    /// The last event that was looked at, if there are more and a search looked no further.
    pub last_scanned_id: Option<i64>,
}

/// One event, and everything that hangs on it.
#[derive(Clone, Debug, PartialEq)]
pub struct EventDetails {
    /// The event.
    pub entry: LogEntry,
    /// Every hook that matched, and what became of it.
    pub hook_runs: Vec<HookRunView>,
    /// What the guard said.
    pub guard_verdicts: Vec<GuardVerdictView>,
}

/// A project.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the table that the design gives")]
pub struct ProjectView {
    pub project_id: i64,
    pub name: String,
    pub path: String,
}

/// How many events are looked at in a search among these.
pub(crate) fn max_events_to_scan(filter: &LogFilter) -> usize {
    let numbers = [filter.agent_id, filter.project_id];
    let words = [&filter.session, &filter.event, &filter.tool, &filter.decision];
    let is_narrowed = numbers.iter().any(Option::is_some) || words.iter().any(|word| word.is_some());
    if is_narrowed { MAX_SCANNED_FILTERED_EVENTS } else { MAX_SCANNED_EVENTS }
}

/// What an event says in words.
pub(crate) fn extract_event_text(event: &str, payload: &Value) -> Option<String> {
    let (_, fields) = EVENT_TEXT_FIELDS.iter().find(|(name, _)| *name == event)?;
    let text = |field: &str| payload.get(field)?.as_str().filter(|text| !text.trim().is_empty());
    let words = fields.iter().find_map(|field| text(field));
    if event != "SubagentStop" {
        return words.map(str::to_owned);
    }
    // Several of them run at a time, so it matters whose words they are.
    let who = SUBAGENT_FIELDS.iter().find_map(|field| text(field));
    match (who, words) {
        (Some(who), Some(words)) => Some(format!("{who}: {words}")),
        (who, words) => who.or(words).map(str::to_owned),
    }
}

/// What is looked for.
#[derive(Debug)]
pub(crate) struct SearchText {
    plain: String,
    /// The same as it stands in JSON.
    within_json: String,
}

impl SearchText {
    pub(crate) fn new(text: &str) -> Self {
        let quoted = Value::from(text).to_string();
        Self { plain: text.to_owned(), within_json: quoted[1..quoted.len() - 1].to_owned() }
    }

    pub(crate) fn is_in_text(&self, text: &str) -> bool {
        contains_ignoring_case(text.as_bytes(), self.plain.as_bytes())
    }

    pub(crate) fn is_in_json(&self, json: &str) -> bool {
        contains_ignoring_case(json.as_bytes(), self.within_json.as_bytes())
    }
}

fn contains_ignoring_case(text: &[u8], wanted: &[u8]) -> bool {
    let Some(first) = wanted.first() else { return true };
    let (small, large) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
    let mut rest = text;
    // Most places are passed by their first letter alone.
    while let Some(at) = rest.iter().position(|byte| *byte == small || *byte == large) {
        rest = &rest[at..];
        match rest.get(..wanted.len()) {
            Some(here) if here.eq_ignore_ascii_case(wanted) => return true,
            Some(_) => rest = &rest[1..],
            None => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_text_is_found_wherever_it_stands() {
        let cases = [
            ("", "", true),
            ("abc", "", true),
            ("", "a", false),
            ("abc", "abc", true),
            ("abc", "abcd", false),
            ("xaabc", "aabc", true),
            ("aaab", "AAB", true),
            ("git PUSH --force", "push", true),
            ("größer", "ÖSS", false),
            ("größer", "größe", true),
            ("ab", "b", true),
        ];
        for (text, wanted, is_there) in cases {
            assert_eq!(SearchText::new(wanted).is_in_text(text), is_there, "{wanted:?} in {text:?}");
        }
    }

    #[test]
    fn a_text_is_found_as_it_stands_in_json() {
        let payload = json!({"command": "echo \"a\\b\"\n\tö"}).to_string();
        for wanted in ["\"a\\b\"", "\"\n\tö", "ECHO"] {
            assert!(SearchText::new(wanted).is_in_json(&payload), "{wanted:?} in {payload}");
        }
    }
}
