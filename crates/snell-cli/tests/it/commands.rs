//! TODO commands
