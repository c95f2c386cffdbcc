//! Antigravity. It reads JSON answers only, so exit code 2 does not stop it.

use super::AgentProduct;
use super::deny_only::DENY_ONLY;
use super::fingerprint::PayloadMark::Keys;
use super::fingerprint::{Fingerprint, NO_FINGERPRINT};

pub(super) static ANTIGRAVITY: AgentProduct = AgentProduct {
    name: "antigravity",
    title: "Antigravity",
    fingerprint: Fingerprint { payload: &[Keys(&["toolCall", "conversationId"])], ..NO_FINGERPRINT },
    ..DENY_ONLY
};
