//! The states of agents without hook events, by the lines of their transcripts.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use snell::{AgentProduct, Timestamp};
use snell_store::{ChangeKind, ReconcileScope, TranscriptDirectory};

use crate::support::{TestStore, build_event, make_timestamp};

/// A session of an agent that sends no events.
struct SilentSession {
    kept: TestStore,
    path: std::path::PathBuf,
    seconds: i64,
}

impl SilentSession {
    /// A session whose transcript has these lines.
    fn find(product: &str, name: &str, lines: &[Value]) -> Self {
        let mut session = Self { kept: TestStore::new(), path: std::path::PathBuf::new(), seconds: 0 };
        session.path = session.kept.path_of("home").join(name);
        fs::create_dir_all(session.path.parent().unwrap()).unwrap();
        session.append(lines);
        let product = AgentProduct::find_by_name(product).unwrap();
        let directory = TranscriptDirectory { product, path: session.kept.path_of("home") };
        assert_eq!(session.kept.store.discover_sessions(&[directory], session.now()).unwrap(), 1);
        session
    }

    fn now(&self) -> Timestamp {
        make_timestamp(self.seconds)
    }

    /// Appends lines at this second.
    fn append(&self, lines: &[Value]) {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.path).unwrap();
        for line in lines {
            writeln!(file, "{line}").unwrap();
        }
        file.set_modified(SystemTime::from(self.now())).unwrap();
    }

    /// The state and the tool after these lines, once a turn that ended may count.
    fn add(&mut self, lines: &[Value]) -> (String, Option<String>) {
        self.seconds += 10;
        self.append(lines);
        self.seconds += 1;
        self.kept.store.reconcile_agents(ReconcileScope::All, self.now()).unwrap();
        self.read()
    }

    fn read(&mut self) -> (String, Option<String>) {
        let agent = self.kept.expect_single_agent();
        (agent.state.to_string(), agent.current_tool)
    }
}

/// The states on the change feed since the session was found.
fn list_shown(session: &mut SilentSession) -> Vec<String> {
    let changes = session.kept.store.list_changes_after(0, u32::MAX).unwrap();
    let states = changes.iter().filter(|change| change.kind == ChangeKind::StateChanged);
    let data = states.map(|change| serde_json::from_str::<Value>(&change.data).unwrap());
    data.map(|data| data["state"].as_str().unwrap().to_owned()).collect()
}

fn state(state: &str, tool: Option<&str>) -> (String, Option<String>) {
    (state.to_owned(), tool.map(str::to_owned))
}

fn claude_call(id: &str, tool: &str) -> Value {
    let call = json!({"type": "tool_use", "id": id, "name": tool, "input": {}});
    json!({"type": "assistant", "sessionId": "s1", "message": {"content": [call], "stop_reason": "tool_use"}})
}

fn claude_result(id: &str) -> Value {
    let result = json!({"type": "tool_result", "tool_use_id": id, "content": "x"});
    json!({"type": "user", "sessionId": "s1", "message": {"content": [result]}})
}

fn claude_text(kind: &str, text: &str) -> Value {
    json!({"type": kind, "sessionId": "s1", "cwd": "/", "message": {"content": text, "stop_reason": "end_turn"}})
}

#[test]
fn only_the_answer_to_a_question_ends_the_wait_for_it() {
    let mut session = SilentSession::find("claude", "project/s1.jsonl", &[claude_text("user", "Ask me.")]);
    assert_eq!(session.read(), state("processing", None));
    let both = [claude_call("c1", "Bash"), claude_call("c2", "AskUserQuestion")];
    assert_eq!(session.add(&both), state("awaiting_input", Some("AskUserQuestion")));
    assert_eq!(session.add(&[claude_result("c1")]), state("awaiting_input", Some("AskUserQuestion")));
    assert_eq!(session.add(&[claude_result("c2")]), state("processing", None));
    assert_eq!(session.add(&[claude_text("assistant", "Done.")]), state("idle", None));
    assert_eq!(session.add(&[claude_text("user", "Again.")]), state("processing", None));
    assert_eq!(session.add(&[claude_text("assistant", "Shall I delete it?")]), state("awaiting_input", None));
}

#[test]
fn the_end_of_a_turn_shows_before_the_next_prompt_unless_that_was_queued() {
    let both = ["processing", "idle", "processing", "idle"];
    for (pause_ms, shown) in [(900, both.as_slice()), (70, &["processing", "idle"])] {
        let at = |ms: i64, mut line: Value| {
            let time = make_timestamp(0).checked_add(Duration::from_millis(ms.unsigned_abs())).unwrap();
            line["timestamp"] = time.to_string().into();
            line
        };
        let mut session = SilentSession::find("claude", "project/s1.jsonl", &[at(0, claude_text("user", "One."))]);
        let end = at(1_000, claude_text("assistant", "Done."));
        let next = [at(1_000 + pause_ms, claude_text("user", "Two.")), at(3_000, claude_text("assistant", "Done."))];
        session.add(&[end, next[0].clone(), next[1].clone()]);
        assert_eq!(list_shown(&mut session), shown, "{pause_ms} ms");
    }
}

#[test]
fn an_interruption_ends_the_wait_for_a_question() {
    let lines = [claude_text("user", "Ask me."), claude_call("c1", "AskUserQuestion")];
    let mut session = SilentSession::find("claude", "project/s1.jsonl", &lines);
    assert_eq!(session.read(), state("awaiting_input", Some("AskUserQuestion")));
    let interruption = claude_text("user", "[Request interrupted by user for tool use]");
    assert_eq!(session.add(&[claude_result("c1"), interruption]), state("idle", None));
}

#[test]
fn sub_agents_that_run_on_are_work_in_the_background() {
    let mut session = SilentSession::find("claude", "project/s1.jsonl", &[claude_text("user", "Start them.")]);
    let left =
        json!({"type": "system", "subtype": "turn_duration", "sessionId": "s1", "pendingBackgroundAgentCount": 2});
    assert_eq!(session.add(&[claude_text("assistant", "They run."), left]), state("processing", None));
    let view = session.kept.expect_single_agent();
    assert_eq!(view.why, "its turn ended; its transcript shows 2 sub-agents that run on");
    assert_eq!(session.add(&[claude_text("user", "And?")]), state("processing", None));
    assert_eq!(session.add(&[claude_text("assistant", "Done.")]), state("idle", None));
}

#[test]
fn groups_of_sub_agents_count_as_well() {
    let mut session = SilentSession::find("claude", "project/s1.jsonl", &[claude_text("user", "Start them.")]);
    let left = json!({"type": "system", "subtype": "turn_duration", "sessionId": "s1", "pendingWorkflowCount": 1});
    assert_eq!(session.add(&[claude_text("assistant", "It runs."), left]), state("processing", None));
}

#[test]
fn an_agent_whose_sub_agents_report_later_works_until_the_last_report() {
    let line = |kind: &str, source: &str, content: &str| json!({"type": kind, "source": source, "content": content});
    let ids = "Created:\n{\"conversationId\":  \"4b33-1\"}\n{\"conversationId\":  \"6435-2\"}";
    let report = |id: &str| line("SYSTEM_MESSAGE", "SYSTEM", &format!("[Message] sender={id} content=Done."));
    let call = json!({"type": "PLANNER_RESPONSE", "source": "MODEL", "tool_calls": [{"name": "invoke_subagent"}], "content": ""});
    let said = || line("PLANNER_RESPONSE", "MODEL", "They run.");
    let path = "019e568a/.system_generated/logs/transcript.jsonl";
    let prompt = || line("USER_INPUT", "USER_EXPLICIT", "Start two.");
    let mut session = SilentSession::find("antigravity", path, &[prompt()]);
    assert_eq!(session.add(&[call, line("INVOKE_SUBAGENT", "MODEL", ids)]), state("processing", None));
    assert_eq!(session.add(&[said()]), state("processing", None));
    let count = |session: &mut SilentSession| session.kept.expect_single_agent().background.map(|work| work.subagents);
    assert_eq!(count(&mut session), Some(2));
    assert_eq!(session.add(&[report("other")]), state("processing", None));
    assert_eq!(count(&mut session), Some(2), "a message of another sender");
    session.add(&[report("6435-2")]);
    assert_eq!(count(&mut session), None, "it reads the report");
    session.add(&[said()]);
    assert_eq!(count(&mut session), Some(1));
    assert_eq!(session.add(&[report("4b33-1"), said()]), state("idle", None));
    // A sub-agent that never reports does not outlive the next prompt.
    session.add(&[prompt(), line("INVOKE_SUBAGENT", "MODEL", ids), said()]);
    assert_eq!(session.read().0, "processing");
    assert_eq!(session.add(&[prompt(), said()]), state("idle", None));
}

#[test]
fn a_turn_that_the_user_cancels_is_over() {
    let id = "019e568a-c68d-7801-99f9-1267eccf8793";
    let kiro = |kind: &str, content: Value| json!({"version": "v1", "kind": kind, "data": {"content": [content]}});
    let text = |text: &str| json!({"kind": "text", "data": text});
    let kiro_call =
        || kiro("AssistantMessage", json!({"kind": "toolUse", "data": {"toolUseId": "c1", "name": "shell"}}));
    let gemini_call = json!({"id": "g1", "type": "gemini", "content": "",
        "toolCalls": [{"id": "c1", "name": "shell", "status": "cancelled", "result": [{"functionResponse": {"id": "c1"}}]}]});
    let vibe_call = json!({"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "bash"}}]});
    let skipped = "<user_cancellation>Tool execution skipped by user.</user_cancellation>";
    let pi = |message: Value| json!({"type": "message", "message": message});
    let rows = [
        (
            "kiro",
            format!("{id}.jsonl"),
            kiro("Prompt", text("Go.")),
            vec![json!({"version": "v1", "kind": "CancelledPrompt"})],
        ),
        (
            "kiro",
            format!("{id}.jsonl"),
            kiro("Prompt", text("Go.")),
            vec![
                kiro_call(),
                kiro("AssistantMessage", text("Tool uses were interrupted, waiting for the next user prompt")),
            ],
        ),
        (
            "gemini",
            "project/chats/session-2026.jsonl".to_owned(),
            json!({"sessionId": id, "type": "user", "content": [{"text": "Go."}]}),
            vec![gemini_call, json!({"id": "i1", "type": "info", "content": "Request cancelled."})],
        ),
        (
            "vibe",
            format!("{id}/messages.jsonl"),
            json!({"role": "user", "content": "Go."}),
            vec![vibe_call, json!({"role": "tool", "tool_call_id": "c1", "content": skipped})],
        ),
        (
            "pi",
            format!("project/2026_{id}.jsonl"),
            pi(json!({"role": "user", "content": "Go."})),
            vec![pi(json!({"role": "assistant", "content": [], "stopReason": "aborted"}))],
        ),
    ];
    for (product, path, prompt, lines) in rows {
        let mut session = SilentSession::find(product, &path, &[prompt]);
        assert_eq!(session.read(), state("processing", None), "{product}");
        assert_eq!(session.add(&lines), state("idle", None), "{product}");
    }
}

#[test]
fn a_compaction_that_the_user_starts_is_work() {
    let id = "019e568a-c68d-7801-99f9-1267eccf8793";
    let prompt = json!({"type": "message", "message": {"role": "user", "content": "Go."}});
    let end =
        json!({"type": "message", "message": {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}});
    let compaction = json!({"type": "compaction", "summary": "x"});
    let mut session = SilentSession::find("pi", &format!("project/2026_{id}.jsonl"), std::slice::from_ref(&prompt));
    session.add(std::slice::from_ref(&end));
    assert_eq!(session.add(std::slice::from_ref(&compaction)), state("idle", None));
    assert_eq!(list_shown(&mut session), ["processing", "idle", "processing", "idle"]);
    // In a turn, the turn goes on.
    assert_eq!(session.add(&[prompt, compaction]), state("processing", None));
}

#[test]
fn an_open_call_of_a_kind_that_asks_may_wait_for_the_user() {
    let id = "019e568a-c68d-7801-99f9-1267eccf8793";
    let codex = |kind: &str, mut payload: Value| {
        payload["type"] = kind.into();
        json!({"type": "event_msg", "payload": payload})
    };
    let codex_path = format!("2026/11/12/rollout-2026-11-12T09-46-11-{id}.jsonl");
    let pi_path = format!("project/2026_{id}.jsonl");
    let codex_call = |tool: &str| codex("function_call", json!({"call_id": "c1", "name": tool}));
    let pi_call = |tool: &str| {
        let call = json!({"type": "toolCall", "id": "c1", "name": tool});
        json!({"type": "message", "message": {"role": "assistant", "content": [call]}})
    };
    let codex_prompt = codex("user_message", json!({"message": "Go."}));
    let pi_prompt = json!({"type": "message", "message": {"role": "user", "content": "Go."}});
    let rows = [
        ("codex", &codex_path, &codex_prompt, codex_call("apply_patch"), 4, "processing"),
        ("codex", &codex_path, &codex_prompt, codex_call("apply_patch"), 6, "awaiting_input"),
        ("codex", &codex_path, &codex_prompt, codex_call("exec_command"), 59, "processing"),
        ("codex", &codex_path, &codex_prompt, codex_call("exec_command"), 61, "awaiting_input"),
        ("codex", &codex_path, &codex_prompt, codex_call("update_plan"), 500, "processing"),
        // Pi never asks.
        ("pi", &pi_path, &pi_prompt, pi_call("write"), 500, "processing"),
        ("pi", &pi_path, &pi_prompt, pi_call("bash"), 500, "processing"),
    ];
    for (product, path, prompt, call, silence, expected) in rows {
        let mut session = SilentSession::find(product, path, std::slice::from_ref(prompt));
        assert_eq!(session.add(std::slice::from_ref(&call)).0, "processing", "{call}");
        session.seconds += silence - 1;
        session.kept.store.reconcile_agents(ReconcileScope::All, session.now()).unwrap();
        assert_eq!(session.read().0, expected, "{silence} s after {call}");
    }
}

#[test]
fn an_open_call_may_wait_if_no_event_of_the_agent_tells_that() {
    let id = "019e568a-c68d-7801-99f9-1267eccf8793";
    let prompt = json!({"kind": "Prompt", "data": {"content": [{"kind": "text", "data": "Go."}]}});
    for (tool, silence, expected) in
        [("Write", 4, "processing"), ("Write", 8, "awaiting_input"), ("Bash", 500, "processing")]
    {
        let mut session = SilentSession::find("kiro", &format!("{id}.jsonl"), std::slice::from_ref(&prompt));
        let call = build_event("PreToolUse", id).with_field("tool_name", tool).with_field("platform", "kiro");
        session.kept.ingest_event(call.at_second(1));
        session.seconds = 1 + silence;
        session.kept.store.reconcile_agents(ReconcileScope::All, session.now()).unwrap();
        assert_eq!(session.read().0, expected, "{silence} s after {tool}");
    }
}

#[test]
fn each_format_shows_a_turn_with_a_call() {
    let id = "019e568a-c68d-7801-99f9-1267eccf8793";
    let codex = |kind: &str, fields: Value| {
        let mut payload = fields;
        payload["type"] = kind.into();
        json!({"type": "event_msg", "payload": payload})
    };
    let copilot = |kind: &str, data: Value| json!({"type": kind, "data": data});
    let pi = |role: &str, content: Value| json!({"type": "message", "message": {"role": role, "content": content}});
    let kiro = |kind: &str, content: Value| json!({"kind": kind, "data": {"content": [content]}});
    let rows = [
        (
            "codex",
            format!("2026/11/12/rollout-2026-11-12T09-46-11-{id}.jsonl"),
            codex("user_message", json!({"message": "Go."})),
            codex("function_call", json!({"call_id": "c1", "name": "shell"})),
            codex("function_call_output", json!({"call_id": "c1"})),
            codex("task_complete", json!({})),
        ),
        (
            "copilot",
            format!("{id}/events.jsonl"),
            copilot("user.message", json!({"content": "Go."})),
            copilot(
                "assistant.message",
                json!({"content": "", "toolRequests": [{"toolCallId": "c1", "name": "shell"}]}),
            ),
            copilot("tool.execution_complete", json!({"toolCallId": "c1"})),
            copilot("assistant.message", json!({"content": "Done.", "toolRequests": []})),
        ),
        (
            "gemini",
            "project/chats/session-2026.jsonl".to_owned(),
            json!({"sessionId": id, "type": "user", "content": [{"text": "Go."}]}),
            json!({"type": "gemini", "content": "", "toolCalls": [{"id": "c1", "name": "shell"}]}),
            json!({"type": "user", "content": [{"functionResponse": {"id": "c1", "name": "shell"}}]}),
            json!({"type": "gemini", "content": "Done."}),
        ),
        (
            "pi",
            format!("project/2026_{id}.jsonl"),
            pi("user", json!("Go.")),
            pi("assistant", json!([{"type": "toolCall", "id": "c1", "name": "shell"}])),
            json!({"type": "message", "message": {"role": "toolResult", "toolCallId": "c1"}}),
            pi("assistant", json!([{"type": "text", "text": "Done."}])),
        ),
        (
            "kiro",
            format!("{id}.jsonl"),
            kiro("Prompt", json!({"kind": "text", "data": "Go."})),
            kiro("AssistantMessage", json!({"kind": "toolUse", "data": {"toolUseId": "c1", "name": "shell"}})),
            kiro("ToolResults", json!({"kind": "toolResult", "data": {"toolUseId": "c1"}})),
            kiro("AssistantMessage", json!({"kind": "text", "data": "Done."})),
        ),
        (
            "vibe",
            format!("{id}/messages.jsonl"),
            json!({"role": "user", "content": "Go."}),
            json!({"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "shell"}}]}),
            json!({"role": "tool", "tool_call_id": "c1"}),
            json!({"role": "assistant", "content": "Done."}),
        ),
        (
            "antigravity",
            format!("{id}/.system_generated/logs/transcript.jsonl"),
            json!({"type": "USER_INPUT", "content": "Go."}),
            json!({"type": "PLANNER_RESPONSE", "source": "MODEL", "tool_calls": [{"name": "shell"}]}),
            json!({"type": "RUN_COMMAND", "source": "MODEL"}),
            json!({"type": "PLANNER_RESPONSE", "source": "MODEL", "content": "Done."}),
        ),
    ];
    for (product, path, prompt, call, result, end) in rows {
        let mut session = SilentSession::find(product, &path, std::slice::from_ref(&prompt));
        assert_eq!(session.read(), state("processing", None), "{product}");
        let (called, tool) = session.add(&[call]);
        assert_eq!(called, "processing", "{product}");
        assert!(tool.is_some(), "{product}");
        assert_eq!(session.add(&[result]).0, "processing", "{product}");
        assert_eq!(session.add(&[end]), state("idle", None), "{product}");
        assert_eq!(session.add(&[prompt]).0, "processing", "{product}");
    }
}

#[test]
fn a_permission_that_a_transcript_shows_is_awaited() {
    let line = |kind: &str, data: Value| json!({"type": kind, "data": data});
    let request = json!({"toolRequests": [{"toolCallId": "c1", "name": "bash"}, {"toolCallId": "c2", "name": "view"}]});
    let asked = line("permission.requested", json!({"permissionRequest": {"toolCallId": "c1"}}));
    let ended = |id: &str| line("tool.execution_complete", json!({"toolCallId": id}));
    let prompt = line("user.message", json!({"content": "Go."}));
    let mut session = SilentSession::find("copilot", "s1/events.jsonl", &[prompt]);
    assert_eq!(
        session.add(&[line("assistant.message", request), asked]),
        state("awaiting_input", Some("Bash")),
        "the canonical name of its tool"
    );
    assert_eq!(session.add(&[ended("c2")]), state("awaiting_input", Some("Bash")));
    assert_eq!(session.add(&[ended("c1")]), state("processing", None));
}
