//! Which hooks an agent sent during a recording, and when the recording shows a change of its state.
//!
//! People write what they expect; a recording does not always show it. These have no evidence, and are counted apart:
//! a transcript that was cut off before the end of the turn, turns of another take of the scene, and without hooks a
//! permission dialog that leaves no line and holds up no call.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use snell::{AgentProduct, Event, Timestamp};
use snell_store::EventRecord;

use crate::player::PlayMode;
use crate::recording::{FileGrowth, RecordedHook, Recording, ShownState};
use crate::session_steps::{PlacedStep, SessionStep, read_steps};

/// A step, and its time.
#[derive(Clone, Debug)]
pub struct TimedStep {
    pub at: Timestamp,
    pub step: SessionStep,
}

/// The steps of a recording, each at the time when the transcript had its line.
pub fn list_timed_steps(recording: &Recording) -> Vec<TimedStep> {
    let steps = read_steps(&recording.agent, &recording.transcript);
    let mut timed: Vec<_> = steps.into_iter().filter_map(|step| time_step(&recording.growth, step)).collect();
    let asked = recording.hooks.iter().filter(|hook| hook.event == "PermissionRequest");
    timed.extend(asked.map(|hook| TimedStep { at: hook.at, step: SessionStep::Permission(find_tool(&hook.payload)) }));
    timed.sort_by_key(|step| step.at);
    timed
}

fn time_step(growth: &[FileGrowth], placed: PlacedStep) -> Option<TimedStep> {
    let at = growth.iter().find(|growth| growth.bytes >= placed.bytes)?.at;
    Some(TimedStep { at, step: placed.step })
}

fn find_tool(payload: &Value) -> String {
    payload["tool_name"].as_str().unwrap_or_default().to_owned()
}

/// The states that a recording shows at a time; of several, it does not tell which.
#[derive(Clone, Debug)]
pub struct StateEvidence {
    pub at: Timestamp,
    pub states: &'static [ShownState],
}

/// A call that is open for this long may ask the user.
const ASKING_CALL: Duration = Duration::from_secs(1);

/// The times at which a recording shows that the agent's state may have changed. Steps of hooks count only if hooks are
/// played.
pub fn list_evidence(steps: &[TimedStep], mode: PlayMode) -> Vec<StateEvidence> {
    let mut evidence: Vec<StateEvidence> = Vec::new();
    for (index, TimedStep { at, step }) in steps.iter().enumerate() {
        let states: &[ShownState] = match step {
            SessionStep::Prompt(_) | SessionStep::Result(..) | SessionStep::Activity => &[ShownState::Working],
            SessionStep::Call(id, ..) if is_open_for_long(&steps[index..], id) => {
                &[ShownState::Working, ShownState::Waiting]
            }
            SessionStep::Call(..) => &[ShownState::Working],
            SessionStep::Permission(_) if mode == PlayMode::TranscriptOnly => continue,
            SessionStep::Permission(_) => &[ShownState::Waiting],
            // A last message may ask the user for something.
            SessionStep::TurnEnd(_) => &[ShownState::Ready, ShownState::Waiting],
            SessionStep::Interruption => &[ShownState::Ready],
        };
        evidence.push(StateEvidence { at: *at, states });
    }
    evidence
}

/// Whether the call that is the first of these steps has no result soon.
fn is_open_for_long(steps: &[TimedStep], id: &str) -> bool {
    let is_result = |one: &&TimedStep| matches!(&one.step, SessionStep::Result(ended, _) if ended == id);
    let ended = steps.iter().find(is_result);
    ended.is_none_or(|ended| ended.at.duration_since(steps[0].at).unsigned_abs() >= ASKING_CALL)
}

/// The first expected state that the recording does not show, each after the one before it.
pub fn find_unshown(expected: &[ShownState], evidence: &[StateEvidence]) -> Option<ShownState> {
    let mut evidence = evidence.iter();
    expected.iter().copied().find(|state| !evidence.any(|one| one.states.contains(state)))
}

/// The records of the hooks that ran: those of the recording if it has their payloads, else those that follow from its
/// steps.
pub fn list_hook_records(recording: &Recording, transcript: &Path, cwd: &Path) -> Vec<EventRecord> {
    let Some(product) = recording.product else {
        return Vec::new();
    };
    let fill = |name: &str, at: Timestamp, mut payload: Value| {
        payload["session_id"] = recording.session_id.as_str().into();
        payload["hook_event_name"] = name.into();
        payload["cwd"] = cwd.to_str().unwrap().into();
        payload["transcript_path"] = transcript.to_str().unwrap().into();
        let (event, _) = Event::from_json(None, payload.to_string().as_bytes()).unwrap();
        let mut record = EventRecord::new(&event, at);
        record.sender.product = Some(product.name.to_owned());
        record
    };
    if recording.has_payloads() {
        return recording.hooks.iter().map(|hook| build_recorded(product, hook, cwd)).collect();
    }
    let mut sender = DerivedHooks::new(product);
    let steps = list_timed_steps(recording);
    let first = steps.first().map_or(recording.started_at, |step| step.at.min(recording.started_at));
    let start = ("SessionStart", first, json!({"source": "startup"}));
    let derived =
        steps.iter().flat_map(|step| sender.derive(&step.step).into_iter().map(|(name, body)| (name, step.at, body)));
    let all = std::iter::once(start).chain(derived).filter(|(name, ..)| product.fires_event(name));
    all.map(|(name, at, payload)| fill(name, at, payload)).collect()
}

/// The record of a hook with its payload. Its paths are those of the person `me`.
fn build_recorded(product: &AgentProduct, hook: &RecordedHook, cwd: &Path) -> EventRecord {
    let home = cwd.with_file_name("home");
    let text = hook.payload.to_string().replace("/home/me/project", cwd.to_str().unwrap());
    let text = text.replace("/home/me", home.to_str().unwrap());
    let (event, _) = Event::from_json(Some(&hook.event), text.as_bytes()).unwrap();
    let mut record = EventRecord::new(&event, hook.at);
    record.sender.product = Some(product.name.to_owned());
    record
}

/// The hooks that an agent sends for its steps.
struct DerivedHooks {
    product: &'static AgentProduct,
    /// The calls without a result: id, tool, input.
    open: Vec<(String, String, Value)>,
}

impl DerivedHooks {
    fn new(product: &'static AgentProduct) -> Self {
        Self { product, open: Vec::new() }
    }

    fn derive(&mut self, step: &SessionStep) -> Option<(&'static str, Value)> {
        Some(match step {
            SessionStep::Prompt(text) => {
                self.open.clear();
                ("UserPromptSubmit", json!({"prompt": text}))
            }
            SessionStep::Call(id, tool, input) => {
                self.open.push((id.clone(), tool.clone(), input.clone()));
                ("PreToolUse", json!({"tool_name": tool, "tool_use_id": id, "tool_input": input}))
            }
            SessionStep::Result(id, tool) => {
                self.open.retain(|(open, ..)| open != id);
                ("PostToolUse", json!({"tool_name": tool, "tool_use_id": id, "tool_input": {}, "tool_response": {}}))
            }
            SessionStep::Permission(_)
                if !self.product.fires_event("PermissionRequest") || self.product.name == "copilot" =>
            {
                ("Notification", json!({"notification_type": "permission_prompt", "message": "Permission needed"}))
            }
            SessionStep::Permission(tool) => {
                let call = self.open.iter().rev().find(|(_, open, _)| tool.is_empty() || open == tool);
                let (tool, input) = call.map_or(("Bash", json!({})), |(_, tool, input)| (tool.as_str(), input.clone()));
                ("PermissionRequest", json!({"tool_name": tool, "tool_input": input}))
            }
            SessionStep::TurnEnd(words) => {
                self.open.clear();
                let words = Some(words).filter(|words| !words.is_empty());
                ("Stop", json!({"last_assistant_message": words}))
            }
            SessionStep::Activity => return None,
            SessionStep::Interruption => {
                self.open.clear();
                return None;
            }
        })
    }
}
