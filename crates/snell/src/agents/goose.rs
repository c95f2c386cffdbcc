//! Goose.

use super::AgentProduct;
use super::deny_only::DENY_ONLY;
use super::fingerprint::PayloadMark::Keys;

pub(super) static GOOSE: AgentProduct =
    AgentProduct { name: "goose", title: "Goose", payload_marks: &[Keys(&["matcher_context"])], ..DENY_ONLY };
