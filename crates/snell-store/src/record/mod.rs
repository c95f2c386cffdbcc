//! The stored form of one event: the record itself, its size limits, and the redaction of secrets.

pub(crate) mod event_record;
pub(crate) mod json;
pub(crate) mod masked_record;
pub mod redaction;
pub(crate) mod redaction_marks;
pub(crate) mod text_limits;
pub(crate) mod words;
