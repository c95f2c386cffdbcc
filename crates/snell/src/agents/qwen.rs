//! Qwen Code, a fork of Gemini CLI with the event names of Claude Code.

use super::AgentProduct;
use super::deny_only::BASE_PRODUCT;
use super::fingerprint::PayloadMark::Values;

pub(super) static QWEN: AgentProduct = AgentProduct {
    name: "qwen",
    title: "Qwen Code",
    payload_marks: &[Values("permission_mode", &["auto_edit", "yolo"])],
    env_marks: &["QWEN_PROJECT_DIR"],
    ..BASE_PRODUCT
};
