//! Qwen Code, a fork of Gemini CLI with the event names of Claude Code.

use super::AgentProduct;
use super::deny_only::DENY_ONLY;
use super::fingerprint::PayloadMark::Values;
use super::fingerprint::{Fingerprint, NO_FINGERPRINT};

pub(super) static QWEN: AgentProduct = AgentProduct {
    name: "qwen",
    title: "Qwen Code",
    fingerprint: Fingerprint {
        payload: &[Values("permission_mode", &["auto_edit", "yolo"])],
        variables: &["QWEN_PROJECT_DIR"],
        ..NO_FINGERPRINT
    },
    ..DENY_ONLY
};
