//! The remembered answers, each with a button that ends it.

use maud::{Markup, html};
use snell::Timestamp;
use snell_store::requests::{RememberScope, RememberedAnswer};

use super::form::FormAccess;
use crate::web::format::{render_ago, render_left, truncate_text};

/// The most answers that are listed.
pub(super) const MAX_REMEMBERED: u32 = 100;

/// The longest texts.
const MAX_TITLE_CHARS: usize = 200;
const MAX_KEY_CHARS: usize = 100;

pub(super) fn render_remembered(answers: &[RememberedAnswer], access: &FormAccess, now: Timestamp) -> Markup {
    html! {
        section #remembered-answers aria-labelledby="remembered-title" {
            @if !answers.is_empty() {
                h2 #remembered-title { "Remembered answers" }
                p.quiet { "Snell allows these calls without a question." }
                ol.plain { @for answer in answers { (render_answer(answer, access, now)) } }
            }
        }
    }
}

fn render_answer(answer: &RememberedAnswer, access: &FormAccess, now: Timestamp) -> Markup {
    let uid = &answer.request_uid;
    html! {
        li id={ "remembered-" (uid) } {
            span.text { (truncate_text(&answer.title, MAX_TITLE_CHARS)) }
            p.quiet {
                @match answer.scope {
                    RememberScope::Session => "in the session ",
                    RememberScope::Project => "in ",
                }
                bdi { (truncate_text(&answer.scope_key, MAX_KEY_CHARS)) }
                ", since " (render_ago(answer.created_at, now))
                @if let Some(until) = answer.until { ", " (render_left(until, now)) " left" }
            }
            @if let FormAccess::Granted { value } = access {
                form method="post" action={ "/remembered/" (uid) "/forget" } {
                    input type="hidden" name="form" value=(value);
                    button aria-label={ "Forget the answer to request " (uid) } { "Forget" }
                }
            } @else {
                p.quiet { "To end it in a terminal, run " code { "snell answer --forget " (uid) } "." }
            }
        }
    }
}
