//! Hooks and answers that are killed at any moment.

use std::process::Child;
use std::time::Duration;

use serde_json::{Value, json};
use snell_test_support::process::{Signal, send_signal, spawn_with_stdin, wait_for_output};

use super::{AnswerBench, ENABLED};

const ROUNDS: u64 = 40;

/// A moment up to so many milliseconds, another one in each round.
fn pick_moment(round: u64, most: u64) -> Duration {
    let mixed = round.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    Duration::from_micros((mixed >> 16) % (most * 1000))
}

/// Kills a process if it has not ended. Returns what it wrote before that.
fn kill(child: Child) -> String {
    // It may have ended meanwhile.
    let _ = std::panic::catch_unwind(|| send_signal(child.id(), Signal::KILL));
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

/// The request of this round, if its hook opened one.
fn find_round(bench: &AnswerBench, before: usize) -> Option<Value> {
    let requests = bench.list_requests();
    assert!(requests.len() <= before + 1, "more than one request for one event");
    (requests.len() > before).then(|| requests[0].clone())
}

#[test]
fn a_hook_that_is_killed_at_any_moment_leaves_no_open_request_and_lets_nothing_through() {
    let bench = AnswerBench::new(ENABLED);
    let _watcher = bench.watch();
    for round in 0..ROUNDS {
        let before = bench.count_requests();
        let hook = bench.spawn_ask();
        let answers_first = round % 2 == 0;
        let answer = answers_first.then(|| {
            let uid = bench.wait_for_open();
            spawn_with_stdin(&mut bench.sandbox.command(&["answer", &uid, "allow"]), "")
        });
        std::thread::sleep(pick_moment(round, if answers_first { 120 } else { 60 }));
        let said = kill(hook);
        let answered = answer.map(wait_for_output);
        let request = find_round(&bench, before);
        let is_allowed = said.contains("\"allow\"");
        let Some(request) = request else {
            assert!(!is_allowed, "allowed without a request: {said:?}");
            continue;
        };
        assert_ne!(request["status"], "open", "round {round}: {request}");
        let was_answered = answered.is_some_and(|answered| answered.code == 0);
        assert_eq!(request["status"] == "answered", was_answered, "round {round}: {request}");
        if is_allowed {
            assert_eq!(request["answer"]["choice"], "allow", "round {round}: {request}");
            assert!(request["delivered_at"].is_string(), "round {round}: {request}");
        }
    }
}

#[test]
fn an_answer_whose_hook_ended_before_says_that_the_agent_did_not_get_it() {
    let bench = AnswerBench::new(ENABLED);
    let _watcher = bench.watch();
    let hook = bench.spawn_ask();
    let uid = bench.wait_for_open();
    send_signal(hook.id(), Signal::STOP);
    assert_eq!(bench.answer(&[&uid, "allow"]).code, 0);
    let shown = || bench.sandbox.run_snell(&["requests", &uid], "").stdout;
    assert!(shown().contains("not yet delivered"), "{}", shown());
    assert_eq!(kill(hook), "");
    assert!(shown().contains("but the agent did not get it: its hook ended before"), "{}", shown());
    let request = bench.list_requests()[0].clone();
    assert_eq!((&request["status"], &request["closed_reason"]), (&json!("answered"), &json!("its hook ended before")));
}

#[test]
fn an_answer_that_is_killed_at_any_moment_is_given_whole_or_not_at_all() {
    let bench = AnswerBench::new(ENABLED);
    let _watcher = bench.watch();
    for round in 0..ROUNDS {
        let before = bench.count_requests();
        let hook = bench.spawn_ask();
        let uid = bench.wait_for_open();
        let first = spawn_with_stdin(&mut bench.sandbox.command(&["answer", &uid, "allow"]), "");
        std::thread::sleep(pick_moment(round, 60));
        kill(first);
        // If the first answer did not count, this one does.
        let second = bench.answer(&[&uid, "deny"]);
        let said = wait_for_output(hook).json();
        let behavior = said["hookSpecificOutput"]["decision"]["behavior"].clone();
        assert_eq!(behavior, if second.code == 0 { "deny" } else { "allow" }, "round {round}: {said} {second:?}");
        let request = find_round(&bench, before).unwrap();
        assert_eq!(request["answer"]["choice"], behavior, "round {round}");
    }
}
