//! Judges a tool call before it runs, by its effects instead of the words in it.
//!
//! [`Guard`] judges calls in one project and follows symlinks; [`judge_call`] judges one call by its text alone.
//!
//! ```text
//!  text ── snell-shell ──► tree ── interpret, wrappers ──► Invocations ── effects ──► Effects ── rules ──► GuardJudgement
//! ```

pub mod approval;
pub mod effects;
pub mod explain;
pub mod file_losses;
pub mod file_system;
pub mod git_index;
mod git_repository;
mod guard;
pub mod interpret;
pub mod interpreters;
pub mod invocation;
pub mod judge;
pub mod limits;
pub mod paths;
pub mod policy;
mod programs;
pub mod rules;
pub mod session;
mod symlinks;
#[cfg(test)]
mod test_support;
mod tools;
mod windows;
mod wrappers;

pub use approval::{ApprovalClass, ApprovalLevel, ApprovalPolicy, CallApproval};
pub use explain::{GuardExplanation, explain_call};
pub use file_losses::{FileLoss, FileNamePattern, LossKind, LossScope};
pub use file_system::{FileKind, FileStatus, FileSystem, NoFileSystem, TimedFileStatus};
pub use guard::Guard;
pub use interpret::{CoverageGap, GuardCoverage};
pub use judge::context::{JudgeContext, SelfFile, SelfPath};
pub use judge::review::CallReview;
pub use judge::{AffectedPath, GuardJudgement, GuardToolCall, judge_call, judge_with_affected_paths};
pub use policy::hosts::find_address_host;
pub use policy::{
    DecisionSource, ForbiddenAccess, GuardDecision, GuardPolicy, PathProtection, PolicyAuthor, PolicyEntry,
    PolicyPreset, RuleOverride, WordPattern,
};
pub use session::{CallTrail, DeniedEffect, FetchedPath, MadePath, SessionFacts, SessionNotes, SessionTaint};
