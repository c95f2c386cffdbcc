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

use crate::support::{CliOutput, CliSandbox, spawn_with_stdin};

/// Two seconds are promised; a machine that is busy with other tests may need longer to start and end a process.
const IN_TIME: Duration = Duration::from_secs(4);

/// Tells `snell notify` about a prompt, for this receiver.
fn send_prompt_notification(sandbox: &CliSandbox, url: &str, prompt: &str) -> CliOutput {
    let payload = json!({"session_id": "s1", "prompt": prompt});
    run_notify(sandbox, &["user-prompt-submit", "--url", url], &payload.to_string())
}

/// Calls `snell notify`. Whatever happens, it answers nothing, in time, and with 0.
fn run_notify(sandbox: &CliSandbox, args: &[&str], stdin: &str) -> CliOutput {
    let args: Vec<_> = ["notify"].iter().chain(args).copied().collect();
    let started = Instant::now();
    let ran: CliOutput = spawn_with_stdin(&mut sandbox.command(&args), stdin).wait_with_output().unwrap().into();
    assert!(started.elapsed() < IN_TIME, "{args:?} took {:?}", started.elapsed());
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{args:?}: {ran:?}");
    ran
}

impl CliOutput {
    /// There was nothing to tell people.
    fn assert_no_warning(&self) {
        assert_eq!(self.stderr, "");
    }

    /// There was one line for people, and it says this.
    fn assert_warning_contains(&self, text: &str) {
        let lines: Vec<_> = self.stderr.lines().collect();
        assert!(lines.len() == 1 && lines[0].starts_with("snell: "), "{self:?}");
        assert!(lines[0].contains(text), "{text:?} is not in {self:?}");
    }
}

/// The files of a directory below `outbox`, in order.
fn list_outbox_files(sandbox: &CliSandbox, directory: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(sandbox.data().join("outbox").join(directory));
    let mut paths: Vec<_> = entries.into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    paths
}

/// The bodies of what waits. What is delivered just now does not wait any more.
fn read_waiting_bodies(sandbox: &CliSandbox) -> Vec<Value> {
    let files = list_outbox_files(sandbox, "").into_iter().filter_map(|path| fs::read(path).ok());
    let letters = files.map(|text| serde_json::from_slice::<Value>(&text).unwrap());
    letters.map(|letter| letter["body"].clone()).collect()
}
