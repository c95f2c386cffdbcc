//! All agents: who needs somebody, and what each is doing.

mod asked;
mod card;
mod list;

use std::time::Duration;

use axum::extract::{RawQuery, State};
use axum::http::Uri;
use axum::response::Response;
use maud::{Markup, html};
use snell::Timestamp;
use snell_store::{AgentFilter, AgentView, Result, State as AgentState, Store};

use super::form::{Form, Told, Trouble, not_followed};
use super::layout::{Frame, Tab, View, page};
use super::projects::{Projects, place};
use super::{Answer, html as answer, look, number_in};
use crate::app::Shared;
use crate::error::Refusal;
use crate::query::{Query, id};

use asked::Asked;

pub(super) use card::{asks, facts, state};

/// How many agents are shown that have not ended. Nobody looks at more cards.
const MAX_AGENTS: u32 = 500;

/// How many are shown that have.
const MAX_ENDED: u32 = 100;

/// How long an agent is shown that has ended.
const ENDED_SHOWN_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// `GET /`
pub(crate) async fn agents(State(app): State<Shared>, RawQuery(query): RawQuery) -> Answer {
    let query = Query::read(query.as_deref(), asked::FILTERS)?;
    let now = app.clock.now();
    let (frame, agents) = look(&app, move |store| Agents::read(store, now)).await?;
    let told = Told::read(&query, asked::FILTERS);
    let answer = match Asked::read(&query) {
        Ok(asked) => {
            let cards = list::cards(&agents, &asked, now);
            shown(&frame, &agents, Form::sound(&told), &cards)
        }
        Err(refusal) => {
            let trouble = Trouble::of(refusal, asked::FILTERS)?;
            let form = Form {
                told: &told,
                trouble: Some(&trouble),
            };
            not_followed(shown(&frame, &agents, form, &html! {}))
        }
    };
    Ok(answer)
}

fn shown(frame: &Frame, agents: &Agents, form: Form<'_>, cards: &Markup) -> Response {
    let main = html! {
        h1 { "Agents" }
        // What comes here is read out; that times pass is not.
        div aria-live="polite" aria-relevant="additions" { (list::needs(&agents.waiting(), &agents.projects, frame.now)) }
        (asked::form(form))
        (cards)
    };
    let view = View {
        tab: Some(Tab::Agents),
        title: "Agents",
        main,
    };
    page(frame, &view)
}

/// `GET /fragments/needs`
pub(crate) async fn needs(State(app): State<Shared>) -> Answer {
    let filter = AgentFilter {
        state: Some(AgentState::AwaitingInput),
        limit: Some(MAX_AGENTS),
        ..AgentFilter::default()
    };
    let read = move |store: &mut Store| Ok((store.agents(&filter)?, Projects::read(store)?));
    let (waiting, projects) = app.readers.ask(read).await?;
    Ok(answer(list::needs(
        &in_turn(waiting.iter()),
        &projects,
        app.clock.now(),
    )))
}

/// `GET /fragments/agents`: all cards as they stand on the page, or only some, one after another.
pub(crate) async fn cards(State(app): State<Shared>, RawQuery(query): RawQuery) -> Answer {
    let query = Query::read_with(query.as_deref(), asked::FILTERS, &["only"])?;
    let (asked, now) = (Asked::read(&query)?, app.clock.now());
    if let Some(only) = query.text("only") {
        let wanted = only.split(',').take(MAX_AGENTS as usize).map(id);
        let wanted: Option<Vec<_>> = wanted.collect();
        let wanted = wanted.ok_or_else(|| Refusal::bad("\"only\" must be numbers of agents: 17,18"))?;
        let agents = app.readers.ask(move |store| some(store, &wanted)).await?;
        let wanted = agents.iter().filter(|agent| asked.is_about(agent));
        return Ok(answer(html! { @for agent in wanted { (card::card(agent, now)) } }));
    }
    let agents = app.readers.ask(move |store| Agents::read(store, now)).await?;
    Ok(answer(list::cards(&agents, &asked, now)))
}

/// `GET /fragments/agents/{id}`
pub(crate) async fn card(State(app): State<Shared>, uri: Uri) -> Answer {
    let agent_id = number_in(&uri, 3)?;
    let agent = app.readers.ask(move |store| find(store, agent_id)).await?;
    let agent = agent.ok_or_else(|| unknown(agent_id))?;
    Ok(answer(card::card(&agent, app.clock.now())))
}

/// An agent, whether or not it has ended.
pub(super) fn find(store: &mut Store, agent_id: i64) -> Result<Option<AgentView>> {
    let filter = AgentFilter {
        agent_id: Some(agent_id),
        ..AgentFilter::default()
    };
    Ok(store.agents(&filter)?.pop())
}

/// Those of the agents that there are.
fn some(store: &mut Store, wanted: &[i64]) -> Result<Vec<AgentView>> {
    let mut agents = Vec::new();
    for agent_id in wanted {
        agents.extend(find(store, *agent_id)?);
    }
    Ok(agents)
}

/// There is no such agent.
pub(super) fn unknown(agent_id: i64) -> Refusal {
    Refusal::NotFound(format!("there is no agent {agent_id}"))
}

/// The agents that are shown.
struct Agents {
    /// By project, and there by their numbers: a card stays in its place whatever its agent does.
    at_work: Vec<AgentView>,
    /// Whether there are more of these.
    is_cut: bool,
    /// The latest first.
    ended: Vec<AgentView>,
    projects: Projects,
}

impl Agents {
    fn read(store: &mut Store, now: Timestamp) -> Result<Self> {
        let filter = AgentFilter {
            limit: Some(MAX_AGENTS + 1),
            ..AgentFilter::default()
        };
        let mut at_work = store.agents(&filter)?;
        let is_cut = at_work.len() > MAX_AGENTS as usize;
        at_work.truncate(MAX_AGENTS as usize);
        let projects = Projects::read(store)?;
        at_work.sort_by_cached_key(|agent| {
            (
                place(&agent.project, projects.of_agent(agent)),
                agent.project_id,
                agent.agent_id,
            )
        });
        let ended = store.agents(&AgentFilter {
            state: Some(AgentState::Ended),
            ended_after: Some(now.checked_sub(ENDED_SHOWN_FOR).unwrap_or(Timestamp::MIN)),
            limit: Some(MAX_ENDED),
            ..AgentFilter::default()
        })?;
        Ok(Self {
            at_work,
            is_cut,
            ended,
            projects,
        })
    }

    fn waiting(&self) -> Vec<&AgentView> {
        let waits = |agent: &&AgentView| agent.state == AgentState::AwaitingInput;
        in_turn(self.at_work.iter().filter(waits))
    }
}

/// Who has waited for longest comes first.
fn in_turn<'a>(waiting: impl Iterator<Item = &'a AgentView>) -> Vec<&'a AgentView> {
    let mut waiting: Vec<_> = waiting.collect();
    waiting.sort_by_key(|agent| (agent.state_since, agent.agent_id));
    waiting
}

/// Every part that shows something of an agent, for tests.
#[cfg(test)]
pub(super) fn rendered(agent: &AgentView, now: Timestamp) -> Vec<(&'static str, maud::Markup)> {
    let agents = Agents {
        at_work: vec![agent.clone()],
        is_cut: true,
        ended: vec![agent.clone()],
        projects: Projects::default(),
    };
    vec![
        ("card", card::card(agent, now)),
        ("state", state(agent, now)),
        ("needs", list::needs(&[agent], &Projects::default(), now)),
        ("cards", list::cards(&agents, &Asked::default(), now)),
        (
            "form of agents",
            asked::form(Form::sound(&Told::with(asked::FILTERS, &agent.why))),
        ),
    ]
}
