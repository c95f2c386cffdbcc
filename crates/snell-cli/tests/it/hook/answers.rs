//! What Claude Code is answered, and what is recorded of it.

use std::fs;

use serde_json::{Value, json};
use snell_test_support::payload::merge_fields;
use snell_test_support::process::wait_for_output;

use super::{HookSandbox, RecordingMode, render_answering_hook, run_in_both_modes};
use crate::support::CliSandbox;

#[test]
fn every_event_is_kept_and_nothing_is_said_about_it() {
    let events = [
        "SessionStart",
        "Setup",
        "InstructionsLoaded",
        "UserPromptSubmit",
        "UserPromptExpansion",
        "MessageDisplay",
        "PreToolUse",
        "PermissionRequest",
        "PermissionDenied",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "Notification",
        "SubagentStart",
        "SubagentStop",
        "TaskCreated",
        "TaskCompleted",
        "TeammateIdle",
        "Stop",
        "StopFailure",
        "ConfigChange",
        "CwdChanged",
        "DirectoryAdded",
        "FileChanged",
        "WorktreeCreate",
        "WorktreeRemove",
        "PreCompact",
        "PostCompact",
        "Elicitation",
        "ElicitationResult",
        "SomethingOfALaterVersion",
        "SessionEnd",
    ];
    run_in_both_modes(|watched| {
        for event in events {
            watched.send_silent_event(
                "s1",
                event,
                json!({"transcript_path": "/nowhere.jsonl", "tool_name": "Novel", "novelty": {"of": [event]}}),
            );
        }
        let kept = watched.query_rows("SELECT name, payload FROM events JOIN payloads USING (id) ORDER BY id");
        assert_eq!(kept.len(), events.len());
        for (kept, event) in kept.iter().zip(events) {
            assert_eq!(kept["name"], event);
            let payload: Value = serde_json::from_str(kept["payload"].as_str().unwrap()).unwrap();
            assert_eq!(payload["novelty"], json!({"of": [event]}));
        }
        assert_eq!(watched.count_rows("agents"), 1);
    });
}

#[test]
fn the_answer_is_in_the_agents_own_words_and_the_decision_is_kept() {
    let tool = json!({"tool_name": "Bash", "tool_input": {"command": "rm -rf build"}, "tool_use_id": "t1"});
    let specific = |event: &str, fields: Value| {
        let output = merge_fields(json!({"hookEventName": event}), &fields);
        json!({"hookSpecificOutput": output})
    };
    let cases = [
        ("PreToolUse", &tool, json!({"decision": "allow"}), json!(null), json!("allow")),
        ("PreToolUse", &tool, json!({}), json!(null), json!(null)),
        (
            "PreToolUse",
            &tool,
            json!({"decision": "block", "reason": "Not here."}),
            specific("PreToolUse", json!({"permissionDecision": "deny", "permissionDecisionReason": "Not here."})),
            json!("block"),
        ),
        (
            "PreToolUse",
            &tool,
            json!({"decision": "ask", "reason": "Sure?"}),
            specific("PreToolUse", json!({"permissionDecision": "ask", "permissionDecisionReason": "Sure?"})),
            json!("ask"),
        ),
        (
            "PreToolUse",
            &tool,
            json!({"tool_input": {"command": "true"}}),
            specific("PreToolUse", json!({"updatedInput": {"command": "true"}})),
            json!(null),
        ),
        (
            "UserPromptSubmit",
            &json!({"prompt": "Go."}),
            json!({"context": "It rains."}),
            specific("UserPromptSubmit", json!({"additionalContext": "It rains."})),
            json!(null),
        ),
        (
            "UserPromptSubmit",
            &json!({"prompt": "Go."}),
            json!({"decision": "block", "reason": "No."}),
            json!({"decision": "block", "reason": "No."}),
            json!("block"),
        ),
        (
            "Notification",
            &json!({"message": "m"}),
            json!({"message": "Hello."}),
            json!({"systemMessage": "Hello."}),
            json!(null),
        ),
        (
            "Stop",
            &json!({"stop_hook_active": false}),
            json!({"decision": "block", "reason": "Run the tests."}),
            json!({"decision": "block", "reason": "Run the tests."}),
            json!("block"),
        ),
    ];
    for mode in [RecordingMode::Alone, RecordingMode::WithDaemon] {
        for (event, fields, answer, expected, decision) in &cases {
            let watched = HookSandbox::with_user_config(mode, &render_answering_hook(event, answer));
            let ran = watched.run_hook(&watched.build_payload("s1", event, (*fields).clone()));
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{event} {answer}");
            if expected.is_null() {
                assert_eq!(ran.stdout, "", "{event} {answer}");
            } else {
                assert_eq!(ran.json(), *expected, "{event} {answer}");
                assert_eq!(ran.stdout.lines().count(), 1);
            }
            let kept = &watched.query_rows("SELECT decision, reason FROM events")[0];
            assert_eq!(kept["decision"], *decision, "{event} {answer}");
            assert_eq!(kept["reason"], answer.get("reason").cloned().unwrap_or_default(), "{event} {answer}");
            let run = &watched
                .query_rows("SELECT contract, source, line, status, exit_code, stdout, duration_us FROM hook_runs")[0];
            assert_eq!(run["stdout"], answer.to_string());
            assert_eq!((&run["contract"], &run["line"], &run["exit_code"]), (&json!("snell"), &json!(1), &json!(0)));
            assert!(run["duration_us"].as_i64().unwrap() > 0);
            assert_eq!(watched.count_pending(), 0);
        }
    }
}

#[test]
fn hooks_of_a_project_run_only_once_it_is_trusted() {
    let text = render_answering_hook("PreToolUse", &json!({"decision": "block", "reason": "no"}));
    let watched = HookSandbox::with_sandbox(RecordingMode::Alone, CliSandbox::new().file("snell.toml", &text));
    let tool = |session: &str| watched.build_payload(session, "PreToolUse", json!({"tool_name": "Glob"}));
    let told = watched.run_hook(&tool("s1"));
    let message = told.json()["systemMessage"].as_str().unwrap().to_owned();
    assert!(message.contains("snell.toml is not trusted") && message.contains("snell trust"), "{message}");
    assert_eq!(told.json().as_object().unwrap().len(), 1);
    // Once in each session is enough.
    watched.run_hook(&tool("s1")).assert_silent();
    assert!(watched.run_hook(&tool("s2")).json()["systemMessage"].is_string());
    assert_eq!(watched.sandbox.run_snell(&["trust"], "").code, 0);
    let denied = watched.run_hook(&tool("s1")).json();
    assert_eq!(denied["hookSpecificOutput"]["permissionDecision"], "deny");
}

#[test]
fn whoever_is_told_to_call_as_claude_is_answered_as_claude() {
    let text = render_answering_hook("PreToolUse", &json!({"decision": "block", "reason": "no"}));
    let watched = HookSandbox::with_user_config(RecordingMode::Alone, &text);
    // Nothing here shows who calls.
    let payload = json!({"event": "PreToolUse", "tool_name": "Bash", "cwd": watched.sandbox.project()}).to_string();
    let stranger = watched.sandbox.run_snell(&["hook"], &payload);
    assert!(stranger.expect_single_warning().contains("event recorded"), "{stranger:?}");
    let told = watched.sandbox.run_snell(&["hook", "--agent", "claude"], &payload);
    assert_eq!(told.json()["hookSpecificOutput"]["permissionDecision"], "deny");
    assert_eq!(watched.count_rows("events"), 2);
}

#[test]
fn what_is_said_against_a_tool_that_ran_already_is_for_the_model() {
    for event in ["PostToolUse", "PostToolUseFailure"] {
        for decision in ["block", "ask"] {
            let text = render_answering_hook(event, &json!({"decision": decision, "reason": "Look again."}));
            let watched = HookSandbox::with_user_config(RecordingMode::Alone, &text);
            let ran =
                watched.run_hook(&watched.build_payload("s1", event, json!({"tool_name": "Bash", "tool_input": {}})));
            assert_eq!(
                ran.json(),
                json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": "Look again."}}),
                "{event} {decision}"
            );
        }
    }
}

#[test]
fn an_agent_is_kept_from_stopping_only_so_often() {
    let text = render_answering_hook("Stop", &json!({"decision": "block", "reason": "Not yet."}));
    for mode in [RecordingMode::Alone, RecordingMode::WithDaemon] {
        for (cap, blocked) in [(None, 8), (Some("2"), 2), (Some("nonsense"), 8)] {
            let watched = HookSandbox::with_user_config(mode, &text);
            let variables: Vec<_> = cap.iter().map(|cap| ("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", *cap)).collect();
            // Twice, because the user's word makes it begin anew.
            for _ in 0..2 {
                watched.send_prompt("s1", "Go.");
                for number in 0..blocked + 1 {
                    let again = json!({"stop_hook_active": number > 0, "last_assistant_message": "Done."});
                    let ran = watched.run_hook_with_env(&variables, &watched.build_payload("s1", "Stop", again));
                    let answer = ran.json();
                    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{cap:?}");
                    if number < blocked {
                        assert_eq!(answer, json!({"decision": "block", "reason": "Not yet."}), "{cap:?} {number}");
                        assert_eq!(watched.list_agent_states(), ["processing"]);
                    } else {
                        let message = answer["systemMessage"].as_str().unwrap();
                        assert!(message.contains("Not yet.") && answer.get("decision").is_none(), "{answer}");
                        assert_eq!(watched.list_agent_states(), ["idle"]);
                    }
                }
            }
        }
    }
}

/// Lets an agent stop again and again, and answers how often it was kept from it.
fn count_stop_blocks(watched: &HookSandbox, event: &str, fields: &Value) -> usize {
    for number in 0..20 {
        let mut payload = watched.build_payload("s1", event, fields.clone());
        payload["stop_hook_active"] = (number > 0).into();
        let ran = watched.run_hook(&payload);
        assert_eq!(ran.code, 0, "{ran:?}");
        if ran.json().get("decision").is_none() {
            let message = ran.json()["systemMessage"].as_str().unwrap().to_owned();
            assert!(message.contains("Not yet."), "{message}");
            return number;
        }
    }
    panic!("there is no end to it");
}

#[test]
fn each_subagent_is_kept_from_stopping_only_so_often() {
    let text = render_answering_hook("SubagentStop", &json!({"decision": "block", "reason": "Not yet."}));
    for mode in [RecordingMode::Alone, RecordingMode::WithDaemon] {
        let watched = HookSandbox::with_user_config(mode, &text);
        for subagent in ["a1", "a2", "a1"] {
            let fields = json!({"agent_id": subagent, "agent_type": "Explore"});
            let blocked = count_stop_blocks(&watched, "SubagentStop", &fields);
            assert_eq!(blocked, 8, "{mode:?} {subagent}");
        }
    }
    // Two at once are counted apart.
    let watched = HookSandbox::with_user_config(RecordingMode::Alone, &text);
    for number in 0..8 {
        for subagent in ["a1", "a2"] {
            let fields = json!({"agent_id": subagent, "stop_hook_active": number > 0});
            let answer = watched.run_hook(&watched.build_payload("s1", "SubagentStop", fields)).json();
            assert_eq!(answer["decision"], "block", "{number} {subagent}");
        }
    }
}

#[test]
fn only_blocks_of_snell_count_however_often_the_agent_went_on_for_another_reason() {
    let hook = |event: &str| {
        format!("[[hook]]\nevent = \"{event}\"\nrun = 'test ! -e not-yet || {{ echo Not yet. >&2; exit 2; }}'\n")
    };
    let passes = |watched: &HookSandbox, event: &str, again: bool| {
        let payload = watched.build_payload("s1", event, json!({"stop_hook_active": again}));
        assert_eq!(watched.run_hook(&payload).stdout, "", "{event} {again}");
    };
    type StopLoopSetup<'a> = &'a dyn Fn(&HookSandbox);
    let cases: [(&str, &str, StopLoopSetup<'_>); 4] = [
        ("a hook of somebody else made it go on", "Stop", &|watched| {
            watched.send_prompt("s1", "Go.");
            passes(watched, "Stop", false);
        }),
        ("a message made it go on", "Stop", &|watched| {
            watched.send_prompt("s1", "Go.");
            fs::write(watched.sandbox.project().join("more"), "").unwrap();
            let payload = watched.build_payload("s1", "Stop", json!({"stop_hook_active": false}));
            let answer = watched.run_hook(&payload).json();
            assert!(answer["hookSpecificOutput"]["additionalContext"].is_string(), "{answer}");
        }),
        ("it is the first event of the session", "SubagentStop", &|_| {}),
        ("it was let go, and a later turn began well", "Stop", &|watched| {
            let not_yet = watched.sandbox.project().join("not-yet");
            fs::write(&not_yet, "").unwrap();
            assert_eq!(count_stop_blocks(watched, "Stop", &json!({})), 8);
            fs::remove_file(not_yet).unwrap();
            passes(watched, "Stop", false);
        }),
    ];
    let tells = "[[hook]]\nevent = \"Stop\"\nrun = 'test ! -e more || echo \"{\\\"context\\\": \\\"More.\\\"}\"'\n";
    for mode in [RecordingMode::Alone, RecordingMode::WithDaemon] {
        for (what, event, before) in &cases {
            let watched = HookSandbox::with_user_config(mode, &format!("{}{tells}", hook(event)));
            before(&watched);
            let _ = fs::remove_file(watched.sandbox.project().join("more"));
            fs::write(watched.sandbox.project().join("not-yet"), "").unwrap();
            for number in 0..9 {
                let payload = watched.build_payload("s1", event, json!({"stop_hook_active": true}));
                let answer = watched.run_hook(&payload).json();
                let is_blocked = answer["decision"] == "block";
                assert_eq!(is_blocked, number < 8, "{mode:?}: {what}: {number}: {answer}");
            }
        }
    }
}

#[test]
fn an_agent_is_let_go_at_last_also_where_nothing_is_recorded() {
    let stop = render_answering_hook("Stop", &json!({"decision": "block", "reason": "Not yet."}));
    type RecordingFault = fn(&HookSandbox);
    let nothing: RecordingFault = |_| {};
    // Where nothing can be counted either, once is enough.
    let cases: [(&str, &str, RecordingFault, usize); 3] = [
        ("tracking is off", "[handlers]\ntrack = false\n", nothing, 8),
        ("there is no database", "", |watched| fs::create_dir(watched.database_path()).unwrap(), 8),
        (
            "there is no directory",
            "",
            |watched| {
                fs::remove_dir(watched.sandbox.data()).unwrap();
                fs::write(watched.sandbox.data(), "").unwrap();
            },
            1,
        ),
    ];
    for (what, settings, spoil, expected) in cases {
        for mode in [RecordingMode::Alone, RecordingMode::WithDaemon] {
            let watched = HookSandbox::with_user_config(mode, &format!("{settings}{stop}"));
            spoil(&watched);
            // Twice, because the next turn is another one.
            for _ in 0..2 {
                assert_eq!(count_stop_blocks(&watched, "Stop", &json!({})), expected, "{mode:?}: {what}");
            }
        }
    }
}

#[test]
fn an_agent_that_is_given_something_to_go_on_with_goes_on() {
    let text = render_answering_hook("Stop", &json!({"context": "The tests fail."}));
    for mode in [RecordingMode::Alone, RecordingMode::WithDaemon] {
        let watched = HookSandbox::with_user_config(mode, &text);
        watched.send_prompt("s1", "Go.");
        // It is told so once; then it is only a message, and the agent stops.
        for (again, state) in [(false, "processing"), (true, "idle")] {
            let fields = json!({"stop_hook_active": again, "last_assistant_message": "Done."});
            let answer = watched.run_hook(&watched.build_payload("s1", "Stop", fields)).json();
            assert_eq!(answer.get("hookSpecificOutput").is_some(), !again, "{mode:?} {again}: {answer}");
            assert_eq!(watched.list_agent_states(), [state], "{mode:?} {again}");
        }
    }
}

#[test]
fn a_hook_knows_which_agent_it_answers() {
    let text = "[[hook]]\nevent = \"PreToolUse\"\nrun = 'echo \"for $SNELL_AGENT\" >&2; exit 2'\n";
    let watched = HookSandbox::with_user_config(RecordingMode::Alone, text);
    let answer = watched.run_hook(&watched.build_payload("s1", "PreToolUse", json!({"tool_name": "Glob"})));
    assert_eq!(answer.json()["hookSpecificOutput"]["permissionDecisionReason"], "for claude");
}

#[test]
fn an_answer_that_is_left_out_is_warned_of() {
    let text =
        render_answering_hook("PreToolUse", &json!({"tool_input": {"command": "true"}})).replace("modify = true\n", "");
    let watched = HookSandbox::with_user_config(RecordingMode::Alone, &text);
    let tool = json!({"tool_name": "Bash", "tool_input": {"command": "make"}});
    let warning = watched.run_hook(&watched.build_payload("s1", "PreToolUse", tool));
    let warning = warning.expect_single_warning();
    assert!(warning.contains("snell.toml:1") && warning.contains("modify = true"), "{warning}");
}

#[test]
fn a_hook_that_fails_does_not_become_the_agents_trouble() {
    let commands =
        ["exit 1", "exit 127", "kill -9 $$", "echo '{\"decision\": 7}'", "echo '{broken'", "no-such-program"];
    for command in commands {
        let text = format!("[[hook]]\nevent = \"PreToolUse\"\nrun = '''{command}'''\n");
        let watched = HookSandbox::with_user_config(RecordingMode::Alone, &text);
        let ran = watched.run_hook(&watched.build_payload("s1", "PreToolUse", json!({"tool_name": "Glob"})));
        assert_eq!(ran.code, 0, "{command}: {ran:?}");
        if !ran.stdout.is_empty() {
            let answer = ran.json();
            assert!(
                answer.get("decision").is_none() && answer.get("hookSpecificOutput").is_none(),
                "{command}: {ran:?}"
            );
        }
        assert_eq!((watched.count_rows("events"), watched.count_rows("hook_runs")), (1, 1), "{command}");
    }
}

/// What becomes of an answer of this hook, if standard output is redirected like this, and which decision is kept.
fn run_redirected(
    redirection: &str,
    answer: &serde_json::Value,
) -> (snell_test_support::process::CommandOutput, serde_json::Value) {
    let watched = HookSandbox::with_user_config(RecordingMode::Alone, &render_answering_hook("PreToolUse", answer));
    let payload = watched.build_payload("s1", "PreToolUse", json!({"tool_name": "Glob"}));
    let script = format!("exec \"$0\" \"$@\" {redirection}");
    let mut command = watched.sandbox.shell(&script, &["hook"]);
    let child = snell_test_support::process::spawn_with_stdin(&mut command, payload.to_string());
    let ran = wait_for_output(child);
    (ran, watched.query_value("SELECT decision FROM events"))
}

/// Where nothing can be said: a full device, a descriptor that is closed, and what every shell writes instead of that.
const NOWHERE: [&str; 3] = [">/dev/full", ">&-", ">/dev/null"];

#[test]
fn what_must_not_be_lost_and_cannot_be_said_is_told_by_the_exit_code() {
    let answers = [
        (json!({"decision": "block", "reason": "Not here."}), "Not here."),
        (json!({"decision": "ask", "reason": "Really?"}), "Really?"),
        (json!({"tool_input": {"pattern": "*.md"}}), "a hook changed the tool's input"),
    ];
    for redirection in NOWHERE {
        for (answer, expected) in &answers {
            let (ran, kept) = run_redirected(redirection, answer);
            assert_eq!(ran.code, 2, "{redirection} {answer}");
            assert_eq!(kept, "block", "{redirection} {answer}");
            assert!(ran.stderr.contains(expected), "{redirection} {ran:?}");
        }
    }
}

#[test]
fn a_remark_that_cannot_be_said_blocks_nothing() {
    for redirection in NOWHERE {
        let (ran, kept) = run_redirected(redirection, &json!({"message": "By the way."}));
        assert_eq!((ran.code, kept), (0, json!(null)), "{redirection}");
    }
}

#[test]
fn tracking_that_is_turned_off_records_nothing_and_hooks_run_all_the_same() {
    let text = format!("[handlers]\ntrack = false\n{}", render_answering_hook("Stop", &json!({"message": "Bye."})));
    let watched = HookSandbox::with_user_config(RecordingMode::WithDaemon, &text);
    let ran = watched.run_hook(&watched.build_payload("s1", "Stop", json!({})));
    assert_eq!((ran.json(), ran.stderr.as_str()), (json!({"systemMessage": "Bye."}), ""));
    let left: Vec<_> = fs::read_dir(watched.sandbox.data()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn what_a_hook_changed_is_kept_beside_what_the_agent_wanted() {
    let changed = json!({"decision": "allow", "tool_input": {"command": "rm -i build"}});
    let watched = HookSandbox::with_user_config(RecordingMode::Alone, &render_answering_hook("PreToolUse", &changed));
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "rm build"}, "tool_use_id": "t1"});
    watched.run_hook(&watched.build_payload("s1", "PreToolUse", call));
    let kept = watched.sandbox.run_snell(&["log", "--json"], "").json();
    assert_eq!(kept["changed_input"], json!({"command": "rm -i build"}), "{kept}");
    assert_eq!(kept["payload"]["tool_input"], json!({"command": "rm build"}));
}
