//! A judgement as text: the decision, the marked command, the reason and the advice.

use std::ops::Range;
use std::path::Path;

use snell_guard::{GuardDecision, GuardJudgement};

use super::call_args::{ToolCallRequest, summarize_call};
use crate::guard::ProjectGuard;
use crate::output::{self, TextStyle, apply_style, escape_invisible};

/// How many lines of a command are shown.
const MAX_SHOWN_LINES: usize = 12;

/// How many places are marked.
const MAX_MARKED_SPANS: usize = 64;

/// The indent of a command's lines.
const INDENT: &str = "  ";

/// The colour of a decision.
pub(super) fn decision_style(verdict: GuardDecision) -> TextStyle {
    match verdict {
        GuardDecision::Allow => TextStyle::Green,
        GuardDecision::Ask => TextStyle::Yellow,
        GuardDecision::Deny => TextStyle::Red,
    }
}

/// The whole judgement of a call: decision, marked command, reason and advice.
pub(super) fn render_judgement(call: &ToolCallRequest, judgement: &GuardJudgement) -> String {
    [render_headline(judgement), render_marked_call(call, &judgement.spans), render_grounds(judgement)].concat()
}

/// The line about an entry for one agent that would change the decision, if no agent is chosen.
pub(super) fn render_agent_hint(
    guard: &ProjectGuard,
    call: &ToolCallRequest,
    cwd: &Path,
    judgement: &GuardJudgement,
) -> String {
    let found = guard.find_other_agent_entry(&call.tool, &call.input, Some(cwd), judgement.decision);
    let Some((entry, decision)) = found else {
        return String::new();
    };
    let agent = entry.agents.first().map(String::as_str).unwrap_or_default();
    let verb = match decision {
        GuardDecision::Allow => "allows it",
        GuardDecision::Ask => "asks about it",
        GuardDecision::Deny => "denies it",
    };
    let origin = escape_invisible(&entry.origin.to_string());
    format!("{:<10}An entry for {agent} {verb} ({origin}); add --agent {agent}\n", "Agent")
}

/// The decision, and the rule that made it.
fn render_headline(judgement: &GuardJudgement) -> String {
    let decision = apply_style(judgement.decision.name(), decision_style(judgement.decision));
    let rule = match (judgement.rule_id(), judgement.tier_name()) {
        (Some(rule), Some(tier)) => {
            format!("  {rule} {}", apply_style(&format!("({tier})"), TextStyle::Faint))
        }
        _ => String::new(),
    };
    format!("{decision}{rule}\n")
}

/// The reason, the advice and the gaps of the analysis.
fn render_grounds(judgement: &GuardJudgement) -> String {
    let mut text = String::new();
    let mut row = |title: &str, value: &str| {
        if !value.is_empty() {
            text.push_str(&format!("{title:<10}{}\n", escape_invisible(value)));
        }
    };
    row("Why", &judgement.reason);
    row("Instead", judgement.advice);
    if let Some(would) = judgement.suppressed_decision() {
        row("Audit", &format!("the audit preset does not enforce this decision: {}", would.name()));
    }
    row("Allowed", judgement.allowed_by.as_deref().unwrap_or_default());
    row("Approved", &judgement.approval.as_ref().map(ToString::to_string).unwrap_or_default());
    row("Unchecked", &judgement.coverage.describe_gaps().join("; "));
    text
}

/// The call, with the blamed spans underlined.
fn render_marked_call(call: &ToolCallRequest, spans: &[Range<usize>]) -> String {
    match call.command() {
        Some(command) => underline_spans(command, spans, output::terminal_width()),
        None => format!(
            "{INDENT}{}\n",
            escape_invisible(&output::shorten_to_one_line(&summarize_call(&call.tool, &call.input), 200))
        ),
    }
}

/// Underlines the spans. Shows the lines with spans, or the first lines if there are none.
fn underline_spans(text: &str, spans: &[Range<usize>], width: Option<usize>) -> String {
    let mut lines = Vec::new();
    let mut begin = 0;
    for line in text.split('\n') {
        let within = begin..begin + line.len();
        begin = within.end + 1;
        let marked: Vec<_> = spans.iter().take(MAX_MARKED_SPANS).filter_map(|span| clip_span(span, &within)).collect();
        lines.push((line, marked));
    }
    if lines.iter().any(|(_, marked)| !marked.is_empty()) {
        lines.retain(|(_, marked)| !marked.is_empty());
    }
    let left_out = lines.len().saturating_sub(MAX_SHOWN_LINES);
    let mut shown = String::new();
    for (line, marked) in lines.iter().take(MAX_SHOWN_LINES) {
        render_marked_line(line, marked, width.map(|width| width.saturating_sub(INDENT.len())), &mut shown);
    }
    if left_out > 0 {
        shown.push_str(&format!("{INDENT}… and {}\n", output::format_count(left_out, "more line")));
    }
    shown
}

/// The part of a span on a line, relative to the start of the line.
fn clip_span(span: &Range<usize>, line: &Range<usize>) -> Option<Range<usize>> {
    let (start, end) = (span.start.max(line.start), span.end.min(line.end));
    (start < end).then(|| start - line.start..end - line.start)
}

/// One line and its underlines. If it is too wide, shows the part around the first mark.
fn render_marked_line(line: &str, marked: &[Range<usize>], width: Option<usize>, to: &mut String) {
    // Each character as it is shown, which may be several, and whether it is marked.
    let mut shown: Vec<(char, bool)> = Vec::new();
    for (at, c) in line.char_indices() {
        let is_marked = marked.iter().any(|mark| mark.contains(&at));
        let escaped = escape_invisible(c.encode_utf8(&mut [0; 4]));
        shown.extend(escaped.chars().map(|c| (c, is_marked)));
    }
    if let Some(width) = width.filter(|width| *width > 0 && shown.len() > *width) {
        let first = shown.iter().position(|(_, is_marked)| *is_marked).unwrap_or(0);
        let from = first.saturating_sub(width / 4).min(shown.len() - width);
        shown = shown.split_off(from);
        if from > 0 {
            shown[0].0 = '…';
        }
        if shown.len() > width {
            shown.truncate(width);
            shown[width - 1].0 = '…';
        }
    }
    let text: String = shown.iter().map(|(c, _)| *c).collect();
    let marks: String = shown.iter().map(|(_, is_marked)| if *is_marked { '^' } else { ' ' }).collect();
    to.push_str(&format!("{INDENT}{text}\n"));
    if !marked.is_empty() {
        let marks = apply_style(marks.trim_end(), TextStyle::Bold);
        to.push_str(&format!("{INDENT}{marks}\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn underline_ranges(text: &str, spans: &[(usize, usize)], width: Option<usize>) -> String {
        let spans: Vec<_> = spans.iter().map(|(start, end)| *start..*end).collect();
        underline_spans(text, &spans, width)
    }

    #[test]
    fn the_blamed_spans_are_underlined() {
        insta::assert_snapshot!(underline_ranges("cd x && rm -rf /", &[(8, 16)], None), @"
          cd x && rm -rf /
                  ^^^^^^^^
        ");
        insta::assert_snapshot!(underline_ranges("a; b\nc\nd", &[(0, 1), (3, 4), (7, 8)], None), @"
          a; b
          ^  ^
          d
          ^
        ");
        insta::assert_snapshot!(underline_ranges("if x\nthen y", &[(3, 11)], None), @"
          if x
             ^
          then y
          ^^^^^^
        ");
        insta::assert_snapshot!(underline_ranges("ä\tb\u{1b}[c", &[(2, 4), (6, 7)], None), @r"
          ä\tb\u{1b}[c
           ^^^       ^
        ");
        insta::assert_snapshot!(underline_ranges("nothing", &[], None), @"  nothing");
    }

    #[test]
    fn a_wide_line_is_cut_around_its_mark() {
        let text = format!("{} rm -rf / {}", "a".repeat(50), "b".repeat(50));
        insta::assert_snapshot!(underline_ranges(&text, &[(51, 59)], Some(30)), @"
          …aaaaa rm -rf / bbbbbbbbbbb…
                 ^^^^^^^^
        ");
        let many: String = (0..40).map(|number| format!("line {number}\n")).collect();
        let shown = underline_ranges(&many, &[], None);
        assert_eq!(shown.lines().count(), MAX_SHOWN_LINES + 1);
        assert!(shown.ends_with("… and 29 more lines\n"), "{shown}");
    }
}
