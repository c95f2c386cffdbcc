//! Records the event of a host, as `snell hook` records an agent's. Failures go to standard error and do not change the
//! verdict.

use std::path::PathBuf;
use std::time::Duration;

use snell::{Diagnostic, Event, SnellSettings, Timestamp, Verdict};
use snell_store::{DecisionRecord, EventRecord, GuardVerdictRecord, MaskedRecord, PendingEvent};

use crate::env::caller::CallerEnv;
use crate::env::env_vars::EnvVars;
use crate::env::sender::build_host_sender;
use crate::guard::APPROVAL_START;
use crate::output::CommandError;
use crate::record::record_event::HookRecorder;

/// The record of an event whose hooks still run.
#[derive(Debug)]
pub(super) struct HostRecording {
    recorder: HookRecorder,
    record: MaskedRecord,
    pending: Option<PendingEvent>,
}

impl HostRecording {
    /// Refuses an event without a session id: its record could not be found.
    pub(super) fn check_session_id(event: &Event) -> anyhow::Result<()> {
        if event.session_id.as_deref().is_none_or(|id| id.trim().is_empty()) {
            let error = CommandError::new("--record needs an event with \"session_id\"");
            return Err(error.with_hint("add it, with the same value in all events of a session").into());
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

    /// Writes the event to disk before its hooks run, because the host may end this process meanwhile.
    pub(super) fn write_pending_event(&mut self) {
        self.pending = self.recorder.write_pending(&self.record);
        // Other events may be stored while the hooks run.
        self.record.mark_delayed();
    }

    /// Writes the decision to disk before the answer, because the host may end this process once it has the answer.
    pub(super) fn set_decision(
        &mut self,
        verdict: &Verdict,
        guard: Vec<GuardVerdictRecord>,
        approved: Option<&str>,
        took: Duration,
    ) {
        let mut decision = DecisionRecord::from_verdict(verdict, took);
        decision.guard = guard;
        if let Some(why) = approved {
            decision.override_with_permission(&format!("{APPROVAL_START} {why}"));
        }
        self.record.set_decision(decision);
        if let Some(judged) = self.recorder.write_pending(&self.record) {
            self.pending.replace(judged).into_iter().for_each(PendingEvent::remove);
        }
    }

    /// Stores the record.
    pub(super) fn store_event(mut self) {
        self.recorder.record(self.record, self.pending);
    }
}
