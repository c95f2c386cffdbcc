//! Codex. Its payloads and answers look like those of Claude Code.

use super::AgentProduct;
use super::deny_only::BASE_PRODUCT;
use super::fingerprint::PayloadMark::Keys;

pub(super) static CODEX: AgentProduct = AgentProduct {
    name: "codex",
    title: "Codex",
    // Claude Code sends `turn_id` too, with `MessageDisplay`, but never `model` beside it.
    payload_marks: &[Keys(&["turn_id", "model"])],
    ..BASE_PRODUCT
};
