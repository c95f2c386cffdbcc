//! Gemini CLI.

use super::AgentProduct;
use super::deny_only::DENY_ONLY;
use super::fingerprint::PayloadMark::{EventPrefix, Values};
use super::fingerprint::{Fingerprint, NO_FINGERPRINT};

pub(super) static GEMINI: AgentProduct = AgentProduct {
    name: "gemini",
    title: "Gemini CLI",
    fingerprint: Fingerprint {
        payload: &[EventPrefix("Before"), EventPrefix("After"), Values("hook_event_name", &["PreCompress"])],
        variables: &["GEMINI_SESSION_ID"],
        ..NO_FINGERPRINT
    },
    ..DENY_ONLY
};
