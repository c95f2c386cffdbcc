//! TODO native
