//! The variables that a flat hook is handed: which, where, how long, and never as code.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use super::{SETTINGS, create_project_with};
use crate::support::CliSandbox;

/// Every variable that the document names, and the three that name files.
const NAMES: [&str; 13] = [
    "TOOL_NAME",
    "INPUT",
    "OUTPUT",
    "PROMPT",
    "TIMESTAMP",
    "SESSION_ID",
    "USER_NAME",
    "PROJECT_ROOT",
    "PLATFORM",
    "AGENT_NAME",
    "INPUT_FILE",
    "OUTPUT_FILE",
    "PROMPT_FILE",
];

/// The longest `NAME=value` that the kernel takes, its end mark included.
const KERNEL_BYTES: usize = 131_072;

/// Those of the document's variables that `env` printed into a file.
fn read_hook_variables(sandbox: &CliSandbox, file: &str) -> BTreeMap<String, String> {
    let text = sandbox.read(file);
    text.lines()
        .filter_map(|line| line.split_once('='))
        .filter(|(name, _)| NAMES.contains(name))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// An event that carries everything, so that what is left out is left out on purpose.
fn build_full_event() -> Value {
    json!({
        "session_id": "abc123", "tool_name": "Bash", "tool_input": {"command": "git status"},
        "tool_response": {"stdout": "clean", "code": 0}, "prompt": "Fix the bug in auth", "user_name": "taipm",
        "platform": "claude-code", "agent_name": "go-dev",
    })
}

/// Runs an event and waits for its hook, also where nobody else does.
fn run_and_wait(sandbox: &CliSandbox, event: &str, payload: &Value) {
    let ran = sandbox.run_event(event, payload);
    let status = if event == "PostToolUse" { "started" } else { "ok" };
    assert_eq!(ran.statuses(), [status], "{event}: {ran:?}");
    if event == "PostToolUse" {
        assert_eq!(sandbox.wait_for_background_outcomes(1)[0]["status"], "ok", "{event}");
    }
}

#[test]
fn each_event_has_the_variables_of_its_table_and_no_others() {
    let tool = [("TOOL_NAME", "Bash"), ("INPUT", r#"{"command":"git status"}"#)];
    let session = [("PLATFORM", "claude-code"), ("AGENT_NAME", "go-dev")];
    let cases = [
        ("PreToolUse", tool.to_vec()),
        ("PostToolUse", [&tool[..], &[("OUTPUT", r#"{"stdout":"clean","code":0}"#)]].concat()),
        ("UserPromptSubmit", vec![("PROMPT", "Fix the bug in auth"), ("USER_NAME", "taipm")]),
        ("SessionStart", session.to_vec()),
        ("SessionEnd", session.to_vec()),
    ];
    for (event, listed) in cases {
        let mut sandbox =
            create_project_with(event, &json!([{"command": "env > env.txt"}])).env("SNELL_NOW", "2025-12-31T10:30:00Z");
        // What an outer hook was told must not be taken for what this one is told.
        for name in NAMES {
            sandbox = sandbox.env(name, "outer");
        }
        run_and_wait(&sandbox, event, &build_full_event());
        let mut expected: BTreeMap<String, String> = listed
            .into_iter()
            .chain([("TIMESTAMP", "2025-12-31T10:30:00Z"), ("SESSION_ID", "abc123")])
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        if event.starts_with("Session") {
            let project = sandbox.project().canonicalize().unwrap();
            expected.insert("PROJECT_ROOT".into(), project.to_str().unwrap().to_owned());
        }
        assert_eq!(read_hook_variables(&sandbox, "env.txt"), expected, "{event}");
    }
}

#[test]
fn what_is_not_known_is_not_set_and_not_inherited() {
    let cases = [
        ("PreToolUse", "SESSION_ID"),
        ("SessionStart", "AGENT_NAME"),
        ("SessionStart", "PLATFORM"),
        ("SessionEnd", "SESSION_ID"),
        ("UserPromptSubmit", "USER_NAME"),
    ];
    for (event, name) in cases {
        let sandbox = create_project_with(event, &json!([{"command": "env > env.txt"}])).env(name, "outer");
        sandbox.run_event(event, &json!({"tool_name": "Bash"}));
        assert_eq!(read_hook_variables(&sandbox, "env.txt").get(name), None, "{event}");
    }
}

#[test]
fn the_user_is_the_one_of_the_event_else_of_the_environment() {
    for (payload, expected) in [(json!({"user_name": "ada"}), "ada"), (json!({}), "grace")] {
        let sandbox =
            create_project_with("UserPromptSubmit", &json!([{"command": "env > env.txt"}])).env("USER", "grace");
        sandbox.run_event("UserPromptSubmit", &payload);
        assert_eq!(read_hook_variables(&sandbox, "env.txt")["USER_NAME"], expected, "{payload}");
    }
}

#[test]
fn the_rest_of_the_environment_is_inherited() {
    let sandbox =
        create_project_with("SessionStart", &json!([{"command": "echo \"$GREETING\""}])).env("GREETING", "hello");
    assert_eq!(sandbox.run_event("SessionStart", &json!({})).context(), ["hello"]);
}

#[test]
fn the_timestamp_is_iso_in_utc_and_to_the_second() {
    let cases =
        [("2025-12-31T10:30:00Z", "2025-12-31T10:30:00Z"), ("2025-12-31T12:30:00.75+02:00", "2025-12-31T10:30:00Z")];
    for (now, expected) in cases {
        let sandbox =
            create_project_with("SessionStart", &json!([{"command": "echo $TIMESTAMP"}])).env("SNELL_NOW", now);
        assert_eq!(sandbox.run_event("SessionStart", &json!({})).context(), [expected], "{now}");
    }
    // Without a clock of the test's own only the form can be told.
    let sandbox = create_project_with("SessionStart", &json!([{"command": "echo $TIMESTAMP"}]));
    let told = sandbox.run_event("SessionStart", &json!({})).context().remove(0);
    let form: String = told.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert_eq!(form, "0000-00-00T00:00:00Z", "{told}");
}

#[test]
fn input_and_output_are_compact_json_in_the_order_of_the_host() {
    let values = [
        json!({"b": 1, "a": [true, null, 2.5], "text": "ä \" \\ \n €"}),
        json!({}),
        json!("plain text"),
        json!([1, {"x": {}}]),
    ];
    for value in values {
        let command = "printf %s \"$INPUT\" > input.txt; printf %s \"$OUTPUT\" > output.txt";
        let sandbox = create_project_with("PostToolUse", &json!([{"matcher": "*", "command": command}]));
        run_and_wait(&sandbox, "PostToolUse", &json!({"tool_name": "T", "tool_input": value, "tool_response": value}));
        assert_eq!(sandbox.read("input.txt"), value.to_string());
        assert_eq!(sandbox.read("output.txt"), value.to_string());
    }
}

#[test]
fn nothing_is_on_standard_input() {
    for event in ["PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "SessionEnd"] {
        let sandbox = create_project_with(event, &json!([{"command": "cat > in.txt"}]));
        run_and_wait(&sandbox, event, &build_full_event());
        assert_eq!(sandbox.read("in.txt"), "", "{event}");
    }
}

#[test]
fn hooks_run_in_the_project_wherever_the_event_happened() {
    for event in ["PreToolUse", "PostToolUse", "SessionStart"] {
        let sandbox = create_project_with(event, &json!([{"command": "pwd -P > cwd.txt"}]));
        let mut payload = build_full_event();
        payload["cwd"] = "/".into();
        run_and_wait(&sandbox, event, &payload);
        let project = sandbox.project().canonicalize().unwrap();
        assert_eq!(sandbox.read("cwd.txt").trim_end(), project.to_str().unwrap(), "{event}");
    }
}

const HOSTILE: [&str; 7] = [
    "$(touch canary)",
    "`touch canary`",
    "'; touch canary; '",
    "\"; touch canary; \"",
    "a\ntouch canary\nb",
    "| touch canary & touch canary",
    "${HOME} $INPUT \\ * ~ \u{1f600}",
];

#[test]
fn no_value_of_an_event_becomes_shell_code() {
    for text in HOSTILE {
        let payload = json!({
            "session_id": text, "tool_name": text, "tool_input": {"command": text}, "tool_response": text,
            "prompt": text, "user_name": text, "platform": text, "agent_name": text,
        });
        let json_text = json!({ "command": text }).to_string();
        let quoted = json!(text).to_string();
        let cases = [
            ("PreToolUse", vec![("TOOL_NAME", text), ("INPUT", &json_text), ("SESSION_ID", text)]),
            ("PostToolUse", vec![("OUTPUT", quoted.as_str()), ("INPUT", &json_text)]),
            ("UserPromptSubmit", vec![("PROMPT", text), ("USER_NAME", text)]),
            ("SessionStart", vec![("PLATFORM", text), ("AGENT_NAME", text)]),
        ];
        for (event, expected) in cases {
            // Unquoted use too must split words and no more.
            let mut command = "true $INPUT $OUTPUT $PROMPT $TOOL_NAME $SESSION_ID $USER_NAME $PLATFORM".to_owned();
            for (name, _) in &expected {
                command.push_str(&format!("; printf %s \"${name}\" > {name}.txt"));
            }
            let entry = json!({"command": command, "condition": "test -n \"$SESSION_ID\""});
            let sandbox = create_project_with(event, &json!([entry]));
            run_and_wait(&sandbox, event, &payload);
            for (name, value) in expected {
                assert_eq!(sandbox.read(&format!("{name}.txt")), value, "{event}");
            }
            assert!(!sandbox.exists("canary"), "{event}: {text}");
        }
    }
}

#[test]
fn no_name_of_a_project_directory_becomes_shell_code() {
    for name in HOSTILE {
        let command = "printf %s \"$PROJECT_ROOT\" > \"$PROJECT_ROOT\"/root.txt";
        let text = json!({"hooks": {"SessionStart": [{"command": command}]}}).to_string();
        let sandbox = CliSandbox::new().file(&format!("{name}/{SETTINGS}"), &text);
        let project = sandbox.project().join(name);
        let ran = sandbox.run_snell(&["run", "SessionStart", "--project", project.to_str().unwrap()], "{}");
        assert_eq!(ran.statuses(), ["ok"], "{name}: {ran:?}");
        assert_eq!(fs::read_to_string(project.join("root.txt")).unwrap(), project.to_str().unwrap());
        assert!(!sandbox.exists("canary") && !project.join("canary").exists(), "{name}");
    }
}

#[test]
fn nul_characters_are_left_out() {
    let cases = [
        ("UserPromptSubmit", "PROMPT", json!({"prompt": "a\u{0}b\u{0}"}), "ab"),
        ("PreToolUse", "TOOL_NAME", json!({"tool_name": "Ba\u{0}sh"}), "Bash"),
        ("SessionStart", "SESSION_ID", json!({"session_id": "\u{0}s"}), "s"),
        // In JSON the character is an escape, which is no NUL.
        ("PreToolUse", "INPUT", json!({"tool_name": "T", "tool_input": "a\u{0}b"}), "\"a\\u0000b\""),
    ];
    for (event, name, payload, expected) in cases {
        let command = format!("printf %s \"${name}\" > value.txt");
        let sandbox = create_project_with(event, &json!([{ "command": command }]));
        run_and_wait(&sandbox, event, &payload);
        assert_eq!(sandbox.read("value.txt"), expected, "{event} {payload}");
    }
}

#[test]
fn a_value_that_the_kernel_would_refuse_is_cut_marked_and_put_whole_into_a_file() {
    // Each with how many bytes of its value are not the filler.
    let cases = [("PreToolUse", "INPUT", 2), ("PostToolUse", "OUTPUT", 2), ("UserPromptSubmit", "PROMPT", 0)];
    for (event, name, around) in cases {
        let room = KERNEL_BYTES - name.len() - "=\0".len();
        for (length, fits) in [(room, true), (room + 1, false), (1_000_000, false)] {
            let filler = "x".repeat(length - around);
            let whole = if around == 0 { filler.clone() } else { json!(filler).to_string() };
            assert_eq!(whole.len(), length);
            let command = format!(
                "printf %s \"${name}\" > value.txt; printf %s \"${{{name}_FILE-unset}}\" > name.txt; \
                 if [ \"${{{name}_FILE-}}\" ]; then cp \"${name}_FILE\" whole.txt; fi"
            );
            let entry = json!({"command": command, "condition": format!("test -n \"${name}\"")});
            let sandbox = create_project_with(event, &json!([entry])).file("temporary/.keep", "");
            let temporary = sandbox.project().join("temporary");
            let sandbox = sandbox.env("TMPDIR", temporary.to_str().unwrap()).env(&format!("{name}_FILE"), "/outer");
            let payload = json!({"tool_name": "T", "tool_input": filler, "tool_response": filler, "prompt": filler});
            // The other value of the same event may be too long as well; it is not what is looked at.
            run_and_wait(&sandbox, event, &payload);
            let value = sandbox.read("value.txt");
            let file = sandbox.read("name.txt");
            if fits {
                assert!(value == whole, "{name} of {length} bytes must arrive whole");
                assert_eq!(file, "unset", "{name} of {length} bytes");
            } else {
                assert!(name.len() + 1 + value.len() < KERNEL_BYTES, "{name} of {length} bytes");
                let begins = value.trim_end_matches(|c| c != 'x').len();
                let mark = &value[begins..];
                assert!(whole.starts_with(&value[..begins]), "{name} of {length} bytes");
                assert!(mark.contains("cut") && mark.contains(&length.to_string()), "{name}: {mark}");
                assert!(sandbox.read("whole.txt") == whole, "{name}_FILE must hold all {length} bytes");
                assert!(file.starts_with('/') && !fs::exists(&file).unwrap(), "{file} must be gone");
            }
            let left: Vec<_> = fs::read_dir(&temporary).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            assert_eq!(left, [".keep"], "{name} of {length} bytes");
        }
    }
}

#[test]
fn a_value_that_had_to_be_cut_is_told_of() {
    let long = "x".repeat(200_000);
    let cases = [
        ("PreToolUse", "tool_input", "INPUT is too long", Some("INPUT_FILE")),
        ("PostToolUse", "tool_response", "OUTPUT is too long", Some("OUTPUT_FILE")),
        ("UserPromptSubmit", "prompt", "PROMPT is too long", Some("PROMPT_FILE")),
        ("SessionStart", "session_id", "SESSION_ID is too long", None),
    ];
    for (event, field, told, file) in cases {
        let value = if field == "tool_input" { json!({"command": long}) } else { json!(long) };
        let payload = json!({"tool_name": "T", field: value});
        let ran = create_project_with(event, &json!([{"command": "true"}])).run_event(event, &payload);
        let warnings = ran.warnings();
        assert!(
            warnings.len() == 1 && warnings[0].contains(told) && file.is_none_or(|file| warnings[0].contains(file)),
            "{event}: {warnings:?}"
        );
    }
}

#[test]
fn a_cut_never_breaks_a_character() {
    for prompt in ["ä".repeat(100_000), format!("x{}", "€".repeat(50_000)), "\u{1f600}".repeat(40_000)] {
        let sandbox =
            create_project_with("UserPromptSubmit", &json!([{"command": "printf %s \"$PROMPT\" > value.txt"}]));
        run_and_wait(&sandbox, "UserPromptSubmit", &json!({ "prompt": prompt }));
        // Reading it as text is the assertion; that most of it is there keeps it honest.
        assert!(sandbox.read("value.txt").len() > 130_000);
    }
}

#[test]
fn values_that_have_no_file_are_cut_rather_than_cost_the_run() {
    let cases = [
        ("PreToolUse", "TOOL_NAME", "tool_name"),
        ("PreToolUse", "SESSION_ID", "session_id"),
        ("UserPromptSubmit", "USER_NAME", "user_name"),
        ("SessionStart", "AGENT_NAME", "agent_name"),
        ("SessionStart", "PLATFORM", "platform"),
    ];
    for (event, name, field) in cases {
        let long = "x".repeat(200_000);
        let command = format!("printf %s \"${name}\" > value.txt");
        let sandbox = create_project_with(event, &json!([{ "command": command }]));
        run_and_wait(&sandbox, event, &json!({ field: long }));
        let value = sandbox.read("value.txt");
        assert!(value.starts_with(&long[..100_000]), "{name}");
        assert!(name.len() + 1 + value.len() < KERNEL_BYTES, "{name}");
    }
}
