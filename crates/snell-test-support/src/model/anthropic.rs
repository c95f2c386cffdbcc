//! Anthropic's Messages.

use serde_json::{Value, json};

use crate::model::answer::ModelAnswer;
use crate::model::conversation::{MessageAuthor, ModelMessage, ModelRequest, collect_text};

pub(crate) fn read_request(_path: &str, body: &Value) -> ModelRequest {
    let list = |key: &str| body[key].as_array().cloned().unwrap_or_default();
    ModelRequest {
        instructions: collect_text(&body["system"]),
        messages: list("messages").iter().flat_map(read_message).collect(),
        tool_names: list("tools").iter().filter_map(|tool| Some(tool["name"].as_str()?.to_owned())).collect(),
        is_stream: body["stream"] == true,
        body: body.clone(),
    }
}

/// The results of tools stand in messages of the user, and become messages of their own.
fn read_message(message: &Value) -> Vec<ModelMessage> {
    let author = if message["role"] == "assistant" { MessageAuthor::Model } else { MessageAuthor::User };
    let Some(parts) = message["content"].as_array() else {
        return vec![ModelMessage::new(author, collect_text(&message["content"]))];
    };
    let read_part = |part: &Value| match part["type"].as_str() {
        Some("tool_result") => ModelMessage::new(MessageAuthor::Tool, collect_text(&part["content"])),
        Some("tool_use") => {
            let id = part["id"].as_str().unwrap_or_default().to_owned();
            ModelMessage { author, text: String::new(), call_ids: vec![id] }
        }
        _ => ModelMessage::new(author, collect_text(&part["text"])),
    };
    parts.iter().map(read_part).collect()
}

pub(crate) fn write_body(answer: &ModelAnswer) -> Value {
    let text = (!answer.words.is_empty()).then(|| json!({"type": "text", "text": answer.text()}));
    let calls = answer
        .calls
        .iter()
        .map(|call| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.input}));
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-5-5",
        "content": text.into_iter().chain(calls).collect::<Vec<_>>(),
        "stop_reason": if answer.calls.is_empty() { "end_turn" } else { "tool_use" },
        "stop_sequence": null,
        "usage": {"input_tokens": 100, "output_tokens": 10},
    })
}

pub(crate) fn write_events(answer: &ModelAnswer) -> Vec<Value> {
    let whole = write_body(answer);
    let mut head = whole.clone();
    head["content"] = json!([]);
    head["stop_reason"] = Value::Null;
    let mut events = vec![json!({"type": "message_start", "message": head})];
    for (block, index) in whole["content"].as_array().into_iter().flatten().zip(0..) {
        let mut empty = block.clone();
        let deltas = if block["type"] == "text" {
            empty["text"] = json!("");
            answer.words.iter().map(|word| json!({"type": "text_delta", "text": word})).collect()
        } else {
            empty["input"] = json!({});
            vec![json!({"type": "input_json_delta", "partial_json": block["input"].to_string()})]
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": empty}));
        events
            .extend(deltas.iter().map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let end = json!({"stop_reason": whole["stop_reason"], "stop_sequence": null});
    events.push(json!({"type": "message_delta", "delta": end, "usage": {"output_tokens": 10}}));
    events.push(json!({"type": "message_stop"}));
    events
}
