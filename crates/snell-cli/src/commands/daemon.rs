//! `snell scribe`: keeps the database open for a while, so that hooks need not. Started by `snell hook`, never by people.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use snell_store::daemon::{DaemonSettings, flush_daemon, run_daemon};

use super::{DONE, block_on};

/// Keep the database open for hooks, for a while
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where Snell keeps what it records
    directory: PathBuf,
    /// How long records are kept, in seconds
    #[arg(long)]
    keep: Option<u64>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    // It outlives the terminal that its first hook was called from.
    let _ = rustix::process::setsid();
    let settings = DaemonSettings { keep: args.keep.map(Duration::from_secs), ..DaemonSettings::default() };
    static STOP_REQUESTED: AtomicBool = AtomicBool::new(false);
    let directory = args.directory.clone();
    let (ready, listens) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let told_to_end = block_on(async {
            let _ = ready.send(());
            std::future::pending::<()>().await;
        });
        // Whoever is told to end stores first what it was handed.
        if told_to_end.is_err() {
            STOP_REQUESTED.store(true, Ordering::Relaxed);
            flush_daemon(&directory);
        }
    });
    // Nobody may come before we can be told to end. If that cannot be, we do without.
    let _ = listens.recv();
    run_daemon(&args.directory, settings, &STOP_REQUESTED)?;
    Ok(DONE)
}
