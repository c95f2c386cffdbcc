//! Nothing of the demo stays: its processes, its directories, and the watcher that removes both when the demo is
//! killed.

pub(super) mod directories;
pub(super) mod exit_watcher;
pub(super) mod processes;
