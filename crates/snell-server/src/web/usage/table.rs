//! The table of usage.

use maud::{Markup, html};
use snell_store::usage::{UsageBreakdown, UsagePart, UsageSummary};

use super::columns::COLUMNS;
use super::params::{BREAKDOWNS, PERIODS, UsageParams};
use crate::web::format::{render_clock, truncate_text};

/// The maximum number of shown parts.
const MAX_PARTS: usize = 200;

/// The maximum length of a name.
const MAX_NAME_CHARS: usize = 120;

pub(super) fn render_usage_table(usage: &UsageSummary, params: &UsageParams) -> Markup {
    html! {
        section aria-labelledby="usage-heading" {
            h2 #usage-heading { "Usage, " @if params.period.1 > 1 { "last " } (params.period.2) }
            (render_choices(params))
            (render_scope(params))
            @match &usage.total {
                None => { (render_empty(params)) }
                Some(total) => {
                    table.costs.usage role="table" {
                        thead role="rowgroup" { (render_head(params)) }
                        tbody role="rowgroup" {
                            @for part in usage.parts.iter().take(MAX_PARTS) { (render_row(&render_name(part, params), part)) }
                            (render_row(&html! { "total" }, total))
                        }
                    }
                    (render_notes(usage, total))
                }
            }
        }
    }
}

fn render_choices(params: &UsageParams) -> Markup {
    html! {
        nav.choice aria-label="Time" {
            @for period in PERIODS {
                @let to = UsageParams { period, ..params.clone() };
                a href=(to.url_for("/usage")) aria-current=[(period.0 == params.period.0).then_some("true")] { (period.2) } " "
            }
        }
        nav.choice aria-label="Rows" {
            "by "
            @for (by, label) in BREAKDOWNS {
                @let to = UsageParams { by: *by, ..params.clone() };
                a href=(to.url_for("/usage")) aria-current=[(*by == params.by).then_some("true")] { (label) } " "
            }
        }
    }
}

/// The agent or project of the requests, if not all are shown.
fn render_scope(params: &UsageParams) -> Markup {
    html! {
        @if params.agent_id.is_some() || params.project.is_some() {
            p {
                "Only "
                @if let Some(agent) = params.agent_id { "agent #" (agent) }
                @if let Some(project) = &params.project { " " bdi { (truncate_text(project, MAX_NAME_CHARS)) } }
                ". " a href=(UsageParams { agent_id: None, project: None, ..params.clone() }.url_for("/usage")) { "Show all" }
            }
        }
    }
}

fn render_empty(params: &UsageParams) -> Markup {
    html! {
        p.quiet { "No requests in this time." }
        @if params.agent_id.is_none() && params.project.is_none() {
            p { "Snell reads the files that agents write. To see what it finds: " code { "snell usage" } }
        }
    }
}

fn render_head(params: &UsageParams) -> Markup {
    let label = BREAKDOWNS.iter().find(|(by, _)| *by == params.by).map_or("", |(_, label)| label);
    html! {
        tr role="row" {
            th scope="col" role="columnheader" { (crate::web::format::capitalize(label)) }
            @for column in COLUMNS {
                @let is_current = column.name == params.column.name;
                @let to = UsageParams { column, ..params.clone() };
                th scope="col" role="columnheader" aria-sort=[is_current.then_some("descending")] {
                    a href=(to.url_for("/usage")) title=(column.about) { (column.label) }
                }
            }
        }
    }
}

fn render_row(name: &Markup, part: &UsagePart) -> Markup {
    html! {
        tr role="row" {
            th role="rowheader" scope="row" { (name) }
            @for column in COLUMNS { td role="cell" data-label=(column.label) { (column.format_cell(part)) } }
        }
    }
}

fn render_name(part: &UsagePart, params: &UsageParams) -> Markup {
    let key = &part.key;
    let text = |text: &Option<String>| match text.as_deref() {
        None | Some("") => html! { "unknown" },
        Some(text) => html! { bdi { (truncate_text(text, MAX_NAME_CHARS)) } },
    };
    match params.by {
        UsageBreakdown::Day => html! { (key.day.map(|day| day.to_string()).unwrap_or_default()) },
        UsageBreakdown::Project => match key.project.clone().filter(|project| !project.is_empty()) {
            Some(project) => {
                let to = UsageParams { by: UsageBreakdown::Session, project: Some(project), ..params.clone() };
                html! { a href=(to.url_for("/usage")) { (text(&key.project)) } }
            }
            None => text(&None),
        },
        UsageBreakdown::Agent => html! {
            @if let Some(id) = key.agent_id { a href={ "/agents/" (id) } { "#" (id) } " " }
            (text(&key.product))
            @if key.agent_id.is_none() { " " span.quiet { "not recorded" } }
        },
        UsageBreakdown::Product => text(&key.product),
        UsageBreakdown::Model => text(&key.model),
        UsageBreakdown::Session => text(&key.session_id),
        UsageBreakdown::Turn => html! { (render_clock(part.first_at)) " " span.quiet { (text(&key.session_id)) } },
    }
}

/// The models without a price, and a hint to rows that are not shown.
fn render_notes(usage: &UsageSummary, total: &UsagePart) -> Markup {
    html! {
        @if !total.unpriced_models.is_empty() {
            p.quiet {
                "The price of these models is unknown: "
                @for (index, model) in total.unpriced_models.iter().enumerate() {
                    @if index > 0 { ", " }
                    code { @if model.is_empty() { "unknown" } @else { (truncate_text(model, MAX_NAME_CHARS)) } }
                }
                ". Set it under " code { "[usage.prices]" } " in snell.toml."
            }
        }
        @if usage.parts.len() > MAX_PARTS {
            p.quiet { "Only " (MAX_PARTS) " rows are shown. " a href={ "/api/usage?by=" (usage.by) } { "More rows as JSON" } }
        }
    }
}
