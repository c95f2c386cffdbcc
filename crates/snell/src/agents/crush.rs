//! Crush. Its payloads have no mark of their own.

use super::AgentProduct;
use super::deny_only::BASE_PRODUCT;

pub(super) static CRUSH: AgentProduct =
    AgentProduct { name: "crush", title: "Crush", env_marks: &["CRUSH"], ..BASE_PRODUCT };
