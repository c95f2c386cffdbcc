//! Antigravity. It reads JSON answers only, so exit code 2 does not stop it.

use super::AgentProduct;
use super::deny_only::BASE_PRODUCT;
use super::fingerprint::PayloadMark::Keys;

pub(super) static ANTIGRAVITY: AgentProduct = AgentProduct {
    name: "antigravity",
    title: "Antigravity",
    payload_marks: &[Keys(&["toolCall", "conversationId"])],
    ..BASE_PRODUCT
};
