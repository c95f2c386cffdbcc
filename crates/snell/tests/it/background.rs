//! Hooks that are started and not awaited, as tasks of a host that lives on.

use std::sync::mpsc;
use std::time::Duration;

use serde_json::json;
use snell::{Engine, Event, Finished, Status};

use crate::support::{Project, only, tool_call, tool_ran, wait_until};

/// An engine, and what it tells of hooks that ended in the background.
fn observed(project: &Project) -> (Engine, mpsc::Receiver<Finished>) {
    let (sender, receiver) = mpsc::channel();
    let builder = project.builder().on_background_finished(move |finished| {
        // A test that has seen enough does not listen any more.
        let _ = sender.send(finished);
    });
    let (engine, diagnostics) = builder.load();
    assert_eq!(diagnostics, []);
    (engine, receiver)
}

/// The same hook, in each contract that can say "start it and go on".
fn spellings(run: &str) -> Vec<(&'static str, Project, Event)> {
    let group = |directory: &str| {
        let hook = json!({"type": "command", "command": run, "async": true});
        let settings = json!({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [hook]}]}});
        Project::new().file(&format!("{directory}/settings.json"), &settings.to_string())
    };
    let flat = json!({"hooks": {"PostToolUse": [{"matcher": "*", "command": run}]}}).to_string();
    vec![
        ("snell", Project::with_hook(run, "background = true"), tool_call()),
        ("wave", group(".wave"), tool_call()),
        (
            "microai",
            Project::new().file(".microai/settings.json", &flat),
            tool_ran(),
        ),
        ("claude", group(".claude"), tool_call()),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn the_verdict_does_not_wait_and_the_observer_is_told() {
    let run = "until [ -e go ]; do sleep 0.01; done; echo said; exit 3";
    for (contract, project, event) in spellings(run) {
        let (engine, told) = observed(&project);
        let verdict = engine.fire(event.in_session("s-1")).await;
        assert_eq!(
            (only(&verdict).status, &only(&verdict).outcome),
            (Status::Started, &None),
            "{contract}"
        );
        assert!(told.try_recv().is_err(), "{contract}: it has not ended yet");
        project.write("go", "");
        engine.background_ended().await;
        let finished = told.try_recv().unwrap();
        assert_eq!(finished.hook.contract, contract);
        assert_eq!(finished.session_id.as_deref(), Some("s-1"), "{contract}");
        assert_eq!(
            (finished.hook.status, finished.hook.exit_code),
            (Status::Failed, Some(3)),
            "{contract}"
        );
        assert_eq!(finished.hook.stdout, "said\n", "{contract}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_background_hook_is_ended_at_its_timeout() {
    let stubborn = "trap '' TERM; echo $$ > pid; while :; do sleep 0.05; done";
    let project = Project::with_hook(stubborn, "background = true\ntimeout = \"200ms\"");
    let (engine, told) = observed(&project);
    engine.fire(tool_call()).await;
    engine.background_ended().await;
    let finished = told.try_recv().unwrap();
    assert_eq!(
        (finished.hook.status, finished.hook.timed_out),
        (Status::TimedOut, true)
    );
    assert!(!project.pid("pid").await.runs());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_background_hook_cannot_block_or_say_anything() {
    let project = Project::with_hook("echo no >&2; exit 2", "background = true");
    let (engine, told) = observed(&project);
    let verdict = engine.fire(tool_call()).await;
    engine.background_ended().await;
    assert!(!verdict.is_blocked() && verdict.messages.is_empty());
    assert_eq!(told.try_recv().unwrap().hook.exit_code, Some(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_condition_that_does_not_hold_is_told_as_skipped() {
    let project = Project::with_hook("echo > ran", "background = true\nwhen = \"false\"");
    let (engine, told) = observed(&project);
    engine.fire(tool_call()).await;
    engine.background_ended().await;
    assert_eq!(told.try_recv().unwrap().hook.status, Status::Skipped);
    assert!(!project.exists("ran"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_background_hook_outlives_the_future_that_started_it() {
    let slow = "until [ -e go ]; do sleep 0.01; done; echo > finished";
    let project = Project::with_hook(slow, "background = true").hook("echo > reached; sleep 30", "");
    let (engine, _told) = observed(&project);
    let firing = tokio::spawn({
        let engine = engine.clone();
        async move { engine.fire(tool_call()).await }
    });
    wait_until(|| project.exists("reached").then_some(())).await;
    firing.abort();
    project.write("go", "");
    wait_until(|| project.exists("finished").then_some(())).await;
    tokio::time::timeout(Duration::from_secs(5), engine.background_ended())
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_for_the_background_ends_at_once_when_nothing_is_there() {
    Project::new().engine().background_ended().await;
}
