//! Saves files that an allowed call would delete or overwrite, if the user wants that.

use std::time::{Duration, Instant};

use snell::{Decision, EventName};
use snell_store::record::redaction;

use super::pipeline::HookPipeline;
use crate::backup::{BackedUpCall, BackupOutcome, BackupStore, UnsavedFile, save_lost_files};
use crate::guard::catch_panic;
use crate::output;

/// How long an agent waits at most until old backups are removed. The rest is for the next time.
const PRUNE_TIME: Duration = Duration::from_millis(1);

/// The part of a call that is searched for secrets.
const MASKED_BYTES: usize = 4096;

/// The part of a call that is kept.
const CALL_CELLS: usize = 300;

/// The files that a message names.
const NAMED_FILES: usize = 3;

/// A name is shortened to this width.
const NAME_CELLS: usize = 60;

impl HookPipeline<'_> {
    /// Saves files before the agent gets an answer that lets its call run.
    pub(super) fn save_lost_files(&mut self) {
        let (settings, project) = (&self.setup.settings.guard.backup, &self.call.project);
        let is_to_come = self.setup.judged.as_deref().is_some_and(|event| event.name == EventName::PreToolUse);
        if !settings.enabled || !is_to_come || self.verdict.decision == Decision::Deny || self.verdict.stop.is_some() {
            return;
        }
        let started = Instant::now();
        let losses = self.guard_run.as_ref().map(|run| run.list_file_losses(&self.verdict)).unwrap_or_default();
        if losses.is_empty() || project.parent().is_none() {
            return;
        }
        let data = &self.setup.caller.data;
        let save = || save_lost_files(data, settings, (project, &losses), started, self.describe_call());
        // A failure here must not change the answer.
        let Ok(Some(outcome)) = catch_panic::catch_panic(save) else {
            return;
        };
        self.has_saved_files = true;
        if !outcome.alarming.is_empty() {
            self.verdict.add_message(describe_unsaved(&outcome));
        }
    }

    /// Removes old backups after a new one. The agent has its answer.
    pub(super) fn prune_backups(&self) {
        if self.has_saved_files {
            let store = BackupStore::in_data_dir(&self.setup.caller.data);
            store.prune(&self.setup.settings.guard.backup, Some(PRUNE_TIME));
        }
    }

    fn describe_call(&self) -> BackedUpCall {
        let event = &self.call.event;
        let argument = event.tool.as_ref().and_then(|tool| tool.principal_argument()).unwrap_or_default();
        // A secret that is cut here is beyond what is shown.
        let start = argument.get(..argument.floor_char_boundary(MASKED_BYTES)).unwrap_or_default();
        BackedUpCall {
            time: self.setup.now,
            agent: Some(self.call.product.name.to_owned()),
            session: event.session_id.clone(),
            tool: event.tool_name().map(str::to_owned),
            text: output::shorten_to_one_line(&redaction::mask_secrets(start), CALL_CELLS),
            undo_of: None,
        }
    }
}

/// A message for the user about files that would be lost for good.
fn describe_unsaved(outcome: &BackupOutcome) -> String {
    let name = |file: &UnsavedFile| {
        let path = output::shorten_to_one_line(&file.path.to_string(), NAME_CELLS);
        format!("{} ({})", output::escape_invisible(&path), file.reason.describe())
    };
    let mut names: Vec<String> = outcome.alarming.iter().take(NAMED_FILES).map(name).collect();
    let more = outcome.alarming.len().saturating_sub(NAMED_FILES);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    let details = outcome.id.as_ref().map_or(String::new(), |id| format!("; details: snell undo --list {id}"));
    format!("Snell could not save files that this call may delete or overwrite: {}{details}", names.join(", "))
}
