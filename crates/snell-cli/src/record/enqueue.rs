//! Sends a hook's event to a remote receiver: writes it to the outbox, and starts a process that delivers it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use snell::ServerSettings;
use snell_store::MaskedRecord;
use snell_store::daemon::DaemonJob;
use snell_store::queue::outbox::{Outbox, OutboxMessage, OutboxReceiver};

use crate::output;
use crate::record::record_event::spawn_job;

/// The receiver of this machine's events, and its outbox.
#[derive(Debug)]
pub(crate) struct EventForwarder {
    data: PathBuf,
    outbox: Outbox,
    receiver: OutboxReceiver,
}

impl EventForwarder {
    /// Nothing, unless the user configured a receiver.
    pub(crate) fn new(data: &Path, settings: ServerSettings) -> Option<Self> {
        Some(Self {
            receiver: OutboxReceiver { url: settings.url?, token_file: settings.token_file },
            outbox: Outbox::in_data_dir(data),
            data: data.to_owned(),
        })
    }

    /// Writes an event to the outbox.
    pub(crate) fn enqueue(&self, record: MaskedRecord) {
        let url = &self.receiver.url;
        match self.outbox.push(&OutboxMessage::from_record_with_decision(record, &self.receiver)) {
            Ok(result) if result.dropped > 0 => output::print_warning(format_dropped_events(result.dropped)),
            Ok(_) => {}
            Err(error) => output::print_warning(format!(
                "cannot write the event to the outbox, so {url} does not get it: {error}"
            )),
        }
    }

    /// Starts a process that delivers the outbox, unless one is running.
    pub(crate) fn spawn_worker(&self) {
        spawn_forwarder(&self.data, &self.receiver);
    }
}

/// The warning after events were removed because the outbox is full.
pub(crate) fn format_dropped_events(letters: usize) -> String {
    let letters = output::format_count(letters, "old event");
    format!("the outbox is full; {letters} removed")
}

/// Starts a process that delivers to this receiver and others, unless one is running. If it cannot be started, the next call
/// tries again.
pub(crate) fn spawn_forwarder(data: &Path, receiver: &OutboxReceiver) {
    let mut options: Vec<OsString> = vec!["--url".into(), (&receiver.url).into()];
    if let Some(token_file) = &receiver.token_file {
        options.extend(["--token-file".into(), token_file.into()]);
    }
    spawn_job(data, DaemonJob::Forward, options);
}
