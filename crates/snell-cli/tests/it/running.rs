//! TODO running
