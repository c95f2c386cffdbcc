//! Cline.

use serde_json::json;

use super::{assert_answers, assert_payloads, create_project, fire_event};
use crate::support::CliSandbox;

#[test]
fn only_json_answers_at_any_exit_code() {
    let deny = json!({"decision": "block", "reason": "no"});
    let open = json!({"decision": "allow", "status": "failed"});
    assert_answers(
        "cline",
        &[
            ("PreToolUse", "PreToolUse", r#"echo '{"cancel": true, "errorMessage": "no"}'"#, deny.clone()),
            ("PreToolUse", "PreToolUse", r#"echo '{"cancel": true, "errorMessage": "no"}'; exit 1"#, deny.clone()),
            ("PreToolUse", "PreToolUse", "echo no >&2; exit 2", open.clone()),
            ("PreToolUse", "PreToolUse", "kill -9 $$", open),
            ("PreToolUse", "PreToolUse", r#"echo '{"cancel": false}'"#, json!({"decision": "allow", "status": "ok"})),
            ("PreToolUse", "PreToolUse", r#"echo '{"review": true}'"#, json!({"decision": "ask"})),
            (
                "PreToolUse",
                "PreToolUse",
                r#"echo '{"overrideInput": {"commands": ["a", "b"]}}'"#,
                json!({"tool_input": {"command": "sh -c 'a'\nsh -c 'b'"}}),
            ),
            ("PostToolUse", "PostToolUse", r#"echo '{"contextModification": "c"}'"#, json!({"context": ["c"]})),
            ("UserPromptSubmit", "UserPromptSubmit", r#"echo '{"cancel": true, "errorMessage": "no"}'"#, deny),
        ],
    );
}

#[test]
fn payloads_have_the_names_of_cline() {
    assert_payloads(
        "cline",
        &[
            (
                "PreToolUse",
                "PreToolUse",
                json!({"clineVersion": "", "hookName": "tool_call", "taskId": "s1", "sessionContext": {"rootSessionId": "s1"},
                    "tool_call": {"id": "t1", "name": "run_commands", "input": {"commands": ["ls"]}},
                    "preToolUse": {"toolName": "run_commands", "parameters": {"commands": "[\"ls\"]"}}}),
            ),
            (
                "PostToolUse",
                "PostToolUse",
                json!({"hookName": "tool_result", "postToolUse": {"result": "out", "success": true}}),
            ),
            ("PostToolUse", "PostToolUseFailure", json!({"postToolUse": {"result": "broken", "success": false}})),
            ("TaskStart", "SessionStart", json!({"hookName": "agent_start", "taskStart": {"taskMetadata": {}}})),
            ("TaskComplete", "Stop", json!({"hookName": "agent_end", "turn": {"outputText": "Done."}})),
            ("UserPromptSubmit", "UserPromptSubmit", json!({"userPromptSubmit": {"prompt": "Go."}})),
        ],
    );
}

#[test]
fn the_name_of_a_program_is_its_event_and_its_kind() {
    let sandbox = CliSandbox::new()
        .file(".clinerules/hooks/PreToolUse", "echo plain >> log")
        .file(".cline/hooks/pretooluse.sh", "echo sh >> log")
        .home_file("Documents/Cline/Hooks/PreToolUse", "#!/usr/bin/env bash\necho documents >> log")
        .home_file(".cline/hooks/PreToolUse.py", "open('log', 'a').write('python\\n')")
        .file(".clinerules/hooks/PreToolUse.md", "no program")
        .file(".clinerules/hooks/README", "no program");
    let ran = fire_event(&sandbox, "PreToolUse", json!({}));
    assert_eq!(sandbox.read("log"), "python\ndocuments\nsh\nplain\n");
    assert_eq!(ran.warnings(), [""; 0]);
}

#[test]
fn a_misspelled_event_is_reported() {
    let sandbox = create_project("cline", "PreToolUze", json!({})).file("does", "true");
    let ran = fire_event(&sandbox, "PreToolUse", json!({}));
    assert_eq!(ran.hooks().len(), 0);
    assert_eq!(
        ran.warnings(),
        [
            ".clinerules/hooks/PreToolUze:1:1: warning: its name is not the name of an event (the file is ignored) (hint: did you mean PreToolUse?)"
        ]
    );
}
