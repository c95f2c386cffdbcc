//! Nothing of the demo stays: its processes, its directories, and the watcher that removes both when the demo is
//! killed.

pub(crate) mod directories;
pub(crate) mod exit_watcher;
pub(crate) mod processes;
