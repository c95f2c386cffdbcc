//! The lines of the log.

use maud::{Markup, html};
use serde_json::Value;
use snell::Timestamp;
use snell_store::{LogEntry, LogLine, LogLines};

use super::asked::Asked;
use crate::web::agent::{verdict_class, verdict_word};
use crate::web::changed::{changed, changed_output};
use crate::web::guard::{class, word};
use crate::web::projects::Projects;
use crate::web::words::{cut, duration, many, mark, short_clock, state};

/// How many lines a page has.
pub(super) const MAX_LINES: u32 = 100;

/// How much of a text is shown.
const SHOWN: usize = 200;

/// How much of a reason is told where it is pointed at: in its column there is little room.
const REASON_SHOWN: usize = 600;

/// How much of a session's id is shown.
const SHORT_ID: usize = 8;

/// What each column is called, and what that does not say.
const COLUMNS: &[(&str, Option<&str>)] = &[
    ("Time", Some("leads to all of the event")),
    ("Agent", None),
    ("Project", None),
    ("Event", None),
    ("What", None),
    ("Decision", Some("of hooks and the guard together")),
    ("State", Some("what the agent did once the event had counted")),
    ("Hooks", Some("how many hooks matched")),
    ("Took", Some("how long all hooks and the guard took together")),
];

/// The lines, and the ways to others. There may be one more than is shown.
pub(super) fn table(asked: &Asked, found: &LogLines, projects: &Projects, now: Timestamp) -> Markup {
    let most = MAX_LINES as usize;
    let lines = &found.lines[..found.lines.len().min(most)];
    let older = lines
        .last()
        .filter(|_| found.lines.len() > most)
        .map(|line| line.entry.id);
    let newest = found.lines.first().map_or(0, |line| line.entry.id);
    let (src, when) = (asked.path("/fragments/log", None), asked.is_live().then_some("*"));
    html! {
        div #log data-keyed data-src=[when.map(|_| src)] data-when=[when] data-newest=(newest) {
            p #log-top.pager {
                @if asked.is_live() {
                    (news(asked, 0, 1))
                } @else {
                    "These are older events; what happens now is not added. "
                    a href=(asked.without_end("/logging")) { "Newest" }
                }
            }
            @if lines.is_empty() {
                p #log-none.quiet { (nothing(asked)) }
            } @else {
                // Rows are laid out one by one; not every browser takes such a table for one unless it is told.
                table #log-table.log role="table" data-keyed {
                    thead #log-head role="rowgroup" {
                        tr role="row" {
                            @for (name, about) in COLUMNS { th scope="col" role="columnheader" title=[about] { (name) } }
                        }
                    }
                    tbody #log-rows role="rowgroup" data-keyed { @for line in lines { (row(line, projects, now)) } }
                }
            }
            p #log-older.pager {
                @if let Some(older) = older {
                    a rel="prev" href=(asked.path("/logging", Some(older))) { "Older" }
                } @else if let Some(reached) = found.reached {
                    "Searched down to event " (reached) ". "
                    a rel="prev" href=(asked.path("/logging", Some(reached))) { "Search further back" }
                } @else if !lines.is_empty() {
                    span.quiet { "There are no older ones." }
                }
            }
        }
    }
}

fn nothing(asked: &Asked) -> &'static str {
    if asked.is_narrowed() {
        "No event is like that."
    } else {
        "No event was recorded yet. Events appear here once agents' hooks call Snell, or post to /hook/…."
    }
}

/// How many events are new for somebody who has scrolled down. The script fetches it anew, and shows it then.
pub(super) fn news(asked: &Asked, new: usize, most: usize) -> Markup {
    let count = if new > most {
        format!("more than {most}")
    } else {
        new.to_string()
    };
    html! {
        span #log-new.news data-follow=(asked.path("/fragments/log/new", None)) hidden[new == 0] {
            a href=(asked.path("/logging", None)) { "▲ " (count) " new" }
        }
    }
}

fn row(line: &LogLine, projects: &Projects, now: Timestamp) -> Markup {
    let entry = &line.entry;
    let took = entry.took_us.map(|us| us as f64 / 1000.0);
    html! {
        tr id={ "event-" (entry.id) } role="row" {
            td.when role="cell" { a href={ "/logging/" (entry.id) } { (short_clock(entry.at, now)) } }
            td.who role="cell" { (agent(entry)) }
            td.project role="cell" { bdi { (cut(projects.of_event(entry), 40)) } }
            td.name role="cell" { code { (cut(&entry.event, 40)) } }
            td.what role="cell" { (what(line)) }
            td.decision role="cell" {
                (decided(entry))
                @if let Some(would) = entry.would_be() { " " strong class=(class(would)) { (word(would)) } }
            }
            td role="cell" { span.state-word data-state=(entry.state) { (mark(entry.state)) " " (state(entry.state)) } }
            td.number role="cell" {
                @if entry.hooks > 0 { span.unit { (many(entry.hooks, "hook")) } span.bare { (entry.hooks) } }
            }
            td.number role="cell" { @if let Some(ms) = took { (duration(ms)) } }
        }
    }
}

/// The agent, by its number and the beginning of its session's id.
pub(super) fn agent(entry: &LogEntry) -> Markup {
    html! {
        a href={ "/agents/" (entry.agent_id) } {
            "#" (entry.agent_id)
            @if let Some(session) = &entry.session_id {
                " " code { (session.chars().take(SHORT_ID).collect::<String>()) }
            }
        }
    }
}

fn what(line: &LogLine) -> Markup {
    let entry = &line.entry;
    html! {
        @if let Some(tool) = &entry.tool { code { (cut(tool, 60)) } " " }
        @for text in [&entry.tool_summary, &line.said].into_iter().flatten() { span.text { (cut(text, SHOWN)) } " " }
        @if let Some(ms) = entry.tool_duration_ms { " " span.took { (duration(ms)) } }
        " " (changed_input(entry))
        @if let Some(told) = &entry.changed_output { " " (changed_output(told)) }
    }
}

/// What the tool was given instead of what the agent wanted.
pub(super) fn changed_input(entry: &LogEntry) -> Markup {
    let wanted = entry.payload.get("tool_input").unwrap_or(&Value::Null);
    html! { @if let Some(given) = &entry.changed_input { (changed(wanted, given)) } }
}

pub(super) fn decided(entry: &LogEntry) -> Markup {
    html! {
        @if let Some(decision) = entry.decision.as_deref() {
            strong class=(verdict_class(decision)) { (cut(verdict_word(decision), 40)) }
        }
        @if let Some(reason) = &entry.reason { " " span.text title=(cut(reason, REASON_SHOWN)) { (cut(reason, SHOWN)) } }
    }
}

/// An event with this text wherever an event can have one, for tests.
#[cfg(test)]
pub(super) fn entry(text: &str) -> LogEntry {
    let some = || Some(text.to_owned());
    LogEntry {
        id: 9,
        at: Timestamp::UNIX_EPOCH,
        agent_id: 7,
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
        state: snell_store::State::Idle,
        correlation_method: text.to_owned(),
        took_us: Some(5),
        hooks: 2,
        changed_input: Some(serde_json::json!({ text: 1 })),
        changed_output: Some(serde_json::json!([text])),
        told: some(),
        payload: serde_json::json!({ text: [text, {"deeper": text}] }),
    }
}

/// Lines with this text, for tests.
#[cfg(test)]
pub(super) fn with(text: &str) -> LogLines {
    let mut speaking = entry(text);
    speaking.tool_summary = None;
    let lines = [entry(text), speaking].map(|entry| LogLine {
        entry,
        said: Some(text.to_owned()),
    });
    LogLines {
        lines: lines.into(),
        reached: Some(3),
    }
}
