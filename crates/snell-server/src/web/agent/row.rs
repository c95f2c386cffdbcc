//! How each thing on a timeline looks, on the page and in an export.

use maud::{Markup, html};
use snell_store::{Actor, HookRunView, Intent, SightingView, State, TimelineEvent, TurnView};

use super::kind::Kind;
use super::moment::{Moment, Place, What};
use crate::web::changed::{changed as changed_input, changed_output};
use crate::web::guard::judged;
use crate::web::words::{begun, clock, confidence, cut, duration, mark, name, source, state};

/// How much of a text is shown at once; the rest is folded.
const SHOWN: usize = 600;

/// How much of it a page has at all: a hundred long texts would be a long page. A file has all of it.
const UNFOLDED: usize = 8_000;

/// How much of what a hook wrote is shown.
const OUTPUT_SHOWN: usize = 2000;

/// How much is shown of what is one word, as a rule.
const WORD_SHOWN: usize = 40;

/// Where a row stands.
#[derive(Clone, Copy, Debug)]
pub(super) enum On {
    /// On a page that is live, with the place where older ones are found.
    LivePage(Place),
    /// On a page of older things.
    Page,
    /// In a file.
    File,
}

/// A row of the timeline.
pub(super) fn row(moment: &Moment, on: On) -> Markup {
    let (before, most) = match on {
        On::LivePage(place) => (Some(place), UNFOLDED),
        On::Page => (None, UNFOLDED),
        On::File => (None, usize::MAX),
    };
    html! {
        li class=(class(moment)) id=(moment.key) data-before=[before.map(|place| place.to_string())] {
            (clock(moment.at)) " "
            span.kind { (label(moment)) } " "
            @if moment.is_late { span.quiet.late title="it came to Snell after what stands before it" { "came late" } " " }
            div.what { (what(&moment.what, most)) }
        }
    }
}

fn class(moment: &Moment) -> &'static str {
    match moment.kind() {
        Kind::Prompt => "prompt",
        Kind::Words => "said",
        Kind::Tool => "call",
        Kind::Guard => "guard",
        Kind::Hook => "hook",
        Kind::State => "change",
        Kind::Event => "event",
    }
}

fn label(moment: &Moment) -> &'static str {
    match &moment.what {
        What::Said(turn) => match (turn.actor, turn.intent) {
            (Actor::User, Intent::Answer) => "answer",
            (Actor::User, _) => "prompt",
            (Actor::Agent, Intent::Question) => "question",
            (Actor::Agent, _) => "agent",
        },
        What::Blocked(_) => "prompt",
        What::Called(_) => "tool",
        What::Judged(_) => "guard",
        What::Ran(_) => "hook",
        What::Changed { .. } | What::Seen(_) => "state",
        What::Told(_) => "context",
        What::Happened(_) => "event",
    }
}

fn what(what: &What, most: usize) -> Markup {
    match what {
        What::Said(turn) => said(turn, most),
        What::Blocked(event) => blocked(event, most),
        What::Called(event) => called(event, most),
        What::Judged(verdict) => judged(verdict),
        What::Ran(run) => ran(run),
        What::Changed { from, to } => changed(*from, *to),
        What::Seen(seen) => noticed(seen),
        What::Told(text) => html! { span.quiet { "the agent was told: " } (long(text, most)) },
        What::Happened(event) => happened(event, most),
    }
}

fn said(turn: &TurnView, most: usize) -> Markup {
    if turn.text.trim().is_empty() {
        return html! { span.quiet { "ended its turn without a word" } };
    }
    long(&turn.text, most)
}

/// A text, of which the rest is folded if it is long, and left out if it is very long.
fn long(text: &str, most: usize) -> Markup {
    let text = begun(text);
    let (shown, whole) = (cut(text, SHOWN), cut(text, most));
    html! {
        @if shown.len() < text.len() {
            details.long {
                summary { span.text { (shown) } }
                p.text { (whole) }
                @if whole.len() < text.len() { p.quiet { "The rest is in the exported file." } }
            }
        } @else {
            span.text { (text) }
        }
    }
}

fn blocked(event: &TimelineEvent, most: usize) -> Markup {
    html! {
        (long(event.message.as_deref().unwrap_or_default(), most))
        (decided(event))
    }
}

fn called(event: &TimelineEvent, most: usize) -> Markup {
    let is_told = [Some(event.event.as_str()), event.ended_by.as_deref()].contains(&Some("PostToolUseFailure"));
    let failed = is_told || event.error.is_some();
    html! {
        (name(event.tool.as_deref().unwrap_or("tool"), most))
        @if let Some(summary) = &event.tool_summary { " " span.text { (cut(summary, SHOWN)) } }
        @if let Some(ms) = event.tool_duration_ms { " " span.took { (duration(ms)) } }
        @if failed { " " strong.bad { "failed" } }
        @if event.is_unended { " " span.quiet { "no end was told" } }
        @if let Some(error) = event.error.as_deref().filter(|error| !error.is_empty()) { " " (long(error, most)) }
        (decided(event))
        @if let Some(change) = &event.changed_input { " " (changed_input(&change.before, &change.after)) }
        @if let Some(told) = &event.changed_output { " " (changed_output(told)) }
    }
}

fn decided(event: &TimelineEvent) -> Markup {
    html! {
        @if let Some(decision) = event.decision.as_deref() {
            " " strong class=(verdict_class(decision)) { (cut(verdict_word(decision), WORD_SHOWN)) }
        }
        @if let Some(reason) = &event.reason { " " span.text { (cut(reason, SHOWN)) } }
    }
}

pub(in crate::web) fn ran(run: &HookRunView) -> Markup {
    let ms = run.duration_us as f64 / 1000.0;
    let class = match run.status.as_str() {
        "ok" | "started" => "good",
        "skipped" => "quiet",
        _ => "bad",
    };
    html! {
        strong class=(class) { (cut(&run.status.replace('_', " "), WORD_SHOWN)) }
        @if let Some(code) = run.exit_code.filter(|code| *code != 0) { " exit " (code) }
        @if let Some(signal) = run.signal { " signal " (signal) }
        " " code { (cut(&run.command, 200)) }
        " " span.took { (duration(ms)) }
        " " span.quiet { (cut(&run.source, SHOWN)) ":" (run.line) " (" (cut(&run.contract, WORD_SHOWN)) ")" }
        @if let Some(why) = &run.why { " " span.text { (cut(why, SHOWN)) } }
        (output("output", &run.stdout))
        (output("errors", &run.stderr))
    }
}

fn output(name: &str, text: &str) -> Markup {
    html! {
        @if !text.trim().is_empty() {
            details.output { summary { (name) } pre { (cut(text, OUTPUT_SHOWN)) } }
        }
    }
}

fn changed(from: Option<State>, to: State) -> Markup {
    let named = |one: State| html! { span.state-word data-state=(one) { (mark(one)) " " (state(one)) } };
    html! {
        @if let Some(from) = from { (named(from)) " → " }
        (named(to))
    }
}

fn noticed(seen: &SightingView) -> Markup {
    html! {
        (changed(seen.state_before, seen.state))
        " " span.text { (cut(&seen.why, SHOWN)) }
        " " span.quiet { "(" (confidence(seen.confidence)) ", " (source(seen.source)) ")" }
    }
}

fn happened(event: &TimelineEvent, most: usize) -> Markup {
    html! {
        (name(&event.event, most))
        @if let Some(tool) = &event.tool { " " (name(tool, most)) }
        @if let Some(summary) = &event.tool_summary { " " span.text { (cut(summary, SHOWN)) } }
        @if let Some(message) = &event.message { " " span.text { (cut(message, SHOWN)) } }
        (decided(event))
    }
}

/// What was decided, as people say it. The guard's word for a block is another one.
pub(in crate::web) fn verdict_word(decision: &str) -> &str {
    match decision {
        "block" | "deny" => "blocked",
        "ask" => "asked",
        "allow" => "allowed",
        other => other,
    }
}

pub(in crate::web) fn verdict_class(decision: &str) -> &'static str {
    match decision {
        "block" | "deny" => "bad",
        "ask" => "warn",
        _ => "good",
    }
}
