//! Ends the processes of a demo and removes its directories, even after it was killed.

pub(super) mod directories;
pub(super) mod exit_watcher;
pub(super) mod processes;
