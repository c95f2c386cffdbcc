//! Renders the rows of a timeline, on the page and in an export.

use maud::{Markup, html};
use snell_store::{AgentState, HookRunView, SightingView, TimelineEvent, TurnActor, TurnIntent, TurnView};

use super::item_kind::TimelineItemKind;
use super::timeline_item::{TimelineCursor, TimelineItem, TimelineItemContent};
use crate::web::format::{
    confidence_label, format_duration_ms, render_clock, render_name, source_label, state_label, state_symbol,
    trim_leading_blank_lines, truncate_text,
};
use crate::web::guard::render_verdict;
use crate::web::input_diff::{render_changed_output, render_input_diff};

/// The length of a text that is visible at once; the rest is folded.
const MAX_INLINE_CHARS: usize = 600;

/// The length of a text on a page, folded or not, because many long texts would make a long page. A file has the full
/// text.
const MAX_UNFOLDED_CHARS: usize = 8_000;

/// The maximum length of a hook's output.
const MAX_OUTPUT_CHARS: usize = 2000;

/// The maximum length of values that are usually one word.
const MAX_WORD_CHARS: usize = 40;

/// The place of a row.
#[derive(Clone, Copy, Debug)]
pub(super) enum RowTarget {
    /// On a live page, with the cursor for older rows.
    LivePage(TimelineCursor),
    /// On a page of older rows.
    Page,
    /// In an export.
    File,
}

/// A row of the timeline.
pub(super) fn render_row(moment: &TimelineItem, on: RowTarget) -> Markup {
    let (before, most) = match on {
        RowTarget::LivePage(place) => (Some(place), MAX_UNFOLDED_CHARS),
        RowTarget::Page => (None, MAX_UNFOLDED_CHARS),
        RowTarget::File => (None, usize::MAX),
    };
    html! {
        li class=(row_class(moment)) id=(moment.key) data-before=[before.map(|place| place.to_string())] {
            (render_clock(moment.at)) " "
            span.kind { (row_label(moment)) } " "
            @if moment.is_late { span.quiet.late title="Snell received this after the rows above, but it happened earlier" { "arrived late" } " " }
            div.what { (render_content(&moment.content, most)) }
        }
    }
}

fn row_class(moment: &TimelineItem) -> &'static str {
    match moment.kind() {
        TimelineItemKind::Prompt => "prompt",
        TimelineItemKind::Words => "said",
        TimelineItemKind::Tool => "call",
        TimelineItemKind::Guard => "guard",
        TimelineItemKind::Hook => "hook",
        TimelineItemKind::State => "change",
        TimelineItemKind::Event => "event",
    }
}

fn row_label(moment: &TimelineItem) -> &'static str {
    match &moment.content {
        TimelineItemContent::Turn(turn) => match (turn.actor, turn.intent) {
            (TurnActor::User, TurnIntent::Answer) => "answer",
            (TurnActor::User, _) => "prompt",
            (TurnActor::Agent, TurnIntent::Question) => "question",
            (TurnActor::Agent, _) => "agent",
        },
        TimelineItemContent::BlockedPrompt(_) => "prompt",
        TimelineItemContent::ToolCall(_) => "tool",
        TimelineItemContent::GuardVerdict(_) => "guard",
        TimelineItemContent::HookRun(_) => "hook",
        TimelineItemContent::StateChange { .. } | TimelineItemContent::Sighting(_) => "state",
        TimelineItemContent::Context(_) => "context",
        TimelineItemContent::OtherEvent(_) => "event",
    }
}

fn render_content(what: &TimelineItemContent, most: usize) -> Markup {
    match what {
        TimelineItemContent::Turn(turn) => render_turn(turn, most),
        TimelineItemContent::BlockedPrompt(event) => render_blocked_prompt(event, most),
        TimelineItemContent::ToolCall(event) => render_tool_call(event, most),
        TimelineItemContent::GuardVerdict(verdict) => render_verdict(verdict),
        TimelineItemContent::HookRun(run) => render_hook_run(run),
        TimelineItemContent::StateChange { from, to } => render_state_change(*from, *to),
        TimelineItemContent::Sighting(seen) => render_sighting(seen),
        TimelineItemContent::Context(text) => {
            html! { span.quiet { "context for the agent: " } (render_long_text(text, most)) }
        }
        TimelineItemContent::OtherEvent(event) => render_other_event(event, most),
    }
}

fn render_turn(turn: &TurnView, most: usize) -> Markup {
    if turn.text.trim().is_empty() {
        return html! { span.quiet { "ended its turn without a reply" } };
    }
    render_long_text(&turn.text, most)
}

/// A text. A long one is folded, and a very long one is cut.
fn render_long_text(text: &str, most: usize) -> Markup {
    let text = trim_leading_blank_lines(text);
    let (shown, whole) = (truncate_text(text, MAX_INLINE_CHARS), truncate_text(text, most));
    html! {
        @if shown.len() < text.len() {
            details.long {
                summary { span.text { (shown) } }
                p.text { (whole) }
                @if whole.len() < text.len() { p.quiet { "The exported file has the full text." } }
            }
        } @else {
            span.text { (text) }
        }
    }
}

fn render_blocked_prompt(event: &TimelineEvent, most: usize) -> Markup {
    html! {
        (render_long_text(event.message.as_deref().unwrap_or_default(), most))
        (render_decision(event))
    }
}

fn render_tool_call(event: &TimelineEvent, most: usize) -> Markup {
    let is_failure_event =
        [Some(event.event.as_str()), event.ended_by.as_deref()].contains(&Some("PostToolUseFailure"));
    let failed = is_failure_event || event.error.is_some();
    html! {
        (render_name(event.tool.as_deref().unwrap_or("tool"), most))
        @if let Some(summary) = &event.tool_summary { " " span.text { (truncate_text(summary, MAX_INLINE_CHARS)) } }
        @if let Some(ms) = event.tool_duration_ms { " " span.took { (format_duration_ms(ms)) } }
        @if failed { " " strong.bad { "failed" } }
        @if event.is_unended { " " span.quiet { "no result recorded" } }
        @if let Some(error) = event.error.as_deref().filter(|error| !error.is_empty()) { " " (render_long_text(error, most)) }
        (render_decision(event))
        @if let Some(change) = &event.changed_input { " " (render_input_diff(&change.before, &change.after)) }
        @if let Some(output) = &event.changed_output { " " (render_changed_output(output)) }
    }
}

fn render_decision(event: &TimelineEvent) -> Markup {
    html! {
        @if let Some(decision) = event.decision.as_deref() {
            " " strong class=(decision_class(decision)) { (truncate_text(decision_label(decision), MAX_WORD_CHARS)) }
        }
        @if let Some(reason) = &event.reason { " " span.text { (truncate_text(reason, MAX_INLINE_CHARS)) } }
    }
}

pub(in crate::web) fn render_hook_run(run: &HookRunView) -> Markup {
    let ms = run.duration_us as f64 / 1000.0;
    let class = match run.status.as_str() {
        "ok" | "started" => "good",
        "skipped" => "quiet",
        _ => "bad",
    };
    html! {
        strong class=(class) { (truncate_text(&run.status.replace('_', " "), MAX_WORD_CHARS)) }
        @if let Some(code) = run.exit_code.filter(|code| *code != 0) { " exit " (code) }
        @if let Some(signal) = run.signal { " signal " (signal) }
        " " code { (truncate_text(&run.command, 200)) }
        " " span.took { (format_duration_ms(ms)) }
        " " span.quiet { (truncate_text(&run.source, MAX_INLINE_CHARS)) ":" (run.line) " (" (truncate_text(&run.contract, MAX_WORD_CHARS)) ")" }
        @if let Some(why) = &run.why { " " span.text { (truncate_text(why, MAX_INLINE_CHARS)) } }
        (render_output("stdout", &run.stdout))
        (render_output("stderr", &run.stderr))
    }
}

fn render_output(name: &str, text: &str) -> Markup {
    html! {
        @if !text.trim().is_empty() {
            details.output { summary { (name) } pre { (truncate_text(text, MAX_OUTPUT_CHARS)) } }
        }
    }
}

fn render_state_change(from: Option<AgentState>, to: AgentState) -> Markup {
    let named =
        |one: AgentState| html! { span.state-word data-state=(one) { (state_symbol(one)) " " (state_label(one)) } };
    html! {
        @if let Some(from) = from { (named(from)) " → " }
        (named(to))
    }
}

fn render_sighting(seen: &SightingView) -> Markup {
    html! {
        (render_state_change(seen.state_before, seen.state))
        " " span.text { (truncate_text(&seen.why, MAX_INLINE_CHARS)) }
        " " span.quiet { "(" (confidence_label(seen.confidence)) ", " (source_label(seen.source)) ")" }
    }
}

fn render_other_event(event: &TimelineEvent, most: usize) -> Markup {
    html! {
        (render_name(&event.event, most))
        @if let Some(tool) = &event.tool { " " (render_name(tool, most)) }
        @if let Some(summary) = &event.tool_summary { " " span.text { (truncate_text(summary, MAX_INLINE_CHARS)) } }
        @if let Some(message) = &event.message { " " span.text { (truncate_text(message, MAX_INLINE_CHARS)) } }
        (render_decision(event))
    }
}

/// The label of a decision. The guard's word for `block` is `deny`.
pub(in crate::web) fn decision_label(decision: &str) -> &str {
    match decision {
        "block" | "deny" => "blocked",
        "ask" => "asked",
        "allow" => "allowed",
        other => other,
    }
}

pub(in crate::web) fn decision_class(decision: &str) -> &'static str {
    match decision {
        "block" | "deny" => "bad",
        "ask" => "warn",
        _ => "good",
    }
}
