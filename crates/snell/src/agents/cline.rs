//! Cline. It reads JSON answers only, so exit code 2 does not stop it.

use super::AgentProduct;
use super::deny_only::BASE_PRODUCT;
use super::fingerprint::PayloadMark::Keys;

pub(super) static CLINE: AgentProduct =
    AgentProduct { name: "cline", title: "Cline", payload_marks: &[Keys(&["clineVersion"])], ..BASE_PRODUCT };
