//! One agent: what is known of it, and its timeline.

mod export;
mod head;
mod kind;
mod moment;
mod read;
mod row;

use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use maud::{Markup, html};
use snell_store::{State as AgentState, Store};

use super::agents::{find, unknown};
use super::form::{Form, Told, Trouble, not_followed};
use super::layout::{Frame, Tab, View, page};
use super::words::Name;
use super::{Answer, html as answer, look, number_in};
use crate::app::{App, Shared};
use crate::error::Refusal;
use crate::query::Query;

use head::Head;
use kind::{KINDS, Kinds, ONLY};
use moment::Place;
use read::{LOOKED_AT, Page};
use row::{On, row};

pub(crate) use export::export;
pub(super) use row::{ran, verdict_class, verdict_word};

/// How many rows the page holds at most while it is open. Older ones are found by paging.
const MAX_ROWS: usize = 500;

/// What is asked of a timeline.
struct Asked {
    agent_id: i64,
    kinds: Kinds,
    before: Place,
}

impl Asked {
    /// Reads it from an address, in which the agent's number stands in this place.
    fn read(uri: &Uri, place: usize) -> Result<Self, Refusal> {
        let known: Vec<_> = names().chain([ONLY, "before"]).collect();
        let query = Query::read(uri.query(), &known)?;
        Ok(Self {
            agent_id: number_in(uri, place)?,
            kinds: Kinds::read(&query)?,
            before: query.older_than(Place::read)?.unwrap_or_default(),
        })
    }

    /// Whether it is asked for what happens now, and not for something older.
    fn is_live(&self) -> bool {
        self.before == Place::default()
    }

    /// Where the newest rows of these kinds are fetched from, and the end.
    fn fragment(&self) -> String {
        self.path(&format!("/fragments/agents/{}/timeline", self.agent_id), None)
    }

    /// An address for the same kinds.
    fn path(&self, path: &str, before: Option<Place>) -> String {
        let mut query = self.kinds.query();
        if let Some(before) = before {
            query = [query, format!("before={before}")]
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join("&");
        }
        if query.is_empty() {
            path.to_owned()
        } else {
            format!("{path}?{query}")
        }
    }
}

/// `GET /agents/{id}`
pub(crate) async fn agent(State(app): State<Shared>, uri: Uri) -> Answer {
    let asked = match Asked::read(&uri, 2) {
        Ok(asked) => asked,
        Err(refusal) => return misunderstood(&app, &uri, refusal).await,
    };
    let (agent_id, before, kinds) = (asked.agent_id, asked.before, asked.kinds.clone());
    let read = move |store: &mut Store| match Head::read(store, agent_id)? {
        Some(head) => Ok(Some((head, Page::read(store, agent_id, before, &kinds)?))),
        None => Ok(None),
    };
    let (frame, found) = look(&app, read).await?;
    let (head, timeline) = found.ok_or_else(|| unknown(agent_id))?;
    let events = html! {
        (filter(agent_id, &asked.kinds))
        (older(&asked, &timeline))
        (told(&asked, &timeline, head.agent.state))
    };
    Ok(shown(&frame, &head, &events))
}

/// The view without a timeline, for a choice of kinds that cannot be followed.
async fn misunderstood(app: &App, uri: &Uri, refusal: Refusal) -> Answer {
    let names: Vec<_> = names().collect();
    let trouble = Trouble::of(refusal, &names)?;
    let agent_id = number_in(uri, 2)?;
    let (frame, head) = look(app, move |store| Head::read(store, agent_id)).await?;
    let head = head.ok_or_else(|| unknown(agent_id))?;
    let form = Form {
        told: &Told::default(),
        trouble: Some(&trouble),
    };
    let content = html! { (form.message()) (filter(agent_id, &Kinds::all())) };
    Ok(not_followed(shown(&frame, &head, &content)))
}

fn shown(frame: &Frame, head: &Head, timeline: &Markup) -> Response {
    let main = html! {
        (head.shown(frame.now))
        section aria-labelledby="timeline-title" {
            h2 #timeline-title { "Timeline" }
            (timeline)
        }
    };
    let title = Name(&head.agent).text();
    let view = View {
        tab: Some(Tab::Agents),
        title: &title,
        main,
    };
    page(frame, &view)
}

/// What kinds are called in an address.
fn names() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|(_, name, _)| *name)
}

/// `GET /fragments/agents/{id}/head`
pub(crate) async fn head(State(app): State<Shared>, uri: Uri) -> Answer {
    let agent_id = number_in(&uri, 3)?;
    let head = app.readers.ask(move |store| Head::read(store, agent_id)).await?;
    let head = head.ok_or_else(|| unknown(agent_id))?;
    Ok(answer(head.shown(app.clock.now())))
}

/// `GET /fragments/agents/{id}/timeline`
pub(crate) async fn timeline(State(app): State<Shared>, uri: Uri) -> Answer {
    let asked = Asked::read(&uri, 3)?;
    let (agent_id, before, kinds) = (asked.agent_id, asked.before, asked.kinds.clone());
    let read = move |store: &mut Store| match find(store, agent_id)? {
        Some(agent) => Ok(Some((agent.state, Page::read(store, agent_id, before, &kinds)?))),
        None => Ok(None),
    };
    let found = app.readers.ask(read).await?;
    let (state, timeline) = found.ok_or_else(|| unknown(agent_id))?;
    Ok(answer(told(&asked, &timeline, state)))
}

/// The choice of kinds: a form that works by itself, and by itself once there is a script.
fn filter(agent_id: i64, kinds: &Kinds) -> Markup {
    html! {
        form.filter method="get" action={ "/agents/" (agent_id) } autocomplete="off" data-at-once {
            fieldset {
                legend { "Show" }
                input type="hidden" name=(ONLY) value="1";
                @for (kind, name, label) in KINDS {
                    label { input type="checkbox" name=(name) value="1" checked[kinds.has(*kind)]; " " (label) }
                }
            }
            button { "Filter" }
            a href={ "/agents/" (agent_id) "/export.html" } download { "Export as HTML" }
        }
    }
}

/// The way to what is older. It is there even if nothing is, for the page may drop rows as it grows.
fn older(asked: &Asked, timeline: &Page) -> Markup {
    let path = format!("/agents/{}", asked.agent_id);
    html! {
        p.pager {
            a #older rel="prev" hidden[timeline.older.is_none()] href=(asked.path(&path, timeline.older)) { "Older" }
            @if !asked.is_live() { " " a rel="next" href=(asked.path(&path, None)) { "Newest" } }
        }
    }
}

/// The timeline with its end, and a way there.
fn told(asked: &Asked, timeline: &Page, state: AgentState) -> Markup {
    html! {
        (rows(asked, timeline))
        @if asked.is_live() {
            p.jump { a #jump href="#now" { "Jump to live" } }
            (end(asked, state))
        }
    }
}

fn rows(asked: &Asked, timeline: &Page) -> Markup {
    let (src, when) = (asked.fragment(), asked.is_live().then_some("*"));
    let mut rows: Vec<Markup> = Vec::with_capacity(timeline.moments.len());
    let mut place = timeline.before;
    for moment in timeline.moments.iter().rev() {
        place = place.after(moment);
        let on = if asked.is_live() { On::LivePage(place) } else { On::Page };
        rows.push(row(moment, on));
    }
    html! {
        ol #timeline.timeline data-src=[when.map(|_| src)] data-when=[when] data-agent=(asked.agent_id)
            data-grow=(MAX_ROWS) {
            @for row in rows.iter().rev() { (row) }
            @if rows.is_empty() { li #timeline-none.quiet { (nothing(asked, timeline)) } }
        }
    }
}

/// Why there are no rows.
fn nothing(asked: &Asked, timeline: &Page) -> Markup {
    let path = format!("/agents/{}", asked.agent_id);
    let looked_at = format!("{} {:03}", LOOKED_AT / 1000, LOOKED_AT % 1000);
    html! {
        @if asked.kinds.is_none() {
            "No kind is ticked, so nothing is shown. " a href=(path) { "Show everything" }
        } @else if let Some(older) = timeline.older {
            @if asked.is_live() { "None among the newest " (looked_at) " events. " }
            @else { "None among the " (looked_at) " events before. " }
            a href=(asked.path(&path, Some(older))) { "Look further back" }
        } @else if asked.is_live() { "Nothing of that kind." } @else { "Nothing older of that kind." }
    }
}

/// The end of the timeline, which says whether that goes on.
fn end(asked: &Asked, state: AgentState) -> Markup {
    html! {
        p #now tabindex="-1" data-src=(asked.fragment()) data-when="state_changed session_created session_ended"
            data-agent=(asked.agent_id) data-keyed {
            span #now-said {
                @if state == AgentState::Ended { "This is where it ended." } @else { "This is where it goes on." }
            }
        }
    }
}

/// Every part that shows something of an agent, with this text in all that hangs on it, for tests.
#[cfg(test)]
pub(super) fn rendered(
    agent: &snell_store::AgentView,
    text: &str,
    now: snell::Timestamp,
) -> Vec<(&'static str, Markup)> {
    use super::hostile::{event, turn};
    use snell_store::Actor;

    let head = Head::with(agent.clone(), text);
    let rows_of = |name: &str| {
        let turns = vec![turn(1, Actor::User, text, 0), turn(2, Actor::Agent, text, 0)];
        let moments = moment::merge(Vec::new(), vec![event(name, text)], turns, &Kinds::all());
        assert_eq!(moments.len(), 8, "everything that hangs on {name} is there");
        html! { @for moment in &moments { (row(moment, On::LivePage(Place::default()))) } }
    };
    vec![
        ("head", head.shown(now)),
        ("a call", rows_of("PreToolUse")),
        ("the end of a call", rows_of("PostToolUse")),
        ("an event", rows_of("Notification")),
        ("an event of any name", rows_of(text)),
        ("export", maud::PreEscaped(export::opening(&head, Some(now), now))),
    ]
}
