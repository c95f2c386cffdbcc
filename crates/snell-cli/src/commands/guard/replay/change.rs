//! What a call was judged like, and what it is judged like now.

use serde::Serialize;
use serde_json::Value;
use snell::Timestamp;
use snell_guard::{Judgement, Verdict};
use snell_store::Losses;

use super::recorded::Recorded;
use crate::commands::guard::{call, shown, wire};
use crate::output::{self, Style, harmless, in_brief, padded, shortened, styled, width};
use crate::times;

/// How much is shown of what a call is about, where no terminal sets the limit.
const TEXT_SHOWN: usize = 100;

/// How much of it is shown at least, however narrow the terminal is.
const LEAST_SHOWN: usize = 20;

/// How much is shown of a project's name.
const PROJECT_SHOWN: usize = 12;

/// A call, then and now.
#[derive(Debug)]
pub(super) struct Change<'a> {
    recorded: &'a Recorded,
    now: Judgement,
    losses: Losses,
}

/// The same, for programs.
#[derive(Serialize)]
pub(super) struct ChangeView<'a> {
    r#type: &'static str,
    id: i64,
    at: Timestamp,
    agent_id: i64,
    project: &'a str,
    session_id: Option<&'a str>,
    tool: &'a str,
    input: &'a Value,
    cwd: &'a str,
    was: Was<'a>,
    now: wire::Answer<'a>,
    changed: bool,
    masked: bool,
    shortened: bool,
}

#[derive(Serialize)]
struct Was<'a> {
    decision: &'static str,
    rule: Option<&'a str>,
}

impl<'a> Change<'a> {
    pub(super) fn of(recorded: &'a Recorded, losses: Losses, now: Judgement) -> Self {
        Self { recorded, now, losses }
    }

    /// From what to what.
    pub(super) fn turn(&self) -> (Verdict, Verdict) {
        (self.recorded.decided(), self.now.decision)
    }

    /// Whether it is decided differently.
    pub(super) fn is_one(&self) -> bool {
        let (then, now) = self.turn();
        then != now
    }

    /// Whether what is judged now is what was judged then.
    pub(super) fn losses(&self) -> Losses {
        self.losses
    }

    /// The rule that says so: today's, or that of then if nothing is said today.
    pub(super) fn rule(&self) -> &str {
        let before = self.recorded.said.as_ref().map(|said| said.rule.as_str());
        self.now.rule.or(before).unwrap_or("no rule")
    }

    pub(super) fn for_programs(&self) -> ChangeView<'_> {
        let entry = &self.recorded.entry;
        ChangeView {
            r#type: "call",
            id: entry.id,
            at: entry.at,
            agent_id: entry.agent_id,
            project: &entry.project,
            session_id: entry.session_id.as_deref(),
            tool: entry.tool.as_deref().unwrap_or_default(),
            input: self.recorded.input(),
            cwd: &self.recorded.cwd,
            was: Was {
                decision: self.recorded.decided().name(),
                rule: self.recorded.said.as_ref().map(|said| said.rule.as_str()),
            },
            now: wire::Answer::of(&self.now),
            changed: self.is_one(),
            masked: self.losses.masked,
            shortened: self.losses.shortened,
        }
    }

    /// A line: when, whose, what became of it, by which rule, what it is about.
    pub(super) fn for_people(&self, now: Timestamp) -> String {
        let entry = &self.recorded.entry;
        let (was, is) = self.turn();
        let before = format!(
            "{}  {:>3}  {}  ",
            times::shown_on(entry.at, now),
            entry.agent_id,
            padded(&shortened(&harmless(&entry.project), PROJECT_SHOWN), PROJECT_SHOWN),
        );
        let turn = format!("{:>5} -> {:<5}", was.name(), is.name());
        let rule = format!("  {:<24}  ", harmless(self.rule()));
        let note = missing(self.losses);
        let room = output::terminal_width().map_or(TEXT_SHOWN, |terminal| {
            let taken = width(&before) + width(&turn) + width(&rule) + width(note);
            terminal.saturating_sub(taken).max(LEAST_SHOWN)
        });
        let about = call::summary(entry.tool.as_deref().unwrap_or_default(), self.recorded.input());
        let about = shortened(&harmless(&in_brief(&about, room)), room);
        let style = if was == is { Style::Faint } else { shown::style(is) };
        let line = format!(
            "{before}{}{rule}{about}{}",
            styled(&turn, style),
            styled(note, Style::Faint)
        );
        format!("{}\n", line.trim_end())
    }
}

/// What is not there any more of what was judged then.
fn missing(losses: Losses) -> &'static str {
    match (losses.masked, losses.shortened) {
        (false, false) => "",
        (true, false) => "  (recorded with secrets masked)",
        (false, true) => "  (recorded shortened)",
        (true, true) => "  (recorded shortened, with secrets masked)",
    }
}
