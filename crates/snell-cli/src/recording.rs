//! How a short process records: through the scribe if there is one, by itself if not.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use snell::{Diagnostic, Handler, Keep, Settings, Severity};
use snell_store::scribe::{self, Delivery, HandOver, Request};
use snell_store::{
    DiskCopy, Facts, Inquiry, Note, Observation, RecordedEvent, Recorder, StoreError, WaitsFor, no_facts,
};

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
    /// How the store was reached when it was asked something, which is how it is then reached to record.
    way: Way,
    /// Why it could not be asked. It is told unless recording fails, which says the same.
    trouble: Option<String>,
}

/// How the store was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Nobody has tried, or nothing can be said about it.
    Untried,
    /// Nobody keeps it open, so it was opened here.
    OpenedHere,
    /// Somebody keeps it open, and did not answer.
    NoAnswer,
    /// It could not be opened, because somebody else holds it.
    Locked,
}

/// Whether the note of an event is still needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NoteNeed {
    /// The event is nowhere else.
    Needed,
    /// The event is elsewhere, or can never be stored.
    Unneeded,
}

impl NoteNeed {
    fn of(is_needed: bool) -> Self {
        if is_needed { Self::Needed } else { Self::Unneeded }
    }
}

impl Recording {
    pub(crate) fn new(caller: &Caller, settings: &Settings, findings: &[Diagnostic]) -> Self {
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
            forwarding: Forwarding::new(&caller.data, settings.server.clone()),
            way: Way::Untried,
            trouble: None,
            data: caller.data.clone(),
        }
    }

    /// What is known of a session before its agent is answered; nothing if that cannot be had, or nothing is recorded. What
    /// is wrong is told when the event is recorded.
    pub(crate) fn facts(&mut self, inquiry: &Inquiry) -> Option<Facts> {
        if !self.enabled {
            return None;
        }
        if !self.alone {
            match scribe::look(&self.data, inquiry) {
                Delivery::Done(response) => {
                    self.trouble = Some(response.remarks.join("; ")).filter(|trouble| !trouble.is_empty());
                    return response.facts;
                }
                // The agent has waited for it once, which is enough.
                Delivery::NoAnswer => {
                    self.way = Way::NoAnswer;
                    return None;
                }
                Delivery::NobodyThere => {}
            }
        }
        match self.recorder.facts(inquiry) {
            Ok(facts) => {
                self.way = Way::OpenedHere;
                Some(facts)
            }
            // The agent has waited for this once, too.
            Err(StoreError::Locked) => {
                self.way = Way::Locked;
                None
            }
            Err(error) => {
                self.trouble = Some(no_facts(&error));
                None
            }
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
        // Whatever was wrong with the store is told once.
        self.trouble.take().iter().for_each(|trouble| output::note(trouble));
        if let Some(forwarding) = &forwarding {
            forwarding.hire();
        }
    }

    fn store(&mut self, observation: Observation, note: Option<Note>) {
        let copy = if note.is_some() {
            DiskCopy::Present
        } else {
            DiskCopy::Absent
        };
        let needed = if self.way == Way::Locked {
            let put_off = self.recorder.put_off(observation, copy, &StoreError::Locked);
            self.say_outcome(put_off)
        } else if self.alone || self.way == Way::OpenedHere {
            self.by_itself(observation, copy)
        } else if self.way == Way::NoAnswer {
            self.leave_behind(observation, copy)
        } else {
            let request = Request::Record {
                note: note.as_ref().map(|note| note.name().to_owned()),
                observation: Box::new(observation),
                is_spooled: false,
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
            self.deliver(request, copy)
        };
        match (note, needed) {
            (Some(note), NoteNeed::Needed) => note.leave(),
            (Some(note), NoteNeed::Unneeded) => note.remove(),
            (None, _) => {}
        }
    }

    /// Lets the scribe store it in its own time; answers what it did not take. A copy stays on disk until it is stored.
    fn hand_over(&self, mut request: Request, is_noted: bool) -> Option<Request> {
        if let Request::Record {
            observation,
            is_spooled,
            ..
        } = &mut request
        {
            // What comes after it may be stored before it.
            observation.delayed = true;
            if !is_noted && self.recorder.spool().append(observation).is_err() {
                return Some(request);
            }
            *is_spooled = !is_noted;
        }
        match scribe::hand_over(&self.data, &request) {
            // If it is too busy to take it, it finds the copy when it has a moment.
            HandOver::Taken | HandOver::Busy => None,
            HandOver::Troubled | HandOver::NobodyThere => Some(request),
        }
    }

    /// Lets the scribe store it, and waits for that.
    fn deliver(&mut self, request: Request, copy: DiskCopy) -> NoteNeed {
        let delivery = scribe::deliver(&self.data, &request);
        let Request::Record { observation, .. } = request else {
            return NoteNeed::Unneeded;
        };
        match delivery {
            Delivery::Done(response) => {
                self.say(&response.remarks);
                NoteNeed::of(response.needs_note)
            }
            Delivery::NobodyThere => self.by_itself(*observation, copy),
            // It may have stored it, or will. The agent has waited long enough.
            Delivery::NoAnswer => self.leave_behind(*observation, copy),
        }
    }

    /// Leaves it on disk for whoever comes next.
    fn leave_behind(&mut self, observation: Observation, copy: DiskCopy) -> NoteNeed {
        if self.recorder.notes().write(&observation, WaitsFor::Anybody).is_err() {
            return self.by_itself(observation, copy);
        }
        self.tell_if_stuck();
        NoteNeed::Unneeded
    }

    /// A disk may be slow for a moment, and nothing is lost by it. A scribe that stores nothing for long needs a person.
    fn tell_if_stuck(&self) {
        let waiting = self.recorder.notes().longest_wait();
        if waiting.is_some_and(|waiting| waiting > STUCK_AFTER) {
            say(&["the scribe does not answer; events wait on disk".to_owned()]);
        }
    }

    fn say(&mut self, remarks: &[String]) {
        if !remarks.is_empty() {
            self.trouble = None;
            say(remarks);
        }
    }

    /// Says what became of an event, if it is not stored.
    fn say_outcome(&mut self, recorded: RecordedEvent) -> NoteNeed {
        let mut remarks = self.recorder.take_remarks();
        let need = NoteNeed::of(recorded.needs_copy());
        remarks.extend(recorded.into_remark());
        self.say(&remarks);
        need
    }

    /// Records in this process. What is stored already is not stored again.
    fn by_itself(&mut self, observation: Observation, copy: DiskCopy) -> NoteNeed {
        let mut recorded = self.recorder.record_each(vec![(observation, copy)]);
        let recorded = recorded.pop();
        let is_stored = matches!(recorded, Some(RecordedEvent::Settled(_)));
        if self.alone && !is_stored {
            // Whatever kept it from being stored would keep the others.
        } else if self.alone {
            // Nobody else is there to do it.
            self.recorder.take_in_for(TIME_FOR_OTHERS);
            self.recorder.tidy_alone();
        } else {
            hire(&self.data, self.keep);
        }
        let need = recorded.map_or(NoteNeed::Unneeded, |recorded| self.say_outcome(recorded));
        self.recorder.leave();
        need
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
    if machine::has_tight_limits() {
        return;
    }
    let Ok(program) = std::env::current_exe() else {
        return;
    };
    let mut arguments = vec![OsString::from("scribe"), data.into()];
    if let Keep::For(keep) = keep {
        arguments.push(format!("--keep={}", keep.as_secs()).into());
    }
    let _ = scribe::hire(data, &program, &arguments);
}
