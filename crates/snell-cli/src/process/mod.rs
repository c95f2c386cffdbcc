//! This process itself: signals that must not end it, enough stack, and faults of variables and arguments.

pub(crate) mod faults;
pub(crate) mod signals;
pub(crate) mod stack;
