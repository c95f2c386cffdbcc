//! `snell supervise`: runs background hooks to their end. `snell run` and `snell hook` start it, people do not.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use snell::BackgroundResult;
use snell_store::record::redaction;
use snell_store::{EventRecorder, FinishedHookRun};

use super::{DONE, adopt_orphans, block_on};

/// The attempts to find the event that started a hook, once no event waits to be stored, and the longest wait while one does.
const MAX_ATTEMPTS: u32 = 20;
const MAX_WAIT: Duration = Duration::from_secs(5);

/// The pause between attempts.
const RETRY_INTERVAL: Duration = Duration::from_millis(25);

/// Run background hooks to their end
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The data directory
    directory: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    adopt_orphans();
    let mut recorder = EventRecorder::new(&args.directory);
    let report_run = |finished: &BackgroundResult| {
        store_finished_run(&mut recorder, finished);
        // A report has only text and numbers, so it always serializes.
        let mut line = serde_json::to_value(finished).unwrap_or_default();
        redaction::mask_json(&mut line);
        line
    };
    block_on(snell::supervise_jobs(std::io::stdin().lock(), report_run))??;
    Ok(DONE)
}

/// Stores how the hook ended, if the event that started it is recorded or will be.
fn store_finished_run(recorder: &mut EventRecorder, finished: &BackgroundResult) {
    let Some(session_id) = &finished.session_id else {
        return;
    };
    // A recorded event is on disk before its hooks start. It may be the first of its session, or of all.
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
            // If this cannot be stored, the result is still in `background.jsonl`.
            Ok(true) | Err(_) => return,
        }
    }
}

/// Whether the session has records.
fn is_known_session(recorder: &mut EventRecorder, session_id: &str) -> bool {
    if !recorder.path().exists() {
        return false;
    }
    let sessions = recorder.open_store().and_then(|store| store.find_sessions(session_id));
    sessions.is_ok_and(|sessions| !sessions.is_empty())
}
