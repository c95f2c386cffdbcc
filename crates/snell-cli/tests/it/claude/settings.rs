//! The switches beside the hooks: `disableAllHooks`, and who may overrule whom.

use serde_json::{Value, json};

use super::{build_command_hook, run_bash_call};
use crate::support::CliSandbox;

/// A settings file with one hook, and the switch as given.
fn render_settings_file(name: &str, disable: Option<bool>) -> String {
    let mut file =
        json!({"hooks": {"PreToolUse": [{"hooks": [build_command_hook(&format!("echo {name} >> log-{name}"))]}]}});
    if let Some(disable) = disable {
        file["disableAllHooks"] = Value::Bool(disable);
    }
    file.to_string()
}

#[test]
fn the_local_file_overrules_the_projects_which_overrules_the_users() {
    let cases = [
        (None, None, None, true),
        (Some(true), None, None, false),
        (None, Some(true), None, false),
        (None, None, Some(true), false),
        (Some(true), Some(false), None, true),
        (Some(true), None, Some(false), true),
        (None, Some(true), Some(false), true),
        (Some(false), Some(true), None, false),
        (Some(false), Some(false), Some(true), false),
        (Some(true), Some(true), Some(false), true),
    ];
    for (user, project, local, run) in cases {
        let sandbox = CliSandbox::new()
            .home_file(".claude/settings.json", &render_settings_file("user", user))
            .file(".claude/settings.json", &render_settings_file("project", project))
            .file(".claude/settings.local.json", &render_settings_file("local", local));
        let ran = run_bash_call(&sandbox);
        let case = format!("user {user:?}, project {project:?}, local {local:?}");
        // A hook that is switched off is still told of, with the reason.
        let expected = if run { "ok" } else { "skipped" };
        assert_eq!(ran.statuses(), [expected; 3], "{case}");
        for name in ["user", "project", "local"] {
            assert_eq!(sandbox.exists(&format!("log-{name}")), run, "{case}: {name}");
        }
        if !run {
            let why = ran.hooks()[0]["why"].as_str().unwrap_or_default().to_owned();
            assert!(why.contains("disableAllHooks"), "{case}: {why}");
        }
    }
}

#[test]
fn a_switch_that_is_on_is_told_of_at_its_place() {
    let text = "{\n  \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"true\"}]}]},\n  \
                \"disableAllHooks\": true\n}";
    for (written, place) in [("true", Some("3:22")), ("false", None)] {
        let sandbox =
            CliSandbox::new().file(".claude/settings.json", &text.replace("true\n}", &format!("{written}\n}}")));
        let warnings = run_bash_call(&sandbox).warnings();
        let lint = sandbox.run_snell(&["lint"], "");
        assert_eq!(lint.code, 0, "{written}: it is no error");
        match place {
            Some(place) => {
                let begin = format!(".claude/settings.json:{place}: warning: \"disableAllHooks\" disables");
                assert!(warnings.len() == 1 && warnings[0].starts_with(&begin), "{written}: {warnings:?}");
                assert!(lint.stdout.starts_with(&begin), "{written}: {}", lint.stdout);
            }
            None => {
                assert_eq!(warnings, [""; 0], "{written}");
                assert!(lint.stdout.starts_with("No problems"), "{written}: {}", lint.stdout);
            }
        }
    }
}

#[test]
fn the_switch_is_claudes_and_stops_no_other_contract() {
    let sandbox = CliSandbox::new()
        .file(".claude/settings.json", &render_settings_file("claude", Some(true)))
        .hooks(
            ".wave/settings.json",
            &json!({"PreToolUse": [{"matcher": "*", "hooks": [build_command_hook("echo wave no >&2; exit 2")]}]}),
        )
        .file("snell.toml", "[[hook]]\nevent = 'PreToolUse'\nrun = 'echo native no >&2; exit 2'\n");
    let ran = run_bash_call(&sandbox);
    assert_eq!((ran.code, ran.reason().as_str()), (2, "native no\nwave no"));
}

#[test]
fn a_switch_of_the_wrong_type_is_reported_and_switches_nothing_off() {
    let text = render_settings_file("project", None).replacen('{', "{\"disableAllHooks\": \"true\",", 1);
    let sandbox = CliSandbox::new().file(".claude/settings.json", &text);
    let ran = run_bash_call(&sandbox);
    assert_eq!(ran.statuses(), ["ok"]);
    assert!(ran.warnings()[0].contains("disableAllHooks"), "{:?}", ran.warnings());
}

#[test]
fn a_settings_file_may_have_comments_and_is_reported_when_it_cannot_be_read() {
    let sandbox = CliSandbox::new().file(
        ".claude/settings.json",
        r#"{
            // guards
            "hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "exit 2"},],}]},
        }"#,
    );
    let ran = run_bash_call(&sandbox);
    assert_eq!(ran.code, 2);
    assert_eq!(ran.hooks()[0]["line"], 3);
    let sandbox = CliSandbox::new()
        .file(".claude/settings.json", "{\"hooks\": ")
        .file(".claude/settings.local.json", &render_settings_file("local", None));
    let ran = run_bash_call(&sandbox);
    assert_eq!(ran.statuses(), ["ok"], "the other file works");
    let warnings = ran.warnings();
    assert!(warnings.len() == 1 && warnings[0].starts_with(".claude/settings.json:1:"), "{warnings:?}");
}
