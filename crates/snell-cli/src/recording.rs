//! How a short process records: through the scribe if there is one, by itself if not.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use snell::{Engine, Handler};
use snell_store::scribe::{self, Delivery, HandOver, Request};
use snell_store::{Note, Observation, Recorder, WaitsFor};

use crate::around::variable;
use crate::caller::Caller;
use crate::memory::Memory;
use crate::{machine, output};

/// Turns the scribe off: `SNELL_SCRIBE=off`. Every hook then records by itself.
const SCRIBE_VARIABLE: &str = "SNELL_SCRIBE";

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
    recorder: Recorder,
}

impl Recording {
    pub(crate) fn new(caller: &Caller, engine: &Engine) -> Self {
        Self {
            enabled: engine.settings().handlers.is_on(Handler::Track),
            alone: scribe_is_off(),
            recorder: Recorder::new(&caller.data),
            data: caller.data.clone(),
        }
    }

    /// Writes an observation down before its agent is answered, so that it is not lost if we are ended right after.
    pub(crate) fn write_down(&self, observation: &Observation) -> Option<Note> {
        // If it cannot be written down it can still be recorded, and if not, that is told.
        let write = || self.recorder.notes().write(observation, WaitsFor::ItsProcess).ok();
        self.enabled.then(write).flatten()
    }

    /// Records an observation, of which a note may have been written. What goes wrong is told in one line.
    pub(crate) fn record(mut self, observation: Observation, note: Option<Note>) {
        if !self.enabled {
            return;
        }
        let request = Request::Record(Box::new(observation));
        if !self.through_scribe(&request) {
            self.by_itself(request);
        }
        note.into_iter().for_each(Note::remove);
    }

    /// Lets the scribe store it; answers whether there was one that did, or will.
    fn through_scribe(&self, request: &Request) -> bool {
        if self.alone {
            return false;
        }
        // To wait for another process is cheap while there is a processor for both. When there is not, it is the scribe's
        // turn when ours is over.
        if machine::is_crowded() {
            match scribe::hand_over(&self.data, request) {
                HandOver::Taken => return true,
                HandOver::NobodyThere => return false,
                HandOver::Busy => {}
            }
        }
        match scribe::deliver(&self.data, request) {
            Delivery::Done(response) => {
                say(&response.remarks);
                true
            }
            Delivery::NobodyThere | Delivery::NoAnswer => false,
        }
    }

    /// Records in this process. A scribe that did not answer may have stored it all the same; then it is not stored again.
    fn by_itself(&mut self, request: Request) {
        let Request::Record(observation) = request else {
            return;
        };
        self.recorder.record(vec![*observation]);
        say(&self.recorder.take_remarks());
        if self.alone {
            // Nobody else is there to do it.
            self.recorder.tidy_alone();
        } else {
            hire(&self.data);
        }
        self.recorder.leave();
    }

    /// How often the end of a turn was blocked in this session since its user last spoke; 0 if that cannot be known.
    pub(crate) fn stops_blocked(&mut self, session_id: &str) -> u32 {
        let store = self.recorder.store();
        store.and_then(|store| store.stops_blocked(session_id)).unwrap_or(0)
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
fn hire(data: &Path) {
    if let Ok(program) = std::env::current_exe() {
        let _ = scribe::hire(data, &program, &[OsStr::new("scribe")]);
    }
}
