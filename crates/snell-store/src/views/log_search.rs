//! The list of events for people: lines, a text search, and one event in full.

use serde_json::{Value, json};

use crate::views::query_types::{DecisionAuthor, GuardVerdictView, HookRunView, LogEntry, LogFilter};

/// The largest number of events and bytes of one search. Events of one project or one kind are scattered, so each costs
/// several times more.
const MAX_SCANNED_EVENTS: usize = 4000;
const MAX_SCANNED_FILTERED_EVENTS: usize = 2000;
pub(crate) const MAX_SCANNED_BYTES: usize = 8 * 1024 * 1024;

/// Fields that identify a sub-agent.
const SUBAGENT_FIELDS: &[&str] = &["agent_type", "agent_id"];

/// Events with a text, and the fields of that text, in order of preference.
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
    /// The event, without its payload.
    pub entry: LogEntry,
    /// Its text, if it has one.
    pub message: Option<String>,
}

impl LogLine {
    /// The line of an event, with the text that people read, and without the payload.
    pub(crate) fn from_entry(mut entry: LogEntry) -> Self {
        let mut payload = entry.payload.take();
        let message = extract_event_text(&entry.event, &payload);
        if entry.changed_input.is_some() {
            // Only the original input comes from the payload.
            let before = payload.get_mut("tool_input").map(Value::take);
            entry.payload = json!({ "tool_input": before });
        }
        Self { entry, message }
    }
}

/// A page of the list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogSearchResult {
    /// The lines, in the order of the list.
    pub lines: Vec<LogLine>,
    /// The last scanned event, if a search stopped before the end.
    pub last_scanned_id: Option<i64>,
}

/// One event with its hook runs and verdicts.
#[derive(Clone, Debug, PartialEq)]
pub struct EventDetails {
    /// The event.
    pub entry: LogEntry,
    /// The runs of all matching hooks.
    pub hook_runs: Vec<HookRunView>,
    /// The guard's verdicts.
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

/// How many events one search with this filter scans.
pub(crate) fn max_events_to_scan(filter: &LogFilter) -> usize {
    let numbers = [filter.agent_id, filter.project_id];
    let words = [&filter.session, &filter.event, &filter.tool, &filter.decision];
    let is_narrowed = numbers.iter().any(Option::is_some) || words.iter().any(|word| word.is_some());
    if is_narrowed { MAX_SCANNED_FILTERED_EVENTS } else { MAX_SCANNED_EVENTS }
}

/// The text of an event.
pub(crate) fn extract_event_text(event: &str, payload: &Value) -> Option<String> {
    let (_, fields) = EVENT_TEXT_FIELDS.iter().find(|(name, _)| *name == event)?;
    let text = |field: &str| payload.get(field)?.as_str().filter(|text| !text.trim().is_empty());
    let words = fields.iter().find_map(|field| text(field));
    if event != "SubagentStop" {
        return words.map(str::to_owned);
    }
    // Several sub-agents run at a time, so the text names its author.
    let who = SUBAGENT_FIELDS.iter().find_map(|field| text(field));
    match (who, words) {
        (Some(who), Some(words)) => Some(format!("{who}: {words}")),
        (who, words) => who.or(words).map(str::to_owned),
    }
}

/// A text to search for.
#[derive(Debug)]
pub(crate) struct SearchText {
    plain: String,
    /// The same, escaped as in JSON.
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
    // Most positions differ in the first letter already.
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

/// A verdict of the guard: its decision, its decision if it did not only audit, and its rule.
pub(crate) type RuleVerdict<'a> = (&'a str, Option<&'a str>, &'a str);

/// The authors of a decision: rules of the guard with this decision, and hooks that blocked. Without either, a block is by the hooks
/// that failed, because a hook may block when it fails; else by Snell itself. A question without a rule is by the only hook. Rules
/// that only audit follow.
pub(crate) fn find_decision_authors(
    decision: Option<&str>,
    verdicts: &[RuleVerdict<'_>],
    runs: &[(&str, DecisionAuthor)],
) -> Vec<DecisionAuthor> {
    let rules = |is_wanted: &dyn Fn(&RuleVerdict<'_>) -> bool| -> Vec<_> {
        let rules = verdicts.iter().filter(|verdict| is_wanted(verdict));
        rules.map(|(.., rule)| DecisionAuthor::Guard { rule: (*rule).to_owned() }).collect()
    };
    let hooks = |wanted: &[&str]| -> Vec<_> {
        runs.iter().filter(|(status, _)| wanted.contains(status)).map(|(_, author)| author.clone()).collect()
    };
    let mut authors = match decision {
        Some("ask") => rules(&|verdict| verdict.0 == "ask"),
        Some("block") => rules(&|verdict| verdict.0 == "deny"),
        _ => Vec::new(),
    };
    match (decision, runs) {
        (Some("block"), _) => {
            authors.extend(hooks(&["blocked"]));
            if authors.is_empty() {
                authors = hooks(&["failed", "timed_out"]);
            }
            if authors.is_empty() {
                authors.push(DecisionAuthor::Snell);
            }
        }
        (Some("ask"), [(_, only)]) if authors.is_empty() => authors.push(only.clone()),
        _ => {}
    }
    authors.extend(rules(&|verdict| verdict.0 == "allow" && verdict.1.is_some()));
    authors.dedup();
    authors
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_text_is_found_at_any_position() {
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
    fn a_text_is_found_in_its_json_form() {
        let payload = json!({"command": "echo \"a\\b\"\n\tö"}).to_string();
        for wanted in ["\"a\\b\"", "\"\n\tö", "ECHO"] {
            assert!(SearchText::new(wanted).is_in_json(&payload), "{wanted:?} in {payload}");
        }
    }

    #[test]
    fn the_author_of_a_decision_is_found_by_verdicts_and_hook_runs() {
        let hook = |line: i64| DecisionAuthor::Hook { contract: "native".into(), source: "snell.toml".into(), line };
        let rule = |rule: &str| DecisionAuthor::Guard { rule: rule.into() };
        type Runs<'a> = &'a [(&'a str, i64)];
        let cases: [(&str, &[RuleVerdict<'_>], Runs<'_>, Vec<DecisionAuthor>); 10] = [
            ("block", &[("deny", None, "a"), ("deny", None, "a"), ("ask", None, "b")], &[("ok", 1)], vec![rule("a")]),
            ("block", &[("deny", Some("ask"), "a")], &[("ok", 1), ("blocked", 2)], vec![rule("a"), hook(2)]),
            ("block", &[("allow", None, "a")], &[("blocked", 2), ("blocked", 3)], vec![hook(2), hook(3)]),
            ("block", &[("allow", Some("ask"), "a")], &[("blocked", 2)], vec![hook(2), rule("a")]),
            ("block", &[], &[("ok", 1), ("timed_out", 2)], vec![hook(2)]),
            ("block", &[], &[("ok", 1)], vec![DecisionAuthor::Snell]),
            ("ask", &[("ask", None, "b")], &[("ok", 1)], vec![rule("b")]),
            ("ask", &[], &[("ok", 1)], vec![hook(1)]),
            ("ask", &[], &[("ok", 1), ("ok", 2)], vec![]),
            ("allow", &[("allow", Some("deny"), "a")], &[("ok", 1)], vec![rule("a")]),
        ];
        for (decision, verdicts, runs, expected) in cases {
            let runs: Vec<_> = runs.iter().map(|(status, line)| (*status, hook(*line))).collect();
            assert_eq!(
                find_decision_authors(Some(decision), verdicts, &runs),
                expected,
                "{decision} {verdicts:?} {runs:?}"
            );
        }
    }
}
