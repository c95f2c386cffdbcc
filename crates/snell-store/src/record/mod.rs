//! What is kept of one event: the record itself, its size limits, and the redaction of secrets before anything is
//! written.

pub(crate) mod event_record;
pub(crate) mod json;
pub(crate) mod masked_record;
pub mod redaction;
pub(crate) mod redaction_marks;
pub(crate) mod text_limits;
pub(crate) mod words;
