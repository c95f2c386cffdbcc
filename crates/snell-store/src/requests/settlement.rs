//! Requests whose hook is gone or whose time is over get their end from the next process that looks.

use std::time::Duration;

use snell::Timestamp;

use super::{RequestRows, RequestStatus};
use crate::db::model::ProcessIdentity;
use crate::error::Result;
use crate::store::Store;

/// A hook that waits may be late by this much before its request gets its end.
const EXPIRY_GRACE: Duration = Duration::from_secs(5);

const TOO_LATE: &str = "no answer came in time";
const HOOK_ENDED: &str = "the agent ended the hook that waited";

/// Why an agent did not get an answer that was given.
const ENDED_BEFORE: &str = "its hook ended before";
const NOT_TAKEN: &str = "its hook did not take it in time";

/// A request for which a hook may wait: an open one, or one whose answer the hook has not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsettledRequest {
    pub(crate) request_id: i64,
    pub(crate) status: RequestStatus,
    pub(crate) expires_at: Timestamp,
    pub(crate) host: Option<String>,
    pub(crate) waiter: Option<ProcessIdentity>,
}

impl UnsettledRequest {
    /// Why nothing more can happen to it, if its hook is gone or its time is over.
    fn find_end(&self, own_host: Option<&str>, now: Timestamp) -> Option<(RequestStatus, &'static str)> {
        let is_answered = self.status == RequestStatus::Answered;
        let latest = self.expires_at.checked_add(EXPIRY_GRACE).unwrap_or(self.expires_at);
        if latest <= now {
            return Some((RequestStatus::Expired, if is_answered { NOT_TAKEN } else { TOO_LATE }));
        }
        // Processes of other hosts cannot be seen here.
        let is_near = self.host.is_none() || self.host.as_deref() == own_host;
        let is_gone = is_near && self.waiter.is_some_and(ProcessIdentity::is_gone);
        is_gone.then_some((RequestStatus::Withdrawn, if is_answered { ENDED_BEFORE } else { HOOK_ENDED }))
    }
}

impl Store {
    /// Closes open requests whose hook is gone or whose time is over, and gives up answers that no hook will take. Returns
    /// how many. It reads only an index of such requests.
    ///
    /// # Errors
    ///
    /// When the database cannot be used.
    pub fn sweep_requests(&mut self, now: Timestamp) -> Result<usize> {
        let host = self.host().map(str::to_owned);
        let unsettled = self.list_unsettled_requests()?;
        let find_end = |found: UnsettledRequest| Some((found.find_end(host.as_deref(), now)?, found));
        let over: Vec<_> = unsettled.into_iter().filter_map(find_end).collect();
        for ((status, reason), found) in &over {
            if found.status == RequestStatus::Open {
                self.close_request(found.request_id, *status, reason, now)?;
            } else {
                self.give_up_answer(found.request_id, reason, now)?;
            }
        }
        Ok(over.len())
    }

    /// Stores that the agent did not get an answer, unless a hook has taken it meanwhile.
    fn give_up_answer(&mut self, request_id: i64, reason: &str, now: Timestamp) -> Result<()> {
        self.run_transaction("request", now, &mut |journal| {
            if journal.require_request(request_id)?.delivered_at.is_none() {
                journal.save_request_delivery(request_id, None, Some(reason))?;
                journal.record_request_delivery(request_id)?;
            }
            Ok(())
        })
    }
}
