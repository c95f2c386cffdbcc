//! Factory droid.

use super::AgentProduct;
use super::deny_only::DENY_ONLY;
use super::fingerprint::PayloadMark::Values;
use super::fingerprint::{Fingerprint, NO_FINGERPRINT};

pub(super) static DROID: AgentProduct = AgentProduct {
    name: "droid",
    title: "Factory droid",
    fingerprint: Fingerprint {
        payload: &[Values("permission_mode", &["off", "spec", "auto-low", "auto-medium", "auto-high"])],
        variables: &["FACTORY_PROJECT_DIR"],
        ..NO_FINGERPRINT
    },
    ..DENY_ONLY
};
