//! What is recorded of one event: what the agent sent, who sent it, and what was decided.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use snell::{AgentProduct, BackgroundResult, Decision, Event, EventError, HookRun, HookRunStatus, Timestamp, Verdict};

use crate::db::model::ProcessIdentity;
use crate::record::masked_record::mask_hook_run;
use crate::record::words;
use crate::views::session_snapshot::ReminderRecord;

/// One event as it was observed. Also what one process hands another, and what waits on disk to be stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventRecord {
    /// An id by which the same event is known if it comes twice.
    pub event_id: String,
    /// When it was received.
    pub at: Timestamp,
    /// Whether it comes to the store late, so that newer events may be there already.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub delayed: bool,
    /// The event's canonical name.
    pub event: String,
    /// Every field as the agent sent it.
    pub payload: Map<String, Value>,
    /// Who sent it.
    #[serde(default)]
    pub sender: EventSender,
    /// What was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<DecisionRecord>,
}

/// What is known of the agent beside its payload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EventSender {
    /// Which agent it is: `claude`, `gemini` …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// The agent's process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessIdentity>,
    /// Whether the agent itself named its process, rather than somebody who looked for it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub process_is_told: bool,
    /// The host it runs on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The directory it is in, where its payload does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// The session id that its launcher gave it (`CLAUDE_SESSION_ID`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launcher_session_id: Option<String>,
    /// The id that its launcher gave it (`CLAUDE_HEADSPACE_SESSION_ID`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headspace_session_id: Option<String>,
    /// The tmux pane it sits in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tmux_pane: Option<String>,
    /// The tmux session it sits in.
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
    /// How many tokens fit into its context, where its user says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u32>,
}

/// What was decided about an event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionRecord {
    /// Written as `allow`, `ask` or `block`, and left out if there was no opinion.
    #[serde(
        default,
        skip_serializing_if = "words::is_undecided",
        serialize_with = "words::serialize_event_decision",
        deserialize_with = "words::deserialize_decision"
    )]
    pub decision: Decision,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the tool was given instead of what the agent wanted, if a hook changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_input: Option<Value>,
    /// What the agent is told that a tool answered, if a hook changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_output: Option<Value>,
    /// What the agent was given to read with the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<String>,
    /// Whether the agent, which was about to stop, was given something to go on with.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub goes_on: bool,
    /// How long judging took.
    pub took_us: u64,
    /// Every hook that matched, and what became of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<HookRunRecord>,
    /// What the guard said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guard: Vec<GuardVerdictRecord>,
    /// What the agent was told about itself.
    #[serde(default, skip_serializing_if = "ReminderRecord::is_empty")]
    pub reminded: ReminderRecord,
}

/// What became of one hook.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HookRunRecord {
    /// The contract it was run under.
    pub contract: String,
    /// The file it is written in.
    pub source: String,
    /// The line there.
    pub line: u32,
    /// What it runs.
    pub command: String,
    /// Its matcher, as written.
    pub matcher: Option<String>,
    /// Nothing if another version wrote a status that this one does not know.
    #[serde(serialize_with = "words::serialize_status", deserialize_with = "words::deserialize_status")]
    pub status: Option<HookRunStatus>,
    /// Its exit code.
    pub exit_code: Option<i32>,
    /// The signal it died by.
    pub signal: Option<i32>,
    /// How long it took.
    pub duration_us: u64,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
    /// Why it was skipped, or what else there is to know.
    pub why: Option<String>,
}

/// How a hook ended that nobody waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedHookRun {
    /// The session of the event that started it.
    pub session_id: String,
    /// That event.
    pub event: String,
    /// When it ended.
    pub at: Timestamp,
    /// What became of it.
    pub run: HookRunRecord,
}

impl FinishedHookRun {
    /// What the store keeps of it.
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
            // Until now it says that the outcome is still to come.
            why: Some(hook.why.clone().unwrap_or_else(|| BACKGROUND_RUN_NOTE.to_owned())),
        };
        mask_hook_run(&mut run);
        Self { session_id: session_id.to_owned(), event: finished.event.clone(), at: finished.finished_at, run }
    }
}

/// Why a run that went well had no part in what was decided.
const BACKGROUND_RUN_NOTE: &str = "ran in the background; nobody waited for it";

/// What the guard said about a tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardVerdictRecord {
    /// Written as `allow`, `ask` or `deny`.
    #[serde(serialize_with = "words::serialize_guard_decision", deserialize_with = "words::deserialize_decision")]
    pub decision: Decision,
    /// The decision if the guard did not only watch: `ask` or `deny`. Of a call that was denied, `ask`: the user should have
    /// been asked, and could not be.
    #[serde(
        default,
        skip_serializing_if = "words::is_undecided",
        serialize_with = "words::serialize_guard_decision",
        deserialize_with = "words::deserialize_decision"
    )]
    pub would: Decision,
    /// The rule that decided.
    pub rule: String,
    /// How grave it is.
    pub tier: String,
    /// Why.
    pub reason: String,
    /// What to do instead.
    pub advice: Option<String>,
    /// Whether it is about what a hook made of the call, rather than about what the agent wanted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_changed_input: bool,
}

impl GuardVerdictRecord {
    /// The word for its decision. A decision that this version does not know counts as one that allows the call.
    pub(crate) fn decision_word(&self) -> &'static str {
        words::guard_decision_word(self.decision).unwrap_or("allow")
    }

    /// The word for the decision if the guard did not only watch.
    pub(crate) fn would_word(&self) -> Option<&'static str> {
        words::guard_decision_word(self.would)
    }
}

impl EventRecord {
    /// What is recorded of an event, before anything was decided about it. The sender's id of it counts; an event that
    /// has none gets one, which is told from all others by when and by whom it was received. Of an event that was made rather
    /// than sent, what it would be as JSON is kept.
    pub fn new(event: &Event, at: Timestamp) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let told = event.raw.get("event_id").and_then(Value::as_str).filter(|id| !id.trim().is_empty());
        let own = || {
            let clock = Timestamp::now().as_nanosecond();
            let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
            format!("{clock:x}-{process:x}-{count:x}")
        };
        Self {
            event_id: told.map_or_else(own, str::to_owned),
            at,
            delayed: false,
            event: event.name.as_str().to_owned(),
            payload: build_payload(event),
            sender: EventSender::default(),
            judgement: None,
        }
    }

    /// The event as the engine knows it.
    ///
    /// # Errors
    ///
    /// When nothing names the event.
    pub fn decode(&self) -> Result<Event, EventError> {
        let product = AgentProduct::for_recorded_name(self.sender.product.as_deref());
        product.decode(Some(&self.event), self.payload.clone())
    }
}

impl DecisionRecord {
    /// What happened if the agent could be told nothing but a "no", for this reason, whatever else was decided.
    pub fn override_with_refusal(&mut self, reason: &str) {
        self.decision = Decision::Deny;
        self.reason = Some(reason.to_owned());
        for verdict in self.guard.iter_mut().filter(|verdict| verdict.decision == Decision::Ask) {
            verdict.would = std::mem::replace(&mut verdict.decision, Decision::Deny);
        }
    }

    /// What the store keeps of a verdict.
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

    /// Why the user is asked, if that was decided; empty if nobody said why.
    pub fn ask_reason(&self) -> Option<&str> {
        (self.decision == Decision::Ask).then(|| self.reason.as_deref().unwrap_or_default())
    }

    /// Whether the event was kept from happening.
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

/// Every field of an event: as it was sent, or as it would be.
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
