//! Hook files of agents: one module per format, one table per statement about it. Events have canonical names, as under Claude
//! Code, and hooks get the payloads of their own agent.

mod cline;
mod codex;
mod copilot;
mod cursor;
mod droid;
mod gemini;
mod grok;
mod kimi;
mod qwen;
mod vibe;
mod windsurf;

use serde_json::{Value, json};
use snell_test_support::process::CommandOutput;

use crate::support::CliSandbox;

/// The event of a hook file, the canonical event that is fired, a script, and a part of the result. `status` is that of the hook.
type AnswerCase<'a> = (&'a str, &'a str, &'a str, Value);

/// The event of a hook file, the canonical event that is fired, and a part of the payload that the hook gets.
type PayloadCase<'a> = (&'a str, &'a str, Value);

/// A matcher, the tool of a call or its command, and whether the hook runs.
type MatcherCase<'a> = (&'a str, &'a str, bool);

/// A project with one hook in the agent's hook file, which runs the file `does`.
fn create_project(agent: &str, event: &str, keys: Value) -> CliSandbox {
    let sandbox = CliSandbox::new();
    let group_keys = ["matcher", "sequential", "commandRegex"];
    let Value::Object(keys) = keys else { panic!("{keys}") };
    let (group, own): (Vec<_>, Vec<_>) = keys.into_iter().partition(|(key, _)| group_keys.contains(&key.as_str()));
    let fields = |start: Value, more: &[(String, Value)]| {
        let mut entry = start;
        entry.as_object_mut().unwrap().extend(more.iter().cloned());
        entry
    };
    let command = json!({"type": "command", "command": ". ./does"});
    let grouped = || {
        let hook = fields(command.clone(), &own);
        json!({"hooks": {event: [fields(json!({"hooks": [hook]}), &group)]}}).to_string()
    };
    let flat = |start: Value| {
        let entry = fields(fields(start, &own), &group);
        json!({"version": 1, "hooks": {event: [entry]}}).to_string()
    };
    let listed = |event_key: &str, start: Value| {
        let entry = fields(fields(start, &own), &group);
        let line = |(key, value): (&String, &Value)| format!("{key} = {value}\n");
        let lines: String = entry.as_object().unwrap().iter().map(line).collect();
        format!("[[hooks]]\n{event_key} = \"{event}\"\n{lines}")
    };
    match agent {
        "codex" => sandbox.file(".codex/hooks.json", &grouped()),
        "gemini" => sandbox.file(".gemini/settings.json", &grouped()),
        "qwen" => sandbox.file(".qwen/settings.json", &grouped()),
        "grok" => sandbox.file(".grok/hooks/one.json", &grouped()),
        "droid" => sandbox.file(".factory/hooks.json", &grouped()),
        "copilot" => sandbox.file(".github/hooks/one.json", &flat(json!({"bash": ". ./does"}))),
        "cursor" => sandbox.file(".cursor/hooks.json", &flat(json!({"command": ". ./does"}))),
        "windsurf" => sandbox.file(".windsurf/hooks.json", &flat(json!({"command": ". ./does"}))),
        "kimi" => sandbox.home_file(".kimi-code/config.toml", &listed("event", json!({"command": ". ./does"}))),
        "vibe" => sandbox.file(".vibe/hooks.toml", &listed("type", json!({"name": "one", "command": ". ./does"}))),
        "cline" => sandbox.script(&format!(".clinerules/hooks/{event}"), ". ./does"),
        other => panic!("{other}"),
    }
}

/// Fires a canonical event, with all that a payload may have.
fn fire_event(sandbox: &CliSandbox, event: &str, fields: Value) -> CommandOutput {
    let mut payload = json!({
        "session_id": "s1", "transcript_path": "/t.jsonl", "permission_mode": "default", "prompt_id": "p1",
    });
    let more = match event {
        "PreToolUse" | "PermissionRequest" => {
            json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1"})
        }
        "PostToolUse" => {
            json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1", "tool_response": {"stdout": "out"}})
        }
        "PostToolUseFailure" => {
            json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1", "error": "broken"})
        }
        "UserPromptSubmit" => json!({"prompt": "Go."}),
        "Stop" | "SubagentStop" => json!({"stop_hook_active": false, "last_assistant_message": "Done."}),
        "SessionStart" => json!({"source": "startup"}),
        _ => json!({}),
    };
    for part in [more, fields] {
        payload.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
    }
    sandbox.run_event(event, &payload)
}

/// Runs each script in a hook of the agent, and compares a part of the result.
fn assert_answers(agent: &str, cases: &[AnswerCase<'_>]) {
    for (native, canonical, script, expected) in cases {
        let sandbox = create_project(agent, native, json!({})).file("does", script);
        assert_answer(&fire_event(&sandbox, canonical, json!({})), expected, &format!("{agent} {native}: {script}"));
    }
}

#[track_caller]
fn assert_answer(ran: &CommandOutput, expected: &Value, case: &str) {
    let mut result = ran.json();
    result["status"] = result["hooks"][0]["status"].clone();
    assert_part(&result, expected, case);
}

/// Compares the payload of each event with what the agent itself sends.
fn assert_payloads(agent: &str, cases: &[PayloadCase<'_>]) {
    for (native, canonical, expected) in cases {
        let sandbox = create_project(agent, native, json!({})).file("does", "cat > payload");
        fire_event(&sandbox, canonical, json!({}));
        assert_part(&sandbox.read_json("payload"), expected, &format!("{agent} {native}"));
    }
}

/// Whether every value of `part` is in `whole`. A value of `part` that is `"*"` may be any string.
#[track_caller]
fn assert_part(whole: &Value, part: &Value, case: &str) {
    match part {
        Value::Object(members) => {
            for (key, value) in members {
                let found = whole.get(key).unwrap_or_else(|| panic!("{case}: no {key} in {whole}"));
                assert_part(found, value, &format!("{case}, {key}"));
            }
        }
        Value::String(text) if text == "*" => assert!(whole.is_string(), "{case}: {whole}"),
        other => assert_eq!(whole, other, "{case}"),
    }
}

/// Whether a hook with each matcher runs for a call of the tool.
fn assert_matchers(agent: &str, event: &str, key: &str, cases: &[MatcherCase<'_>]) {
    for (matcher, tool, expected) in cases {
        let sandbox = create_project(agent, event, json!({key: matcher})).file("does", "true");
        let ran = fire_event(&sandbox, "PreToolUse", json!({"tool_name": tool}));
        assert_eq!(ran.hooks().len() == 1, *expected, "{agent}: {matcher} on {tool}");
    }
}

/// The tool call of Claude Code, and the one that a hook of the agent sees.
fn assert_tools(agent: &str, event: &str, path: [&str; 2], cases: &[(Value, Value)]) {
    for (canonical, native) in cases {
        let sandbox = create_project(agent, event, json!({})).file("does", "cat > payload");
        fire_event(&sandbox, "PreToolUse", json!({"tool_name": canonical[0], "tool_input": canonical[1]}));
        let payload = sandbox.read_json("payload");
        let get = |path: &str| path.split('.').fold(payload.clone(), |value, key| value[key].clone());
        assert_eq!(json!([get(path[0]), get(path[1])]), *native, "{agent}: {canonical}");
    }
}

/// A script that prints this answer.
fn print_answer(answer: &Value) -> String {
    format!("cat <<'ANSWER'\n{answer}\nANSWER")
}

/// The events and payloads of the agent that calls Snell do not matter to the hook: a hook for Gemini CLI runs under Codex, and
/// its answer is translated.
#[test]
fn a_hook_of_any_agent_denies_under_any_other_one() {
    let deny = json!({"decision": "deny", "reason": "not here"});
    let answers = [
        (
            "codex",
            "PreToolUse",
            json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
            "permissionDecisionReason": "not here"}}),
        ),
        ("gemini", "BeforeTool", deny.clone()),
        ("qwen", "PreToolUse", deny.clone()),
        ("copilot", "preToolUse", json!({"permissionDecision": "deny", "permissionDecisionReason": "not here"})),
        ("cursor", "beforeShellExecution", json!({"permission": "deny", "user_message": "not here"})),
        ("cline", "PreToolUse", json!({"cancel": true, "errorMessage": "not here"})),
        (
            "kimi",
            "PreToolUse",
            json!({"hookSpecificOutput": {"permissionDecision": "deny",
            "permissionDecisionReason": "not here"}}),
        ),
        ("grok", "PreToolUse", deny.clone()),
        ("vibe", "pre_tool", deny.clone()),
        ("droid", "PreToolUse", json!({"decision": "block", "reason": "not here"})),
    ];
    let callers = [
        json!({"hook_event_name": "PreToolUse", "session_id": "s1", "tool_name": "Bash", "tool_input": {"command": "ls"},
            "transcript_path": "/home/me/.claude/t.jsonl"}),
        json!({"hook_event_name": "BeforeTool", "session_id": "s1", "tool_name": "run_shell_command",
            "tool_input": {"command": "ls"}, "timestamp": "2026-01-01T00:00:00Z"}),
    ];
    for (agent, event, answer) in answers {
        let sandbox = create_project(agent, event, json!({}))
            .file("does", &print_answer(&answer))
            .env("SNELL_SCRIBE", "off")
            .home_file(".config/snell/snell.toml", &format!("borrow = ['{agent}']\n"));
        sandbox.run_snell(&["trust"], "");
        for caller in &callers {
            let own = agent == "gemini" && caller["hook_event_name"] == "BeforeTool";
            let mut caller = caller.clone();
            caller["cwd"] = sandbox.project().to_str().unwrap().into();
            let ran = sandbox.run_snell(&["hook"], &caller.to_string());
            assert_eq!(ran.stdout.contains("not here"), !own, "{agent}: {ran:?}");
            assert_eq!(ran.stdout.contains("deny"), !own, "{agent}: {ran:?}");
        }
    }
}
