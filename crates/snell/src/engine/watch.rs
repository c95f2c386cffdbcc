//! Watches the configuration files while a host runs.

use std::time::Duration;

use tokio::task::AbortHandle;

use super::Engine;
use crate::diagnostic::Diagnostic;

/// Watches the files until it is dropped.
#[derive(Debug)]
#[must_use = "watching ends when this is dropped"]
pub struct ConfigWatch {
    task: AbortHandle,
}

impl Drop for ConfigWatch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Engine {
    /// Checks the configuration files at this interval, reloads if one was changed, created or removed, and passes the
    /// diagnostics of the new state on.
    ///
    /// A check is one `stat` per file. It works on every file system and needs no file handle. A host that needs the
    /// newest state before each event calls [`Engine::reload_if_changed`] instead.
    pub fn watch(&self, every: Duration, on_reload: impl Fn(Vec<Diagnostic>) + Send + 'static) -> ConfigWatch {
        let engine = self.clone();
        let task = tokio::spawn(async move {
            let mut ticks = tokio::time::interval(every);
            ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                if let Some(diagnostics) = engine.reload_if_changed() {
                    on_reload(diagnostics);
                }
            }
        });
        ConfigWatch { task: task.abort_handle() }
    }
}
