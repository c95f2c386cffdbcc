//! Installs Snell in the settings of agents, and removes it.
//!
//! ```text
//!  settings file ── atomic_file ──► text ── jsonc, toml_hooks, own_file ──► scan (find handlers) ──► plan (new text) ── atomic_file ──►
//!                                                                                                    ▲
//!                                                 agents (files, events) ── handler (entries to add) ┘     backup: the file before Snell
//! ```
//!
//! `agents` is the table of agents. `jsonc`, `toml_hooks` and `own_file` are the formats of their files; they, `handler`, `recognize`,
//! `scan`, `plan` and `notify_script` are pure; `atomic_file`, `exe_path` and `backup` access files; `profile` writes one key of
//! the user's `snell.toml`; `apply` runs all steps. `snell
//! doctor` uses the same modules.

pub(crate) mod agents;
pub(crate) mod apply;
pub(crate) mod atomic_file;
pub(crate) mod audit_preset;
pub(crate) mod backup;
pub(crate) mod exe_path;
pub(crate) mod forwarding;
pub(crate) mod found_agents;
pub(crate) mod handler;
pub(crate) mod jsonc;
pub(crate) mod notify_script;
mod own_file;
pub(crate) mod plan;
pub(crate) mod profile;
pub(crate) mod recognize;
pub(crate) mod scan;
mod toml_hooks;
