//! Guard: what it said, by rule and over time, and each verdict with the call that it is about.

mod asked;
mod list;
mod sums;

use axum::extract::{RawQuery, State};
use axum::response::Response;
use maud::{Markup, html};
use snell::Timestamp;
use snell_store::{GuardEntry, GuardFilter, GuardHour, GuardOutcome, Result, Store};

use super::form::{Form, Told, Trouble, not_followed};
use super::layout::{Frame, Tab, View, page};
use super::{Answer, html as answer, look};
use crate::app::{App, Shared};
use crate::error::Refusal;
use crate::query::Query;

use asked::{Asked, form};
use sums::MONTH;

pub(super) use list::judged;

/// How many verdicts a page lists.
const MAX_LISTED: u32 = 50;

/// How many verdicts about one agent are counted.
const MAX_COUNTED: u32 = 5_000;

/// What the view shows.
struct Guard {
    /// What was said within a month; about one agent, if one is chosen.
    hours: Vec<GuardHour>,
    /// One more than is shown, if there are more.
    verdicts: Vec<GuardEntry>,
    now: Timestamp,
}

impl Guard {
    fn read(store: &mut Store, asked: &Asked, now: Timestamp) -> Result<Self> {
        let filter = GuardFilter {
            limit: MAX_LISTED + 1,
            ..asked.filter.clone()
        };
        let since = now.checked_sub(MONTH).unwrap_or(Timestamp::MIN);
        Ok(Self {
            hours: match asked.filter.agent_id {
                Some(agent_id) => store.guard_hours_of(agent_id, since, MAX_COUNTED)?,
                None => store.guard_hours(since)?,
            },
            verdicts: store.guard_log(&filter)?,
            now,
        })
    }

    fn shown(&self, asked: &Asked) -> Markup {
        let is_live = asked.filter.before_id.is_none();
        let src = is_live.then(|| asked.path("/fragments/guard", None));
        html! {
            div #guard data-src=[src] data-when=[is_live.then_some("guard_verdict")] {
                (sums::over_time(&self.hours, asked, self.now))
                (sums::by_rule(&self.hours, asked, self.now))
                (list::list(&self.verdicts, MAX_LISTED as usize, asked))
            }
        }
    }
}

/// `GET /guard`
pub(crate) async fn guard(State(app): State<Shared>, RawQuery(query): RawQuery) -> Answer {
    let asked = match Asked::read(query.as_deref()) {
        Ok(asked) => asked,
        Err(refusal) => return misunderstood(&app, query.as_deref(), refusal).await,
    };
    let (now, wanted) = (app.clock.now(), asked.clone());
    let (frame, guard) = look(&app, move |store| Guard::read(store, &wanted, now)).await?;
    let main = html! {
        (form(Form::sound(&asked.told), asked.period_told(), &guard.hours))
        (guard.shown(&asked))
    };
    Ok(shown(&frame, &main))
}

/// The view without verdicts, for a form that cannot be followed.
async fn misunderstood(app: &App, query: Option<&str>, refusal: Refusal) -> Answer {
    let trouble = Trouble::of(refusal, asked::FILTERS)?;
    let query = Query::read_with(query, asked::FILTERS, asked::PLACE)?;
    let told = Told::read(&query, asked::FILTERS);
    let since = app.clock.now().checked_sub(MONTH).unwrap_or(Timestamp::MIN);
    let (frame, hours) = look(app, move |store| store.guard_hours(since)).await?;
    let asked = Form {
        told: &told,
        trouble: Some(&trouble),
    };
    Ok(not_followed(shown(&frame, &form(asked, "", &hours))))
}

fn shown(frame: &Frame, content: &Markup) -> Response {
    let view = View {
        tab: Some(Tab::Guard),
        title: "Guard",
        main: html! { h1 { "Guard" } (content) },
    };
    page(frame, &view)
}

/// `GET /fragments/guard`
pub(crate) async fn verdicts(State(app): State<Shared>, RawQuery(query): RawQuery) -> Answer {
    let asked = Asked::read(query.as_deref())?;
    let (now, wanted) = (app.clock.now(), asked.clone());
    let guard = app.readers.ask(move |store| Guard::read(store, &wanted, now)).await?;
    Ok(answer(guard.shown(&asked)))
}

/// What came of a verdict, as people say it, with a shape for those who do not see its colour.
pub(super) fn word(outcome: GuardOutcome) -> &'static str {
    match outcome {
        GuardOutcome::Denied => "✕ blocked",
        GuardOutcome::Asked => "? asked",
        GuardOutcome::Allowed => "✓ allowed",
        GuardOutcome::WouldDeny => "◌ would be blocked",
        GuardOutcome::WouldAsk => "◌ would be asked",
    }
}

pub(super) fn class(outcome: GuardOutcome) -> &'static str {
    match outcome {
        GuardOutcome::Denied => "bad",
        GuardOutcome::Asked => "warn",
        GuardOutcome::Allowed => "good",
        GuardOutcome::WouldDeny | GuardOutcome::WouldAsk => "watched",
    }
}

/// The view with this text in all of it, for tests.
#[cfg(test)]
pub(super) fn rendered(text: &str, now: Timestamp) -> Vec<(&'static str, Markup)> {
    let verdict = |number: i64, call: serde_json::Value| GuardEntry {
        guard_verdict_id: number,
        at: now,
        agent_id: Some(7),
        event_row: Some(9),
        tool: Some(text.to_owned()),
        payload: serde_json::json!({ "tool_input": call }),
        changed_input: (number == 1).then(|| serde_json::json!({ text: text })),
        verdict: crate::web::hostile::event("PreToolUse", text).guard_verdicts.remove(0),
    };
    let guard = Guard {
        hours: vec![GuardHour {
            begins: now,
            rule: text.to_owned(),
            tier: text.to_owned(),
            outcome: GuardOutcome::WouldDeny,
            verdicts: 2,
            last_at: now,
        }],
        verdicts: vec![
            verdict(2, serde_json::json!({ "command": text })),
            verdict(1, serde_json::json!({ text: [text] })),
        ],
        now,
    };
    let asked = Asked::with(text);
    vec![
        ("guard", guard.shown(&asked)),
        ("form of the guard", form(Form::sound(&asked.told), "", &guard.hours)),
    ]
}
