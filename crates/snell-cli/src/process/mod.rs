//! This process itself: signals that end it and signals that must not, enough stack, and faults of variables and arguments.

pub(crate) mod end_signals;
pub(crate) mod faults;
pub(crate) mod signals;
pub(crate) mod stack;
pub(crate) mod stdin;
