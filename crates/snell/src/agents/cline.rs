//! Cline. It reads JSON answers only, so exit code 2 does not stop it.

use super::AgentProduct;
use super::deny_only::DENY_ONLY;
use super::fingerprint::PayloadMark::Keys;
use super::fingerprint::{Fingerprint, NO_FINGERPRINT};

pub(super) static CLINE: AgentProduct = AgentProduct {
    name: "cline",
    title: "Cline",
    fingerprint: Fingerprint { payload: &[Keys(&["clineVersion"])], ..NO_FINGERPRINT },
    ..DENY_ONLY
};
