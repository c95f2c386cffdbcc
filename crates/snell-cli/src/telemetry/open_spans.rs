//! The spans of an agent that have begun and not ended. They are stored between batches.

use serde::{Deserialize, Serialize};

use super::span::OpenSpan;

/// How many tool calls, and sub-agents, of a turn are followed at once.
pub(super) const MAX_OPEN: usize = 200;

/// The open spans of an agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenSpans {
    /// Its newest event so far.
    pub(super) last_row: i64,
    /// The turn under way.
    pub(super) turn: Option<OpenTurn>,
}

/// A turn, from the prompt until the agent is idle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenTurn {
    pub(super) span: OpenSpan,
    pub(super) calls: Vec<OpenCallSpan>,
    pub(super) subagents: Vec<OpenSubagent>,
    /// The wait for the user under way.
    pub(super) wait: Option<OpenSpan>,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenCallSpan {
    /// The event that began it.
    pub(super) event_row: i64,
    pub(super) tool_use_id: Option<String>,
    pub(super) tool: String,
    pub(super) span: OpenSpan,
}

/// A sub-agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenSubagent {
    pub(super) id: String,
    pub(super) span: OpenSpan,
}

impl OpenTurn {
    pub(super) fn new(span: OpenSpan) -> Self {
        Self { span, calls: Vec::new(), subagents: Vec::new(), wait: None }
    }

    /// The call that an event with this id, or after this row, belongs to.
    pub(super) fn find_call(&self, tool_use_id: Option<&str>, begun_by: Option<i64>) -> Option<usize> {
        self.calls.iter().rposition(|call| match (tool_use_id, begun_by) {
            (Some(id), _) => call.tool_use_id.as_deref() == Some(id),
            (None, Some(row)) => call.event_row == row,
            (None, None) => false,
        })
    }

    /// The span above the events of this sub-agent; the turn's, if they are not of a known one.
    pub(super) fn span_of_subagent(&self, id: Option<&str>) -> &OpenSpan {
        let subagent = self.subagents.iter().rfind(|subagent| Some(subagent.id.as_str()) == id);
        subagent.map_or(&self.span, |subagent| &subagent.span)
    }
}

/// A background hook that had not ended when its event was read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenHookRun {
    pub(super) span: OpenSpan,
    pub(super) host: Option<String>,
    pub(super) event: String,
}
