//! `snell daemon`: works for hooks for a while. `snell hook` starts it, people do not.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use snell_store::EventRecorder;
use snell_store::daemon::{DaemonSettings, DaemonSignals, ForwarderSettings, flush_daemon, run_daemon, run_forwarder};
use snell_store::queue::outbox::{Outbox, OutboxReceiver};

use super::{DONE, block_on};
use crate::backup::BackupStore;
use crate::dispatch::{ConnectionLifetime, DispatchSignals, Dispatcher, PageLink};
use crate::env::caller::CallerEnv;
use crate::guard::session::prune_session_files;
use crate::record::http_delivery::OutboxHttpClient;
use crate::telemetry::TelemetryExporter;

/// Keep the database open for hooks, or send their events, in the background
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The data directory
    directory: PathBuf,
    /// The job
    #[arg(long, value_enum, default_value_t = JobArg::Store)]
    job: JobArg,
    /// Retention period of records, in seconds
    #[arg(long)]
    keep: Option<u64>,
    /// Receiver of the hook that started the daemon
    #[arg(long)]
    url: Option<String>,
    /// File with the token of that receiver
    #[arg(long)]
    token_file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum JobArg {
    Store,
    Forward,
}

impl Args {
    /// The arguments of `snell forward`, the older name of one job.
    pub(crate) fn with_forward_job(self) -> Self {
        Self { job: JobArg::Forward, ..self }
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    // The daemon outlives the terminal of its first hook.
    let _ = rustix::process::setsid();
    match args.job {
        JobArg::Store => store_events(&args.directory, args.keep.map(Duration::from_secs)),
        JobArg::Forward => {
            let receiver = args.url.clone().map(|url| OutboxReceiver { url, token_file: args.token_file.clone() });
            forward_events(&args.directory, receiver)
        }
    }
}

fn store_events(directory: &Path, keep: Option<Duration>) -> anyhow::Result<u8> {
    static STOP_REQUESTED: AtomicBool = AtomicBool::new(false);
    let settings = DaemonSettings { keep, ..DaemonSettings::default() };
    let own_directory = directory.to_owned();
    let (ready, listens) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let interrupted = block_on(async {
            let _ = ready.send(());
            std::future::pending::<()>().await;
        });
        // Before it ends, the daemon stores the events that it accepted.
        if interrupted.is_err() {
            STOP_REQUESTED.store(true, Ordering::Relaxed);
            flush_daemon(&own_directory);
        }
    });
    // Signal handlers must be in place before the first request. Without them, the daemon runs anyway.
    let _ = listens.recv();
    let signals = Arc::new(DispatchSignals::default());
    let database = EventRecorder::database_path(directory);
    let exporter = TelemetryExporter::start(database.clone()).ok();
    // Without a dispatcher, the next daemon reacts to the changes.
    let dispatcher =
        Dispatcher::start(database, ConnectionLifetime::OnePass, PageLink::FromSettings, signals.clone()).ok();
    let served = run_daemon(directory, settings, &DaemonSignals { stop: &STOP_REQUESTED, is_busy: &signals.is_busy });
    dispatcher.into_iter().for_each(Dispatcher::stop);
    exporter.into_iter().for_each(TelemetryExporter::stop);
    prune_backups(directory);
    // As with the records of these sessions.
    if let Some(before) = keep.and_then(|keep| SystemTime::now().checked_sub(keep)) {
        prune_session_files(directory, before);
    }
    served?;
    Ok(DONE)
}

/// Removes old backups. Hooks only do that after a new one.
fn prune_backups(directory: &Path) {
    let store = BackupStore::in_data_dir(directory);
    if store.exists()
        && let Ok(settings) = CallerEnv::load_user_settings()
    {
        store.prune(&settings.guard.backup, None);
    }
}

fn forward_events(directory: &Path, receiver: Option<OutboxReceiver>) -> anyhow::Result<u8> {
    let outbox = Outbox::in_data_dir(directory);
    let handed = File::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let lock = match outbox.adopt_lock(handed).unwrap_or_default() {
        Some(lock) => Some(lock),
        None => outbox.try_lock_delivery()?,
    };
    if let Some(lock) = lock {
        let mut client = OutboxHttpClient::without_deadline(receiver);
        run_forwarder(&outbox, lock, ForwarderSettings::default(), &mut |message| client.deliver(message))?;
    }
    Ok(DONE)
}
