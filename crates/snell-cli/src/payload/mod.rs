//! Payloads that cannot be decoded: the fields that can be salvaged, and JSON that is nested too deeply.

pub(crate) mod json_depth;
pub(crate) mod salvage;
