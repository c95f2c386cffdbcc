//! What the store says of itself, and what is wrong if it says nothing.

use snell::is_file_kind_error;
use snell_store::{AgentFilter, AgentState, AgentView, ReconcileScope, Store, StoreError, StoreTotals};

use super::AttentionItem;
use crate::record::open_store::{self, StoreHandle};

/// How the store is asked.
pub(super) type StoreProbe = fn(&mut StoreHandle, &mut Vec<AttentionItem>) -> StoreProbeResult;

/// What the store answered.
pub(super) struct StoreProbeResult {
    pub(super) state: &'static str,
    pub(super) error: Option<String>,
    pub(super) totals: Option<StoreTotals>,
    pub(super) waiting_agents: Vec<AgentView>,
}

impl StoreProbeResult {
    /// Nothing but how the database is.
    fn from_state(state: &'static str, error: Option<String>) -> Self {
        Self { state, error, totals: None, waiting_agents: Vec::new() }
    }
}

/// Looks at the database as it is, and changes nothing.
pub(super) fn probe_read_only(store_handle: &mut StoreHandle, attention: &mut Vec<AttentionItem>) -> StoreProbeResult {
    if matches!(store_handle.database_path().try_exists(), Ok(false)) {
        return StoreProbeResult::from_state("none", None);
    }
    match Store::open_read_only(&store_handle.database_path()) {
        Ok(_) => StoreProbeResult::from_state("ok", None),
        Err(error) => report_unusable(store_handle, error, attention),
    }
}

/// Asks the store for all that is shown of it.
pub(super) fn query_store(store_handle: &mut StoreHandle, attention: &mut Vec<AttentionItem>) -> StoreProbeResult {
    if store_handle.has_no_records() {
        return StoreProbeResult::from_state("none", None);
    }
    let now = store_handle.now();
    let (answer, remarks) = store_handle.try_query(|store| {
        open_store::reconcile_agents(store, ReconcileScope::All, now)?;
        Ok((store.count_totals()?, store.list_agents(&AgentFilter::default())?))
    });
    // A database that was set aside just now is found on disk like all others.
    let remarks = remarks.into_iter().filter(|_| store_handle.count_pending() > 0);
    attention.extend(remarks.map(|what| AttentionItem {
        what,
        remedy: "nothing that waits is lost; it is stored when the database can be written".into(),
    }));
    match answer {
        Ok((totals, mut agents)) => {
            agents.retain(|agent| agent.state == AgentState::AwaitingInput);
            StoreProbeResult {
                totals: Some(totals),
                waiting_agents: agents,
                ..StoreProbeResult::from_state("ok", None)
            }
        }
        Err(error) => report_unusable(store_handle, error, attention),
    }
}

/// A database that cannot be used.
fn report_unusable(
    store_handle: &StoreHandle,
    error: StoreError,
    attention: &mut Vec<AttentionItem>,
) -> StoreProbeResult {
    let (state, remedy) = match &error {
        StoreError::Locked => ("locked", "try again; if it stays locked, end the program that holds it"),
        StoreError::Damaged(_) => ("damaged", "it is moved aside, and a new one begun, with the next event"),
        StoreError::TooNew { .. } => ("unusable", "install the newer version of Snell"),
        _ => ("unusable", "see that the directory can be written and the disk has room"),
    };
    let is_misplaced = matches!(&error, StoreError::File { source, .. } if is_file_kind_error(source));
    let what = format!("{:#}", anyhow::Error::from(error));
    // Something else in the place of a file is found on disk, and named with its own remedy.
    if !is_misplaced {
        attention.push(AttentionItem {
            what: format!("{}: {what}", store_handle.database_path().display()),
            remedy: remedy.into(),
        });
    }
    StoreProbeResult::from_state(state, Some(what))
}
