//! Cursor. It also runs the hook files of Claude Code.

use super::AgentProduct;
use super::deny_only::DENY_ONLY;
use super::fingerprint::PayloadMark::Keys;
use super::fingerprint::{Fingerprint, NO_FINGERPRINT};

pub(super) static CURSOR: AgentProduct = AgentProduct {
    name: "cursor",
    title: "Cursor",
    fingerprint: Fingerprint {
        payload: &[Keys(&["cursor_version"])],
        variables: &["CURSOR_VERSION"],
        ..NO_FINGERPRINT
    },
    ..DENY_ONLY
};
