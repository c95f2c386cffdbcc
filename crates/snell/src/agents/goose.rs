//! Goose.

use super::AgentProduct;
use super::deny_only::DENY_ONLY;
use super::fingerprint::PayloadMark::Keys;
use super::fingerprint::{Fingerprint, NO_FINGERPRINT};

pub(super) static GOOSE: AgentProduct = AgentProduct {
    name: "goose",
    title: "Goose",
    fingerprint: Fingerprint { payload: &[Keys(&["matcher_context"])], ..NO_FINGERPRINT },
    ..DENY_ONLY
};
