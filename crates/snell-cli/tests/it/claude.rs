//! TODO claude
