//! The list of verdicts, each with its reason and call.

use maud::{Markup, html};
use serde_json::Value;
use snell_store::{GuardLogEntry, GuardOutcome, GuardVerdictView};

use super::params::GuardParams;
use super::{outcome_class, outcome_label};
use crate::web::format::{render_clock, truncate_text};

/// The decision of calls that the user decided about.
const ASKED: &str = "ask";

/// The maximum length of a reason, an advice or a call.
const MAX_TEXT_CHARS: usize = 600;

/// The fields that summarize a call; the first one that exists is used.
const SUMMARY_FIELDS: &[&str] = &["command", "file_path", "path", "url", "pattern", "query", "prompt"];

/// The verdicts with links to other pages. There may be one more than is shown.
pub(super) fn render_verdict_list(verdicts: &[GuardLogEntry], most: usize, params: &GuardParams) -> Markup {
    let shown = &verdicts[..verdicts.len().min(most)];
    let older = shown.last().filter(|_| verdicts.len() > most);
    html! {
        section aria-labelledby="list-title" {
            h2 #list-title { "Decisions" }
            @if params.filter.before_id.is_some() {
                p.pager { "These are older decisions. " a rel="next" href=(params.url_for("/guard", None)) { "Newest" } }
            }
            @if shown.is_empty() { p.quiet { @if params.values.is_empty() { "No decisions yet." } @else { "No matching decisions." } } }
            ol.verdicts { @for entry in shown { (render_verdict_row(entry)) } }
            @if let Some(last) = older {
                p.pager { a rel="prev" href=(params.url_for("/guard", Some(last.guard_verdict_id))) { "Older" } }
            }
        }
    }
}

fn render_verdict_row(entry: &GuardLogEntry) -> Markup {
    html! {
        li id={ "verdict-" (entry.guard_verdict_id) } {
            p.head-line {
                @match entry.event_row {
                    Some(event) => { a href={ "/logging/" (event) } { (render_clock(entry.at)) } },
                    None => (render_clock(entry.at)),
                }
                @if let Some(agent) = entry.agent_id { " " a href={ "/agents/" (agent) } { "#" (agent) } }
            }
            p { (render_verdict(&entry.verdict)) }
            pre.call {
                @if let Some(tool) = &entry.tool { strong { (truncate_text(tool, 60)) } " " }
                (truncate_text(&describe_call(entry), MAX_TEXT_CHARS))
            }
            @if let Some(event) = entry.event_row.filter(|_| entry.verdict.decision == ASKED) {
                p.quiet { "To allow this call in future, run " code { "snell guard allow --event " (event) } }
            }
        }
    }
}

/// A verdict: outcome, rule, reason and advice.
pub(in crate::web) fn render_verdict(verdict: &GuardVerdictView) -> Markup {
    let outcome = GuardOutcome::from_decision(&verdict.decision, verdict.would.as_deref());
    html! {
        strong class=(outcome_class(outcome)) { (outcome_label(outcome)) }
        " " code { (truncate_text(&verdict.rule, 100)) }
        " " span.quiet { (truncate_text(&verdict.tier, 40)) }
        " " span.text { (truncate_text(&verdict.reason, MAX_TEXT_CHARS)) }
        @if let Some(advice) = &verdict.advice { " " span.text.quiet { (truncate_text(advice, MAX_TEXT_CHARS)) } }
        @if verdict.of_changed_input { " " span.quiet { "(the call after a hook changed it)" } }
    }
}

/// The call that was judged.
fn describe_call(entry: &GuardLogEntry) -> String {
    let sent = || entry.payload.get("tool_input").unwrap_or(&Value::Null);
    summarize_input(entry.changed_input.as_ref().unwrap_or_else(sent))
}

/// The summary of a call: its command or file, or else its whole input.
fn summarize_input(input: &Value) -> String {
    let main_field = SUMMARY_FIELDS.iter().find_map(|name| input.get(name)?.as_str());
    match (main_field, input) {
        (Some(text), _) => text.to_owned(),
        (None, Value::Null) => String::new(),
        (None, Value::String(text)) => text.clone(),
        (None, other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_call_is_summarized_by_its_main_field() {
        let cases = [
            (json!({"command": "rm -rf /", "description": "x"}), "rm -rf /"),
            (json!({"file_path": "/etc/passwd", "content": "x"}), "/etc/passwd"),
            (json!({"command": ["rm", "x"]}), r#"{"command":["rm","x"]}"#),
            (json!("free text"), "free text"),
            (json!([1]), "[1]"),
            (Value::Null, ""),
        ];
        for (input, expected) in cases {
            assert_eq!(summarize_input(&input), expected, "{input}");
        }
    }

    #[test]
    fn a_call_that_was_asked_about_has_the_command_that_allows_it() {
        let shown = |decision: &str, event_row: Option<i64>| {
            let verdict = GuardVerdictView {
                decision: decision.into(),
                would: None,
                rule: "r".into(),
                tier: "t".into(),
                reason: "it is gone".into(),
                advice: None,
                of_changed_input: false,
            };
            let entry = GuardLogEntry {
                guard_verdict_id: 1,
                at: snell::Timestamp::UNIX_EPOCH,
                agent_id: None,
                event_row,
                tool: None,
                payload: json!({}),
                changed_input: None,
                verdict,
            };
            render_verdict_row(&entry).0
        };
        for (decision, event_row, expected) in
            [("ask", Some(47), true), ("ask", None, false), ("deny", Some(47), false), ("allow", Some(47), false)]
        {
            let row = shown(decision, event_row);
            assert_eq!(row.contains("<code>snell guard allow --event 47</code>"), expected, "{row}");
        }
    }

    #[test]
    fn a_verdict_in_audit_mode_is_marked() {
        let shown = |decision: &str, would: Option<&str>| {
            let verdict = GuardVerdictView {
                decision: decision.into(),
                would: would.map(str::to_owned),
                rule: "r".into(),
                tier: "t".into(),
                reason: "it is gone".into(),
                advice: None,
                of_changed_input: false,
            };
            render_verdict(&verdict).0
        };
        let watched = shown("allow", Some("deny"));
        assert!(watched.contains("<strong class=\"watched\">◌ would be blocked</strong>"), "{watched}");
        assert!(watched.contains(">it is gone<"), "{watched}");
        assert!(shown("deny", None).contains("<strong class=\"bad\">✕ blocked</strong>"));
    }
}
