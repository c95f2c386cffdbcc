//! Every field that a hook's JSON may have, beside the decision.

use serde_json::{Value, json};

use super::{build_command_hook, build_printing_hook, build_specific_output, create_project, run_with_answers};

#[test]
fn fields_of_every_event_reach_whom_they_are_for() {
    for event in ["PreToolUse", "SessionStart", "Stop", "Notification", "PostToolUse"] {
        let ran = run_with_answers(
            event,
            &[json!({"systemMessage": "to the user", "suppressOutput": true, "terminalSequence": "\u{7}", "new": [1]})],
        );
        assert_eq!(ran.messages(), ["to the user"], "{event}");
        assert_eq!(ran.json()["extra"], json!({"terminalSequence": "\u{7}"}), "{event}");
        assert_eq!((ran.code, ran.statuses()), (0, vec!["ok".to_owned()]), "{event}");
        assert_eq!(ran.warnings(), [""; 0], "{event}: unknown keys are ignored");
    }
}

#[test]
fn only_harmless_sequences_reach_the_terminal() {
    let cases = [
        ("\u{1b}]0;title\u{7}", true),
        ("\u{1b}]777;notify;a;b\u{1b}\\", true),
        ("\u{7}", true),
        ("\u{1b}[2J", false),
        ("\u{1b}]52;c;aGk=\u{7}", false),
    ];
    for (sequence, passes) in cases {
        let ran = run_with_answers("Stop", &[json!({"terminalSequence": sequence})]);
        assert_eq!(ran.json()["extra"].get("terminalSequence").is_some(), passes, "{sequence:?}");
        assert_eq!(ran.warnings().is_empty(), passes, "{sequence:?}: what is left out is said");
    }
}

#[test]
fn additional_context_reaches_the_model_and_blocks_nothing() {
    let events = [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "Stop",
        "SubagentStop",
        "SubagentStart",
    ];
    for event in events {
        let ran = run_with_answers(event, &[build_specific_output(event, json!({"additionalContext": "one\ntwo"}))]);
        assert_eq!(ran.context(), ["one\ntwo"], "{event}");
        assert_eq!((ran.code, ran.decision().as_str()), (0, "allow"), "{event}");
    }
}

#[test]
fn what_only_a_host_can_honour_is_passed_on_by_its_name() {
    let cases = [
        (
            "SessionStart",
            json!({"initialUserMessage": "hi", "sessionTitle": "t", "watchPaths": ["/a"], "reloadSkills": true}),
        ),
        ("UserPromptSubmit", json!({"sessionTitle": "t", "suppressOriginalPrompt": true})),
        ("PermissionDenied", json!({"retry": true})),
        ("MessageDisplay", json!({"displayContent": "shown"})),
        ("CwdChanged", json!({"watchPaths": ["/b"]})),
        ("FileChanged", json!({"watchPaths": ["/c"]})),
        ("PostToolUse", json!({"classifierContext": "c"})),
        ("Elicitation", json!({"action": "accept", "content": {"a": 1}})),
        ("ElicitationResult", json!({"action": "accept", "content": {"a": 1}})),
    ];
    for (event, fields) in cases {
        let sandbox =
            create_project(event, &json!([build_printing_hook(&build_specific_output(event, fields.clone()))]));
        let ran = sandbox.run_event(event, &json!({"tool_name": "Bash", "file_path": "/x", "mcp_server_name": "m"}));
        assert_eq!(ran.json()["extra"], fields, "{event}");
        assert_eq!(ran.code, 0, "{event}");
    }
    // What is said for another event is left out whole.
    let ran = run_with_answers(
        "Stop",
        &[build_specific_output("SessionStart", json!({"sessionTitle": "t", "watchPaths": ["/a"]}))],
    );
    assert_eq!(ran.json()["extra"], json!({}));
}

#[test]
fn a_worktree_is_the_last_line_and_any_failure_keeps_it_from_being_made() {
    let ran = create_project("WorktreeCreate", &json!([build_command_hook("echo preparing; echo /tmp/tree")]))
        .run_event("WorktreeCreate", &json!({"name": "w"}));
    assert_eq!(ran.json()["extra"]["worktreePath"], "/tmp/tree");
    for code in [1, 2, 127] {
        let line = format!("echo no room >&2; exit {code}");
        let ran = create_project("WorktreeCreate", &json!([build_command_hook(&line)]))
            .run_event("WorktreeCreate", &json!({"name": "w"}));
        assert_eq!((ran.code, ran.reason().as_str()), (2, "no room"), "{code}");
    }
}

#[test]
fn an_updated_input_replaces_the_whole_input() {
    let cases = [
        (json!({"updatedInput": {"other": 1}}), json!({"other": 1})),
        (json!({"updatedInput": {"other": 1}, "permissionDecision": "allow"}), json!({"other": 1})),
        (json!({"updatedInput": {"other": 1}, "permissionDecision": "ask"}), json!({"other": 1})),
        (json!({"updatedInput": {}}), json!({})),
        (json!({"updatedInput": "text"}), Value::Null),
        (json!({"updatedInput": null}), Value::Null),
        (json!({}), Value::Null),
    ];
    for (fields, expected) in cases {
        let ran = run_with_answers("PreToolUse", &[build_specific_output("PreToolUse", fields.clone())]);
        assert_eq!(ran.json()["tool_input"], expected, "{fields}");
        assert_eq!(ran.code, 0, "{fields}");
    }
}

#[test]
fn of_several_updated_inputs_the_last_configured_counts_and_not_the_last_to_finish() {
    let update = |value: &str| build_specific_output("PreToolUse", json!({"updatedInput": {"command": value}}));
    let slow = format!("while ! test -e second-is-over; do sleep 0.01; done; printf '%s' '{}'", update("first"));
    let quick = format!("printf '%s' '{}'; touch second-is-over", update("second"));
    let sandbox = create_project("PreToolUse", &json!([build_command_hook(&slow), build_command_hook(&quick)]));
    let ran = super::run_bash_call(&sandbox);
    assert_eq!(ran.json()["tool_input"], json!({"command": "second"}));
}

#[test]
fn exit_2_changes_nothing() {
    let answer =
        build_specific_output("PreToolUse", json!({"updatedInput": {"command": "x"}, "additionalContext": "kept"}));
    let line = format!("printf '%s' '{answer}'; echo no >&2; exit 2");
    let ran = super::run_bash_call(&create_project("PreToolUse", &json!([build_command_hook(&line)])));
    assert_eq!((ran.code, ran.reason().as_str()), (2, "no"));
    assert_eq!(ran.json()["tool_input"], Value::Null);
}

#[test]
fn a_permission_request_is_answered_for_the_user() {
    let cases = [
        (json!({"behavior": "allow"}), 0, "allow", ""),
        (json!({"behavior": "deny", "message": "not you"}), 2, "block", "not you"),
        (json!({"behavior": "other"}), 0, "allow", ""),
    ];
    for (decision, code, expected, reason) in cases {
        let ran = run_with_answers(
            "PermissionRequest",
            &[build_specific_output("PermissionRequest", json!({"decision": decision}))],
        );
        assert_eq!((ran.code, ran.decision().as_str()), (code, expected), "{decision}");
        assert_eq!(ran.reason(), reason, "{decision}");
    }
    let decision = json!({"behavior": "allow", "updatedInput": {"command": "ls -l"},
        "updatedPermissions": [{"type": "addRules"}]});
    let ran = run_with_answers(
        "PermissionRequest",
        &[build_specific_output("PermissionRequest", json!({"decision": decision}))],
    );
    assert_eq!(ran.json()["tool_input"], json!({"command": "ls -l"}));
    assert_eq!(ran.json()["extra"]["updatedPermissions"], json!([{"type": "addRules"}]));
    let decision = json!({"behavior": "deny", "message": "stop it", "interrupt": true});
    let ran = run_with_answers(
        "PermissionRequest",
        &[build_specific_output("PermissionRequest", json!({"decision": decision}))],
    );
    assert_eq!((ran.code, ran.json()["stop"].as_str()), (2, Some("stop it")));
}

#[test]
fn after_a_tool_the_output_may_be_changed_and_the_model_answered() {
    let cases = [
        (
            build_specific_output("PostToolUse", json!({"updatedToolOutput": {"stdout": "new"}})),
            json!({"stdout": "new"}),
            vec![],
        ),
        (build_specific_output("PostToolUse", json!({"updatedMCPToolOutput": [1]})), json!([1]), vec![]),
        (json!({"decision": "block", "reason": "fix it"}), Value::Null, vec!["fix it"]),
        (
            json!({"decision": "block", "reason": "fix it",
                   "hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "more",
                                          "updatedToolOutput": "new"}}),
            json!("new"),
            vec!["more", "fix it"],
        ),
    ];
    for (answer, output, context) in cases {
        let ran = run_with_answers("PostToolUse", std::slice::from_ref(&answer));
        assert_eq!(ran.json()["tool_output"], output, "{answer}");
        assert_eq!(ran.context(), context, "{answer}");
        assert_eq!((ran.code, ran.decision().as_str()), (0, "allow"), "{answer}");
    }
}

#[test]
fn an_elicitation_that_a_hook_declines_does_not_reach_the_user() {
    let answer = build_specific_output("Elicitation", json!({"action": "decline"}));
    let ran = create_project("Elicitation", &json!([build_printing_hook(&answer)]))
        .run_event("Elicitation", &json!({"mcp_server_name": "m"}));
    assert_eq!((ran.code, ran.json()["extra"]["action"].as_str()), (2, Some("decline")));
}

#[test]
fn context_and_messages_stand_in_configured_order() {
    let both = |message: &str, context: &str| {
        let mut answer = build_specific_output("SessionStart", json!({"additionalContext": context}));
        answer["systemMessage"] = message.into();
        answer
    };
    let (one, two) = (both("m1", "c1"), both("m2", "c2"));
    let sandbox = create_project(
        "SessionStart",
        &json!([
            build_command_hook(&format!("while ! test -e over; do sleep 0.01; done; printf '%s' '{one}'")),
            build_command_hook(&format!("printf '%s' '{two}'; touch over")),
        ]),
    );
    let ran = sandbox.run_event("SessionStart", &json!({}));
    assert_eq!(ran.context(), ["c1", "c2"]);
    assert_eq!(ran.messages(), ["m1", "m2"]);
}
