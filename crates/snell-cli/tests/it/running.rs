//! Hooks as processes: those that `snell run` awaits end with it; those that it starts and does not wait for outlive it,
//! end at their timeout, and leave a record.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::{Value, json};
use snell_test_support::process::{is_process_running, send_signal, spawn_with_stdin, wait_for_output};
use snell_test_support::wait::wait_until;

use crate::support::CliSandbox;

/// Waits until the test says so, then finishes.
const PATIENT: &str = "echo > begun; until [ -e go ]; do sleep 0.01; done; echo said; echo > finished";
/// Ends only by KILL.
const STUBBORN: &str = "trap '' TERM; echo $$ > pid; while :; do sleep 0.05; done";

/// Has a child of its own, and both end only by KILL. What it was started by is written down too.
const FAMILY: &str = "trap '' TERM INT HUP; echo $PPID > parent; sleep 30 & echo $! > child; echo $$ > pid; wait";

/// The same hook in each contract that can say "start it and go on", and the event that starts it.
fn build_background_projects(run: &str, timeout_ms: u64) -> Vec<(&'static str, CliSandbox, &'static str)> {
    build_background_projects_in(CliSandbox::new, run, timeout_ms)
}

fn build_background_projects_in(
    sandbox: impl Fn() -> CliSandbox,
    run: &str,
    timeout_ms: u64,
) -> Vec<(&'static str, CliSandbox, &'static str)> {
    let seconds = timeout_ms as f64 / 1000.0;
    let group = json!({"PreToolUse": [{"matcher": "*", "hooks": [
        {"type": "command", "command": run, "timeout": seconds, "async": true}
    ]}]});
    let flat = json!({"PostToolUse": [{"matcher": "*", "command": run, "timeout": timeout_ms}]});
    let native = format!(
        "[[hook]]\nevent = \"PreToolUse\"\nrun = '''{run}'''\ntimeout = \"{timeout_ms}ms\"\nbackground = true\n"
    );
    vec![
        ("snell", sandbox().file("snell.toml", &native), "PreToolUse"),
        ("wave", sandbox().hooks(".wave/settings.json", &group), "PreToolUse"),
        ("microai", sandbox().hooks(".microai/settings.json", &flat), "PostToolUse"),
        ("claude", sandbox().hooks(".claude/settings.json", &group), "PreToolUse"),
    ]
}

fn build_payload() -> Value {
    json!({"session_id": "s-1", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": "done"})
}

/// Whether the process runs whose id is in this text.
fn is_running(pid: &str) -> bool {
    is_process_running(pid.trim().parse().unwrap())
}

fn parse_pid(text: &str) -> Pid {
    Pid::from_raw(text.trim().parse().unwrap()).unwrap()
}

/// Waits until none of the processes runs that are named in these files.
fn wait_until_processes_end(sandbox: &CliSandbox, files: &[&str]) {
    let processes: Vec<_> = files.iter().map(|file| sandbox.read(file)).collect();
    wait_until(|| (!processes.iter().any(|process| is_running(process))).then_some(()));
}

/// An agent that is closed ends its `snell run`. The hook has a group of its own, which no terminal and no agent reaches.
#[test]
fn a_snell_run_that_is_told_to_end_ends_the_hooks_that_it_awaits() {
    let native = format!("[[hook]]\nevent = \"PreToolUse\"\nrun = '''{FAMILY}'''\n");
    let group = json!({"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": FAMILY}]}]});
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        // One that runs its hooks in order, and one that runs them together.
        for sandbox in
            [CliSandbox::new().file("snell.toml", &native), CliSandbox::new().hooks(".claude/settings.json", &group)]
        {
            let snell = spawn_with_stdin(&mut sandbox.command(&["run", "PreToolUse"]), build_payload().to_string());
            for file in ["pid", "child"] {
                let process = sandbox.wait_for_content(file);
                assert!(is_running(&process), "{signal:?}: {file}");
            }
            send_signal(snell.id(), signal);
            let ran = wait_for_output(snell);
            assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{signal:?}");
            assert!(ran.stderr.contains(" ended the command and its running hooks"), "{signal:?}: {}", ran.stderr);
            wait_until_processes_end(&sandbox, &["pid", "child"]);
        }
    }
}

#[test]
fn a_supervisor_that_is_told_to_end_ends_the_hooks_that_it_stays_with() {
    for (contract, sandbox, event) in build_background_projects(FAMILY, 20_000) {
        sandbox.run_event(event, &build_payload());
        for file in ["parent", "pid", "child"] {
            let process = sandbox.wait_for_content(file);
            assert!(is_running(&process), "{contract}: {file}");
        }
        kill_process(parse_pid(&sandbox.read("parent")), Signal::TERM).unwrap();
        wait_until_processes_end(&sandbox, &["parent", "pid", "child"]);
    }
}

#[test]
fn a_hook_that_is_not_awaited_outlives_snell_run_and_leaves_a_record() {
    for (contract, sandbox, event) in build_background_projects(PATIENT, 20_000) {
        // This returns when both outputs are at their end, which the hook cannot have held: it waits for us.
        let ran = sandbox.run_event(event, &build_payload());
        assert_eq!((ran.code, ran.statuses()), (0, vec!["started".to_owned()]), "{contract}");
        let why = ran.hooks()[0]["why"].as_str().unwrap().to_owned();
        assert!(why.contains("background.jsonl"), "{contract}: {why}");
        assert!(!sandbox.exists("finished"), "{contract}");

        fs::write(sandbox.project().join("go"), "").unwrap();
        let record = sandbox.wait_for_background_outcomes(1).remove(0);
        assert!(sandbox.exists("finished"), "{contract}");
        let expected = json!({
            "contract": contract, "event": event, "session_id": "s-1", "status": "ok", "success": true,
            "exit_code": 0, "signal": null, "stdout": "said\n", "timed_out": false, "command": PATIENT,
        });
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(&record[key], value, "{contract}: {key}");
        }
        assert!(record["finished_at"].as_str().unwrap().ends_with('Z'), "{contract}");
    }
}

#[test]
fn the_record_is_for_its_owner_only() {
    let (_, sandbox, event) = build_background_projects("true", 5000).remove(0);
    sandbox.run_event(event, &build_payload());
    sandbox.wait_for_background_outcomes(1);
    let metadata = fs::metadata(sandbox.data().join("background.jsonl")).unwrap();
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
}

#[test]
fn each_outcome_is_a_line_of_its_own() {
    let (_, sandbox, event) = build_background_projects("echo one; echo two", 5000).remove(0);
    for _ in 0..3 {
        sandbox.run_event(event, &build_payload());
    }
    let records = sandbox.wait_for_background_outcomes(3);
    assert!(records.len() == 3 && records.iter().all(|record| record["stdout"] == "one\ntwo\n"));
}

#[test]
fn the_record_is_kept_where_the_environment_says() {
    let (_, sandbox, event) = build_background_projects("true", 5000).remove(0);
    let cases = [
        (vec![("XDG_DATA_HOME", "data")], "data/snell/background.jsonl"),
        (vec![], "home/.local/share/snell/background.jsonl"),
    ];
    for (variables, place) in cases {
        let root = sandbox.project().parent().unwrap().to_owned();
        let mut command = sandbox.command(&["run", event]);
        command.env_remove("SNELL_HOME");
        command.envs(variables.into_iter().map(|(name, directory)| (name, root.join(directory))));
        command.stdin(Stdio::null()).output().unwrap();
        wait_until(|| fs::read_to_string(root.join(place)).ok().filter(|text| text.ends_with('\n')));
    }
}

#[test]
fn a_hook_that_nobody_awaits_is_still_ended_at_its_timeout() {
    for (contract, sandbox, event) in build_background_projects(STUBBORN, 300) {
        sandbox.run_event(event, &build_payload());
        let pid = sandbox.wait_for_content("pid");
        let record = sandbox.wait_for_background_outcomes(1).remove(0);
        assert_eq!((&record["status"], &record["timed_out"]), (&json!("timed_out"), &json!(true)), "{contract}");
        assert!(!is_running(&pid), "{contract}");
    }
}

#[test]
fn a_background_hook_survives_the_end_of_its_callers_process_group() {
    for (contract, sandbox, event) in build_background_projects(PATIENT, 20_000) {
        // An agent in a group of its own runs `snell run`; the agent then stays until its whole group is killed.
        let line = "\"$0\" \"$@\" > answer; echo > answered; sleep 30";
        let mut agent =
            spawn_with_stdin(sandbox.shell(line, &["run", event]).process_group(0), build_payload().to_string());
        sandbox.wait_for_content("answered");
        sandbox.wait_for_content("begun");
        kill_process_group(Pid::from_child(&agent), Signal::KILL).unwrap();
        agent.wait().unwrap();

        fs::write(sandbox.project().join("go"), "").unwrap();
        let record = sandbox.wait_for_background_outcomes(1).remove(0);
        assert_eq!(record["status"], "ok", "{contract}");
        assert!(sandbox.exists("finished"), "{contract}");
    }
}

#[test]
fn a_condition_that_does_not_hold_is_recorded_as_skipped() {
    let sandbox = CliSandbox::new().hooks(
        ".microai/settings.json",
        &json!({"PostToolUse": [
            {"command": "echo > ran", "condition": "test -e no-such-file"},
            {"command": "exit 4", "condition": "test \"$TOOL_NAME\" = Bash"},
        ]}),
    );
    let ran = sandbox.run_event("PostToolUse", &build_payload());
    assert_eq!(ran.statuses(), ["started", "started"]);
    let mut statuses: Vec<_> = sandbox
        .wait_for_background_outcomes(2)
        .iter()
        .map(|record| (record["status"].as_str().unwrap().to_owned(), record["exit_code"].clone()))
        .collect();
    statuses.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(statuses, [("failed".to_owned(), json!(4)), ("skipped".to_owned(), Value::Null)]);
    assert!(!sandbox.exists("ran"));
}

#[test]
fn a_background_hook_sees_the_whole_event_and_the_environment() {
    let run = "cat > in.json; echo \"$SNELL_EVENT $SNELL_DEPTH $OF_THE_CALLER\" > env; pwd -P > cwd; echo > end";
    let (_, sandbox, event) = build_background_projects(run, 5000).remove(0);
    let sandbox = sandbox.env("OF_THE_CALLER", "kept");
    let large = json!({"tool_name": "Bash", "tool_input": {"command": "x".repeat(1024 * 1024)}});
    sandbox.run_event(event, &large);
    sandbox.wait_for_content("end");
    assert_eq!(sandbox.read_json("in.json")["tool_input"], large["tool_input"]);
    assert_eq!(sandbox.read("env"), "PreToolUse 1 kept\n");
    let project = fs::canonicalize(sandbox.project()).unwrap();
    assert_eq!(sandbox.read("cwd").trim_end(), project.to_str().unwrap());
}

#[test]
fn a_background_hook_that_leaks_is_recorded_as_such() {
    let (_, sandbox, event) = build_background_projects("sleep 30 & echo $! > pid; echo done", 5000).remove(0);
    sandbox.run_event(event, &build_payload());
    let record = sandbox.wait_for_background_outcomes(1).remove(0);
    assert_eq!((&record["status"], &record["leaked"]), (&json!("ok"), &json!(true)));
    kill_process(parse_pid(&sandbox.read("pid")), Signal::KILL).unwrap();
}

#[test]
fn a_hook_that_fires_hooks_is_stopped_at_depth_8() {
    let snell = env!("CARGO_BIN_EXE_snell");
    let run = format!("echo $SNELL_DEPTH >> depths; '{snell}' run PreToolUse < /dev/null > answer.$SNELL_DEPTH");
    let native = format!("[[hook]]\nevent = \"PreToolUse\"\nrun = '''{run}'''\n");
    let sandbox = CliSandbox::new().file("snell.toml", &native);
    let ran = sandbox.run_event("PreToolUse", &build_payload());
    assert_eq!(ran.statuses(), ["ok"]);
    assert_eq!(sandbox.read("depths"), "1\n2\n3\n4\n5\n6\n7\n8\n");
    let deepest = sandbox.read_json("answer.8");
    assert_eq!(deepest["hooks"][0]["status"], "skipped");
    assert!(deepest["hooks"][0]["why"].as_str().unwrap().contains("8 levels deep"));
}

/// A guard must not be opened by whoever manages to be eight hooks deep.
#[test]
fn at_depth_8_a_hook_that_fails_closed_blocks_and_any_other_is_skipped_and_told_of() {
    let native =
        |policy: &str| format!("[[hook]]\nevent = 'PreToolUse'\nrun = 'echo > ran'\non_failure = '{policy}'\n");
    let group = json!({"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "echo > ran"}]}]});
    let flat = json!({"PreToolUse": [{"matcher": "*", "command": "echo > ran"}]});
    let whale = json!([{"event": "BeforeTool", "command": "echo > ran"}]).to_string();
    let cases = [
        ("native, closed", CliSandbox::new().file("snell.toml", &native("block")), true),
        ("native", CliSandbox::new().file("snell.toml", &native("continue")), false),
        ("wave", CliSandbox::new().hooks(".wave/settings.json", &group), false),
        ("microai", CliSandbox::new().hooks(".microai/settings.json", &flat), false),
        ("claude", CliSandbox::new().hooks(".claude/settings.json", &group), false),
        ("whale", CliSandbox::new().file(".whale/hooks.json", &whale), false),
    ];
    for (case, sandbox, blocks) in cases {
        let sandbox = sandbox.env("SNELL_DEPTH", "8");
        let ran = sandbox.run_event("PreToolUse", &build_payload());
        assert!(!sandbox.exists("ran"), "{case}");
        if blocks {
            assert_eq!((ran.code, ran.statuses()), (2, vec!["failed".to_owned()]), "{case}");
            assert!(ran.reason().contains("8 levels deep"), "{case}: {}", ran.reason());
        } else {
            assert_eq!((ran.code, ran.statuses()), (0, vec!["skipped".to_owned()]), "{case}");
            let warnings = ran.warnings();
            assert!(warnings.len() == 1 && warnings[0].contains("8 levels deep"), "{case}: {warnings:?}");
        }
        let explained = sandbox.run_snell(&["explain", "PreToolUse", "--tool", "Bash", "--json"], "").json();
        assert_eq!(explained[0]["fires"], false, "{case}");
        let why = explained[0]["why"].as_str().unwrap();
        assert!(why.contains("8 levels deep"), "{case}: {why}");
    }
}

#[test]
fn a_record_that_cannot_be_written_costs_no_hook_its_run() {
    // The slow one goes on only when the quick one is over, and with it the attempt to record it.
    let quick = "echo $$ > quick";
    let slow = "until [ -s quick ] && ! kill -0 $(cat quick) 2> /dev/null; do sleep 0.01; done; sleep 0.3; echo > slow";
    let handler = |command: &str| json!({"type": "command", "command": command, "async": true});
    let sandboxes = [
        CliSandbox::new()
            .hooks(".microai/settings.json", &json!({"PostToolUse": [{"command": slow}, {"command": quick}]})),
        CliSandbox::new()
            .hooks(".claude/settings.json", &json!({"PostToolUse": [{"hooks": [handler(slow), handler(quick)]}]})),
    ];
    for sandbox in sandboxes {
        let sandbox = sandbox.env("SNELL_HOME", "/dev/null/x");
        let ran = sandbox.run_event("PostToolUse", &build_payload());
        assert_eq!(ran.statuses(), ["started", "started"]);
        sandbox.wait_for_content("slow");
    }
}

#[test]
fn a_directory_for_temporary_files_that_is_not_there_costs_no_hook() {
    for (contract, sandbox, event) in build_background_projects("echo > ran", 5000) {
        let sandbox = sandbox.env("TMPDIR", "/nonexistent");
        let ran = sandbox.run_event(event, &build_payload());
        assert_eq!((ran.code, ran.statuses()), (0, vec!["started".to_owned()]), "{contract}");
        sandbox.wait_for_content("ran");
    }
}

#[test]
fn a_place_where_nothing_can_be_recorded_is_told_of() {
    let sandbox = CliSandbox::new()
        .hooks(".microai/settings.json", &json!({"PostToolUse": [{"command": "true"}]}))
        .env("SNELL_HOME", "/dev/null/x");
    let ran = sandbox.run_event("PostToolUse", &build_payload());
    let why = ran.hooks()[0]["why"].as_str().unwrap().to_owned();
    assert!(why.contains("cannot record its outcome in /dev/null/x"), "{why}");
}

#[test]
fn a_recorded_outcome_has_the_time_of_the_clock_that_was_set() {
    let sandbox = CliSandbox::new()
        .hooks(".microai/settings.json", &json!({"PostToolUse": [{"command": "true"}]}))
        .env("SNELL_NOW", "2025-12-31T10:30:00Z");
    sandbox.run_event("PostToolUse", &build_payload());
    assert_eq!(sandbox.wait_for_background_outcomes(1)[0]["finished_at"], "2025-12-31T10:30:00Z");
}

#[test]
fn a_hook_that_leaves_its_group_is_ended_at_its_deadline_all_the_same() {
    let leave = "import os, time; open('pid', 'w').write(str(os.getpid())); \
                 os.setpgid(0, os.getpgid(os.getppid())); time.sleep(30)";
    let sandbox = CliSandbox::new().file("leave.py", leave).hooks(
        ".wave/settings.json",
        &json!({"Stop": [{"hooks": [{"type": "command", "command": "exec python3 leave.py", "timeout": 1}]}]}),
    );
    // Where there is no python3 to play this trick, there is nothing to see.
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        return;
    }
    let ran = sandbox.run_event("Stop", &json!({}));
    assert_eq!(ran.statuses(), ["timed_out"]);
    assert!(!std::path::Path::new("/proc").join(sandbox.read("pid")).exists());
}

#[test]
fn what_is_killed_at_a_deadline_leaves_no_zombie_behind() {
    let command = "sh -c 'echo $$ > pid; exec sleep 30' & wait";
    let sandbox = CliSandbox::new().hooks(
        ".wave/settings.json",
        &json!({"Stop": [{"hooks": [{"type": "command", "command": command, "timeout": 0.5}]}]}),
    );
    let ran = sandbox.run_event("Stop", &json!({}));
    assert_eq!(ran.statuses(), ["timed_out"]);
    assert!(!std::path::Path::new("/proc").join(sandbox.read("pid").trim()).exists());
}

#[test]
fn a_project_whose_name_is_no_text_has_its_background_hooks_run_and_recorded() {
    let sandbox = || CliSandbox::with_project_name(OsStr::from_bytes(b"p\xffq"));
    for (contract, sandbox, event) in build_background_projects_in(sandbox, "pwd -P > cwd; echo said", 5000) {
        let ran = sandbox.run_event(event, &build_payload());
        assert_eq!((ran.code, ran.statuses()), (0, vec!["started".to_owned()]), "{contract}");
        let record = sandbox.wait_for_background_outcomes(1).remove(0);
        assert_eq!((&record["status"], &record["stdout"]), (&json!("ok"), &json!("said\n")), "{contract}");
        let project = fs::canonicalize(sandbox.project()).unwrap();
        let cwd = fs::read(sandbox.project().join("cwd")).unwrap();
        assert_eq!(cwd.trim_ascii_end(), project.as_os_str().as_bytes(), "{contract}");
    }
}
