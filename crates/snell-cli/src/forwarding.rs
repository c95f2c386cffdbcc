//! How `snell hook` sends what it saw to a receiver elsewhere: it leaves it in the outbox, and sees that somebody delivers.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use snell::ServerSettings;
use snell_store::Observation;
use snell_store::outbox::{self, Letter, Outbox, Receiver};

use crate::{machine, output};

/// The receiver of this machine's events, and what waits for it.
#[derive(Debug)]
pub(crate) struct Forwarding {
    data: PathBuf,
    outbox: Outbox,
    receiver: Receiver,
}

impl Forwarding {
    /// Nothing, unless the user named a receiver.
    pub(crate) fn new(data: &Path, settings: ServerSettings) -> Option<Self> {
        Some(Self {
            receiver: Receiver {
                url: settings.url?,
                token_file: settings.token_file,
            },
            outbox: Outbox::beside(data),
            data: data.to_owned(),
        })
    }

    /// Leaves an event for the receiver.
    pub(crate) fn put(&self, observation: Observation) {
        let url = &self.receiver.url;
        match self.outbox.put(&Letter::in_full(observation, &self.receiver)) {
            Ok(put) if put.dropped > 0 => output::note(&dropped(put.dropped)),
            Ok(_) => {}
            Err(error) => output::note(&format!(
                "cannot keep the event for {url} ({error}); it is not sent there"
            )),
        }
    }

    /// Sees that somebody delivers it.
    pub(crate) fn hire(&self) {
        hire(&self.outbox, &self.data, &self.receiver);
    }
}

/// What is said when the outbox is full.
pub(crate) fn dropped(letters: usize) -> String {
    let letters = output::count(letters, "old event");
    format!("too many events wait for their receivers; {letters} had to go")
}

/// Starts a process that delivers, to this receiver and others, unless somebody does already. If there is none, the next call
/// tries again.
pub(crate) fn hire(outbox: &Outbox, data: &Path, receiver: &Receiver) {
    if machine::has_tight_limits() {
        return;
    }
    let Ok(program) = std::env::current_exe() else {
        return;
    };
    let mut arguments: Vec<OsString> = vec!["forward".into(), data.into(), "--url".into(), (&receiver.url).into()];
    if let Some(token_file) = &receiver.token_file {
        arguments.extend(["--token-file".into(), token_file.into()]);
    }
    let _ = outbox::hire(outbox, &program, &arguments);
}
