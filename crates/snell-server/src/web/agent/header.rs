//! The head of an agent's page: its current state and facts.

use maud::{Markup, html};
use snell::Timestamp;
use snell_store::{AgentView, Result, SessionFilter, SessionRow, SessionWorker, Store, WorkerStatus};

use crate::web::agents::{
    find_agent, render_background_work, render_facts, render_question, render_silence, render_state,
};
use crate::web::format::{
    AgentName, TimeStyle, render_clock, render_end_reason, render_name, speaker_label, truncate_text,
};

/// The maximum number of listed sessions and workers.
const MAX_LISTED: u32 = 20;

/// The maximum length of a text.
const MAX_TEXT_CHARS: usize = 500;

/// The data of the head of an agent's page.
#[derive(Clone, Debug)]
pub(super) struct AgentHeader {
    pub(super) agent: AgentView,
    sessions: Vec<SessionRow>,
    /// Only running workers.
    workers: Vec<SessionWorker>,
}

impl AgentHeader {
    /// Loads the data; `None` if there is no such agent.
    pub(super) fn load(store: &mut Store, agent_id: i64) -> Result<Option<Self>> {
        let Some(agent) = find_agent(store, agent_id)? else {
            return Ok(None);
        };
        let sessions = store.list_sessions(&SessionFilter {
            agent_id: Some(agent_id),
            ended_too: true,
            limit: Some(MAX_LISTED),
            ..SessionFilter::default()
        })?;
        let mut workers = Vec::new();
        let current = store.find_agent_location(agent_id)?.and_then(|agent| agent.conversation_id);
        if let Some(conversation_id) = current {
            workers = store.list_workers(conversation_id)?;
            workers.retain(|worker| worker.status == WorkerStatus::Running);
            workers.truncate(MAX_LISTED as usize);
        }
        Ok(Some(Self { agent, sessions, workers }))
    }

    /// The head on the page.
    pub(super) fn render(&self, now: Timestamp) -> Markup {
        let agent = &self.agent;
        let id = agent.agent_id;
        html! {
            section #head.head data-state=(agent.activity()) aria-label="Overview" data-src={ "/fragments/agents/" (id) "/head" }
                data-when="*" data-agent=(id) {
                h1 { (AgentName(agent)) }
                (render_state(agent, now))
                (render_question(agent))
                (render_background_work(agent))
                (render_silence(agent, now))
                (self.render_details(TimeStyle::RelativeTo(now)))
            }
        }
    }

    /// The facts, for the page and for an export.
    pub(super) fn render_details(&self, time_style: TimeStyle) -> Markup {
        let agent = &self.agent;
        html! {
            @if let Some(status) = &agent.status_text { p.status { bdi { (truncate_text(status, MAX_TEXT_CHARS)) } } }
            @if let Some(tool) = &agent.current_tool { p.tool { span.label { "tool " } (render_name(tool, MAX_TEXT_CHARS)) } }
            @if let Some(words) = &agent.last_words { p.words { span.label { (speaker_label(agent)) } bdi { (truncate_text(words, MAX_TEXT_CHARS)) } } }
            (render_facts(agent, time_style))
            dl {
                (render_fact("Project", Some(&agent.project_path)))
                (render_fact("Role", agent.role.as_ref()))
                (render_fact("Mode", agent.mode.as_ref()))
                (render_fact("Model", agent.model.as_ref()))
                (render_fact("Host", agent.host.as_ref()))
                (render_fact("Process", agent.pid.map(|pid| pid.to_string()).as_ref()))
                (render_fact("Pane", agent.tmux_pane.as_ref()))
                dt { "Started" } dd { (render_clock(agent.started_at)) }
                @if let Some(at) = agent.ended_at { dt { "Ended" } dd { (render_clock(at)) } }
                @if let Some(reason) = &agent.end_reason { dt { "Reason" } dd { bdi { (render_end_reason(reason)) } } }
            }
            (self.render_sessions(time_style))
            (self.render_workers(time_style))
        }
    }

    fn render_sessions(&self, time_style: TimeStyle) -> Markup {
        html! {
            @if !self.sessions.is_empty() {
                h2 { "Sessions" }
                ul.plain {
                    @for session in &self.sessions {
                        li {
                            code { (truncate_text(&session.session_id, MAX_TEXT_CHARS)) } " "
                            span.quiet {
                                "last active " (time_style.render_ago(session.last_seen_at))
                                @if session.ended_at.is_some() {
                                    ", ended"
                                    @if let Some(reason) = &session.end_reason { ": " bdi { (render_end_reason(reason)) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    fn render_workers(&self, time_style: TimeStyle) -> Markup {
        html! {
            @if !self.workers.is_empty() {
                h2 { "Running workers" }
                ul.plain {
                    @for worker in &self.workers {
                        li {
                            (worker.kind) " " code { (truncate_text(&worker.name, 60)) }
                            @if let Some(label) = &worker.label { " " bdi { (truncate_text(label, MAX_TEXT_CHARS)) } }
                            @if let Some(at) = worker.started_at { " " span.quiet { (time_style.render_lasting(at)) } }
                        }
                    }
                }
            }
        }
    }
}

fn render_fact(name: &str, value: Option<&String>) -> Markup {
    html! {
        @if let Some(value) = value.filter(|value| !value.is_empty()) {
            dt { (name) } dd { bdi { (truncate_text(value, MAX_TEXT_CHARS)) } }
        }
    }
}

#[cfg(test)]
impl AgentHeader {
    /// An agent and a session with this text in all fields.
    pub(super) fn with_text(agent: AgentView, text: &str) -> Self {
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
        Self { agent, sessions: vec![session], workers: Vec::new() }
    }
}
