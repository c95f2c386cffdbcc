//! OpenAI's Responses.

use serde_json::{Value, json};

use crate::model::answer::{ModelAnswer, NativeCall};
use crate::model::conversation::{MessageAuthor, ModelMessage, ModelRequest, collect_text};

pub(crate) fn read_request(_path: &str, body: &Value) -> ModelRequest {
    let list = |key: &str| body[key].as_array().cloned().unwrap_or_default();
    let tool_name = |tool: &Value| Some(tool["name"].as_str().or(tool["type"].as_str())?.to_owned());
    ModelRequest {
        instructions: collect_text(&body["instructions"]),
        messages: list("input").iter().filter_map(read_item).collect(),
        tool_names: list("tools").iter().filter_map(tool_name).collect(),
        is_stream: body["stream"] == true,
        body: body.clone(),
    }
}

fn read_item(item: &Value) -> Option<ModelMessage> {
    let kind = item["type"].as_str().unwrap_or("message");
    match kind {
        "message" => {
            let author = if item["role"] == "assistant" { MessageAuthor::Model } else { MessageAuthor::User };
            Some(ModelMessage::new(author, collect_text(&item["content"])))
        }
        "function_call" | "custom_tool_call" => {
            let id = item["call_id"].as_str()?.to_owned();
            Some(ModelMessage { author: MessageAuthor::Model, text: String::new(), call_ids: vec![id] })
        }
        _ if kind.ends_with("_output") => Some(ModelMessage::new(MessageAuthor::Tool, collect_text(&item["output"]))),
        _ => None,
    }
}

/// A name with a dot is that of a tool in a namespace.
fn write_call(call: &NativeCall) -> Value {
    if let Value::String(text) = &call.input {
        let id = format!("ct_{}", call.id);
        return json!({"type": "custom_tool_call", "id": id, "call_id": call.id, "name": call.name, "input": text});
    }
    let id = format!("fc_{}", call.id);
    let arguments = call.input.to_string();
    let mut item =
        json!({"type": "function_call", "id": id, "call_id": call.id, "name": call.name, "arguments": arguments});
    if let Some((namespace, name)) = call.name.split_once('.') {
        item["namespace"] = json!(namespace);
        item["name"] = json!(name);
    }
    item
}

fn write_items(answer: &ModelAnswer) -> Vec<Value> {
    let content = json!({"type": "output_text", "text": answer.text(), "annotations": []});
    let text =
        json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [content]});
    let text = (!answer.words.is_empty()).then_some(text);
    text.into_iter().chain(answer.calls.iter().map(write_call)).collect()
}

pub(crate) fn write_body(answer: &ModelAnswer) -> Value {
    let usage = json!({"input_tokens": 100, "input_tokens_details": null, "output_tokens": 10, "output_tokens_details": null, "total_tokens": 110});
    json!({"id": "resp_1", "object": "response", "status": "completed", "model": "fake", "output": write_items(answer), "usage": usage})
}

pub(crate) fn write_events(answer: &ModelAnswer) -> Vec<Value> {
    let mut events = vec![json!({"type": "response.created", "response": {"id": "resp_1"}})];
    for (item, index) in write_items(answer).into_iter().zip(0..) {
        let is_text = item["type"] == "message";
        if is_text {
            let empty =
                json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "in_progress", "content": []});
            events.push(json!({"type": "response.output_item.added", "output_index": index, "item": empty}));
            let delta = |word| json!({"type": "response.output_text.delta", "item_id": "msg_1", "output_index": index, "content_index": 0, "delta": word});
            events.extend(answer.words.iter().map(delta));
        }
        events.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
    }
    events.push(json!({"type": "response.completed", "response": write_body(answer)}));
    events
}
