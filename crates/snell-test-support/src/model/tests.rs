//! The model as an agent sees it, in each protocol.

use serde_json::{Value, json};

use super::*;
use crate::http::HttpRequest;

/// The path of a protocol, a first request, and what the answer to it is in the next one.
struct ProtocolCase {
    path: &'static str,
    stream_path: &'static str,
    request: fn(Vec<Value>) -> Value,
    prompt: fn(&str) -> Value,
    past_call: fn(&str) -> Value,
}

const CASES: &[ProtocolCase] = &[
    ProtocolCase {
        path: "/v1/messages",
        stream_path: "/v1/messages",
        request: |messages| json!({"messages": messages, "tools": [{"name": "Bash"}]}),
        prompt: |text| json!({"role": "user", "content": text}),
        past_call: |id| json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "Bash"}]}),
    },
    ProtocolCase {
        path: "/v1/responses",
        stream_path: "/v1/responses",
        request: |messages| json!({"input": messages, "tools": [{"type": "function", "name": "Bash"}]}),
        prompt: |text| json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}),
        past_call: |id| json!({"type": "function_call", "call_id": id, "name": "Bash"}),
    },
    ProtocolCase {
        path: "/v1/chat/completions",
        stream_path: "/v1/chat/completions",
        request: |messages| json!({"messages": messages, "tools": [{"function": {"name": "Bash"}}]}),
        prompt: |text| json!({"role": "user", "content": text}),
        past_call: |id| json!({"role": "assistant", "tool_calls": [{"id": id, "function": {"name": "Bash"}}]}),
    },
    ProtocolCase {
        path: "/v1beta/models/fake:generateContent",
        stream_path: "/v1beta/models/fake:streamGenerateContent",
        request: |messages| json!({"contents": messages, "tools": [{"functionDeclarations": [{"name": "Bash"}]}]}),
        prompt: |text| json!({"role": "user", "parts": [{"text": text}]}),
        past_call: |id| json!({"role": "model", "parts": [{"functionCall": {"id": id, "name": "Bash"}}]}),
    },
];

fn start_model() -> ScriptedModel {
    let script = ModelScript::new().shell("echo one").text("Two words.");
    let script = script.subagent(vec![ModelTurn::Text("Of the sub-agent.".to_owned())]);
    ScriptedModel::start(RealAgent::find("claude").unwrap(), script)
}

fn send(model: &ScriptedModel, path: &str, body: &Value) -> String {
    let request = HttpRequest::new(model.address, "POST", path).json(&body.to_string());
    request.send().body
}

#[test]
fn the_due_turn_follows_from_the_request_in_every_protocol() {
    for case in CASES {
        let model = start_model();
        let first = send(&model, case.path, &(case.request)(vec![(case.prompt)("Begin")]));
        assert!(first.contains("echo one") && first.contains("call_turn0_0"), "{}: {first}", case.path);
        let messages = vec![(case.prompt)("Begin"), (case.past_call)("call_turn0_0"), (case.prompt)("Go on")];
        // A retry gets the same answer.
        for _ in 0..2 {
            let second = send(&model, case.path, &(case.request)(messages.clone()));
            assert!(second.contains("Two words. [turn1_]"), "{}: {second}", case.path);
        }
        assert!(model.has_read("Go on") && !model.has_read("echo one"), "{}", case.path);
    }
}

#[test]
fn a_sub_agent_has_turns_of_its_own() {
    for case in CASES {
        let model = start_model();
        let prompt = (case.prompt)(&format!("This is a {SUBAGENT_WORDS}."));
        let answer = send(&model, case.path, &(case.request)(vec![prompt]));
        assert!(answer.contains("Of the sub-agent."), "{}: {answer}", case.path);
    }
}

#[test]
fn a_stream_sends_the_words_one_by_one() {
    for case in CASES {
        let model = start_model();
        let mut body = (case.request)(vec![(case.prompt)("Begin"), (case.past_call)("call_turn0_0")]);
        body["stream"] = json!(true);
        let answer = send(&model, case.stream_path, &body);
        let events = answer.lines().filter(|line| line.starts_with("data: "));
        assert!(events.clone().any(|event| event.contains("\"Two \"")), "{}: {answer}", case.path);
        assert!(events.clone().any(|event| event.contains("\"words. \"")), "{}: {answer}", case.path);
    }
}

#[test]
fn a_request_without_tools_is_beside_the_work() {
    let model = start_model();
    let title = json!({"messages": [{"role": "user", "content": "Write a title"}]});
    assert!(send(&model, "/v1/messages", &title).contains("A short text."));
    assert!(model.requests().is_empty());
}
