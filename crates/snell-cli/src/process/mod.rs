//! This process itself: signals that end it, signals that must not, its stack, its standard input, invalid variables, the
//! browser that it opens, and questions to its user.

pub(crate) mod browser;
pub(crate) mod end_signals;
pub(crate) mod faults;
pub(crate) mod question;
pub(crate) mod signals;
pub(crate) mod stack;
pub(crate) mod stdin;
