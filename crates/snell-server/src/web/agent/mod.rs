//! One agent: what is known of it, and its timeline.

mod data;
mod export;
mod header;
mod item_kind;
mod render;
mod timeline_item;

use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use maud::{Markup, html};
use snell_store::{AgentState, Store};

use super::agents::{find_agent, unknown_agent_error};
use super::filter_form::{FilterForm, FormFieldError, FormValues, mark_bad_request};
use super::format::AgentName;
use super::layout::{NavTab, PageContent, PageFrame, render_page};
use super::{PageResult, html_response, load_with_frame, parse_path_id};
use crate::app_state::{AppState, SharedAppState};
use crate::http::errors::HttpError;
use crate::http::query_params::QueryParams;

use data::{MAX_EVENTS_SCANNED, TimelinePage};
use header::AgentHeader;
use item_kind::{ONLY_PARAM, TIMELINE_KINDS, TimelineKindFilter};
use render::{RowTarget, render_row};
use timeline_item::TimelineCursor;

pub(crate) use export::get_agent_export;
pub(super) use render::{decision_class, decision_label, render_hook_run};

/// How many rows the page holds at most while it is open. Older ones are found by paging.
const MAX_ROWS: usize = 500;

/// What is asked of a timeline.
struct TimelineParams {
    agent_id: i64,
    kinds: TimelineKindFilter,
    before: TimelineCursor,
}

impl TimelineParams {
    /// Reads it from an address, in which the agent's number stands in this place.
    fn parse(uri: &Uri, place: usize) -> Result<Self, HttpError> {
        let known: Vec<_> = kind_names().chain([ONLY_PARAM, "before"]).collect();
        let query = QueryParams::parse(uri.query(), &known)?;
        Ok(Self {
            agent_id: parse_path_id(uri, place)?,
            kinds: TimelineKindFilter::parse(&query)?,
            before: query.older_than_cursor(TimelineCursor::parse)?.unwrap_or_default(),
        })
    }

    /// Whether it is asked for what happens now, and not for something older.
    fn is_live(&self) -> bool {
        self.before == TimelineCursor::default()
    }

    /// Where the newest rows of these kinds are fetched from, and the end.
    fn fragment_url(&self) -> String {
        self.url_for(&format!("/fragments/agents/{}/timeline", self.agent_id), None)
    }

    /// An address for the same kinds.
    fn url_for(&self, path: &str, before: Option<TimelineCursor>) -> String {
        let mut query = self.kinds.to_query();
        if let Some(before) = before {
            query = [query, format!("before={before}")]
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join("&");
        }
        if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
    }
}

/// `GET /agents/{id}`
pub(crate) async fn get_agent_page(State(app): State<SharedAppState>, uri: Uri) -> PageResult {
    let asked = match TimelineParams::parse(&uri, 2) {
        Ok(asked) => asked,
        Err(refusal) => return respond_invalid_params(&app, &uri, refusal).await,
    };
    let (agent_id, before, kinds) = (asked.agent_id, asked.before, asked.kinds.clone());
    let read = move |store: &mut Store| match AgentHeader::load(store, agent_id)? {
        Some(head) => Ok(Some((head, TimelinePage::load(store, agent_id, before, &kinds)?))),
        None => Ok(None),
    };
    let (frame, found) = load_with_frame(&app, read).await?;
    let (head, timeline) = found.ok_or_else(|| unknown_agent_error(agent_id))?;
    let events = html! {
        (render_kind_filter(agent_id, &asked.kinds))
        (render_older_link(&asked, &timeline))
        (render_timeline(&asked, &timeline, head.agent.state))
    };
    Ok(render_agent_page(&frame, &head, &events))
}

/// The view without a timeline, for a choice of kinds that cannot be followed.
async fn respond_invalid_params(app: &AppState, uri: &Uri, refusal: HttpError) -> PageResult {
    let names: Vec<_> = kind_names().collect();
    let trouble = FormFieldError::from_http_error(refusal, &names)?;
    let agent_id = parse_path_id(uri, 2)?;
    let (frame, head) = load_with_frame(app, move |store| AgentHeader::load(store, agent_id)).await?;
    let head = head.ok_or_else(|| unknown_agent_error(agent_id))?;
    let form = FilterForm { values: &FormValues::default(), error: Some(&trouble) };
    let content = html! { (form.render_error()) (render_kind_filter(agent_id, &TimelineKindFilter::all())) };
    Ok(mark_bad_request(render_agent_page(&frame, &head, &content)))
}

fn render_agent_page(frame: &PageFrame, head: &AgentHeader, timeline: &Markup) -> Response {
    let main = html! {
        (head.render(frame.now))
        section aria-labelledby="timeline-title" {
            h2 #timeline-title { "Timeline" }
            (timeline)
        }
    };
    let title = AgentName(&head.agent).to_text();
    let view = PageContent { tab: Some(NavTab::Agents), title: &title, main };
    render_page(frame, &view)
}

/// What kinds are called in an address.
fn kind_names() -> impl Iterator<Item = &'static str> {
    TIMELINE_KINDS.iter().map(|(_, name, _)| *name)
}

/// `GET /fragments/agents/{id}/head`
pub(crate) async fn get_agent_header_fragment(State(app): State<SharedAppState>, uri: Uri) -> PageResult {
    let agent_id = parse_path_id(&uri, 3)?;
    let head = app.store_pool.with_store(move |store| AgentHeader::load(store, agent_id)).await?;
    let head = head.ok_or_else(|| unknown_agent_error(agent_id))?;
    Ok(html_response(head.render(app.clock.now())))
}

/// `GET /fragments/agents/{id}/timeline`
pub(crate) async fn get_timeline_fragment(State(app): State<SharedAppState>, uri: Uri) -> PageResult {
    let asked = TimelineParams::parse(&uri, 3)?;
    let (agent_id, before, kinds) = (asked.agent_id, asked.before, asked.kinds.clone());
    let read = move |store: &mut Store| match find_agent(store, agent_id)? {
        Some(agent) => Ok(Some((agent.state, TimelinePage::load(store, agent_id, before, &kinds)?))),
        None => Ok(None),
    };
    let found = app.store_pool.with_store(read).await?;
    let (state, timeline) = found.ok_or_else(|| unknown_agent_error(agent_id))?;
    Ok(html_response(render_timeline(&asked, &timeline, state)))
}

/// The choice of kinds: a form that works by itself, and by itself once there is a script.
fn render_kind_filter(agent_id: i64, kinds: &TimelineKindFilter) -> Markup {
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

/// The way to what is older. It is there even if nothing is, for the page may drop rows as it grows.
fn render_older_link(asked: &TimelineParams, timeline: &TimelinePage) -> Markup {
    let path = format!("/agents/{}", asked.agent_id);
    html! {
        p.pager {
            a #older rel="prev" hidden[timeline.older.is_none()] href=(asked.url_for(&path, timeline.older)) { "Older" }
            @if !asked.is_live() { " " a rel="next" href=(asked.url_for(&path, None)) { "Newest" } }
        }
    }
}

/// The timeline with its end, and a way there.
fn render_timeline(asked: &TimelineParams, timeline: &TimelinePage, state: AgentState) -> Markup {
    html! {
        (render_rows(asked, timeline))
        @if asked.is_live() {
            p.jump { a #jump href="#now" { "Jump to live" } }
            (render_timeline_end(asked, state))
        }
    }
}

fn render_rows(asked: &TimelineParams, timeline: &TimelinePage) -> Markup {
    let (src, when) = (asked.fragment_url(), asked.is_live().then_some("*"));
    let mut rows: Vec<Markup> = Vec::with_capacity(timeline.items.len());
    let mut place = timeline.before;
    for moment in timeline.items.iter().rev() {
        place = place.after_item(moment);
        let on = if asked.is_live() { RowTarget::LivePage(place) } else { RowTarget::Page };
        rows.push(render_row(moment, on));
    }
    html! {
        ol #timeline.timeline data-src=[when.map(|_| src)] data-when=[when] data-agent=(asked.agent_id)
            data-grow=(MAX_ROWS) {
            @for row in rows.iter().rev() { (row) }
            @if rows.is_empty() { li #timeline-none.quiet { (render_empty_reason(asked, timeline)) } }
        }
    }
}

/// Why there are no rows.
fn render_empty_reason(asked: &TimelineParams, timeline: &TimelinePage) -> Markup {
    let path = format!("/agents/{}", asked.agent_id);
    let looked_at = format!("{} {:03}", MAX_EVENTS_SCANNED / 1000, MAX_EVENTS_SCANNED % 1000);
    html! {
        @if asked.kinds.is_empty() {
            "No kind is ticked, so nothing is shown. " a href=(path) { "Show everything" }
        } @else if let Some(older) = timeline.older {
            @if asked.is_live() { "None among the newest " (looked_at) " events. " }
            @else { "None among the " (looked_at) " events before. " }
            a href=(asked.url_for(&path, Some(older))) { "Look further back" }
        } @else if asked.is_live() { "Nothing of that kind." } @else { "Nothing older of that kind." }
    }
}

/// The end of the timeline, which says whether that goes on.
fn render_timeline_end(asked: &TimelineParams, state: AgentState) -> Markup {
    html! {
        p #now tabindex="-1" data-src=(asked.fragment_url()) data-when="state_changed session_created session_ended"
            data-agent=(asked.agent_id) data-keyed {
            span #now-said {
                @if state == AgentState::Ended { "This is where it ended." } @else { "This is where it goes on." }
            }
        }
    }
}

/// Every part that shows something of an agent, with this text in all that hangs on it, for tests.
#[cfg(test)]
pub(super) fn render_samples(
    agent: &snell_store::AgentView,
    text: &str,
    now: snell::Timestamp,
) -> Vec<(&'static str, Markup)> {
    use super::html_injection_tests::{sample_event, sample_turn};
    use snell_store::TurnActor;

    let head = AgentHeader::with_text(agent.clone(), text);
    let rows_of = |name: &str| {
        let turns = vec![sample_turn(1, TurnActor::User, text, 0), sample_turn(2, TurnActor::Agent, text, 0)];
        let moments = timeline_item::merge_timeline(
            Vec::new(),
            vec![sample_event(name, text)],
            turns,
            &TimelineKindFilter::all(),
        );
        assert_eq!(moments.len(), 8, "everything that hangs on {name} is there");
        html! { @for moment in &moments { (render_row(moment, RowTarget::LivePage(TimelineCursor::default()))) } }
    };
    vec![
        ("head", head.render(now)),
        ("a call", rows_of("PreToolUse")),
        ("the end of a call", rows_of("PostToolUse")),
        ("an event", rows_of("Notification")),
        ("an event of any name", rows_of(text)),
        ("export", maud::PreEscaped(export::render_opening(&head, Some(now), now))),
    ]
}
