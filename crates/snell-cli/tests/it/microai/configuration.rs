//! What may stand in a flat file, and what is wrong in it.

use serde_json::json;

use super::{SETTINGS, build_bash_call, create_project_with};
use crate::support::CliSandbox;

#[test]
fn the_projects_hooks_run_before_its_local_ones() {
    let hook = |text: &str| json!({"SessionStart": [{"command": format!("echo {text} >> order.txt")}]});
    let sandbox = CliSandbox::new()
        .hooks(".microai/settings.local.json", &hook("local"))
        .hooks(SETTINGS, &hook("project"))
        // The document knows no file in the home directory.
        .home_file(SETTINGS, &json!({"hooks": hook("home")}).to_string());
    let ran = sandbox.run_event("SessionStart", &json!({}));
    assert_eq!(sandbox.read("order.txt"), "project\nlocal\n");
    assert_eq!(ran.statuses(), ["ok", "ok"]);
}

#[test]
fn a_flat_entry_keeps_its_rules_in_whichever_settings_file_it_stands() {
    for path in [SETTINGS, ".claude/settings.json", ".claude/settings.local.json", ".wave/settings.json"] {
        let entry = json!({
            "matcher": "Bash(git:*)", "command": "printf %s \"$INPUT\" > input.txt; echo no >&2; exit 1",
            "timeout": 3000, "continueOnFailure": false,
        });
        let sandbox = CliSandbox::new().hooks(path, &json!({"PreToolUse": [entry]}));
        let ran = sandbox.run_event("PreToolUse", &build_bash_call("git push"));
        assert_eq!((ran.code, ran.reason().as_str()), (2, "Hook blocked: no"), "{path}: {ran:?}");
        assert_eq!(ran.hooks()[0]["contract"], "microai", "{path}");
        assert_eq!(sandbox.read("input.txt"), r#"{"command":"git push"}"#, "{path}");
    }
}

#[test]
fn a_bad_entry_is_reported_with_its_place_and_its_neighbours_run() {
    let cases = [
        (r#"{"matcher": "*"}"#, "must be a group with \"hooks\""),
        (r#"{"command": ""}"#, "\"command\" is empty"),
        (r#"{"command": 5}"#, "\"command\" must be a string, not a number"),
        (r#"{"command": "touch bad\u0000"}"#, "NUL"),
        (r#"{"matcher": 5, "command": "touch bad"}"#, "\"matcher\" must be a string, not a number"),
        (r#"{"matcher": "Bash(git:*", "command": "touch bad"}"#, "has no closing parenthesis in \"Bash(git:*\""),
        (r#"{"matcher": "(git)", "command": "touch bad"}"#, "has no tool name"),
        ("true", "must be a group with \"hooks\""),
    ];
    for (entry, message) in cases {
        let good = r#"{"matcher": "*", "command": "echo good >> good.txt"}"#;
        let text = format!("{{\"hooks\": {{\"PreToolUse\": [\n{good},\n{entry},\n{good}]}}}}");
        let sandbox = CliSandbox::new().file(SETTINGS, &text);
        let warnings = sandbox.run_event("PreToolUse", &build_bash_call("ls")).warnings();
        assert_eq!(warnings.len(), 1, "{entry}: {warnings:?}");
        assert!(warnings[0].starts_with(".microai/settings.json:3:"), "{entry}: {warnings:?}");
        assert!(warnings[0].contains(" error: ") && warnings[0].contains(message), "{entry}: {warnings:?}");
        assert_eq!(sandbox.read("good.txt"), "good\ngood\n", "{entry}");
        assert!(!sandbox.exists("bad"), "{entry}");
    }
}

#[test]
fn what_has_no_effect_is_warned_of_and_the_hook_still_runs() {
    let cases = [
        (
            "UserPromptSubmit",
            json!({"matcher": "Bash", "command": "touch ran"}),
            "\"matcher\" has no effect on UserPromptSubmit",
        ),
        ("SessionStart", json!({"matcher": "*", "command": "touch ran"}), "\"matcher\" has no effect on SessionStart"),
        (
            "SessionEnd",
            json!({"continueOnFail": false, "command": "touch ran"}),
            "unknown key \"continueOnFail\" in an entry for \"SessionEnd\" (hint: did you mean \"continueOnFailure\"?)",
        ),
    ];
    for (event, entry, message) in cases {
        let sandbox = create_project_with(event, &json!([entry]));
        let warnings = sandbox.run_event(event, &json!({})).warnings();
        assert_eq!(warnings.len(), 1, "{entry}: {warnings:?}");
        assert!(warnings[0].contains(" warning: ") && warnings[0].contains(message), "{entry}: {warnings:?}");
        assert!(sandbox.exists("ran"), "{entry}");
    }
}

#[test]
fn a_list_of_tools_is_no_matcher_of_this_format_and_its_author_is_told() {
    let sandbox = create_project_with("PreToolUse", &json!([{"matcher": "Edit|Write", "command": "touch ran"}]));
    let warnings = sandbox.run_event("PreToolUse", &json!({"tool_name": "Edit"})).warnings();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("write one entry per tool"), "{warnings:?}");
    assert!(!sandbox.exists("ran"));
}

#[test]
fn an_event_that_nobody_knows_is_an_error_with_a_suggestion() {
    let cases = [
        ("PreToolUSe", "(hint: did you mean \"PreToolUse\"?)"),
        ("PostTooluse", "(hint: did you mean \"PostToolUse\"?)"),
        ("UserPromtSubmit", "(hint: did you mean \"UserPromptSubmit\"?)"),
        ("SesionStart", "(hint: did you mean \"SessionStart\"?)"),
        ("Lunch", "use one of SessionStart, UserPromptSubmit"),
    ];
    for (name, message) in cases {
        let text = format!(
            "{{\"hooks\": {{\n  \"{name}\": [{{\"command\": \"touch bad\"}}],\n  \
             \"SessionStart\": [{{\"command\": \"touch good\"}}]\n}}}}"
        );
        let sandbox = CliSandbox::new().file(SETTINGS, &text);
        let warnings = sandbox.run_event("SessionStart", &json!({})).warnings();
        assert_eq!(warnings.len(), 1, "{name}: {warnings:?}");
        let begins = format!(".microai/settings.json:2:3: error: unknown event \"{name}\"");
        assert!(warnings[0].starts_with(&begins) && warnings[0].contains(message), "{name}: {warnings:?}");
        sandbox.run_event(name, &json!({}));
        assert!(sandbox.exists("good") && !sandbox.exists("bad"), "{name}");
        assert_eq!(sandbox.run_snell(&["lint"], "").code, 1, "{name}");
    }
}

#[test]
fn every_event_that_snell_knows_may_stand_in_a_flat_file_under_any_of_its_names() {
    let cases = [
        ("BeforeTool", "PreToolUse"),
        ("PreToolUse", "pre-tool-use"),
        ("UserPrompt", "BeforeAgent"),
        ("session-end", "SessionEnd"),
        ("Stop", "Stop"),
        ("Notification", "Notification"),
    ];
    for (written, fired) in cases {
        let sandbox = create_project_with(written, &json!([{"command": "touch ran"}]));
        assert_eq!(sandbox.run_event(fired, &json!({"tool_name": "Bash"})).warnings(), [""; 0], "{written}");
        assert!(sandbox.exists("ran"), "{written} at {fired}");
    }
}

#[test]
fn a_file_that_cannot_be_read_as_json_is_reported_and_the_others_work() {
    let sandbox = create_project_with("SessionStart", &json!([{"command": "touch ran"}]))
        .file(".microai/settings.local.json", "{\"hooks\": {\"SessionStart\": [\n  {\"command\" \"x\"}]}}");
    let ran = sandbox.run_event("SessionStart", &json!({}));
    let warnings = ran.warnings();
    assert_eq!((ran.code, warnings.len()), (0, 1), "{warnings:?}");
    assert!(warnings[0].starts_with(".microai/settings.local.json:2:"), "{warnings:?}");
    assert!(sandbox.exists("ran"));
}

#[test]
fn timeouts_are_milliseconds_with_a_default_of_5000() {
    let cases = [
        (json!({}), 5_000, None),
        (json!({"timeout": 3000}), 3_000, None),
        (json!({"timeout": 250.0}), 250, None),
        // The author of so small a number means seconds.
        (
            json!({"timeout": 30}),
            30,
            Some("\"timeout\" is in milliseconds, so 30 may be too short (hint: for 30 seconds, write 30000)"),
        ),
        (json!({"timeout": 0}), 5_000, Some("must be a number of milliseconds above 0")),
        (json!({"timeout": -5}), 5_000, Some("must be a number of milliseconds above 0")),
        (json!({"timeout": "3s"}), 5_000, Some("must be a number of milliseconds above 0")),
    ];
    for (mut entry, expected, message) in cases {
        entry["command"] = "true".into();
        let sandbox = create_project_with("SessionStart", &json!([entry]));
        assert_eq!(sandbox.run_snell(&["list", "--json"], "").json()[0]["timeout_ms"], expected, "{entry}");
        let warnings = sandbox.run_event("SessionEnd", &json!({})).warnings();
        assert_eq!(warnings.len(), usize::from(message.is_some()), "{entry}: {warnings:?}");
        assert!(warnings.iter().all(|text| text.contains(message.unwrap())), "{entry}: {warnings:?}");
    }
}

#[test]
fn a_declaration_to_continue_that_cannot_be_read_is_taken_at_its_strictest() {
    for written in [json!("true"), json!(1), json!(null)] {
        let sandbox = create_project_with("PreToolUse", &json!([{"command": "exit 1", "continueOnFailure": written}]));
        let ran = sandbox.run_event("PreToolUse", &build_bash_call("ls"));
        let warnings = ran.warnings();
        assert_eq!((ran.code, warnings.len()), (2, 1), "{written}: {warnings:?}");
        assert!(warnings[0].contains("\"continueOnFailure\" must be true or false"), "{written}: {warnings:?}");
    }
}
