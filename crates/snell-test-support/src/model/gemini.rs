//! Gemini's `generateContent` and `streamGenerateContent`.

use serde_json::{Value, json};

use crate::model::answer::ModelAnswer;
use crate::model::conversation::{MessageAuthor, ModelMessage, ModelRequest, collect_text};

pub(crate) fn read_request(path: &str, body: &Value) -> ModelRequest {
    let list = |key: &str| body[key].as_array().cloned().unwrap_or_default();
    let tools = list("tools");
    let declarations =
        tools.iter().flat_map(|tool| tool["functionDeclarations"].as_array().cloned().unwrap_or_default());
    ModelRequest {
        instructions: collect_text(&body["systemInstruction"]),
        messages: list("contents").iter().flat_map(read_content).collect(),
        tool_names: declarations.filter_map(|tool| Some(tool["name"].as_str()?.to_owned())).collect(),
        is_stream: path.ends_with(":streamGenerateContent"),
        body: body.clone(),
    }
}

/// The results of tools stand in contents of the user, and become messages of their own.
fn read_content(content: &Value) -> Vec<ModelMessage> {
    let author = if content["role"] == "model" { MessageAuthor::Model } else { MessageAuthor::User };
    let read_part = |part: &Value| {
        if let Some(call) = part.get("functionCall") {
            let id = call["id"].as_str().unwrap_or_default().to_owned();
            return ModelMessage { author, text: String::new(), call_ids: vec![id] };
        }
        match part.get("functionResponse") {
            Some(response) => ModelMessage::new(MessageAuthor::Tool, collect_text(&response["response"])),
            None => ModelMessage::new(author, collect_text(&part["text"])),
        }
    };
    content["parts"].as_array().into_iter().flatten().map(read_part).collect()
}

fn write_content(parts: &[Value]) -> Value {
    json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}],
        "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110},
        "modelVersion": "gemini-2.5-pro",
    })
}

fn write_calls(answer: &ModelAnswer) -> Vec<Value> {
    let write = |call: &crate::model::answer::NativeCall| json!({"functionCall": {"id": call.id, "name": call.name, "args": call.input}});
    answer.calls.iter().map(write).collect()
}

pub(crate) fn write_body(answer: &ModelAnswer) -> Value {
    let text = (!answer.words.is_empty()).then(|| json!({"text": answer.text()}));
    let parts: Vec<_> = text.into_iter().chain(write_calls(answer)).collect();
    finish(write_content(&parts))
}

pub(crate) fn write_events(answer: &ModelAnswer) -> Vec<Value> {
    let mut events: Vec<_> = answer.words.iter().map(|word| write_content(&[json!({"text": word})])).collect();
    if !answer.calls.is_empty() {
        events.push(write_content(&write_calls(answer)));
    }
    if let Some(last) = events.pop() {
        events.push(finish(last));
    }
    events
}

fn finish(mut content: Value) -> Value {
    content["candidates"][0]["finishReason"] = json!("STOP");
    content
}
