//! The card of an open request: the text of the agent first, then, apart from it, the answers.

use maud::{Markup, html};
use snell::Timestamp;
use snell_store::requests::{AnswerChannel, RequestKind, RequestOrigin, RequestView};

use super::data::OpenRequestEntry;
use super::detail::render_detail;
use super::form::FormAccess;
use crate::web::format::{AgentName, render_lasting, render_left, speaker_label, truncate_text};

/// The maximum length of the task of an agent.
const MAX_TASK_CHARS: usize = 280;

/// The maximum length of a name.
const MAX_NAME_CHARS: usize = 60;

pub(super) fn render_card(entry: &OpenRequestEntry, access: &FormAccess, now: Timestamp) -> Markup {
    let request = &entry.request;
    let uid = &request.uid;
    html! {
        // Its parts are replaced one by one, so that a text in the form stays.
        article.request id={ "request-" (uid) } aria-labelledby={ "title-" (uid) } data-keyed {
            header id={ "head-" (uid) } {
                h2 id={ "title-" (uid) } { (render_asker(entry)) " " (describe_wish(request)) }
                p.since {
                    "waits " (render_lasting(request.opened_at, now)) ", " (render_left(request.expires_at, now)) " left"
                }
            }
            div.quoted id={ "detail-" (uid) } { (render_task(entry)) (render_detail(request)) }
            (access.render_form(request))
        }
    }
}

/// The agent and its project.
fn render_asker(entry: &OpenRequestEntry) -> Markup {
    let request = &entry.request;
    html! {
        a href={ "/agents/" (request.agent_id) } {
            @match &entry.agent {
                Some(agent) => (AgentName(agent)),
                None => bdi { (truncate_text(request.product.as_deref().unwrap_or("agent"), MAX_NAME_CHARS)) },
            }
        }
        " in " bdi { (truncate_text(&request.project, MAX_NAME_CHARS)) }
    }
}

/// The end of the sentence about the agent.
fn describe_wish(request: &RequestView) -> Markup {
    html! {
        @match (request.kind, &request.tool) {
            (RequestKind::Question, _) => "asks a question",
            (RequestKind::Permission, Some(tool)) => {
                "wants to use " code { bdi { (truncate_text(tool, MAX_NAME_CHARS)) } }
            },
            (RequestKind::Permission, None) => "asks for a permission",
        }
    }
}

/// The task of the agent, and the program that asks.
pub(super) fn render_task(entry: &OpenRequestEntry) -> Markup {
    let asker = match entry.request.origin {
        RequestOrigin::Agent => "The agent asks.",
        RequestOrigin::Guard => "Snell's guard asks.",
        RequestOrigin::Hook => "A hook asks.",
    };
    let words = entry.agent.as_ref().and_then(|agent| Some((speaker_label(agent), agent.last_words.as_deref()?)));
    html! {
        @if let Some((label, words)) = words {
            p.words { span.label { (label) } bdi { (truncate_text(words, MAX_TASK_CHARS)) } }
        }
        p.quiet {
            (asker)
            @if entry.request.channel == AnswerChannel::Pane { " Snell types your answer into its terminal." }
        }
    }
}
