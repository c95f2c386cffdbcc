//! Copilot CLI. It also runs a project's hook files of Claude Code, and drops `args`.

use super::AgentProduct;
use super::deny_only::BASE_PRODUCT;
use super::fingerprint::PayloadMark::Keys;

pub(super) static COPILOT: AgentProduct = AgentProduct {
    name: "copilot",
    title: "Copilot",
    payload_marks: &[Keys(&["sessionId", "toolArgs"])],
    ..BASE_PRODUCT
};
