//! Who needs somebody, and the cards by project.

use maud::{Markup, html};
use snell::Timestamp;
use snell_store::AgentView;

use super::Agents;
use super::asked::Asked;
use super::card::card;
use crate::web::projects::Projects;
use crate::web::words::{NAME_SHOWN, Name, ago, cut, ending, lasting, many};

/// How much of a reason is shown.
const WHY_SHOWN: usize = 200;

/// How much of what a project is called is shown within a sentence.
const PROJECT_SHOWN: usize = 60;

/// Those who wait for an answer, the one that has waited for longest first.
pub(super) fn needs(waiting: &[&AgentView], projects: &Projects, now: Timestamp) -> Markup {
    html! {
        section #needs.needs aria-labelledby="needs-title" data-src="/fragments/needs"
            data-when="state_changed session_created session_ended" data-keyed {
            h2 #needs-title { "Needs you" }
            @if waiting.is_empty() {
                p #needs-none.quiet { "Nobody waits for you." }
            } @else {
                ul #needs-list data-keyed { @for agent in waiting { (need(agent, projects.of_agent(agent), now)) } }
            }
        }
    }
}

fn need(agent: &AgentView, project: &str, now: Timestamp) -> Markup {
    let id = agent.agent_id;
    html! {
        li id={ "need-" (id) } {
            a id={ "answer-" (id) } href={ "/agents/" (id) } {
                span.mark aria-hidden="true" { "▲ " }
                strong.name { (Name(agent)) }
                " in " bdi.project { (cut(project, PROJECT_SHOWN)) }
            }
            " " span.why { bdi { (cut(&agent.why, WHY_SHOWN)) } }
            " " span.since { "waits for " (lasting(agent.state_since, now)) }
        }
    }
}

/// The cards by project, and those that have ended; of all of them those that are asked for.
pub(super) fn cards(agents: &Agents, asked: &Asked, now: Timestamp) -> Markup {
    let wanted = |all: &[AgentView]| -> Vec<AgentView> {
        let wanted = all.iter().filter(|agent| asked.is_about(agent));
        wanted.cloned().collect()
    };
    let at_work = wanted(&agents.at_work);
    html! {
        div #agents data-src=(asked.path()) data-parts=(asked.path_of_some()) data-when="session_created session_ended" data-keyed {
            @if agents.at_work.is_empty() {
                p #agents-none.quiet {
                    "No agent is at work. Agents appear here once their hooks call Snell: "
                    code { "snell install" } " sets that up, and " code { "snell demo" } " shows it."
                }
            } @else if asked.is_narrowed() {
                p #agents-shown.quiet {
                    (at_work.len()) " of " (many(agents.at_work.len() as i64, "agent")) ". " a href="/" { "All agents" }
                }
            }
            @for project in at_work.chunk_by(|a, b| a.project_id == b.project_id) {
                (group(project, &agents.projects, now))
            }
            @if agents.is_cut {
                p #agents-more.quiet { "There are more; " a href="/api/agents" { "all of them" } " are told to programs." }
            }
            (ended(&wanted(&agents.ended), &agents.projects, now))
        }
    }
}

fn group(agents: &[AgentView], projects: &Projects, now: Timestamp) -> Markup {
    // A chunk is never empty.
    let Some(first) = agents.first() else {
        return html! {};
    };
    let title = format!("project-{}-title", first.project_id);
    html! {
        section.project id={ "project-" (first.project_id) } aria-labelledby=(title) data-keyed {
            h2 id=(title) title=(cut(&first.project_path, WHY_SHOWN)) { bdi { (cut(projects.of_agent(first), NAME_SHOWN)) } }
            div.cards id={ "cards-" (first.project_id) } data-keyed {
                @for agent in agents { (card(agent, now)) }
            }
        }
    }
}

fn ended(agents: &[AgentView], projects: &Projects, now: Timestamp) -> Markup {
    html! {
        @if !agents.is_empty() {
            details #ended.ended {
                summary { "Ended within a day (" (agents.len()) ")" }
                ul {
                    @for agent in agents {
                        li {
                            a href={ "/agents/" (agent.agent_id) } { (Name(agent)) }
                            " in " bdi { (cut(projects.of_agent(agent), PROJECT_SHOWN)) }
                            @if let Some(at) = agent.ended_at { ", " (ago(at, now)) }
                            @if let Some(reason) = &agent.end_reason { ": " bdi { (ending(reason)) } }
                        }
                    }
                }
            }
        }
    }
}
