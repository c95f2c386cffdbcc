//! The tool calls in a transcript that have no result yet.

use serde::{Deserialize, Serialize};
use snell::AgentProduct;

use crate::derive::transcript::TranscriptCall;

/// How many are kept. A call whose result never comes is removed at the end of the turn.
const MAX_OPEN_CALLS: usize = 64;

/// A call without a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OpenCall {
    id: String,
    /// The canonical name of the tool.
    pub(super) tool: String,
    /// Whether the user has to answer it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_awaited: bool,
    /// Whether it is a sub-agent that runs on after the end of the turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_subagent: bool,
}

/// The calls without a result, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct OpenCalls(Vec<OpenCall>);

/// The effect of a result on the wait for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AwaitedResult {
    /// The user has answered.
    Answered,
    /// It is the result of another call.
    OfOtherCall,
}

impl OpenCalls {
    pub(super) fn parse(stored: Option<&str>) -> Self {
        stored.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// As it is stored.
    pub(super) fn to_stored(&self) -> Option<String> {
        if self.0.is_empty() { None } else { serde_json::to_string(self).ok() }
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Forgets the calls of a turn that is over, and returns how many sub-agents run on.
    pub(super) fn end_turn(&mut self) -> u32 {
        self.0.retain(|open| open.is_subagent);
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn begin_subagents(&mut self, ids: &[String]) {
        for id in ids.iter().take(MAX_OPEN_CALLS.saturating_sub(self.0.len())) {
            self.0.push(OpenCall { id: id.clone(), tool: String::new(), is_awaited: false, is_subagent: true });
        }
    }

    /// Removes sub-agents that reported. Returns whether one of them was known.
    pub(super) fn end_subagents(&mut self, ids: &[String]) -> bool {
        let before = self.0.len();
        self.0.retain(|open| !(open.is_subagent && ids.contains(&open.id)));
        self.0.len() < before
    }

    /// Adds a call, and returns the canonical name of its tool.
    pub(super) fn begin(&mut self, product: &AgentProduct, call: &TranscriptCall) -> String {
        let tool = product.canonical_tool_name(call.tool.as_deref().unwrap_or("a tool"));
        let id = call.id.clone().unwrap_or_default();
        // A line may be written again when it grows.
        if !self.0.iter().any(|open| open.id == id) && self.0.len() < MAX_OPEN_CALLS {
            self.0.push(OpenCall { id, tool: tool.clone(), is_awaited: false, is_subagent: false });
        }
        tool
    }

    /// Marks a call that the user has to answer, and returns the canonical name of its tool.
    pub(super) fn await_answer(&mut self, call: &TranscriptCall) -> String {
        let id = call.id.as_deref().unwrap_or_default();
        match self.0.iter_mut().find(|open| open.id == id) {
            Some(open) => {
                open.is_awaited = true;
                open.tool.clone()
            }
            None => "a tool".to_owned(),
        }
    }

    /// Removes a call that has its result. `awaited_tool` is the tool for which the agent waits, if only its name is known.
    pub(super) fn end(&mut self, call: &TranscriptCall, awaited_tool: Option<&str>) -> AwaitedResult {
        let place = self.0.iter().position(|open| Some(&open.id) == call.id.as_ref());
        let ended = place.map(|place| self.0.remove(place));
        let is_answer = match ended {
            // The call began before the part of the transcript that was read.
            None => !self.0.iter().any(|open| open.is_awaited || Some(open.tool.as_str()) == awaited_tool),
            Some(OpenCall { is_awaited: true, .. }) => true,
            Some(ended) => {
                // Of several calls of one tool, any may be the one that the user has to answer.
                Some(ended.tool.as_str()) == awaited_tool
                    && !self.0.iter().any(|open| open.is_awaited || open.tool == ended.tool)
            }
        };
        if is_answer { AwaitedResult::Answered } else { AwaitedResult::OfOtherCall }
    }
}
