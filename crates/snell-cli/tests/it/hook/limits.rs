//! Limits and signals: a call that is denied stays denied under each of them.

use std::fs::{self, File};
use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::{Value, json};
use snell_test_support::process::{CommandOutput, run_with_stdin, send_signal, spawn_with_stdin, wait_for_output};
use snell_test_support::skip::require_program;

use super::{HookSandbox, RecordingMode};
use crate::support::CliSandbox;

/// Signals whose default action ends a process that was not asked to end.
const UNSOLICITED: &[Signal] = &[
    Signal::XFSZ,
    Signal::XCPU,
    Signal::ALARM,
    Signal::VTALARM,
    Signal::PROF,
    Signal::USR1,
    Signal::USR2,
    Signal::IO,
    Signal::PIPE,
    Signal::TRAP,
    #[cfg(target_os = "linux")]
    Signal::STKFLT,
    #[cfg(target_os = "linux")]
    Signal::POWER,
];

/// Ignores SIGCHLD, and becomes another program.
const WITHOUT_CHILDREN: &str =
    "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])";

fn render_bash_payload(watched: &HookSandbox, command: &str) -> String {
    let input = json!({"tool_name": "Bash", "tool_input": {"command": command}, "transcript_path": "/t.jsonl"});
    watched.build_payload("s1", "PreToolUse", input).to_string()
}

/// `snell hook` below a bash that runs this first.
fn build_prepared_command(watched: &HookSandbox, preparation: &str) -> Command {
    let mut command = watched.sandbox.program("bash");
    let line = format!("{preparation} && exec \"$0\" hook --agent claude");
    command.args(["-c", &line, env!("CARGO_BIN_EXE_snell")]);
    command
}

fn read_permission_decision(ran: &CommandOutput) -> Value {
    ran.json()["hookSpecificOutput"]["permissionDecision"].clone()
}

#[test]
fn a_denied_call_stays_denied_under_every_limit() {
    if require_program("bash").is_none() {
        return;
    }
    let nested = format!("{}rm -rf ~{}", "( ".repeat(60), " )".repeat(60));
    // The limit, and whether the event can be recorded under it.
    let cases = [
        ("-f 0", false),
        ("-f 1", false),
        ("-n 4", false),
        ("-n 16", true),
        ("-v 2000000", true),
        ("-u 1", true),
        ("-t 5", true),
        ("-s 64", true),
        ("-s 256", true),
        ("-c 0", true),
        ("-l 0", true),
    ];
    for (limit, is_recorded) in cases {
        for command in ["rm -rf ~", nested.as_str()] {
            let watched = HookSandbox::new(RecordingMode::Alone);
            let mut limited = build_prepared_command(&watched, &format!("ulimit {limit}"));
            let ran = run_with_stdin(&mut limited, render_bash_payload(&watched, command));
            assert_eq!(ran.code, 0, "{limit}: {ran:?}");
            assert_eq!(read_permission_decision(&ran), "deny", "{limit}: {ran:?}");
            if is_recorded {
                assert_eq!(watched.count_rows("events"), 1, "{limit}: {ran:?}");
            } else {
                assert!(ran.stderr.contains("cannot record"), "{limit}: {ran:?}");
            }
        }
    }
}

#[test]
fn a_payload_with_too_many_values_takes_bounded_memory_and_is_judged_or_asked_about() {
    if require_program("bash").is_none() {
        return;
    }
    let watched = HookSandbox::new(RecordingMode::Alone);
    let call = render_bash_payload(&watched, "rm -rf ~");
    let members = call.strip_prefix('{').unwrap();
    let harmless = render_bash_payload(&watched, "ls");
    let zeros = "0,".repeat(4_000_000);
    let many_members = "\"a\":0,".repeat(700_000);
    let input = format!("\"command\":\"rm -rf ~\",\"x\":[{zeros}0]");
    let too_much = " ".repeat(64 << 20);
    let cases = [
        ("blanks before the payload", format!("{too_much}{call}"), "ask"),
        ("before the call", format!("{{\"x\":[{zeros}0],{members}"), "deny"),
        ("a harmless call", format!("{{\"x\":[{zeros}0],{}", &harmless[1..]), "ask"),
        ("in the call", call.replace("\"command\":\"rm -rf ~\"", &input), "ask"),
        ("members of the payload", format!("{{{many_members}{members}"), "ask"),
        ("objects", format!("{{\"x\":[{}{{}}],{members}", "{},".repeat(2_000_000)), "deny"),
    ];
    for (what, text, expected) in cases {
        let mut limited = build_prepared_command(&watched, "ulimit -v 600000");
        let ran = run_with_stdin(&mut limited, &text);
        assert_eq!((ran.code, read_permission_decision(&ran)), (0, expected.into()), "{what}: {ran:?}");
    }
    assert_eq!(watched.count_rows("events"), 6);
}

#[test]
fn a_large_payload_with_an_ordinary_number_of_values_is_read_in_full() {
    let watched = HookSandbox::new(RecordingMode::Alone);
    let text = "A line, with [brackets], {braces} and \"quotes\".\n".repeat(100_000);
    let input = json!({"file_path": "notes.txt", "content": text});
    let write = watched.build_payload("s1", "PreToolUse", json!({"tool_name": "Write", "tool_input": input}));
    let rows: Vec<Value> = (0..5_000).map(|row| json!({"id": row, "text": "x".repeat(380)})).collect();
    let fields = json!({"tool_name": "Query", "tool_input": {"q": "all"}, "tool_response": {"rows": rows}});
    let response = watched.build_payload("s1", "PostToolUse", fields);
    for payload in [write, response] {
        watched.run_hook(&payload).assert_silent();
    }
    assert_eq!(watched.count_rows("events"), 2);
}

#[test]
fn few_descriptors_cost_hooks_their_say_and_neither_a_no_nor_a_question() {
    if require_program("bash").is_none() {
        return;
    }
    let hook = "[[hook]]\nevent = 'PreToolUse'\nrun = 'exit 0'\non_failure = 'block'\ntimeout = '1s'\n";
    for descriptors in 4..=12 {
        let sandbox = CliSandbox::new().home_file(".config/snell/snell.toml", hook);
        let watched = HookSandbox::with_sandbox(RecordingMode::Alone, sandbox);
        let told = |command: &str| {
            let mut limited = build_prepared_command(&watched, &format!("ulimit -n {descriptors}"));
            run_with_stdin(&mut limited, render_bash_payload(&watched, command))
        };
        let denied = told("rm -rf ~");
        assert_eq!((denied.code, read_permission_decision(&denied)), (0, "deny".into()), "{descriptors}: {denied:?}");
        let fine = told("ls");
        let is_heard = fine.stdout.is_empty() && fine.stderr.is_empty();
        assert!(
            is_heard || ["ask", "deny"].map(Value::from).contains(&read_permission_decision(&fine)),
            "{descriptors}: {fine:?}"
        );
    }
}

#[test]
fn an_answer_that_does_not_fit_into_a_limited_file_is_an_exit_code() {
    if require_program("bash").is_none() {
        return;
    }
    let watched = HookSandbox::new(RecordingMode::Alone);
    let answer = File::create(watched.sandbox.home().join("answer")).unwrap();
    let mut limited = build_prepared_command(&watched, "ulimit -f 0");
    limited.stdin(Stdio::piped()).stdout(answer).stderr(Stdio::piped());
    let mut child = limited.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, render_bash_payload(&watched, "rm -rf ~").as_bytes()).unwrap();
    drop(stdin);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(2));
}

#[test]
fn a_hook_under_a_limit_leaves_no_scribe_that_has_it() {
    if require_program("bash").is_none() {
        return;
    }
    for limit in ["-f 0", "-n 16"] {
        let watched = HookSandbox::new(RecordingMode::WithDaemon);
        let mut limited = build_prepared_command(&watched, &format!("ulimit {limit}"));
        spawn_with_stdin(&mut limited, render_bash_payload(&watched, "rm -rf ~")).wait_with_output().unwrap();
        assert_eq!(watched.find_daemon_pid(), None, "{limit}");
        let before = if limit == "-f 0" { 0 } else { 1 };
        watched.send_prompt("s1", "Go on");
        assert_eq!(watched.count_rows("events"), before + 1, "{limit}");
    }
}

#[test]
fn a_signal_that_asks_for_nothing_ends_no_hook() {
    let hook = "[[hook]]\nevent = 'PreToolUse'\nrun = 'touch began; until test -e go; do sleep 0.01; done'\n";
    for &signal in UNSOLICITED {
        let sandbox = CliSandbox::new().home_file(".config/snell/snell.toml", hook);
        let watched = HookSandbox::with_sandbox(RecordingMode::Alone, sandbox);
        let child = spawn_with_stdin(&mut watched.hook_command(), render_bash_payload(&watched, "rm -rf ~"));
        watched.sandbox.wait_for_file("began");
        send_signal(child.id(), signal);
        fs::write(watched.sandbox.project().join("go"), "").unwrap();
        let ran = wait_for_output(child);
        assert_eq!((ran.code, read_permission_decision(&ran)), (0, "deny".into()), "{signal:?}: {ran:?}");
        assert_eq!(watched.count_rows("events"), 1, "{signal:?}");
    }
}

#[test]
fn hooks_are_started_with_the_default_actions_of_signals() {
    if require_program("bash").is_none() || !fs::exists("/proc/self/status").unwrap_or_default() {
        return;
    }
    let hook =
        "[[hook]]\nevent = 'PreToolUse'\nrun = 'grep ^Sig /proc/self/status > status.new; mv status.new status'\n";
    let sandbox = CliSandbox::new().home_file(".config/snell/snell.toml", hook);
    let watched = HookSandbox::with_sandbox(RecordingMode::Alone, sandbox);
    let mut ignoring =
        build_prepared_command(&watched, "trap '' XFSZ XCPU ALRM VTALRM PROF USR1 USR2 IO PIPE TRAP STKFLT PWR");
    spawn_with_stdin(&mut ignoring, render_bash_payload(&watched, "ls")).wait_with_output().unwrap();
    let status = watched.sandbox.read("status");
    // The test itself may have inherited more ignored signals.
    let mask = UNSOLICITED.iter().fold(0, |mask, signal| mask | 1_u64 << (signal.as_raw() - 1));
    for kind in ["SigBlk:", "SigIgn:", "SigCgt:"] {
        let signals = status.lines().find_map(|line| line.strip_prefix(kind)).unwrap();
        assert_eq!(u64::from_str_radix(signals.trim(), 16).unwrap() & mask, 0, "{status}");
    }
}

#[test]
fn the_exit_code_of_a_hook_counts_although_the_agent_ignores_its_children() {
    if require_program("python3").is_none() {
        return;
    }
    let hook = "[[hook]]\nevent = 'PreToolUse'\nrun = 'echo no >&2; exit 2'\n";
    let sandbox = CliSandbox::new().home_file(".config/snell/snell.toml", hook);
    let watched = HookSandbox::with_sandbox(RecordingMode::Alone, sandbox);
    let mut ignoring = watched.sandbox.program("python3");
    ignoring.args(["-c", WITHOUT_CHILDREN, env!("CARGO_BIN_EXE_snell"), "hook", "--agent", "claude"]);
    let ran = run_with_stdin(&mut ignoring, render_bash_payload(&watched, "ls"));
    assert_eq!(read_permission_decision(&ran), "deny", "{ran:?}");
}
