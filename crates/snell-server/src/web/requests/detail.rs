//! The call of a request, the reasons to ask, and the guard's reading of the call.

use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;
use snell_store::requests::RequestView;

use crate::web::format::truncate_text;
use crate::web::input_diff::render_text_diff;

/// The longest text of a call.
const MAX_CALL_CHARS: usize = 20_000;

/// The longest other text.
const MAX_TEXT_CHARS: usize = 600;

/// The most reasons, and lines of the reading.
const MAX_LINES: usize = 20;

/// The fields that hold a whole call, and those that hold a new text of a file.
const COMMAND_FIELDS: &[&str] = &["command", "cmd", "script", "code", "patch", "query", "url", "prompt"];
const CONTENT_FIELDS: &[&str] = &["content", "new_source", "file_text"];

/// The fields that name the file of a call.
const PATH_FIELDS: &[&str] = &["file_path", "path", "notebook_path"];

/// The fields of an edit, before and after.
const EDIT_FIELDS: [&str; 2] = ["old_string", "new_string"];

/// A reason to ask.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RequestReason {
    author: String,
    rule: Option<String>,
    text: String,
}

/// Everything that a person needs to decide. Every text in it comes from an agent or a hook.
pub(super) fn render_detail(request: &RequestView) -> Markup {
    let detail = &request.detail;
    let reasons = list_reasons(detail);
    let reading: Vec<_> = request.reading().take(MAX_LINES).collect();
    html! {
        p.asks { bdi { (truncate_text(&request.title, MAX_TEXT_CHARS)) } }
        @if !reading.is_empty() {
            p.label { "It would, as the guard reads it" }
            ul.reading { @for line in reading { li { bdi { (truncate_text(line, MAX_TEXT_CHARS)) } } } }
        }
        @if let Some(input) = detail.get("input").filter(|input| !input.is_null()) { (render_call(input)) }
        @if let Some(bytes) = request.left_out_bytes() {
            p.label { "Incomplete: " (bytes) " bytes of the call were not recorded. Look at it in the agent's terminal before you allow it." }
        }
        @if let Some(cwd) = detail.get("cwd").and_then(Value::as_str) {
            p.cwd { span.label { "in " } code { bdi { (truncate_text(cwd, MAX_TEXT_CHARS)) } } }
        }
        @if !reasons.is_empty() {
            p.label { "Reasons to ask" }
            ul.reasons {
                @for reason in &reasons {
                    li {
                        strong { bdi { (truncate_text(&reason.author, 60)) } }
                        @if let Some(rule) = &reason.rule { " " code { bdi { (truncate_text(rule, 100)) } } }
                        ": " bdi { (truncate_text(&reason.text, MAX_TEXT_CHARS)) }
                    }
                }
            }
        }
    }
}

/// The reasons of the guard and of hooks.
fn list_reasons(detail: &Value) -> Vec<RequestReason> {
    let list = |name: &str| detail.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut reasons: Vec<_> = list("reasons").iter().filter_map(|one| RequestReason::deserialize(one).ok()).collect();
    for verdict in list("guard") {
        let text = |name: &str| verdict.get(name).and_then(Value::as_str).map(str::to_owned);
        let advice = text("advice").map(|advice| format!(" ({advice})")).unwrap_or_default();
        let reason = text("reason").unwrap_or_default() + &advice;
        reasons.push(RequestReason { author: "guard".to_owned(), rule: text("rule"), text: reason });
    }
    if let Some(reason) = detail.get("reason").and_then(Value::as_str)
        && !reasons.iter().any(|one| one.text.starts_with(reason) || reason.contains(&one.text))
    {
        reasons.push(RequestReason { author: "reason".to_owned(), rule: None, text: reason.to_owned() });
    }
    reasons.truncate(MAX_LINES);
    reasons
}

/// The call: its command, the change of a file, or its fields.
fn render_call(input: &Value) -> Markup {
    let text = |name: &str| input.get(name).and_then(Value::as_str);
    let command = COMMAND_FIELDS.iter().find_map(|name| Some((*name, text(name)?)));
    let content = CONTENT_FIELDS.iter().find_map(|name| text(name));
    let edits = list_edits(input);
    let path = PATH_FIELDS.iter().find_map(|name| Some((*name, text(name)?)));
    let mut shown: Vec<&str> = path.iter().map(|(name, _)| *name).collect();
    if !edits.is_empty() {
        let is_plain = |edit: &Value| edit.as_object().is_some_and(|edit| edit.len() == EDIT_FIELDS.len());
        match input.get("edits").and_then(Value::as_array) {
            Some(edits) if edits.iter().all(is_plain) => shown.push("edits"),
            Some(_) => {}
            None => shown.extend(EDIT_FIELDS),
        }
    } else if content.is_some() {
        shown.extend(CONTENT_FIELDS.iter().find(|name| text(name).is_some()));
    } else if let Some((name, _)) = command {
        shown.extend([name, "description"]);
    }
    html! {
        @if let Some((_, path)) = path {
            p.file { span.label { "file " } code { bdi { (truncate_text(path, MAX_TEXT_CHARS)) } } }
        }
        @if !edits.is_empty() {
            @for (before, after) in edits { (render_text_diff(before, after)) }
        } @else if let Some(content) = content {
            (render_text_diff("", content))
        } @else if let Some((name, command)) = command {
            @if let Some(purpose) = text("description") {
                p.quiet { span.label { "described as " } bdi { (truncate_text(purpose, MAX_TEXT_CHARS)) } }
            }
            (render_long_text(name, command))
        }
        (render_other_fields(input, &shown))
    }
}

/// All fields of a call that are not shown yet: each of them may change what it does.
fn render_other_fields(input: &Value, shown: &[&str]) -> Markup {
    let Value::Object(fields) = input else {
        return render_long_text("input", &format_value(input));
    };
    let is_left = |name: &str| name != "questions" && !shown.contains(&name);
    let left: Vec<_> = fields.iter().filter(|(name, _)| is_left(name)).collect();
    let edit_count = input.get("edits").and_then(Value::as_array).map_or(0, Vec::len);
    let missing = left.len().saturating_sub(MAX_LINES) + edit_count.saturating_sub(list_edits(input).len());
    html! {
        @for (name, value) in left.iter().take(MAX_LINES) { (render_long_text(name, &format_value(value))) }
        @if missing > 0 { p.quiet { (missing) " more fields or edits are not shown" } }
    }
}

/// The edits of a file, each with the text before and after.
fn list_edits(input: &Value) -> Vec<(&str, &str)> {
    fn find_edit(edit: &Value) -> Option<(&str, &str)> {
        let [before, after] = EDIT_FIELDS.map(|name| edit.get(name).and_then(Value::as_str));
        Some((before?, after?))
    }
    match input.get("edits").and_then(Value::as_array) {
        Some(edits) => edits.iter().filter_map(find_edit).take(MAX_LINES).collect(),
        None => find_edit(input).into_iter().collect(),
    }
}

/// A text of any length, with its size. The note about a missing rest stands outside of the text.
pub(super) fn render_long_text(name: &str, text: &str) -> Markup {
    let end = text.char_indices().nth(MAX_CALL_CHARS).map_or(text.len(), |(end, _)| end);
    let missing = text.len() - end;
    let lines = text.lines().count().max(1);
    html! {
        p.label { bdi { (truncate_text(name, 60)) } @if lines > 1 { " (" (lines) " lines)" } }
        pre.call tabindex="0" { (&text[..end]) }
        @if missing > 0 { p.warn { "… " (missing) " more bytes are not shown. You cannot see all of it here." } }
    }
}

fn format_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
