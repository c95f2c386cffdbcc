//! Background hooks, as tasks of a host.

use std::sync::mpsc;
use std::time::Duration;

use serde_json::json;
use snell::{BackgroundResult, Engine, Event, HookRunStatus};

use crate::support::{TestProject, build_tool_call, build_tool_result, expect_single_run, wait_until};

/// An engine, and a receiver of the results of background hooks.
fn build_observed_engine(project: &TestProject) -> (Engine, mpsc::Receiver<BackgroundResult>) {
    let (sender, receiver) = mpsc::channel();
    let builder = project.engine_builder().on_background_finished(move |finished| {
        // The test may have dropped its receiver.
        let _ = sender.send(finished);
    });
    let (engine, diagnostics) = builder.load();
    assert_eq!(diagnostics, []);
    (engine, receiver)
}

/// The same hook in each contract that has background hooks.
fn build_background_projects(run: &str) -> Vec<(&'static str, TestProject, Event)> {
    let group = |directory: &str| {
        let hook = json!({"type": "command", "command": run, "async": true});
        let settings = json!({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [hook]}]}});
        TestProject::new().with_file(&format!("{directory}/settings.json"), &settings.to_string())
    };
    let flat = json!({"hooks": {"PostToolUse": [{"matcher": "*", "command": run}]}}).to_string();
    vec![
        ("snell", TestProject::with_hook(run, "background = true"), build_tool_call()),
        ("wave", group(".wave"), build_tool_call()),
        ("microai", TestProject::new().with_file(".microai/settings.json", &flat), build_tool_result()),
        ("claude", group(".claude"), build_tool_call()),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn the_verdict_does_not_wait_and_the_observer_is_told() {
    let run = "until [ -e go ]; do sleep 0.01; done; echo said; exit 3";
    for (contract, project, event) in build_background_projects(run) {
        let (engine, told) = build_observed_engine(&project);
        let verdict = engine.fire(event.in_session("s-1")).await;
        assert_eq!(
            (expect_single_run(&verdict).status, &expect_single_run(&verdict).outcome),
            (HookRunStatus::Started, &None),
            "{contract}"
        );
        assert!(told.try_recv().is_err(), "{contract}: it has not ended yet");
        project.write_file("go", "");
        engine.wait_for_background().await;
        let finished = told.try_recv().unwrap();
        assert_eq!(finished.hook.contract, contract);
        assert_eq!(finished.session_id.as_deref(), Some("s-1"), "{contract}");
        assert_eq!((finished.hook.status, finished.hook.exit_code), (HookRunStatus::Failed, Some(3)), "{contract}");
        assert_eq!(finished.hook.stdout, "said\n", "{contract}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_background_hook_is_ended_at_its_timeout() {
    let stubborn = "trap '' TERM; echo $$ > pid; while :; do sleep 0.05; done";
    let project = TestProject::with_hook(stubborn, "background = true\ntimeout = \"200ms\"");
    let (engine, told) = build_observed_engine(&project);
    engine.fire(build_tool_call()).await;
    engine.wait_for_background().await;
    let finished = told.try_recv().unwrap();
    assert_eq!((finished.hook.status, finished.hook.timed_out), (HookRunStatus::TimedOut, true));
    assert!(!project.wait_for_pid("pid").await.is_running());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_background_hook_cannot_block_or_say_anything() {
    let project = TestProject::with_hook("echo no >&2; exit 2", "background = true");
    let (engine, told) = build_observed_engine(&project);
    let verdict = engine.fire(build_tool_call()).await;
    engine.wait_for_background().await;
    assert!(!verdict.is_blocked() && verdict.messages.is_empty());
    assert_eq!(told.try_recv().unwrap().hook.exit_code, Some(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_condition_that_does_not_hold_is_told_as_skipped() {
    let project = TestProject::with_hook("echo > ran", "background = true\nwhen = \"false\"");
    let (engine, told) = build_observed_engine(&project);
    engine.fire(build_tool_call()).await;
    engine.wait_for_background().await;
    assert_eq!(told.try_recv().unwrap().hook.status, HookRunStatus::Skipped);
    assert!(!project.has_file("ran"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_background_hook_outlives_the_future_that_started_it() {
    let slow = "until [ -e go ]; do sleep 0.01; done; echo > finished";
    let project = TestProject::with_hook(slow, "background = true").add_native_hook("echo > reached; sleep 30", "");
    let (engine, _told) = build_observed_engine(&project);
    let firing = tokio::spawn({
        let engine = engine.clone();
        async move { engine.fire(build_tool_call()).await }
    });
    wait_until(|| project.has_file("reached").then_some(())).await;
    firing.abort();
    project.write_file("go", "");
    wait_until(|| project.has_file("finished").then_some(())).await;
    tokio::time::timeout(Duration::from_secs(5), engine.wait_for_background()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_for_the_background_ends_at_once_when_nothing_is_there() {
    TestProject::new().load_engine().wait_for_background().await;
}
