//! Hooks that `snell run` starts and does not wait for: they outlive it, end at their timeout, and leave a record.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Sandbox, wait_until};

/// Waits until the test says so, then finishes.
const PATIENT: &str = "echo > begun; until [ -e go ]; do sleep 0.01; done; echo said; echo > finished";
/// Ends only by KILL.
const STUBBORN: &str = "trap '' TERM; echo $$ > pid; while :; do sleep 0.05; done";

/// The same hook in each contract that can say "start it and go on", and the event that starts it.
fn spellings(run: &str, timeout_ms: u64) -> Vec<(&'static str, Sandbox, &'static str)> {
    let seconds = timeout_ms as f64 / 1000.0;
    let group = json!({"PreToolUse": [{"matcher": "*", "hooks": [
        {"type": "command", "command": run, "timeout": seconds, "async": true}
    ]}]});
    let flat = json!({"PostToolUse": [{"matcher": "*", "command": run, "timeout": timeout_ms}]});
    let native = format!(
        "[[hook]]\nevent = \"PreToolUse\"\nrun = '''{run}'''\ntimeout = \"{timeout_ms}ms\"\nbackground = true\n"
    );
    vec![
        ("snell", Sandbox::new().file("snell.toml", &native), "PreToolUse"),
        (
            "wave",
            Sandbox::new().hooks(".wave/settings.json", &group),
            "PreToolUse",
        ),
        (
            "microai",
            Sandbox::new().hooks(".microai/settings.json", &flat),
            "PostToolUse",
        ),
        (
            "claude",
            Sandbox::new().hooks(".claude/settings.json", &group),
            "PreToolUse",
        ),
    ]
}

fn payload() -> Value {
    json!({"session_id": "s-1", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": "done"})
}

/// Whether a process still runs; one that ended and was not yet reaped does not.
fn runs(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| !"ZX".contains(state))
}

#[test]
fn a_hook_that_is_not_awaited_outlives_snell_run_and_leaves_a_record() {
    for (contract, sandbox, event) in spellings(PATIENT, 20_000) {
        // This returns when both outputs are at their end, which the hook cannot have held: it waits for us.
        let ran = sandbox.run(event, &payload());
        assert_eq!(
            (ran.code, ran.statuses()),
            (0, vec!["started".to_owned()]),
            "{contract}"
        );
        let why = ran.hooks()[0]["why"].as_str().unwrap().to_owned();
        assert!(why.contains("background.jsonl"), "{contract}: {why}");
        assert!(!sandbox.exists("finished"), "{contract}");

        fs::write(sandbox.project().join("go"), "").unwrap();
        let record = sandbox.background_outcomes(1).remove(0);
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
    let (_, sandbox, event) = spellings("true", 5000).remove(0);
    sandbox.run(event, &payload());
    sandbox.background_outcomes(1);
    let metadata = fs::metadata(sandbox.data().join("background.jsonl")).unwrap();
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
}

#[test]
fn each_outcome_is_a_line_of_its_own() {
    let (_, sandbox, event) = spellings("echo one; echo two", 5000).remove(0);
    for _ in 0..3 {
        sandbox.run(event, &payload());
    }
    let records = sandbox.background_outcomes(3);
    assert!(records.len() == 3 && records.iter().all(|record| record["stdout"] == "one\ntwo\n"));
}

#[test]
fn the_record_is_kept_where_the_environment_says() {
    let (_, sandbox, event) = spellings("true", 5000).remove(0);
    let cases = [
        (vec![("XDG_DATA_HOME", "data")], "data/snell/background.jsonl"),
        (vec![], "home/.local/share/snell/background.jsonl"),
    ];
    for (variables, place) in cases {
        let root = sandbox.project().parent().unwrap().to_owned();
        let mut command = sandbox.command(&["run", event]);
        command.env_remove("SNELL_HOME");
        command.envs(
            variables
                .into_iter()
                .map(|(name, directory)| (name, root.join(directory))),
        );
        command.stdin(Stdio::null()).output().unwrap();
        wait_until(|| {
            fs::read_to_string(root.join(place))
                .ok()
                .filter(|text| text.ends_with('\n'))
        });
    }
}

#[test]
fn a_hook_that_nobody_awaits_is_still_ended_at_its_timeout() {
    for (contract, sandbox, event) in spellings(STUBBORN, 300) {
        sandbox.run(event, &payload());
        let pid = sandbox.wait_for("pid");
        let record = sandbox.background_outcomes(1).remove(0);
        assert_eq!(
            (&record["status"], &record["timed_out"]),
            (&json!("timed_out"), &json!(true)),
            "{contract}"
        );
        assert!(!runs(&pid), "{contract}");
    }
}

#[test]
fn a_background_hook_survives_the_end_of_its_callers_process_group() {
    for (contract, sandbox, event) in spellings(PATIENT, 20_000) {
        // An agent in a group of its own runs `snell run`; the agent then stays until its whole group is killed.
        let snell = sandbox.command(&[]);
        let variables = snell.get_envs().filter_map(|(name, value)| Some((name, value?)));
        let mut agent = Command::new("/bin/sh")
            .args([
                "-c",
                "echo \"$1\" | \"$0\" run \"$2\" > answer; echo > answered; sleep 30",
            ])
            .arg(snell.get_program())
            .arg(payload().to_string())
            .arg(event)
            .env_clear()
            .envs(variables)
            .current_dir(sandbox.project())
            .process_group(0)
            .spawn()
            .unwrap();
        sandbox.wait_for("answered");
        sandbox.wait_for("begun");
        let group = rustix::process::Pid::from_child(&agent);
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
        agent.wait().unwrap();

        fs::write(sandbox.project().join("go"), "").unwrap();
        let record = sandbox.background_outcomes(1).remove(0);
        assert_eq!(record["status"], "ok", "{contract}");
        assert!(sandbox.exists("finished"), "{contract}");
    }
}

#[test]
fn a_condition_that_does_not_hold_is_recorded_as_skipped() {
    let sandbox = Sandbox::new().hooks(
        ".microai/settings.json",
        &json!({"PostToolUse": [
            {"command": "echo > ran", "condition": "test -e no-such-file"},
            {"command": "exit 4", "condition": "test \"$TOOL_NAME\" = Bash"},
        ]}),
    );
    let ran = sandbox.run("PostToolUse", &payload());
    assert_eq!(ran.statuses(), ["started", "started"]);
    let mut statuses: Vec<_> = sandbox
        .background_outcomes(2)
        .iter()
        .map(|record| {
            (
                record["status"].as_str().unwrap().to_owned(),
                record["exit_code"].clone(),
            )
        })
        .collect();
    statuses.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(
        statuses,
        [("failed".to_owned(), json!(4)), ("skipped".to_owned(), Value::Null)]
    );
    assert!(!sandbox.exists("ran"));
}

#[test]
fn a_background_hook_sees_the_whole_event_and_the_environment() {
    let run = "cat > in.json; echo \"$SNELL_EVENT $SNELL_DEPTH $OF_THE_CALLER\" > env; pwd -P > cwd; echo > end";
    let (_, sandbox, event) = spellings(run, 5000).remove(0);
    let sandbox = sandbox.env("OF_THE_CALLER", "kept");
    let large = json!({"tool_name": "Bash", "tool_input": {"command": "x".repeat(1024 * 1024)}});
    sandbox.run(event, &large);
    sandbox.wait_for("end");
    assert_eq!(sandbox.read_json("in.json")["tool_input"], large["tool_input"]);
    assert_eq!(sandbox.read("env"), "PreToolUse 1 kept\n");
    let project = fs::canonicalize(sandbox.project()).unwrap();
    assert_eq!(sandbox.read("cwd").trim_end(), project.to_str().unwrap());
}

#[test]
fn a_background_hook_that_leaks_is_recorded_as_such() {
    let (_, sandbox, event) = spellings("sleep 30 & echo $! > pid; echo done", 5000).remove(0);
    sandbox.run(event, &payload());
    let record = sandbox.background_outcomes(1).remove(0);
    assert_eq!((&record["status"], &record["leaked"]), (&json!("ok"), &json!(true)));
    let left: i32 = sandbox.read("pid").trim().parse().unwrap();
    let left = rustix::process::Pid::from_raw(left).unwrap();
    rustix::process::kill_process(left, rustix::process::Signal::KILL).unwrap();
}

#[test]
fn a_hook_that_fires_hooks_is_stopped_at_depth_8() {
    let snell = env!("CARGO_BIN_EXE_snell");
    let run = format!("echo $SNELL_DEPTH >> depths; '{snell}' run PreToolUse < /dev/null > answer.$SNELL_DEPTH");
    let native = format!("[[hook]]\nevent = \"PreToolUse\"\nrun = '''{run}'''\n");
    let sandbox = Sandbox::new().file("snell.toml", &native);
    let ran = sandbox.run("PreToolUse", &payload());
    assert_eq!(ran.statuses(), ["ok"]);
    assert_eq!(sandbox.read("depths"), "1\n2\n3\n4\n5\n6\n7\n8\n");
    let deepest = sandbox.read_json("answer.8");
    assert_eq!(deepest["hooks"][0]["status"], "skipped");
    assert!(deepest["hooks"][0]["why"].as_str().unwrap().contains("depth 8"));
}
