//! The record of one event: the agent's payload, its sender, and the decision.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use snell::{AgentProduct, BackgroundResult, Decision, Event, EventError, HookRun, HookRunStatus, Timestamp, Verdict};

use crate::db::model::ProcessIdentity;
use crate::record::masked_record::mask_hook_run;
use crate::record::words;
use crate::views::session_snapshot::ReminderRecord;

/// One event. Processes pass it on in this form, and it waits on disk in this form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventRecord {
    /// An id that identifies the event if it comes twice.
    pub event_id: String,
    /// The time when it was received.
    pub at: Timestamp,
    /// Whether it is late, so that newer events may be stored already.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub delayed: bool,
    /// The event's canonical name.
    pub event: String,
    /// The payload, with every field as the agent sent it.
    pub payload: Map<String, Value>,
    /// The sender.
    #[serde(default)]
    pub sender: EventSender,
    /// The decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<DecisionRecord>,
}

/// Data about the agent apart from its payload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EventSender {
    /// Its product: `claude`, `gemini` …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// The agent's process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessIdentity>,
    /// Whether the agent itself reported its process. Otherwise Snell found it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub process_is_told: bool,
    /// The host it runs on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Its directory, if the payload has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// Its transcript, if the payload does not name it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript_path: Option<PathBuf>,
    /// The session id that its launcher gave it (`CLAUDE_SESSION_ID`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launcher_session_id: Option<String>,
    /// The id that its launcher gave it (`CLAUDE_HEADSPACE_SESSION_ID`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headspace_session_id: Option<String>,
    /// Its tmux pane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tmux_pane: Option<String>,
    /// Its tmux session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tmux_session: Option<String>,
    /// The tmux server's socket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tmux_server: Option<String>,
    /// The role that its launcher gave it (`CLAUDE_SESSION_ROLE`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The mode that its launcher gave it (`CLAUDE_SESSION_MODE`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The mission that it carries out (`MISSION_EXECUTION_ID`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mission_execution_id: Option<String>,
    /// The size of its context in tokens, if the user set it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u32>,
    /// Whether no user can answer it, as in print mode.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unattended: bool,
    /// Whether a hook started it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub in_hook: bool,
}

/// The decision about an event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionRecord {
    /// Serialised as `allow`, `ask` or `block`, and omitted if there is none.
    #[serde(
        default,
        skip_serializing_if = "words::is_undecided",
        serialize_with = "words::serialize_event_decision",
        deserialize_with = "words::deserialize_decision"
    )]
    pub decision: Decision,
    /// The reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The tool's input after a hook changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_input: Option<Value>,
    /// The tool's output after a hook changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_output: Option<Value>,
    /// The texts that the agent got with the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<String>,
    /// Whether a hook made the agent continue instead of stopping.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub goes_on: bool,
    /// The time that the decision took.
    pub took_us: u64,
    /// The runs of all matching hooks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<HookRunRecord>,
    /// The guard's verdicts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guard: Vec<GuardVerdictRecord>,
    /// The reminders that the agent got.
    #[serde(default, skip_serializing_if = "ReminderRecord::is_empty")]
    pub reminded: ReminderRecord,
}

/// The run of one hook.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HookRunRecord {
    /// Its contract.
    pub contract: String,
    /// The file that configures it.
    pub source: String,
    /// The line in that file.
    pub line: u32,
    /// Its command.
    pub command: String,
    /// Its matcher, as written.
    pub matcher: Option<String>,
    /// The status; nothing if another version wrote a status that this one does not know.
    #[serde(serialize_with = "words::serialize_status", deserialize_with = "words::deserialize_status")]
    pub status: Option<HookRunStatus>,
    /// Its exit code.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Its duration.
    pub duration_us: u64,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// Why it was skipped, or another remark.
    pub why: Option<String>,
}

/// The end of a background hook run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedHookRun {
    /// The session of the event that started it.
    pub session_id: String,
    /// That event.
    pub event: String,
    /// The time of its end.
    pub at: Timestamp,
    /// The result.
    pub run: HookRunRecord,
}

impl FinishedHookRun {
    /// The record of a finished background run.
    pub fn from_finished(finished: &BackgroundResult, session_id: &str) -> Self {
        let hook = &finished.hook;
        let mut run = HookRunRecord {
            contract: hook.contract.clone(),
            source: hook.source.clone(),
            line: u32::try_from(hook.line).unwrap_or(u32::MAX),
            command: hook.command.clone(),
            matcher: hook.matcher.clone(),
            status: Some(hook.status),
            exit_code: hook.exit_code,
            signal: hook.signal,
            duration_us: (hook.duration_ms * 1000.0) as u64,
            stdout: hook.stdout.clone(),
            stderr: hook.stderr.clone(),
            // This replaces the remark that the run has not ended.
            why: Some(hook.why.clone().unwrap_or_else(|| BACKGROUND_RUN_NOTE.to_owned())),
        };
        mask_hook_run(&mut run);
        Self { session_id: session_id.to_owned(), event: finished.event.clone(), at: finished.finished_at, run }
    }
}

/// The remark on a background run without errors.
const BACKGROUND_RUN_NOTE: &str = "ran in the background; Snell did not wait for it";

/// A verdict of the guard on a tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardVerdictRecord {
    /// Serialised as `allow`, `ask` or `deny`.
    #[serde(serialize_with = "words::serialize_guard_decision", deserialize_with = "words::deserialize_decision")]
    pub decision: Decision,
    /// The decision without audit mode: `ask` or `deny`. For a denied call it is `ask` if the guard wanted to ask the
    /// user and could not.
    #[serde(
        default,
        skip_serializing_if = "words::is_undecided",
        serialize_with = "words::serialize_guard_decision",
        deserialize_with = "words::deserialize_decision"
    )]
    pub would: Decision,
    /// The rule that decided.
    pub rule: String,
    /// The tier of the rule.
    pub tier: String,
    /// The reason.
    pub reason: String,
    /// The recommended alternative.
    pub advice: Option<String>,
    /// Whether it is about the input after a hook changed it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_changed_input: bool,
}

impl GuardVerdictRecord {
    /// The word for its decision. An unknown decision counts as `allow`.
    pub(crate) fn decision_word(&self) -> &'static str {
        words::guard_decision_word(self.decision).unwrap_or("allow")
    }

    /// The word for the decision without audit mode.
    pub(crate) fn would_word(&self) -> Option<&'static str> {
        words::guard_decision_word(self.would)
    }
}

impl EventRecord {
    /// The record of an event before the decision. It keeps the sender's id. An event without one gets an id made of
    /// the time and the receiving process. For an event that was not sent as JSON, it stores the JSON form.
    pub fn new(event: &Event, at: Timestamp) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let sent_id = event.raw.get("event_id").and_then(Value::as_str).filter(|id| !id.trim().is_empty());
        let own = || {
            let clock = Timestamp::now().as_nanosecond();
            let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
            format!("{clock:x}-{process:x}-{count:x}")
        };
        Self {
            event_id: sent_id.map_or_else(own, str::to_owned),
            at,
            delayed: false,
            event: event.name.as_str().to_owned(),
            payload: build_payload(event),
            sender: EventSender::default(),
            judgement: None,
        }
    }

    /// Decodes the event.
    ///
    /// # Errors
    ///
    /// When the event has no name.
    pub fn decode(&self) -> Result<Event, EventError> {
        let product = AgentProduct::for_recorded_name(self.sender.product.as_deref());
        product.decode(Some(&self.event), self.payload.clone())
    }
}

impl DecisionRecord {
    /// Replaces the decision by a denial with this reason, for agents that only accept a denial.
    pub fn override_with_refusal(&mut self, reason: &str) {
        self.decision = Decision::Deny;
        self.reason = Some(reason.to_owned());
        for verdict in self.guard.iter_mut().filter(|verdict| verdict.decision == Decision::Ask) {
            verdict.would = std::mem::replace(&mut verdict.decision, Decision::Deny);
        }
    }

    /// Replaces a question by a permission with this reason, for sessions in which no user can answer.
    pub fn override_with_permission(&mut self, reason: &str) {
        self.decision = Decision::Allow;
        self.reason = Some(reason.to_owned());
        for verdict in self.guard.iter_mut().filter(|verdict| verdict.decision == Decision::Ask) {
            verdict.would = std::mem::replace(&mut verdict.decision, Decision::Allow);
        }
    }

    /// The record of a verdict.
    pub fn from_verdict(verdict: &Verdict, took: std::time::Duration) -> Self {
        Self {
            decision: verdict.decision,
            reason: verdict.reason.clone(),
            changed_input: verdict.tool_input.clone(),
            changed_output: verdict.tool_output.clone(),
            told: verdict.context.clone(),
            goes_on: false,
            took_us: duration_to_micros(took),
            runs: verdict.hooks.iter().map(HookRunRecord::from_hook_run).collect(),
            guard: Vec::new(),
            reminded: ReminderRecord::default(),
        }
    }

    /// Why the user must approve it, if that was decided; empty without a reason.
    pub fn ask_reason(&self) -> Option<&str> {
        (self.decision == Decision::Ask).then(|| self.reason.as_deref().unwrap_or_default())
    }

    /// Whether the event was blocked.
    pub fn is_block(&self) -> bool {
        self.decision == Decision::Deny
    }
}

impl HookRunRecord {
    /// The word for its status.
    pub(crate) fn status_word(&self) -> &'static str {
        self.status.map_or("", HookRunStatus::as_str)
    }

    fn from_hook_run(run: &HookRun) -> Self {
        let outcome = run.outcome.as_ref();
        Self {
            contract: run.hook.contract_name().to_owned(),
            source: run.hook.origin.display_path.clone(),
            line: u32::try_from(run.hook.origin.line).unwrap_or(u32::MAX),
            command: run.hook.command_summary(),
            matcher: run.hook.matcher_text().map(str::to_owned),
            status: Some(run.status),
            exit_code: outcome.and_then(|outcome| outcome.exit_code()),
            signal: outcome.and_then(|outcome| outcome.signal()),
            duration_us: outcome.map_or(0, |outcome| duration_to_micros(outcome.duration)),
            stdout: outcome.map(|outcome| outcome.stdout.clone()).unwrap_or_default(),
            stderr: outcome.map(|outcome| outcome.stderr.clone()).unwrap_or_default(),
            why: run.why.clone(),
        }
    }
}

/// All fields of an event: as sent, or in JSON form.
fn build_payload(event: &Event) -> Map<String, Value> {
    if !event.raw.is_empty() {
        return event.raw.clone();
    }
    match event.to_json() {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn duration_to_micros(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
