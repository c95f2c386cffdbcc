//! Every key of a `[[hook]]`, where the file may lie, and what a mistake in it costs.

use serde_json::{Value, json};

use super::{create_project, render_tool_hook, run_bash_call};
use crate::support::CliSandbox;

/// Whether the only hook of this file takes part in the event.
fn is_hook_fired(text: &str, event: &str, payload: &Value) -> bool {
    let ran = create_project(text).run_event(event, payload);
    assert_eq!(ran.warnings(), [""; 0], "{text}");
    !ran.hooks().is_empty()
}

#[test]
fn the_users_file_runs_before_the_projects() {
    let user = render_tool_hook("run = 'echo user >> log'");
    let in_home = CliSandbox::new().home_file(".config/snell/snell.toml", &user);
    let xdg = CliSandbox::new()
        .home_file("elsewhere/snell/snell.toml", &user)
        // Where the variable is set, the usual place is not looked at.
        .home_file(".config/snell/snell.toml", &render_tool_hook("run = 'echo usual >> log'"));
    let elsewhere = xdg.home().join("elsewhere");
    let xdg = xdg.env("XDG_CONFIG_HOME", elsewhere.to_str().unwrap());
    for sandbox in [in_home, xdg] {
        let sandbox = sandbox.file("snell.toml", &render_tool_hook("run = 'echo project >> log'"));
        run_bash_call(&sandbox);
        assert_eq!(sandbox.read("log"), "user\nproject\n");
    }
}

#[test]
fn an_event_is_a_name_an_alias_or_a_list() {
    let cases = [
        ("\"PreToolUse\"", "PreToolUse", true),
        ("\"BeforeTool\"", "PreToolUse", true),
        ("\"pre-tool-use\"", "PreToolUse", true),
        ("\"PreToolUse\"", "BeforeTool", true),
        ("\"PreToolUse\"", "PostToolUse", false),
        ("[\"PreToolUse\", \"AfterTool\"]", "PreToolUse", true),
        ("[\"PreToolUse\", \"AfterTool\"]", "post-tool-use", true),
        ("[\"PreToolUse\", \"AfterTool\"]", "Stop", false),
        ("[\"Stop\"]", "AfterAgent", true),
        ("\"PreCompress\"", "PreCompact", true),
        ("\"UserPrompt\"", "BeforeAgent", true),
    ];
    for (written, fired, expected) in cases {
        let text = format!("[[hook]]\nevent = {written}\nrun = 'true'\n");
        assert_eq!(is_hook_fired(&text, fired, &json!({"tool_name": "Bash"})), expected, "{written} on {fired}");
    }
}

#[test]
fn a_tool_is_claudes_matcher_or_a_class() {
    let cases = [
        ("", "Bash", true),
        ("*", "Bash", true),
        ("Edit|Write", "Write", true),
        ("Edit, Write", "Write", true),
        ("Edit|Write", "MultiEdit", false),
        ("edit", "Edit", false),
        ("^Multi.*", "MultiEdit", true),
        ("mcp__.*__get", "mcp__db__get", true),
        ("shell", "Bash", true),
        ("shell", "run_shell_command", true),
        ("shell", "PowerShell", true),
        ("shell", "Read", false),
        ("file.write", "Edit", true),
        ("file.write", "Write", true),
        ("file.write", "apply_patch", true),
        ("file.write", "write_file", true),
        ("file.write", "Read", false),
        ("file.read", "Read", true),
        ("file.read", "read_file", true),
        ("file.read", "Write", false),
        ("web", "WebFetch", true),
        ("web", "WebSearch", true),
        ("web", "google_web_search", true),
        ("web", "Bash", false),
        ("mcp", "mcp__memory__store", true),
        ("mcp", "Bash", false),
    ];
    for (tool, called, expected) in cases {
        let text = render_tool_hook(&format!("tool = '{tool}'\nrun = 'true'"));
        assert_eq!(is_hook_fired(&text, "PreToolUse", &json!({"tool_name": called})), expected, "{tool} on {called}");
    }
    let text = render_tool_hook("run = 'true'");
    assert!(is_hook_fired(&text, "PreToolUse", &json!({"tool_name": "Anything"})), "no tool means every tool");
}

#[test]
fn a_condition_that_does_not_hold_keeps_the_hook_from_running() {
    let cases = [
        ("true", true),
        ("test -f there", true),
        ("test -f missing", false),
        ("exit 2", false),
        ("no-such-program-anywhere", false),
        // It has one second.
        ("sleep 30", false),
        // It knows what the hook knows.
        ("test \"$SNELL_TOOL:$SNELL_COMMAND\" = Bash:ls", true),
        ("grep -q '\"tool_name\":\"Bash\"'", true),
    ];
    for (when, runs) in cases {
        let sandbox = create_project(&render_tool_hook(&format!("when = '''{when}'''\nrun = 'echo ran > log'")))
            .file("there", "");
        let ran = run_bash_call(&sandbox);
        assert_eq!(sandbox.exists("log"), runs, "{when}");
        assert_eq!(ran.statuses(), [if runs { "ok" } else { "skipped" }], "{when}");
        assert_eq!(ran.hooks()[0]["why"].is_string(), !runs, "{when}: a skipped hook says why");
        assert_eq!(ran.code, 0, "{when}");
    }
}

#[test]
fn a_condition_that_gives_no_answer_is_the_failure_of_its_hook() {
    let cases = [
        ("sleep 30", Some("timed out after 1s")),
        ("kill -9 $$", Some("was killed by signal 9")),
        // These say no, which is an answer.
        ("false", None),
        ("exit 2", None),
    ];
    for (when, failure) in cases {
        for policy in ["continue", "block"] {
            let text = render_tool_hook(&format!("when = '{when}'\nrun = 'echo ran > log'\non_failure = '{policy}'"));
            let sandbox = create_project(&text);
            let ran = run_bash_call(&sandbox);
            let case = format!("{when}, {policy}");
            assert!(!sandbox.exists("log"), "{case}");
            let warnings = ran.warnings();
            match failure {
                Some(failure) if policy == "block" => {
                    assert_eq!((ran.code, ran.statuses()), (2, vec!["failed".to_owned()]), "{case}");
                    assert!(ran.reason().contains(failure), "{case}: {}", ran.reason());
                    assert_eq!(warnings, [""; 0], "{case}");
                }
                Some(failure) => {
                    assert_eq!((ran.code, ran.statuses()), (0, vec!["skipped".to_owned()]), "{case}");
                    assert!(warnings.len() == 1 && warnings[0].contains(failure), "{case}: {warnings:?}");
                }
                None => {
                    assert_eq!((ran.code, ran.statuses()), (0, vec!["skipped".to_owned()]), "{case}");
                    assert_eq!(warnings, [""; 0], "{case}");
                }
            }
        }
    }
}

#[test]
fn run_is_a_shell_line_and_exec_is_a_program_with_its_arguments() {
    let sandbox = create_project(&format!(
        "{}{}{}",
        render_tool_hook("run = 'echo $SNELL_TOOL | tr a-z A-Z > shell'"),
        render_tool_hook("exec = ['./save.sh', '$SNELL_TOOL', 'a b', '; touch injected', '*']"),
        render_tool_hook("exec = ['cp', 'snell.toml', 'copied']"),
    ))
    .script("save.sh", "printf '[%s]' \"$@\" > exec");
    let ran = run_bash_call(&sandbox);
    assert_eq!(ran.statuses(), ["ok", "ok", "ok"], "{ran:?}");
    assert_eq!(sandbox.read("shell"), "BASH\n");
    assert_eq!(sandbox.read("exec"), "[$SNELL_TOOL][a b][; touch injected][*]");
    assert!(sandbox.exists("copied") && !sandbox.exists("injected"));
}

#[test]
fn a_timeout_is_a_duration_with_its_unit_and_ten_seconds_by_default() {
    let cases = [
        ("", 10_000),
        ("timeout = '500ms'", 500),
        ("timeout = '2s'", 2_000),
        ("timeout = '1m'", 60_000),
        ("timeout = '1m 30s'", 90_000),
        // Without a unit nobody knows what was meant; the default counts, and `lint` says so.
        ("timeout = 5", 10_000),
        ("timeout = '5'", 10_000),
        ("timeout = '-5s'", 10_000),
        ("timeout = '0s'", 10_000),
    ];
    for (line, expected) in cases {
        let sandbox = create_project(&render_tool_hook(&format!("run = 'true'\n{line}")));
        let listed = sandbox.run_snell(&["list", "--json"], "");
        assert_eq!(listed.json()[0]["timeout_ms"], expected, "{line}");
        let unclear = expected == 10_000 && !line.is_empty();
        assert_eq!(sandbox.run_snell(&["lint"], "").code, i32::from(unclear), "{line}");
    }
    let ran = run_bash_call(&create_project(&render_tool_hook("run = 'sleep 30'\ntimeout = '200ms'")));
    assert_eq!(ran.statuses(), ["timed_out"]);
    assert_eq!(ran.code, 0);
}

#[test]
fn a_failure_goes_on_unless_the_hook_fails_closed() {
    let failures = [
        ("run = 'echo broken >&2; exit 1'", "failed", "broken"),
        ("run = 'exit 126'", "failed", "126"),
        ("run = 'kill -9 $$'", "failed", "signal 9"),
        ("run = 'sleep 30'", "timed_out", "timed out"),
        ("run = 'no-such-program-anywhere'", "failed", "no-such-program-anywhere"),
        ("exec = ['no-such-program-anywhere']", "failed", "no-such-program-anywhere"),
        ("exec = ['./missing.sh']", "failed", "missing.sh"),
        ("run = '''echo '{\"decision\": ' '''", "failed", "JSON"),
        ("run = '''echo '{\"decision\":\"alow\"}' '''", "failed", "alow"),
        ("run = '''echo '{\"decision\":7}' '''", "failed", "decision"),
        // An allow from a hook that then fails is worth nothing.
        ("run = '''echo '{\"decision\":\"allow\"}'; exit 1'''", "failed", "exited with 1"),
    ];
    for (lines, status, mentioned) in failures {
        // A busy machine must not miss the deadline of a hook that is not meant to.
        let timeout = if lines.contains("sleep") { "500ms" } else { "20s" };
        let hook = |policy: &str| render_tool_hook(&format!("{lines}\ntimeout = '{timeout}'\n{policy}"));
        for policy in ["", "on_failure = 'continue'"] {
            let ran = run_bash_call(&create_project(&hook(policy)));
            assert_eq!((ran.code, ran.decision().as_str()), (0, "allow"), "{lines} {policy}");
            assert_eq!(ran.statuses(), [status], "{lines} {policy}");
            let messages = ran.messages();
            assert!(messages.len() == 1 && messages[0].contains(mentioned), "{lines} {policy}: {messages:?}");
        }
        let ran = run_bash_call(&create_project(&hook("on_failure = 'block'")));
        assert_eq!((ran.code, ran.decision().as_str()), (2, "block"), "{lines}");
        assert_eq!(ran.statuses(), [status], "{lines}");
        assert!(ran.reason().contains(mentioned), "{lines}: {}", ran.reason());
    }
}

#[test]
fn a_hook_that_fails_closed_and_ends_well_blocks_nothing() {
    for lines in ["run = 'true'", "run = 'echo fine'", "run = '''echo '{}' '''"] {
        let ran = run_bash_call(&create_project(&render_tool_hook(&format!("{lines}\non_failure = 'block'"))));
        assert_eq!((ran.code, ran.statuses()), (0, vec!["ok".to_owned()]), "{lines}");
    }
}

#[test]
fn a_change_needs_modify() {
    let changed = json!({"command": "ls -l"});
    let cases = [
        ("PreToolUse", "tool_input", json!({"tool_input": changed}), "", Value::Null),
        ("PreToolUse", "tool_input", json!({"tool_input": changed}), "modify = false", Value::Null),
        ("PreToolUse", "tool_input", json!({"tool_input": changed}), "modify = true", changed.clone()),
        ("PostToolUse", "tool_output", json!({"tool_output": "new"}), "modify = false", Value::Null),
        ("PostToolUse", "tool_output", json!({"tool_output": "new"}), "modify = true", json!("new")),
        ("PostToolUse", "tool_output", json!({"tool_output": {"a": 1}}), "modify = true", json!({"a": 1})),
    ];
    for (event, field, answer, modify, expected) in cases {
        let text = format!("[[hook]]\nevent = '{event}'\nrun = '''echo '{answer}' '''\n{modify}\n");
        let payload = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": "old"});
        let ran = create_project(&text).run_event(event, &payload);
        assert_eq!(ran.json()[field], expected, "{event} {modify}");
        assert_eq!(ran.warnings().len(), usize::from(expected.is_null()), "{event} {modify}");
        assert_eq!(ran.code, 0, "{event} {modify}");
    }
}

#[test]
fn a_background_hook_is_not_awaited_and_its_end_is_recorded() {
    // It ends only after `snell run` has: nothing else makes the file that it waits for.
    let line = "while ! test -e released; do sleep 0.01; done; echo done; exit 2";
    let sandbox = create_project(&render_tool_hook(&format!("background = true\ntimeout = '9s'\nrun = '{line}'")));
    let ran = run_bash_call(&sandbox);
    assert_eq!((ran.code, ran.statuses()), (0, vec!["started".to_owned()]));
    let sandbox = sandbox.file("released", "");
    let outcome = &sandbox.wait_for_background_outcomes(1)[0];
    assert_eq!(outcome["exit_code"], 2);
    assert_eq!(outcome["stdout"], "done\n");
    assert_eq!(outcome["contract"], "snell");
    assert_eq!(outcome["session_id"], "s1");
}

#[test]
fn a_background_hook_keeps_its_condition() {
    let sandbox = create_project(&format!(
        "{}{}",
        render_tool_hook("background = true\nwhen = 'false'\nrun = 'echo never > log'"),
        render_tool_hook("background = true\nwhen = 'true'\nrun = 'echo ran > other'"),
    ));
    run_bash_call(&sandbox);
    sandbox.wait_for_background_outcomes(2);
    assert_eq!(sandbox.wait_for_content("other"), "ran\n");
    assert!(!sandbox.exists("log"));
}

#[test]
fn a_mistake_costs_only_the_hook_it_is_in() {
    let cases = [
        ("[[hook]]\nrun = 'echo bad >> log'", "event"),
        ("[[hook]]\nevent = 'PreToolUs'\nrun = 'echo bad >> log'", "PreToolUse"),
        ("[[hook]]\nevent = []\nrun = 'echo bad >> log'", "event"),
        ("[[hook]]\nevent = 'PreToolUse'", "run"),
        ("[[hook]]\nevent = 'PreToolUse'\nrun = 'true'\nexec = ['true']", "both"),
        ("[[hook]]\nevent = 'PreToolUse'\nexec = []", "exec"),
        ("[[hook]]\nevent = 'PreToolUse'\ntool = '('\nrun = 'echo bad >> log'", "tool"),
    ];
    for (bad, mentioned) in cases {
        let good = render_tool_hook("run = 'echo good >> log'");
        let sandbox = create_project(&format!("{good}{bad}\n{good}"));
        let ran = run_bash_call(&sandbox);
        assert_eq!(sandbox.read("log"), "good\ngood\n", "{bad}");
        let warnings = ran.warnings();
        assert_eq!(warnings.len(), 1, "{bad}: {warnings:?}");
        assert!(warnings[0].starts_with("snell.toml:"), "{bad}: {warnings:?}");
        assert!(warnings[0].contains(mentioned), "{bad}: {warnings:?}");
    }
}

#[test]
fn a_wrong_name_in_a_list_of_events_costs_only_that_name() {
    let sandbox = create_project("[[hook]]\nevent = ['PreToolUse', 'Stopp']\nrun = 'echo ran > log'\n");
    let ran = run_bash_call(&sandbox);
    assert_eq!(sandbox.read("log"), "ran\n");
    assert!(ran.warnings()[0].contains("Stop"), "{:?}", ran.warnings());
}

#[test]
fn a_file_that_is_not_toml_is_reported_and_the_other_one_works() {
    let sandbox = create_project("[[hook]\nevent = 'PreToolUse'\n")
        .home_file(".config/snell/snell.toml", &render_tool_hook("run = 'echo user > log'"));
    let ran = run_bash_call(&sandbox);
    assert_eq!(sandbox.read("log"), "user\n");
    assert!(ran.warnings()[0].starts_with("snell.toml:1:"), "{:?}", ran.warnings());
}

#[test]
fn exec_knows_the_project_only_where_it_stays_a_path() {
    let sandbox = || {
        crate::support::CliSandbox::with_project_name("$(touch PWN)".as_ref())
            .script("show.sh", "printf %s \"$1\" > shown")
    };
    let placed = sandbox().file(
        "snell.toml",
        "[[hook]]\nevent = \"Stop\"\nexec = [\"${SNELL_PROJECT_DIR}/show.sh\", \"${SNELL_PROJECT_DIR}/a.txt\"]\n",
    );
    placed.run_event("Stop", &json!({}));
    assert_eq!(placed.read("shown"), placed.project().join("a.txt").to_str().unwrap());
    for code in ["ls ${SNELL_PROJECT_DIR}; :", "ls ${CLAUDE_PROJECT_DIR}; :", "${SNELL_PROJECT_DIR}/x"] {
        let sandbox =
            sandbox().file("snell.toml", &format!("[[hook]]\nevent = \"Stop\"\nexec = [\"sh\", \"-c\", \"{code}\"]\n"));
        sandbox.run_event("Stop", &json!({}));
        assert!(!sandbox.exists("PWN"), "{code}");
    }
}
