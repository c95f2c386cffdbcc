//! Factory droid.

use super::AgentProduct;
use super::deny_only::BASE_PRODUCT;
use super::fingerprint::PayloadMark::Values;

pub(super) static DROID: AgentProduct = AgentProduct {
    name: "droid",
    title: "Factory droid",
    payload_marks: &[Values("permission_mode", &["off", "spec", "auto-low", "auto-medium", "auto-high"])],
    env_marks: &["FACTORY_PROJECT_DIR"],
    ..BASE_PRODUCT
};
