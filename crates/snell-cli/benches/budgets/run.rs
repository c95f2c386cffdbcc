//! What `snell run` and an embedded engine cost.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use snell::{Engine, Event};
use snell_test_support::process::read_resident_kib;

use crate::measure::{
    TimeSamples, format_ratio, print_figure, print_row, run_to_end, time_contenders, time_per_call, to_micros,
    to_millis,
};

/// Whole processes.
pub(crate) fn bench_run_processes(root: &Path) {
    bench_one_true_hook(&root.join("one"));
    bench_unmatched_hooks(root);
}

/// An engine inside a host.
pub(crate) fn bench_embedded(root: &Path) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(bench_sixteen_parallel(&root.join("parallel")));
    bench_select_and_payloads(&root.join("select"));
    runtime.block_on(bench_ten_thousand_events(&root.join("many")));
}

/// `snell run` with one `true` hook, against `/bin/true` and `/bin/sh -c true`.
fn bench_one_true_hook(project: &Path) {
    write_project(project, 1, "*");
    let payload = write_payload_file(project);
    let [bare, shell, snell] = time_contenders([
        &mut || run_to_end(&mut Command::new("/bin/true")),
        &mut || run_to_end(Command::new("/bin/sh").args(["-c", "true"])),
        &mut || run_to_end(&mut snell_run_command(project, &payload)),
    ]);
    print_row("/bin/true", &bare, None);
    print_row("/bin/sh -c true", &shell, None);
    let floor = bare.p50() + shell.p50();
    print_row(
        "snell run, one `true` hook",
        &snell,
        Some(format!("{} of (true + sh); budget 1.50", format_ratio(snell.p50(), floor))),
    );
}

/// `snell run` in projects whose hooks all look for another tool.
fn bench_unmatched_hooks(root: &Path) {
    let [none, names, simple, compiled] = [
        ("none", 0, ""),
        ("names", 100, "Edit|Write"),
        ("simple", 100, "mcp__.*"),
        ("compiled", 100, "mcp__.*__(read|write)"),
    ]
    .map(|(name, hooks, matcher)| {
        let project = root.join(name);
        write_project(&project, hooks, matcher);
        let payload = write_payload_file(&project);
        move || run_to_end(&mut snell_run_command(&project, &payload))
    });
    let [none, names, simple, compiled] =
        time_contenders([&mut { none }, &mut { names }, &mut { simple }, &mut { compiled }]);
    print_row("snell run, no hooks", &none, None);
    let of_none = |times: &TimeSamples| Some(format!("{} of no hooks", format_ratio(times.p50(), none.p50())));
    print_row("snell run, 100 hooks for `Edit|Write`, none matches", &names, of_none(&names));
    print_row("snell run, 100 hooks for `mcp__.*`, none matches", &simple, of_none(&simple));
    print_row("… for `mcp__.*__(read|write)`, which is compiled", &compiled, of_none(&compiled));
}

/// Sixteen hooks that run together, against the slowest of them alone.
async fn bench_sixteen_parallel(project: &Path) {
    let hooks: Vec<_> =
        (1..=16).map(|number| json!({"type": "command", "command": format!("sleep 0.{number:02}")})).collect();
    write_claude_settings(project, &json!([{"matcher": "*", "hooks": hooks}]));
    let together = measure_median_fire(&build_engine(project), 20).await;
    write_claude_settings(project, &json!([{"matcher": "*", "hooks": [hooks.last()]}]));
    let slowest = measure_median_fire(&build_engine(project), 20).await;
    print_figure("16 hooks together, the slowest sleeps 160 ms", &format!("{:.1} ms", to_millis(together)));
    print_figure(
        "the slowest alone",
        &format!("{:.1} ms (16 together: {} of it)", to_millis(slowest), format_ratio(together, slowest)),
    );
}

/// What it takes to find that none of 100 hooks matches, and to read and write an event.
fn bench_select_and_payloads(project: &Path) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    write_project(project, 100, "Edit|Write");
    let engine = build_engine(project);
    let event = build_event();
    let each = time_per_call(20_000, || drop(runtime.block_on(engine.fire(event.clone()))));
    print_figure("an event against 100 hooks, none matches", &format!("{:.2} µs", to_micros(each)));
    let payload = event.to_json().to_string();
    let each = time_per_call(50_000, || drop(Event::from_json(Some("PreToolUse"), payload.as_bytes()).unwrap()));
    print_figure("reading an event from JSON", &format!("{:.2} µs", to_micros(each)));
    let each = time_per_call(50_000, || drop(event.to_json().to_string()));
    print_figure("writing an event as JSON", &format!("{:.2} µs", to_micros(each)));
    let each = time_per_call(2_000, || drop(Engine::builder().project(project).load()));
    print_figure("loading 100 hooks", &format!("{:.0} µs", to_micros(each)));
    let each = time_per_call(20_000, || drop(engine.reload_if_changed()));
    print_figure("looking whether a file has changed", &format!("{:.2} µs", to_micros(each)));
}

/// Ten thousand events through one engine, one `true` hook each: speed, and memory before and after.
async fn bench_ten_thousand_events(project: &Path) {
    const EVENTS: usize = 10_000;
    write_project(project, 1, "*");
    let engine = build_engine(project);
    fire_many(&engine, 1_000).await;
    let before = read_resident_kib(std::process::id());
    let started = Instant::now();
    fire_many(&engine, EVENTS).await;
    let seconds = started.elapsed().as_secs_f64();
    print_figure(
        "10 000 events, one `true` hook each, 16 at a time",
        &format!("{:.0} events/s", EVENTS as f64 / seconds),
    );
    print_figure(
        "resident memory before and after",
        &format!("{before} KiB, {} KiB", read_resident_kib(std::process::id())),
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
        running.spawn(async move { assert!(!engine.fire(build_event()).await.hooks.is_empty()) });
    }
    while let Some(ended) = running.join_next().await {
        ended.unwrap();
    }
}

async fn measure_median_fire(engine: &Engine, rounds: usize) -> Duration {
    let mut times = Vec::new();
    for _ in 0..rounds {
        let started = Instant::now();
        engine.fire(build_event()).await;
        times.push(started.elapsed());
    }
    TimeSamples::new(times).p50()
}

fn build_engine(project: &Path) -> Engine {
    Engine::builder().project(project).env(std::env::vars_os()).load().0
}

fn build_event() -> Event {
    Event::pre_tool_use("Bash", json!({"command": "git status --short", "description": "Show what changed"}))
        .in_session("wave_session_abc123_xyz789")
}

fn snell_run_command(project: &Path, payload: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_snell"));
    command
        .args(["run", "PreToolUse", "--project"])
        .arg(project)
        .arg("--home")
        .arg(project)
        .stdin(File::open(payload).unwrap());
    command
}

fn write_project(project: &Path, hooks: usize, matcher: &str) {
    let hooks: Vec<_> =
        (0..hooks).map(|_| json!({"matcher": matcher, "hooks": [{"type": "command", "command": "true"}]})).collect();
    write_claude_settings(project, &Value::from(hooks));
}

fn write_claude_settings(project: &Path, groups: &Value) {
    fs::create_dir_all(project.join(".claude")).unwrap();
    let settings = json!({"hooks": {"PreToolUse": groups}});
    fs::write(project.join(".claude/settings.json"), settings.to_string()).unwrap();
}

fn write_payload_file(project: &Path) -> std::path::PathBuf {
    let path = project.join("event.json");
    fs::write(&path, build_event().to_json().to_string()).unwrap();
    path
}
