//! The card of an agent.

use maud::{Markup, html};
use snell::Timestamp;
use snell_store::{AgentState, AgentView, BackgroundWork};

use crate::web::format::{
    AgentName, TimeStyle, confidence_label, render_lasting, source_label, speaker_label, state_label, state_symbol,
    truncate_text,
};
use crate::web::usage::AgentCosts;

/// The maximum length of the last text.
const MAX_LAST_WORDS_CHARS: usize = 280;

/// The maximum length of other texts.
const MAX_TEXT_CHARS: usize = 120;

/// The limits of a nearly full and a full context, in percent.
const NEARLY_FULL_PERCENT: f64 = 75.0;
const FULL_PERCENT: f64 = 90.0;

/// The card of an agent.
pub(super) fn render_card(agent: &AgentView, costs: &AgentCosts, now: Timestamp) -> Markup {
    let id = agent.agent_id;
    html! {
        article.card id={ "agent-" (id) } data-state=(agent.activity()) aria-labelledby={ "name-" (id) }
            data-src={ "/fragments/agents/" (id) } data-when="*" data-agent=(id) data-part=(id) {
            header {
                h3 id={ "name-" (id) } { a.name id={ "open-" (id) } href={ "/agents/" (id) } { (AgentName(agent)) } }
                (render_state(agent, now))
            }
            (render_question(agent))
            (render_background_work(agent))
            (render_silence(agent, now))
            @if let Some(status) = filter_blank(agent.status_text.as_deref()) {
                p.status { bdi { (truncate_text(status, MAX_TEXT_CHARS)) } }
            }
            @if let Some(tool) = filter_blank(agent.current_tool.as_deref()) {
                p.tool { span.label { "tool " } code { (truncate_text(tool, MAX_TEXT_CHARS)) } }
            }
            @if let Some(words) = filter_blank(agent.last_words.as_deref()) {
                p.words { span.label { (speaker_label(agent)) } bdi { (truncate_text(words, MAX_LAST_WORDS_CHARS)) } }
            }
            (render_facts(agent, costs, TimeStyle::RelativeTo(now)))
        }
    }
}

/// The reason why an agent waits, if it does.
pub(crate) fn render_question(agent: &AgentView) -> Markup {
    html! {
        @if agent.state == AgentState::AwaitingInput { p.asks { bdi { (truncate_text(&agent.why, MAX_LAST_WORDS_CHARS)) } } }
        @if let Some(uid) = &agent.open_request {
            @for line in &agent.request_reading { p.reading { "would: " bdi { (truncate_text(line, MAX_LAST_WORDS_CHARS)) } } }
            p.open-request { a href={ "/requests#request-" (uid) } { "See its request" } }
        }
    }
}

/// The work that runs on after the agent's turn.
pub(crate) fn render_background_work(agent: &AgentView) -> Markup {
    let work = agent.background.map(BackgroundWork::describe).filter(|work| !work.is_empty());
    html! {
        @if let Some(work) = work { p.background { span.label { "in the background " } (work) } }
    }
}

/// How long an agent that works has shown no sign of life.
pub(crate) fn render_silence(agent: &AgentView, now: Timestamp) -> Markup {
    html! {
        @if let Some(since) = agent.silent_since { p.silent { "no sign of life for " (render_lasting(since, now)) } }
    }
}

/// The state of an agent. Its reason and source are folded.
pub(crate) fn render_state(agent: &AgentView, now: Timestamp) -> Markup {
    let known = format!("{}, {}", confidence_label(agent.confidence), source_label(agent.state_source));
    html! {
        details.state id={ "state-" (agent.agent_id) } data-state=(agent.activity()) {
            summary title={ (truncate_text(&agent.why, MAX_TEXT_CHARS)) " (" (known) ")" } {
                span.mark aria-hidden="true" { (state_symbol(agent.activity())) }
                " " (state_label(agent.activity()))
                @if agent.state != AgentState::Ended { " " span.since { (render_lasting(agent.state_since, now)) } }
            }
            p { bdi { (truncate_text(&agent.why, 2 * MAX_LAST_WORDS_CHARS)) } }
            p.known { "This state is " (known) "." }
        }
    }
}

/// More facts about an agent, in one line.
pub(crate) fn render_facts(agent: &AgentView, costs: &AgentCosts, time_style: TimeStyle) -> Markup {
    html! {
        p.facts {
            span.seen { "last active " (time_style.render_ago(agent.last_seen_at)) }
            @if let Some(percent) = agent.context_percent { " " (render_context_meter(percent)) }
            (costs.render_short(agent.agent_id))
            @if let Some(session) = filter_blank(agent.tmux_session.as_deref()) {
                " " span.tmux { span.label { "tmux " } code { (truncate_text(session, MAX_TEXT_CHARS)) } }
            }
        }
    }
}

/// How full the context is. A meter needs no inline style for its length.
fn render_context_meter(percent: f64) -> Markup {
    let percent = percent.clamp(0.0, 100.0);
    let shown = format!("{percent:.0} %");
    html! {
        span.context {
            span.label { "context " }
            meter min="0" max="100" low=(NEARLY_FULL_PERCENT) high=(FULL_PERCENT) optimum="0" value=(format!("{percent:.1}"))
                aria-label="context" { (shown) }
            " " (shown)
        }
    }
}

fn filter_blank(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}
