//! A hook as programs are shown it.

use std::sync::Arc;

use serde::Serialize;
use snell::{Hook, Judgement, OnFailure, ProjectFile};

/// A hook as programs are shown it, by `snell list --json` and `snell explain --json` alike.
#[derive(Debug, Serialize)]
pub(crate) struct HookView<'a> {
    pub(crate) events: Vec<&'a str>,
    pub(crate) matcher: Option<&'a str>,
    pub(crate) condition: Option<&'a str>,
    pub(crate) command: String,
    pub(crate) contract: &'a str,
    pub(crate) source: &'a str,
    pub(crate) line: usize,
    pub(crate) timeout_ms: u128,
    pub(crate) fail_closed: bool,
    pub(crate) modify: bool,
    pub(crate) background: bool,
    pub(crate) disabled: Option<&'a str>,
    /// Whether its file is trusted; nothing where that is not asked for.
    pub(crate) trusted: Option<bool>,
}

impl<'a> HookView<'a> {
    pub(crate) fn of(hook: &'a Hook, trusted: Option<bool>) -> Self {
        Self {
            events: hook.events.iter().map(|event| event.as_str()).collect(),
            matcher: hook.matcher(),
            condition: hook.condition(),
            command: hook.command(),
            contract: hook.contract(),
            source: &hook.origin.shown,
            line: hook.origin.line,
            timeout_ms: hook.timeout().as_millis(),
            fail_closed: hook.on_failure == OnFailure::Block,
            modify: hook.may_modify,
            background: hook.background,
            disabled: hook.disabled.as_deref(),
            trusted,
        }
    }

    /// Where it was written, as `file:line`.
    pub(crate) fn place(&self) -> String {
        format!("{}:{}", self.source, self.line)
    }
}

/// Whether the file of a hook is trusted; nothing where that is not asked for.
pub(crate) fn trusted(files: &[ProjectFile], hook: &Arc<Hook>) -> Option<bool> {
    let holds = |file: &&ProjectFile| file.hooks.iter().any(|held| Arc::ptr_eq(held, hook));
    let file = files.iter().find(holds)?;
    Some(file.judgement == Judgement::Trusted)
}
