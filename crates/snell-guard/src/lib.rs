//! Judges a tool call before it runs: not which words occur in it, but what would happen.
//!
//! ```text
//!  text ── syntax ──► tree ── shell ──► Invocations ── unwrap ──► Invocations ── effects ──► Effects ── rules ──► Judgement
//! ```

pub mod effects;
mod find;
pub mod inline;
pub mod invocation;
pub mod judge;
mod line;
pub mod paths;
#[cfg(test)]
mod plain;
mod programs;
pub mod rules;
pub mod shell;
pub mod syntax;
mod tools;
mod unwrap;
pub mod world;
