//! Grok Build. It also runs the user's hook file of Claude Code, and drops `args`.

use super::AgentProduct;
use super::deny_only::BASE_PRODUCT;
use super::fingerprint::PayloadMark::Keys;

pub(super) static GROK: AgentProduct = AgentProduct {
    name: "grok",
    title: "Grok Build",
    payload_marks: &[Keys(&["hookEventName", "workspaceRoot"])],
    env_marks: &["GROK_SESSION_ID"],
    ..BASE_PRODUCT
};
