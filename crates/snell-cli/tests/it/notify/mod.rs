//! `snell notify`, and what `snell hook` sends elsewhere: what a receiver really receives, and what happens without one.

mod delivery_order;
mod failures;
mod forwarding;
mod payload;
mod receiver;
mod server;

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use snell_test_support::files::list_paths_ending;
use snell_test_support::process::{CommandOutput, run_with_stdin};

use crate::support::CliSandbox;

/// Two seconds are promised; a machine that is busy with other tests may need longer to start and end a process.
const IN_TIME: Duration = Duration::from_secs(4);

/// Tells `snell notify` about a prompt, for this receiver.
fn send_prompt_notification(sandbox: &CliSandbox, url: &str, prompt: &str) -> CommandOutput {
    let payload = json!({"session_id": "s1", "prompt": prompt});
    run_notify(sandbox, &["user-prompt-submit", "--url", url], &payload.to_string())
}

/// Calls `snell notify`. Whatever happens, it answers nothing, in time, and with 0.
fn run_notify(sandbox: &CliSandbox, args: &[&str], stdin: &str) -> CommandOutput {
    let args: Vec<_> = ["notify"].iter().chain(args).copied().collect();
    let started = Instant::now();
    let ran = run_with_stdin(&mut sandbox.command(&args), stdin);
    assert!(started.elapsed() < IN_TIME, "{args:?} took {:?}", started.elapsed());
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{args:?}: {ran:?}");
    ran
}

/// The files of a directory below `outbox`, in order.
fn list_outbox_files(sandbox: &CliSandbox, directory: &str) -> Vec<PathBuf> {
    list_paths_ending(&sandbox.data().join("outbox").join(directory), ".json")
}

/// The bodies of what waits. What is delivered just now does not wait any more.
fn read_waiting_bodies(sandbox: &CliSandbox) -> Vec<Value> {
    let files = list_outbox_files(sandbox, "").into_iter().filter_map(|path| fs::read(path).ok());
    let letters = files.map(|text| serde_json::from_slice::<Value>(&text).unwrap());
    letters.map(|letter| letter["body"].clone()).collect()
}
