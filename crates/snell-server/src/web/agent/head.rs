//! The head of one agent's page: everything that is known of it now.

use maud::{Markup, html};
use snell::Timestamp;
use snell_store::{AgentView, Result, SessionFilter, SessionRow, Store, Worker, WorkerStatus};

use crate::web::agents::{asks, facts, find, state};
use crate::web::words::{Name, Telling, clock, cut, ending, name, speaker};

/// How many sessions and workers are listed.
const MAX_LISTED: u32 = 20;

/// How much of a text is shown.
const SHOWN: usize = 500;

/// What the head of an agent's page shows.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub(super) agent: AgentView,
    sessions: Vec<SessionRow>,
    /// Those that run.
    workers: Vec<Worker>,
}

impl Head {
    /// Reads it; nothing if there is no such agent.
    pub(super) fn read(store: &mut Store, agent_id: i64) -> Result<Option<Self>> {
        let Some(agent) = find(store, agent_id)? else {
            return Ok(None);
        };
        let sessions = store.session_rows(&SessionFilter {
            agent_id: Some(agent_id),
            ended_too: true,
            limit: Some(MAX_LISTED),
            ..SessionFilter::default()
        })?;
        let mut workers = Vec::new();
        let current = store.whereabouts(agent_id)?.and_then(|agent| agent.conversation_id);
        if let Some(conversation_id) = current {
            workers = store.workers_of(conversation_id)?;
            workers.retain(|worker| worker.status == WorkerStatus::Running);
            workers.truncate(MAX_LISTED as usize);
        }
        Ok(Some(Self {
            agent,
            sessions,
            workers,
        }))
    }

    /// As it stands on the page.
    pub(super) fn shown(&self, now: Timestamp) -> Markup {
        let agent = &self.agent;
        let id = agent.agent_id;
        html! {
            section #head.head data-state=(agent.state) aria-label="What is known" data-src={ "/fragments/agents/" (id) "/head" }
                data-when="*" data-agent=(id) {
                h1 { (Name(agent)) }
                (state(agent, now))
                (asks(agent))
                (self.told(Telling::AsOf(now)))
            }
        }
    }

    /// What is known, for the page and for an export.
    pub(super) fn told(&self, telling: Telling) -> Markup {
        let agent = &self.agent;
        html! {
            @if let Some(status) = &agent.status_text { p.status { bdi { (cut(status, SHOWN)) } } }
            @if let Some(tool) = &agent.current_tool { p.tool { span.label { "tool " } (name(tool, SHOWN)) } }
            @if let Some(words) = &agent.last_words { p.words { span.label { (speaker(agent)) } bdi { (cut(words, SHOWN)) } } }
            (facts(agent, telling))
            dl {
                (fact("Project", Some(&agent.project_path)))
                (fact("Role", agent.role.as_ref()))
                (fact("Mode", agent.mode.as_ref()))
                (fact("Model", agent.model.as_ref()))
                (fact("Host", agent.host.as_ref()))
                (fact("Process", agent.pid.map(|pid| pid.to_string()).as_ref()))
                (fact("Pane", agent.tmux_pane.as_ref()))
                dt { "Started" } dd { (clock(agent.started_at)) }
                @if let Some(at) = agent.ended_at { dt { "Ended" } dd { (clock(at)) } }
                @if let Some(reason) = &agent.end_reason { dt { "Because" } dd { bdi { (ending(reason)) } } }
            }
            (self.sessions(telling))
            (self.workers(telling))
        }
    }

    fn sessions(&self, telling: Telling) -> Markup {
        html! {
            @if !self.sessions.is_empty() {
                h2 { "Sessions" }
                ul.plain {
                    @for session in &self.sessions {
                        li {
                            code { (cut(&session.session_id, SHOWN)) } " "
                            span.quiet {
                                "last heard of " (telling.ago(session.last_seen_at))
                                @if session.ended_at.is_some() {
                                    ", ended"
                                    @if let Some(reason) = &session.end_reason { ": " bdi { (ending(reason)) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    fn workers(&self, telling: Telling) -> Markup {
        html! {
            @if !self.workers.is_empty() {
                h2 { "Workers that run" }
                ul.plain {
                    @for worker in &self.workers {
                        li {
                            (worker.kind) " " code { (cut(&worker.name, 60)) }
                            @if let Some(label) = &worker.label { " " bdi { (cut(label, SHOWN)) } }
                            @if let Some(at) = worker.started_at { " " span.quiet { (telling.lasting(at)) } }
                        }
                    }
                }
            }
        }
    }
}

fn fact(name: &str, value: Option<&String>) -> Markup {
    html! {
        @if let Some(value) = value.filter(|value| !value.is_empty()) {
            dt { (name) } dd { bdi { (cut(value, SHOWN)) } }
        }
    }
}

#[cfg(test)]
impl Head {
    /// An agent with a session and a worker that have this text wherever they can have one.
    pub(super) fn with(agent: AgentView, text: &str) -> Self {
        let some = || Some(text.to_owned());
        let session = SessionRow {
            conversation_id: 1,
            session_id: text.to_owned(),
            role: some(),
            mode: some(),
            current_state: text.to_owned(),
            last_seen_at: Timestamp::UNIX_EPOCH,
            ended_at: Some(Timestamp::UNIX_EPOCH),
            end_reason: some(),
            tmux_pane: some(),
            context_warning_level: 0,
            mission_execution_id: some(),
            status_text: some(),
            started_at: Timestamp::UNIX_EPOCH,
            agent_id: 7,
            project_path: text.to_owned(),
            context_percent: None,
            model: some(),
            permission_mode: some(),
            status_set_at: None,
            pinged_at: None,
            current_tool: some(),
        };
        Self {
            agent,
            sessions: vec![session],
            workers: Vec::new(),
        }
    }
}
