//! Payloads that cannot be decoded: salvages fields, and cuts JSON that is nested too deeply.

pub(crate) mod json_depth;
pub(crate) mod salvage;
