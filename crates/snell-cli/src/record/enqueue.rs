//! How `snell hook` sends what it saw to a receiver elsewhere: it leaves it in the outbox, and sees that somebody delivers.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use snell::ServerSettings;
use snell_store::EventRecord;
use snell_store::queue::outbox::{self, Outbox, OutboxMessage, OutboxReceiver};

use crate::output;
use crate::record::load;

/// The receiver of this machine's events, and what waits for it.
#[derive(Debug)]
pub(crate) struct EventForwarder {
    data: PathBuf,
    outbox: Outbox,
    receiver: OutboxReceiver,
}

impl EventForwarder {
    /// Nothing, unless the user named a receiver.
    pub(crate) fn new(data: &Path, settings: ServerSettings) -> Option<Self> {
        Some(Self {
            receiver: OutboxReceiver { url: settings.url?, token_file: settings.token_file },
            outbox: Outbox::in_data_dir(data),
            data: data.to_owned(),
        })
    }

    /// Leaves an event for the receiver.
    pub(crate) fn enqueue(&self, observation: EventRecord) {
        let url = &self.receiver.url;
        match self.outbox.push(&OutboxMessage::from_record_with_decision(observation, &self.receiver)) {
            Ok(put) if put.dropped > 0 => output::print_note(&format_dropped_events(put.dropped)),
            Ok(_) => {}
            Err(error) => {
                output::print_note(&format!("cannot keep the event for {url} ({error}); it is not sent there"))
            }
        }
    }

    /// Sees that somebody delivers it.
    pub(crate) fn spawn_worker(&self) {
        spawn_forwarder(&self.outbox, &self.data, &self.receiver);
    }
}

/// What is said when the outbox is full.
pub(crate) fn format_dropped_events(letters: usize) -> String {
    let letters = output::format_count(letters, "old event");
    format!("too many events wait for their receivers; {letters} had to go")
}

/// Starts a process that delivers, to this receiver and others, unless somebody does already. If there is none, the next call
/// tries again.
pub(crate) fn spawn_forwarder(outbox: &Outbox, data: &Path, receiver: &OutboxReceiver) {
    if load::has_tight_limits() {
        return;
    }
    let Ok(program) = std::env::current_exe() else {
        return;
    };
    let mut arguments: Vec<OsString> = vec!["forward".into(), data.into(), "--url".into(), (&receiver.url).into()];
    if let Some(token_file) = &receiver.token_file {
        arguments.extend(["--token-file".into(), token_file.into()]);
    }
    let _ = outbox::spawn_forwarder(outbox, &program, &arguments);
}
