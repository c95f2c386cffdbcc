//! What is kept of an event that a host fires, if it wants that: the same as of an agent's, through the same scribe.
//! Whatever goes wrong with it is told on standard error, and the host is answered all the same.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::bail;
use snell::{Diagnostic, Event, SnellSettings, Timestamp, Verdict};
use snell_store::{DecisionRecord, EventRecord, GuardVerdictRecord, MaskedRecord, PendingEvent};

use crate::env::caller::CallerEnv;
use crate::env::env_vars::EnvVars;
use crate::env::sender::build_host_sender;
use crate::record::record_event::HookRecorder;

/// A record in the making.
#[derive(Debug)]
pub(super) struct HostRecording {
    recorder: HookRecorder,
    record: MaskedRecord,
    pending: Option<PendingEvent>,
}

impl HostRecording {
    /// Whether an event can be found again once it is recorded.
    pub(super) fn check_session_id(event: &Event) -> anyhow::Result<()> {
        if event.session_id.as_deref().is_none_or(|id| id.trim().is_empty()) {
            bail!(
                "--record needs to know whose event this is; add \"session_id\" to it, the same for all events of one session"
            );
        }
        Ok(())
    }

    pub(super) fn new(
        caller: &CallerEnv,
        event: &Event,
        project: PathBuf,
        settings: &SnellSettings,
        findings: &[Diagnostic],
    ) -> Self {
        let mut record = EventRecord::new(event, caller.now.unwrap_or_else(Timestamp::now));
        record.sender = build_host_sender(&EnvVars::read(), event.agent_name.clone());
        record.sender.cwd = event.cwd.is_none().then_some(project);
        record.sender.context_window = settings.context_window;
        let record = record.into();
        Self { recorder: HookRecorder::new(caller, settings, findings), record, pending: None }
    }

    /// Hooks take their time, and meanwhile the host may lose its patience with us.
    pub(super) fn write_pending_event(&mut self) {
        self.pending = self.recorder.write_pending(&self.record);
        // While they run, other events may be stored.
        self.record.mark_delayed();
    }

    /// What was decided. Once the host has its answer it may end us at any moment, so this comes first.
    pub(super) fn set_decision(&mut self, verdict: &Verdict, guard: Vec<GuardVerdictRecord>, took: Duration) {
        let mut judgement = DecisionRecord::from_verdict(verdict, took);
        judgement.guard = guard;
        self.record.set_decision(judgement);
        if let Some(judged) = self.recorder.write_pending(&self.record) {
            self.pending.replace(judged).into_iter().for_each(PendingEvent::remove);
        }
    }

    /// Stores it.
    pub(super) fn store_event(self) {
        self.recorder.record(self.record, self.pending);
    }
}
