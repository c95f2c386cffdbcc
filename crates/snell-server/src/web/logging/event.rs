//! One event in full: what was sent, what was decided, and every hook that ran for it.

use maud::{Markup, html};
use snell_store::{FullEvent, LogEntry};

use super::lines::{agent, changed_input, decided};
use crate::web::agent::ran;
use crate::web::changed::changed_output;
use crate::web::guard::judged;
use crate::web::projects::Projects;
use crate::web::words::{NAME_SHOWN, clock, cut, duration, mark, name, state};

/// How much of a payload is shown. All of it is told to programs.
const PAYLOAD_SHOWN: usize = 200_000;

/// How much of what a call is about.
const TEXT_SHOWN: usize = 600;

pub(super) fn shown(event: &FullEvent, projects: &Projects) -> Markup {
    let entry = &event.entry;
    html! {
        p.crumbs { a href="/logging" { "Logging" } }
        h1 { "Event " (entry.id) ": " code { (cut(&entry.event, 100)) } }
        (facts(entry, projects.of_event(entry)))
        @if !event.guard_verdicts.is_empty() {
            section aria-labelledby="guard-title" {
                h2 #guard-title { "Guard" }
                ul.plain { @for verdict in &event.guard_verdicts { li { (judged(verdict)) } } }
            }
        }
        @if let Some(told) = &entry.told {
            section aria-labelledby="told-title" {
                h2 #told-title { "What the agent was told" }
                pre.payload tabindex="0" aria-labelledby="told-title" { (told) }
            }
        }
        section aria-labelledby="hooks-title" {
            h2 #hooks-title { "Hooks" }
            @if event.hook_runs.is_empty() { p.quiet { "No hook is known to have matched." } }
            ol.runs { @for run in &event.hook_runs { li { (ran(run)) } } }
        }
        section aria-labelledby="payload-title" {
            h2 #payload-title { "What was sent" }
            (payload(entry))
        }
    }
}

fn facts(entry: &LogEntry, project: &str) -> Markup {
    let took = entry.took_us.map(|us| us as f64 / 1000.0);
    html! {
        dl.facts-of {
            dt { "When" } dd { (clock(entry.at)) }
            dt { "Agent" } dd { (agent(entry)) " in " bdi { (cut(project, NAME_SHOWN)) } }
            @if let Some(session) = &entry.session_id { dt { "Session" } dd { (name(session, PAYLOAD_SHOWN)) } }
            @if let Some(tool) = &entry.tool {
                dt { "Tool" }
                dd {
                    (name(tool, PAYLOAD_SHOWN))
                    @if let Some(summary) = &entry.tool_summary { " " span.text { (cut(summary, TEXT_SHOWN)) } }
                    @if let Some(ms) = entry.tool_duration_ms { " " span.took { (duration(ms)) } }
                    " " (changed_input(entry))
                    @if let Some(told) = &entry.changed_output { " " (changed_output(told)) }
                }
            }
            @if entry.decision.is_some() || entry.reason.is_some() { dt { "Decision" } dd { (decided(entry)) } }
            dt { "State after it" }
            dd { span.state-word data-state=(entry.state) { (mark(entry.state)) " " (state(entry.state)) } }
            dt title="by what it was known which agent the event belongs to" { "Agent found by" } dd { code { (cut(&entry.correlation_method, NAME_SHOWN)) } }
            @if let Some(ms) = took { dt title="all hooks and the guard together" { "Judging took" } dd { (duration(ms)) } }
        }
    }
}

fn payload(entry: &LogEntry) -> Markup {
    let text = serde_json::to_string_pretty(&entry.payload).unwrap_or_default();
    let shown = cut(&text, PAYLOAD_SHOWN);
    html! {
        @if entry.payload.is_null() {
            p.quiet { "It is not kept." }
        } @else {
            pre.payload tabindex="0" aria-labelledby="payload-title" { (shown) }
        }
        p {
            @if shown.len() < text.len() { "It is longer than is shown here. " }
            a href={ "/api/events?limit=1&before=" (entry.id + 1) } { "As JSON" }
        }
    }
}

/// An event with this text wherever it can have one, for tests.
#[cfg(test)]
pub(super) fn with(text: &str) -> FullEvent {
    let timeline = crate::web::hostile::event("PreToolUse", text);
    FullEvent {
        entry: super::lines::entry(text),
        hook_runs: timeline.hook_runs,
        guard_verdicts: timeline.guard_verdicts,
    }
}
