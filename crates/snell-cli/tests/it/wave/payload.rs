//! What a Wave hook receives: its standard input, its variables, its directory.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{SETTINGS, build_hooks, create_project_with};
use crate::support::CliSandbox;

/// The four "Event-Specific Schemas" of the document, letter by letter.
const EXAMPLES: [(&str, &str); 4] = [
    (
        "PreToolUse",
        r#"{
  "session_id": "wave_session_abc123_xyz789",
  "transcript_path": "/home/user/.wave/sessions/session_xyz789.json",
  "cwd": "/home/user/project",
  "hook_event_name": "PreToolUse",
  "tool_name": "Write",
  "tool_input": {
    "file_path": "/home/user/project/src/index.ts",
    "content": "console.log('Hello World');"
  }
}
"#,
    ),
    (
        "PostToolUse",
        r#"{
  "session_id": "wave_session_abc123_xyz789",
  "transcript_path": "/home/user/.wave/sessions/session_xyz789.json",
  "cwd": "/home/user/project",
  "hook_event_name": "PostToolUse",
  "tool_name": "Write",
  "tool_input": {
    "file_path": "/home/user/project/src/index.ts",
    "content": "console.log('Hello World');"
  },
  "tool_response": {
    "success": true,
    "message": "File written successfully"
  }
}
"#,
    ),
    (
        "UserPromptSubmit",
        r#"{
  "session_id": "wave_session_abc123_xyz789",
  "transcript_path": "/home/user/.wave/sessions/session_xyz789.json",
  "cwd": "/home/user/project",
  "hook_event_name": "UserPromptSubmit",
  "prompt": "Please create a new TypeScript file with hello world"
}
"#,
    ),
    (
        "Stop",
        r#"{
  "session_id": "wave_session_abc123_xyz789",
  "transcript_path": "/home/user/.wave/sessions/session_xyz789.json",
  "cwd": "/home/user/project",
  "hook_event_name": "Stop"
}
"#,
    ),
];

/// The project as a hook is told it.
fn canonicalize_path(path: &Path) -> String {
    path.canonicalize().unwrap().display().to_string()
}

#[test]
fn each_event_reaches_the_hook_as_the_document_prints_it() {
    for (event, example) in EXAMPLES {
        let sandbox = create_project_with(event, &["cat > in.json"]);
        let ran = sandbox.run_snell(&["run", event], example);
        assert_eq!(ran.code, 0, "{event}: {ran:?}");
        // Wave itself sends the prompt under a second name.
        let expected = example.replace(
            "hello world\"\n",
            "hello world\",\n  \"user_prompt\": \"Please create a new TypeScript file with hello world\"\n",
        );
        assert_eq!(sandbox.read("in.json"), expected, "{event}");
    }
}

#[test]
fn the_object_has_no_keys_but_the_documents() {
    let payload = json!({
        "session_id": "s", "transcript_path": "/t.json", "cwd": "/", "tool_name": "Bash", "tool_input": {"a": [1, {}]},
        "model": "m", "permission_mode": "plan", "user_name": "u", "agent_name": "a", "platform": "p", "extra": 1,
    });
    let sandbox = create_project_with("PreToolUse", &["cat > in.json"]);
    sandbox.run_event("PreToolUse", &payload);
    let received = sandbox.read_json("in.json");
    let keys: Vec<_> = received.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["session_id", "transcript_path", "cwd", "hook_event_name", "tool_name", "tool_input"]);
    assert_eq!(received["tool_input"], payload["tool_input"]);
}

#[test]
fn missing_data_never_stops_the_payload() {
    let sandbox = CliSandbox::new();
    let project = canonicalize_path(&sandbox.project());
    let home = sandbox.home().display().to_string();
    let minimal = |id: &str, transcript: &str, event: &str| {
        let mut object = json!({ "session_id": id, "transcript_path": transcript });
        object["cwd"] = project.as_str().into();
        object["hook_event_name"] = event.into();
        object
    };
    let xyz = format!("{home}/.wave/sessions/session_xyz789.json");
    let cases = [
        ("Stop", "", minimal("unknown", "", "Stop")),
        ("Stop", "{}", minimal("unknown", "", "Stop")),
        ("Stop", r#"{"session_id": ""}"#, minimal("unknown", "", "Stop")),
        ("PreToolUse", "{}", minimal("unknown", "", "PreToolUse")),
        ("UserPromptSubmit", "{}", minimal("unknown", "", "UserPromptSubmit")),
        (
            "Stop",
            r#"{"session_id": "wave_session_abc123_xyz789"}"#,
            minimal("wave_session_abc123_xyz789", &xyz, "Stop"),
        ),
        ("Stop", r#"{"session_id": "xyz789"}"#, minimal("xyz789", &xyz, "Stop")),
    ];
    let mut sandbox = sandbox;
    for (event, payload, expected) in cases {
        sandbox = sandbox.hooks(SETTINGS, &build_hooks(event, &["cat > in.json"]));
        let ran = sandbox.run_snell(&["run", event], payload);
        assert_eq!(ran.statuses(), ["ok"], "{event} {payload}: {ran:?}");
        assert_eq!(sandbox.read_json("in.json"), expected, "{event} {payload}");
    }
}

#[test]
fn the_event_keeps_its_canonical_name_whatever_the_host_calls_it() {
    let cases = [
        ("PreToolUse", "BeforeTool"),
        ("PreToolUse", "pre-tool-use"),
        ("PostToolUse", "AfterTool"),
        ("UserPromptSubmit", "BeforeAgent"),
        ("Stop", "stop"),
    ];
    for (event, fired) in cases {
        let sandbox = create_project_with(event, &["cat > in.json; echo $HOOK_EVENT > event.txt"]);
        sandbox.run_event(fired, &json!({"hook_event_name": fired, "tool_name": "Bash"}));
        assert_eq!(sandbox.read_json("in.json")["hook_event_name"], event, "{fired}");
        assert_eq!(sandbox.read("event.txt").trim(), event, "{fired}");
    }
}

#[test]
fn the_variables_tell_project_event_and_tool_and_nothing_of_an_outer_hook() {
    let cases = [
        ("PreToolUse", json!({"tool_name": "Write"}), Some("Write")),
        ("PostToolUse", json!({"tool_name": "mcp__a__b"}), Some("mcp__a__b")),
        ("UserPromptSubmit", json!({"prompt": "p"}), None),
        ("Stop", json!({}), None),
    ];
    for (event, payload, tool) in cases {
        let command = r#"printf '%s\n' "$WAVE_PROJECT_DIR" "$HOOK_EVENT" "${HOOK_TOOL_NAME-unset}" > variables.txt"#;
        let sandbox = create_project_with(event, &[command])
            .env("WAVE_PROJECT_DIR", "/outer")
            .env("HOOK_EVENT", "Outer")
            .env("HOOK_TOOL_NAME", "Outer");
        sandbox.run_event(event, &payload);
        let project = canonicalize_path(&sandbox.project());
        let expected = format!("{project}\n{event}\n{}\n", tool.unwrap_or("unset"));
        assert_eq!(sandbox.read("variables.txt"), expected, "{event}");
    }
}

#[test]
fn the_project_directory_is_absolute_however_it_was_named() {
    let sandbox = CliSandbox::new().file(
        &format!("inner/{SETTINGS}"),
        &json!({"hooks": build_hooks("Stop", &["echo \"$WAVE_PROJECT_DIR\" > dir.txt"])}).to_string(),
    );
    for named in ["inner", "./inner", "../project/inner"] {
        let ran = sandbox.run_snell(&["run", "Stop", "--project", named], "{}");
        assert_eq!(ran.statuses(), ["ok"], "{named}: {ran:?}");
        let told = sandbox.read("inner/dir.txt");
        assert!(told.starts_with('/'), "{named}: {told}");
        let expected = canonicalize_path(&sandbox.project().join("inner"));
        assert_eq!(canonicalize_path(Path::new(told.trim_end())), expected, "{named}: {told}");
    }
}

#[test]
fn the_hook_runs_in_the_project_wherever_the_event_happened() {
    for cwd in ["/", "/nowhere/at/all"] {
        let sandbox = create_project_with("PreToolUse", &["pwd -P > cwd.txt; cat > in.json"]);
        sandbox.run_event("PreToolUse", &json!({"tool_name": "Bash", "cwd": cwd}));
        assert_eq!(sandbox.read("cwd.txt").trim_end(), canonicalize_path(&sandbox.project()), "{cwd}");
        assert_eq!(sandbox.read_json("in.json")["cwd"], cwd);
    }
}

#[test]
fn no_value_of_an_event_becomes_shell_code() {
    let hostile = [
        "$(touch canary)",
        "`touch canary`",
        "'; touch canary; '",
        "\"; touch canary; \"",
        "a\ntouch canary\n",
        "$((1+1)) ${HOME} \\ * ~ \u{1f600}",
    ];
    for text in hostile {
        let command = "cat > in.json; printf %s \"$HOOK_TOOL_NAME\" > tool.txt";
        let sandbox = create_project_with("PreToolUse", &[command]);
        let payload = json!({"session_id": text, "tool_name": text, "tool_input": {text: text}});
        let ran = sandbox.run_event("PreToolUse", &payload);
        assert_eq!(ran.statuses(), ["ok"], "{text}");
        assert_eq!(sandbox.read("tool.txt"), text);
        let received = sandbox.read_json("in.json");
        assert_eq!(received["tool_input"][text], text);
        assert_eq!(received["session_id"], text);
        assert!(!sandbox.exists("canary"), "{text}");

        let sandbox = create_project_with("UserPromptSubmit", &["cat > in.json"]);
        sandbox.run_event("UserPromptSubmit", &json!({ "prompt": text }));
        assert_eq!(sandbox.read_json("in.json")["prompt"], text);
        assert!(!sandbox.exists("canary"), "{text}");
    }
}

#[test]
fn a_tool_name_that_the_kernel_would_refuse_does_not_cost_the_run() {
    let name = "x".repeat(200_000);
    let sandbox = create_project_with("PreToolUse", &["cat > in.json; printf %s \"$HOOK_TOOL_NAME\" > tool.txt"]);
    let ran = sandbox.run_event("PreToolUse", &json!({ "tool_name": name }));
    assert_eq!(ran.statuses(), ["ok"]);
    assert!(sandbox.read("tool.txt").starts_with(&name[..100_000]));
    assert!(sandbox.read_json("in.json")["tool_name"] == name.as_str(), "standard input has no such limit");
}

#[test]
fn no_name_of_a_project_directory_becomes_shell_code() {
    let hostile = [
        "it's",
        "say \"hello\"",
        "$(touch canary)",
        "`touch canary`",
        "a; touch canary",
        "two\nlines & touch canary",
        "-n *",
    ];
    for name in hostile {
        let command = "printf %s \"$WAVE_PROJECT_DIR\" > \"$WAVE_PROJECT_DIR\"/dir.txt; cat > in.json";
        let text = json!({"hooks": build_hooks("Stop", &[command])}).to_string();
        let sandbox = CliSandbox::new().file(&format!("{name}/{SETTINGS}"), &text);
        let project = sandbox.project().join(name);
        let ran = sandbox.run_snell(&["run", "Stop", "--project", project.to_str().unwrap()], "{}");
        assert_eq!(ran.statuses(), ["ok"], "{name}: {ran:?}");
        assert_eq!(fs::read_to_string(project.join("dir.txt")).unwrap(), project.to_str().unwrap());
        let received: Value = serde_json::from_str(&fs::read_to_string(project.join("in.json")).unwrap()).unwrap();
        assert_eq!(received["cwd"], project.to_str().unwrap());
        assert!(!sandbox.exists("canary") && !project.join("canary").exists(), "{name}");
    }
}

#[test]
fn a_hook_that_closes_its_standard_input_or_never_reads_it_is_no_failure() {
    // More than any pipe holds, so that writing it can neither be finished nor go unnoticed.
    let large = "x".repeat(2_000_000);
    let payload = json!({"tool_name": "Write", "tool_input": {"content": large}});
    for command in ["exec 0<&-; echo done", "echo done", "head -c 10 > /dev/null; echo done"] {
        let ran = create_project_with("PreToolUse", &[command]).run_event("PreToolUse", &payload);
        assert_eq!((ran.code, ran.statuses()), (0, vec!["ok".to_owned()]), "{command}");
        assert_eq!(ran.hooks()[0]["stdout"], "done\n", "{command}");
        assert_eq!(ran.messages(), [""; 0], "{command}");
    }
    let sandbox = create_project_with("PreToolUse", &["cat > in.json"]);
    sandbox.run_event("PreToolUse", &payload);
    assert_eq!(sandbox.read_json("in.json")["tool_input"], payload["tool_input"]);
}
