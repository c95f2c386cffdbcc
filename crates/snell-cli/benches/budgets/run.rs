//! What `snell run` and an embedded engine cost.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use snell::{Engine, Event};

use crate::measure::{Times, figure, micros, millis, per_call, ratio, resident_kib, row, timed, wait};

/// Whole processes.
pub(crate) fn processes(root: &Path) {
    one_true_hook(&root.join("one"));
    hooks_that_do_not_match(root);
}

/// An engine inside a host.
pub(crate) fn embedded(root: &Path) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(sixteen_in_parallel(&root.join("parallel")));
    selecting_and_payloads(&root.join("select"));
    runtime.block_on(ten_thousand_events(&root.join("many")));
}

/// `snell run` with one `true` hook, against `/bin/true` and `/bin/sh -c true`.
fn one_true_hook(project: &Path) {
    project_with(project, 1, "*");
    let payload = payload_file(project);
    let [bare, shell, snell] = timed([
        &mut || wait(&mut Command::new("/bin/true")),
        &mut || wait(Command::new("/bin/sh").args(["-c", "true"])),
        &mut || wait(&mut snell_run(project, &payload)),
    ]);
    row("/bin/true", &bare, None);
    row("/bin/sh -c true", &shell, None);
    let floor = bare.p50() + shell.p50();
    row(
        "snell run, one `true` hook",
        &snell,
        Some(format!("{} of (true + sh); budget 1.50", ratio(snell.p50(), floor))),
    );
}

/// `snell run` in projects whose hooks all look for another tool.
fn hooks_that_do_not_match(root: &Path) {
    let [none, names, simple, compiled] = [
        ("none", 0, ""),
        ("names", 100, "Edit|Write"),
        ("simple", 100, "mcp__.*"),
        ("compiled", 100, "mcp__.*__(read|write)"),
    ]
    .map(|(name, hooks, matcher)| {
        let project = root.join(name);
        project_with(&project, hooks, matcher);
        let payload = payload_file(&project);
        move || wait(&mut snell_run(&project, &payload))
    });
    let [none, names, simple, compiled] = timed([&mut { none }, &mut { names }, &mut { simple }, &mut { compiled }]);
    row("snell run, no hooks", &none, None);
    let of_none = |times: &Times| Some(format!("{} of no hooks", ratio(times.p50(), none.p50())));
    row(
        "snell run, 100 hooks for `Edit|Write`, none matches",
        &names,
        of_none(&names),
    );
    row(
        "snell run, 100 hooks for `mcp__.*`, none matches",
        &simple,
        of_none(&simple),
    );
    row(
        "… for `mcp__.*__(read|write)`, which is compiled",
        &compiled,
        of_none(&compiled),
    );
}

/// Sixteen hooks that run together, against the slowest of them alone.
async fn sixteen_in_parallel(project: &Path) {
    let hooks: Vec<_> = (1..=16)
        .map(|number| json!({"type": "command", "command": format!("sleep 0.{number:02}")}))
        .collect();
    write_claude(project, &json!([{"matcher": "*", "hooks": hooks}]));
    let together = median_fire(&engine(project), 20).await;
    write_claude(project, &json!([{"matcher": "*", "hooks": [hooks.last()]}]));
    let slowest = median_fire(&engine(project), 20).await;
    figure(
        "16 hooks together, the slowest sleeps 160 ms",
        &format!("{:.1} ms", millis(together)),
    );
    figure(
        "the slowest alone",
        &format!(
            "{:.1} ms (16 together: {} of it)",
            millis(slowest),
            ratio(together, slowest)
        ),
    );
}

/// What it takes to find that none of 100 hooks matches, and to read and write an event.
fn selecting_and_payloads(project: &Path) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    project_with(project, 100, "Edit|Write");
    let engine = engine(project);
    let event = event();
    let each = per_call(20_000, || drop(runtime.block_on(engine.fire(event.clone()))));
    figure(
        "an event against 100 hooks, none matches",
        &format!("{:.2} µs", micros(each)),
    );
    let payload = event.to_json().to_string();
    let each = per_call(50_000, || {
        drop(Event::from_json(Some("PreToolUse"), payload.as_bytes()).unwrap())
    });
    figure("reading an event from JSON", &format!("{:.2} µs", micros(each)));
    let each = per_call(50_000, || drop(event.to_json().to_string()));
    figure("writing an event as JSON", &format!("{:.2} µs", micros(each)));
    let each = per_call(2_000, || drop(Engine::builder().project(project).load()));
    figure("loading 100 hooks", &format!("{:.0} µs", micros(each)));
    let each = per_call(20_000, || drop(engine.reload_if_changed()));
    figure("looking whether a file has changed", &format!("{:.2} µs", micros(each)));
}

/// Ten thousand events through one engine, one `true` hook each: speed, and memory before and after.
async fn ten_thousand_events(project: &Path) {
    const EVENTS: usize = 10_000;
    project_with(project, 1, "*");
    let engine = engine(project);
    fire_many(&engine, 1_000).await;
    let before = resident_kib(std::process::id());
    let started = Instant::now();
    fire_many(&engine, EVENTS).await;
    let seconds = started.elapsed().as_secs_f64();
    figure(
        "10 000 events, one `true` hook each, 16 at a time",
        &format!("{:.0} events/s", EVENTS as f64 / seconds),
    );
    figure(
        "resident memory before and after",
        &format!("{before} KiB, {} KiB", resident_kib(std::process::id())),
    );
}

async fn fire_many(engine: &Engine, events: usize) {
    const AT_ONCE: usize = 16;
    let mut running = tokio::task::JoinSet::new();
    for _ in 0..events {
        if running.len() == AT_ONCE {
            running.join_next().await.unwrap().unwrap();
        }
        let engine = engine.clone();
        running.spawn(async move { assert!(!engine.fire(event()).await.hooks.is_empty()) });
    }
    while let Some(ended) = running.join_next().await {
        ended.unwrap();
    }
}

async fn median_fire(engine: &Engine, rounds: usize) -> Duration {
    let mut times = Vec::new();
    for _ in 0..rounds {
        let started = Instant::now();
        engine.fire(event()).await;
        times.push(started.elapsed());
    }
    Times::new(times).p50()
}

fn engine(project: &Path) -> Engine {
    Engine::builder().project(project).env(std::env::vars_os()).load().0
}

fn event() -> Event {
    Event::pre_tool_use(
        "Bash",
        json!({"command": "git status --short", "description": "Show what changed"}),
    )
    .in_session("wave_session_abc123_xyz789")
}

fn snell_run(project: &Path, payload: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_snell"));
    command
        .args(["run", "PreToolUse", "--project"])
        .arg(project)
        .arg("--home")
        .arg(project)
        .stdin(File::open(payload).unwrap());
    command
}

fn project_with(project: &Path, hooks: usize, matcher: &str) {
    let hooks: Vec<_> = (0..hooks)
        .map(|_| json!({"matcher": matcher, "hooks": [{"type": "command", "command": "true"}]}))
        .collect();
    write_claude(project, &Value::from(hooks));
}

fn write_claude(project: &Path, groups: &Value) {
    fs::create_dir_all(project.join(".claude")).unwrap();
    let settings = json!({"hooks": {"PreToolUse": groups}});
    fs::write(project.join(".claude/settings.json"), settings.to_string()).unwrap();
}

fn payload_file(project: &Path) -> std::path::PathBuf {
    let path = project.join("event.json");
    fs::write(&path, event().to_json().to_string()).unwrap();
    path
}
