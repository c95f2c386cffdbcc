//! Which hooks an event concerns: matchers, what they are held against, and `if`.

use serde_json::{Value, json};
use snell_test_support::process::CommandOutput;

use crate::support::CliSandbox;

/// What comes of an event when its only hook has this matcher.
fn run_with_matcher(matcher: Option<&str>, event: &str, payload: &Value) -> CommandOutput {
    let mut group = json!({"hooks": [{"type": "command", "command": "true"}]});
    if let Some(matcher) = matcher {
        group["matcher"] = matcher.into();
    }
    CliSandbox::new().hooks(".claude/settings.json", &json!({event: [group]})).run_event(event, payload)
}

fn is_matched(matcher: Option<&str>, event: &str, payload: &Value) -> bool {
    !run_with_matcher(matcher, event, payload).hooks().is_empty()
}

#[test]
fn a_matcher_is_everything_a_list_of_names_or_a_regular_expression() {
    let cases = [
        (None, "Bash", true),
        (Some(""), "Bash", true),
        (Some("*"), "Bash", true),
        // Letters, digits, `_ - , |` and spaces: names, each of them whole.
        (Some("Bash"), "Bash", true),
        (Some("Bash"), "BashOutput", false),
        (Some("bash"), "Bash", false),
        (Some("Edit|Write"), "Write", true),
        (Some("Edit|Write"), "MultiEdit", false),
        (Some("Edit,Write"), "Write", true),
        (Some("Edit, Write"), "Write", true),
        (Some("Edit | Write"), "Edit", true),
        (Some("my-tool"), "my-tool", true),
        (Some("my-tool"), "my-tool-2", false),
        (Some("mcp__memory"), "mcp__memory__store", false),
        (Some("mcp__memory__store"), "mcp__memory__store", true),
        // Anything else is a regular expression, found anywhere in the name.
        (Some("mcp__memory__.*"), "mcp__memory__store", true),
        (Some("mcp__.*__write.*"), "mcp__fs__write_file", true),
        (Some("mcp__.*__write.*"), "mcp__fs__read_file", false),
        (Some("Note.*"), "MyNotebookEdit", true),
        (Some("^Note.*"), "MyNotebookEdit", false),
        (Some("^Bash$"), "Bash", true),
        (Some("^(Edit|Write)$"), "MultiEdit", false),
        (Some("Bash.?"), "Bash", true),
        (Some("^(?!Bash$)"), "Read", true),
        (Some("^(?!Bash$)"), "Bash", false),
        (Some("^bash$"), "Bash", false),
    ];
    for (matcher, tool, expected) in cases {
        let payload = json!({"tool_name": tool});
        assert_eq!(is_matched(matcher, "PreToolUse", &payload), expected, "{matcher:?} on {tool}");
    }
}

#[test]
fn each_event_has_its_own_thing_to_match() {
    let cases = [
        ("SessionStart", "source", "startup"),
        ("Setup", "trigger", "init"),
        ("InstructionsLoaded", "load_reason", "include"),
        ("UserPromptExpansion", "command_name", "deploy"),
        ("PreToolUse", "tool_name", "Bash"),
        ("PermissionRequest", "tool_name", "Bash"),
        ("PermissionDenied", "tool_name", "Bash"),
        ("PostToolUse", "tool_name", "Bash"),
        ("PostToolUseFailure", "tool_name", "Bash"),
        ("Notification", "notification_type", "idle_prompt"),
        ("SubagentStart", "agent_type", "Explore"),
        ("SubagentStop", "agent_type", "Explore"),
        ("StopFailure", "error", "rate_limit"),
        ("ConfigChange", "source", "user_settings"),
        ("DirectoryAdded", "source", "slash_command"),
        ("PreCompact", "trigger", "manual"),
        ("PostCompact", "trigger", "auto"),
        ("Elicitation", "mcp_server_name", "memory"),
        ("ElicitationResult", "mcp_server_name", "memory"),
        ("SessionEnd", "reason", "logout"),
    ];
    for (event, field, value) in cases {
        let payload = json!({field: value});
        let expectations = [
            (value.to_owned(), true),
            (format!("other|{value}"), true),
            (format!("^{value}$"), true),
            ("*".to_owned(), true),
            ("another".to_owned(), false),
            (format!("{value}2"), false),
            (format!("^{}$", &value[1..]), false),
        ];
        for (matcher, expected) in expectations {
            assert_eq!(is_matched(Some(&matcher), event, &payload), expected, "{event}: {matcher}");
        }
        assert!(is_matched(None, event, &json!({})), "{event}: no matcher asks for nothing");
    }
}

#[test]
fn a_changed_file_is_matched_by_its_name_alone() {
    let cases = [
        (".env|.envrc", "/srv/.envrc", true),
        (".env|.envrc", "/srv/deep/.env", true),
        (".env|.envrc", "/srv/.env/other", false),
        ("Cargo.toml", "Cargo.toml", true),
        ("package", "/srv/package.json", false),
        ("", "/srv/any", true),
    ];
    for (matcher, path, expected) in cases {
        let payload = json!({"file_path": path, "event": "change"});
        assert_eq!(is_matched(Some(matcher), "FileChanged", &payload), expected, "{matcher} on {path}");
    }
}

#[test]
fn an_event_with_nothing_to_match_ignores_the_matcher_and_says_so() {
    let events = [
        "UserPromptSubmit",
        "MessageDisplay",
        "PostToolBatch",
        "TaskCreated",
        "TaskCompleted",
        "TeammateIdle",
        "Stop",
        "CwdChanged",
        "WorktreeCreate",
        "WorktreeRemove",
    ];
    for event in events {
        let ran = run_with_matcher(Some("Bash"), event, &json!({"tool_name": "Read"}));
        assert_eq!(ran.statuses(), ["ok"], "{event}");
        let warnings = ran.warnings();
        assert!(warnings.len() == 1 && warnings[0].contains("matcher"), "{event}: {warnings:?}");
    }
}

#[test]
fn a_matcher_that_is_no_regular_expression_costs_only_its_group() {
    let hook = json!([{"type": "command", "command": "echo ran >> log"}]);
    let sandbox = CliSandbox::new().hooks(
        ".claude/settings.json",
        &json!({"PreToolUse": [{"matcher": "Bash(", "hooks": hook}, {"matcher": "Bash", "hooks": hook}]}),
    );
    let ran = super::run_bash_call(&sandbox);
    assert_eq!(sandbox.read("log"), "ran\n");
    let warnings = ran.warnings();
    assert!(warnings.len() == 1 && warnings[0].contains("error: \"matcher\""), "{warnings:?}");
}

#[test]
fn an_event_may_be_fired_under_any_of_its_names() {
    for fired in ["PreToolUse", "BeforeTool", "pre-tool-use"] {
        let sandbox = super::create_project("PreToolUse", &json!([super::build_command_hook("cat > in.json")]));
        sandbox.run_event(fired, &json!({"tool_name": "Bash"}));
        assert_eq!(sandbox.read_json("in.json")["hook_event_name"], "PreToolUse", "{fired}");
    }
}

/// Whether a hook with this `if` takes part.
fn is_rule_passed(rule: &str, event: &str, tool: &str, input: &Value) -> bool {
    let handler = json!({"type": "command", "command": "true", "if": rule});
    let ran = super::create_project(event, &json!([handler]))
        .run_event(event, &json!({"tool_name": tool, "tool_input": input}));
    !ran.hooks().is_empty()
}

#[test]
fn an_if_looks_at_every_part_of_a_command() {
    let cases = [
        ("Bash(git *)", "git push", true),
        ("Bash(git *)", "npm test", false),
        ("Bash(git *)", "gitk --all", false),
        ("Bash", "anything at all", true),
        ("Bash(npm test)", "npm test", true),
        ("Bash(npm test)", "npm test --watch", false),
        // Assignments before the command are not the command.
        ("Bash(git *)", "GIT_DIR=x A=b git push", true),
        ("Bash(git *)", "npm test && git push", true),
        ("Bash(git *)", "npm test; git push", true),
        ("Bash(git *)", "npm test || git push", true),
        ("Bash(git *)", "cat x | git apply", true),
        ("Bash(git *)", "npm test\ngit push", true),
        ("Bash(git *)", "echo 'git push'", false),
        ("Bash(rm *)", "echo $(rm -rf x)", true),
        ("Bash(rm *)", "echo `rm -rf x`", true),
        // What the shell will put there is not known; a hook that might be meant is run.
        ("Bash(git push *)", "git $WHAT origin", true),
        ("Bash(git push *)", "git $(cat what) origin", true),
        ("Bash(git push *)", "git \"unfinished", true),
    ];
    for (rule, line, expected) in cases {
        assert_eq!(is_rule_passed(rule, "PreToolUse", "Bash", &json!({"command": line})), expected, "{rule} on {line}");
    }
}

#[test]
fn an_if_names_a_tool_and_its_argument() {
    let cases = [
        ("Edit(*.ts)", "Edit", json!({"file_path": "a.ts"}), true),
        ("Edit(*.ts)", "Edit", json!({"file_path": "a.rs"}), false),
        ("Edit(src/**)", "Edit", json!({"file_path": "src/a/b.rs"}), true),
        ("Edit(src/**)", "Edit", json!({"file_path": "docs/b.rs"}), false),
        ("Bash(git *)", "Read", json!({"command": "git push"}), false),
        // A call that does not say which file it is about may be about any.
        ("Edit(*.env)", "apply_patch", json!({"patch": "*** Begin Patch\n*** Update File: .env\n"}), true),
        ("Edit(*.env)", "apply_patch", json!({"file_path": "a.rs"}), false),
        ("WebFetch(domain:example.com)", "WebFetch", json!({"url": "https://example.com/x"}), true),
        ("WebFetch(domain:example.com)", "WebFetch", json!({"url": "https://example.org/x"}), false),
    ];
    for (rule, tool, input, expected) in cases {
        assert_eq!(is_rule_passed(rule, "PreToolUse", tool, &input), expected, "{rule} on {tool} {input}");
    }
}

#[test]
fn an_if_counts_on_tool_events_and_keeps_a_hook_from_every_other() {
    let input = json!({"command": "git push"});
    for event in ["PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied"] {
        assert!(is_rule_passed("Bash(git *)", event, "Bash", &input), "{event}");
        assert!(!is_rule_passed("Bash(npm *)", event, "Bash", &input), "{event}");
    }
    for event in ["SessionStart", "Stop", "UserPromptSubmit", "Notification"] {
        let handler = json!({"type": "command", "command": "true", "if": "Bash"});
        let sandbox = super::create_project(event, &json!([handler]));
        // Nor does it help that a host sends the tool that it used last.
        for payload in [json!({}), json!({"tool_name": "Bash", "tool_input": input})] {
            let ran = sandbox.run_event(event, &payload);
            assert!(ran.hooks().is_empty(), "{event} {payload}");
            let warnings = ran.warnings();
            assert!(warnings.len() == 1 && warnings[0].contains("\"if\""), "{event} {payload}: {warnings:?}");
        }
    }
}

#[test]
fn an_if_understands_a_relative_directory_as_one_of_the_project() {
    let cases = [
        ("Edit(*.ts)", "{project}/sub/a.ts", true),
        ("Edit(*.ts)", "a.ts", true),
        ("Edit(*.ts)", "{project}/a.ts", false),
        ("Edit(/src/*.ts)", "../src/a.ts", true),
        ("Edit(/src/*.ts)", "src/a.ts", false),
    ];
    for (rule, file, expected) in cases {
        let handler = json!({"type": "command", "command": "true", "if": rule});
        let sandbox = super::create_project("PreToolUse", &json!([handler])).file("sub/.keep", "");
        let file = file.replace("{project}", sandbox.project().to_str().unwrap());
        let payload = json!({"cwd": "sub", "tool_name": "Edit", "tool_input": {"file_path": file}});
        let ran = sandbox.run_event("PreToolUse", &payload);
        assert_eq!(!ran.hooks().is_empty(), expected, "{rule} on {file}");
    }
}
