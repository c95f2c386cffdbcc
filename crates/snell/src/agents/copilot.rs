//! Copilot CLI. It also runs a project's hook files of Claude Code, and drops `args`.

use super::AgentProduct;
use super::deny_only::DENY_ONLY;
use super::fingerprint::PayloadMark::Keys;
use super::fingerprint::{Fingerprint, NO_FINGERPRINT};

pub(super) static COPILOT: AgentProduct = AgentProduct {
    name: "copilot",
    title: "Copilot",
    fingerprint: Fingerprint { payload: &[Keys(&["sessionId", "toolArgs"])], ..NO_FINGERPRINT },
    ..DENY_ONLY
};
