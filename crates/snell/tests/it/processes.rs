//! How a hook's process is started, fed, read and understood.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::Value;
use snell::{Decision, HookRunStatus, RunEnd};

use crate::support::{
    TestProject, build_environment, build_large_tool_call, build_tool_call, expect_single_outcome, expect_single_run,
};

const MEBIBYTE: usize = 1024 * 1024;

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_that_does_not_read_its_input_is_neither_held_up_nor_at_fault() {
    let cases = [
        ("never read", "echo fine"),
        ("closed", "exec 0<&-; echo fine"),
        ("closed while it is being written", "head -c 10 > start; exec 0<&-; sleep 0.1; echo fine"),
        ("read to the end", "wc -c > size; echo fine"),
    ];
    for (input, run) in cases {
        let project = TestProject::with_hook(run, "");
        let verdict = project.load_engine().fire(build_large_tool_call()).await;
        let outcome = expect_single_outcome(&verdict);
        assert_eq!((&outcome.end, outcome.stdout.as_str()), (&RunEnd::Exited(0), "fine\n"), "{input}");
        assert_eq!(expect_single_run(&verdict).status, HookRunStatus::Ok, "{input}");
        assert_eq!(verdict.messages, Vec::<String>::new(), "{input}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_payload_arrives_whole() {
    let project = TestProject::with_hook("cat > in.json", "");
    project.load_engine().fire(build_large_tool_call()).await;
    let received: Value = serde_json::from_str(&project.read_file("in.json")).unwrap();
    assert_eq!(received["tool_input"]["command"].as_str().map(str::len), Some(MEBIBYTE));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_deadline_holds_while_a_payload_is_being_written() {
    for run in ["sleep 30", "exec 0<&-; sleep 30", "head -c 100000 > start; sleep 30"] {
        let project = TestProject::with_hook(run, "timeout = \"200ms\"");
        let started = Instant::now();
        let verdict = project.load_engine().fire(build_large_tool_call()).await;
        assert!(expect_single_outcome(&verdict).has_timed_out(), "{run}");
        assert!(started.elapsed() < Duration::from_secs(5), "{run}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_output_is_kept_up_to_a_mebibyte_and_does_not_hold_the_hook_up() {
    let flood = "head -c 50000000 /dev/zero | tr '\\0' x";
    for (run, on_stderr) in [(format!("{flood}; echo > end"), false), (format!("{flood} >&2; echo > end"), true)] {
        let project = TestProject::with_hook(&run, "timeout = \"60s\"");
        let outcome = project.run_only_hook().await;
        assert_eq!(outcome.end, RunEnd::Exited(0), "{run}");
        assert!(project.has_file("end"), "{run}");
        assert!(outcome.truncated && !outcome.leaked, "{run}");
        let (flooded, quiet) = match on_stderr {
            true => (outcome.stderr, outcome.stdout),
            false => (outcome.stdout, outcome.stderr),
        };
        assert!(flooded.len() == MEBIBYTE && flooded.bytes().all(|byte| byte == b'x'), "{run}");
        assert_eq!(quiet, "", "{run}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn output_of_exactly_a_mebibyte_is_whole() {
    let outcome = TestProject::with_hook("head -c 1048576 /dev/zero | tr '\\0' x", "").run_only_hook().await;
    assert_eq!((outcome.stdout.len(), outcome.truncated), (MEBIBYTE, false));
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_that_are_not_utf_8_are_replaced() {
    let outcome = TestProject::with_hook(r"printf 'a\377b'; printf '\303' >&2", "").run_only_hook().await;
    assert_eq!(outcome.end, RunEnd::Exited(0));
    assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("a\u{fffd}b", "\u{fffd}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_death_by_signal_is_a_failure_and_no_opinion() {
    for (run, signal) in
        [("kill -KILL $$", 9), ("kill -TERM $$", 15), ("echo '{\"decision\":\"allow\"}'; kill -SEGV $$", 11)]
    {
        let verdict = TestProject::with_hook(run, "").load_engine().fire(build_tool_call()).await;
        let outcome = expect_single_outcome(&verdict);
        assert_eq!(outcome.end, RunEnd::Signaled(signal), "{run}");
        assert_eq!((outcome.signal(), outcome.exit_code(), outcome.is_success()), (Some(signal), None, false), "{run}");
        assert_eq!(
            (expect_single_run(&verdict).status, verdict.decision),
            (HookRunStatus::Failed, Decision::None),
            "{run}"
        );
    }
}

/// Each way in which a hook can fail by itself, under both policies.
#[tokio::test(flavor = "multi_thread")]
async fn a_hooks_own_failure_blocks_only_where_it_is_declared_to() {
    let cases = [
        ("a signal", "kill -KILL $$", "", HookRunStatus::Failed),
        ("an exit code", "exit 3", "", HookRunStatus::Failed),
        ("a missing program", "no-such-program-anywhere", "", HookRunStatus::Failed),
        ("a timeout", "sleep 30", "timeout = \"50ms\"", HookRunStatus::TimedOut),
        ("output that is half JSON", "echo '{\"decision\":'", "", HookRunStatus::Failed),
    ];
    for (failure, run, more, status) in cases {
        for (policy, decision) in [("continue", Decision::None), ("block", Decision::Deny)] {
            let project = TestProject::with_hook(run, &format!("{more}\non_failure = \"{policy}\""));
            let verdict = project.load_engine().fire(build_tool_call()).await;
            assert_eq!(
                (expect_single_run(&verdict).status, verdict.decision),
                (status, decision),
                "{failure}, {policy}"
            );
            let told = verdict.reason.iter().chain(&verdict.messages).count();
            assert_eq!(told, 1, "somebody is told of {failure}, {policy}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_program_fails_as_a_shell_would_say_it() {
    let project = TestProject::new().with_file("not-executable", "echo never\n");
    let cases = [
        ("run = \"no-such-program-anywhere\"", 127, "not found"),
        ("exec = [\"no-such-program-anywhere\"]", 127, "no-such-program-anywhere: not found"),
        ("exec = [\"./no-such-file\", \"argument\"]", 127, "no-such-file: not found"),
        ("run = \"./not-executable\"", 126, "denied"),
        ("exec = [\"./not-executable\"]", 126, "denied"),
    ];
    for (action, code, message) in cases {
        project.write_file("snell.toml", &format!("[[hook]]\nevent = \"PreToolUse\"\n{action}\n"));
        let outcome = project.run_only_hook().await;
        assert_eq!(outcome.end, RunEnd::Exited(code), "{action}");
        assert!(outcome.stderr.to_lowercase().contains(&message.to_lowercase()), "{action}: {}", outcome.stderr);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_argument_vector_reaches_its_program_without_a_shell_between() {
    let exec = "[[hook]]\nevent = \"PreToolUse\"\nexec = [\"printf\", \"%s|\", \"$HOME\", \"a b\", \"*; exit 2\"]\n";
    let outcome = TestProject::new().with_file("snell.toml", exec).run_only_hook().await;
    assert_eq!(outcome.stdout, "$HOME|a b|*; exit 2|");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_leads_a_process_group_of_its_own() {
    let outcome = TestProject::with_hook("echo $$; cut -d ' ' -f 5 /proc/$$/stat", "").run_only_hook().await;
    let (process, group) = outcome.stdout.trim().split_once('\n').unwrap();
    assert_eq!(process, group);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_working_directory_that_vanished_is_replaced_or_told_and_never_a_panic() {
    let project = TestProject::with_hook("pwd -P", "");
    let engine = project.load_engine();
    let verdict = engine.fire(build_tool_call().in_directory("/no/such/directory")).await;
    let here = fs::canonicalize(project.path()).unwrap();
    assert_eq!(expect_single_outcome(&verdict).stdout.trim_end(), here.to_str().unwrap());

    fs::remove_dir_all(project.path()).unwrap();
    let verdict = engine.fire(build_tool_call()).await;
    let outcome = expect_single_outcome(&verdict);
    let RunEnd::NotStarted(why) = &outcome.end else { panic!("{outcome:?}") };
    assert!(why.contains("does not exist"), "{why}");
    assert_eq!((expect_single_run(&verdict).status, verdict.decision), (HookRunStatus::Failed, Decision::None));
    assert_eq!(verdict.messages.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_fired_by_hooks_stop_at_depth_8() {
    let cases = [
        (None, Some("1")),
        (Some("0"), Some("1")),
        (Some("1"), Some("2")),
        (Some("7"), Some("8")),
        (Some("8"), None),
        (Some("4000000000"), None),
        (Some("none"), Some("1")),
    ];
    for (depth, seen) in cases {
        let project = TestProject::with_hook("echo $SNELL_DEPTH", "");
        let variables: Vec<_> = depth.iter().map(|depth| ("SNELL_DEPTH", *depth)).collect();
        let (engine, _) = project.engine_builder().env(build_environment(&variables)).load();
        let verdict = engine.fire(build_tool_call()).await;
        let run = expect_single_run(&verdict);
        let printed = run.outcome.as_ref().map(|outcome| outcome.stdout.trim_end());
        assert_eq!(printed, seen, "{depth:?}");
        if seen.is_none() {
            assert_eq!(run.status, HookRunStatus::Skipped, "{depth:?}");
            assert!(run.why.as_ref().unwrap().contains("8 levels deep"), "{depth:?}");
        }
    }
}
