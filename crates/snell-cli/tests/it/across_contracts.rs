//! TODO across_contracts
