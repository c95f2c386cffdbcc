//! Judges a tool call before it runs: not which words occur in it, but what would happen.
//!
//! ```text
//!  text ── syntax ──► tree ── shell ──► Invocations ── unwrap ──► Invocations ── effects ──► Effects ── rules ──► Judgement
//! ```

mod allowed;
mod credentials;
pub mod effects;
pub mod explain;
mod find;
pub mod inline;
pub mod invocation;
pub mod judge;
pub mod limits;
mod line;
pub mod paths;
#[cfg(test)]
mod plain;
pub mod policy;
mod programs;
mod queries;
pub mod rules;
pub mod shell;
pub mod syntax;
mod tools;
mod unwrap;
pub mod world;

pub use explain::{Explanation, explain};
pub use judge::{Call, Judgement, Touched, judge, judge_with_places};
pub use policy::{Allowed, Author, Choice, Guarded, Policy, Preset, Protected, Source, Verdict};
pub use shell::{Coverage, Reason};
pub use world::{Own, Owned, World};
