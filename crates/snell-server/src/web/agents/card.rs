//! One agent, in brief.

use maud::{Markup, html};
use snell::Timestamp;
use snell_store::{AgentView, State};

use crate::web::words::{Name, Telling, confidence, cut, lasting, mark, source, speaker, state as word};

/// How much of an agent's last words is shown.
const WORDS_SHOWN: usize = 280;

/// How much of anything else is shown.
const TEXT_SHOWN: usize = 120;

/// From here on a context is nearly full, and from there on it is full, in percent.
const NEARLY_FULL: f64 = 75.0;
const FULL: f64 = 90.0;

/// The card of an agent.
pub(super) fn card(agent: &AgentView, now: Timestamp) -> Markup {
    let id = agent.agent_id;
    html! {
        article.card id={ "agent-" (id) } data-state=(agent.state) aria-labelledby={ "name-" (id) }
            data-src={ "/fragments/agents/" (id) } data-when="*" data-agent=(id) data-part=(id) {
            header {
                h3 id={ "name-" (id) } { a.name id={ "open-" (id) } href={ "/agents/" (id) } { (Name(agent)) } }
                (state(agent, now))
            }
            (asks(agent))
            @if let Some(status) = text(agent.status_text.as_deref()) {
                p.status { bdi { (cut(status, TEXT_SHOWN)) } }
            }
            @if let Some(tool) = text(agent.current_tool.as_deref()) {
                p.tool { span.label { "tool " } code { (cut(tool, TEXT_SHOWN)) } }
            }
            @if let Some(words) = text(agent.last_words.as_deref()) {
                p.words { span.label { (speaker(agent)) } bdi { (cut(words, WORDS_SHOWN)) } }
            }
            (facts(agent, Telling::AsOf(now)))
        }
    }
}

/// What an agent waits for, if it does.
pub(crate) fn asks(agent: &AgentView) -> Markup {
    html! {
        @if agent.state == State::AwaitingInput { p.asks { bdi { (cut(&agent.why, WORDS_SHOWN)) } } }
    }
}

/// What an agent is doing; how that is known is told on asking.
pub(crate) fn state(agent: &AgentView, now: Timestamp) -> Markup {
    let known = format!("{}, {}", confidence(agent.confidence), source(agent.state_source));
    html! {
        details.state id={ "state-" (agent.agent_id) } data-state=(agent.state) {
            summary title={ (cut(&agent.why, TEXT_SHOWN)) " (" (known) ")" } {
                span.mark aria-hidden="true" { (mark(agent.state)) }
                " " (word(agent.state))
                @if agent.state != State::Ended { " " span.since { (lasting(agent.state_since, now)) } }
            }
            p { bdi { (cut(&agent.why, 2 * WORDS_SHOWN)) } }
            p.known { "This is " (known) "." }
        }
    }
}

/// What else is known of an agent, in a line.
pub(crate) fn facts(agent: &AgentView, telling: Telling) -> Markup {
    html! {
        p.facts {
            span.seen { "last active " (telling.ago(agent.last_seen_at)) }
            @if let Some(percent) = agent.context_percent { " " (context(percent)) }
            @if let Some(session) = text(agent.tmux_session.as_deref()) {
                " " span.tmux { span.label { "tmux " } code { (cut(session, TEXT_SHOWN)) } }
            }
        }
    }
}

/// How full a context is. A meter needs no style to be as long as it should.
fn context(percent: f64) -> Markup {
    let percent = percent.clamp(0.0, 100.0);
    let shown = format!("{percent:.0} %");
    html! {
        span.context {
            span.label { "context " }
            meter min="0" max="100" low=(NEARLY_FULL) high=(FULL) optimum="0" value=(format!("{percent:.1}"))
                aria-label="context" { (shown) }
            " " (shown)
        }
    }
}

fn text(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}
