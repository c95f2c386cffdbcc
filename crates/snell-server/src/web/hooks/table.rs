//! The table of hooks.

use maud::{Markup, html};
use snell::Timestamp;

use super::columns::COLUMNS;
use super::data::HookUsage;
use super::params::{HooksParams, PERIODS};

/// The maximum number of shown hooks.
const MAX_HOOKS: usize = 200;

pub(super) fn render_hooks_table(hooks: &[HookUsage], params: HooksParams, now: Timestamp) -> Markup {
    html! {
        section aria-labelledby="hooks-title" {
            h2 #hooks-title { "Hooks, last " (params.period.2) }
            (render_periods(params))
            @if hooks.is_empty() {
                p.quiet { "No hooks ran in the last " (params.period.2) "." }
            } @else {
                table.costs role="table" {
                    thead role="rowgroup" { tr role="row" { @for column in COLUMNS {
                        @let is_current = column.name == params.column.name;
                        @let to = HooksParams { column, ..params };
                        th scope="col" role="columnheader" aria-sort=[is_current.then_some(sort_direction(column.name))] {
                            a href=(to.url_for("/hooks")) title=(column.about) { (column.label) }
                        }
                    } } }
                    tbody role="rowgroup" { @for hook in hooks.iter().take(MAX_HOOKS) { (render_hook_row(hook, params, now)) } }
                }
            }
            @if hooks.len() > MAX_HOOKS {
                p.quiet { "Only " (MAX_HOOKS) " hooks are shown. " a href="/api/hooks?limit=500" { "More hooks as JSON" } }
            }
        }
    }
}

fn render_hook_row(hook: &HookUsage, params: HooksParams, now: Timestamp) -> Markup {
    let id = hook.stats.hook_id;
    let is_chosen = params.hook_id == Some(id);
    let to = HooksParams { hook_id: (!is_chosen).then_some(id), ..params };
    html! {
        tr.chosen[is_chosen] role="row" {
            @for column in COLUMNS {
                @if column.name == "hook" {
                    th role="rowheader" scope="row" {
                        (column.render_cell(hook, now)) " "
                        a href=(to.url_for("/hooks")) { @if is_chosen { "chart of all hooks" } @else { "chart" } }
                    }
                } @else {
                    td role="cell" data-label=(column.label) { (column.render_cell(hook, now)) }
                }
            }
        }
    }
}

fn render_periods(params: HooksParams) -> Markup {
    html! {
        nav.choice aria-label="Time" {
            @for period in PERIODS {
                @let to = HooksParams { period, ..params };
                a href=(to.url_for("/hooks")) aria-current=[(period.0 == params.period.0).then_some("true")] { (period.2) } " "
            }
        }
    }
}

/// The order of a column: hooks ascending, everything else descending.
fn sort_direction(column: &str) -> &'static str {
    if column == "hook" { "ascending" } else { "descending" }
}
