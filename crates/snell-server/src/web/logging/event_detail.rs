//! The page of one event: its payload, its decision and its hook runs.

use maud::{Markup, html};
use snell_store::{EventDetails, LogEntry};

use super::log_table::{render_agent_link, render_changed_input, render_decision};
use crate::web::agent::render_hook_run;
use crate::web::format::{
    MAX_NAME_CHARS, format_duration_ms, render_clock, render_name, state_label, state_symbol, truncate_text,
};
use crate::web::guard::render_verdict;
use crate::web::input_diff::render_changed_output;
use crate::web::project_names::ProjectNames;

/// The maximum length of a payload. The API has all of it.
const MAX_PAYLOAD_CHARS: usize = 200_000;

/// The maximum length of the summary of a call.
const MAX_TEXT_CHARS: usize = 600;

pub(super) fn render_event(event: &EventDetails, projects: &ProjectNames) -> Markup {
    let entry = &event.entry;
    html! {
        p.crumbs { a href="/logging" { "Logging" } }
        h1 { "Event " (entry.id) ": " code { (truncate_text(&entry.event, 100)) } }
        (render_event_facts(entry, projects.name_for_event(entry)))
        @if !event.guard_verdicts.is_empty() {
            section aria-labelledby="guard-title" {
                h2 #guard-title { "Guard" }
                ul.plain { @for verdict in &event.guard_verdicts { li { (render_verdict(verdict)) } } }
            }
        }
        @if let Some(context) = &entry.told {
            section aria-labelledby="context-title" {
                h2 #context-title { "Context for the agent" }
                pre.payload tabindex="0" aria-labelledby="context-title" { (context) }
            }
        }
        section aria-labelledby="hooks-title" {
            h2 #hooks-title { "Hooks" }
            @if event.hook_runs.is_empty() { p.quiet { "No hook runs recorded." } }
            ol.runs { @for run in &event.hook_runs { li { (render_hook_run(run)) } } }
        }
        section aria-labelledby="payload-title" {
            h2 #payload-title { "Payload" }
            (render_payload(entry))
        }
    }
}

fn render_event_facts(entry: &LogEntry, project: &str) -> Markup {
    let took = entry.took_us.map(|us| us as f64 / 1000.0);
    html! {
        dl.facts-of {
            dt { "When" } dd { (render_clock(entry.at)) }
            dt { "Agent" } dd { (render_agent_link(entry)) " in " bdi { (truncate_text(project, MAX_NAME_CHARS)) } }
            @if let Some(session) = &entry.session_id { dt { "Session" } dd { (render_name(session, MAX_PAYLOAD_CHARS)) } }
            @if let Some(tool) = &entry.tool {
                dt { "Tool" }
                dd {
                    (render_name(tool, MAX_PAYLOAD_CHARS))
                    @if let Some(summary) = &entry.tool_summary { " " span.text { (truncate_text(summary, MAX_TEXT_CHARS)) } }
                    @if let Some(ms) = entry.tool_duration_ms { " " span.took { (format_duration_ms(ms)) } }
                    " " (render_changed_input(entry))
                    @if let Some(output) = &entry.changed_output { " " (render_changed_output(output)) }
                }
            }
            @if entry.decision.is_some() || entry.reason.is_some() { dt { "Decision" } dd { (render_decision(entry)) } }
            dt { "State afterwards" }
            dd { span.state-word data-state=(entry.state) { (state_symbol(entry.state)) " " (state_label(entry.state)) } }
            dt title="how Snell found the agent of this event" { "Agent found by" } dd { code { (truncate_text(&entry.correlation_method, MAX_NAME_CHARS)) } }
            @if let Some(ms) = took { dt title="total time of the hooks and the guard" { "Took" } dd { (format_duration_ms(ms)) } }
        }
    }
}

fn render_payload(entry: &LogEntry) -> Markup {
    let text = serde_json::to_string_pretty(&entry.payload).unwrap_or_default();
    let shown = truncate_text(&text, MAX_PAYLOAD_CHARS);
    html! {
        @if entry.payload.is_null() {
            p.quiet { "The payload is not stored." }
        } @else {
            pre.payload tabindex="0" aria-labelledby="payload-title" { (shown) }
        }
        p {
            @if shown.len() < text.len() { "The payload is longer than shown here. " }
            a href={ "/api/events?limit=1&before=" (entry.id + 1) } { "As JSON" }
        }
    }
}

/// An event with this text in all fields, for tests.
#[cfg(test)]
pub(super) fn sample_full_event(text: &str) -> EventDetails {
    let timeline = crate::web::html_injection_tests::sample_event("PreToolUse", text);
    EventDetails {
        entry: super::log_table::sample_entry(text),
        hook_runs: timeline.hook_runs,
        guard_verdicts: timeline.guard_verdicts,
    }
}
