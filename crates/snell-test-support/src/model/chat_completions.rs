//! OpenAI's Chat Completions, which many providers speak.

use serde_json::{Value, json};

use crate::model::answer::{ModelAnswer, NativeCall};
use crate::model::conversation::{MessageAuthor, ModelMessage, ModelRequest, collect_text};

pub(crate) fn read_request(_path: &str, body: &Value) -> ModelRequest {
    let list = |key: &str| body[key].as_array().cloned().unwrap_or_default();
    let (instructions, messages): (Vec<_>, Vec<_>) =
        list("messages").into_iter().partition(|message| message["role"] == "system" || message["role"] == "developer");
    let tool_name = |tool: &Value| Some(tool["function"]["name"].as_str()?.to_owned());
    ModelRequest {
        instructions: instructions
            .iter()
            .map(|message| collect_text(&message["content"]))
            .collect::<Vec<_>>()
            .join("\n"),
        messages: messages.iter().map(read_message).collect(),
        tool_names: list("tools").iter().filter_map(tool_name).collect(),
        is_stream: body["stream"] == true,
        body: body.clone(),
    }
}

fn read_message(message: &Value) -> ModelMessage {
    let author = match message["role"].as_str() {
        Some("assistant") => MessageAuthor::Model,
        Some("tool") => MessageAuthor::Tool,
        _ => MessageAuthor::User,
    };
    let calls = message["tool_calls"].as_array().into_iter().flatten();
    let call_ids = calls.filter_map(|call| Some(call["id"].as_str()?.to_owned())).collect();
    ModelMessage { author, text: collect_text(&message["content"]), call_ids }
}

fn write_call((call, index): (&NativeCall, usize)) -> Value {
    let function = json!({"name": call.name, "arguments": call.input.to_string()});
    json!({"index": index, "id": call.id, "type": "function", "function": function})
}

fn write_calls(answer: &ModelAnswer) -> Vec<Value> {
    answer.calls.iter().zip(0..).map(write_call).collect()
}

fn finish_reason(answer: &ModelAnswer) -> &'static str {
    if answer.calls.is_empty() { "stop" } else { "tool_calls" }
}

fn usage() -> Value {
    json!({"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110})
}

pub(crate) fn write_body(answer: &ModelAnswer) -> Value {
    let mut message = json!({"role": "assistant", "content": answer.text()});
    if !answer.calls.is_empty() {
        message["tool_calls"] = json!(write_calls(answer));
    }
    let choice = json!({"index": 0, "message": message, "finish_reason": finish_reason(answer)});
    json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "fake", "choices": [choice], "usage": usage()})
}

pub(crate) fn write_events(answer: &ModelAnswer) -> Vec<Value> {
    let chunk = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "fake", "choices": [choice]})
    };
    let mut events = vec![chunk(json!({"role": "assistant", "content": ""}), Value::Null)];
    events.extend(answer.words.iter().map(|word| chunk(json!({"content": word}), Value::Null)));
    if !answer.calls.is_empty() {
        events.push(chunk(json!({"tool_calls": write_calls(answer)}), Value::Null));
    }
    let mut last = chunk(json!({}), json!(finish_reason(answer)));
    last["usage"] = usage();
    events.push(last);
    events
}
