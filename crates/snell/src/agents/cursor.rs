//! Cursor. It also runs the hook files of Claude Code.

use super::AgentProduct;
use super::deny_only::BASE_PRODUCT;
use super::fingerprint::PayloadMark::Keys;

pub(super) static CURSOR: AgentProduct = AgentProduct {
    name: "cursor",
    title: "Cursor",
    payload_marks: &[Keys(&["cursor_version"])],
    env_marks: &["CURSOR_VERSION"],
    ..BASE_PRODUCT
};
