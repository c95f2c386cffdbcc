//! Crush. Its payloads have no mark of their own.

use super::AgentProduct;
use super::deny_only::DENY_ONLY;
use super::fingerprint::{Fingerprint, NO_FINGERPRINT};

pub(super) static CRUSH: AgentProduct = AgentProduct {
    name: "crush",
    title: "Crush",
    fingerprint: Fingerprint { variables: &["CRUSH"], ..NO_FINGERPRINT },
    ..DENY_ONLY
};
