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
pub(crate) mod disk;
pub(crate) mod document;
pub(crate) mod entry;
pub(crate) mod plan;
pub(crate) mod program;
pub(crate) mod remembered;
pub(crate) mod script;
pub(crate) mod signs;
pub(crate) mod survey;
pub(crate) mod work;
