//! The last answers.

use maud::{Markup, html};
use snell::Timestamp;
use snell_store::requests::{AnswerChoice, AnswerOrigin, RequestAnswer, RequestView};

use crate::web::format::{render_ago, truncate_text};

/// The longest text.
const MAX_TEXT_CHARS: usize = 200;

pub(super) fn render_history(closed: &[RequestView], now: Timestamp) -> Markup {
    html! {
        section #closed-requests aria-labelledby="closed-title" {
            h2 #closed-title { "Last answers" }
            @if closed.is_empty() { p.quiet { "None yet." } }
            ol.plain {
                @for request in closed {
                    li id={ "closed-" (request.uid) } {
                        (render_end(request))
                        @if let Some(at) = request.closed_at { " " span.quiet { (render_ago(at, now)) } }
                        p {
                            a href={ "/agents/" (request.agent_id) } { "#" (request.agent_id) }
                            " in " bdi { (truncate_text(&request.project, 60)) }
                            ": " span.text { (truncate_text(&request.title, MAX_TEXT_CHARS)) }
                        }
                    }
                }
            }
        }
    }
}

/// The end of a request: the answer, its author and where it was given, or why there is none.
pub(super) fn render_end(request: &RequestView) -> Markup {
    html! {
        @if let Some(answer) = &request.answer {
            (render_choice(answer.choice))
            " by " bdi { (truncate_text(request.answered_by.as_deref().unwrap_or("unknown"), 80)) }
            @if let Some(origin) = request.answered_from { " " (describe_origin(origin)) }
            @if let Some(words) = join_words(answer) { ": " bdi { (truncate_text(&words, MAX_TEXT_CHARS)) } }
            @if answer.remember.is_some() { " " span.quiet { "(remembered)" } }
            @match (&request.delivered_at, &request.closed_reason) {
                (Some(_), _) => {},
                (None, None) => { " " span.quiet { "(the agent does not have it yet)" } },
                (None, Some(why)) => {
                    ". " strong.bad { "The agent did not get it" } ": " bdi { (truncate_text(why, MAX_TEXT_CHARS)) }
                },
            }
        } @else {
            strong.quiet { "No answer" }
            @if let Some(reason) = &request.closed_reason { ": " bdi { (truncate_text(reason, MAX_TEXT_CHARS)) } }
        }
    }
}

fn render_choice(choice: AnswerChoice) -> Markup {
    match choice {
        AnswerChoice::Allow => html! { strong.good { "✓ Allowed" } },
        AnswerChoice::Deny => html! { strong.bad { "✕ Denied" } },
        AnswerChoice::Reply => html! { strong.good { "✓ Answered" } },
    }
}

fn describe_origin(origin: AnswerOrigin) -> &'static str {
    match origin {
        AnswerOrigin::Terminal => "in a terminal",
        AnswerOrigin::Page => "on the page",
        AnswerOrigin::Api => "through the API",
        AnswerOrigin::Notice => "by the link of a notice",
    }
}

/// The texts of an answer.
fn join_words(answer: &RequestAnswer) -> Option<String> {
    let words: Vec<_> = answer.replies.iter().chain(&answer.message).map(String::as_str).collect();
    (!words.is_empty()).then(|| words.join(" · "))
}
