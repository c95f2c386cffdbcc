//! What a native hook is told, and what its answers do.

use serde_json::{Value, json};

use super::{create_project, render_printing_hook, render_tool_hook, run_bash_call};

#[test]
fn the_canonical_event_stands_on_stdin() {
    let cases = [
        (
            "BeforeTool",
            "PreToolUse",
            json!({"session_id": "s1", "cwd": "/", "tool_name": "Bash", "tool_input": {"command": "ls"},
                   "tool_use_id": "t1", "transcript_path": "/t.jsonl", "permission_mode": "plan"}),
        ),
        (
            "AfterTool",
            "PostToolUse",
            json!({"tool_name": "Bash", "tool_input": {}, "tool_response": {"a": [1]}, "tool_success": false}),
        ),
        ("UserPrompt", "UserPromptSubmit", json!({"prompt": "two\nlines", "user_name": "u", "agent_name": "a"})),
        ("SessionStart", "SessionStart", json!({"source": "resume", "model": "m", "platform": "p"})),
        ("SessionEnd", "SessionEnd", json!({"reason": "clear"})),
        ("Notification", "Notification", json!({"message": "hello"})),
        ("Stop", "Stop", json!({"stop_hook_active": true, "something_else": {"kept": true}})),
    ];
    for (fired, canonical, payload) in cases {
        let sandbox =
            create_project(&format!("[[hook]]\nevent = '{canonical}'\nrun = 'cat > $SNELL_PROJECT_DIR/in.json'\n"));
        sandbox.run_event(fired, &payload);
        let told = sandbox.read_json("in.json");
        assert_eq!(told["event"], canonical, "{fired}");
        for (key, value) in payload.as_object().unwrap() {
            assert_eq!(told[key], *value, "{fired}: {key}");
        }
    }
}

#[test]
fn variables_say_what_the_event_is_about() {
    let script = "for v in EVENT TOOL FILE COMMAND PROJECT_DIR SESSION_ID AGENT; do \
                  eval \"echo $v=\\${SNELL_$v-unset}\"; done > log";
    let cases = [
        (
            "PreToolUse",
            json!({"tool_name": "Bash", "tool_input": {"command": "ls -l"}, "session_id": "s1", "platform": "gemini"}),
            ["PreToolUse", "Bash", "unset", "ls -l", "s1", "gemini"],
        ),
        (
            "PostToolUse",
            json!({"tool_name": "Edit", "tool_input": {"file_path": "/a b.rs"}}),
            ["PostToolUse", "Edit", "/a b.rs", "unset", "unset", "unset"],
        ),
        ("AfterAgent", json!({"session_id": "s2"}), ["Stop", "unset", "unset", "unset", "s2", "unset"]),
    ];
    for (event, payload, [name, tool, file, command, session, agent]) in cases {
        // A variable of an outer hook must not be taken for this event's.
        let sandbox = create_project(&format!("[[hook]]\nevent = '{event}'\nrun = '''{script}'''\n"))
            .env("SNELL_FILE", "stale")
            .env("SNELL_COMMAND", "stale")
            .env("SNELL_SESSION_ID", "stale")
            .env("SNELL_TOOL", "stale")
            .env("SNELL_AGENT", "stale");
        sandbox.run_event(event, &payload);
        let project = sandbox.project();
        let expected = format!(
            "EVENT={name}\nTOOL={tool}\nFILE={file}\nCOMMAND={command}\nPROJECT_DIR={}\nSESSION_ID={session}\n\
             AGENT={agent}\n",
            project.display()
        );
        assert_eq!(sandbox.read("log"), expected, "{event}");
    }
}

#[test]
fn a_value_in_a_variable_never_becomes_shell_code() {
    let sandbox = create_project(&render_tool_hook("run = 'printf %s \"$SNELL_COMMAND\" > log'"));
    let nasty = "\"; touch injected; $(touch injected) `touch injected` '";
    sandbox.run_event("PreToolUse", &json!({"tool_name": "Bash", "tool_input": {"command": nasty}}));
    assert_eq!(sandbox.read("log"), nasty);
    assert!(!sandbox.exists("injected"));
}

#[test]
fn a_command_that_the_environment_cannot_take_is_cut_told_of_and_put_whole_into_a_file() {
    let line = "printf %s \"$SNELL_COMMAND\" > value; cp \"$SNELL_COMMAND_FILE\" whole";
    let sandbox = create_project(&render_tool_hook(&format!("run = '{line}'")));
    let long = "x".repeat(200_000);
    let ran = sandbox.run_event("PreToolUse", &json!({"tool_name": "Bash", "tool_input": {"command": long}}));
    assert_eq!(ran.statuses(), ["ok"]);
    assert!(sandbox.read("whole") == long, "the file must hold all of it");
    assert!(sandbox.read("value").len() < 131_072);
    let warnings = ran.warnings();
    assert!(
        warnings.len() == 1
            && warnings[0].contains("SNELL_COMMAND is too long")
            && warnings[0].contains("SNELL_COMMAND_FILE"),
        "{warnings:?}"
    );
}

#[test]
fn exit_2_blocks_with_stderr_whatever_stdout_says() {
    let cases = [
        ("echo no >&2; exit 2", "no"),
        ("echo ignored; echo no >&2; exit 2", "no"),
        ("echo '{\"decision\":\"allow\"}'; echo no >&2; exit 2", "no"),
        ("echo '{\"decision\":\"allow\",\"reason\":\"from json\"}'; exit 2", "from json"),
        ("echo '{\"decis'; echo no >&2; exit 2", "no"),
    ];
    for (command, reason) in cases {
        let ran = run_bash_call(&create_project(&render_tool_hook(&format!("run = '''{command}'''"))));
        assert_eq!((ran.code, ran.decision().as_str()), (2, "block"), "{command}");
        assert_eq!(ran.reason(), reason, "{command}");
        assert_eq!(ran.statuses(), ["blocked"], "{command}");
    }
    let ran = run_bash_call(&create_project(&render_tool_hook("run = 'exit 2'")));
    assert_eq!(ran.code, 2);
    assert!(ran.reason().contains("exit 2"), "a silent hook is named: {}", ran.reason());
}

#[test]
fn a_json_answer_decides() {
    let cases = [
        (json!({}), 0, "allow", "", "ok"),
        (json!({"decision": "allow", "reason": "fine"}), 0, "allow", "fine", "ok"),
        (json!({"decision": "ask", "reason": "sure?"}), 0, "ask", "sure?", "ok"),
        (json!({"decision": "block", "reason": "no"}), 2, "block", "no", "blocked"),
        (json!({"decision": null}), 0, "allow", "", "ok"),
        (json!({"unknown": "key"}), 0, "allow", "", "ok"),
    ];
    for (answer, code, decision, reason, status) in cases {
        let ran = run_bash_call(&create_project(&render_printing_hook("PreToolUse", &answer.to_string(), 0)));
        assert_eq!((ran.code, ran.decision().as_str()), (code, decision), "{answer}");
        assert_eq!(ran.reason(), reason, "{answer}");
        assert_eq!(ran.statuses(), [status], "{answer}");
    }
}

#[test]
fn a_byte_order_mark_does_not_hide_an_answer() {
    for mark in ["\u{feff}", "\n\u{feff}", "\u{feff} "] {
        let answer = format!("{mark}{}", json!({"decision": "block", "reason": "no"}));
        let ran = run_bash_call(&create_project(&render_printing_hook("PreToolUse", &answer, 0)));
        assert_eq!((ran.code, ran.reason().as_str()), (2, "no"), "{mark:?}");
    }
}

#[test]
fn a_json_answer_tells_the_model_and_the_user() {
    for event in ["PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "Stop"] {
        let answer = json!({"context": "for the model", "message": "for the user"});
        let ran = create_project(&render_printing_hook(event, &answer.to_string(), 0))
            .run_event(event, &json!({"tool_name": "Bash"}));
        assert_eq!(ran.context(), ["for the model"], "{event}");
        assert_eq!(ran.messages(), ["for the user"], "{event}");
        assert_eq!((ran.code, ran.decision().as_str()), (0, "allow"), "{event}");
    }
}

#[test]
fn plain_output_is_context_where_a_session_or_a_prompt_begins() {
    let cases = [
        ("SessionStart", true),
        ("UserPromptSubmit", true),
        ("PreToolUse", false),
        ("PostToolUse", false),
        ("Stop", false),
        ("Notification", false),
        ("SessionEnd", false),
    ];
    for (event, expected) in cases {
        let ran = create_project(&render_printing_hook(event, "two\nlines\n", 0))
            .run_event(event, &json!({"tool_name": "Bash"}));
        let context = ran.context();
        assert_eq!(context == ["two\nlines"], expected, "{event}: {context:?}");
        assert_eq!(context.is_empty(), !expected, "{event}: {context:?}");
        assert_eq!(ran.statuses(), ["ok"], "{event}");
    }
    for event in ["SessionStart", "UserPromptSubmit"] {
        let ran = create_project(&render_printing_hook(event, "half a text", 1)).run_event(event, &json!({}));
        assert_eq!(ran.context(), [""; 0], "{event}: the output of a failed hook is no context");
    }
}

#[test]
fn changes_compose_and_each_hook_sees_what_was_before_it() {
    let append = |letter: char| {
        let answer = format!(r#"{{"tool_input":{{"command":"\1{letter}"}}}}"#);
        let line = format!(r#"sed 's/.*"command":"\([a-z]*\)".*/{answer}/'"#);
        render_tool_hook(&format!("modify = true\nrun = '''{line} '''"))
    };
    let sandbox =
        create_project(&format!("{}{}{}", append('a'), append('b'), render_tool_hook("run = 'cat > seen.json'")));
    let ran = sandbox.run_event("PreToolUse", &json!({"tool_name": "Bash", "tool_input": {"command": "x"}}));
    assert_eq!(ran.json()["tool_input"], json!({"command": "xab"}));
    assert_eq!(sandbox.read_json("seen.json")["tool_input"], json!({"command": "xab"}));
}

#[test]
fn hooks_run_in_order_and_a_block_does_not_keep_the_next_from_running() {
    let sandbox = create_project(&format!(
        "{}{}{}",
        render_tool_hook("run = 'sleep 0.2; echo first >> log; echo one >&2; exit 2'"),
        render_tool_hook("run = 'echo second >> log'"),
        render_tool_hook("run = 'echo third >> log; echo three >&2; exit 2'"),
    ));
    let ran = run_bash_call(&sandbox);
    assert_eq!(sandbox.read("log"), "first\nsecond\nthird\n");
    assert_eq!(ran.statuses(), ["blocked", "ok", "blocked"]);
    assert_eq!(ran.reason(), "one\nthree");
}

#[test]
fn a_block_changes_nothing_where_nothing_can_be_blocked() {
    let refusals = ["exit 2 after stderr", "json", "fail closed"];
    for (event, heard_as) in [("PostToolUse", "context"), ("SessionStart", "messages"), ("Notification", "messages")] {
        for refusal in refusals {
            let line = match refusal {
                "json" => "run = '''echo '{\"decision\":\"block\",\"reason\":\"too late\"}' '''",
                "fail closed" => "run = 'echo too late >&2; exit 1'\non_failure = 'block'",
                _ => "run = 'echo too late >&2; exit 2'",
            };
            let text = format!("[[hook]]\nevent = '{event}'\n{line}\n");
            let ran = create_project(&text).run_event(event, &json!({"tool_name": "Bash"}));
            assert_eq!((ran.code, ran.decision().as_str()), (0, "allow"), "{event} {refusal}");
            let heard = ran.string_list(heard_as);
            assert!(heard.len() == 1 && heard[0].ends_with("too late"), "{event} {refusal}: {heard:?}");
            assert_eq!(ran.json()["reason"], Value::Null, "{event} {refusal}");
        }
    }
}

#[test]
fn after_a_tool_an_objection_is_for_the_model_and_an_allow_is_nothing() {
    let cases = [("ask", vec!["sure?"]), ("block", vec!["sure?"]), ("allow", vec![])];
    for (decision, context) in cases {
        let answer = json!({"decision": decision, "reason": "sure?"}).to_string();
        let ran = create_project(&render_printing_hook("PostToolUse", &answer, 0))
            .run_event("PostToolUse", &json!({"tool_name": "Bash"}));
        assert_eq!((ran.code, ran.decision().as_str()), (0, "allow"), "{decision}");
        assert_eq!(ran.json()["reason"], Value::Null, "{decision}");
        assert_eq!(
            (ran.context(), ran.messages()),
            (context.into_iter().map(str::to_owned).collect(), vec![]),
            "{decision}"
        );
    }
}

#[test]
fn what_a_hook_took_out_of_an_output_is_gone_for_the_next() {
    let redact =
        render_printing_hook("PostToolUse", &json!({"tool_output": "clean"}).to_string(), 0) + "modify = true\n";
    // A host may call the output by either name.
    for name in ["tool_output", "tool_response"] {
        let sandbox = create_project(&format!("{redact}[[hook]]\nevent = 'PostToolUse'\nrun = 'cat > in.json'\n"));
        let ran = sandbox.run_event("PostToolUse", &json!({"tool_name": "Bash", name: "a secret"}));
        assert_eq!(ran.json()["tool_output"], "clean", "{name}");
        let told = sandbox.read_json("in.json");
        assert_eq!((&told["tool_response"], told.get("tool_output")), (&json!("clean"), None), "{name}");
        assert!(!sandbox.read("in.json").contains("a secret"), "{name}");
    }
}

#[test]
fn a_change_that_is_no_object_is_not_passed_on() {
    let answer = json!({"tool_input": "text"}).to_string();
    let hook = render_printing_hook("PreToolUse", &answer, 0) + "modify = true\n";
    let ran = run_bash_call(&create_project(&hook));
    assert_eq!(ran.json()["tool_input"], Value::Null);
}

#[test]
fn an_unknown_key_in_an_answer_is_told_of() {
    let sandbox = crate::support::CliSandbox::new()
        .file("snell.toml", "[[hook]]\nevent = \"PreToolUse\"\nrun = 'echo \"{\\\"decison\\\":\\\"block\\\"}\"'\n");
    let ran = sandbox.run_event("PreToolUse", &json!({"tool_name": "Bash"}));
    let warnings = ran.warnings();
    assert!(
        warnings.len() == 1 && warnings[0].contains("\"decison\" (hint: did you mean \"decision\"?)"),
        "{warnings:?}"
    );
}
