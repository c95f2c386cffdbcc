//! The steps of a session, read from its transcript apart from the product's own reader, so that the two can differ.

use serde_json::{Value, json};

/// One step of a session.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionStep {
    Prompt(String),
    /// A call begins: its id, tool and input.
    Call(String, String, Value),
    /// A call ended: its id and tool.
    Result(String, String),
    /// The agent asks for permission.
    Permission(String),
    /// The turn ended, with the last message.
    TurnEnd(String),
    /// It works, as at the start of a compaction. No hook reports it.
    Activity,
    /// It waits for a prompt again, after an interruption or a compaction. No hook reports it.
    Interruption,
}

/// A step, and the end of its line.
#[derive(Clone, Debug)]
pub struct PlacedStep {
    pub bytes: usize,
    pub step: SessionStep,
}

/// Reads lines of one agent.
#[derive(Debug, Default)]
struct StepReader {
    steps: Vec<SessionStep>,
    /// The agent's last message in this turn.
    last_words: String,
    tools: Vec<(String, String)>,
    seen: Vec<String>,
}

/// The steps in a transcript.
pub fn read_steps(agent: &str, transcript: &[u8]) -> Vec<PlacedStep> {
    let read_line: fn(&mut StepReader, &Value) = match agent {
        "claudecode" | "claude" => StepReader::read_claude,
        "codex" => StepReader::read_codex,
        "copilot" => StepReader::read_copilot,
        "gemini-cli" | "gemini" => StepReader::read_gemini,
        "kiro-cli" => StepReader::read_kiro,
        "mistral-vibe" => StepReader::read_vibe,
        "opencode" => StepReader::read_opencode,
        "pi" => StepReader::read_pi,
        "antigravity" => StepReader::read_antigravity,
        _ => return Vec::new(),
    };
    let mut reader = StepReader::default();
    let mut placed = Vec::new();
    let mut bytes = 0;
    for line in transcript.split_inclusive(|byte| *byte == b'\n') {
        bytes += line.len();
        if let Ok(line) = serde_json::from_slice::<Value>(line) {
            read_line(&mut reader, &line);
        }
        placed.extend(reader.steps.drain(..).map(|step| PlacedStep { bytes, step }));
    }
    remove_early_ends(&mut placed);
    placed
}

/// A message that looks like the end of a turn is none if the agent goes on without a prompt: Gemini CLI writes the text
/// first, and then the same message with its calls.
fn remove_early_ends(steps: &mut Vec<PlacedStep>) {
    let begins_anew =
        |step: &SessionStep| matches!(step, SessionStep::Prompt(_) | SessionStep::Activity | SessionStep::Interruption);
    let is_end = |step: &SessionStep| matches!(step, SessionStep::TurnEnd(_));
    let kept: Vec<_> = (0..steps.len())
        .map(|index| {
            let next = steps.get(index + 1).map(|next| &next.step);
            !(is_end(&steps[index].step) && next.is_some_and(|next| !begins_anew(next) && !is_end(next)))
        })
        .collect();
    let mut kept = kept.into_iter();
    steps.retain(|_| kept.next().unwrap_or(true));
}

fn text_at(value: &Value, place: &str) -> String {
    value.pointer(place).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn list_at<'a>(value: &'a Value, place: &str) -> &'a [Value] {
    value.pointer(place).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The text of a string, or of a list of parts.
fn join_parts(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

impl StepReader {
    fn call(&mut self, id: String, tool: String, input: &Value) {
        self.tools.push((id.clone(), tool.clone()));
        let input = match input {
            Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| json!({"input": text})),
            other => other.clone(),
        };
        self.steps.push(SessionStep::Call(id, tool, input));
    }

    fn result(&mut self, id: String) {
        let tool = self.tools.iter().rev().find(|(known, _)| *known == id).map(|(_, tool)| tool.clone());
        if let Some(tool) = tool {
            self.steps.push(SessionStep::Result(id, tool));
        }
    }

    fn prompt(&mut self, text: String) {
        self.last_words.clear();
        self.steps.push(SessionStep::Prompt(text));
    }

    fn end_turn(&mut self) {
        let words = std::mem::take(&mut self.last_words);
        self.steps.push(SessionStep::TurnEnd(words));
    }

    fn speak(&mut self, text: String) {
        if !text.trim().is_empty() {
            self.last_words = text;
        }
    }

    fn read_claude(&mut self, line: &Value) {
        if line["isSidechain"] == true || line["isApiErrorMessage"] == true || line["isCompactSummary"] == true {
            return;
        }
        let content = &line["message"]["content"];
        let text = join_parts(content);
        let is_own_prompt = |text: &str| !text.is_empty() && !text.starts_with('<') && !text.starts_with("Caveat:");
        if line["isMeta"] == true {
            // The text that a command such as `/goal` stands for.
            if line["type"] == "user" && is_own_prompt(&text) {
                self.steps.push(SessionStep::Activity);
            }
            return;
        }
        match line["type"].as_str() {
            Some("user") if text.starts_with("[Request interrupted") => self.steps.push(SessionStep::Interruption),
            Some("user") if text.starts_with("<task-notification>") => self.prompt(text),
            Some("user") if list_at(line, "/message/content").iter().any(|part| part["type"] == "tool_result") => {
                for part in list_at(line, "/message/content").iter().filter(|part| part["type"] == "tool_result") {
                    self.result(text_at(part, "/tool_use_id"));
                }
            }
            Some("user") if is_own_prompt(&text) => self.prompt(text),
            Some("assistant") => {
                self.speak(text);
                for part in list_at(line, "/message/content").iter().filter(|part| part["type"] == "tool_use") {
                    self.call(text_at(part, "/id"), text_at(part, "/name"), &part["input"]);
                }
                if line["message"]["stop_reason"] == "end_turn" && !self.last_words.is_empty() {
                    self.end_turn();
                }
            }
            _ => {}
        }
    }

    fn read_codex(&mut self, line: &Value) {
        let payload = &line["payload"];
        match payload["type"].as_str().unwrap_or_default() {
            "user_message" => self.prompt(text_at(payload, "/message")),
            "item_completed" if payload["item"]["type"] == "UserMessage" => {
                self.prompt(join_parts(&payload["item"]["content"]));
            }
            "item_completed" if payload["item"]["type"] == "Plan" => self.speak(text_at(payload, "/item/text")),
            "message" if payload["role"] == "assistant" => self.speak(join_parts(&payload["content"])),
            "function_call" => {
                let name = text_at(payload, "/name");
                self.call(text_at(payload, "/call_id"), name, &payload["arguments"]);
            }
            "custom_tool_call" => self.call(text_at(payload, "/call_id"), text_at(payload, "/name"), &payload["input"]),
            "function_call_output" | "custom_tool_call_output" => self.result(text_at(payload, "/call_id")),
            "agent_message" => self.speak(text_at(payload, "/message")),
            "task_complete" => {
                self.speak(text_at(payload, "/last_agent_message"));
                self.end_turn();
            }
            "task_started" => self.steps.push(SessionStep::Activity),
            "turn_aborted" => self.steps.push(SessionStep::Interruption),
            _ => {}
        }
    }

    fn read_copilot(&mut self, line: &Value) {
        let data = &line["data"];
        if !line["agentId"].is_null() {
            return;
        }
        match line["type"].as_str().unwrap_or_default() {
            "user.message" if data["source"].is_null() => self.prompt(text_at(data, "/content")),
            "assistant.message" => {
                self.speak(text_at(data, "/content"));
                self.seen = list_at(data, "/toolRequests").iter().map(|call| text_at(call, "/toolCallId")).collect();
            }
            "tool.execution_start" => {
                self.call(text_at(data, "/toolCallId"), text_at(data, "/toolName"), &data["arguments"]);
            }
            "tool.execution_complete" => self.result(text_at(data, "/toolCallId")),
            "permission.requested" => self.steps.push(SessionStep::Permission("permission".into())),
            "assistant.turn_end" if self.seen.is_empty() => self.end_turn(),
            "session.compaction_start" => self.steps.push(SessionStep::Activity),
            "session.compaction_complete" | "abort" => self.steps.push(SessionStep::Interruption),
            _ => {}
        }
    }

    fn read_gemini(&mut self, line: &Value) {
        let id = text_at(line, "/id");
        match line["type"].as_str() {
            Some("info") if line["content"] == "Request cancelled." => self.steps.push(SessionStep::Interruption),
            Some("user") => {
                let parts = list_at(line, "/content");
                let results = parts.iter().filter_map(|part| part["functionResponse"]["id"].as_str());
                let results: Vec<_> = results.map(str::to_owned).collect();
                if results.is_empty() && !join_parts(&line["content"]).is_empty() {
                    self.prompt(join_parts(&line["content"]));
                }
            }
            Some("gemini") => {
                self.speak(join_parts(&line["content"]));
                let calls = list_at(line, "/toolCalls");
                for call in calls {
                    let call_id = text_at(call, "/id");
                    if !self.tools.iter().any(|(known, _)| *known == call_id) {
                        self.call(call_id.clone(), text_at(call, "/name"), &call["args"]);
                    }
                    if !call["result"].is_null() {
                        self.result(call_id);
                    }
                }
                let is_final = calls.is_empty() && !join_parts(&line["content"]).is_empty();
                // A message is written again when it grows.
                if is_final && !self.seen.contains(&id) {
                    self.seen.push(id);
                    self.end_turn();
                }
            }
            _ => {}
        }
    }

    fn read_kiro(&mut self, line: &Value) {
        let parts = list_at(line, "/data/content");
        let texts = parts.iter().filter(|part| part["kind"] == "text").filter_map(|part| part["data"].as_str());
        let text = texts.collect::<Vec<_>>().join("\n");
        match line["kind"].as_str() {
            Some("Prompt") => self.prompt(text),
            Some("AssistantMessage") => {
                self.speak(text);
                let calls = parts.iter().filter(|part| part["kind"] == "toolUse");
                let calls: Vec<_> = calls.map(|part| &part["data"]).collect();
                for call in &calls {
                    self.call(text_at(call, "/toolUseId"), text_at(call, "/name"), &call["input"]);
                }
                if calls.is_empty() {
                    self.end_turn();
                }
            }
            Some("ToolResults") => {
                for part in parts {
                    self.result(text_at(part, "/data/toolUseId"));
                }
            }
            Some("Compaction") => self.steps.extend([SessionStep::Activity, SessionStep::Interruption]),
            Some("CancelledPrompt") => self.steps.push(SessionStep::Interruption),
            _ => {}
        }
    }

    fn read_vibe(&mut self, line: &Value) {
        if line["injected"] == true {
            return;
        }
        match line["role"].as_str() {
            Some("user") => self.prompt(text_at(line, "/content")),
            Some("assistant") => {
                self.speak(text_at(line, "/content"));
                let calls = list_at(line, "/tool_calls");
                for call in calls {
                    self.call(text_at(call, "/id"), text_at(call, "/function/name"), &call["function"]["arguments"]);
                }
                if calls.is_empty() {
                    self.end_turn();
                }
            }
            Some("tool") if text_at(line, "/content").starts_with("<user_cancellation>") => {
                self.steps.push(SessionStep::Interruption);
            }
            Some("tool") => self.result(text_at(line, "/tool_call_id")),
            _ => {}
        }
    }

    fn read_opencode(&mut self, line: &Value) {
        let is_user = line["_role"] == "user";
        match line["type"].as_str() {
            Some("text") if is_user => self.prompt(text_at(line, "/text")),
            Some("text") => self.speak(text_at(line, "/text")),
            Some("tool") => {
                self.call(text_at(line, "/callID"), text_at(line, "/tool"), &line["state"]["input"]);
                self.result(text_at(line, "/callID"));
            }
            Some("step-start") => self.steps.push(SessionStep::Activity),
            Some("step-finish") if line["reason"] == "stop" => self.end_turn(),
            _ => {}
        }
    }

    fn read_pi(&mut self, line: &Value) {
        let message = &line["message"];
        match (line["type"].as_str(), message["role"].as_str()) {
            (Some("message"), Some("user")) => self.prompt(join_parts(&message["content"])),
            (Some("message"), Some("assistant")) => {
                self.speak(join_parts(&message["content"]));
                for part in list_at(message, "/content").iter().filter(|part| part["type"] == "toolCall") {
                    self.call(text_at(part, "/id"), text_at(part, "/name"), &part["arguments"]);
                }
                match message["stopReason"].as_str() {
                    Some("toolUse") => {}
                    Some("aborted") => self.steps.push(SessionStep::Interruption),
                    _ => self.end_turn(),
                }
            }
            (Some("message"), Some("toolResult")) => self.result(text_at(message, "/toolCallId")),
            (Some("compaction"), _) => self.steps.extend([SessionStep::Activity, SessionStep::Interruption]),
            _ => {}
        }
    }

    fn read_antigravity(&mut self, line: &Value) {
        match line["type"].as_str() {
            Some("USER_INPUT") => self.prompt(text_at(line, "/content")),
            Some("PLANNER_RESPONSE") => {
                self.speak(text_at(line, "/content"));
                let calls = list_at(line, "/tool_calls");
                for call in calls {
                    let tool = text_at(call, "/name");
                    self.seen.push(tool.clone());
                    self.call(tool.clone(), tool, &call["args"]);
                }
                if calls.is_empty() && !self.last_words.is_empty() {
                    self.end_turn();
                }
            }
            // A sub-agent reports.
            Some("SYSTEM_MESSAGE") if text_at(line, "/content").contains("sender=") => {
                self.steps.push(SessionStep::Activity);
            }
            Some("USER_REQUEST" | "CHECKPOINT" | "EPHEMERAL_MESSAGE" | "CONVERSATION_HISTORY" | "SYSTEM_MESSAGE") => {}
            Some(_) if line["source"] == "MODEL" => {
                for tool in std::mem::take(&mut self.seen) {
                    self.result(tool);
                }
            }
            _ => {}
        }
    }
}
