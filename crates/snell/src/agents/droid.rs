//! Factory droid.

use super::AgentProduct;
use super::deny_only::DENY_ONLY;
use super::fingerprint::PayloadMark::Values;

pub(super) static DROID: AgentProduct = AgentProduct {
    name: "droid",
    title: "Factory droid",
    payload_marks: &[Values("permission_mode", &["off", "spec", "auto-low", "auto-medium", "auto-high"])],
    env_marks: &["FACTORY_PROJECT_DIR"],
    ..DENY_ONLY
};
