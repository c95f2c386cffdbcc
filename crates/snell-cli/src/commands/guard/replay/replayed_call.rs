//! A recorded call with its old and new decision.

use serde::Serialize;
use serde_json::Value;
use snell::Timestamp;
use snell_guard::{GuardDecision, GuardJudgement};
use snell_store::Redactions;

use super::recorded_call::RecordedCall;
use crate::commands::guard::{call_args, render, wire};
use crate::output::time;
use crate::output::{
    self, TextStyle, apply_style, display_width, escape_invisible, pad_to_width, shorten_to_one_line, truncate_to_width,
};

/// How many characters of a call are shown without a terminal.
const TEXT_SHOWN: usize = 100;

/// How many characters of an example are shown.
const EXAMPLE_SHOWN: usize = 60;

/// How many characters are shown at least, however narrow the terminal is.
const LEAST_SHOWN: usize = 20;

/// How many characters of a project's name are shown.
const PROJECT_SHOWN: usize = 12;

/// A call with its old and new decision.
#[derive(Debug)]
pub(super) struct ReplayedCall<'a> {
    pub(super) recorded: &'a RecordedCall,
    pub(super) now: GuardJudgement,
    pub(super) redactions: Redactions,
}

/// The same as JSON.
#[derive(Serialize)]
pub(super) struct ReplayedCallView<'a> {
    r#type: &'static str,
    id: i64,
    at: Timestamp,
    agent_id: i64,
    project: &'a str,
    session_id: Option<&'a str>,
    tool: &'a str,
    input: &'a Value,
    cwd: &'a str,
    was: RecordedDecisionView<'a>,
    now: wire::GuardAnswerWire<'a>,
    changed: bool,
    masked: bool,
    shortened: bool,
}

#[derive(Serialize)]
struct RecordedDecisionView<'a> {
    decision: &'static str,
    rule: Option<&'a str>,
}

impl<'a> ReplayedCall<'a> {
    /// The old and the new decision.
    pub(super) fn decisions(&self) -> (GuardDecision, GuardDecision) {
        (self.recorded.decision(), self.now.decision)
    }

    /// Whether the decision changes.
    pub(super) fn is_changed(&self) -> bool {
        let (then, now) = self.decisions();
        then != now
    }

    /// The rule of the new decision, or of the old one if no rule matches now.
    pub(super) fn rule(&self) -> &str {
        let before = self.recorded.verdict.as_ref().map(|verdict| verdict.rule.as_str());
        self.now.rule_id().or(before).unwrap_or("no rule")
    }

    /// The call as one line.
    pub(super) fn summarize(&self) -> String {
        let about =
            call_args::summarize_call(self.recorded.entry.tool.as_deref().unwrap_or_default(), self.recorded.input());
        escape_invisible(&shorten_to_one_line(&about, EXAMPLE_SHOWN))
    }

    pub(super) fn to_view(&self) -> ReplayedCallView<'_> {
        let entry = &self.recorded.entry;
        ReplayedCallView {
            r#type: "call",
            id: entry.id,
            at: entry.at,
            agent_id: entry.agent_id,
            project: &entry.project,
            session_id: entry.session_id.as_deref(),
            tool: entry.tool.as_deref().unwrap_or_default(),
            input: self.recorded.input(),
            cwd: &self.recorded.cwd,
            was: RecordedDecisionView {
                decision: self.recorded.decision().name(),
                rule: self.recorded.verdict.as_ref().map(|verdict| verdict.rule.as_str()),
            },
            now: wire::GuardAnswerWire::from_judgement(&self.now),
            changed: self.is_changed(),
            masked: self.redactions.masked,
            shortened: self.redactions.shortened,
        }
    }

    /// One line: time, agent, project, decisions, rule, call.
    pub(super) fn render_line(&self, now: Timestamp) -> String {
        self.render_within(output::terminal_width(), now)
    }

    fn render_within(&self, terminal: Option<usize>, now: Timestamp) -> String {
        let entry = &self.recorded.entry;
        let (was, is) = self.decisions();
        let turn = format!("{:>5} -> {:<5}", was.name(), is.name());
        let mut rule = format!("  {:<24}  ", escape_invisible(self.rule()));
        let note = describe_redactions(self.redactions);
        let mut before = self.list_prefixes(now);
        let mut room = TEXT_SHOWN;
        if let Some(terminal) = terminal {
            let measure = |before: &[String], rule: &str| {
                let taken = display_width(&before.concat()) + display_width(&turn) + display_width(rule);
                terminal.saturating_sub(taken + display_width(note))
            };
            // A narrow terminal drops the project, the agent and the time, and cuts the rule.
            while measure(&before, &rule) < LEAST_SHOWN && before.pop().is_some() {}
            if measure(&before, &rule) < LEAST_SHOWN {
                let cells = terminal.saturating_sub(display_width(&turn) + display_width(note) + 4);
                rule = format!("  {}  ", truncate_to_width(rule.trim(), cells));
            }
            room = measure(&before, &rule);
        }
        let about = call_args::summarize_call(entry.tool.as_deref().unwrap_or_default(), self.recorded.input());
        let about = escape_invisible(&shorten_to_one_line(&about, room));
        let about = if room < 2 { String::new() } else { truncate_to_width(&about, room) };
        let style = if was == is { TextStyle::Faint } else { render::decision_style(is) };
        let (before, turn, note) = (before.concat(), apply_style(&turn, style), apply_style(note, TextStyle::Faint));
        format!("{}\n", format!("{before}{turn}{rule}{about}{note}").trim_end())
    }

    /// The columns before the decisions, the most important first.
    fn list_prefixes(&self, now: Timestamp) -> Vec<String> {
        let entry = &self.recorded.entry;
        let project = truncate_to_width(&escape_invisible(&entry.project), PROJECT_SHOWN);
        vec![
            format!("{}  ", time::format_time_short(entry.at, now)),
            format!("{:>3}  ", entry.agent_id),
            format!("{}  ", pad_to_width(&project, PROJECT_SHOWN)),
        ]
    }
}

/// Describes which parts of the call were not recorded.
fn describe_redactions(redactions: Redactions) -> &'static str {
    match (redactions.masked, redactions.shortened) {
        (false, false) => "",
        (true, false) => "  (recorded with secrets masked)",
        (false, true) => "  (recorded shortened)",
        (true, true) => "  (recorded shortened, with secrets masked)",
    }
}
