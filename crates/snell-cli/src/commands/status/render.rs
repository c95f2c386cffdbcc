//! Renders the status as text.

use snell::Timestamp;
use snell_store::StoreTotals;
use snell_store::queue::outbox::ReceiverBacklog;

use super::failed_hooks::describe_failed_hooks;
use super::{AttentionItem, StatusLines, StatusReport, describe_profile};
use crate::output::time;
use crate::output::{self, TextStyle};
use crate::record::record_event::find_daemon_variable;

/// The width of the labels.
const LABEL_CELLS: usize = 14;

/// Prints the status.
pub(super) fn print_status(status: &StatusReport, now: Timestamp) {
    for (label, text) in build_status_lines(status, now) {
        output::print_field(label, LABEL_CELLS, &text);
    }
    for agent in &status.waiting_agents {
        let since = time::format_elapsed(agent.state_since, now);
        let why = output::shorten_to_one_line(&agent.why, 80);
        let text = format!("agent {} in {}, since {since}: {why}", agent.agent_id, agent.project);
        let label = output::apply_style(&format!("{:<LABEL_CELLS$}", "Waits for you"), TextStyle::Urgent);
        output::print_text(&format!("{label} {}\n", output::escape_invisible(&text)));
    }
    if status.attention.is_empty() {
        return;
    }
    output::print_line("");
    output::print_heading("Needs attention:");
    for AttentionItem { what, remedy } in &status.attention {
        output::print_line(&format!("  {what}"));
        output::print_faint(&format!("      hint: {remedy}"));
    }
}

/// The status as lines with labels.
pub(super) fn build_status_lines(status: &StatusReport, now: Timestamp) -> StatusLines {
    let database = &status.database;
    let path = database.path.display();
    let mut lines = vec![(
        "Database",
        match database.state {
            "ok" => format!("{path}, {}", format_size(database.bytes)),
            "none" => format!("{path}: no event has been recorded yet"),
            state => format!("{path}: {state}"),
        },
    )];
    if let Some(totals) = &status.totals {
        lines.extend(build_totals_lines(totals, now));
    }
    lines.extend(describe_failed_hooks(&status.failed_hooks, now).map(|text| ("Hooks", text)));
    lines.extend(status.profile.map(|active| ("Profile", describe_profile(active))));
    let keeping = if status.recording { "" } else { " (nothing is recorded, because `track` is off)" };
    lines.push(("Kept for", format!("{}{keeping}", status.keep)));
    let daemon = match find_daemon_variable() {
        _ if status.scribe_running => "running".to_owned(),
        Some((name, value)) if value == "off" => format!("off ({name}=off)"),
        _ => "not running (the next hook starts it)".to_owned(),
    };
    lines.push(("Daemon", daemon));
    lines.push(("Waiting", format!("{} to be stored", output::format_count(status.pending, "event"))));
    for ReceiverBacklog { url, waiting, since } in &status.outbox.receivers {
        let (number, since) = (output::format_count(*waiting, "event"), time::format_elapsed(*since, now));
        lines.push(("To be sent", format!("{number} to {url}, since {since}")));
    }
    lines.extend(status.backups.map(|totals| {
        let number = output::format_count(totals.count, "backup");
        ("Saved files", format!("{number}, {} (snell undo)", format_size(totals.bytes)))
    }));
    lines.extend(status.telemetry.iter().map(|telemetry| ("Telemetry", telemetry.describe(now))));
    let files: Vec<_> = status.project.files.iter().map(|file| format!("{} is {}", file.shown, file.state)).collect();
    let files = if files.is_empty() { "no file needs trust".to_owned() } else { files.join(", ") };
    lines.push(("Project", format!("{}: {files}", status.project.directory.display())));
    lines.push(("Configuration", output::format_count(status.configuration_errors, "error")));
    lines
}

fn build_totals_lines(totals: &StoreTotals, now: Timestamp) -> StatusLines {
    let count = |number: i64, thing: &str| output::format_count(usize::try_from(number).unwrap_or(0), thing);
    let agents: Vec<_> = totals.agents.iter().filter(|(_, number)| *number > 0).collect();
    let agents: Vec<_> = agents.iter().map(|(state, number)| format!("{number} {state}")).collect();
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
        let ago = time::format_elapsed(last, now);
        lines.push(("Events", format!("from {} to {} ({ago} ago)", time::format_time(first), time::format_time(last))));
    }
    lines.push(("Agents", if agents.is_empty() { "none".into() } else { agents.join(", ") }));
    lines
}

/// A size for people.
pub(crate) fn format_size(bytes: u64) -> String {
    let (unit, letter) = match bytes {
        0..1024 => return format!("{bytes} B"),
        1024..1_048_576 => (1024, "KiB"),
        1_048_576..1_073_741_824 => (1_048_576, "MiB"),
        _ => (1_073_741_824, "GiB"),
    };
    let tenths = bytes * 10 / unit;
    format!("{}.{} {letter}", tenths / 10, tenths % 10)
}
