//! Events that waited on disk for a server that was down.

use std::net::TcpListener;
use std::path::Path;

use serde_json::json;
use snell_test_support::database::query_texts;
use snell_test_support::http::find_unused_address;
use snell_test_support::process::{spawn_with_stdin, wait_for_output};
use snell_test_support::wait::wait_until;

use super::{run_hook, start_server};
use crate::support::CliSandbox;

/// A process that tells of a prompt.
fn spawn_notify(sandbox: &CliSandbox, address: &str, prompt: &str) -> std::process::Child {
    let url = format!("http://{address}");
    let payload = json!({"session_id": "s1", "prompt": prompt});
    let mut command = sandbox.command(&["notify", "user-prompt-submit", "--url", &url]);
    spawn_with_stdin(&mut command, payload.to_string())
}

fn run_notify(sandbox: &CliSandbox, address: &str, prompt: &str) {
    let ran = wait_for_output(spawn_notify(sandbox, address, prompt));
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{ran:?}");
}

/// Prompts that are stored, in the order in which they were.
fn list_stored_prompts(database: &Path) -> Vec<String> {
    let sql = "SELECT json_extract(payload, '$.prompt') FROM payloads ORDER BY id";
    query_texts(database, sql)
}

/// Waits until so many prompts are stored, and nothing waits any more.
fn wait_for_prompts(sandbox: &CliSandbox, count: usize) -> Vec<String> {
    wait_until(|| {
        let outbox = std::fs::read_dir(sandbox.data().join("outbox")).unwrap();
        let mut names = outbox.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let is_empty = !names.any(|name| name.ends_with(".json"));
        let found = list_stored_prompts(&sandbox.database());
        (is_empty && found.len() >= count).then_some(found)
    })
}

fn format_numbers(range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|number| number.to_string()).collect()
}

#[test]
fn what_waited_is_stored_in_order_and_once_when_the_server_starts() {
    let sandbox = CliSandbox::new();
    let address = find_unused_address().to_string();
    for prompt in format_numbers(0..12) {
        run_notify(&sandbox, &address, &prompt);
    }
    let receiver = start_server(&sandbox, &["--addr", &address]);
    assert_eq!(wait_for_prompts(&sandbox, 12), format_numbers(0..12));
    let said: Vec<_> = receiver.get_json("/api/agents/1/turns")["items"]
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .map(|turn| turn["text"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(said, format_numbers(0..12));
    drop(receiver);
    for prompt in format_numbers(12..15) {
        run_notify(&sandbox, &address, &prompt);
    }
    let _receiver = start_server(&sandbox, &["--addr", &address]);
    assert_eq!(wait_for_prompts(&sandbox, 15), format_numbers(0..15));
}

#[test]
fn what_waits_is_stored_soon_also_if_another_one_was_delivering_when_the_server_started() {
    let sandbox = CliSandbox::new().env("SNELL_SCRIBE", "off");
    let address = find_unused_address().to_string();
    // As long as hooks come, the server looks only now and then by itself.
    run_hook(&sandbox, &[], "SessionStart", json!({"prompt": "0"}));
    for prompt in format_numbers(1..4) {
        run_notify(&sandbox, &address, &prompt);
    }
    let deaf = TcpListener::bind("127.0.0.1:0").unwrap();
    let delivering = spawn_notify(&sandbox, &deaf.local_addr().unwrap().to_string(), "elsewhere");
    let _held = deaf.accept().unwrap();
    let receiver = start_server(&sandbox, &["--addr", &address]);
    assert_eq!(receiver.hook_status()["mode"], "hooks_active");
    wait_until(|| (list_stored_prompts(&sandbox.database()) == format_numbers(0..4)).then_some(()));
    assert!(delivering.wait_with_output().unwrap().status.success());
}

#[test]
fn whoever_notifies_while_the_server_starts_changes_neither_order_nor_number() {
    let sandbox = CliSandbox::new();
    let address = find_unused_address().to_string();
    let mut next = 0;
    for _ in 0..5 {
        for prompt in format_numbers(next..next + 4) {
            run_notify(&sandbox, &address, &prompt);
        }
        let late: Vec<_> =
            format_numbers(next + 4..next + 8).iter().map(|prompt| spawn_notify(&sandbox, &address, prompt)).collect();
        let receiver = start_server(&sandbox, &["--addr", &address]);
        for child in late {
            assert!(child.wait_with_output().unwrap().status.success());
        }
        let mut found = wait_for_prompts(&sandbox, next + 8);
        assert_eq!(found[next..next + 4], format_numbers(next..next + 4));
        // Those who came at the same time may be in any order.
        found.sort_by_key(|prompt| prompt.parse::<usize>().unwrap());
        assert_eq!(found, format_numbers(0..next + 8));
        drop(receiver);
        next += 8;
    }
}
