//! Records a hook's event: through the daemon if there is one, or in this process.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use snell::{BuiltinHandler, Diagnostic, RetentionPeriod, Severity, SnellSettings};
use snell_store::daemon::{self, DaemonJob, DaemonRequest, DeliveryOutcome, HandoffOutcome};
use snell_store::{
    ContextReport, DiskCopy, EventRecorder, MaskedRecord, PendingClaim, PendingEvent, RecordOutcome, SessionSnapshot,
    SnapshotQuery, StoreError, format_snapshot_error,
};

use crate::env::caller::CallerEnv;
use crate::env::read_variable;
use crate::output;
use crate::record::enqueue::EventForwarder;
use crate::record::load;
use crate::record::open_store::StoreHandle;

/// The variables for how hooks use the daemon. The first one that is set applies; the second is its older name.
const DAEMON_VARIABLES: [&str; 2] = ["SNELL_DAEMON", "SNELL_SCRIBE"];

/// How long a hook that records by itself may spend on pending events of other processes.
const BACKLOG_TIME_LIMIT: Duration = Duration::from_millis(300);

/// After this time the user is warned that the daemon does not store events.
const STUCK_AFTER: Duration = Duration::from_secs(10);

/// How hooks use the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DaemonMode {
    /// `off`: every hook records in its own process.
    Off,
    /// `wait`: hooks wait until their event is stored, even on a busy machine.
    Wait,
    /// Hooks wait unless the machine is overloaded.
    Auto,
}

impl DaemonMode {
    pub(crate) fn from_env() -> Self {
        match find_daemon_variable().as_ref().map(|(_, value)| value.as_str()) {
            Some("off") => Self::Off,
            Some("wait") => Self::Wait,
            _ => Self::Auto,
        }
    }
}

/// The variable for how hooks use the daemon, and its value.
pub(crate) fn find_daemon_variable() -> Option<(&'static str, String)> {
    DAEMON_VARIABLES.into_iter().find_map(|name| Some((name, read_variable(name)?)))
}

/// Records the event of a hook.
#[derive(Debug)]
pub(crate) struct HookRecorder {
    data: PathBuf,
    enabled: bool,
    daemon_mode: DaemonMode,
    keep: RetentionPeriod,
    recorder: EventRecorder,
    /// Sends events to a remote receiver, if there is one.
    forwarder: Option<EventForwarder>,
    /// How the store was reached when it was queried.
    route: Option<StoreRoute>,
    /// Why the query failed. It is printed unless recording fails for the same reason.
    warning: Option<String>,
}

/// How an event gets into the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StoreRoute {
    /// The daemon stores it, and the hook waits.
    Daemon,
    /// The daemon stores it later: waiting for another process is cheap only while a processor is free.
    DaemonNowait,
    /// This process opens the database.
    InProcess,
    /// It stays on disk, because the daemon did not answer.
    Pending,
    /// It stays on disk, because another process holds the database.
    Locked,
}

/// Where an event is after it was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RecordResult {
    /// In the database or in a new file, or it can never be stored. Its pending file can be removed.
    Stored,
    /// With the daemon, which removes the pending file when the event is stored.
    Queued,
    /// Only in its pending file, from which the next process stores it.
    Failed,
}

impl HookRecorder {
    pub(crate) fn new(caller: &CallerEnv, settings: &SnellSettings, findings: &[Diagnostic]) -> Self {
        Self {
            enabled: settings.handlers.is_enabled(BuiltinHandler::Track),
            // An unreadable file may set a longer period, and removed records do not come back.
            keep: if findings.iter().any(|finding| finding.severity == Severity::Error) {
                RetentionPeriod::Forever
            } else {
                settings.keep
            },
            daemon_mode: DaemonMode::from_env(),
            recorder: EventRecorder::new(&caller.data),
            forwarder: EventForwarder::new(&caller.data, settings.server.clone()),
            route: None,
            warning: None,
            data: caller.data.clone(),
        }
    }

    /// The state of a session before the agent is answered; nothing if it cannot be read, or if recording is off. A warning is printed
    /// when the event is recorded.
    pub(crate) fn load_session_snapshot(&mut self, query: &SnapshotQuery) -> Option<SessionSnapshot> {
        if !self.enabled {
            return None;
        }
        if self.daemon_mode != DaemonMode::Off {
            match daemon::query_session(&self.data, query) {
                DeliveryOutcome::Done(response) => {
                    self.warning = Some(response.remarks.join("; ")).filter(|warning| !warning.is_empty());
                    return response.facts;
                }
                // The agent has waited once, which is enough.
                DeliveryOutcome::NoAnswer => {
                    self.route = Some(StoreRoute::Pending);
                    return None;
                }
                DeliveryOutcome::NotRunning => {}
            }
        }
        match self.recorder.load_session_snapshot(query) {
            Ok(snapshot) => {
                self.route = Some(StoreRoute::InProcess);
                Some(snapshot)
            }
            // The agent has waited once, which is enough.
            Err(StoreError::Locked) => {
                self.route = Some(StoreRoute::Locked);
                None
            }
            Err(error) => {
                self.warning = Some(format_snapshot_error(&error));
                None
            }
        }
    }

    /// Writes an event to disk before the agent is answered, so that it is not lost if this process is killed right after.
    pub(crate) fn write_pending(&self, record: &MaskedRecord) -> Option<PendingEvent> {
        // On failure it can still be recorded, or a warning is printed.
        let write = || self.recorder.pending().push(record, PendingClaim::Owner).ok();
        self.enabled.then(write).flatten()
    }

    /// Records an event and sends it to the user's receiver. `pending` is its copy on disk, if there is one.
    pub(crate) fn record(&mut self, record: MaskedRecord, pending: Option<PendingEvent>) {
        if !self.enabled {
            return;
        }
        let forwarder = self.forwarder.take();
        if let Some(forwarder) = &forwarder {
            forwarder.enqueue(record.clone());
        }
        match (self.store_event(record, pending.as_ref()), pending) {
            (RecordResult::Stored, Some(pending)) => pending.remove(),
            (RecordResult::Failed, Some(pending)) => pending.release(),
            (RecordResult::Queued, _) | (_, None) => {}
        }
        // The store's problem is printed once.
        self.warning.take().iter().for_each(output::print_warning);
        if let Some(forwarder) = &forwarder {
            forwarder.spawn_worker();
        }
    }

    /// Records an event that must be in the database before this process goes on.
    pub(crate) fn record_at_once(&mut self, record: MaskedRecord, pending: Option<PendingEvent>) {
        if self.daemon_mode != DaemonMode::Off {
            self.route.get_or_insert(StoreRoute::Daemon);
        }
        self.record(record, pending);
    }

    /// Whether events are recorded.
    pub(crate) fn is_enabled(&self) -> bool {
        self.enabled
    }

    fn store_event(&mut self, record: MaskedRecord, pending: Option<&PendingEvent>) -> RecordResult {
        let copy = if pending.is_some() { DiskCopy::Present } else { DiskCopy::Absent };
        let route = self.choose_route();
        match route {
            StoreRoute::Daemon | StoreRoute::DaemonNowait => {
                let pending = pending.map(|pending| pending.name().to_owned());
                let request = DaemonRequest::Record { record: Box::new(record), pending, is_spooled: false };
                self.send_to_daemon(request, copy, route)
            }
            StoreRoute::InProcess => self.store_in_process(record, copy),
            StoreRoute::Pending => self.leave_pending(record, copy),
            StoreRoute::Locked => {
                let deferred = self.recorder.defer_event(record, copy, &StoreError::Locked);
                self.report_outcome(deferred)
            }
        }
    }

    /// The route of an event: the one of the earlier query, if there was one.
    fn choose_route(&self) -> StoreRoute {
        self.route.unwrap_or_else(|| match self.daemon_mode {
            DaemonMode::Off => StoreRoute::InProcess,
            DaemonMode::Wait => StoreRoute::Daemon,
            DaemonMode::Auto if load::is_overloaded() => StoreRoute::DaemonNowait,
            DaemonMode::Auto => StoreRoute::Daemon,
        })
    }

    /// Sends an event to the daemon. If the daemon does not confirm it, the event stays on disk, because the agent has waited long
    /// enough.
    fn send_to_daemon(&mut self, mut request: DaemonRequest, copy: DiskCopy, route: StoreRoute) -> RecordResult {
        if route == StoreRoute::DaemonNowait && self.send_nowait(&mut request) {
            return RecordResult::Queued;
        }
        let delivery = daemon::send_and_wait(&self.data, &request);
        let DaemonRequest::Record { record, .. } = request else {
            return RecordResult::Queued;
        };
        match delivery {
            DeliveryOutcome::Done(response) => {
                self.print_warnings(&response.remarks);
                if response.needs_note { RecordResult::Failed } else { RecordResult::Queued }
            }
            DeliveryOutcome::NotRunning => self.store_in_process(*record, copy),
            DeliveryOutcome::NoAnswer => self.leave_pending(*record, copy),
        }
    }

    /// Sends an event without waiting. Returns whether the daemon has it. A copy stays on disk until it is stored.
    fn send_nowait(&self, request: &mut DaemonRequest) -> bool {
        if let DaemonRequest::Record { record, pending, is_spooled } = request {
            // Later events may be stored first.
            record.mark_delayed();
            *is_spooled = pending.is_none();
            if *is_spooled && self.recorder.spool().append(record).is_err() {
                *is_spooled = false;
                return false;
            }
        }
        // A busy daemon stores the copy later.
        matches!(daemon::send_nowait(&self.data, request), HandoffOutcome::Accepted | HandoffOutcome::Busy)
    }

    /// Leaves an event on disk for the next process.
    fn leave_pending(&mut self, record: MaskedRecord, copy: DiskCopy) -> RecordResult {
        if self.recorder.pending().push(&record, PendingClaim::Anyone).is_err() {
            return self.store_in_process(record, copy);
        }
        // A disk may be slow for a moment, which loses nothing. If the daemon is stuck, the user must know.
        if self.recorder.pending().oldest_age().is_some_and(|age| age > STUCK_AFTER) {
            print_warnings(&["the daemon does not answer, so events wait on disk".to_owned()]);
        }
        RecordResult::Stored
    }

    /// Records in this process. An event that is stored already is not stored again.
    fn store_in_process(&mut self, record: MaskedRecord, copy: DiskCopy) -> RecordResult {
        let outcome = self.recorder.record_each(vec![(record, copy)]).pop();
        let is_stored = matches!(outcome, Some(RecordOutcome::Stored(_)));
        if self.daemon_mode != DaemonMode::Off {
            spawn_daemon(&self.data, self.keep);
        } else if is_stored {
            // Without a daemon, this process stores the pending events. If this event failed, they would fail too.
            self.recorder.drain_for(BACKLOG_TIME_LIMIT);
            self.recorder.checkpoint_before_exit();
        }
        let result = outcome.map_or(RecordResult::Stored, |outcome| self.report_outcome(outcome));
        self.recorder.abandon_store();
        result
    }

    /// Prints why an event is not stored.
    fn report_outcome(&mut self, outcome: RecordOutcome) -> RecordResult {
        let mut warnings = self.recorder.take_warnings();
        let result = if outcome.needs_copy() { RecordResult::Failed } else { RecordResult::Stored };
        warnings.extend(outcome.into_warning());
        self.print_warnings(&warnings);
        result
    }

    fn print_warnings(&mut self, warnings: &[String]) {
        if !warnings.is_empty() {
            self.warning = None;
            print_warnings(warnings);
        }
    }
}

/// Records the context usage that an agent reports. An unknown session is ignored, so nothing is recorded for a user who disabled
/// recording.
pub(crate) fn record_context_usage(
    store_handle: &mut StoreHandle,
    session_id: &str,
    report: ContextReport,
) -> anyhow::Result<()> {
    let request = DaemonRequest::Context { session_id: session_id.to_owned(), report: report.clone() };
    if DaemonMode::from_env() != DaemonMode::Off
        && let DeliveryOutcome::Done(response) = daemon::send_and_wait(store_handle.data_dir(), &request)
    {
        print_warnings(&response.remarks);
        return Ok(());
    }
    store_handle.query(|store| store.set_context_usage(session_id, &report)).map(drop)
}

fn print_warnings(warnings: &[String]) {
    if !warnings.is_empty() {
        output::print_warning(warnings.join("; "));
    }
}

/// Starts a daemon that keeps the database open for the next hooks. Without one, they are slower.
fn spawn_daemon(data: &Path, keep: RetentionPeriod) {
    let keep = match keep {
        RetentionPeriod::For(keep) => Some(format!("--keep={}", keep.as_secs()).into()),
        RetentionPeriod::Forever => None,
    };
    spawn_job(data, DaemonJob::Store, keep.into_iter().collect());
}

/// Starts a process of this program for a job, with these options, unless one is running.
pub(crate) fn spawn_job(data: &Path, job: DaemonJob, options: Vec<OsString>) {
    if load::has_tight_limits() {
        return;
    }
    let Ok(program) = std::env::current_exe() else {
        return;
    };
    let job_option = match job {
        DaemonJob::Store => "--job=store",
        DaemonJob::Forward => "--job=forward",
    };
    let mut arguments: Vec<OsString> = vec!["daemon".into(), data.into(), job_option.into()];
    arguments.extend(options);
    let _ = daemon::spawn_daemon(data, job, &program, &arguments);
}
