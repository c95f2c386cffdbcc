//! What needs attention, and what to do about it.

use std::path::Path;
use std::time::Duration;

use snell::Timestamp;
use snell_store::queue::outbox::ReceiverBacklog;
use snell_store::{DataDirReport, MisplacedFile};

use super::render::format_size;
use super::{AttentionItem, FileTrustStatus, OutboxStatus};
use crate::env::format_trust_command;
use crate::output;
use crate::output::time;

/// A disk with less room than this will soon take nothing more.
const LOW_DISK_BYTES: u64 = 16 * 1024 * 1024;

/// Events that could not be sent for so long need a person.
const LONG_WAIT: Duration = Duration::from_secs(10 * 60);

/// What is wrong with the files themselves.
pub(super) fn find_file_problems(premises: &DataDirReport) -> Vec<AttentionItem> {
    let mut faults = Vec::new();
    if premises.is_read_only {
        faults.push(AttentionItem {
            what: "the directory of the database cannot be written".into(),
            remedy: "give yourself the right to write there; what cannot be recorded is lost".into(),
        });
    }
    if let Some(free) = premises.free_bytes.filter(|free| *free < LOW_DISK_BYTES) {
        faults.push(AttentionItem {
            what: format!("the disk of the database has only {} left", format_size(free)),
            remedy: "make room; what cannot be recorded is lost".into(),
        });
    }
    for aside in &premises.set_aside {
        let path = aside.path.display();
        let (at, bytes) = (time::format_time(aside.written_at), format_size(aside.bytes));
        faults.push(AttentionItem {
            what: format!("a damaged database was set aside: {path} (last written {at}, {bytes})"),
            remedy: format!(
                "save what can be saved: sqlite3 '{path}' .recover > recovered.sql; or delete it: rm '{path}'*"
            ),
        });
    }
    if let Some(note) = premises.unreadable_events.first() {
        let number = output::format_count(premises.unreadable_events.len(), "event");
        let directory = note.parent().unwrap_or(Path::new("/")).display();
        faults.push(AttentionItem {
            what: format!("{number} in {directory} cannot be understood, and will not be stored"),
            remedy: format!("look at them, then delete them: rm -r '{directory}'"),
        });
    }
    for MisplacedFile { path, what } in &premises.misplaced {
        let path = path.display();
        faults.push(AttentionItem {
            what: format!("{path} cannot be used: {what}"),
            remedy: format!("remove it: rm -r '{path}'"),
        });
    }
    if let Some(first) = premises.open_to_others.first() {
        let others = premises.open_to_others.len() - 1;
        let more =
            if others > 0 { format!(" and {} in it", output::format_count(others, "file")) } else { String::new() };
        faults.push(AttentionItem {
            what: format!("others on this machine may look into {}{more}", first.display()),
            remedy: format!("run: chmod -R go= '{}'", first.display()),
        });
    }
    faults
}

/// What keeps events from reaching receivers elsewhere.
pub(super) fn find_forwarding_problems(outbox: &OutboxStatus, now: Timestamp) -> Vec<AttentionItem> {
    let is_long = |since: Timestamp| now.duration_since(since).unsigned_abs() > LONG_WAIT;
    let long = outbox.receivers.iter().filter(|waiting| is_long(waiting.since));
    let mut faults: Vec<_> = long
        .map(|ReceiverBacklog { url, waiting, .. }| AttentionItem {
            what: format!("{} cannot be sent to {url}", output::format_count(*waiting, "event")),
            remedy: "see that it runs and takes them; they are sent with the next event".into(),
        })
        .collect();
    if let Some(directory) = outbox.refused.first().and_then(|path| path.parent()) {
        let number = output::format_count(outbox.refused.len(), "event");
        let directory = directory.display();
        faults.push(AttentionItem {
            what: format!("{number} in {directory} were refused by their receiver, and are not sent again by themselves"),
            remedy: format!(
                "look at the \"answer\" in them, then send them again: snell notify --retry; or delete them: rm -r '{directory}'"
            ),
        });
    }
    faults
}

/// A file whose hooks do not run because it is not trusted.
pub(super) fn describe_untrusted_file(file: &FileTrustStatus, project: &Path) -> AttentionItem {
    let state = match file.state {
        "changed" => "was changed since it was trusted",
        _ => "is not trusted",
    };
    AttentionItem {
        what: format!(
            "{} {state}, so its {} not run in agents",
            file.shown,
            if file.hooks == 1 { "hook does".into() } else { format!("{} hooks do", file.hooks) }
        ),
        remedy: format!("look at it, then run: {}", format_trust_command(project, "")),
    }
}
