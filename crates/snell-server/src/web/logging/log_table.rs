//! The table of events.

use maud::{Markup, html};
use serde_json::Value;
use snell::Timestamp;
use snell_store::{LogEntry, LogLine, LogSearchResult};

use super::params::LogParams;
use crate::web::agent::{decision_class, decision_label};
use crate::web::format::{format_duration_ms, pluralize, render_short_clock, state_label, state_symbol, truncate_text};
use crate::web::guard::{outcome_class, outcome_label};
use crate::web::input_diff::{render_changed_output, render_input_diff};
use crate::web::project_names::ProjectNames;

/// Lines per page.
pub(super) const MAX_LINES: u32 = 100;

/// The maximum length of a text.
const MAX_TEXT_CHARS: usize = 200;

/// The maximum length of a reason in its tooltip, because the column is narrow.
const MAX_REASON_CHARS: usize = 600;

/// The length of a shortened session id.
const SHORT_ID_CHARS: usize = 8;

/// The columns and their tooltips.
const COLUMNS: &[(&str, Option<&str>)] = &[
    ("Time", Some("opens the event")),
    ("Agent", None),
    ("Project", None),
    ("Event", None),
    ("Details", None),
    ("Decision", Some("of the hooks and the guard")),
    ("State", Some("of the agent after the event")),
    ("Hooks", Some("number of hooks that matched")),
    ("Took", Some("total time of the hooks and the guard")),
];

/// The lines with links to other pages. There may be one more than is shown.
pub(super) fn render_log_table(
    params: &LogParams,
    found: &LogSearchResult,
    projects: &ProjectNames,
    now: Timestamp,
) -> Markup {
    let most = MAX_LINES as usize;
    let lines = &found.lines[..found.lines.len().min(most)];
    let older = lines.last().filter(|_| found.lines.len() > most).map(|line| line.entry.id);
    let newest = found.lines.first().map_or(0, |line| line.entry.id);
    let (src, when) = (params.url_for("/fragments/log", None), params.is_live().then_some("*"));
    html! {
        div #log data-keyed data-src=[when.map(|_| src)] data-when=[when] data-newest=(newest) {
            p #log-top.pager {
                @if params.is_live() {
                    (render_new_count(params, 0, 1))
                } @else {
                    "These are older events. New events do not appear here. "
                    a href=(params.url_without_until("/logging")) { "Newest" }
                }
            }
            @if lines.is_empty() {
                p #log-none.quiet { (empty_log_message(params)) }
            } @else {
                // The CSS changes the layout of rows, and some browsers then need explicit roles for a table.
                table #log-table.log role="table" data-keyed {
                    thead #log-head role="rowgroup" {
                        tr role="row" {
                            @for (name, about) in COLUMNS { th scope="col" role="columnheader" title=[about] { (name) } }
                        }
                    }
                    tbody #log-rows role="rowgroup" data-keyed { @for line in lines { (render_log_row(line, projects, now)) } }
                }
            }
            p #log-older.pager {
                @if let Some(older) = older {
                    a rel="prev" href=(params.url_for("/logging", Some(older))) { "Older" }
                } @else if let Some(reached) = found.last_scanned_id {
                    "Searched back to event " (reached) ". "
                    a rel="prev" href=(params.url_for("/logging", Some(reached))) { "Search older events" }
                } @else if !lines.is_empty() {
                    span.quiet { "No older events." }
                }
            }
        }
    }
}

fn empty_log_message(params: &LogParams) -> &'static str {
    if params.is_filtered() {
        "No matching events."
    } else {
        "No events yet. Events appear here when the hooks of an agent call Snell or post to /hook/…."
    }
}

/// The number of new events for a reader who has scrolled down. The script updates and shows it.
pub(super) fn render_new_count(params: &LogParams, new: usize, most: usize) -> Markup {
    let count = if new > most { format!("more than {most}") } else { new.to_string() };
    html! {
        span #log-new.news data-follow=(params.url_for("/fragments/log/new", None)) hidden[new == 0] {
            a href=(params.url_for("/logging", None)) { "▲ " (count) " new" }
        }
    }
}

fn render_log_row(line: &LogLine, projects: &ProjectNames, now: Timestamp) -> Markup {
    let entry = &line.entry;
    let took = entry.took_us.map(|us| us as f64 / 1000.0);
    html! {
        tr id={ "event-" (entry.id) } role="row" {
            td.when role="cell" { a href={ "/logging/" (entry.id) } { (render_short_clock(entry.at, now)) } }
            td.who role="cell" { (render_agent_link(entry)) }
            td.project role="cell" { bdi { (truncate_text(projects.name_for_event(entry), 40)) } }
            td.name role="cell" { code { (truncate_text(&entry.event, 40)) } }
            td.what role="cell" { (render_summary(line)) }
            td.decision role="cell" {
                (render_decision(entry))
                @if let Some(would) = entry.unaudited_outcome() { " " strong class=(outcome_class(would)) { (outcome_label(would)) } }
            }
            td role="cell" { span.state-word data-state=(entry.state) { (state_symbol(entry.state)) " " (state_label(entry.state)) } }
            td.number role="cell" {
                @if entry.hooks > 0 { span.unit { (pluralize(entry.hooks, "hook")) } span.bare { (entry.hooks) } }
            }
            td.number role="cell" { @if let Some(ms) = took { (format_duration_ms(ms)) } }
        }
    }
}

/// The agent's number and the start of its session id.
pub(super) fn render_agent_link(entry: &LogEntry) -> Markup {
    html! {
        a href={ "/agents/" (entry.agent_id) } {
            "#" (entry.agent_id)
            @if let Some(session) = &entry.session_id {
                " " code { (session.chars().take(SHORT_ID_CHARS).collect::<String>()) }
            }
        }
    }
}

fn render_summary(line: &LogLine) -> Markup {
    let entry = &line.entry;
    html! {
        @if let Some(tool) = &entry.tool { code { (truncate_text(tool, 60)) } " " }
        @for text in [&entry.tool_summary, &line.message].into_iter().flatten() { span.text { (truncate_text(text, MAX_TEXT_CHARS)) } " " }
        @if let Some(ms) = entry.tool_duration_ms { " " span.took { (format_duration_ms(ms)) } }
        " " (render_changed_input(entry))
        @if let Some(output) = &entry.changed_output { " " (render_changed_output(output)) }
    }
}

/// The difference between the input that the agent wanted and the one that the tool got.
pub(super) fn render_changed_input(entry: &LogEntry) -> Markup {
    let wanted = entry.payload.get("tool_input").unwrap_or(&Value::Null);
    html! { @if let Some(given) = &entry.changed_input { (render_input_diff(wanted, given)) } }
}

pub(super) fn render_decision(entry: &LogEntry) -> Markup {
    html! {
        @if let Some(decision) = entry.decision.as_deref() {
            strong class=(decision_class(decision)) { (truncate_text(decision_label(decision), 40)) }
        }
        @if let Some(reason) = &entry.reason { " " span.text title=(truncate_text(reason, MAX_REASON_CHARS)) { (truncate_text(reason, MAX_TEXT_CHARS)) } }
    }
}

/// An event with this text in all fields, for tests.
#[cfg(test)]
pub(super) fn sample_entry(text: &str) -> LogEntry {
    let some = || Some(text.to_owned());
    LogEntry {
        id: 9,
        at: Timestamp::UNIX_EPOCH,
        agent_id: 7,
        product: some(),
        project: text.to_owned(),
        project_id: 1,
        session_id: some(),
        event: text.to_owned(),
        tool: some(),
        tool_summary: some(),
        tool_duration_ms: Some(1.0),
        decision: some(),
        reason: some(),
        would: some(),
        state: snell_store::AgentState::Idle,
        correlation_method: text.to_owned(),
        took_us: Some(5),
        hooks: 2,
        hooks_failed: 1,
        changed_input: Some(serde_json::json!({ text: 1 })),
        changed_output: Some(serde_json::json!([text])),
        told: some(),
        payload: serde_json::json!({ text: [text, {"deeper": text}] }),
    }
}

/// Lines with this text, for tests.
#[cfg(test)]
pub(super) fn sample_lines(text: &str) -> LogSearchResult {
    let mut speaking = sample_entry(text);
    speaking.tool_summary = None;
    let lines = [sample_entry(text), speaking].map(|entry| LogLine { entry, message: Some(text.to_owned()) });
    LogSearchResult { lines: lines.into(), last_scanned_id: Some(3) }
}
