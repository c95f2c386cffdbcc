//! Logging: how the receiver is, and the log of events.

mod asked;
mod event;
mod lines;
mod receiver;

use axum::extract::{RawQuery, State};
use axum::http::Uri;
use axum::response::Response;
use maud::{Markup, html};
use snell::EventName;
use snell_store::{LogFilter, LogLines, Result, Store};

use super::agent::verdict_word;
use super::form::{Form, Told, Trouble, not_followed};
use super::layout::{Frame, Tab, View, page};
use super::projects::Projects;
use super::words::{cut, decision};
use super::{Answer, html as answer, look};
use crate::api::DECISIONS;
use crate::app::{App, Shared};
use crate::error::Refusal;
use crate::query::{Query, id};

use asked::Asked;
use lines::{MAX_LINES, news as shown_news, table};
use receiver::Receiver;

/// How many new events are counted; more are "more".
const MAX_NEW: u32 = 100;

/// `GET /logging`
pub(crate) async fn logging(State(app): State<Shared>, RawQuery(query): RawQuery) -> Answer {
    let now = app.clock.now();
    let query = Query::read_with(query.as_deref(), asked::FILTERS, asked::PLACE)?;
    let asked = match Asked::read(&query, now) {
        Ok(asked) => asked,
        Err(refusal) => return misunderstood(&app, &query, refusal).await,
    };
    let (wanted, pulse) = (asked.clone(), app.pulse.clone());
    let read = move |store: &mut Store| {
        Ok((
            pulse.feel(store, now)?,
            Projects::read(store)?,
            read_lines(store, &wanted, MAX_LINES + 1)?,
        ))
    };
    let (frame, (beat, projects, lines)) = look(&app, read).await?;
    let events = html! {
        (form(Form::sound(&asked.told), &projects))
        (table(&asked, &lines, &projects, now))
    };
    Ok(shown(&frame, &Receiver::new(&app, beat, now), &events))
}

/// The view without events, for a form that cannot be followed: which of them were meant is not known.
async fn misunderstood(app: &App, query: &Query<'_>, refusal: Refusal) -> Answer {
    let trouble = Trouble::of(refusal, asked::FILTERS)?;
    let (told, now, pulse) = (Told::read(query, asked::FILTERS), app.clock.now(), app.pulse.clone());
    let read = move |store: &mut Store| Ok((pulse.feel(store, now)?, Projects::read(store)?));
    let (frame, (beat, projects)) = look(app, read).await?;
    let asked = Form {
        told: &told,
        trouble: Some(&trouble),
    };
    let page = shown(&frame, &Receiver::new(app, beat, now), &form(asked, &projects));
    Ok(not_followed(page))
}

fn shown(frame: &Frame, receiver: &Receiver, events: &Markup) -> Response {
    let main = html! {
        h1 { "Logging" }
        section.receiver aria-labelledby="receiver-title" {
            h2 #receiver-title { "Hook receiver" }
            // What changes here is read out; that times pass is not.
            div aria-live="polite" { (receiver.mode()) }
            (receiver.facts())
        }
        section aria-labelledby="log-title" {
            h2 #log-title { "Events" }
            (events)
        }
    };
    let view = View {
        tab: Some(Tab::Logging),
        title: "Logging",
        main,
    };
    page(frame, &view)
}

/// `GET /fragments/receiver`
pub(crate) async fn receiver(State(app): State<Shared>, RawQuery(query): RawQuery) -> Answer {
    Query::read(query.as_deref(), &[])?;
    let (pulse, now) = (app.pulse.clone(), app.clock.now());
    let beat = app.readers.ask(move |store| pulse.feel(store, now)).await?;
    let receiver = Receiver::new(&app, beat, now);
    Ok(answer(html! { (receiver.mode()) (receiver.facts()) }))
}

/// `GET /fragments/log`: the newest lines.
pub(crate) async fn log(State(app): State<Shared>, RawQuery(query): RawQuery) -> Answer {
    let query = Query::read_with(query.as_deref(), asked::FILTERS, asked::PLACE)?;
    let now = app.clock.now();
    let asked = Asked::read(&query, now)?;
    let wanted = asked.clone();
    let read = move |store: &mut Store| Ok((read_lines(store, &wanted, MAX_LINES + 1)?, Projects::read(store)?));
    let (lines, projects) = app.readers.ask(read).await?;
    Ok(answer(table(&asked, &lines, &projects, now)))
}

/// `GET /fragments/log/new`: how many events came after one.
pub(crate) async fn log_new(State(app): State<Shared>, RawQuery(query): RawQuery) -> Answer {
    let places = [asked::PLACE, &["after"]].concat();
    let query = Query::read_with(query.as_deref(), asked::FILTERS, &places)?;
    let asked = Asked::read(&query, app.clock.now())?;
    let after = query.text("after").unwrap_or("0");
    let after = (after == "0").then_some(0).or_else(|| id(after));
    let after = after.ok_or_else(|| Refusal::bad("\"after\" must be the number of an event"))?;
    let wanted = asked.after(after);
    let found = app
        .readers
        .ask(move |store| read_lines(store, &wanted, MAX_NEW + 1))
        .await?;
    Ok(answer(shown_news(&asked, found.lines.len(), MAX_NEW as usize)))
}

/// `GET /logging/{id}`
pub(crate) async fn event(State(app): State<Shared>, uri: Uri) -> Answer {
    Query::read(uri.query(), &[])?;
    let named = uri.path().split('/').nth(2).and_then(id);
    let id = named.ok_or_else(|| Refusal::bad("an event is named by its number: /logging/17"))?;
    let read = move |store: &mut Store| Ok((store.event(id)?, Projects::read(store)?));
    let (frame, (found, projects)) = look(&app, read).await?;
    let found = found.ok_or_else(|| Refusal::NotFound(format!("there is no event {id}")))?;
    let title = format!("Event {id}");
    let view = View {
        tab: Some(Tab::Logging),
        title: &title,
        main: event::shown(&found, &projects),
    };
    Ok(page(&frame, &view))
}

fn read_lines(store: &mut Store, asked: &Asked, limit: u32) -> Result<LogLines> {
    let filter = LogFilter {
        limit,
        ..asked.filter.clone()
    };
    store.log_lines(&filter, asked.text.as_deref())
}

/// A decision as it is chosen: most calls run without anybody having allowed them.
fn choice(word: &str) -> &str {
    match word {
        "allow" => "allowed (by a hook)",
        other => verdict_word(other),
    }
}

/// The choice of events: a form that needs no script.
fn form(asked: Form<'_>, projects: &Projects) -> Markup {
    let project = asked.of("project_id");
    let times = "how long ago: 2h, 3d; or when: 2026-03-01, 2026-03-01 12:00 (as times are shown here), 2026-03-01T12:00:00+02:00";
    html! {
        (asked.message())
        form #log-form.filter.fields method="get" action="/logging" role="search" aria-label="Events" {
            label.wide { "Search " input type="search" name="q" value=(asked.typed("q")) maxlength="200"; }
            label { "Event " input name="event" value=(asked.typed("event")) list="event-names" autocomplete="off"; }
            datalist #event-names { @for name in EventName::canonical_names() { option value=(name) {} } }
            label { "Tool " input name="tool" value=(asked.typed("tool")) autocomplete="off"; }
            label { "Decision "
                select name="decision" aria-invalid=[asked.wrong("decision")] aria-describedby=[asked.why("decision")] {
                    option value="" { "any" }
                    @for word in DECISIONS {
                        @let is_asked = decision(asked.of("decision")) == decision(word);
                        option value=(word) selected[is_asked] { (choice(word)) }
                    }
                }
            }
            label { "Project "
                select name="project_id" aria-invalid=[asked.wrong("project_id")] aria-describedby=[asked.why("project_id")] {
                    option value="" { "all" }
                    @for one in projects.all() {
                        @let number = one.view.project_id.to_string();
                        option value=(number) title=(cut(&one.view.path, 200)) selected[project == number] { (cut(&one.called, 60)) }
                    }
                }
            }
            label { "Agent " input name="agent_id" value=(asked.typed("agent_id")) inputmode="numeric" size="6"
                aria-invalid=[asked.wrong("agent_id")] aria-describedby=[asked.why("agent_id")]; }
            label { "Session " input name="session_id" value=(asked.typed("session_id")) autocomplete="off"; }
            label title=(times) { "Since " input name="since" value=(asked.typed("since")) placeholder="2h" size="16"
                aria-invalid=[asked.wrong("since")] aria-describedby=[asked.why("since")]; }
            label title=(times) { "Until " input name="until" value=(asked.typed("until")) placeholder="1h" size="16"
                aria-invalid=[asked.wrong("until")] aria-describedby=[asked.why("until")]; }
            button { "Show" }
            @if !asked.told.is_empty() { a href="/logging" { "Everything" } }
        }
    }
}

/// Every part, with this text in all of it, for tests.
#[cfg(test)]
pub(super) fn rendered(text: &str, now: snell::Timestamp) -> Vec<(&'static str, Markup)> {
    let asked = Asked::with(text);
    let projects = Projects::new(vec![snell_store::ProjectView {
        project_id: 1,
        name: text.to_owned(),
        path: text.to_owned(),
    }]);
    vec![
        ("form of the log", form(Form::sound(&asked.told), &projects)),
        ("lines of the log", table(&asked, &lines::with(text), &projects, now)),
        ("how much is new", shown_news(&asked, 3, 100)),
        ("one event", event::shown(&event::with(text), &projects)),
        ("receiver", Receiver::with(text, now).facts()),
    ]
}
