//! What may stand in a Wave file, what is wrong in it, and which tools a matcher means.

use serde_json::json;

use super::{SETTINGS, build_hooks, create_project_with};
use crate::support::CliSandbox;

/// The "Configuration Example" of the document, letter by letter.
const EXAMPLE: &str = r#"{
  "hooks": {
    "PostToolUse": [
      {
        "matcher": "Edit|Write",
        "hooks": [
          {
            "type": "command", 
            "command": "eslint --fix \"$WAVE_PROJECT_DIR\"/src"
          },
          {
            "type": "command",
            "command": "prettier --write \"$WAVE_PROJECT_DIR\"/src"
          }
        ]
      }
    ],
    "UserPromptSubmit": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "\"$WAVE_PROJECT_DIR\"/.wave/validate-prompt.sh"
          }
        ]
      }
    ]
  }
}"#;

/// A project with the document's example, and stand-ins for the programs that it calls.
fn create_example_project() -> CliSandbox {
    let sandbox = CliSandbox::new()
        .file(SETTINGS, EXAMPLE)
        .script("bin/eslint", "echo eslint \"$@\" >> log.txt")
        .script("bin/prettier", "echo prettier \"$@\" >> log.txt")
        .script(
            ".wave/validate-prompt.sh",
            "if grep -q '\"prompt\": \".*password'; then echo 'no passwords in prompts' >&2; exit 2; fi",
        );
    let path = format!("{}:{}", sandbox.project().join("bin").display(), std::env::var("PATH").unwrap());
    sandbox.env("PATH", &path)
}

#[test]
fn the_documents_example_lints_and_formats_after_an_edit() {
    let sandbox = create_example_project();
    let ran = sandbox.run_event("PostToolUse", &json!({"tool_name": "Edit"}));
    assert_eq!((ran.code, ran.warnings()), (0, vec![]));
    let src = sandbox.project().canonicalize().unwrap().join("src");
    assert_eq!(
        sandbox.read("log.txt"),
        format!("eslint --fix {}\nprettier --write {}\n", src.display(), src.display())
    );
    let ran = sandbox.run_event("PostToolUse", &json!({"tool_name": "Read"}));
    assert_eq!(ran.statuses(), [""; 0], "the matcher is Edit|Write");
}

#[test]
fn the_documents_example_validates_prompts() {
    let cases = [("Fix the bug", 0, "allow", ""), ("my password is x", 2, "block", "no passwords in prompts")];
    for (prompt, code, decision, reason) in cases {
        let ran = create_example_project().run_event("UserPromptSubmit", &json!({ "prompt": prompt }));
        assert_eq!((ran.code, ran.decision().as_str(), ran.reason().as_str()), (code, decision, reason), "{prompt}");
    }
}

#[test]
fn the_homes_hooks_run_first_then_the_projects_then_the_local_ones() {
    let sandbox = CliSandbox::new()
        .hooks(".wave/settings.local.json", &build_hooks("Stop", &["echo local >> order.txt"]))
        .hooks(SETTINGS, &build_hooks("Stop", &["echo project >> order.txt", "echo second >> order.txt"]))
        .home_file(SETTINGS, &json!({"hooks": build_hooks("Stop", &["echo home >> order.txt"])}).to_string());
    let ran = sandbox.run_event("Stop", &json!({}));
    assert_eq!(sandbox.read("order.txt"), "home\nproject\nsecond\nlocal\n");
    let sources: Vec<_> = ran.hooks().iter().map(|hook| hook["source"].clone()).collect();
    assert_eq!(sources, ["~/.wave/settings.json", SETTINGS, SETTINGS, ".wave/settings.local.json"]);
    assert!(ran.hooks().iter().all(|hook| hook["contract"] == "wave"));
}

#[test]
fn a_matcher_is_a_name_a_list_or_a_wildcard_whatever_its_case() {
    let cases = [
        ("Edit", "Edit", true),
        ("edit", "Edit", true),
        ("EDIT", "edit", true),
        ("Edit", "MultiEdit", false),
        ("Edit", "EditX", false),
        ("Edit|Write", "Write", true),
        ("Edit|Write", "write", true),
        ("Edit | Write", "Write", true),
        ("Edit|Write", "Edit|Write", false),
        ("Edit|Write", "Read", false),
        ("*", "Anything", true),
        ("", "Anything", true),
        ("mcp__*", "mcp__github__push", true),
        ("mcp__*", "Bash", false),
        ("*Edit", "NotebookEdit", true),
        ("Rea?", "Read", true),
        ("Rea?", "Rea", false),
        ("[a-e]dit", "Edit", true),
        ("[a-d]dit", "Edit", false),
        ("Bash|mcp__*|W?ite", "Write", true),
        // A pattern is no regular expression.
        ("Edit.*", "Edit", false),
        ("^Edit$", "Edit", false),
    ];
    for (matcher, tool, expected) in cases {
        for event in ["PreToolUse", "PostToolUse"] {
            let mut hooks = build_hooks(event, &["touch ran"]);
            hooks[event][0]["matcher"] = matcher.into();
            let sandbox = CliSandbox::new().hooks(SETTINGS, &hooks);
            let ran = sandbox.run_event(event, &json!({ "tool_name": tool }));
            assert_eq!(sandbox.exists("ran"), expected, "{matcher:?} on {tool} at {event}: {ran:?}");
        }
    }
}

#[test]
fn a_tool_event_needs_a_matcher_and_its_absence_is_reported_where_it_is() {
    for event in ["PreToolUse", "PostToolUse"] {
        let text = format!(
            r#"{{
  "hooks": {{
    "{event}": [
      {{"hooks": [{{"type": "command", "command": "touch without"}}]}},
      {{"matcher": "", "hooks": [{{"type": "command", "command": "touch empty"}}]}},
      {{"matcher": "*", "hooks": [{{"type": "command", "command": "touch star"}}]}}
    ]
  }}
}}"#
        );
        let sandbox = CliSandbox::new().file(SETTINGS, &text);
        let ran = sandbox.run_event(event, &json!({"tool_name": "Read"}));
        assert_eq!(
            ran.warnings(),
            [format!(
                ".wave/settings.json:4:7: error: an entry for \"{event}\" has no \"matcher\" (the entry \
                 is ignored) (hint: write \"matcher\": \"*\" for every tool)"
            )]
        );
        assert!(!sandbox.exists("without"), "{event}");
        assert!(sandbox.exists("empty") && sandbox.exists("star"), "{event}");
        let lint = sandbox.run_snell(&["lint"], "");
        assert_eq!(lint.code, 1, "{event}");
        assert!(format!("{}{}", lint.stdout, lint.stderr).contains(".wave/settings.json:4:7"), "{lint:?}");
    }
}

#[test]
fn a_matcher_where_there_is_no_tool_is_warned_of_and_ignored() {
    for event in ["UserPromptSubmit", "Stop"] {
        let mut hooks = build_hooks(event, &["touch ran"]);
        hooks[event][0]["matcher"] = "Bash".into();
        let sandbox = CliSandbox::new().hooks(SETTINGS, &hooks);
        let ran = sandbox.run_event(event, &json!({}));
        let warnings = ran.warnings();
        assert_eq!(warnings.len(), 1, "{event}: {warnings:?}");
        assert!(warnings[0].starts_with(".wave/settings.json:1:"), "{warnings:?}");
        assert!(warnings[0].ends_with(&format!("warning: \"matcher\" has no effect on {event}")), "{warnings:?}");
        assert!(sandbox.exists("ran"), "{event}");
        assert_eq!(sandbox.run_snell(&["lint"], "").code, 0, "{event}: a warning is no error");
    }
}

#[test]
fn a_bad_entry_is_reported_with_its_place_and_its_neighbours_run() {
    let cases = [
        (r#"{"matcher": "*", "hooks": []}"#, "has no hooks"),
        (r#"{"matcher": "*", "hooks": {}}"#, "\"hooks\" must be an array, not an object"),
        (r#"{"matcher": "*", "hooks": [{"command": "touch bad"}]}"#, "a hook has no \"type\""),
        (
            r#"{"matcher": "*", "hooks": [{"type": "prompt", "command": "touch bad"}]}"#,
            "\"type\" must be \"command\", not \"prompt\"",
        ),
        (
            r#"{"matcher": "*", "hooks": [{"type": "comand", "command": "touch bad"}]}"#,
            "\"type\" must be \"command\", not \"comand\"",
        ),
        (r#"{"matcher": "*", "hooks": [{"type": 1, "command": "touch bad"}]}"#, "\"type\" must be \"command\""),
        (r#"{"matcher": "*", "hooks": [{"type": "command"}]}"#, "a command hook has no \"command\""),
        (r#"{"matcher": "*", "hooks": [{"type": "command", "command": ""}]}"#, "\"command\" is empty"),
        (r#"{"matcher": "*", "hooks": [{"type": "command", "command": " "}]}"#, "\"command\" is empty"),
        (r#"{"matcher": "*", "hooks": [{"type": "command", "command": 5}]}"#, "\"command\" must be a string"),
        (r#"{"matcher": "*", "hooks": ["touch bad"]}"#, "a hook must be an object, not a string"),
        (
            r#"{"matcher": 5, "hooks": [{"type": "command", "command": "touch bad"}]}"#,
            "\"matcher\" must be a string, not a number",
        ),
        (r#"{"matcher": "*"}"#, "must be a group with \"hooks\""),
        ("7", "must be a group with \"hooks\""),
    ];
    for (entry, message) in cases {
        let good = r#"{"matcher": "*", "hooks": [{"type": "command", "command": "echo good >> good.txt"}]}"#;
        let text = format!("{{\"hooks\": {{\"PreToolUse\": [\n{good},\n{entry},\n{good}]}}}}");
        let sandbox = CliSandbox::new().file(SETTINGS, &text);
        let ran = sandbox.run_event("PreToolUse", &json!({"tool_name": "Bash"}));
        let warnings = ran.warnings();
        assert_eq!(warnings.len(), 1, "{entry}: {warnings:?}");
        assert!(warnings[0].starts_with(".wave/settings.json:3:"), "{entry}: {warnings:?}");
        assert!(warnings[0].contains(" error: ") && warnings[0].contains(message), "{entry}: {warnings:?}");
        assert_eq!(sandbox.read("good.txt"), "good\ngood\n", "{entry}");
        assert!(!sandbox.exists("bad"), "{entry}");
    }
}

#[test]
fn one_bad_command_of_a_group_leaves_the_others_of_the_group() {
    let sandbox = CliSandbox::new().hooks(
        SETTINGS,
        &json!({"Stop": [{"hooks": [
            {"type": "command", "command": "echo 1 >> good.txt"},
            {"type": "http", "command": "touch bad"},
            {"type": "command", "command": "echo 2 >> good.txt"},
        ]}]}),
    );
    assert_eq!(sandbox.run_event("Stop", &json!({})).warnings().len(), 1);
    assert_eq!(sandbox.read("good.txt"), "1\n2\n");
}

#[test]
fn an_event_that_nobody_knows_is_an_error_with_a_suggestion() {
    let cases = [
        ("PreToolUSe", "(hint: did you mean \"PreToolUse\"?)"),
        ("postToolUse", "(hint: did you mean \"PostToolUse\"?)"),
        ("UserPromptSubmitt", "(hint: did you mean \"UserPromptSubmit\"?)"),
        ("Banana", "use one of SessionStart, UserPromptSubmit"),
    ];
    for (name, message) in cases {
        let mut all = build_hooks("Stop", &["touch good"]);
        all[name] = build_hooks("PreToolUse", &["touch bad"])["PreToolUse"].clone();
        let sandbox = CliSandbox::new().hooks(SETTINGS, &all);
        let warnings = sandbox.run_event("Stop", &json!({})).warnings();
        assert_eq!(warnings.len(), 1, "{name}: {warnings:?}");
        assert!(warnings[0].starts_with(".wave/settings.json:1:"), "{name}: {warnings:?}");
        assert!(warnings[0].contains(" error: ") && warnings[0].contains(message), "{name}: {warnings:?}");
        assert!(sandbox.exists("good"), "{name}");
        sandbox.run_event(name, &json!({"tool_name": "Bash"}));
        assert!(!sandbox.exists("bad"), "{name} is not loaded");
    }
}

#[test]
fn every_event_that_snell_knows_may_stand_in_a_wave_file_under_any_of_its_names() {
    let cases = [
        ("PreToolUse", "PreToolUse"),
        ("BeforeTool", "PreToolUse"),
        ("pre-tool-use", "PreToolUse"),
        ("PostToolUse", "AfterTool"),
        ("UserPrompt", "UserPromptSubmit"),
        ("Stop", "AfterAgent"),
        ("SessionStart", "session-start"),
        ("SessionEnd", "SessionEnd"),
        ("PermissionRequest", "PermissionRequest"),
        ("PreCompress", "PreCompact"),
    ];
    for (written, fired) in cases {
        let hooks = json!([{"type": "command", "command": "touch ran"}]);
        let group = match fired {
            "PreToolUse" | "AfterTool" | "PermissionRequest" => json!({"matcher": "", "hooks": hooks}),
            _ => json!({ "hooks": hooks }),
        };
        let sandbox = CliSandbox::new().hooks(SETTINGS, &json!({ written: [group] }));
        let ran = sandbox.run_event(fired, &json!({"tool_name": "Bash"}));
        assert_eq!(ran.warnings(), [""; 0], "{written}");
        assert!(sandbox.exists("ran"), "{written} at {fired}");
    }
}

#[test]
fn comments_and_trailing_commas_are_fine() {
    let sandbox = CliSandbox::new().file(
        SETTINGS,
        "// why\n{\"hooks\": {\"Stop\": [/* here */ {\"hooks\": [\n\
         {\"type\": \"command\", \"command\": \"touch ran\",}, // last\n],},],},}\n",
    );
    assert_eq!(sandbox.run_event("Stop", &json!({})).warnings(), [""; 0]);
    assert!(sandbox.exists("ran"));
}

#[test]
fn a_file_that_cannot_be_read_as_json_is_reported_and_the_others_work() {
    let sandbox = create_project_with("Stop", &["touch project"])
        .file(".wave/settings.local.json", "{\"hooks\": {\n  \"Stop\": [}\n}")
        .home_file(SETTINGS, &json!({"hooks": build_hooks("Stop", &["touch home"])}).to_string());
    let ran = sandbox.run_event("Stop", &json!({}));
    assert_eq!(ran.code, 0);
    let warnings = ran.warnings();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].starts_with(".wave/settings.local.json:2:"), "{warnings:?}");
    assert!(warnings[0].contains(" error: "), "{warnings:?}");
    assert!(sandbox.exists("home") && sandbox.exists("project"));
}

#[test]
fn other_keys_of_the_file_belong_to_the_agent() {
    for text in ["{}", r#"{"theme": "dark", "model": 7}"#, r#"{"hooks": {}}"#] {
        let ran = CliSandbox::new().file(SETTINGS, text).run_event("Stop", &json!({}));
        assert_eq!((ran.code, ran.warnings(), ran.hooks()), (0, vec![], vec![]), "{text}");
    }
}

#[test]
fn an_entry_of_another_shape_keeps_the_rules_of_its_shape() {
    let sandbox = CliSandbox::new().script("check.sh", "touch script").hooks(
        SETTINGS,
        &json!({"PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "touch group"}]},
            {"matcher": "Bash(git:*)", "command": "touch flat"},
            "check.sh",
        ]}),
    );
    let ran = sandbox.run_event("PreToolUse", &json!({"tool_name": "Bash", "tool_input": {"command": "git x"}}));
    let contracts: Vec<_> = ran.hooks().iter().map(|hook| hook["contract"].clone()).collect();
    assert_eq!(contracts, ["wave", "microai", "claude-os"]);
    assert!(sandbox.exists("group") && sandbox.exists("flat") && sandbox.exists("script"));
}
