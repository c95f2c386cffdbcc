//! This process itself: signals that end it, signals that must not, its stack, its standard input, and invalid variables.

pub(crate) mod end_signals;
pub(crate) mod faults;
pub(crate) mod signals;
pub(crate) mod stack;
pub(crate) mod stdin;
