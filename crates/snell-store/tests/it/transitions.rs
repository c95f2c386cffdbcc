//! The effect of each event on its agent's state.

use serde_json::{Value, json};
use snell::Decision;
use snell_store::{ChangeKind, DecisionRecord, StateConfidence, StateSource, TimelineAspect, TimelineFilter};

use crate::support::{SentEvent, TestStore, build_event, make_timestamp};

fn build_step(name: &str, fields: &Value) -> SentEvent {
    build_event(name, "s").with_fields(fields)
}

fn take_blocked_event(kept: &mut TestStore, sent: SentEvent) -> &'static str {
    let mut observation = sent.into_record_in(&kept.project_dir());
    observation.judgement = Some(DecisionRecord { decision: Decision::Deny, ..DecisionRecord::default() });
    kept.store.ingest(observation).unwrap().state.as_str()
}

/// The events that lead to each state, and the current tool then.
fn list_state_paths() -> [(&'static str, Vec<SentEvent>); 4] {
    let start = build_step("SessionStart", &json!({"source": "startup"}));
    let prompt = build_step("UserPromptSubmit", &json!({"prompt": "Tidy up."}));
    let tool = build_step("PreToolUse", &json!({"tool_name": "Bash", "tool_use_id": "t0"}));
    let permission = build_step("PermissionRequest", &json!({"tool_name": "Bash"}));
    let end = build_step("SessionEnd", &json!({"reason": "other"}));
    [
        ("idle -", vec![start.clone()]),
        ("processing Bash", vec![start.clone(), prompt.clone(), tool.clone()]),
        ("awaiting_input Bash", vec![start.clone(), prompt, tool, permission]),
        ("ended -", vec![start, end]),
    ]
}

#[test]
fn every_event_changes_every_state_as_specified() {
    let tool = |name: &str| json!({"tool_name": name, "tool_use_id": "t1"});
    let notification = |kind: &str| json!({"notification_type": kind, "message": "Look here"});
    let done = json!({"last_assistant_message": "All done."});
    let question = json!({"last_assistant_message": "Which of the two should I take?"});
    let subagents = json!({"tool_name": "Grep", "tool_use_id": "t1", "agent_id": "a1", "agent_type": "Explore"});
    // From idle, from processing, from awaiting_input and from ended; "=" stands for no change.
    let bash = ["processing Bash", "processing Bash", "processing Bash", "="];
    let after = ["processing -", "processing -", "processing -", "="];
    let beside = ["processing -", "processing -", "=", "="];
    let asks = |tool: &'static str| [tool, tool, tool, "="];
    let idle = ["idle -"; 4];
    let nothing = ["="; 4];
    let waits = ["awaiting_input -", "awaiting_input Bash", "awaiting_input Bash", "="];
    let cases: Vec<(&str, Value, [&str; 4])> = vec![
        ("SessionStart", json!({"source": "startup"}), idle),
        ("SessionStart", json!({"source": "resume"}), idle),
        ("SessionStart", json!({"source": "clear"}), idle),
        ("SessionStart", json!({"source": "compact"}), ["idle -", "=", "=", "idle -"]),
        ("SessionStart", json!({}), idle),
        ("UserPromptSubmit", json!({"prompt": "Go on."}), ["processing -"; 4]),
        ("PreToolUse", tool("Bash"), bash),
        ("PreToolUse", tool("AskUserQuestion"), asks("awaiting_input AskUserQuestion")),
        ("PreToolUse", tool("ExitPlanMode"), asks("awaiting_input ExitPlanMode")),
        ("PostToolUse", tool("Bash"), after),
        ("PostToolUseFailure", tool("Bash"), after),
        // Tools run in parallel: the end of one does not answer a question about another.
        ("PostToolUse", tool("Read"), beside),
        ("PostToolUseFailure", tool("Read"), beside),
        ("PostToolUseFailure", json!({"tool_name": "Bash", "is_interrupt": true}), ["idle -", "idle -", "idle -", "="]),
        ("PermissionRequest", tool("Bash"), asks("awaiting_input Bash")),
        ("PermissionDenied", tool("Bash"), after),
        ("Notification", notification("permission_prompt"), waits),
        ("Notification", notification("elicitation_dialog"), waits),
        ("Notification", notification("agent_needs_input"), waits),
        ("Notification", json!({"message": "Claude needs your permission to use Bash"}), waits),
        // The user has typed nothing, which is no question; but then the agent does not work.
        ("Notification", notification("idle_prompt"), ["=", "idle -", "idle -", "="]),
        ("Notification", notification("auth_success"), nothing),
        ("Notification", notification("of a later version"), nothing),
        ("Notification", json!({"message": "Claude is waiting for your input"}), nothing),
        ("Stop", done, ["idle -", "idle -", "idle -", "="]),
        ("Stop", question, ["awaiting_input -", "awaiting_input -", "awaiting_input -", "="]),
        ("Stop", json!({}), ["idle -", "idle -", "idle -", "="]),
        ("StopFailure", json!({"error": "rate_limit"}), ["idle -", "idle -", "idle -", "="]),
        ("SubagentStart", json!({"agent_id": "a1"}), nothing),
        ("SubagentStop", json!({"agent_id": "a1"}), nothing),
        ("PreCompact", json!({"trigger": "auto"}), nothing),
        ("SessionEnd", json!({"reason": "prompt_input_exit"}), ["ended -"; 4]),
        ("SessionEnd", json!({"reason": "logout"}), ["ended -"; 4]),
        ("SessionEnd", json!({}), ["ended -"; 4]),
        ("SessionEnd", json!({"reason": "clear"}), nothing),
        ("SomethingNobodyKnowsYet", json!({"novelty": 1}), nothing),
        // A background sub-agent does not wake its agent; one that the agent waits for is its work.
        ("PreToolUse", subagents.clone(), ["=", "processing Grep", "=", "="]),
        ("PostToolUse", subagents, ["=", "processing -", "=", "="]),
    ];
    let mut wrong = Vec::new();
    for (name, fields, expected) in &cases {
        for ((from, way), expected) in list_state_paths().into_iter().zip(expected) {
            let mut kept = TestStore::new();
            for sent in way {
                kept.ingest_event(sent);
            }
            let receipt = kept.ingest_event(build_step(name, fields).at_second(10));
            let agent = kept.expect_single_agent();
            let now = format!("{} {}", agent.state, agent.current_tool.as_deref().unwrap_or("-"));
            let expected = if *expected == "=" { from } else { *expected };
            if now != expected || receipt.state != agent.state {
                wrong.push(format!("{name} {fields} from {from}: {now}, not {expected}"));
            }
            let changed = receipt.state_changed;
            assert_eq!(changed, from.split(' ').next() != expected.split(' ').next(), "{name} {fields} {from}");
            // It is stored, whether or not it changed anything.
            assert_eq!(kept.list_events().last().unwrap().state, agent.state);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_agent_waits_after_a_question_at_the_end_of_a_turn() {
    let subagents = json!({"tool_name": "Grep", "tool_use_id": "t1", "agent_id": "a1", "agent_type": "Explore"});
    let mut kept = TestStore::new();
    kept.ingest_event(build_step("UserPromptSubmit", &json!({"prompt": "Tidy up."})));
    kept.ingest_event(build_step("Stop", &json!({"last_assistant_message": "Shall I push it?"})).at_second(1));
    let before = kept.expect_single_agent();
    let beside = [
        ("PreToolUse", subagents.clone()),
        ("PostToolUse", subagents.clone()),
        ("PostToolUseFailure", subagents),
        ("SubagentStop", json!({"agent_id": "a1"})),
        ("Notification", json!({"notification_type": "idle_prompt"})),
    ];
    for (second, (name, fields)) in (2..).zip(beside) {
        kept.ingest_event(build_step(name, &fields).at_second(second));
        let agent = kept.expect_single_agent();
        assert_eq!(
            (agent.state, agent.current_tool, agent.why),
            (before.state, None, before.why.clone()),
            "{name} {fields}"
        );
    }
    let answered = kept.ingest_event(build_step("UserPromptSubmit", &json!({"prompt": "Yes."})).at_second(9));
    assert_eq!(answered.state.as_str(), "processing");
}

#[test]
fn a_blocked_event_does_not_change_the_state() {
    let cases = [
        ("idle -", "UserPromptSubmit", json!({"prompt": "x"}), "idle"),
        ("idle -", "PreToolUse", json!({"tool_name": "Bash"}), "idle"),
        ("processing Bash", "PreToolUse", json!({"tool_name": "AskUserQuestion"}), "processing"),
        ("processing Bash", "PermissionRequest", json!({"tool_name": "Bash"}), "processing"),
        ("processing Bash", "Stop", json!({"last_assistant_message": "Done."}), "processing"),
        ("processing Bash", "Stop", json!({"last_assistant_message": "Shall I?"}), "processing"),
    ];
    for (from, name, fields, expected) in cases {
        let mut kept = TestStore::new();
        let (_, way) = list_state_paths().into_iter().find(|(state, _)| *state == from).unwrap();
        for sent in way {
            kept.ingest_event(sent);
        }
        assert_eq!(take_blocked_event(&mut kept, build_step(name, &fields)), expected, "{name} {fields}");
        assert!(kept.list_turn_texts("s").iter().all(|turn| !turn.ends_with(" x")));
    }
}

#[test]
fn a_state_has_its_time_source_confidence_and_reason() {
    let mut kept = TestStore::new();
    kept.ingest_event(build_step("SessionStart", &json!({"source": "startup"})));
    kept.ingest_event(build_step("UserPromptSubmit", &json!({"prompt": "Go."})).at_second(5));
    kept.ingest_event(build_step("PreToolUse", &json!({"tool_name": "Bash"})).at_second(7));
    let agent = kept.expect_single_agent();
    assert_eq!((agent.state_since, agent.last_seen_at), (make_timestamp(5), make_timestamp(7)));
    assert_eq!((agent.state_source, agent.confidence), (StateSource::Hook, StateConfidence::High));
    assert_eq!(agent.why, "it uses Bash");
    let permission = json!({"notification_type": "permission_prompt", "message": "Claude needs your permission"});
    kept.ingest_event(build_step("Notification", &permission).at_second(9));
    let agent = kept.expect_single_agent();
    assert_eq!((agent.state_since, agent.why.as_str()), (make_timestamp(9), "Claude needs your permission"));
    kept.ingest_event(build_step("SessionEnd", &json!({"reason": "logout"})).at_second(11));
    let agent = kept.expect_single_agent();
    assert_eq!((agent.ended_at, agent.end_reason.as_deref()), (Some(make_timestamp(11)), Some("logout")));
    let session = kept.expect_session("s");
    assert_eq!((session.ended_at, session.end_reason.as_deref()), (Some(make_timestamp(11)), Some("logout")));
}

#[test]
fn an_agent_with_new_events_has_not_ended() {
    for (name, fields) in
        [("SessionStart", json!({"source": "resume"})), ("UserPromptSubmit", json!({"prompt": "One more thing."}))]
    {
        let mut kept = TestStore::new();
        kept.ingest_event(build_step("SessionStart", &json!({"source": "startup"})));
        kept.ingest_event(build_step("SessionEnd", &json!({"reason": "other"})).at_second(1));
        kept.ingest_event(build_step(name, &fields).at_second(2));
        let agent = kept.expect_single_agent();
        assert_eq!((agent.ended_at, agent.end_reason), (None, None), "{name}");
        let session = kept.expect_session("s");
        assert_eq!((session.ended_at, session.end_reason), (None, None), "{name}");
    }
}

#[test]
fn a_blocked_prompt_does_not_revive_an_agent() {
    let mut kept = TestStore::new();
    kept.ingest_event(build_step("SessionStart", &json!({"source": "startup"})));
    kept.ingest_event(build_step("SessionEnd", &json!({"reason": "other"})).at_second(1));
    let state = take_blocked_event(&mut kept, build_step("UserPromptSubmit", &json!({"prompt": "x"})).at_second(2));
    // The agent and its session must agree in any case.
    let session_ended = kept.expect_session("s").ended_at.is_some();
    assert_eq!((state == "ended", kept.expect_single_agent().ended_at.is_some()), (session_ended, session_ended));
}

const NOTIFICATION: &str = "<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n\
    <summary>Background command \"build\" completed</summary>\n</task-notification>";

#[test]
fn an_agent_works_while_its_background_tasks_run() {
    let look = json!({"id": "a1", "type": "subagent", "status": "running", "description": "look"});
    let build = json!({"id": "b1", "type": "shell", "status": "running", "description": "build"});
    let ended = json!({"id": "b2", "type": "shell", "status": "completed", "description": "test"});
    let stop = |tasks: Value| json!({"last_assistant_message": "Started.", "background_tasks": tasks});
    let subagents = json!({"tool_name": "Grep", "tool_use_id": "t1", "agent_id": "a1", "agent_type": "Explore"});
    let subagent_stop = |tasks: Value| json!({"agent_id": "a1", "agent_type": "Explore", "background_tasks": tasks});
    let both = "processing: its turn ended; 2 background tasks run: look, build";
    let steps = [
        ("Stop", stop(json!([look, build, ended])), both),
        ("PreToolUse", subagents.clone(), both),
        ("PostToolUse", subagents, both),
        ("Notification", json!({"notification_type": "idle_prompt", "message": "Waiting"}), both),
        (
            "SubagentStop",
            subagent_stop(json!([look, build])),
            "processing: its turn ended; 1 background task runs: build",
        ),
        (
            "UserPromptSubmit",
            json!({"prompt": NOTIFICATION}),
            "processing: a background task reported: Background command \"build\" completed",
        ),
        ("SubagentStop", subagent_stop(json!([look])), "processing: a background task reported"),
        ("Stop", stop(json!([look])), "processing: its turn ended; 1 background task runs: look"),
        ("SubagentStop", subagent_stop(json!([look])), "idle: its background tasks ended"),
        ("UserPromptSubmit", json!({"prompt": "And now?"}), "processing: the user submitted a prompt"),
        ("Stop", stop(json!([])), "idle: it ended its turn"),
        ("Stop", json!({"last_assistant_message": "Shall I?", "background_tasks": [look]}), "awaiting_input: its last"),
    ];
    let mut kept = TestStore::new();
    kept.ingest_event(build_step("UserPromptSubmit", &json!({"prompt": "Build it."})));
    for (second, (name, fields, expected)) in (1..).zip(steps) {
        kept.ingest_event(build_step(name, &fields).at_second(second));
        let agent = kept.expect_single_agent();
        let found = format!("{}: {}", agent.state, agent.why);
        assert!(found.starts_with(expected), "{second} {name} {fields}: {found}");
        assert_eq!(agent.current_tool, None, "{second} {name}");
    }
}

#[test]
fn the_work_in_the_background_is_counted_by_kind() {
    let task = |kind: &str| json!({"id": format!("{kind}1"), "type": kind, "status": "running", "description": kind});
    let cron = json!({"id": "c1", "schedule": "*/5 * * * *", "recurring": false, "prompt": "Look at the build"});
    let cases = [
        (json!({"background_tasks": [task("subagent"), task("shell"), task("monitor")]}), "1 sub-agent, 2 commands"),
        (json!({"background_tasks": [task("workflow"), task("teammate")], "session_crons": []}), "2 sub-agents"),
        (json!({"background_tasks": [], "session_crons": [cron]}), "1 wake-up"),
        (json!({"session_crons": [cron, {"id": 5}]}), "2 wake-ups"),
        // Qwen Code.
        (json!({"background_tasks": [task("shell")], "crons": [cron]}), "1 command, 1 wake-up"),
        // Claude Code's own work is not work of the agent, and an unreadable list is none.
        (json!({"background_tasks": [task("memory save"), task("dream")], "session_crons": []}), "idle"),
        (json!({"background_tasks": {"id": "b1"}, "session_crons": "none"}), "idle"),
        (json!({"background_tasks": [5, null, {"status": "running"}]}), "idle"),
    ];
    for (fields, expected) in cases {
        let mut kept = TestStore::new();
        kept.ingest_event(build_step("UserPromptSubmit", &json!({"prompt": "Build it."})));
        kept.ingest_event(build_step("Stop", &fields).at_second(5));
        let agent = kept.expect_single_agent();
        let found = agent.background.map_or_else(|| agent.state.to_string(), |work| work.describe());
        assert_eq!(found, expected, "{fields}: {}", agent.why);
        assert_eq!(agent.state_since, make_timestamp(5), "{fields}");
        assert_eq!(agent.activity().as_str(), if expected == "idle" { "idle" } else { "background" }, "{fields}");
    }
}

#[test]
fn work_in_the_background_lasts_from_the_end_of_the_turn_to_the_next_prompt() {
    let task = |id: &str| json!({"id": id, "type": "subagent", "status": "running", "description": "look"});
    let subagent_stop =
        |id: &str, tasks: Value| json!({"agent_id": id, "agent_type": "Explore", "background_tasks": tasks});
    let steps = [
        ("Stop", json!({"background_tasks": [task("a1"), task("a2")]}), "background", 1),
        ("SubagentStop", subagent_stop("a1", json!([task("a2")])), "background", 1),
        ("UserPromptSubmit", json!({"prompt": NOTIFICATION}), "processing", 3),
        ("Stop", json!({"background_tasks": [task("a2")]}), "background", 4),
        ("SubagentStop", subagent_stop("a2", json!([])), "idle", 5),
    ];
    let mut kept = TestStore::new();
    kept.ingest_event(build_step("UserPromptSubmit", &json!({"prompt": "Build it."})));
    for (second, (name, fields, expected, since)) in (1..).zip(steps) {
        kept.ingest_event(build_step(name, &fields).at_second(second));
        let agent = kept.expect_single_agent();
        let found = (agent.activity().as_str(), agent.state_since);
        assert_eq!(found, (expected, make_timestamp(since)), "{second} {name}");
    }
    let changes = kept.store.list_changes_after(0, u32::MAX).unwrap();
    let changes = changes.iter().filter(|change| change.kind == ChangeKind::StateChanged).map(|change| {
        let data: Value = serde_json::from_str(&change.data).unwrap();
        let subagents = data["background"].get("subagents").map_or("-".into(), Value::to_string);
        format!("{} {subagents}", data["state"].as_str().unwrap())
    });
    let expected = ["processing -", "processing 2", "processing -", "processing 1", "idle -"];
    assert_eq!(changes.collect::<Vec<_>>(), expected);
    let notices = kept.query_texts("SELECT kind || ' ' || text FROM dispatches ORDER BY dispatch_id");
    assert_eq!(notices, ["idle its background tasks ended"], "one notice, when the last task ends");
}

#[test]
fn the_result_of_a_background_task_is_no_turn_of_the_user() {
    for delayed in [false, true] {
        let mut kept = TestStore::new();
        kept.ingest_event(build_step("UserPromptSubmit", &json!({"prompt": "Build it."})));
        kept.ingest_event(build_step("Stop", &json!({"last_assistant_message": "Started."})).at_second(5));
        let report = build_step("UserPromptSubmit", &json!({"prompt": NOTIFICATION}));
        let state = if delayed {
            kept.ingest_event(report.at_second(3).with_delay()).state
        } else {
            kept.ingest_event(report.at_second(6)).state
        };
        assert_eq!(state.as_str(), if delayed { "idle" } else { "processing" });
        assert_eq!(kept.list_turn_texts("s"), ["USER command: Build it.", "AGENT completion: Started."]);
        let summary = "background result: Background command \"build\" completed";
        assert_eq!(kept.list_events().last().unwrap().tool_summary.as_deref(), Some(summary));
        let of_events =
            TimelineFilter { agent_id: 1, limit: 9, with: vec![TimelineAspect::Itself], ..Default::default() };
        let shown = kept.store.query_timeline(&of_events).unwrap();
        assert!(shown.iter().any(|event| event.tool_summary.as_deref() == Some(summary)));
    }
}
