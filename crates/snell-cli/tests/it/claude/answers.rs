//! What a hook's exit code and its JSON mean together, and whose opinion counts.

use serde_json::{Value, json};

use super::{build_command_hook, build_specific_output, create_project, run_bash_call, run_with_answers};

fn build_denial(reason: &str) -> Value {
    build_decision("deny", reason)
}

fn build_decision(decision: &str, reason: &str) -> Value {
    build_specific_output("PreToolUse", json!({"permissionDecision": decision, "permissionDecisionReason": reason}))
}

/// A hook with a deadline that a busy machine does not miss, unless it is meant to.
fn build_timed_hook(line: &str) -> Value {
    let timeout = if line.contains("sleep") { 0.5 } else { 20.0 };
    json!({"type": "command", "command": line, "timeout": timeout})
}

struct ExitCodeCase {
    command: String,
    status: &'static str,
    reason: Option<&'static str>,
    /// What the user is told of a failure.
    told: Option<&'static str>,
}

#[test]
fn the_exit_code_and_the_json_decide_together() {
    let deny = format!("printf '%s' '{}'", build_denial("json says no"));
    let allow = format!("printf '%s' '{}'", build_decision("allow", "json says yes"));
    let silent =
        format!("printf '%s' '{}'", build_specific_output("PreToolUse", json!({"permissionDecision": "allow"})));
    let case = |command: String, status, reason, told| ExitCodeCase { command, status, reason, told };
    let cases = [
        case("exit 0".into(), "ok", None, None),
        case("echo text; exit 0".into(), "ok", None, None),
        case(format!("{deny}; exit 0"), "blocked", Some("json says no"), None),
        case(format!("printf '  \\n '; {deny}"), "blocked", Some("json says no"), None),
        // Some shells and editors put a mark before the text.
        case(format!("printf '\\357\\273\\277'; {deny}"), "blocked", Some("json says no"), None),
        case(format!("echo text; {deny}"), "ok", None, None),
        case("echo '{\"decision\": '".into(), "failed", None, Some("JSON")),
        // What cannot be read may have been a "no": it must not pass in silence.
        case("echo '{\"decision\":\"Block\"}'".into(), "failed", None, Some("\"decision\"")),
        case(
            "echo '{\"hookSpecificOutput\":{\"permissionDecision\":\"block\"}}'".into(),
            "failed",
            None,
            Some("\"permissionDecision\""),
        ),
        case("echo '{\"hookSpecificOutput\":[]}'".into(), "failed", None, Some("\"hookSpecificOutput\"")),
        case(
            "printf '{\"decision\":\"block\",\"reason\":\"'; head -c 1048576 /dev/zero | tr '\\0' x; printf '\"}'"
                .into(),
            "failed",
            None,
            Some("was cut"),
        ),
        // 2 blocks, whatever the JSON says; it lends its reason where it has one.
        case("echo stderr >&2; exit 2".into(), "blocked", Some("stderr"), None),
        case("echo stdout; echo stderr >&2; exit 2".into(), "blocked", Some("stderr"), None),
        case(format!("{allow}; echo stderr >&2; exit 2"), "blocked", Some("json says yes"), None),
        case(format!("{silent}; echo stderr >&2; exit 2"), "blocked", Some("stderr"), None),
        case(format!("{deny}; echo stderr >&2; exit 2"), "blocked", Some("json says no"), None),
        case("echo '{\"dec'; echo stderr >&2; exit 2".into(), "blocked", Some("stderr"), None),
        // Any other code: JSON alone decides and no error is shown; without it the action proceeds.
        case(format!("{deny}; exit 1"), "blocked", Some("json says no"), None),
        case(format!("{deny}; exit 127"), "blocked", Some("json says no"), None),
        case("echo '{}'; echo stderr >&2; exit 1".into(), "ok", None, None),
        case("echo stderr >&2; exit 1".into(), "failed", None, Some("stderr")),
        case("exit 126".into(), "failed", None, Some("126")),
        case("no-such-program-anywhere".into(), "failed", None, Some("127")),
        case("exit 255".into(), "failed", None, Some("255")),
        // A hook that was cut short has not decided.
        case(format!("{deny}; kill -9 $$"), "failed", None, Some("signal 9")),
        case(format!("{deny}; kill -TERM $$"), "failed", None, Some("signal 15")),
        case(format!("{deny}; sleep 30"), "timed_out", None, Some("timed out")),
    ];
    for ExitCodeCase { command: line, status, reason, told } in cases {
        let handler = build_timed_hook(&line);
        let ran = run_bash_call(&create_project("PreToolUse", &json!([handler])));
        assert_eq!(ran.statuses(), [status], "{line}");
        let blocked = reason.is_some();
        assert_eq!(ran.code, if blocked { 2 } else { 0 }, "{line}");
        assert_eq!(ran.decision(), if blocked { "block" } else { "allow" }, "{line}");
        assert_eq!(ran.json()["reason"].as_str(), reason, "{line}");
        let messages = ran.messages();
        assert_eq!(messages.len(), usize::from(told.is_some()), "{line}: {messages:?}");
        assert!(told.is_none_or(|told| messages[0].contains(told)), "{line}: {messages:?}");
    }
}

#[test]
fn the_end_of_a_process_is_reported_as_it_was() {
    let cases = [
        ("exit 3", json!([3, null, false, false])),
        ("exit 0", json!([0, null, true, false])),
        ("kill -9 $$", json!([null, 9, false, false])),
        ("sleep 30", json!([null, null, false, true])),
    ];
    for (line, expected) in cases {
        let handler = build_timed_hook(line);
        let hook = run_bash_call(&create_project("PreToolUse", &json!([handler]))).hooks().remove(0);
        let end = json!([hook["exit_code"], hook["signal"], hook["success"], hook["timed_out"]]);
        assert_eq!(end, expected, "{line}");
    }
}

#[test]
fn a_hook_that_blocks_in_silence_is_named() {
    let ran = run_bash_call(&create_project("PreToolUse", &json!([build_command_hook("exit 2")])));
    assert_eq!(ran.code, 2);
    assert!(ran.reason().contains("exit 2"), "{}", ran.reason());
}

#[test]
fn plain_text_is_context_only_where_a_session_or_a_prompt_begins() {
    let cases = [
        ("SessionStart", true),
        ("UserPromptSubmit", true),
        ("UserPromptExpansion", true),
        ("PreToolUse", false),
        ("PostToolUse", false),
        ("Stop", false),
        ("SubagentStart", false),
        ("Notification", false),
        ("PreCompact", false),
        ("SessionEnd", false),
    ];
    for (event, is_context) in cases {
        let sandbox = create_project(event, &json!([build_command_hook("printf 'two\\nlines\\n'")]));
        let ran = sandbox.run_event(event, &json!({"tool_name": "Bash"}));
        let expected: &[&str] = if is_context { &["two\nlines"] } else { &[] };
        assert_eq!(ran.context(), expected, "{event}");
        assert_eq!(ran.messages(), [""; 0], "{event}");
    }
    for event in ["SessionStart", "UserPromptSubmit"] {
        let ran = create_project(event, &json!([build_command_hook("echo text; exit 1")])).run_event(event, &json!({}));
        assert_eq!(ran.context(), [""; 0], "{event}: the text of a hook that failed is no context");
        let ran = create_project(event, &json!([build_command_hook("echo '{\"half an answer'")]))
            .run_event(event, &json!({}));
        assert_eq!(
            (ran.context(), ran.statuses()),
            (vec![], vec!["failed".to_owned()]),
            "{event}: nor is JSON that was meant as an answer"
        );
    }
}

/// What blocking means on each event: the agent stops or goes on, the model hears it, or the user does.
const BLOCKED: &[(&str, &str)] = &[
    ("PreToolUse", "block"),
    ("PermissionRequest", "block"),
    ("UserPromptSubmit", "block"),
    ("UserPromptExpansion", "block"),
    ("PostToolBatch", "block"),
    ("Stop", "block"),
    ("SubagentStop", "block"),
    ("TaskCreated", "block"),
    ("TaskCompleted", "block"),
    ("TeammateIdle", "block"),
    ("ConfigChange", "block"),
    ("PreCompact", "block"),
    ("PostToolUse", "context"),
    ("PostToolUseFailure", "context"),
    ("SessionStart", "messages"),
    ("SessionEnd", "messages"),
    ("Notification", "messages"),
    ("SubagentStart", "messages"),
    ("PostCompact", "messages"),
    ("Setup", "messages"),
    ("CwdChanged", "messages"),
    ("FileChanged", "messages"),
];

#[test]
fn blocking_means_on_each_event_what_it_can() {
    for (event, means) in BLOCKED {
        for line in ["echo the reason >&2; exit 2", "echo '{\"decision\":\"block\",\"reason\":\"the reason\"}'"] {
            let sandbox = create_project(event, &json!([build_command_hook(line)]));
            let ran = sandbox.run_event(event, &json!({"tool_name": "Bash", "file_path": "/x"}));
            let blocked = *means == "block";
            assert_eq!(ran.code, if blocked { 2 } else { 0 }, "{event}: {line}");
            assert_eq!(ran.decision(), if blocked { "block" } else { "allow" }, "{event}: {line}");
            if blocked {
                assert_eq!(ran.reason(), "the reason", "{event}: {line}");
            } else {
                assert_eq!(ran.string_list(means), ["the reason"], "{event}: {line}");
            }
        }
    }
}

#[test]
fn permission_decisions_before_a_tool() {
    let cases = [
        ("allow", 0, "allow", "ok"),
        ("deny", 2, "block", "blocked"),
        ("ask", 0, "ask", "ok"),
        // Whoever is asked decides later.
        ("defer", 0, "ask", "ok"),
        ("perhaps", 0, "allow", "failed"),
    ];
    for (word, code, decision, status) in cases {
        let ran = run_with_answers("PreToolUse", &[build_decision(word, "why")]);
        assert_eq!((ran.code, ran.decision().as_str()), (code, decision), "{word}");
        assert_eq!(ran.statuses(), [status], "{word}");
        assert_eq!(ran.reason(), if word == "perhaps" { "" } else { "why" }, "{word}");
    }
}

#[test]
fn the_old_words_still_count_before_a_tool() {
    let cases = [
        (json!({"decision": "approve", "reason": "old yes"}), 0, "allow", "old yes"),
        (json!({"decision": "block", "reason": "old no"}), 2, "block", "old no"),
        (
            json!({"decision": "approve", "hookSpecificOutput": build_denial("new no")["hookSpecificOutput"]}),
            2,
            "block",
            "new no",
        ),
        (
            json!({"decision": "block", "reason": "old no",
                   "hookSpecificOutput": build_decision("allow", "new yes")["hookSpecificOutput"]}),
            2,
            "block",
            "old no",
        ),
    ];
    for (answer, code, decision, reason) in cases {
        let ran = run_with_answers("PreToolUse", std::slice::from_ref(&answer));
        assert_eq!((ran.code, ran.decision().as_str()), (code, decision), "{answer}");
        assert_eq!(ran.reason(), reason, "{answer}");
    }
}

#[test]
fn deny_beats_ask_beats_allow_whatever_the_order() {
    let opinions = [build_decision("allow", "a"), build_decision("ask", "b"), build_denial("c"), json!({})];
    let strength = |index: usize| [1, 2, 3, 0][index];
    for first in 0..opinions.len() {
        for second in 0..opinions.len() {
            let ran = run_with_answers("PreToolUse", &[opinions[first].clone(), with_salt(&opinions[second], second)]);
            let expected = ["allow", "allow", "ask", "block"][strength(first).max(strength(second))];
            assert_eq!(ran.decision(), expected, "{first} then {second}");
        }
    }
}

/// The same answer in other words, because a hook found twice runs once.
fn with_salt(answer: &Value, salt: usize) -> Value {
    let mut answer = answer.clone();
    answer["ignored"] = salt.into();
    answer
}

#[test]
fn all_reasons_for_the_decision_are_told_in_configured_order() {
    let ran = run_with_answers(
        "PreToolUse",
        &[
            build_decision("ask", "no matter"),
            build_denial("first"),
            build_decision("allow", "x"),
            build_denial("second"),
        ],
    );
    assert_eq!(ran.reason(), "first\nsecond");
    assert_eq!(ran.statuses(), ["ok", "blocked", "ok", "blocked"]);
}

#[test]
fn an_answer_for_another_event_is_left_out_and_said_so() {
    let ran =
        run_with_answers("PreToolUse", &[build_specific_output("PostToolUse", json!({"permissionDecision": "deny"}))]);
    assert_eq!(ran.code, 0);
    assert!(ran.warnings().iter().any(|warning| warning.contains("PostToolUse")), "{:?}", ran.warnings());
    // The name is required and often forgotten; a deny must not be lost to that.
    let ran = run_with_answers("PreToolUse", &[json!({"hookSpecificOutput": {"permissionDecision": "deny"}})]);
    assert_eq!(ran.code, 2);
}

#[test]
fn ending_the_turn_beats_every_decision() {
    let stop = json!({"continue": false, "stopReason": "enough"});
    let cases = [
        // Before something happens, it does not happen.
        ("PreToolUse", 2, "block"),
        ("UserPromptSubmit", 2, "block"),
        // Blocking a stop would mean to go on.
        ("Stop", 0, "allow"),
        ("SubagentStop", 0, "allow"),
        ("SessionStart", 0, "allow"),
        ("PostToolUse", 0, "allow"),
        ("Notification", 0, "allow"),
    ];
    for (event, code, decision) in cases {
        let ran = run_with_answers(event, std::slice::from_ref(&stop));
        assert_eq!((ran.code, ran.decision().as_str()), (code, decision), "{event}");
        assert_eq!(ran.json()["stop"], "enough", "{event}");
        let told = ran.reason() == "enough" || ran.messages() == ["enough"];
        assert!(told, "{event}: the user is told why: {}", ran.stdout);
    }
    let yes = build_decision("allow", "yes");
    assert_eq!(run_with_answers("PreToolUse", &[yes, stop.clone()]).code, 2);
    let go_on = json!({"decision": "block", "reason": "go on"});
    for answers in [[go_on.clone(), stop.clone()], [stop, go_on]] {
        let ran = run_with_answers("Stop", &answers);
        assert_eq!((ran.code, ran.json()["stop"].as_str()), (0, Some("enough")), "{answers:?}");
    }
}

#[test]
fn going_on_is_the_default() {
    for answer in [json!({"continue": true}), json!({"continue": "false"}), json!({"stopReason": "unused"})] {
        let ran = run_with_answers("PreToolUse", std::slice::from_ref(&answer));
        assert_eq!((ran.code, &ran.json()["stop"]), (0, &Value::Null), "{answer}");
    }
}

#[test]
fn fields_of_the_wrong_type_are_told_of() {
    let cases = [
        (json!({"continue": "false"}), "\"continue\" must be true or false"),
        (json!({"systemMessage": ["a"]}), "\"systemMessage\" must be a string"),
        (json!({"decision": "nah"}), "\"decision\" must be \"block\", \"deny\", \"approve\" or \"allow\", not \"nah\""),
        (json!({"permissionDecision": "deny"}), "must be inside \"hookSpecificOutput\""),
        (json!({"hookSpecificOutput": {"updatedInput": "x"}}), "\"updatedInput\" must be an object"),
        (json!({"hookSpecificOutput": {"additionalContext": 5}}), "\"additionalContext\" must be a string"),
    ];
    for (answer, fault) in cases {
        let sandbox = create_project("PreToolUse", &json!([build_command_hook("cat answer")]))
            .file("answer", &answer.to_string());
        let ran = sandbox.run_event("PreToolUse", &json!({"tool_name": "Bash"}));
        assert_eq!((ran.code, ran.statuses()), (0, vec!["failed".to_owned()]), "{answer}");
        let messages = ran.messages();
        assert!(messages.len() == 1 && messages[0].contains(fault), "{answer}: {messages:?}");
    }
}
