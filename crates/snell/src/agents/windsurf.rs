//! Windsurf.

use super::AgentProduct;
use super::deny_only::DENY_ONLY;
use super::fingerprint::PayloadMark::Keys;
use super::fingerprint::{Fingerprint, NO_FINGERPRINT};

pub(super) static WINDSURF: AgentProduct = AgentProduct {
    name: "windsurf",
    title: "Windsurf",
    fingerprint: Fingerprint { payload: &[Keys(&["agent_action_name"])], ..NO_FINGERPRINT },
    ..DENY_ONLY
};
