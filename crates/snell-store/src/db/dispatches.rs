//! Changes that hooks and notices react to, and their deliveries.
//!
//! The transaction that changes an agent's state also inserts the change, so neither is ever without the other. Any
//! process with the user's settings may plan its deliveries, and claim and make them: each is claimed by one process at
//! a time, and a claim that is not renewed expires.

use serde::Serialize;
use snell::{NoticeKind, Timestamp};

use crate::db::model::{AgentRow, AgentState, StateSource, words};
use crate::error::Result;

words! {
    /// The status of a delivery.
    DeliveryStatus {
        /// It is due at its time.
        Pending = "pending",
        /// It waits for the end of the quiet hours.
        Held = "held",
        /// It was delivered.
        Sent = "sent",
        /// It was not needed any more.
        Skipped = "skipped",
        /// It was given up.
        Failed = "failed",
    }
}

/// A change to store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewDispatch<'a> {
    /// Its id, if it has one already: that of a request.
    pub(crate) uid: Option<&'a str>,
    pub(crate) kind: NoticeKind,
    pub(crate) agent_id: i64,
    pub(crate) at: Timestamp,
    pub(crate) text: &'a str,
}

/// The kind of a change of state, if anything reacts to it. A session that starts makes its agent idle, which is not
/// the end of a turn. A session that was found without its events is not news.
pub(crate) fn classify_state_change(before: Option<AgentState>, agent: &AgentRow) -> Option<NoticeKind> {
    if before.is_none() && agent.state_source != StateSource::Hook {
        return None;
    }
    match (before, agent.state) {
        (_, AgentState::Processing) | (None | Some(AgentState::Ended), AgentState::Idle) => None,
        (_, AgentState::AwaitingInput) => Some(NoticeKind::NeedsUser),
        (_, AgentState::Idle) => Some(NoticeKind::Idle),
        (_, AgentState::Ended) => Some(NoticeKind::Ended),
    }
}

/// A change, and its agent now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DispatchView {
    /// Its number in this database.
    pub dispatch_id: i64,
    /// An id that no other change has, in any database.
    pub uid: String,
    /// The kind of change.
    pub kind: NoticeKind,
    /// The agent.
    pub agent_id: i64,
    /// The time of the change.
    pub at: Timestamp,
    /// The time when it was stored, by the real clock.
    pub recorded_at: Timestamp,
    /// The reason: the question, the command, the end.
    pub text: String,
    /// The agent's product.
    pub product: Option<String>,
    /// The agent's session.
    pub session_id: Option<String>,
    /// The name of its project.
    pub project: String,
    /// The directory of its project.
    pub project_path: String,
    /// The agent's state now.
    pub state: AgentState,
    /// The time of the last change of state.
    pub state_since: Timestamp,
    /// Its last message.
    pub last_words: Option<String>,
    /// Why it ended.
    pub end_reason: Option<String>,
    /// Its host.
    pub host: Option<String>,
    /// Its tmux pane.
    pub tmux_pane: Option<String>,
    /// The socket of its tmux server.
    pub tmux_server: Option<String>,
    /// The open request that it is about: the one that was opened, or one of the agent that waits.
    pub open_request: Option<String>,
    /// Whether it is a blocked call that was blocked shortly before, too.
    pub is_repetition: bool,
}

impl DispatchView {
    /// Whether the agent is still in the state that it changed to, or the request is open. A blocked call does not
    /// change.
    pub fn is_current(&self) -> bool {
        let state = match self.kind {
            NoticeKind::NeedsUser => AgentState::AwaitingInput,
            NoticeKind::Idle => AgentState::Idle,
            NoticeKind::Ended => AgentState::Ended,
            NoticeKind::Request => return self.open_request.is_some(),
            NoticeKind::Blocked => return true,
        };
        self.state == state && self.state_since == self.at
    }
}

/// A delivery to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedDelivery {
    /// Its target.
    pub target: &'static str,
    /// When it is due, by the real clock.
    pub due_at: Timestamp,
}

/// A process that claims deliveries, and until when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryClaim {
    /// The process. No other one has this name.
    pub owner: String,
    /// The claim's end, unless it is renewed.
    pub until: Timestamp,
}

/// A claimed delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedDelivery {
    /// Its number.
    pub delivery_id: i64,
    /// Its target.
    pub target: String,
    /// The attempts before this one.
    pub attempts: u32,
    /// The change.
    pub dispatch: DispatchView,
}

/// The result of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryResult {
    /// It was delivered.
    Sent,
    /// It is not needed any more, for this reason.
    Skipped(String),
    /// It waits for the end of the quiet hours.
    Held,
    /// It failed for this reason, and is tried again at this time.
    Retry(String, Timestamp),
    /// It failed for this reason, and is given up.
    Failed(String),
}

impl DeliveryResult {
    pub(crate) fn status(&self) -> DeliveryStatus {
        match self {
            Self::Sent => DeliveryStatus::Sent,
            Self::Skipped(_) => DeliveryStatus::Skipped,
            Self::Held => DeliveryStatus::Held,
            Self::Retry(..) => DeliveryStatus::Pending,
            Self::Failed(_) => DeliveryStatus::Failed,
        }
    }
}

/// A delivery, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeliveryView {
    /// The change's id, as receivers get it.
    pub uid: String,
    /// The kind of change.
    pub kind: String,
    /// The agent.
    pub agent_id: i64,
    /// The time of the change.
    pub at: Timestamp,
    /// The reason of the change.
    pub text: String,
    /// The target.
    pub target: String,
    /// Its status.
    pub status: DeliveryStatus,
    /// The attempts so far.
    pub attempts: u32,
    /// Why it was skipped, or failed.
    pub detail: Option<String>,
    /// The time of the result, by the real clock.
    pub finished_at: Option<Timestamp>,
}

/// The table of changes and their deliveries. All times are those of the real clock.
pub trait DispatchTable {
    /// Changes after this one that are not planned, the oldest first.
    fn list_unplanned(&mut self, after: i64, at_most: u32) -> Result<Vec<DispatchView>>;
    /// Stores the deliveries of changes. Changes that another process has planned meanwhile stay as they are.
    fn plan_dispatches(&mut self, plans: &[(i64, Vec<PlannedDelivery>)]) -> Result<()>;
    /// Plans no deliveries for all changes up to this one that are not planned.
    fn skip_unplanned(&mut self, up_to: i64) -> Result<()>;
    /// Claims the delivery that is due for the longest time, if no other process has claimed it.
    fn claim_due_delivery(&mut self, claim: &DeliveryClaim, now: Timestamp) -> Result<Option<ClaimedDelivery>>;
    /// Renews a claim. Returns whether the delivery is still claimed by this owner.
    fn renew_claim(&mut self, delivery_id: i64, claim: &DeliveryClaim) -> Result<bool>;
    /// Stores the result of an attempt, if the delivery is still claimed by this owner.
    fn finish_attempt(&mut self, delivery_id: i64, owner: &str, result: &DeliveryResult) -> Result<()>;
    /// Makes all held deliveries due.
    fn release_held(&mut self) -> Result<()>;
    /// The number of deliveries that are due or wait, and the earliest time at which one can be claimed.
    fn summarize_open(&mut self) -> Result<(i64, Option<Timestamp>)>;
    /// Deliveries, the newest first.
    fn list_deliveries(&mut self, at_most: u32) -> Result<Vec<DeliveryView>>;
    /// Deliveries that were given up since this time, the newest first.
    fn list_failed_deliveries(&mut self, since: Timestamp) -> Result<Vec<DeliveryView>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_ends_of_turns_and_ends_of_agents_are_news() {
        use AgentState::{AwaitingInput, Ended, Idle, Processing};
        use StateSource::{Hook, Transcript};
        let cases = [
            (Some(Processing), AwaitingInput, Hook, Some(NoticeKind::NeedsUser)),
            (Some(Idle), AwaitingInput, Transcript, Some(NoticeKind::NeedsUser)),
            (Some(Processing), Idle, Transcript, Some(NoticeKind::Idle)),
            (Some(AwaitingInput), Idle, Hook, Some(NoticeKind::Idle)),
            (Some(Idle), Ended, StateSource::Process, Some(NoticeKind::Ended)),
            (Some(Idle), Processing, Hook, None),
            // A session that starts, or goes on after its end.
            (None, Idle, Hook, None),
            (Some(Ended), Idle, Hook, None),
            (None, AwaitingInput, Hook, Some(NoticeKind::NeedsUser)),
            (None, Ended, Hook, Some(NoticeKind::Ended)),
            // Sessions that are found afterwards.
            (None, AwaitingInput, Transcript, None),
            (None, Ended, Transcript, None),
        ];
        for (before, state, source, expected) in cases {
            let mut agent = AgentRow::new(1, Timestamp::UNIX_EPOCH);
            agent.set_state(state, source, "", Timestamp::UNIX_EPOCH);
            assert_eq!(classify_state_change(before, &agent), expected, "{before:?} to {state} by {source}");
        }
    }
}
