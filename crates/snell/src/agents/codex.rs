//! Codex. Its payloads and answers look like those of Claude Code.

use super::AgentProduct;
use super::deny_only::DENY_ONLY;
use super::fingerprint::PayloadMark::Keys;
use super::fingerprint::{Fingerprint, NO_FINGERPRINT};

pub(super) static CODEX: AgentProduct = AgentProduct {
    name: "codex",
    title: "Codex",
    fingerprint: Fingerprint {
        // Claude Code sends `turn_id` too, with `MessageDisplay`, but never `model` beside it.
        payload: &[Keys(&["turn_id", "model"])],
        ..NO_FINGERPRINT
    },
    ..DENY_ONLY
};
