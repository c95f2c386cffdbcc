//! The receiver counts tokens by itself, also after it was killed in the middle.

use std::fs::OpenOptions;
use std::io::Write;

use serde_json::{Value, json};
use snell_test_support::database::assert_database_intact;
use snell_test_support::wait::wait_until;

use super::{ANYWHERE, start_server};
use crate::support::CliSandbox;

fn request(file: u32, number: u32) -> String {
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    let line = json!({
        "type": "assistant", "sessionId": format!("s{file}"), "cwd": "/work/api", "timestamp": "2026-03-01T10:00:00Z",
        "requestId": format!("req_{file}_{number}"), "padding": "x".repeat(2000),
        "message": {"id": "msg", "model": "claude-opus-4-6", "usage": usage}
    });
    format!("{line}\n")
}

fn read_total(usage: &Value) -> i64 {
    usage["total"]["requests"].as_i64().unwrap_or_default()
}

#[test]
fn a_receiver_that_is_killed_while_it_counts_counts_nothing_twice() {
    const FILES: u32 = 4;
    const REQUESTS: u32 = 2500;
    let mut sandbox = CliSandbox::new();
    for file in 0..FILES {
        let lines: String = (0..REQUESTS).map(|number| request(file, number)).collect();
        sandbox = sandbox.home_file(&format!(".claude/projects/p/s{file}.jsonl"), &lines);
    }
    let mut seen = 0;
    for kill in 0..3 {
        let mut receiver = start_server(&sandbox, ANYWHERE);
        // It has counted something more since the last time, or everything.
        wait_until(|| {
            let total = read_total(&receiver.request("GET", "/api/usage").without_chunking().send().json());
            let is_more = total > seen || total == i64::from(FILES * REQUESTS);
            seen = total;
            is_more.then_some(())
        });
        receiver.kill();
        assert_database_intact(&sandbox.data().join("snell.db"));
        assert!(seen <= i64::from(FILES * REQUESTS), "{kill}: {seen}");
    }
    let usage = sandbox.run_snell(&["usage", "--json"], "").json();
    assert_eq!(read_total(&usage), i64::from(FILES * REQUESTS));
}

#[test]
fn a_receiver_counts_what_is_written_while_it_runs() {
    let sandbox = CliSandbox::new().home_file(".claude/projects/p/s1.jsonl", &request(1, 1));
    let receiver = start_server(&sandbox, ANYWHERE);
    let wait_for_total = |expected: i64| {
        wait_until(|| {
            let total = read_total(&receiver.request("GET", "/api/usage").without_chunking().send().json());
            (total == expected).then_some(())
        });
    };
    wait_for_total(1);
    let path = sandbox.home().join(".claude/projects/p/s1.jsonl");
    OpenOptions::new().append(true).open(path).unwrap().write_all(request(1, 2).as_bytes()).unwrap();
    wait_for_total(2);
}
