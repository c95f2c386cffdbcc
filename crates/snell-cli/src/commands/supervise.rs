//! `snell supervise`: stays with hooks that nobody waits for. Started by `snell run` and `snell hook`, never by people.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use snell::Finished;
use snell_store::{FinishedRun, Recorder, mask};

use super::{DONE, adopt_orphans, block_on};

/// How often the event that started a hook is looked for once nothing waits to be stored, and how long while something does.
const ATTEMPTS: u32 = 20;
const PATIENCE: Duration = Duration::from_secs(5);

/// How long is waited before it is looked for again.
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(25);

/// Run hooks that a caller did not wait for
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where Snell keeps what it records
    directory: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    adopt_orphans();
    let mut recorder = Recorder::new(&args.directory);
    let telling = |finished: &Finished| {
        tell_store(&mut recorder, finished);
        // A report is all text and numbers, so it can always be written.
        let mut line = serde_json::to_value(finished).unwrap_or_default();
        mask::mask_json(&mut line);
        line
    };
    block_on(snell::supervise(std::io::stdin().lock(), telling))??;
    Ok(DONE)
}

/// If the store knows of the event that started the hook, or will, it learns how the hook ended.
fn tell_store(recorder: &mut Recorder, finished: &Finished) {
    let Some(session_id) = &finished.session_id else {
        return;
    };
    // Whoever records an event notes it before its hooks are started. It may be the first of its session, or of all.
    if !is_noted(recorder) && !is_known(recorder, session_id) {
        return;
    }
    let run = FinishedRun::of(finished, session_id);
    let (began, mut attempts) = (Instant::now(), ATTEMPTS);
    // A hook may end before the event that started it is stored.
    while attempts > 0 && began.elapsed() < PATIENCE {
        attempts -= u32::from(!is_noted(recorder));
        match recorder.store().and_then(|store| store.finish_run(&run)) {
            Ok(false) => std::thread::sleep(BETWEEN_ATTEMPTS),
            // If it cannot be stored, its outcome stands in the record all the same.
            Ok(true) | Err(_) => return,
        }
    }
}

/// Whether an event waits to be stored.
fn is_noted(recorder: &Recorder) -> bool {
    !recorder.notes().is_empty()
}

/// Whether something was recorded of a session.
fn is_known(recorder: &mut Recorder, session_id: &str) -> bool {
    if !recorder.path().exists() {
        return false;
    }
    let sessions = recorder.store().and_then(|store| store.sessions(session_id));
    sessions.is_ok_and(|sessions| !sessions.is_empty())
}
