//! TODO whale
