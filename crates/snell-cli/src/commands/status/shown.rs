//! The status as people are shown it.

use snell::Timestamp;
use snell_store::Totals;
use snell_store::outbox::Waiting;

use super::{Attention, Status};
use crate::output::{self, Style};
use crate::recording::scribe_is_off;
use crate::times;

/// Prints it.
pub(super) fn show(status: &Status, now: Timestamp) {
    for (label, text) in lines(status, now) {
        output::line(&format!("{label:<14} {text}"));
    }
    for agent in &status.waiting_agents {
        let since = times::how_long(agent.state_since, now);
        let why = output::in_brief(&agent.why, 80);
        let text = format!("agent {} in {}, since {since}: {why}", agent.agent_id, agent.project);
        let label = output::styled(&format!("{:<14}", "Waits for you"), Style::Urgent);
        output::text(&format!("{label} {}\n", output::harmless(&text)));
    }
    if status.attention.is_empty() {
        return;
    }
    output::line("");
    output::heading("Needs attention:");
    for Attention { what, remedy } in &status.attention {
        output::line(&format!("  {what}"));
        output::faint(&format!("      {remedy}"));
    }
}

/// How things are, each under its label.
pub(super) fn lines(status: &Status, now: Timestamp) -> Vec<(&'static str, String)> {
    let database = &status.database;
    let path = database.path.display();
    let mut lines = vec![(
        "Database",
        match database.state {
            "ok" => format!("{path}, {}", size(database.bytes)),
            "none" => format!("{path}: nothing has been recorded yet; `snell docs guest` shows how it begins"),
            state => format!("{path}: {state}"),
        },
    )];
    if let Some(totals) = &status.totals {
        lines.extend(recorded(totals, now));
    }
    let keeping = if status.recording {
        ""
    } else {
        "; nothing is recorded, because `track` is off"
    };
    lines.push(("Kept for", format!("{}{keeping}", status.keep)));
    let scribe = match (status.scribe_running, scribe_is_off()) {
        (true, _) => "running",
        (false, true) => "switched off here (SNELL_SCRIBE=off)",
        (false, false) => "not running; the next hook starts one",
    };
    lines.push(("Scribe", scribe.into()));
    lines.push((
        "Waiting",
        format!("{} to be stored", output::count(status.pending, "event")),
    ));
    for Waiting { url, waiting, since } in &status.outbox.receivers {
        let (number, since) = (output::count(*waiting, "event"), times::how_long(*since, now));
        lines.push(("To be sent", format!("{number} to {url}, since {since}")));
    }
    let files: Vec<_> = status
        .project
        .files
        .iter()
        .map(|file| format!("{} is {}", file.shown, file.state))
        .collect();
    let files = if files.is_empty() {
        "no file that needs trust".to_owned()
    } else {
        files.join(", ")
    };
    lines.push(("Project", format!("{}: {files}", status.project.directory.display())));
    lines.push(("Configuration", output::count(status.configuration_errors, "error")));
    lines
}

fn recorded(totals: &Totals, now: Timestamp) -> Vec<(&'static str, String)> {
    let count = |number: i64, thing: &str| output::count(usize::try_from(number).unwrap_or(0), thing);
    let agents: Vec<_> = totals.agents.iter().filter(|(_, number)| *number > 0).collect();
    let agents: Vec<_> = agents
        .iter()
        .map(|(state, number)| format!("{number} {state}"))
        .collect();
    let mut lines = vec![(
        "Recorded",
        format!(
            "{} ({} blocked), {}, {}, {}",
            count(totals.events, "event"),
            totals.blocked,
            count(totals.turns, "turn"),
            count(totals.hook_runs, "hook run"),
            count(totals.projects, "project")
        ),
    )];
    if let (Some(first), Some(last)) = (totals.first_event_at, totals.last_event_at) {
        let ago = times::how_long(last, now);
        lines.push((
            "Events",
            format!("from {} to {} ({ago} ago)", times::shown(first), times::shown(last)),
        ));
    }
    lines.push((
        "Agents",
        if agents.is_empty() {
            "none".into()
        } else {
            agents.join(", ")
        },
    ));
    lines
}

/// How large something is, for people.
pub(super) fn size(bytes: u64) -> String {
    let (unit, letter) = match bytes {
        0..1024 => return format!("{bytes} B"),
        1024..1_048_576 => (1024, "KiB"),
        1_048_576..1_073_741_824 => (1_048_576, "MiB"),
        _ => (1_073_741_824, "GiB"),
    };
    let tenths = bytes * 10 / unit;
    format!("{}.{} {letter}", tenths / 10, tenths % 10)
}
