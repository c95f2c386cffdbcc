//! Answers that Snell gives again: calls that the user allowed for longer than once.

use serde::Serialize;
use snell::Timestamp;

use super::{RememberScope, RequestRows};
use crate::error::Result;
use crate::store::Store;

/// A call that the user allowed for longer than once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RememberedAnswer {
    /// The request that was answered.
    pub request_uid: String,
    /// For which calls.
    pub scope: RememberScope,
    /// The session's id, or the project's path.
    pub scope_key: String,
    /// The tool.
    pub tool: String,
    /// A hash of everything that can change the effect of the call.
    #[serde(skip)]
    pub subject: String,
    /// One line about the call, masked.
    pub title: String,
    /// The rules of the guard and the hooks that asked about the call.
    pub asked_by: Vec<String>,
    /// When it was answered.
    pub created_at: Timestamp,
    /// Until when it counts.
    pub until: Option<Timestamp>,
}

/// A call that may have been allowed before.
#[derive(Clone, Debug)]
pub struct RememberedCall<'a> {
    /// The session.
    pub session_id: Option<&'a str>,
    /// The project's path.
    pub project_path: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// The hash of the call.
    pub subject: &'a str,
    /// The rules of the guard and the hooks that ask about it now. The user must have seen all of them.
    pub asked_by: &'a [String],
}

impl RememberedAnswer {
    /// Whether the user knew of all rules and hooks that ask now.
    pub(crate) fn covers(&self, asked_by: &[String]) -> bool {
        asked_by.iter().all(|source| self.asked_by.contains(source))
    }
}

impl Store {
    /// Remembers that a call was allowed. A later answer about the same call replaces an earlier one.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub fn remember_answer(&mut self, remembered: &RememberedAnswer) -> Result<()> {
        self.run_transaction("request", remembered.created_at, &mut |journal| {
            journal.save_remembered_answer(remembered)?;
            // Pages list it, and follow the changes of requests.
            if let Some(request) = journal.find_request_by_uid(&remembered.request_uid)? {
                journal.record_request_delivery(request.request_id)?;
            }
            Ok(())
        })
    }

    /// Forgets the answer that was given to this request. Returns it; nothing if no such answer is remembered.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub fn forget_answer(&mut self, request_uid: &str, now: Timestamp) -> Result<Option<RememberedAnswer>> {
        self.run_transaction("request", now, &mut |journal| {
            let forgotten = journal.delete_remembered_answer(request_uid)?;
            if let (Some(_), Some(request)) = (&forgotten, journal.find_request_by_uid(request_uid)?) {
                journal.record_request_delivery(request.request_id)?;
            }
            Ok(forgotten)
        })
    }
}
