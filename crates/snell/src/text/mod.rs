//! Text that people see.

pub(crate) mod invisible_chars;
