//! How a short process records: through the scribe if there is one, by itself if not.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use snell::{Diagnostic, Engine, Handler, Keep, Severity};
use snell_store::scribe::{self, Delivery, HandOver, Request};
use snell_store::{Note, Observation, Recorder, WaitsFor};

use crate::around::variable;
use crate::caller::Caller;
use crate::forwarding::Forwarding;
use crate::memory::Memory;
use crate::{machine, output};

/// `SNELL_SCRIBE=off` turns the scribe off: every hook records by itself. With `SNELL_SCRIBE=wait` hooks wait until it has
/// stored what they bring, however crowded the machine is.
const SCRIBE_VARIABLE: &str = "SNELL_SCRIBE";

/// How long a hook that records by itself may spend on what others left behind.
const TIME_FOR_OTHERS: Duration = Duration::from_millis(300);

/// For so long a scribe may leave events on disk before that is told.
const STUCK_AFTER: Duration = Duration::from_secs(10);

/// Whether the user does without a scribe.
pub(crate) fn scribe_is_off() -> bool {
    variable(SCRIBE_VARIABLE).is_some_and(|value| value == "off")
}

/// Records what a hook saw.
#[derive(Debug)]
pub(crate) struct Recording {
    data: PathBuf,
    enabled: bool,
    /// Whether the scribe is turned off.
    alone: bool,
    keep: Keep,
    recorder: Recorder,
    /// Where events are also sent, if anywhere.
    forwarding: Option<Forwarding>,
}

impl Recording {
    pub(crate) fn new(caller: &Caller, engine: &Engine, findings: &[Diagnostic]) -> Self {
        let settings = engine.settings();
        Self {
            enabled: settings.handlers.is_on(Handler::Track),
            // What cannot be read may have said something else, and what is removed does not come back.
            keep: if findings.iter().any(|found| found.severity == Severity::Error) {
                Keep::Forever
            } else {
                settings.keep
            },
            alone: scribe_is_off(),
            recorder: Recorder::new(&caller.data),
            forwarding: Forwarding::new(&caller.data, settings.server),
            data: caller.data.clone(),
        }
    }

    /// Writes an observation down before its agent is answered, so that it is not lost if we are ended right after.
    pub(crate) fn write_down(&self, observation: &Observation) -> Option<Note> {
        // If it cannot be written down it can still be recorded, and if not, that is told.
        let write = || self.recorder.notes().write(observation, WaitsFor::ItsProcess).ok();
        self.enabled.then(write).flatten()
    }

    /// Records an observation, of which a note may have been written, and sends it where its user wants it. What goes wrong
    /// is told in one line.
    pub(crate) fn record(mut self, observation: Observation, note: Option<Note>) {
        if !self.enabled {
            return;
        }
        let forwarding = self.forwarding.take();
        if let Some(forwarding) = &forwarding {
            forwarding.put(observation.clone());
        }
        self.store(observation, note);
        if let Some(forwarding) = &forwarding {
            forwarding.hire();
        }
    }

    fn store(&mut self, observation: Observation, note: Option<Note>) {
        if self.alone {
            self.by_itself(observation);
        } else {
            let request = Request::Record {
                note: note.as_ref().map(|note| note.name().to_owned()),
                observation: Box::new(observation),
            };
            // To wait for another process is cheap while there is a processor for both. When there is not, the scribe
            // stores it when its turn comes, and removes what was written down of it.
            let waits = variable(SCRIBE_VARIABLE).is_some_and(|value| value == "wait");
            let request = if !waits && machine::is_crowded() {
                match self.hand_over(request, note.is_some()) {
                    Some(request) => request,
                    None => return,
                }
            } else {
                request
            };
            self.deliver(request);
        }
        note.into_iter().for_each(Note::remove);
    }

    /// Lets the scribe store it in its own time; answers what it did not take. A copy stays on disk until it is stored.
    fn hand_over(&self, mut request: Request, is_noted: bool) -> Option<Request> {
        if let Request::Record { observation, .. } = &mut request {
            // What comes after it may be stored before it.
            observation.delayed = true;
            if !is_noted && self.recorder.spool().append(observation).is_err() {
                return Some(request);
            }
        }
        match scribe::hand_over(&self.data, &request) {
            // If it is too busy to take it, it finds the copy when it has a moment.
            HandOver::Taken | HandOver::Busy => None,
            HandOver::Troubled | HandOver::NobodyThere => Some(request),
        }
    }

    /// Lets the scribe store it, and waits for that.
    fn deliver(&mut self, request: Request) {
        let delivery = scribe::deliver(&self.data, &request);
        let Request::Record { observation, .. } = request else {
            return;
        };
        match delivery {
            Delivery::Done(response) => say(&response.remarks),
            Delivery::NobodyThere => self.by_itself(*observation),
            // It may have stored it, or will. The agent has waited long enough.
            Delivery::NoAnswer => match self.recorder.notes().write(&observation, WaitsFor::Anybody) {
                Ok(_) => self.tell_if_stuck(),
                Err(_) => self.by_itself(*observation),
            },
        }
    }

    /// A disk may be slow for a moment, and nothing is lost by it. A scribe that stores nothing for long needs a person.
    fn tell_if_stuck(&self) {
        let waiting = self.recorder.notes().longest_wait();
        if waiting.is_some_and(|waiting| waiting > STUCK_AFTER) {
            say(&["the scribe does not answer; events wait on disk".to_owned()]);
        }
    }

    /// Records in this process. What is stored already is not stored again.
    fn by_itself(&mut self, observation: Observation) {
        self.recorder.record(vec![observation]);
        say(&self.recorder.take_remarks());
        if self.alone {
            // Nobody else is there to do it.
            self.recorder.take_in_for(TIME_FOR_OTHERS);
            self.recorder.tidy_alone();
        } else {
            hire(&self.data, self.keep);
        }
        self.recorder.leave();
    }
}

/// Records how full the context of a session is, as its agent says. A session that is not known is not recorded, so one
/// whose user wants no records has none of these either.
pub(crate) fn record_context(
    memory: &mut Memory,
    session_id: &str,
    percent: f64,
    model: Option<&str>,
) -> anyhow::Result<()> {
    let request = Request::Context {
        session_id: session_id.to_owned(),
        percent,
        model: model.map(str::to_owned),
    };
    if !scribe_is_off()
        && let Delivery::Done(response) = scribe::deliver(memory.directory(), &request)
    {
        say(&response.remarks);
        return Ok(());
    }
    memory
        .ask(|store| store.set_context(session_id, percent, model))
        .map(drop)
}

fn say(remarks: &[String]) {
    if !remarks.is_empty() {
        output::note(&remarks.join("; "));
    }
}

/// Starts a scribe for the next ones. If there is none, they are only slower.
fn hire(data: &Path, keep: Keep) {
    let Ok(program) = std::env::current_exe() else {
        return;
    };
    let mut arguments = vec![OsString::from("scribe"), data.into()];
    if let Keep::For(keep) = keep {
        arguments.push(format!("--keep={}", keep.as_secs()).into());
    }
    let _ = scribe::hire(data, &program, &arguments);
}
