//! Requests of agents that wait where no hook can answer, and answers that are still to be typed.

use std::path::Path;
use std::time::Duration;

use snell::{AnswersSettings, NoticeKind, Timestamp};
use snell_server::pane_input;
use snell_store::{DispatchView, Result, Store};

use crate::env::caller::CallerEnv;

/// A process that answers types the answer itself. After this time it has been killed.
const TYPING_GRACE: Duration = Duration::from_secs(2);

/// Opens the requests of agents that have begun to wait. A wait that another dispatcher has seen already has its request.
pub(super) fn open_requests(store: &mut Store, changes: &[DispatchView], answers: &AnswersSettings) -> Result<()> {
    let waits = changes.iter().filter(|change| change.kind == NoticeKind::NeedsUser && change.is_current());
    for change in waits.filter(|_| answers.is_enabled()) {
        if is_answerable(change) {
            store.open_wait_request(change, Timestamp::now())?;
        }
    }
    Ok(())
}

/// Whether the user and the project allow answers to this agent. The project's file is read each time, because it may have
/// changed.
fn is_answerable(change: &DispatchView) -> bool {
    let project = Path::new(&change.project_path);
    let Ok(builder) = CallerEnv::engine_builder(project.to_owned()) else {
        return false;
    };
    let agent = change.product.as_deref().unwrap_or_default();
    builder.survey().load().0.settings().answers.is_enabled_for(agent, project)
}

/// Types answers whose own process did not. Returns whether any answer waits.
pub(super) fn deliver_answers(store: &mut Store) -> Result<bool> {
    let now = Timestamp::now();
    let waiting = store.find_untyped_answers(now)?;
    let is_waiting = !waiting.is_empty();
    for request in waiting {
        if request.closed_at.is_none_or(|closed_at| closed_at + TYPING_GRACE <= now) {
            pane_input::deliver_answer(store, request, now)?;
        }
    }
    Ok(is_waiting)
}
