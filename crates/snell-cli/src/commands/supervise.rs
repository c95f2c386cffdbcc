//! `snell supervise`: stays with hooks that nobody waits for. Started by `snell run` and `snell hook`, never by people.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use snell::BackgroundResult;
use snell_store::record::redaction;
use snell_store::{EventRecorder, FinishedHookRun};

use super::{DONE, adopt_orphans, block_on};

/// How often the event that started a hook is looked for once nothing waits to be stored, and how long while something does.
const MAX_ATTEMPTS: u32 = 20;
const MAX_WAIT: Duration = Duration::from_secs(5);

/// How long is waited before it is looked for again.
const RETRY_INTERVAL: Duration = Duration::from_millis(25);

/// Run hooks that a caller did not wait for
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where Snell keeps what it records
    directory: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    adopt_orphans();
    let mut recorder = EventRecorder::new(&args.directory);
    let telling = |finished: &BackgroundResult| {
        store_finished_run(&mut recorder, finished);
        // A report is all text and numbers, so it can always be written.
        let mut line = serde_json::to_value(finished).unwrap_or_default();
        redaction::mask_json(&mut line);
        line
    };
    block_on(snell::supervise_jobs(std::io::stdin().lock(), telling))??;
    Ok(DONE)
}

/// If the store knows of the event that started the hook, or will, it learns how the hook ended.
fn store_finished_run(recorder: &mut EventRecorder, finished: &BackgroundResult) {
    let Some(session_id) = &finished.session_id else {
        return;
    };
    // Whoever records an event notes it before its hooks are started. It may be the first of its session, or of all.
    if recorder.pending().is_empty() && !is_known_session(recorder, session_id) {
        return;
    }
    let run = FinishedHookRun::from_finished(finished, session_id);
    let (began, mut attempts) = (Instant::now(), MAX_ATTEMPTS);
    // A hook may end before the event that started it is stored.
    while attempts > 0 && began.elapsed() < MAX_WAIT {
        attempts -= u32::from(recorder.pending().is_empty());
        match recorder.open_store().and_then(|store| store.finish_hook_run(&run)) {
            Ok(false) => std::thread::sleep(RETRY_INTERVAL),
            // If it cannot be stored, its outcome stands in the record all the same.
            Ok(true) | Err(_) => return,
        }
    }
}

/// Whether something was recorded of a session.
fn is_known_session(recorder: &mut EventRecorder, session_id: &str) -> bool {
    if !recorder.path().exists() {
        return false;
    }
    let sessions = recorder.open_store().and_then(|store| store.find_sessions(session_id));
    sessions.is_ok_and(|sessions| !sessions.is_empty())
}
