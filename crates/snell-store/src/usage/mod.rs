//! The cost of agents: the tokens of their requests to models, from the files that they write and from what they export.
//!
//! ```text
//! directories ── source_files ──► changed files ── formats ──► requests and turns ──► one row per request ──► sums
//!                                      │                                                      ▲                │
//!                                position per file, stored with the rows ─────────────────────┘              prices
//! ```
//!
//! [`UsageScan`] reads a bounded part of one file per step, and stores the position in the same transaction as the rows. So a
//! process may be killed at any time, and two may count at once. A request has the same key in every file, so copies of a
//! session count once. Hooks and the daemon never do this; `snell serve` and `snell usage` do.

mod formats;
pub(crate) mod otlp;
mod prices;
pub(crate) mod request;
mod scan;
mod source_files;
mod summary;

pub use otlp::ExportedUsage;
pub use prices::{ModelPrice, PriceList};
pub use request::TokenCounts;
pub use scan::{UsageProgress, UsageScan};
pub use source_files::UsageDirectory;
pub use summary::{UsageBreakdown, UsageCost, UsageKey, UsagePart, UsageSummary};
