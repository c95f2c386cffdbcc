//! Snell in the settings of agents: put in, taken out, and looked after.
//!
//! ```text
//!  settings.json ── disk ──► text ── document ──► survey (what is there?) ──► plan (what is it to become?) ── disk ──►
//!                                                                               ▲
//!                             agents (files, events) ── entry (what is registered) ┘      remembered: what was there before
//! ```
//!
//! `agents` is the table of agents, `document`, `entry`, `signs`, `survey`, `plan` and `script` are text in, text out; `disk`,
//! `program` and `remembered` touch files, and `work` puts it all in order. `snell doctor` uses the same parts to look.

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
