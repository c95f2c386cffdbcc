//! The content of a request: everything that a person needs to decide. All of it is masked, as in the record of the event.

use serde_json::{Map, Value, json};
use snell::Event;
use snell_store::{EventRecord, MaskedRecord, summarize_tool_call};

use super::super::pipeline::HookPipeline;
use crate::guard::GuardRun;

/// The store cuts only texts that are longer than this.
const MIN_CUT_BYTES: usize = 32 * 1024;

/// A longer title is cut. The whole call is in the detail.
const MAX_TITLE_CHARS: usize = 200;

/// The call that a request is about, without secrets.
pub(super) struct ShownCall<'a> {
    run: &'a HookPipeline<'a>,
    event: Event,
}

impl<'a> ShownCall<'a> {
    pub(super) fn from_pipeline(run: &'a HookPipeline<'a>) -> Self {
        let mut original = run.event_to_run().into_owned();
        let input = original.tool.as_ref().and_then(|tool| tool.input.clone()).unwrap_or(Value::Null);
        let reason = run.verdict.question.clone().or_else(|| run.verdict.reason.clone());
        let guard = run.guard_run.as_ref().map(GuardRun::to_records).unwrap_or_default();
        let subagent = original.subagent.as_ref().and_then(|subagent| subagent.id.clone());
        let suggestions = original.raw.get("permission_suggestions").cloned();
        // The record's own masking serves for all parts.
        let mut record = EventRecord::new(&original, run.setup.now);
        record.payload = Map::from_iter([
            ("input".to_owned(), input),
            ("cwd".to_owned(), json!(original.cwd)),
            ("subagent".to_owned(), json!(subagent)),
            ("reason".to_owned(), json!(reason)),
            ("guard".to_owned(), serde_json::to_value(&guard).unwrap_or_default()),
            ("suggestions".to_owned(), suggestions.unwrap_or(Value::Null)),
        ]);
        let masked = MaskedRecord::from(record).payload.clone();
        let call = original.tool.as_ref().and_then(|tool| tool.input.as_ref());
        let left_out = call.zip(masked.get("input")).map_or(0, |(call, masked)| count_left_out_bytes(call, masked));
        original.raw = masked;
        if left_out > 0 {
            original.raw.insert("left_out".to_owned(), left_out.into());
        }
        original.raw.retain(|_, value| !value.is_null() && *value != json!([]));
        if let Some(tool) = &mut original.tool {
            tool.input = original.raw.get("input").cloned();
        }
        Self { run, event: original }
    }

    /// One line: the tool and its summary, or the question.
    pub(super) fn title(&self) -> String {
        let tool = self.event.tool_name().unwrap_or("a tool");
        let summary = summarize_tool_call(self.run.call.product, &self.event);
        let title = match summary {
            Some(question) if self.run.call.product.asks_questions(&self.event) => question,
            Some(summary) => format!("{tool}: {summary}"),
            None => tool.to_owned(),
        };
        match title.char_indices().nth(MAX_TITLE_CHARS) {
            Some((end, _)) => format!("{}…", &title[..end]),
            None => title,
        }
    }

    pub(super) fn detail(&self) -> Value {
        let mut detail = self.event.raw.clone();
        if self.run.call.product.asks_questions(&self.event) {
            detail.insert("questions".to_owned(), self.list_questions());
        }
        Value::Object(detail)
    }

    /// The questions under Snell's own names.
    fn list_questions(&self) -> Value {
        let questions = self.event.raw.get("input").and_then(|input| input.get("questions")?.as_array());
        let convert = |question: &Value| {
            let mut question = question.clone();
            if let Some(fields) = question.as_object_mut() {
                let multi_select = fields.remove("multiSelect").unwrap_or(false.into());
                fields.insert("multi_select".to_owned(), multi_select);
            }
            question
        };
        questions.into_iter().flatten().map(convert).collect()
    }
}

/// How many bytes of long texts the stored copy of a call lacks.
fn count_left_out_bytes(call: &Value, stored: &Value) -> usize {
    match (call, stored) {
        (Value::String(call), Value::String(stored)) if stored.len() >= MIN_CUT_BYTES => {
            call.len().saturating_sub(stored.len())
        }
        (Value::Array(call), Value::Array(stored)) => {
            call.iter().zip(stored).map(|(call, stored)| count_left_out_bytes(call, stored)).sum()
        }
        (Value::Object(call), Value::Object(stored)) => {
            let pairs = call.iter().filter_map(|(name, value)| Some((value, stored.get(name)?)));
            pairs.map(|(call, stored)| count_left_out_bytes(call, stored)).sum()
        }
        _ => 0,
    }
}
