//! Renders the agents that need you, and the cards by project.

use maud::{Markup, html};
use snell::Timestamp;
use snell_store::AgentView;

use super::card::render_card;
use super::data::{AgentsOverview, MAX_AGENTS};
use super::params::AgentsParams;
use crate::web::format::{
    AgentName, MAX_NAME_CHARS, pluralize, render_ago, render_end_reason, render_lasting, truncate_text,
};
use crate::web::project_names::ProjectNames;

/// The maximum length of a reason.
const MAX_REASON_CHARS: usize = 200;

/// The maximum length of a project name in a sentence.
const MAX_PROJECT_CHARS: usize = 60;

/// The agents that need you, the longest wait first.
pub(super) fn render_waiting_agents(waiting: &[&AgentView], projects: &ProjectNames, now: Timestamp) -> Markup {
    html! {
        section #needs.needs aria-labelledby="needs-title" data-src="/fragments/needs"
            data-when="state_changed session_created session_ended" data-keyed {
            h2 #needs-title { "Needs you" }
            @if waiting.is_empty() {
                p #needs-none.quiet { "No agents need you." }
            } @else {
                ul #needs-list data-keyed { @for agent in waiting { (render_waiting_agent(agent, projects.name_for_agent(agent), now)) } }
            }
        }
    }
}

fn render_waiting_agent(agent: &AgentView, project: &str, now: Timestamp) -> Markup {
    let id = agent.agent_id;
    html! {
        li id={ "need-" (id) } {
            a id={ "answer-" (id) } href={ "/agents/" (id) } {
                span.mark aria-hidden="true" { "▲ " }
                strong.name { (AgentName(agent)) }
                " in " bdi.project { (truncate_text(project, MAX_PROJECT_CHARS)) }
            }
            " " span.why { bdi { (truncate_text(&agent.why, MAX_REASON_CHARS)) } }
            " " span.since { "waiting " (render_lasting(agent.state_since, now)) }
        }
    }
}

/// The matching cards by project, and the ended agents.
pub(super) fn render_cards(agents: &AgentsOverview, params: &AgentsParams, now: Timestamp) -> Markup {
    let wanted = |all: &[AgentView]| -> Vec<AgentView> {
        let wanted = all.iter().filter(|agent| params.matches_agent(agent));
        wanted.cloned().collect()
    };
    let at_work = wanted(&agents.active);
    html! {
        div #agents data-src=(params.fragment_url()) data-parts=(params.partial_fragment_url()) data-when="session_created session_ended" data-keyed {
            @if agents.active.is_empty() {
                p #agents-none.quiet {
                    "No agents are running. Agents appear here when their hooks call Snell. Run " code { "snell install" }
                    " to set up hooks, or " code { "snell demo" } " to see an example."
                }
            } @else if params.is_filtered() {
                p #agents-shown.quiet {
                    (at_work.len()) " of " (pluralize(agents.active.len() as i64, "agent")) ". " a href="/" { "Clear the filter" }
                }
            }
            @for project in at_work.chunk_by(|a, b| a.project_id == b.project_id) {
                (render_project_group(project, agents, now))
            }
            @if agents.is_truncated {
                p #agents-more.quiet { "Only " (MAX_AGENTS) " agents are shown. " a href="/api/agents" { "All agents as JSON" } }
            }
            (render_ended_agents(&wanted(&agents.ended), &agents.projects, now))
        }
    }
}

fn render_project_group(group: &[AgentView], agents: &AgentsOverview, now: Timestamp) -> Markup {
    // A chunk is never empty.
    let Some(first) = group.first() else {
        return html! {};
    };
    let title = format!("project-{}-title", first.project_id);
    html! {
        section.project id={ "project-" (first.project_id) } aria-labelledby=(title) data-keyed {
            h2 id=(title) title=(truncate_text(&first.project_path, MAX_REASON_CHARS)) { bdi { (truncate_text(agents.projects.name_for_agent(first), MAX_NAME_CHARS)) } }
            div.cards id={ "cards-" (first.project_id) } data-keyed {
                @for agent in group { (render_card(agent, &agents.costs, now)) }
            }
        }
    }
}

fn render_ended_agents(agents: &[AgentView], projects: &ProjectNames, now: Timestamp) -> Markup {
    html! {
        @if !agents.is_empty() {
            details #ended.ended {
                summary { "Ended in the last 24 hours (" (agents.len()) ")" }
                ul {
                    @for agent in agents {
                        li {
                            a href={ "/agents/" (agent.agent_id) } { (AgentName(agent)) }
                            " in " bdi { (truncate_text(projects.name_for_agent(agent), MAX_PROJECT_CHARS)) }
                            @if let Some(at) = agent.ended_at { ", " (render_ago(at, now)) }
                            @if let Some(reason) = &agent.end_reason { ": " bdi { (render_end_reason(reason)) } }
                        }
                    }
                }
            }
        }
    }
}
