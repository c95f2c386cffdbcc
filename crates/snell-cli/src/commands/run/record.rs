//! What is kept of an event that a host fires, if it wants that: the same as of an agent's, through the same scribe.
//! Whatever goes wrong with it is told on standard error, and the host is answered all the same.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::bail;
use snell::{Diagnostic, Event, Settings, Timestamp, Verdict};
use snell_store::{GuardVerdict, Judgement, Note, Observation};

use crate::caller::Caller;
use crate::recording::Recording;

/// A record in the making.
#[derive(Debug)]
pub(super) struct Record {
    recording: Recording,
    observation: Observation,
    note: Option<Note>,
}

impl Record {
    /// Whether an event can be found again once it is recorded.
    pub(super) fn check(event: &Event) -> anyhow::Result<()> {
        if event.session_id.as_deref().is_none_or(|id| id.trim().is_empty()) {
            bail!(
                "--record needs to know whose event this is; add \"session_id\" to it, the same for all events of one session"
            );
        }
        Ok(())
    }

    pub(super) fn new(
        caller: &Caller,
        event: &Event,
        project: PathBuf,
        settings: &Settings,
        findings: &[Diagnostic],
    ) -> Self {
        let mut observation = Observation::new(event, caller.now.unwrap_or_else(Timestamp::now));
        observation.sender = caller.host(event.agent_name.clone());
        observation.sender.cwd = event.cwd.is_none().then_some(project);
        observation.sender.context_window = settings.context_window;
        Self {
            recording: Recording::new(caller, settings, findings),
            observation,
            note: None,
        }
    }

    /// Hooks take their time, and meanwhile the host may lose its patience with us.
    pub(super) fn before_hooks(&mut self) {
        self.note = self.recording.write_down(&self.observation);
        // While they run, other events may be stored.
        self.observation.delayed = true;
    }

    /// What was decided. Once the host has its answer it may end us at any moment, so this comes first.
    pub(super) fn decided(&mut self, verdict: &Verdict, guard: Vec<GuardVerdict>, took: Duration) {
        let mut judgement = Judgement::of(verdict, took);
        judgement.guard = guard;
        self.observation.judgement = Some(judgement);
        if let Some(judged) = self.recording.write_down(&self.observation) {
            self.note.replace(judged).into_iter().for_each(Note::remove);
        }
    }

    /// Stores it.
    pub(super) fn keep(self) {
        self.recording.record(self.observation, self.note);
    }
}
