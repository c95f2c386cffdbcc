//! Windsurf.

use super::AgentProduct;
use super::deny_only::BASE_PRODUCT;
use super::fingerprint::PayloadMark::Keys;

pub(super) static WINDSURF: AgentProduct = AgentProduct {
    name: "windsurf",
    title: "Windsurf",
    payload_marks: &[Keys(&["agent_action_name"])],
    ..BASE_PRODUCT
};
