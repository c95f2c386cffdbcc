//! Grok Build. It also runs the user's hook file of Claude Code, and drops `args`.

use super::AgentProduct;
use super::deny_only::DENY_ONLY;
use super::fingerprint::PayloadMark::Keys;
use super::fingerprint::{Fingerprint, NO_FINGERPRINT};

pub(super) static GROK: AgentProduct = AgentProduct {
    name: "grok",
    title: "Grok Build",
    fingerprint: Fingerprint {
        payload: &[Keys(&["hookEventName", "workspaceRoot"])],
        variables: &["GROK_SESSION_ID"],
        ..NO_FINGERPRINT
    },
    ..DENY_ONLY
};
