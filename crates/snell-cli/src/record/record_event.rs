//! How a short process records: through the scribe if there is one, by itself if not.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use snell::{BuiltinHandler, Diagnostic, RetentionPeriod, Severity, SnellSettings};
use snell_store::daemon::{self, DaemonRequest, DeliveryOutcome, HandoffOutcome};
use snell_store::{
    DiskCopy, EventRecord, EventRecorder, PendingClaim, PendingEvent, RecordOutcome, SessionSnapshot, SnapshotQuery,
    StoreError, format_snapshot_error,
};

use crate::env::caller::CallerEnv;
use crate::env::read_variable;
use crate::output;
use crate::record::enqueue::EventForwarder;
use crate::record::load;
use crate::record::open_store::StoreHandle;

/// `SNELL_SCRIBE=off` turns the scribe off: every hook records by itself. With `SNELL_SCRIBE=wait` hooks wait until it has
/// stored what they bring, however crowded the machine is.
const DAEMON_VARIABLE: &str = "SNELL_SCRIBE";

/// How long a hook that records by itself may spend on what others left behind.
const BACKLOG_TIME_LIMIT: Duration = Duration::from_millis(300);

/// For so long a scribe may leave events on disk before that is told.
const STUCK_AFTER: Duration = Duration::from_secs(10);

/// Whether the user does without a scribe.
pub(crate) fn is_daemon_off() -> bool {
    read_variable(DAEMON_VARIABLE).is_some_and(|value| value == "off")
}

/// Records what a hook saw.
#[derive(Debug)]
pub(crate) struct HookRecorder {
    data: PathBuf,
    enabled: bool,
    /// Whether the scribe is turned off.
    is_daemon_off: bool,
    keep: RetentionPeriod,
    recorder: EventRecorder,
    /// Where events are also sent, if anywhere.
    forwarding: Option<EventForwarder>,
    /// How the store was reached when it was asked something, which is how it is then reached to record.
    route: StoreRoute,
    /// Why it could not be asked. It is told unless recording fails, which says the same.
    warning: Option<String>,
}

/// How the store was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StoreRoute {
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
enum PendingCopyNeed {
    /// The event is nowhere else.
    Needed,
    /// The event is elsewhere, or can never be stored.
    Unneeded,
}

impl PendingCopyNeed {
    fn from_needed(is_needed: bool) -> Self {
        if is_needed { Self::Needed } else { Self::Unneeded }
    }
}

impl HookRecorder {
    pub(crate) fn new(caller: &CallerEnv, settings: &SnellSettings, findings: &[Diagnostic]) -> Self {
        Self {
            enabled: settings.handlers.is_enabled(BuiltinHandler::Track),
            // What cannot be read may have said something else, and what is removed does not come back.
            keep: if findings.iter().any(|found| found.severity == Severity::Error) {
                RetentionPeriod::Forever
            } else {
                settings.keep
            },
            is_daemon_off: is_daemon_off(),
            recorder: EventRecorder::new(&caller.data),
            forwarding: EventForwarder::new(&caller.data, settings.server.clone()),
            route: StoreRoute::Untried,
            warning: None,
            data: caller.data.clone(),
        }
    }

    /// What is known of a session before its agent is answered; nothing if that cannot be had, or nothing is recorded. What
    /// is wrong is told when the event is recorded.
    pub(crate) fn load_session_snapshot(&mut self, inquiry: &SnapshotQuery) -> Option<SessionSnapshot> {
        if !self.enabled {
            return None;
        }
        if !self.is_daemon_off {
            match daemon::query_session(&self.data, inquiry) {
                DeliveryOutcome::Done(response) => {
                    self.warning = Some(response.remarks.join("; ")).filter(|trouble| !trouble.is_empty());
                    return response.facts;
                }
                // The agent has waited for it once, which is enough.
                DeliveryOutcome::NoAnswer => {
                    self.route = StoreRoute::NoAnswer;
                    return None;
                }
                DeliveryOutcome::NotRunning => {}
            }
        }
        match self.recorder.load_session_snapshot(inquiry) {
            Ok(facts) => {
                self.route = StoreRoute::OpenedHere;
                Some(facts)
            }
            // The agent has waited for this once, too.
            Err(StoreError::Locked) => {
                self.route = StoreRoute::Locked;
                None
            }
            Err(error) => {
                self.warning = Some(format_snapshot_error(&error));
                None
            }
        }
    }

    /// Writes an observation down before its agent is answered, so that it is not lost if we are ended right after.
    pub(crate) fn write_pending(&self, observation: &EventRecord) -> Option<PendingEvent> {
        // If it cannot be written down it can still be recorded, and if not, that is told.
        let write = || self.recorder.pending().push(observation, PendingClaim::Owner).ok();
        self.enabled.then(write).flatten()
    }

    /// Records an observation, of which a note may have been written, and sends it where its user wants it. What goes wrong
    /// is told in one line.
    pub(crate) fn record(mut self, observation: EventRecord, note: Option<PendingEvent>) {
        if !self.enabled {
            return;
        }
        let forwarding = self.forwarding.take();
        if let Some(forwarding) = &forwarding {
            forwarding.enqueue(observation.clone());
        }
        self.store_event(observation, note);
        // Whatever was wrong with the store is told once.
        self.warning.take().iter().for_each(|trouble| output::print_note(trouble));
        if let Some(forwarding) = &forwarding {
            forwarding.spawn_worker();
        }
    }

    fn store_event(&mut self, observation: EventRecord, note: Option<PendingEvent>) {
        let copy = if note.is_some() { DiskCopy::Present } else { DiskCopy::Absent };
        let needed = if self.route == StoreRoute::Locked {
            let put_off = self.recorder.defer_event(observation, copy, &StoreError::Locked);
            self.report_outcome(put_off)
        } else if self.is_daemon_off || self.route == StoreRoute::OpenedHere {
            self.store_in_process(observation, copy)
        } else if self.route == StoreRoute::NoAnswer {
            self.leave_pending(observation, copy)
        } else {
            let request = DaemonRequest::Record {
                note: note.as_ref().map(|note| note.name().to_owned()),
                observation: Box::new(observation),
                is_spooled: false,
            };
            // To wait for another process is cheap while there is a processor for both. When there is not, the scribe
            // stores it when its turn comes, and removes what was written down of it.
            let waits = read_variable(DAEMON_VARIABLE).is_some_and(|value| value == "wait");
            let request = if !waits && load::is_overloaded() {
                match self.send_nowait(request, note.is_some()) {
                    Some(request) => request,
                    None => return,
                }
            } else {
                request
            };
            self.send_and_wait(request, copy)
        };
        match (note, needed) {
            (Some(note), PendingCopyNeed::Needed) => note.release(),
            (Some(note), PendingCopyNeed::Unneeded) => note.remove(),
            (None, _) => {}
        }
    }

    /// Lets the scribe store it in its own time; answers what it did not take. A copy stays on disk until it is stored.
    fn send_nowait(&self, mut request: DaemonRequest, is_noted: bool) -> Option<DaemonRequest> {
        if let DaemonRequest::Record { observation, is_spooled, .. } = &mut request {
            // What comes after it may be stored before it.
            observation.delayed = true;
            if !is_noted && self.recorder.spool().append(observation).is_err() {
                return Some(request);
            }
            *is_spooled = !is_noted;
        }
        match daemon::send_nowait(&self.data, &request) {
            // If it is too busy to take it, it finds the copy when it has a moment.
            HandoffOutcome::Accepted | HandoffOutcome::Busy => None,
            HandoffOutcome::Failing | HandoffOutcome::NotRunning => Some(request),
        }
    }

    /// Lets the scribe store it, and waits for that.
    fn send_and_wait(&mut self, request: DaemonRequest, copy: DiskCopy) -> PendingCopyNeed {
        let delivery = daemon::send_and_wait(&self.data, &request);
        let DaemonRequest::Record { observation, .. } = request else {
            return PendingCopyNeed::Unneeded;
        };
        match delivery {
            DeliveryOutcome::Done(response) => {
                self.print_warnings(&response.remarks);
                PendingCopyNeed::from_needed(response.needs_note)
            }
            DeliveryOutcome::NotRunning => self.store_in_process(*observation, copy),
            // It may have stored it, or will. The agent has waited long enough.
            DeliveryOutcome::NoAnswer => self.leave_pending(*observation, copy),
        }
    }

    /// Leaves it on disk for whoever comes next.
    fn leave_pending(&mut self, observation: EventRecord, copy: DiskCopy) -> PendingCopyNeed {
        if self.recorder.pending().push(&observation, PendingClaim::Anyone).is_err() {
            return self.store_in_process(observation, copy);
        }
        self.warn_if_stuck();
        PendingCopyNeed::Unneeded
    }

    /// A disk may be slow for a moment, and nothing is lost by it. A scribe that stores nothing for long needs a person.
    fn warn_if_stuck(&self) {
        let waiting = self.recorder.pending().oldest_age();
        if waiting.is_some_and(|waiting| waiting > STUCK_AFTER) {
            print_warnings(&["the scribe does not answer; events wait on disk".to_owned()]);
        }
    }

    fn print_warnings(&mut self, remarks: &[String]) {
        if !remarks.is_empty() {
            self.warning = None;
            print_warnings(remarks);
        }
    }

    /// Says what became of an event, if it is not stored.
    fn report_outcome(&mut self, recorded: RecordOutcome) -> PendingCopyNeed {
        let mut remarks = self.recorder.take_warnings();
        let need = PendingCopyNeed::from_needed(recorded.needs_copy());
        remarks.extend(recorded.into_warning());
        self.print_warnings(&remarks);
        need
    }

    /// Records in this process. What is stored already is not stored again.
    fn store_in_process(&mut self, observation: EventRecord, copy: DiskCopy) -> PendingCopyNeed {
        let mut recorded = self.recorder.record_each(vec![(observation, copy)]);
        let recorded = recorded.pop();
        let is_stored = matches!(recorded, Some(RecordOutcome::Settled(_)));
        if self.is_daemon_off && !is_stored {
            // Whatever kept it from being stored would keep the others.
        } else if self.is_daemon_off {
            // Nobody else is there to do it.
            self.recorder.drain_for(BACKLOG_TIME_LIMIT);
            self.recorder.checkpoint_before_exit();
        } else {
            spawn_daemon(&self.data, self.keep);
        }
        let need = recorded.map_or(PendingCopyNeed::Unneeded, |recorded| self.report_outcome(recorded));
        self.recorder.abandon_store();
        need
    }
}

/// Records how full the context of a session is, as its agent says. A session that is not known is not recorded, so one
/// whose user wants no records has none of these either.
pub(crate) fn record_context_usage(
    memory: &mut StoreHandle,
    session_id: &str,
    percent: f64,
    model: Option<&str>,
) -> anyhow::Result<()> {
    let request =
        DaemonRequest::Context { session_id: session_id.to_owned(), percent, model: model.map(str::to_owned) };
    if !is_daemon_off()
        && let DeliveryOutcome::Done(response) = daemon::send_and_wait(memory.data_dir(), &request)
    {
        print_warnings(&response.remarks);
        return Ok(());
    }
    memory.query(|store| store.set_context_usage(session_id, percent, model)).map(drop)
}

fn print_warnings(remarks: &[String]) {
    if !remarks.is_empty() {
        output::print_note(&remarks.join("; "));
    }
}

/// Starts a scribe for the next ones. If there is none, they are only slower.
fn spawn_daemon(data: &Path, keep: RetentionPeriod) {
    if load::has_tight_limits() {
        return;
    }
    let Ok(program) = std::env::current_exe() else {
        return;
    };
    let mut arguments = vec![OsString::from("scribe"), data.into()];
    if let RetentionPeriod::For(keep) = keep {
        arguments.push(format!("--keep={}", keep.as_secs()).into());
    }
    let _ = daemon::spawn_daemon(data, &program, &arguments);
}
