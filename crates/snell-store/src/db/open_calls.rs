//! Tool calls without ids that have begun and not ended. Their ends are recognised by the tool and its input.

use std::collections::HashMap;

use serde_json::Value;
use snell::Timestamp;

use crate::db::rows::{EventRow, OpenToolCall};
use crate::record::json;

/// How many open calls of a tool are compared with an end, the newest first.
pub(crate) const MAX_COMPARED_CALLS: usize = 64;

/// The end of a call without an id.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndedCall<'a> {
    pub(crate) agent_id: i64,
    pub(crate) conversation_id: i64,
    pub(crate) tool: &'a str,
    /// The tool's input, if the event repeats it.
    pub(crate) input: Option<&'a Value>,
    pub(crate) at: Timestamp,
}

/// The effect of an event on the open calls of its agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenCallChange<'a> {
    /// A call of this tool begins.
    Begins(&'a str),
    /// The call that this event began has ended.
    Ends(i64),
    /// An unfinished call of an earlier turn was interrupted.
    AllEnd,
    Nothing,
}

impl EventRow<'_> {
    /// The effect of the event on the list of open calls without ids.
    pub(crate) fn open_call_change(&self) -> OpenCallChange<'_> {
        match (self.name, self.tool) {
            ("PreToolUse", Some(tool)) if self.tool_use_id.is_none() && self.decision != Some("block") => {
                OpenCallChange::Begins(tool)
            }
            ("UserPromptSubmit" | "Stop" | "SessionStart", _) => OpenCallChange::AllEnd,
            _ => self.ends.map_or(OpenCallChange::Nothing, OpenCallChange::Ends),
        }
    }
}

/// An open call with its inputs.
#[derive(Clone, Debug)]
pub(crate) struct ComparableCall {
    pub(crate) event_row: i64,
    pub(crate) began: Timestamp,
    input: Option<Value>,
    /// The input after a hook changed it.
    changed_input: Option<Value>,
}

impl ComparableCall {
    /// Whether this ends the call: the input is the same, or the one after a hook changed it, as far as the event repeats
    /// it.
    pub(crate) fn is_ended_by(&self, end: &EndedCall<'_>) -> bool {
        let is_same = end
            .input
            .is_none_or(|input| self.changed_input.as_ref() == Some(input) || self.input.as_ref() == Some(input));
        self.began <= end.at && is_same
    }
}

impl From<OpenToolCall> for ComparableCall {
    fn from(call: OpenToolCall) -> Self {
        let read = |text: &str| -> Option<Value> { json::parse_stored_json(text.as_bytes()).ok() };
        let payload = read(&call.payload);
        Self {
            event_row: call.event_row,
            began: call.began,
            input: payload.and_then(|mut payload| payload.get_mut("tool_input").map(Value::take)),
            changed_input: call.changed_input.as_deref().and_then(read),
        }
    }
}

/// The open calls of agents whose calls were asked for, as the database has them unless another process writes.
#[derive(Debug, Default)]
pub(crate) struct OpenCallCache {
    lists: HashMap<i64, Vec<CallList>>,
}

/// The open calls of one tool in one conversation, the earliest first.
#[derive(Debug)]
struct CallList {
    conversation_id: i64,
    tool: String,
    calls: Vec<ComparableCall>,
}

impl OpenCallCache {
    pub(crate) fn len(&self) -> usize {
        self.lists.len()
    }

    /// The call that has ended: the earliest one that fits. Calls that are not known yet are loaded.
    pub(crate) fn find_ended<E>(
        &mut self,
        end: &EndedCall<'_>,
        load: impl FnOnce() -> Result<Vec<OpenToolCall>, E>,
    ) -> Result<Option<(i64, Timestamp)>, E> {
        let lists = self.lists.entry(end.agent_id).or_default();
        let is_wanted = |list: &CallList| list.conversation_id == end.conversation_id && list.tool == end.tool;
        let place = match lists.iter().position(is_wanted) {
            Some(place) => place,
            None => {
                let calls = load()?.into_iter().map(ComparableCall::from).collect();
                lists.push(CallList { conversation_id: end.conversation_id, tool: end.tool.to_owned(), calls });
                lists.len() - 1
            }
        };
        let found = lists[place].calls.iter().find(|call| call.is_ended_by(end));
        Ok(found.map(|call| (call.event_row, call.began)))
    }

    /// Follows an event that was stored in this row.
    pub(crate) fn follow_event(&mut self, event_row: i64, event: &EventRow<'_>) {
        let Some(lists) = self.lists.get_mut(&event.agent_id) else {
            return;
        };
        match event.open_call_change() {
            OpenCallChange::Nothing => {}
            OpenCallChange::AllEnd => lists.iter_mut().for_each(|list| list.calls.clear()),
            OpenCallChange::Ends(began_by) => {
                lists.iter_mut().for_each(|list| list.calls.retain(|call| call.event_row != began_by));
            }
            OpenCallChange::Begins(tool) => {
                let is_its =
                    |list: &&mut CallList| Some(list.conversation_id) == event.conversation_id && list.tool == tool;
                let Some(list) = lists.iter_mut().find(is_its) else {
                    return;
                };
                let changed = event.changed_input.and_then(|text| json::parse_stored_json(text.as_bytes()).ok());
                list.calls.push(ComparableCall {
                    event_row,
                    began: event.at,
                    input: event.input.cloned(),
                    changed_input: changed,
                });
                if list.calls.len() > MAX_COMPARED_CALLS {
                    list.calls.remove(0);
                }
            }
        }
    }
}
