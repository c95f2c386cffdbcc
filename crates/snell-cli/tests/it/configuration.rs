//! TODO configuration
