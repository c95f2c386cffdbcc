//! Problems that need attention, with their remedies.

use std::path::Path;
use std::time::Duration;

use snell::Timestamp;
use snell_store::queue::outbox::ReceiverBacklog;
use snell_store::{DataDirReport, MisplacedFile};

use super::render::format_size;
use super::{AttentionItem, FileTrustStatus, OutboxStatus};
use crate::env::{format_lint_command, format_trust_command};
use crate::output;
use crate::output::time;
use crate::telemetry::TelemetryReport;

/// A disk with less free space than this is nearly full.
const LOW_DISK_BYTES: u64 = 16 * 1024 * 1024;

/// Events that wait longer than this to be sent need attention.
const LONG_WAIT: Duration = Duration::from_secs(10 * 60);

/// Problems with the files of the data directory.
pub(super) fn find_file_problems(data_dir: &DataDirReport) -> Vec<AttentionItem> {
    let mut problems = Vec::new();
    if data_dir.is_read_only {
        problems.push(AttentionItem {
            what: "cannot write to the directory of the database".into(),
            remedy: "make the directory writable; until then events are lost".into(),
        });
    }
    if let Some(free) = data_dir.free_bytes.filter(|free| *free < LOW_DISK_BYTES) {
        problems.push(AttentionItem {
            what: format!("the disk of the database has only {} left", format_size(free)),
            remedy: "free some space, because events are lost when the disk is full".into(),
        });
    }
    for aside in &data_dir.set_aside {
        let path = aside.path.display();
        let (at, bytes) = (time::format_time(aside.written_at), format_size(aside.bytes));
        problems.push(AttentionItem {
            what: format!("a damaged database was moved to {path} (last written {at}, {bytes})"),
            remedy: format!(
                "run `sqlite3 '{path}' .recover > recovered.sql` to recover its data, or `rm '{path}'*` to delete it"
            ),
        });
    }
    if let Some(note) = data_dir.unreadable_events.first() {
        let number = output::format_count(data_dir.unreadable_events.len(), "event");
        let directory = note.parent().unwrap_or(Path::new("/")).display();
        problems.push(AttentionItem {
            what: format!("{number} in {directory} cannot be parsed, and will not be stored"),
            remedy: format!("review the files, then delete them: rm -r '{directory}'"),
        });
    }
    for MisplacedFile { path, what } in &data_dir.misplaced {
        let path = path.display();
        problems.push(AttentionItem {
            what: format!("cannot use {path}: {what}"),
            remedy: format!("remove it: rm -r '{path}'"),
        });
    }
    if let Some(first) = data_dir.open_to_others.first() {
        let others = data_dir.open_to_others.len() - 1;
        let more =
            if others > 0 { format!(" and {} in it", output::format_count(others, "file")) } else { String::new() };
        problems.push(AttentionItem {
            what: format!("other users of this machine can read {}{more}", first.display()),
            remedy: format!("run: chmod -R go= '{}'", first.display()),
        });
    }
    problems
}

/// Problems with receivers.
pub(super) fn find_forwarding_problems(outbox: &OutboxStatus, now: Timestamp) -> Vec<AttentionItem> {
    let is_long = |since: Timestamp| now.duration_since(since).unsigned_abs() > LONG_WAIT;
    let long = outbox.receivers.iter().filter(|waiting| is_long(waiting.since));
    let mut problems: Vec<_> = long
        .map(|ReceiverBacklog { url, waiting, .. }| AttentionItem {
            what: format!("cannot send {} to {url}", output::format_count(*waiting, "event")),
            remedy: "check that the receiver runs and accepts events; Snell tries again with the next event".into(),
        })
        .collect();
    if let Some(directory) = outbox.refused.first().and_then(|path| path.parent()) {
        let number = output::format_count(outbox.refused.len(), "event");
        let directory = directory.display();
        problems.push(AttentionItem {
            what: format!("receivers refused {number}, which are now in {directory}"),
            remedy: format!(
                "read \"answer\" in the files, then send them again with `snell notify --retry`, or delete them with \
                 `rm -r '{directory}'`"
            ),
        });
    }
    problems
}

/// Signals that the collector does not take.
pub(super) fn find_telemetry_problems(telemetry: &TelemetryReport) -> Vec<AttentionItem> {
    let remedy = "fix [telemetry] or the collector; Snell tries again, and what waits is sent then";
    let failures = telemetry.list_failures().into_iter();
    failures.map(|what| AttentionItem { what, remedy: remedy.into() }).collect()
}

/// Errors in the configuration, if there are any.
pub(super) fn describe_config_errors(errors: usize, project: &Path) -> Option<AttentionItem> {
    (errors > 0).then(|| AttentionItem {
        what: format!("{} in the configuration", output::format_count(errors, "error")),
        remedy: format!("run `{}`", format_lint_command(project)),
    })
}

/// A file whose hooks do not run because it is not trusted.
pub(super) fn describe_untrusted_file(file: &FileTrustStatus, project: &Path) -> AttentionItem {
    let state = match file.state {
        "changed" => "has changed since you trusted it",
        _ => "is not trusted",
    };
    AttentionItem {
        what: format!(
            "{} {state}, so its {} not run in agents",
            file.shown,
            if file.hooks == 1 { "hook does".into() } else { format!("{} hooks do", file.hooks) }
        ),
        remedy: format!("review the file, then run `{}`", format_trust_command(project, "")),
    }
}
