//! Goose.

use super::AgentProduct;
use super::deny_only::BASE_PRODUCT;
use super::fingerprint::PayloadMark::Keys;

pub(super) static GOOSE: AgentProduct =
    AgentProduct { name: "goose", title: "Goose", payload_marks: &[Keys(&["matcher_context"])], ..BASE_PRODUCT };
