//! Many hooks: in a row without leaks, and in parallel without a lost answer.

use std::fs;
use std::process::Command;

use serde_json::json;
use snell::{Decision, Engine, Event, HookRunStatus, RunEnd, Verdict};
use snell_test_support::process::read_process_state;
use tokio::task::JoinSet;

use crate::support::{TestProject, build_tool_call, expect_single_outcome, expect_single_run, wait_until};

/// Fires this many events in parallel and returns the verdicts in order.
async fn fire_concurrently(engine: &Engine, events: impl Iterator<Item = Event>) -> Vec<Verdict> {
    let mut firing = JoinSet::new();
    for (index, event) in events.enumerate() {
        let engine = engine.clone();
        firing.spawn(async move { (index, engine.fire(event).await) });
    }
    let mut verdicts = firing.join_all().await;
    verdicts.sort_by_key(|(index, _)| *index);
    verdicts.into_iter().map(|(_, verdict)| verdict).collect()
}

/// Resources of this process: descriptors, threads, and children that ended and were not reaped.
#[derive(Debug, PartialEq, Eq)]
struct ProcessResources {
    descriptors: usize,
    threads: usize,
    zombies: usize,
}

impl ProcessResources {
    fn measure_now() -> Self {
        let count = |directory: &str| fs::read_dir(directory).unwrap().count();
        Self {
            descriptors: count("/proc/self/fd"),
            threads: count("/proc/self/task"),
            zombies: list_child_pids().filter(|child| read_process_state(*child) == Some('Z')).count(),
        }
    }
}

/// The process ids of this process's children.
fn list_child_pids() -> impl Iterator<Item = u32> {
    let threads = fs::read_dir("/proc/self/task").unwrap();
    threads.flat_map(|thread| {
        let listed = fs::read_to_string(thread.unwrap().path().join("children")).unwrap_or_default();
        let ids: Vec<u32> = listed.split_whitespace().map(|id| id.parse().unwrap()).collect();
        ids
    })
}

/// Descriptors and threads belong to a process that other tests share, so these tests run in their own process.
#[test]
fn neither_runs_nor_runs_given_up_leave_a_descriptor_a_zombie_or_a_thread_behind() {
    for counted in ["concurrency::two_thousand_runs", "concurrency::two_hundred_runs_given_up"] {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", counted, "--ignored", "--nocapture"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(told.contains("1 passed"), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "counts what the whole process holds; it is run in a process of its own"]
async fn two_thousand_runs() {
    let project = TestProject::new()
        .with_claude_hooks(&["true", "echo '{}' #", "exit 1", "cat", "kill -KILL $$"])
        .add_native_hook("exit 0", "");
    let engine = project.load_engine();
    // The first runs start lasting resources: worker threads, the signal driver's descriptors.
    fire_concurrently(&engine, std::iter::repeat_n(build_tool_call(), 20)).await;
    let before = ProcessResources::measure_now();
    for _ in 0..17 {
        let verdicts = fire_concurrently(&engine, std::iter::repeat_n(build_tool_call(), 20)).await;
        assert!(verdicts.iter().all(|verdict| verdict.hooks.len() == 6));
    }
    assert_eq!(ProcessResources::measure_now(), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "counts what the whole process holds; it is run in a process of its own"]
async fn two_hundred_runs_given_up() {
    let project = TestProject::new()
        .with_claude_hooks(&["echo >> started; sleep 30", "echo >> started; sleep 30 #"])
        .add_native_hook("exit 0", "");
    let engine = project.load_engine();
    let give_up = async |runs: usize| {
        let mut firing = JoinSet::new();
        for _ in 0..runs {
            let engine = engine.clone();
            firing.spawn(async move { engine.fire(build_tool_call()).await });
        }
        wait_until(|| (project.has_file("started") && project.read_file("started").len() == 2 * runs).then_some(()))
            .await;
        firing.shutdown().await;
        fs::remove_file(project.path().join("started")).unwrap();
    };
    give_up(5).await;
    wait_until(|| list_child_pids().next().is_none().then_some(())).await;
    let before = ProcessResources::measure_now();
    for _ in 0..10 {
        give_up(10).await;
    }
    wait_until(|| list_child_pids().next().is_none().then_some(())).await;
    assert_eq!(ProcessResources::measure_now(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_events_at_once_each_get_their_own_answer() {
    let run = r#"read -r event; case $event in *'"odd'*) echo "odd ${SNELL_COMMAND}" >&2; exit 2;; esac"#;
    let project = TestProject::with_hook(run, "timeout = \"60s\"");
    let engine = project.load_engine();
    let name = |number: usize| match number % 2 {
        0 => format!("even {number}"),
        _ => format!("odd {number}"),
    };
    let events = (0..1000).map(|number| Event::pre_tool_use("Bash", json!({"command": name(number)})));
    let verdicts = fire_concurrently(&engine, events).await;
    for (number, verdict) in verdicts.iter().enumerate() {
        let (decision, reason) = match number % 2 {
            0 => (Decision::None, None),
            _ => (Decision::Deny, Some(format!("odd {}", name(number)))),
        };
        assert_eq!((verdict.decision, &verdict.reason), (decision, &reason), "{number}");
        assert!(!expect_single_outcome(verdict).leaked, "{number}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_more_hooks_run_at_the_same_time_than_the_host_allows() {
    let run = "mkdir -p running; echo > running/$$; ls running | wc -l; sleep 0.05; rm running/$$";
    for (limit, most) in [(0, 1), (1, 1), (4, 4)] {
        let project = TestProject::with_hook(run, "");
        let (engine, _) = project.engine_builder().max_running(limit).load();
        let verdicts = fire_concurrently(&engine, std::iter::repeat_n(build_tool_call(), 16)).await;
        let seen =
            verdicts.iter().map(|verdict| expect_single_outcome(verdict).stdout.trim().parse::<usize>().unwrap());
        let most_seen = seen.max().unwrap();
        assert!(most_seen <= most, "{most_seen} at once, with a limit of {limit}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_for_a_turn_does_not_count_against_a_hooks_deadline() {
    let project = TestProject::with_hook("sleep 0.2", "timeout = \"1s\"");
    let (engine, _) = project.engine_builder().max_running(1).load();
    let verdicts = fire_concurrently(&engine, std::iter::repeat_n(build_tool_call(), 8)).await;
    let ends: Vec<_> = verdicts.iter().map(|verdict| expect_single_outcome(verdict).end).collect();
    assert_eq!(ends, vec![RunEnd::Exited(0); 8]);
}

#[tokio::test(flavor = "multi_thread")]
async fn results_stand_in_configured_order_whatever_ended_first() {
    // Each waits for the one after it, so they end in the reverse of the order in which they are written.
    let waits = |own: &str, next: &str, code: i32| {
        format!("until [ -e {next} ]; do sleep 0.01; done; echo > {own}; echo {own} >&2; exit {code}")
    };
    let commands = [waits("first", "second", 2), waits("second", "third", 1), waits("third", ".", 2)];
    let project = TestProject::new().with_claude_hooks(&commands.each_ref().map(String::as_str));
    let verdict = project.load_engine().fire(build_tool_call()).await;
    let reported: Vec<_> = verdict
        .hooks
        .iter()
        .map(|run| (run.hook.command_summary(), run.status, run.outcome.as_ref().unwrap().stderr.clone()))
        .collect();
    let [first, second, third] = commands;
    assert_eq!(
        reported,
        [
            (first, HookRunStatus::Blocked, "first\n".to_owned()),
            (second, HookRunStatus::Failed, "second\n".to_owned()),
            (third, HookRunStatus::Blocked, "third\n".to_owned()),
        ]
    );
    assert_eq!(verdict.reason.as_deref(), Some("first\nthird"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_command_twice_among_parallel_hooks_runs_once() {
    let project = TestProject::new().with_claude_hooks(&["echo ran >> log", "echo ran >> log"]);
    let verdict = project.load_engine().fire(build_tool_call()).await;
    assert_eq!(project.read_file("log"), "ran\n");
    let statuses: Vec<_> = verdict.hooks.iter().map(|run| run.status).collect();
    assert_eq!(statuses, [HookRunStatus::Ok, HookRunStatus::Skipped]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_concerns_no_hook_starts_nothing() {
    let project = TestProject::with_hook("echo > ran", "tool = \"Write\"");
    let verdict = project.load_engine().fire(build_tool_call()).await;
    assert!(verdict.hooks.is_empty() && verdict.decision == Decision::None && !project.has_file("ran"));
    let project = TestProject::with_hook("true", "");
    assert_eq!(expect_single_run(&project.load_engine().fire(build_tool_call()).await).status, HookRunStatus::Ok);
}
