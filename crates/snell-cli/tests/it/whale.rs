//! whale, statement by statement of its source.

use serde_json::{Value, json};
use snell_test_support::process::CommandOutput;

use crate::support::CliSandbox;

/// A project whose `.whale/hooks.json` holds these entries.
fn create_project(entries: &Value) -> CliSandbox {
    CliSandbox::new().file(".whale/hooks.json", &entries.to_string())
}

/// A hook before every tool.
fn build_before_hook(command: &str) -> Value {
    json!({"event": "BeforeTool", "command": command})
}

/// A hook before every tool that may change the input.
fn build_modifying_hook(command: &str) -> Value {
    json!({"event": "BeforeTool", "command": command, "allowModify": true})
}

fn run_bash_call(sandbox: &CliSandbox) -> CommandOutput {
    sandbox.run_event("BeforeTool", &json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "session_id": "s1"}))
}

#[test]
fn project_hooks_run_first_and_then_the_users() {
    let sandbox = create_project(&json!([
        build_before_hook("echo project-1 >> log"),
        build_before_hook("echo project-2 >> log")
    ]))
    .home_file(".swagmanager/hooks.json", &json!([build_before_hook("echo user >> log")]).to_string());
    let ran = run_bash_call(&sandbox);
    assert_eq!(sandbox.read("log"), "project-1\nproject-2\nuser\n");
    let sources: Vec<_> = ran.hooks().iter().map(|hook| hook["source"].clone()).collect();
    assert_eq!(sources, [".whale/hooks.json", ".whale/hooks.json", "~/.swagmanager/hooks.json"]);
}

#[test]
fn an_invalid_entry_is_reported_and_its_neighbours_run() {
    let cases = [
        (json!(7), "number"),
        (json!(null), "null"),
        (json!({"command": "echo bad >> log"}), "event"),
        (json!({"event": "BeforeTool"}), "command"),
        (json!({"event": 3, "command": "echo bad >> log"}), "event"),
        (json!({"event": "BeforeTool", "command": ["ls"]}), "command"),
        (json!({"event": "BeforeTol", "command": "echo bad >> log"}), "BeforeTool"),
    ];
    for (entry, mentioned) in cases {
        let sandbox =
            create_project(&json!([build_before_hook("echo a >> log"), entry, build_before_hook("echo b >> log")]));
        let ran = run_bash_call(&sandbox);
        assert_eq!(sandbox.read("log"), "a\nb\n", "{entry}");
        let warnings = ran.warnings();
        assert_eq!(warnings.len(), 1, "{entry}: {warnings:?}");
        assert!(warnings[0].starts_with(".whale/hooks.json:1:"), "{entry}: {warnings:?}");
        assert!(warnings[0].contains(mentioned), "{entry}: {warnings:?}");
    }
}

#[test]
fn a_file_that_cannot_be_used_is_reported_and_the_other_one_works() {
    for broken in ["{\"hooks\": []}", "[{\"event\": ", "\"text\"", ""] {
        let sandbox = CliSandbox::new()
            .file(".whale/hooks.json", broken)
            .home_file(".swagmanager/hooks.json", &json!([build_before_hook("echo user >> log")]).to_string());
        let ran = run_bash_call(&sandbox);
        assert_eq!(sandbox.read("log"), "user\n", "{broken}");
        let warnings = ran.warnings();
        assert_eq!(warnings.len(), 1, "{broken}: {warnings:?}");
        assert!(warnings[0].starts_with(".whale/hooks.json:"), "{broken}: {warnings:?}");
        assert_eq!(ran.code, 0, "{broken}");
    }
}

#[test]
fn a_pattern_is_a_glob_for_the_whole_name_and_minds_the_case() {
    let cases = [
        (None, "Bash", true),
        (Some(""), "Bash", true),
        (Some("*"), "Bash", true),
        (Some("Bash"), "Bash", true),
        (Some("Bash"), "BashOutput", false),
        (Some("ash"), "Bash", false),
        (Some("bash"), "Bash", false),
        (Some("Ba*"), "Bash", true),
        (Some("Ba*"), "Ba", true),
        (Some("*sh"), "Bash", true),
        (Some("B*h"), "Bash", true),
        (Some("B*h"), "Bashes", false),
        (Some("Ba?h"), "Bash", true),
        (Some("Ba?h"), "Bah", false),
        (Some("Bash?"), "Bash", false),
        // Every other character that means something to a regular expression stands for itself.
        (Some("a.b"), "a.b", true),
        (Some("a.b"), "axb", false),
        (Some("Edit|Write"), "Edit", false),
        (Some("Edit|Write"), "Edit|Write", true),
        (Some("[BC]ash"), "Bash", false),
        (Some("[BC]ash"), "[BC]ash", true),
        (Some("Bash+"), "Bashh", false),
        (Some("(x)$^{1}\\"), "(x)$^{1}\\", true),
        (Some("mcp__*__get_?"), "mcp__db__get_x", true),
    ];
    for (pattern, tool, expected) in cases {
        let mut entry = build_before_hook("true");
        if let Some(pattern) = pattern {
            entry["pattern"] = pattern.into();
        }
        let sandbox = create_project(&json!([entry]));
        let ran = sandbox.run_event("BeforeTool", &json!({"tool_name": tool}));
        assert_eq!(ran.hooks().len() == 1, expected, "{pattern:?} on {tool}");
    }
}

#[test]
fn a_pattern_does_not_keep_a_session_hook_from_running() {
    for event in ["SessionStart", "SessionEnd", "Notification"] {
        let sandbox = create_project(&json!([{"event": event, "command": "echo ran > log", "pattern": "Bash"}]));
        let ran = sandbox.run_event(event, &json!({}));
        assert_eq!(sandbox.read("log"), "ran\n", "{event}");
        assert_eq!(ran.warnings().len(), 1, "{event}");
    }
}

#[test]
fn a_hook_reads_the_payload_of_its_event_on_one_line() {
    let input = json!({"command": "ls"});
    let cases = [
        (
            "BeforeTool",
            "PreToolUse",
            json!({"tool_name": "Bash", "tool_input": input, "session_id": "s1"}),
            json!({"event": "BeforeTool", "tool_name": "Bash", "tool_input": input, "session_id": "s1"}),
        ),
        ("BeforeTool", "PreToolUse", json!({"tool_name": "Bash"}), json!({"event": "BeforeTool", "tool_name": "Bash"})),
        (
            "AfterTool",
            "PostToolUse",
            json!({"tool_name": "Bash", "tool_input": input, "tool_response": "a\nb", "tool_success": true}),
            json!({"event": "AfterTool", "tool_name": "Bash", "tool_input": input, "tool_output": "a\nb",
                   "tool_success": true}),
        ),
        (
            "AfterTool",
            "PostToolUse",
            json!({"tool_name": "Bash", "tool_response": "no", "tool_success": false}),
            json!({"event": "AfterTool", "tool_name": "Bash", "tool_output": "no", "tool_success": false}),
        ),
        // The output is a text; a host that has more than that hands over its JSON.
        (
            "AfterTool",
            "PostToolUse",
            json!({"tool_name": "Bash", "tool_response": {"stdout": "x"}}),
            json!({"event": "AfterTool", "tool_name": "Bash", "tool_output": r#"{"stdout":"x"}"#,
                   "tool_success": true}),
        ),
        (
            "AfterTool",
            "PostToolUseFailure",
            json!({"tool_name": "Bash", "error": "exit 1"}),
            json!({"event": "AfterTool", "tool_name": "Bash", "tool_output": "exit 1", "tool_success": false}),
        ),
        (
            "SessionStart",
            "SessionStart",
            json!({"session_id": "s1"}),
            json!({"event": "SessionStart", "session_id": "s1"}),
        ),
        ("SessionEnd", "SessionEnd", json!({}), json!({"event": "SessionEnd"})),
        (
            "Notification",
            "Notification",
            json!({"message": "done", "session_id": "s1"}),
            json!({"event": "Notification", "message": "done", "session_id": "s1"}),
        ),
    ];
    for (written, fired, sent, expected) in cases {
        let sandbox = create_project(&json!([{"event": written, "command": "cat > in.json"}]));
        sandbox.run_event(fired, &sent);
        assert_eq!(sandbox.read_json("in.json"), expected, "{fired} {sent}");
        assert_eq!(sandbox.read("in.json").matches('\n').count(), 1, "{fired} {sent}");
    }
}

#[test]
fn hooks_run_under_a_shell_in_the_project_with_the_inherited_environment() {
    let sandbox = create_project(&json!([build_before_hook("echo \"$MARK:$(pwd -P)\" | tr a-z A-Z > log")]))
        .env("MARK", "inherited");
    sandbox.run_event("BeforeTool", &json!({"tool_name": "Bash", "cwd": sandbox.home()}));
    let here = sandbox.project().canonicalize().unwrap();
    assert_eq!(sandbox.read("log").trim(), format!("INHERITED:{}", here.display()).to_uppercase());
}

#[test]
fn an_answer_blocks_only_with_allow_false() {
    let blocks = [
        (r#"{"allow":false,"message":"not here"}"#, "not here"),
        (r#"  {"allow":false,"message":"padded"}  "#, "padded"),
        (r#"{"allow":false,"message":"wins","modified_input":{"command":"x"}}"#, "wins"),
    ];
    for (answer, reason) in blocks {
        let sandbox = create_project(&json!([build_modifying_hook(&format!("echo '{answer}'"))]));
        let ran = run_bash_call(&sandbox);
        assert_eq!((ran.code, ran.decision().as_str()), (2, "block"), "{answer}");
        assert_eq!(ran.reason(), reason, "{answer}");
        assert_eq!(ran.statuses(), ["blocked"], "{answer}");
        assert_eq!(ran.json()["tool_input"], Value::Null, "{answer}");
    }
    let passes = [
        "",
        r#"{"allow":true,"message":"fine"}"#,
        "{}",
        r#"{"message":"only a message"}"#,
        r#"{"allow":null}"#,
        "not json",
        "[false]",
        "false",
    ];
    for answer in passes {
        let sandbox = create_project(&json!([build_before_hook(&format!("echo '{answer}'"))]));
        let ran = run_bash_call(&sandbox);
        assert_eq!((ran.code, ran.decision().as_str()), (0, "allow"), "{answer}");
        assert_eq!(ran.statuses(), ["ok"], "{answer}");
        assert_eq!(ran.warnings(), [""; 0], "{answer}: output that is not JSON is not an error");
    }
}

#[test]
fn fields_of_the_wrong_type_change_nothing_and_are_told_of() {
    let cases = [
        (r#"{"allow":"false"}"#, "\"allow\""),
        (r#"{"allow":0}"#, "\"allow\""),
        (r#"{"modified_input":"x"}"#, "\"modified_input\""),
    ];
    for (answer, field) in cases {
        let ran = run_bash_call(&create_project(&json!([build_modifying_hook(&format!("echo '{answer}'"))])));
        assert_eq!((ran.code, ran.decision().as_str()), (0, "allow"), "{answer}");
        assert_eq!(ran.json()["tool_input"], Value::Null, "{answer}");
        let warnings = ran.warnings();
        assert!(warnings.len() == 1 && warnings[0].contains(field), "{answer}: {warnings:?}");
    }
}

#[test]
fn an_answer_that_begins_like_json_and_is_not_is_a_warning() {
    let long = format!(r#"{{"allow":false,"message":"{}"}}"#, "x".repeat(1_100_000));
    for answer in [r#"{"allow":false"#, r#"{"allow": false,}"#, long.as_str()] {
        let sandbox = create_project(&json!([build_before_hook("cat answer")])).file("answer", answer);
        let ran = run_bash_call(&sandbox);
        assert_eq!((ran.code, ran.statuses()), (0, vec!["failed".to_owned()]));
        let warnings = ran.warnings();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].contains("cannot be read"), "{warnings:?}");
    }
}

#[test]
fn a_mark_before_the_answer_does_not_hide_it() {
    let sandbox = create_project(&json!([build_before_hook(r#"printf '\357\273\277{"allow":false}'"#)]));
    assert_eq!(run_bash_call(&sandbox).code, 2);
}

#[test]
fn after_a_tool_a_permitted_change_counts_whatever_allow_says() {
    let answer = r#"echo '{"allow":false,"message":"m","modified_output":"new"}'"#;
    let hook = json!({"event": "AfterTool", "allowModify": true, "command": answer});
    let ran = create_project(&json!([hook]))
        .run_event("AfterTool", &json!({"tool_name": "read_file", "tool_response": "old"}));
    assert_eq!((ran.code, ran.json()["tool_output"].as_str()), (0, Some("new")));
    assert_eq!(ran.context(), ["m"]);
}

#[test]
fn session_hooks_that_are_alike_run_each() {
    let hook = json!([{"event": "SessionStart", "command": "echo x >> log"}]).to_string();
    let sandbox = CliSandbox::new().file(".whale/hooks.json", &hook).home_file(".swagmanager/hooks.json", &hook);
    sandbox.run_event("SessionStart", &json!({}));
    assert_eq!(sandbox.read("log"), "x\nx\n");
}

#[test]
fn without_a_message_the_reason_names_the_command() {
    for answer in [r#"{"allow":false}"#, r#"{"allow":false,"message":""}"#] {
        let command = format!("echo '{answer}'");
        let ran = run_bash_call(&create_project(&json!([build_before_hook(&command)])));
        assert_eq!(ran.reason(), format!("Blocked by hook: {command}"));
    }
}

#[test]
fn after_a_block_no_later_hook_of_the_contract_runs() {
    let sandbox = create_project(&json!([
        build_before_hook("echo first >> log"),
        build_before_hook("echo '{\"allow\":false,\"message\":\"stop\"}'"),
        build_before_hook("echo third >> log"),
    ]))
    .home_file(".swagmanager/hooks.json", &json!([build_before_hook("echo user >> log")]).to_string());
    let ran = run_bash_call(&sandbox);
    assert_eq!(sandbox.read("log"), "first\n");
    assert_eq!(ran.statuses(), ["ok", "blocked", "skipped", "skipped"]);
    assert_eq!(ran.reason(), "stop");
}

#[test]
fn a_hook_that_ends_badly_is_a_warning_and_nothing_else() {
    let deny = "echo '{\"allow\":false,\"message\":\"lost\"}'";
    let cases = [
        ("exit 1".to_owned(), "failed", "exited with 1"),
        ("echo oops >&2; exit 3".to_owned(), "failed", "oops"),
        // Whatever stdout says: another exit code than 0 is no answer, and 2 is no exception here.
        (format!("{deny}; exit 1"), "failed", "exited with 1"),
        (format!("{deny}; exit 2"), "failed", "exited with 2"),
        ("no-such-program-anywhere".to_owned(), "failed", "exited with 127"),
        (format!("{deny}; kill -9 $$"), "failed", "signal 9"),
        (format!("{deny}; sleep 30"), "timed_out", "timed out"),
    ];
    for (command, status, mentioned) in cases {
        let mut bad = build_modifying_hook(&command);
        bad["timeout"] = (if command.contains("sleep") { 400 } else { 20_000 }).into();
        let sandbox = create_project(&json!([bad, build_before_hook("echo next > log")]));
        let ran = run_bash_call(&sandbox);
        assert_eq!((ran.code, ran.decision().as_str()), (0, "allow"), "{command}");
        assert_eq!(ran.statuses(), [status, "ok"], "{command}");
        assert_eq!(sandbox.read("log"), "next\n", "{command}");
        let warnings = ran.warnings();
        assert_eq!(warnings.len(), 1, "{command}: {warnings:?}");
        assert!(warnings[0].contains(mentioned), "{command}: {warnings:?}");
        assert_eq!(ran.messages(), [""; 0], "{command}");
    }
}

#[test]
fn the_timeout_is_in_milliseconds_and_ten_seconds_by_default() {
    let mut given = build_before_hook("true");
    given["timeout"] = 2500.into();
    let listed = create_project(&json!([build_before_hook("true"), given])).run_snell(&["list", "--json"], "");
    let timeouts: Vec<_> = listed.json().as_array().unwrap().iter().map(|hook| hook["timeout_ms"].clone()).collect();
    assert_eq!(timeouts, [10_000, 2_500]);
}

#[test]
fn a_hook_that_leaves_its_stdin_alone_is_heard() {
    // More than a pipe holds, so that whoever writes it in one go would wait for ever.
    let large = "x".repeat(400_000);
    let commands =
        ["echo '{\"allow\":false,\"message\":\"heard\"}'", "exec 0<&-; echo '{\"allow\":false,\"message\":\"heard\"}'"];
    for command in commands {
        let sandbox = create_project(&json!([build_before_hook(command)]));
        let ran = sandbox.run_event("BeforeTool", &json!({"tool_name": "Write", "tool_input": {"content": large}}));
        assert_eq!((ran.code, ran.reason().as_str()), (2, "heard"), "{command}");
    }
}

#[test]
fn a_change_needs_allow_modify() {
    let changed = json!({"command": "ls -l"});
    let cases = [
        ("BeforeTool", "tool_input", json!({"modified_input": changed}), Some(false), Value::Null),
        ("BeforeTool", "tool_input", json!({"modified_input": changed}), None, Value::Null),
        ("BeforeTool", "tool_input", json!({"modified_input": changed}), Some(true), changed.clone()),
        ("BeforeTool", "tool_output", json!({"modified_output": "x"}), Some(true), Value::Null),
        ("AfterTool", "tool_output", json!({"modified_output": "new"}), Some(false), Value::Null),
        ("AfterTool", "tool_output", json!({"modified_output": "new"}), Some(true), json!("new")),
        // An empty output is an output.
        ("AfterTool", "tool_output", json!({"modified_output": ""}), Some(true), json!("")),
        ("AfterTool", "tool_input", json!({"modified_input": changed}), Some(true), Value::Null),
        ("BeforeTool", "tool_input", json!({"allow": true, "modified_input": changed}), Some(true), changed.clone()),
    ];
    for (event, field, answer, allow_modify, expected) in cases {
        let mut entry = json!({"event": event, "command": format!("echo '{answer}'")});
        if let Some(allow_modify) = allow_modify {
            entry["allowModify"] = allow_modify.into();
        }
        let sandbox = create_project(&json!([entry]));
        let ran = sandbox
            .run_event(event, &json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": "old"}));
        assert_eq!(ran.json()[field], expected, "{event} {answer} {allow_modify:?}");
        assert_eq!((ran.code, ran.decision().as_str()), (0, "allow"), "{event} {answer}");
    }
}

#[test]
fn the_first_change_stands_and_later_hooks_see_it() {
    let sandbox = create_project(&json!([
        build_modifying_hook("echo '{\"modified_input\":{\"command\":\"first\"}}'"),
        build_modifying_hook("cat > second.json; echo '{\"modified_input\":{\"command\":\"second\"}}'"),
        build_before_hook("cat > third.json"),
    ]));
    let ran = run_bash_call(&sandbox);
    assert_eq!(ran.json()["tool_input"], json!({"command": "first"}));
    for seen in ["second.json", "third.json"] {
        assert_eq!(sandbox.read_json(seen)["tool_input"], json!({"command": "first"}), "{seen}");
    }
    assert_eq!(ran.statuses(), ["ok", "ok", "ok"]);
}

#[test]
fn the_first_changed_output_stands_and_later_hooks_see_it() {
    let after = |command: &str| json!({"event": "AfterTool", "command": command, "allowModify": true});
    let sandbox = create_project(&json!([
        after("echo '{\"modified_output\":\"first\"}'"),
        after("cat > second.json; echo '{\"modified_output\":\"second\"}'"),
    ]));
    let ran = sandbox.run_event("AfterTool", &json!({"tool_name": "Bash", "tool_response": "old"}));
    assert_eq!(ran.json()["tool_output"], "first");
    assert_eq!(sandbox.read_json("second.json")["tool_output"], "first");
}

#[test]
fn a_guard_after_a_change_may_still_block() {
    // The guard objects only to what the first hook made of the command.
    let guard = "grep -q danger && echo '{\"allow\":false,\"message\":\"guarded\"}' || true";
    let sandbox = create_project(&json!([
        build_modifying_hook("echo '{\"modified_input\":{\"command\":\"danger\"}}'"),
        build_before_hook(guard)
    ]));
    let ran = run_bash_call(&sandbox);
    assert_eq!((ran.code, ran.reason().as_str()), (2, "guarded"));
}

#[test]
fn tool_hooks_run_one_after_the_other() {
    // The second one fails unless the first one is over.
    for (written, fired) in [("BeforeTool", "PreToolUse"), ("AfterTool", "PostToolUse")] {
        let sandbox = create_project(&json!([
            {"event": written, "command": "sleep 0.2; touch first-is-over"},
            {"event": written, "command": "test -e first-is-over"},
        ]));
        let ran = sandbox.run_event(fired, &json!({"tool_name": "Bash"}));
        assert_eq!(ran.statuses(), ["ok", "ok"], "{written}");
    }
}

#[test]
fn session_hooks_run_all_at_once_whatever_becomes_of_one_of_them() {
    for event in ["SessionStart", "SessionEnd", "Notification"] {
        let mut entries: Vec<_> = (0..4)
            .map(|own| {
                // Each waits for the others: run one by one, none would end before its deadline.
                let wait = "for i in 0 1 2 3; do while ! test -e here-$i; do sleep 0.01; done; done";
                json!({"event": event, "command": format!("touch here-{own}; {wait}")})
            })
            .collect();
        entries.push(json!({"event": event, "command": "exit 7"}));
        let ran = create_project(&json!(entries)).run_event(event, &json!({}));
        assert_eq!(ran.statuses(), ["ok", "ok", "ok", "ok", "failed"], "{event}");
        assert_eq!((ran.code, ran.decision().as_str()), (0, "allow"), "{event}");
    }
}

#[test]
fn a_session_hook_cannot_block_but_is_heard() {
    for event in ["SessionStart", "SessionEnd", "Notification"] {
        let sandbox =
            create_project(&json!([{"event": event, "command": "echo '{\"allow\":false,\"message\":\"no\"}'"}]));
        let ran = sandbox.run_event(event, &json!({}));
        assert_eq!((ran.code, ran.decision().as_str()), (0, "allow"), "{event}");
        assert_eq!(ran.messages(), ["no"], "{event}");
    }
}

#[test]
fn a_block_after_the_tool_ran_is_context_and_stops_no_later_hook() {
    let sandbox = create_project(&json!([
        {"event": "AfterTool", "command": "echo '{\"allow\":false,\"message\":\"look again\"}'"},
        {"event": "AfterTool", "command": "echo next > log"},
    ]));
    let ran = sandbox.run_event("AfterTool", &json!({"tool_name": "Bash", "tool_response": "x"}));
    assert_eq!((ran.code, ran.decision().as_str()), (0, "allow"));
    assert_eq!(ran.context(), ["look again"]);
    assert_eq!(sandbox.read("log"), "next\n");
}
