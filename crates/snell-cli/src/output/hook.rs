//! The JSON form of a hook.

use std::sync::Arc;

use serde::Serialize;
use snell::{FailurePolicy, Hook, ProjectFile, TrustStatus, UserMessage};

/// The JSON form of a hook in `snell list --json`, `snell explain --json` and `snell trust --json`.
#[derive(Debug, Serialize)]
pub(crate) struct HookJsonView<'a> {
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
    /// Whether its file is trusted; nothing if its file needs no trust.
    pub(crate) trusted: Option<bool>,
}

impl<'a> HookJsonView<'a> {
    pub(crate) fn new(hook: &'a Hook, trusted: Option<bool>) -> Self {
        Self {
            events: hook.events.iter().map(|event| event.as_str()).collect(),
            matcher: hook.matcher_text(),
            condition: hook.condition_text(),
            command: hook.command_summary(),
            contract: hook.contract_name(),
            source: &hook.origin.display_path,
            line: hook.origin.line,
            timeout_ms: hook.timeout().as_millis(),
            fail_closed: hook.on_failure == FailurePolicy::Block,
            modify: hook.may_modify,
            background: hook.background,
            disabled: hook.disabled.as_deref(),
            trusted,
        }
    }

    /// The position of the hook, as `file:line`.
    pub(crate) fn location(&self) -> String {
        format!("{}:{}", self.source, self.line)
    }
}

/// Whether the file of a hook is trusted; nothing if the file needs no trust.
pub(crate) fn find_hook_trust(files: &[ProjectFile], hook: &Arc<Hook>) -> Option<bool> {
    let holds = |file: &&ProjectFile| file.hooks.iter().any(|held| Arc::ptr_eq(held, hook));
    let file = files.iter().find(holds)?;
    Some(file.status == TrustStatus::Trusted)
}

/// The name of a status in JSON.
pub(crate) fn trust_status_name(status: TrustStatus) -> &'static str {
    match status {
        TrustStatus::Trusted => "trusted",
        TrustStatus::Untrusted => "untrusted",
        TrustStatus::Changed => "changed",
    }
}

/// Names the files whose hooks only call Snell itself and are not listed: one line per file, because each has an entry for every
/// event.
pub(crate) fn note_own_hooks(own: &[&Arc<Hook>], hint: Option<&str>) {
    let mut files: Vec<&str> = own.iter().map(|hook| hook.origin.display_path.as_str()).collect();
    files.dedup();
    for file in files {
        let number = own.iter().filter(|hook| hook.origin.display_path == file).count();
        let hooks = super::format_count(number, "hook");
        let note = UserMessage::new(format!("not listed: {hooks} in {file}, because they only call Snell"));
        super::print_note(hint.into_iter().fold(note, UserMessage::with_hint));
    }
}
