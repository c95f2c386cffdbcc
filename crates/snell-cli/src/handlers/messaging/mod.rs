//! Decides whether an agent may send a message to its recipients.
//!
//! - `tools` classifies calls by the `words` of their names;
//! - `recipients` finds the recipients by the `fields` of the input and the `headers` in it;
//! - `contacts` looks recipients up in the contacts file; `address` compares addresses;
//! - `rule` decides, and `reason` explains the decision.
//!
//! Only `contacts` touches a disk, and only for calls that send or draft.

mod address;
mod contacts;
mod fields;
mod headers;
mod reason;
mod recipients;
mod rule;
mod tools;
mod words;

use std::path::Path;

use serde_json::Value;
use snell::{CommsSettings, Decision, MessageUse};

use self::contacts::ContactList;
use self::reason::RecipientObstacle;
use super::SessionMode;

/// A tool that is about to run.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageCall<'a> {
    pub(super) tool: &'a str,
    pub(super) input: &'a Value,
    pub(super) mode: &'a SessionMode,
}

/// Why a call is not allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MessageObjection {
    /// `Ask` or `Deny`.
    pub(super) decision: Decision,
    pub(super) reason: String,
}

/// The objection to this call, if there is one. `default_contacts` is the contacts file if the settings name none; it is `None`
/// without a home directory.
///
/// A call without an objection gets no decision: allowing it would skip the user's own permissions.
pub(super) fn judge_call(
    call: &MessageCall<'_>,
    settings: &CommsSettings,
    default_contacts: Option<&Path>,
) -> Option<MessageObjection> {
    let what = tools::classify_tool(call.tool, settings);
    if what == MessageUse::Nothing {
        return None;
    }
    if let Some(mode) = call.mode.name() {
        return build_denial(reason::explain_mode(call.tool, mode));
    }
    let recipients = recipients::find_recipients(call.input, &settings.recipients);
    if recipients.is_cut {
        return build_denial(reason::explain_too_large(call.tool));
    }
    if recipients.list.is_empty() {
        let explain = || reason::explain_no_recipient(call.tool, call.input, &settings.recipients);
        return build_objection(rule::decide_without_recipient(what), explain);
    }
    let Some(file) = settings.contacts.as_deref().or(default_contacts) else {
        return build_denial(reason::explain_contacts_file(call.tool, "there is no home directory"));
    };
    let contacts = match ContactList::open(file) {
        Ok(contacts) => contacts,
        Err(fault) => return build_denial(reason::explain_contacts_file(call.tool, &fault)),
    };
    let mut obstacles = Vec::new();
    let mut strictest = Decision::None;
    for recipient in recipients.list {
        let contact = contacts.look_up(&recipient);
        let decision = rule::decide_message(what, contact.standing);
        if decision != Decision::None {
            obstacles.push(RecipientObstacle { recipient, contact });
        }
        strictest = strictest.max(decision);
    }
    let refusal = reason::MessageRefusal { tool: call.tool, what, decision: strictest, obstacles: &obstacles };
    build_objection(strictest, || reason::explain_obstacles(&refusal, file, &contacts))
}

/// Whether this tool sends or drafts messages.
pub(super) fn is_message_tool(tool: &str, settings: &CommsSettings) -> bool {
    tools::classify_tool(tool, settings) != MessageUse::Nothing
}

fn build_denial(reason: String) -> Option<MessageObjection> {
    build_objection(Decision::Deny, || reason)
}

fn build_objection(decision: Decision, reason: impl FnOnce() -> String) -> Option<MessageObjection> {
    match decision {
        Decision::None | Decision::Allow => None,
        Decision::Ask | Decision::Deny => Some(MessageObjection { decision, reason: reason() }),
    }
}

#[cfg(test)]
mod tests;
