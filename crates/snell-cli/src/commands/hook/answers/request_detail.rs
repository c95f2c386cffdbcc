//! The content of a request: everything that a person needs to decide. All of it is masked, as in the record of the event.

use serde_json::{Map, Value, json};
use snell::Event;
use snell_store::{EventRecord, MaskedRecord, summarize_tool_call};

use super::super::pipeline::HookPipeline;
use crate::guard::{GuardRun, ProjectGuard};

/// The store cuts only texts that are longer than this.
const MIN_CUT_BYTES: usize = 32 * 1024;

/// A longer detail is cut as a whole.
const MAX_DETAIL_BYTES: usize = 256 * 1024;

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
        let suggestions = run.call.product.list_suggestions(&original).to_vec();
        let reading = describe_call(run, &original, &input);
        // The record's own masking serves for all parts.
        let mut record = EventRecord::new(&original, run.setup.now);
        record.payload = Map::from_iter([
            ("input".to_owned(), input),
            ("cwd".to_owned(), json!(original.cwd)),
            ("subagent".to_owned(), json!(subagent)),
            ("reason".to_owned(), json!(reason)),
            ("guard".to_owned(), serde_json::to_value(&guard).unwrap_or_default()),
            ("reading".to_owned(), json!(reading)),
            ("suggestions".to_owned(), suggestions.into()),
        ]);
        let masked = MaskedRecord::from(record).payload.clone();
        let call = original.tool.as_ref().and_then(|tool| tool.input.as_ref());
        let mut left_out = call.zip(masked.get("input")).map_or(0, |(call, masked)| count_left_out_bytes(call, masked));
        original.raw = masked;
        left_out += fit_into(&mut original.raw, MAX_DETAIL_BYTES);
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

/// The guard's reading of the call, also where the guard does not judge.
fn describe_call(run: &HookPipeline<'_>, event: &Event, input: &Value) -> Vec<String> {
    if run.call.product.asks_questions(event) {
        return Vec::new();
    }
    match &run.guard_run {
        Some(guard_run) => guard_run.describe_input(input),
        None => {
            let guard = ProjectGuard::from_settings(&run.setup.settings, &run.call.project, run.setup.now);
            guard.describe_call(event.tool_name().unwrap_or_default(), input, event.cwd.as_deref())
        }
    }
}

/// Cuts the largest parts until the whole has at most this many bytes of JSON. Returns how many bytes are missing.
fn fit_into(detail: &mut Map<String, Value>, most: usize) -> usize {
    let before = measure(detail);
    if before <= most {
        return 0;
    }
    let input = detail.remove("input");
    // Further questions, reasons and suggestions are of no use to a person.
    detail.retain(|_, value| value.to_string().len() <= most / 8);
    if let Some(mut input) = input {
        let mut room = most.saturating_sub(measure(detail));
        cut_value(&mut input, &mut room);
        detail.insert("input".to_owned(), input);
    }
    before.saturating_sub(measure(detail)).max(1)
}

fn measure(fields: &Map<String, Value>) -> usize {
    // JSON in memory always serializes.
    serde_json::to_string(fields).map_or(0, |text| text.len())
}

/// Keeps as much of a value as there is room for, from its beginning.
fn cut_value(value: &mut Value, room: &mut usize) {
    match value {
        Value::Array(items) => items.retain_mut(|item| keep_within(item, room)),
        Value::Object(fields) => fields.retain(|name, value| {
            // Quotes and a colon, and escapes of a hostile name.
            *room = room.saturating_sub(2 * name.len() + 4);
            keep_within(value, room)
        }),
        Value::String(text) => {
            // Escapes take up to six bytes for one.
            let end = text.char_indices().map(|(at, letter)| at + letter.len_utf8());
            let end = end.take_while(|end| *end <= *room / 6).last().unwrap_or(0);
            text.truncate(end);
            *room = 0;
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn keep_within(value: &mut Value, room: &mut usize) -> bool {
    let size = value.to_string().len() + 1;
    if size > *room {
        cut_value(value, room);
        return match value {
            Value::String(text) => !text.is_empty(),
            Value::Array(items) => !items.is_empty(),
            Value::Object(fields) => !fields.is_empty(),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        };
    }
    *room = room.saturating_sub(size);
    true
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detail_of_any_form_fits_and_says_how_much_is_missing() {
        let long = "x".repeat(2 * MAX_DETAIL_BYTES);
        let quotes = "\"".repeat(MAX_DETAIL_BYTES);
        let many: Map<_, _> = (0..50_000).map(|number| (format!("key{number}"), json!("value"))).collect();
        let cases = [
            json!({"command": long}),
            json!({"command": quotes}),
            json!({"edits": vec![json!({"old_string": "x".repeat(1000)}); 2000]}),
            Value::Object(many),
            json!(vec![long.clone(); 3]),
        ];
        for input in cases {
            let mut detail = Map::from_iter([("input".to_owned(), input), ("cwd".to_owned(), json!("/work"))]);
            let missing = fit_into(&mut detail, MAX_DETAIL_BYTES);
            assert!(missing > 0 && measure(&detail) <= MAX_DETAIL_BYTES, "{missing}, {}", measure(&detail));
            assert_eq!(detail["cwd"], "/work");
            assert!(detail.contains_key("input"));
        }
        let mut small = Map::from_iter([("input".to_owned(), json!({"command": "ls"}))]);
        assert_eq!(fit_into(&mut small, MAX_DETAIL_BYTES), 0);
        let mut reasons = Map::from_iter([("reason".to_owned(), json!(long))]);
        assert!(fit_into(&mut reasons, MAX_DETAIL_BYTES) > 0 && reasons.is_empty());
    }
}
