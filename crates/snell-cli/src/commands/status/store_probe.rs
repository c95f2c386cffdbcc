//! Queries the database, and reports why if it cannot be used.

use snell::is_file_kind_error;
use snell_store::{AgentFilter, AgentState, AgentView, FailedHook, ReconcileScope, Store, StoreError, StoreTotals};

use super::{AttentionItem, failed_hooks};
use crate::record::open_store::{self, StoreHandle};
use crate::telemetry::TelemetryReport;

/// A function that queries the database.
pub(super) type StoreProbe = fn(&mut StoreHandle, &mut Vec<AttentionItem>) -> StoreProbeResult;

/// The answer of the database.
pub(super) struct StoreProbeResult {
    pub(super) state: &'static str,
    pub(super) error: Option<String>,
    pub(super) totals: Option<StoreTotals>,
    pub(super) waiting_agents: Vec<AgentView>,
    pub(super) failed_hooks: Vec<FailedHook>,
    pub(super) telemetry: Option<TelemetryReport>,
}

impl StoreProbeResult {
    /// Only the state of the database.
    fn from_state(state: &'static str, error: Option<String>) -> Self {
        Self { state, error, totals: None, waiting_agents: Vec::new(), failed_hooks: Vec::new(), telemetry: None }
    }
}

/// Opens the database without changing it.
pub(super) fn probe_read_only(store_handle: &mut StoreHandle, attention: &mut Vec<AttentionItem>) -> StoreProbeResult {
    let location = store_handle.location();
    if location.file().is_some_and(|path| matches!(path.try_exists(), Ok(false))) {
        return StoreProbeResult::from_state("none", None);
    }
    match Store::open_read_only_at(&location) {
        Ok(_) => StoreProbeResult::from_state("ok", None),
        Err(error) => report_unusable(store_handle, error, attention),
    }
}

/// Queries everything that the status shows.
pub(super) fn query_store(store_handle: &mut StoreHandle, attention: &mut Vec<AttentionItem>) -> StoreProbeResult {
    if store_handle.has_no_records() {
        return StoreProbeResult::from_state("none", None);
    }
    let now = store_handle.now();
    let (answer, remarks) = store_handle.try_query(|store| {
        open_store::reconcile_agents(store, ReconcileScope::All, now)?;
        let failed_hooks = store.list_failed_hooks(failed_hooks::start_of_recent(now))?;
        let telemetry = TelemetryReport::read(store)?;
        Ok((store.count_totals()?, store.list_agents(&AgentFilter::default())?, failed_hooks, telemetry))
    });
    // A database that was moved aside just now is reported with the files on disk.
    let remarks = remarks.into_iter().filter(|_| store_handle.count_pending() > 0);
    attention.extend(remarks.map(|what| AttentionItem {
        what,
        remedy: "the waiting events are safe, and are stored when the database is writable".into(),
    }));
    match answer {
        Ok((totals, mut agents, failed_hooks, telemetry)) => {
            agents.retain(|agent| agent.state == AgentState::AwaitingInput);
            StoreProbeResult {
                totals: Some(totals),
                waiting_agents: agents,
                failed_hooks,
                telemetry,
                ..StoreProbeResult::from_state("ok", None)
            }
        }
        Err(error) => report_unusable(store_handle, error, attention),
    }
}

/// Reports a database that cannot be used.
fn report_unusable(
    store_handle: &StoreHandle,
    error: StoreError,
    attention: &mut Vec<AttentionItem>,
) -> StoreProbeResult {
    let (state, remedy) = match &error {
        StoreError::Locked => ("locked", "try again, or end the program that locks the database"),
        StoreError::Damaged(_) => {
            ("damaged", "with the next event, Snell moves the damaged database aside and creates a new one")
        }
        StoreError::Unreachable(_) => ("unreachable", "check the address, and that the server runs"),
        StoreError::TooNew { .. } => ("unusable", "install the newer version of Snell"),
        _ => ("unusable", "check that the directory is writable and the disk has free space"),
    };
    let is_misplaced = matches!(&error, StoreError::File { source, .. } if is_file_kind_error(source));
    let what = format!("{:#}", anyhow::Error::from(error));
    // A wrong kind of file is reported with the files on disk.
    if !is_misplaced {
        attention.push(AttentionItem { what: format!("{}: {what}", store_handle.location()), remedy: remedy.into() });
    }
    StoreProbeResult::from_state(state, Some(what))
}
