//! The timeline on the page: its filter, its rows and its end.

use maud::{Markup, html};
use snell_store::AgentState;

use super::data::{MAX_EVENTS_SCANNED, TimelinePage};
use super::item_kind::{ONLY_PARAM, TIMELINE_KINDS, TimelineKindFilter};
use super::params::TimelineParams;
use super::render::{RowTarget, render_row};

/// The maximum number of rows of an open page. Older ones are on earlier pages.
const MAX_ROWS: usize = 500;

/// The choice of kinds: a form that works without scripts and submits itself with them.
pub(super) fn render_kind_filter(agent_id: i64, kinds: &TimelineKindFilter) -> Markup {
    html! {
        form.filter method="get" action={ "/agents/" (agent_id) } autocomplete="off" data-at-once {
            fieldset {
                legend { "Show" }
                input type="hidden" name=(ONLY_PARAM) value="1";
                @for (kind, name, label) in TIMELINE_KINDS {
                    label { input type="checkbox" name=(name) value="1" checked[kinds.contains(*kind)]; " " (label) }
                }
            }
            button { "Filter" }
            a href={ "/agents/" (agent_id) "/export.html" } download { "Export as HTML" }
        }
    }
}

/// The link to older rows. It is always there, because an open page may drop rows.
pub(super) fn render_older_link(params: &TimelineParams, timeline: &TimelinePage) -> Markup {
    let path = format!("/agents/{}", params.agent_id);
    html! {
        p.pager {
            a #older rel="prev" hidden[timeline.older.is_none()] href=(params.url_for(&path, timeline.older)) { "Older" }
            @if !params.is_live() { " " a rel="next" href=(params.url_for(&path, None)) { "Newest" } }
        }
    }
}

/// The rows, the end, and a link to the end.
pub(super) fn render_timeline(params: &TimelineParams, timeline: &TimelinePage, state: AgentState) -> Markup {
    html! {
        (render_rows(params, timeline))
        @if params.is_live() {
            p.jump { a #jump href="#now" { "Jump to live" } }
            (render_timeline_end(params, state))
        }
    }
}

fn render_rows(params: &TimelineParams, timeline: &TimelinePage) -> Markup {
    let (src, when) = (params.fragment_url(), params.is_live().then_some("*"));
    let mut rows: Vec<Markup> = Vec::with_capacity(timeline.items.len());
    let mut place = timeline.before;
    for moment in timeline.items.iter().rev() {
        place = place.after_item(moment);
        let on = if params.is_live() { RowTarget::LivePage(place) } else { RowTarget::Page };
        rows.push(render_row(moment, on));
    }
    html! {
        ol #timeline.timeline data-src=[when.map(|_| src)] data-when=[when] data-agent=(params.agent_id)
            data-grow=(MAX_ROWS) {
            @for row in rows.iter().rev() { (row) }
            @if rows.is_empty() { li #timeline-none.quiet { (render_empty_reason(params, timeline)) } }
        }
    }
}

/// Why there are no rows.
fn render_empty_reason(params: &TimelineParams, timeline: &TimelinePage) -> Markup {
    let path = format!("/agents/{}", params.agent_id);
    let scanned = format!("{} {:03}", MAX_EVENTS_SCANNED / 1000, MAX_EVENTS_SCANNED % 1000);
    html! {
        @if params.kinds.is_empty() {
            "No kinds are selected. " a href=(path) { "Show all kinds" }
        } @else if let Some(older) = timeline.older {
            @if params.is_live() { "No matching events among the newest " (scanned) ". " }
            @else { "No matching events among the previous " (scanned) ". " }
            a href=(params.url_for(&path, Some(older))) { "Search older events" }
        } @else if params.is_live() { "No matching events." } @else { "No older matching events." }
    }
}

/// The end of the timeline, with whether it continues.
fn render_timeline_end(params: &TimelineParams, state: AgentState) -> Markup {
    html! {
        p #now tabindex="-1" data-src=(params.fragment_url()) data-when="state_changed session_created session_ended"
            data-agent=(params.agent_id) data-keyed {
            span #now-said {
                @if state == AgentState::Ended { "Ended." } @else { "Live: new events appear here." }
            }
        }
    }
}
