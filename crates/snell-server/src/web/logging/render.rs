//! The view around the events: the receiver and the filter form.

use axum::response::Response;
use maud::{Markup, html};
use snell::EventName;

use super::receiver_status::ReceiverStatus;
use crate::api::DECISIONS;
use crate::web::agent::decision_label;
use crate::web::filter_form::FilterForm;
use crate::web::format::{canonical_decision, truncate_text};
use crate::web::layout::{NavTab, PageContent, PageFrame, render_page};
use crate::web::project_names::ProjectNames;

pub(super) fn render_logging_page(frame: &PageFrame, receiver: &ReceiverStatus, events: &Markup) -> Response {
    let main = html! {
        h1 { "Logging" }
        section.receiver aria-labelledby="receiver-title" {
            h2 #receiver-title { "Hook receiver" }
            // Screen readers announce changes, but not passing times.
            div aria-live="polite" { (receiver.render_mode()) }
            (receiver.render_facts())
        }
        section aria-labelledby="log-title" {
            h2 #log-title { "Events" }
            (events)
        }
    };
    let view = PageContent { tab: Some(NavTab::Logging), title: "Logging", main };
    render_page(frame, &view)
}

/// The label of a decision in the form: most calls run without a decision.
fn decision_choice_label(word: &str) -> &str {
    match word {
        "allow" => "allowed (by a hook)",
        other => decision_label(other),
    }
}

/// The filter form, which works without scripts.
pub(super) fn render_filter_form(form: FilterForm<'_>, projects: &ProjectNames) -> Markup {
    let project = form.value("project_id");
    let times = "an age such as 2h or 3d, or a time such as 2026-03-01, 2026-03-01 12:00 (in the time zone of this page) or 2026-03-01T12:00:00+02:00";
    html! {
        (form.render_error())
        form #log-form.filter.fields method="get" action="/logging" role="search" aria-label="Events" {
            label.wide { "Search " input type="search" name="q" value=(form.escaped_value("q")) maxlength="200"; }
            label { "Event " input name="event" value=(form.escaped_value("event")) list="event-names" autocomplete="off"; }
            datalist #event-names { @for name in EventName::canonical_names() { option value=(name) {} } }
            label { "Tool " input name="tool" value=(form.escaped_value("tool")) autocomplete="off"; }
            label { "Decision "
                select name="decision" aria-invalid=[form.aria_invalid("decision")] aria-describedby=[form.aria_describedby("decision")] {
                    option value="" { "any" }
                    @for word in DECISIONS {
                        @let is_chosen = canonical_decision(form.value("decision")) == canonical_decision(word);
                        option value=(word) selected[is_chosen] { (decision_choice_label(word)) }
                    }
                }
            }
            label { "Project "
                select name="project_id" aria-invalid=[form.aria_invalid("project_id")] aria-describedby=[form.aria_describedby("project_id")] {
                    option value="" { "all" }
                    @for one in projects.all() {
                        @let number = one.view.project_id.to_string();
                        option value=(number) title=(truncate_text(&one.view.path, 200)) selected[project == number] { (truncate_text(&one.display_name, 60)) }
                    }
                }
            }
            label { "Agent " input name="agent_id" value=(form.escaped_value("agent_id")) inputmode="numeric" size="6"
                aria-invalid=[form.aria_invalid("agent_id")] aria-describedby=[form.aria_describedby("agent_id")]; }
            label { "Session " input name="session_id" value=(form.escaped_value("session_id")) autocomplete="off"; }
            label title=(times) { "Since " input name="since" value=(form.escaped_value("since")) placeholder="2h" size="16"
                aria-invalid=[form.aria_invalid("since")] aria-describedby=[form.aria_describedby("since")]; }
            label title=(times) { "Until " input name="until" value=(form.escaped_value("until")) placeholder="1h" size="16"
                aria-invalid=[form.aria_invalid("until")] aria-describedby=[form.aria_describedby("until")]; }
            button { "Filter" }
            @if !form.values.is_empty() { a href="/logging" { "Clear the filter" } }
        }
    }
}
