//! Nothing secret is written anywhere.

use std::fs;

use serde_json::{Value, json};
use snell_secrets::examples::{generate_secret, secret_examples};
use snell_test_support::files::list_entries_recursively;

use super::{HookSandbox, RecordingMode};

/// Secrets of several kinds, in pieces, so that they stand nowhere as they are.
fn list_secrets() -> Vec<String> {
    vec![
        format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a"),
        format!("sk-ant-api03-{}AA", "Qz7xTb3kLm9PvRw2Ys5Nd8Hf1Gc4Jj6Kt0Xe-BuVaWiZoSyMqDrElFpCgHhIkOn7tT_u2w4y6A8b"),
        format!("AKIA{}", "IOSFODNN7RXAMPLQ"),
        format!("xoxb-{}", "263594206564-2343594206574-FGqddMF8t08v8N7Oq4i57vs1"),
        format!("nvapi-{}", "Qz7xTb3kLm9PvRw2Ys5Nd8Hf1Gc4Jj6Kt0Xe-BuVaWiZoSyMqDrElFpCgHhIkOn7"),
        format!("tvly-{}", "dev-Qz7xTb3kLm9PvRw2Ys5Nd8Hf1Gc4Jj6K"),
        format!("sq0atp-{}", "Qz7xTb3kLm9PvRw2Ys5Nd8"),
        format!("EAAA{}", "EQz7xTb3kLm9PvRw2Ys5Nd8Hf1Gc4Jj6Kt0XeBuVaWiZoSyMqDrElFpCgHhIk"),
        format!("{}.GaBcD1.{}", "MTIzNDU2Nzg5MDEyMzQ1Njc4", "Qz7xTb3kLm9PvRw2Ys5Nd8Hf1Gc4Jj6Kt0XeBu"),
        format!("fo1_{}", "Qz7xTb3kLm9PvRw2Ys5Nd8Hf1Gc4Jj6Kt0XeBuVaWiZ"),
        format!("{}AZDO{}", "Qz7xTb3kLm9PvRw2Ys5N".repeat(4).get(..76).unwrap(), "Qz7x"),
        format!("LS0tLS1CRUdJ{}", "TiBQUklWQVRFIEtFWS0tLS0tCk1JSUV2UUlCQURBTkJna3Foa2lHOXcwQkFRRUY"),
        format!("{{SHA}}{}", "W6ph5Mm5Pz8GgiULbPgzG37mj9g="),
    ]
}

fn assert_no_secret_stored(watched: &HookSandbox, what: &str) {
    for file in list_entries_recursively(&watched.sandbox.data()) {
        // A socket cannot be read, and keeps nothing.
        let Ok(content) = fs::read(&file) else {
            continue;
        };
        for secret in list_secrets() {
            let found = content.windows(secret.len()).any(|part| part == secret.as_bytes());
            assert!(!found, "{what}: {secret} in {}", file.display());
        }
    }
}

#[test]
fn no_secret_is_written_in_any_way() {
    let secrets = list_secrets();
    let all = secrets.join(" ");
    let text = format!(
        "[[hook]]\nevent = \"PreToolUse\"\nrun = '''echo '{{\"decision\": \"block\", \"reason\": \"No: {all}\"}}'; echo '{all}' >&2'''\n\
         [[hook]]\nevent = \"PostToolUse\"\nrun = '''echo out {all}; echo err {all} >&2; exit 1'''\n",
    );
    for mode in [RecordingMode::Alone, RecordingMode::WithDaemon] {
        let watched = HookSandbox::with_user_config(mode, &text);
        let transcript = watched.sandbox.project().join("t.jsonl");
        let line = |kind: &str, error: bool| {
            json!({
                "type": kind, "sessionId": "s1", "timestamp": "2026-01-05T10:00:00Z", "isApiErrorMessage": error,
                "message": {"role": kind, "content": format!("said {error}: {all}")},
            })
        };
        let lines = [line("user", false), line("assistant", false), line("assistant", true)];
        fs::write(&transcript, lines.map(|line| format!("{line}\n")).concat()).unwrap();
        let steps = [
            ("UserPromptSubmit", json!({"prompt": format!("Use {all}")})),
            (
                "PreToolUse",
                json!({"tool_name": "Bash", "tool_input": {"command": format!("curl -H 'X: {all}'"), &secrets[0]: 1}}),
            ),
            ("PostToolUse", json!({"tool_name": "Bash", "tool_response": {"stdout": all, "nested": [{"deep": all}]}})),
            ("Notification", json!({"message": all, "notification_type": "permission_prompt"})),
            ("PermissionRequest", json!({"tool_name": all})),
            ("SessionEnd", json!({"reason": all})),
            ("SessionStart", json!({"source": all, "model": all})),
            ("SomethingNew", json!({"field": all})),
            ("Stop", json!({"last_assistant_message": format!("It is {all}. Shall I go on?")})),
        ];
        for (event, fields) in &steps {
            let mut payload = watched.build_payload("s1", event, fields.clone());
            payload["transcript_path"] = transcript.to_str().unwrap().into();
            assert_eq!(watched.run_hook(&payload).code, 0);
        }
        assert_no_secret_stored(&watched, "recorded");
        assert_eq!(usize::try_from(watched.count_rows("events")).unwrap(), steps.len());
        assert!(watched.query_value("SELECT group_concat(text) FROM turns").as_str().unwrap().contains("[masked: "));
        assert!(
            watched
                .query_value("SELECT group_concat(stdout || stderr) FROM hook_runs")
                .as_str()
                .unwrap()
                .contains("[masked: ")
        );

        // What waits on disk is masked as well.
        let holder = rusqlite::Connection::open(watched.database_path()).unwrap();
        holder.execute_batch("BEGIN IMMEDIATE").unwrap();
        for (event, fields) in &steps[..3] {
            assert_eq!(watched.run_hook(&watched.build_payload("s1", event, fields.clone())).code, 0);
        }
        assert!(watched.count_pending() >= 3);
        assert_no_secret_stored(&watched, "waiting");
        holder.execute_batch("ROLLBACK").unwrap();
    }
}

#[test]
fn the_guard_does_not_repeat_a_secret_to_the_user() {
    let watched = HookSandbox::with_user_config(RecordingMode::Alone, "");
    let secret = generate_secret("nv|api-|~64");
    let rows = [
        (format!("rm -rf ~ {secret}"), "snell log --verdict block"),
        ("rm -rf ~".to_owned(), "snell guard explain 'rm -rf ~'"),
    ];
    for (command, expected) in rows {
        let fields = json!({"tool_name": "Bash", "tool_input": {"command": command}});
        let reply = watched.run_hook(&watched.build_payload("s1", "PreToolUse", fields));
        let answer: Value = serde_json::from_str(&reply.stdout).unwrap();
        let message = answer["systemMessage"].as_str().unwrap();
        assert!(message.contains(expected) && !message.contains(&secret), "{message}");
    }
}

#[test]
fn a_token_in_the_name_of_a_tool_is_not_written() {
    let watched = HookSandbox::with_user_config(RecordingMode::Alone, "");
    let secret = generate_secret("nv|api-|~64");
    let fields = json!({"tool_name": format!("mcp__a__{secret}"), "tool_input": {}});
    assert_eq!(watched.run_hook(&watched.build_payload("s1", "PreToolUse", fields)).code, 0);
    for file in list_entries_recursively(&watched.sandbox.data()) {
        let content = fs::read(&file).unwrap_or_default();
        let found = content.windows(secret.len()).any(|part| part == secret.as_bytes());
        assert!(!found, "{}", file.display());
    }
}

#[test]
fn no_secret_of_any_form_is_written() {
    let examples = secret_examples();
    let texts: Vec<_> = examples.iter().map(|example| example.text.as_str()).collect();
    let cookie = "Qz7xTb3kLm9PvRw2";
    let jwk = "Rw2Ys5Nd8Hf1Gc4Jj6Kt0XeBuVaWiZoSyMqDrElFpCgH";
    let all = texts.join("\n\n");
    let watched = HookSandbox::new(RecordingMode::Alone);
    let steps = [
        ("UserPromptSubmit", json!({ "prompt": all })),
        (
            "PreToolUse",
            json!({"tool_name": "Bash", "tool_input": {"command": format!("curl -b 'connect.sid={cookie}' https://x"), "args": texts}}),
        ),
        (
            "PostToolUse",
            json!({"tool_name": "Read", "tool_response": {"stdout": all, "list": texts, "key": {"kty": "EC", "d": jwk}}}),
        ),
        (
            "PostToolUse",
            json!({"tool_name": "Read", "tool_response": json!({"text": all, "key": {"kty": "EC", "d": jwk}}).to_string()}),
        ),
        ("Stop", json!({ "last_assistant_message": all })),
    ];
    for (event, fields) in steps {
        assert_eq!(watched.run_hook(&watched.build_payload("s1", event, fields)).code, 0);
    }
    let secrets = examples.iter().flat_map(|example| example.secret.lines());
    let secrets: Vec<_> = secrets.chain([cookie, jwk]).collect();
    for file in list_entries_recursively(&watched.sandbox.data()) {
        let content = fs::read(&file).unwrap_or_default();
        let content = String::from_utf8_lossy(&content);
        for secret in &secrets {
            assert!(!content.contains(secret), "{secret} in {}", file.display());
        }
    }
    assert_eq!(watched.count_rows("events"), 5);
}

#[test]
fn what_a_hook_says_in_the_background_is_masked_as_well() {
    let all = list_secrets().join(" ");
    let text =
        format!("[[hook]]\nevent = \"Stop\"\nbackground = true\nrun = '''echo out {all}; echo err {all} >&2'''\n");
    let watched = HookSandbox::with_user_config(RecordingMode::Alone, &text);
    watched.send_silent_event("s1", "Stop", json!({}));
    assert_eq!(watched.sandbox.wait_for_background_outcomes(1).len(), 1);
    assert_no_secret_stored(&watched, "recorded");
}

#[test]
fn a_token_in_the_agents_environment_is_not_written() {
    let token = "5d41402abc4b2a76b9719d911017c592";
    let variable = ("CLAUDE_CODE_MESSAGING_TOKEN", token);
    let text = "[[hook]]\nevent = \"PostToolUse\"\nrun = 'env; export -p >&2; exit 1'\n";
    for mode in [RecordingMode::Alone, RecordingMode::WithDaemon] {
        let watched = HookSandbox::with_user_config(mode, text);
        let printed = format!("PATH=/bin\nCLAUDE_CODE_MESSAGING_TOKEN={token}\nHOME=/root\n");
        let fields = json!({
            "tool_name": "Bash", "tool_input": {"command": "env", "env": {"CLAUDE_CODE_MESSAGING_TOKEN": token}},
            "tool_response": {"stdout": printed},
        });
        watched.run_hook_with_env(&[variable], &watched.build_payload("s1", "PostToolUse", fields));
        for file in list_entries_recursively(&watched.sandbox.data()) {
            let content = fs::read(&file).unwrap_or_default();
            let found = content.windows(token.len()).any(|part| part == token.as_bytes());
            assert!(!found, "{}", file.display());
        }
        assert_eq!(watched.count_rows("hook_runs"), 1);
    }
}
