//! The end of a hook: at its deadline, after a normal exit with leftover processes, and when its future is dropped.

use std::fs;
use std::time::{Duration, Instant};

use snell::{Decision, HookRunStatus, RunEnd};
use snell_test_support::process::read_process_state;

use crate::support::{TestProject, build_tool_call, expect_single_outcome, expect_single_run, wait_until};

const TIMEOUT: Duration = Duration::from_millis(200);
const GRACE: Duration = Duration::from_millis(300);
/// The tolerance on a busy machine.
const SLACK: Duration = Duration::from_secs(3);

/// A hook that ends only by KILL, and writes its process id to a file.
const STUBBORN: &str = "trap '' TERM; echo $$ > pid; while :; do sleep 0.05; done";

fn create_timed_project(run: &str) -> TestProject {
    TestProject::with_hook(run, "timeout = \"200ms\"")
}

#[tokio::test(flavor = "multi_thread")]
async fn at_the_deadline_a_hook_is_told_to_end_and_its_output_is_kept() {
    let cases = [
        ("it just ends", "echo before; echo too >&2; sleep 30", "before\n"),
        (
            "it says goodbye and claims success",
            "trap 'echo after; exit 0' TERM; echo before; echo too >&2; while :; do sleep 0.01; done",
            "before\nafter\n",
        ),
    ];
    for (case, run, stdout) in cases {
        let verdict = create_timed_project(run).load_engine().fire(build_tool_call()).await;
        let outcome = expect_single_outcome(&verdict);
        assert_eq!(
            (outcome.has_timed_out(), expect_single_run(&verdict).status),
            (true, HookRunStatus::TimedOut),
            "{case}"
        );
        assert_eq!(outcome.stdout, stdout, "{case}");
        // The shell may add a line about the killed child.
        assert!(outcome.stderr.starts_with("too\n"), "{case}: {}", outcome.stderr);
        assert!(!outcome.is_success() && outcome.exit_code().is_none(), "{case}");
        assert!(outcome.duration >= TIMEOUT && outcome.duration < TIMEOUT + GRACE + SLACK, "{case}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_that_ignores_the_request_to_end_is_killed_after_the_grace() {
    let project = create_timed_project(STUBBORN);
    let outcome = project.run_only_hook().await;
    assert!(outcome.has_timed_out(), "{outcome:?}");
    assert!(outcome.duration >= TIMEOUT + GRACE, "{:?}", outcome.duration);
    assert!(outcome.duration < TIMEOUT + GRACE + SLACK, "{:?}", outcome.duration);
    assert!(!project.wait_for_pid("pid").await.is_running());
}

/// Keeps the only thread from everything else until the deadline has passed and the hook has ended.
async fn block_thread_past_deadline(project: &TestProject) {
    tokio::task::yield_now().await;
    let started = Instant::now();
    let has_ended = || {
        let pid = fs::read_to_string(project.path().join("pid")).ok()?;
        read_process_state(pid.trim().parse().ok()?).filter(|state| *state == 'Z')
    };
    while started.elapsed() < TIMEOUT || has_ended().is_none() {
        assert!(started.elapsed() < Duration::from_secs(10), "the hook does not end");
        std::thread::yield_now();
    }
}

/// A host with one thread then sees the end of the hook and its deadline at the same moment.
#[tokio::test]
async fn a_hook_that_ended_in_time_while_its_host_was_busy_has_not_timed_out() {
    // The order of the two is random.
    for turn in 0..10 {
        let project = TestProject::with_hook("echo $$ > pid; echo no >&2; exit 2", "timeout = \"100ms\"");
        let engine = project.load_engine();
        let (verdict, ()) = tokio::join!(engine.fire(build_tool_call()), block_thread_past_deadline(&project));
        assert_eq!(
            (verdict.decision, expect_single_run(&verdict).status, verdict.reason.as_deref()),
            (Decision::Deny, HookRunStatus::Blocked, Some("no")),
            "{turn}"
        );
    }
}

/// When the outcome is there, the group is gone.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_the_group_outlives_the_deadline() {
    let cases = [
        ("a child", "sleep 30 & echo $! > pid; wait"),
        ("a child of a shell that is gone", "(sleep 30 & echo $! > pid); sleep 30"),
        ("a pipeline", "sh -c 'echo $$ > pid; exec sleep 30' | cat"),
        ("a child that ignores TERM", "sh -c 'trap \"\" TERM; echo $$ > pid; while :; do sleep 0.05; done' & wait"),
        (
            "one that ignores TERM and holds no pipe, while the hook ends at once",
            "sh -c 'trap \"\" TERM; echo $$ > pid; while :; do sleep 0.05; done' > /dev/null 2>&1 & sleep 30",
        ),
        ("a hook that became another program", "echo $$ > pid; exec sleep 30"),
    ];
    for (case, run) in cases {
        let project = create_timed_project(run);
        let outcome = project.run_only_hook().await;
        assert!(outcome.has_timed_out(), "{case}: {outcome:?}");
        assert!(!project.wait_for_pid("pid").await.is_running(), "{case}");
        assert!(outcome.duration < TIMEOUT + GRACE + SLACK, "{case}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_hook_leaves_behind_after_a_normal_exit_is_not_waited_for_and_left_alone() {
    let cases = [
        ("it holds both outputs", "sleep 30 & echo $! > pid; echo done", true),
        ("it holds standard error", "sleep 30 > /dev/null & echo $! > pid; echo done", true),
        ("it holds nothing", "sleep 30 > /dev/null 2>&1 & echo $! > pid; echo done", false),
    ];
    for (case, run, leaked) in cases {
        let project = TestProject::with_hook(run, "timeout = \"20s\"");
        let started = Instant::now();
        let outcome = project.run_only_hook().await;
        assert!(started.elapsed() < SLACK, "{case}");
        assert_eq!((&outcome.end, outcome.stdout.as_str()), (&RunEnd::Exited(0), "done\n"), "{case}");
        assert_eq!(outcome.leaked, leaked, "{case}");
        let left = project.wait_for_pid("pid").await;
        assert!(left.is_running(), "{case}");
        left.kill();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_condition_has_a_second_and_is_ended_like_a_hook() {
    let project = TestProject::with_hook("echo > ran", &format!("when = '''{STUBBORN}'''"));
    let verdict = project.load_engine().fire(build_tool_call()).await;
    assert_eq!(expect_single_run(&verdict).status, HookRunStatus::Skipped);
    assert!(expect_single_run(&verdict).why.as_ref().unwrap().contains("timed out after 1s"));
    assert!(!project.has_file("ran"));
    assert!(!project.wait_for_pid("pid").await.is_running());
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_are_killed_when_nobody_waits_for_the_verdict_any_more() {
    let stubborn_two = STUBBORN.replace("> pid", "> pid2");
    let cases = [
        ("in order", TestProject::with_hook(STUBBORN, ""), vec!["pid"]),
        ("together", TestProject::new().with_claude_hooks(&[STUBBORN, &stubborn_two]), vec!["pid", "pid2"]),
        ("a condition", TestProject::with_hook("true", &format!("when = '''{STUBBORN}'''")), vec!["pid"]),
        ("a child of the hook", TestProject::with_hook("sleep 30 & echo $! > pid; wait", ""), vec!["pid"]),
    ];
    for (case, project, pids) in cases {
        let engine = project.load_engine();
        let firing = tokio::spawn(async move { engine.fire(build_tool_call()).await });
        let mut processes = Vec::new();
        for pid in pids {
            processes.push(project.wait_for_pid(pid).await);
        }
        assert!(processes.iter().all(|process| process.is_running()), "{case}");
        firing.abort();
        wait_until(|| (!processes.iter().any(|process| process.is_running())).then_some(())).await;
    }
}
