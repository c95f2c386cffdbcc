//! Watching agents that fell silent: when to poll, which hooks were active, what tmux shows.

pub(crate) mod agent_watch;
pub(crate) mod file_notifier;
pub(crate) mod hook_activity;
pub(crate) mod poll_mode;
pub(crate) mod thread;
pub mod tmux;
