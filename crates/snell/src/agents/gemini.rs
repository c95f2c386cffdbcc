//! Gemini CLI.
//!
//! It reads JSON on standard output at exit code 0. It shows standard error to its user if standard output is empty. "ask"
//! would hang a run without a terminal, so it becomes a denial. A changed input is merged into the original input, so a
//! hook cannot remove an argument.

use serde_json::{Map, Value};

use super::deny_only::{BASE_PRODUCT, refuse_question};
use super::fingerprint::PayloadMark::{Contains, EventPrefix, Values};
use super::{
    AgentProduct, AgentReply, AgentVariables, NotificationKinds, SupportLevel, TranscriptFormat, fallback_decode,
};
use crate::event::{Event, EventError};
use crate::verdict::{Decision, Verdict};

pub(super) static GEMINI: AgentProduct = AgentProduct {
    name: "gemini",
    title: "Gemini CLI",
    support: SupportLevel::Full,
    payload_marks: &[
        EventPrefix("Before"),
        EventPrefix("After"),
        Values("hook_event_name", &["PreCompress"]),
        Contains("transcript_path", "/.gemini/tmp/"),
    ],
    env_marks: &["GEMINI_SESSION_ID"],
    events: &[
        "SessionStart",
        "SessionEnd",
        "BeforeAgent",
        "AfterAgent",
        "BeforeModel",
        "AfterModel",
        "BeforeToolSelection",
        "BeforeTool",
        "AfterTool",
        "PreCompress",
        "Notification",
    ],
    decode,
    encode,
    variables: AgentVariables {
        pid: None,
        launcher_session_id: None,
        session_id: Some("GEMINI_SESSION_ID"),
        project_dir: Some("GEMINI_PROJECT_DIR"),
        stop_block_cap: None,
    },
    notifications: NotificationKinds {
        needs_input: &["ToolPermission"],
        input_given: &[],
        idle: &[],
        permission_phrases: &[],
    },
    question_tools: &[],
    transcript: TranscriptFormat::Unsupported,
    ..BASE_PRODUCT
};

/// The reason of a denial without a reason.
const DEFAULT_REASON: &str = "Blocked by a hook";

/// Events that `decision: "deny"` stops, and events whose `additionalContext` reaches the model.
const DENIABLE_EVENTS: &[&str] = &["BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent"];
const CONTEXT_EVENTS: &[&str] = &["SessionStart", "BeforeAgent", "AfterTool"];

/// Adds fields under Claude Code's names, which other code reads.
fn decode(name: Option<&str>, mut payload: Map<String, Value>) -> Result<Event, EventError> {
    if let Some(last_words) = payload.get("prompt_response").filter(|text| text.is_string()).cloned() {
        payload.entry("last_assistant_message").or_insert(last_words);
    }
    let mut event = fallback_decode::decode_event(name, payload)?;
    if let Some(tool) = &mut event.tool {
        let has_failed =
            tool.output.as_ref().and_then(|output| output.get("error")).is_some_and(|error| !error.is_null());
        tool.success = tool.success.or(has_failed.then_some(false));
    }
    Ok(event)
}

fn encode(product: &AgentProduct, event: &Event, verdict: &Verdict) -> AgentReply {
    let name = event.raw.get("hook_event_name").and_then(Value::as_str).unwrap_or_default();
    let mut answer = GeminiAnswer { name, ..GeminiAnswer::default() };
    let refusal = answer.add_decision(product, event, verdict);
    if refusal.is_none() && !verdict.is_blocked() && name == "BeforeTool" {
        answer.specific.extend(verdict.tool_input.clone().map(|input| ("tool_input".to_owned(), input)));
    }
    if verdict.tool_output.is_some() && name == "AfterTool" {
        answer.messages.push(
            "A hook changed the tool's output, but Gemini CLI does not accept that, so the change is ignored.".into(),
        );
    }
    answer.add_context(verdict);
    if let Some(reason) = &verdict.stop {
        answer.top.insert("continue".into(), false.into());
        answer.top.extend((!reason.is_empty()).then(|| ("stopReason".to_owned(), reason.as_str().into())));
    }
    let messages = verdict.messages.iter().filter(|text| Some(*text) != verdict.stop.as_ref());
    answer.messages.extend(messages.cloned());
    AgentReply { stdout: answer.into_json_line(), refusal, ..AgentReply::default() }
}

/// Builds an answer.
#[derive(Default)]
struct GeminiAnswer<'a> {
    /// The event's name in the payload.
    name: &'a str,
    top: Map<String, Value>,
    specific: Map<String, Value>,
    messages: Vec<String>,
}

impl GeminiAnswer<'_> {
    /// Adds a denial, or its reason as a message if the event cannot be denied. Returns the reason if the verdict was "ask"
    /// and becomes a denial.
    fn add_decision(&mut self, product: &AgentProduct, event: &Event, verdict: &Verdict) -> Option<String> {
        let is_deniable = DENIABLE_EVENTS.contains(&self.name);
        let reason = || verdict.reason.clone().unwrap_or_else(|| DEFAULT_REASON.to_owned());
        let is_call = self.name == "BeforeTool";
        let (denial, refusal) = match verdict.decision {
            Decision::Deny if is_deniable => (Some(reason()), None),
            Decision::Deny => {
                self.messages.push(reason());
                (None, None)
            }
            Decision::Ask if is_call => {
                let reason = refuse_question(product, &reason());
                (Some(reason.clone()), Some(reason))
            }
            Decision::Ask => {
                self.messages.extend(verdict.reason.clone());
                (None, None)
            }
            Decision::None | Decision::Allow => {
                let reason = if is_call { find_removed_argument(event, verdict) } else { None };
                (reason.clone(), reason)
            }
        };
        if let Some(reason) = denial {
            self.top.insert("decision".into(), "deny".into());
            self.top.insert("reason".into(), reason.into());
        }
        refusal
    }

    /// Context that an event does not accept becomes a message to the user.
    fn add_context(&mut self, verdict: &Verdict) {
        let texts: Vec<_> = verdict.context.iter().filter(|text| !text.is_empty()).cloned().collect();
        if !CONTEXT_EVENTS.contains(&self.name) {
            self.messages.extend(texts);
        } else if !texts.is_empty() {
            self.specific.insert("additionalContext".into(), texts.join("\n").into());
        }
    }

    fn into_json_line(mut self) -> Option<String> {
        self.messages.retain(|text| !text.is_empty());
        if !self.messages.is_empty() {
            self.top.insert("systemMessage".into(), self.messages.join("\n").into());
        }
        if !self.specific.is_empty() {
            self.specific.insert("hookEventName".into(), self.name.into());
            self.top.insert("hookSpecificOutput".into(), Value::Object(self.specific));
        }
        (!self.top.is_empty()).then(|| Value::Object(self.top).to_string())
    }
}

/// Why a changed input cannot be passed on, if a hook removed an argument: the call would still run with it.
fn find_removed_argument(event: &Event, verdict: &Verdict) -> Option<String> {
    let before = event.tool.as_ref()?.input.as_ref()?.as_object()?;
    let after = verdict.tool_input.as_ref()?;
    let removed = before.keys().find(|key| after.get(key.as_str()).is_none())?;
    Some(format!("A hook removed \"{removed}\" from the tool's input, but Gemini CLI does not accept that."))
}
