//! The kinds of handler and their fields: commands with and without a shell, in the background, and the unsupported.

use serde_json::{Value, json};

use super::{build_command_hook, create_project, run_bash_call};
use crate::support::CliSandbox;

#[test]
fn with_args_a_program_is_started_without_a_shell() {
    let sandbox = create_project(
        "PreToolUse",
        &json!([
            {"type": "command", "command": "${CLAUDE_PROJECT_DIR}/save.sh",
             "args": ["$HOME", "a b", "; touch injected", "*", "${CLAUDE_PROJECT_DIR}/x", ""]},
        ]),
    )
    .script("save.sh", "printf '[%s]' \"$@\" > \"$CLAUDE_PROJECT_DIR/log\"");
    let ran = run_bash_call(&sandbox);
    assert_eq!(ran.statuses(), ["ok"], "{ran:?}");
    let project = sandbox.project();
    assert_eq!(sandbox.read("log"), format!("[$HOME][a b][; touch injected][*][{}/x][]", project.display()));
    assert!(!sandbox.exists("injected"));
}

#[test]
fn empty_args_still_mean_no_shell() {
    let sandbox = create_project("PreToolUse", &json!([{"type": "command", "command": "touch made", "args": []}]));
    let ran = run_bash_call(&sandbox);
    assert_eq!(ran.statuses(), ["failed"]);
    assert!(!sandbox.exists("made"));
    assert_eq!(ran.code, 0);
}

#[test]
fn a_program_is_found_on_the_path_and_hears_the_event() {
    let sandbox = create_project("PreToolUse", &json!([{"type": "command", "command": "tee", "args": ["in.json"]}]));
    let ran = run_bash_call(&sandbox);
    assert_eq!(ran.statuses(), ["ok"]);
    assert_eq!(sandbox.read_json("in.json")["tool_name"], "Bash");
}

#[test]
fn a_shell_may_be_asked_for() {
    // An array is something that bash has and a plain shell has not.
    let line = "words=(a b); echo ${words[1]} > log";
    let sandbox = create_project("PreToolUse", &json!([{"type": "command", "command": line, "shell": "bash"}]));
    assert_eq!(run_bash_call(&sandbox).statuses(), ["ok"]);
    assert_eq!(sandbox.read("log"), "b\n");
    let sandbox =
        create_project("PreToolUse", &json!([{"type": "command", "command": "echo ran > log", "shell": "zsh"}]));
    let ran = run_bash_call(&sandbox);
    assert!(ran.warnings()[0].contains("\"shell\""), "{:?}", ran.warnings());
}

#[test]
fn an_async_hook_outlives_the_run_and_its_end_is_recorded() {
    // It ends only after `snell run` has: nothing else makes the file that it waits for.
    let line = "while ! test -e released; do sleep 0.01; done; cat > in.json; echo late >&2; exit 2";
    let sandbox =
        create_project("PreToolUse", &json!([{"type": "command", "command": line, "async": true, "timeout": 9}]));
    let ran = run_bash_call(&sandbox);
    assert_eq!((ran.code, ran.decision().as_str()), (0, "allow"), "an async hook cannot control");
    assert_eq!(ran.statuses(), ["started"]);
    let sandbox = sandbox.file("released", "");
    let outcome = &sandbox.wait_for_background_outcomes(1)[0];
    assert_eq!(outcome["exit_code"], 2);
    assert_eq!(outcome["stderr"], "late\n");
    assert_eq!(outcome["event"], "PreToolUse");
    assert_eq!(outcome["session_id"], "s1");
    assert_eq!(outcome["contract"], "claude");
    assert_eq!(sandbox.read_json("in.json")["tool_name"], "Bash");
}

#[test]
fn an_async_hook_still_ends_at_its_timeout() {
    let line = "echo begun; sleep 30";
    let sandbox = create_project("Stop", &json!([{"type": "command", "command": line, "async": true, "timeout": 0.3}]));
    sandbox.run_event("Stop", &json!({}));
    let outcome = &sandbox.wait_for_background_outcomes(1)[0];
    assert_eq!((&outcome["status"], &outcome["timed_out"]), (&json!("timed_out"), &json!(true)));
    assert_eq!(outcome["stdout"], "begun\n");
}

#[test]
fn an_async_hook_with_rewake_runs_and_its_limit_is_said() {
    let sandbox =
        create_project("Stop", &json!([{"type": "command", "command": "echo ran > log", "asyncRewake": true}]));
    let ran = sandbox.run_event("Stop", &json!({}));
    assert_eq!(ran.statuses(), ["started"]);
    assert!(ran.warnings()[0].contains("asyncRewake"), "{:?}", ran.warnings());
    assert_eq!(sandbox.wait_for_content("log"), "ran\n");
}

#[test]
fn what_snell_cannot_do_is_reported_and_never_silently_dropped() {
    let handlers = [
        json!({"type": "prompt", "prompt": "is $ARGUMENTS fine?", "timeout": 30}),
        json!({"type": "agent", "prompt": "look around", "model": "m"}),
        json!({"type": "mcp_tool", "server": "s", "tool": "check", "input": {"a": "${tool_input.command}"}}),
    ];
    for handler in handlers {
        let kind = handler["type"].as_str().unwrap().to_owned();
        let sandbox = create_project("PreToolUse", &json!([handler, build_command_hook("echo ran > log")]));
        let ran = run_bash_call(&sandbox);
        assert_eq!(ran.statuses(), ["skipped", "ok"], "{kind}");
        let why = ran.hooks()[0]["why"].as_str().unwrap_or_default().to_owned();
        assert!(why.contains(&kind), "{kind}: {why}");
        let warnings = ran.warnings();
        assert!(warnings.len() == 1 && warnings[0].contains(&kind), "{kind}: {warnings:?}");
        let listed = sandbox.run_snell(&["list", "--json"], "").json();
        assert_eq!(listed.as_array().unwrap().len(), 2, "{kind}");
        assert_eq!(sandbox.read("log"), "ran\n", "{kind}");
    }
}

#[test]
fn a_handler_that_cannot_be_read_costs_only_itself() {
    let cases = [
        (json!({"command": "echo bad >> log"}), "type"),
        (json!({"type": "comand", "command": "echo bad >> log"}), "did you mean"),
        (json!({"type": "command"}), "command"),
        (json!({"type": "command", "command": 7}), "command"),
        (json!({"type": "command", "command": "echo bad >> log", "args": "x"}), "args"),
        (json!({"type": "command", "command": "echo bad >> log", "if": "Bash(git"}), "if"),
        (json!({"type": "http"}), "url"),
        (json!({"type": "http", "url": "ftp://x"}), "url"),
        (json!("text"), "object"),
    ];
    for (handler, mentioned) in cases {
        let sandbox = create_project("PreToolUse", &json!([handler, build_command_hook("echo good >> log")]));
        let ran = run_bash_call(&sandbox);
        assert_eq!(sandbox.read("log"), "good\n", "{handler}");
        let warnings = ran.warnings();
        assert!(warnings.len() == 1 && warnings[0].contains(mentioned), "{handler}: {warnings:?}");
        assert!(warnings[0].starts_with(".claude/settings.json:1:"), "{handler}: {warnings:?}");
    }
}

#[test]
fn timeouts_are_seconds_and_depend_on_the_event_where_none_is_written() {
    let cases = [
        ("PreToolUse", None, 600_000),
        ("Stop", None, 600_000),
        ("UserPromptSubmit", None, 30_000),
        ("MessageDisplay", None, 10_000),
        ("PreToolUse", Some(7), 7_000),
        ("UserPromptSubmit", Some(120), 120_000),
    ];
    for (event, written, expected) in cases {
        let mut handler = build_command_hook("true");
        if let Some(seconds) = written {
            handler["timeout"] = seconds.into();
        }
        let listed = create_project(event, &json!([handler])).run_snell(&["list", "--json"], "");
        assert_eq!(listed.json()[0]["timeout_ms"], expected, "{event} {written:?}");
    }
}

#[test]
fn every_field_of_the_documentation_is_known() {
    let handler = json!({"type": "command", "command": "true", "timeout": 5, "statusMessage": "…", "async": false,
        "asyncRewake": false, "shell": "bash", "if": "Bash(*)", "once": false});
    let sandbox = CliSandbox::new().file(
        ".claude/settings.json",
        &json!({"model": "x", "permissions": {}, "hooks": {"PreToolUse": [{"matcher": "*", "hooks": [handler]}]}})
            .to_string(),
    );
    assert_eq!(run_bash_call(&sandbox).warnings(), [""; 0]);
    let unknown = json!({"type": "command", "command": "true", "timout": 5});
    let ran = run_bash_call(&create_project("PreToolUse", &json!([unknown])));
    assert_eq!(ran.statuses(), ["ok"], "an unknown field does not disable its hook");
    assert!(ran.warnings()[0].contains("timeout"), "{:?}", ran.warnings());
}

#[test]
fn an_event_that_nobody_knows_is_a_warning_and_its_hooks_are_kept() {
    let sandbox = create_project("BrandNewEvent", &json!([build_command_hook("cat > in.json")]));
    let ran = sandbox.run_event("BrandNewEvent", &json!({"session_id": "s1", "anything": {"at": "all"}}));
    assert_eq!(ran.statuses(), ["ok"]);
    let warnings = ran.warnings();
    assert!(warnings.len() == 1 && warnings[0].contains("warning: unknown event"), "{warnings:?}");
    let told = sandbox.read_json("in.json");
    assert_eq!(told["hook_event_name"], "BrandNewEvent");
    assert_eq!(told["anything"], json!({"at": "all"}));
    let ran = create_project("PreTooluse", &json!([build_command_hook("true")])).run_event("Stop", &json!({}));
    assert!(ran.warnings()[0].contains("PreToolUse"), "{:?}", ran.warnings());
}

#[test]
fn every_known_event_is_accepted_without_a_word() {
    let events = [
        "SessionStart",
        "Setup",
        "InstructionsLoaded",
        "UserPromptSubmit",
        "UserPromptExpansion",
        "MessageDisplay",
        "PreToolUse",
        "PermissionRequest",
        "PermissionDenied",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "Notification",
        "SubagentStart",
        "SubagentStop",
        "TaskCreated",
        "TaskCompleted",
        "TeammateIdle",
        "Stop",
        "StopFailure",
        "ConfigChange",
        "CwdChanged",
        "DirectoryAdded",
        "FileChanged",
        "WorktreeCreate",
        "WorktreeRemove",
        "PreCompact",
        "PostCompact",
        "Elicitation",
        "ElicitationResult",
        "SessionEnd",
    ];
    let hooks: Value =
        events.iter().map(|event| ((*event).to_owned(), json!([{"hooks": [build_command_hook("true")]}]))).collect();
    let sandbox = CliSandbox::new().hooks(".claude/settings.json", &hooks);
    for event in events {
        let ran = sandbox.run_event(event, &json!({"tool_name": "Bash"}));
        assert_eq!((ran.statuses(), ran.warnings()), (vec!["ok".to_owned()], vec![]), "{event}");
    }
}

#[test]
fn the_projects_name_is_put_into_arguments_only_where_it_stays_a_path() {
    let cases: &[(&[&str], &str)] = &[
        (&["-c", "ls ${CLAUDE_PROJECT_DIR}; :"], ""),
        (&["-c", "${CLAUDE_PROJECT_DIR}/x"], ""),
        (&["${CLAUDE_PROJECT_DIR}/show.sh", "${CLAUDE_PROJECT_DIR}/a.txt"], "a.txt"),
    ];
    for (args, shown) in cases {
        let sandbox =
            CliSandbox::with_project_name("$(touch PWN)".as_ref()).script("show.sh", "printf %s \"$1\" > shown").hooks(
                ".claude/settings.json",
                &json!({"Stop": [{"hooks": [{"type": "command", "command": "sh", "args": args}]}]}),
            );
        sandbox.run_event("Stop", &json!({}));
        assert!(!sandbox.exists("PWN"), "{args:?}");
        if !shown.is_empty() {
            assert_eq!(sandbox.read("shown"), sandbox.project().join(shown).to_str().unwrap(), "{args:?}");
        }
    }
}
