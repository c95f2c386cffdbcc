//! What needs attention, and what to do about it.

use std::path::Path;
use std::time::Duration;

use snell::Timestamp;
use snell_store::outbox::Waiting;
use snell_store::{MisplacedFile, Premises};

use super::shown::size;
use super::{Attention, Letters, TrustedFile};
use crate::around::trust_of;
use crate::output;
use crate::times;

/// A disk with less room than this will soon take nothing more.
const LITTLE_ROOM_BYTES: u64 = 16 * 1024 * 1024;

/// Events that could not be sent for so long need a person.
const LONG_WAIT: Duration = Duration::from_secs(10 * 60);

/// What is wrong with the files themselves.
pub(super) fn of_files(premises: &Premises) -> Vec<Attention> {
    let mut faults = Vec::new();
    if premises.is_read_only {
        faults.push(Attention {
            what: "the directory of the database cannot be written".into(),
            remedy: "give yourself the right to write there; what cannot be recorded is lost".into(),
        });
    }
    if let Some(free) = premises.free_bytes.filter(|free| *free < LITTLE_ROOM_BYTES) {
        faults.push(Attention {
            what: format!("the disk of the database has only {} left", size(free)),
            remedy: "make room; what cannot be recorded is lost".into(),
        });
    }
    for aside in &premises.set_aside {
        let path = aside.path.display();
        let (at, bytes) = (times::shown(aside.written_at), size(aside.bytes));
        faults.push(Attention {
            what: format!("a damaged database was set aside: {path} (last written {at}, {bytes})"),
            remedy: format!(
                "save what can be saved: sqlite3 '{path}' .recover > recovered.sql; or delete it: rm '{path}'*"
            ),
        });
    }
    if let Some(note) = premises.unreadable_notes.first() {
        let number = output::count(premises.unreadable_notes.len(), "event");
        let directory = note.parent().unwrap_or(Path::new("/")).display();
        faults.push(Attention {
            what: format!("{number} in {directory} cannot be understood, and will not be stored"),
            remedy: format!("look at them, then delete them: rm -r '{directory}'"),
        });
    }
    for MisplacedFile { path, what } in &premises.misplaced {
        let path = path.display();
        faults.push(Attention {
            what: format!("{path} cannot be used: {what}"),
            remedy: format!("remove it: rm -r '{path}'"),
        });
    }
    if let Some(first) = premises.open_to_others.first() {
        let others = premises.open_to_others.len() - 1;
        let more = if others > 0 {
            format!(" and {} in it", output::count(others, "file"))
        } else {
            String::new()
        };
        faults.push(Attention {
            what: format!("others on this machine may look into {}{more}", first.display()),
            remedy: format!("run: chmod -R go= '{}'", first.display()),
        });
    }
    faults
}

/// What keeps events from reaching receivers elsewhere.
pub(super) fn of_forwarding(outbox: &Letters, now: Timestamp) -> Vec<Attention> {
    let is_long = |since: Timestamp| now.duration_since(since).unsigned_abs() > LONG_WAIT;
    let long = outbox.receivers.iter().filter(|waiting| is_long(waiting.since));
    let mut faults: Vec<_> = long
        .map(|Waiting { url, waiting, .. }| Attention {
            what: format!("{} cannot be sent to {url}", output::count(*waiting, "event")),
            remedy: "see that it runs and takes them; they are sent with the next event".into(),
        })
        .collect();
    if let Some(directory) = outbox.refused.first().and_then(|path| path.parent()) {
        let number = output::count(outbox.refused.len(), "event");
        let directory = directory.display();
        faults.push(Attention {
            what: format!("{number} in {directory} were refused by their receiver, and are not sent again by themselves"),
            remedy: format!(
                "look at the \"answer\" in them, then send them again: snell notify --retry; or delete them: rm -r '{directory}'"
            ),
        });
    }
    faults
}

/// A file whose hooks do not run because it is not trusted.
pub(super) fn of_withheld(file: &TrustedFile, project: &Path) -> Attention {
    let state = match file.state {
        "changed" => "was changed since it was trusted",
        _ => "is not trusted",
    };
    Attention {
        what: format!(
            "{} {state}, so its {} not run in agents",
            file.shown,
            if file.hooks == 1 {
                "hook does".into()
            } else {
                format!("{} hooks do", file.hooks)
            }
        ),
        remedy: format!("look at it, then run: {}", trust_of(project, "")),
    }
}
