//! Installs Snell in the settings of agents, and removes it.
//!
//! ```text
//!  settings.json ── atomic_file ──► text ── jsonc ──► scan (find handlers) ──► plan (new text) ── atomic_file ──►
//!                                                                               ▲
//!                            agents (files, events) ── handler (entries to add) ┘     backup: the file before Snell
//! ```
//!
//! `agents` is the table of agents. `jsonc`, `handler`, `recognize`, `scan`, `plan` and `notify_script` are pure; `atomic_file`,
//! `exe_path` and `backup` access files; `apply` runs all steps. `snell doctor` uses the same modules.

pub(crate) mod agents;
pub(crate) mod apply;
pub(crate) mod atomic_file;
pub(crate) mod backup;
pub(crate) mod exe_path;
pub(crate) mod handler;
pub(crate) mod jsonc;
pub(crate) mod notify_script;
pub(crate) mod plan;
pub(crate) mod recognize;
pub(crate) mod scan;
