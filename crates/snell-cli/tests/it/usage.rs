//! `snell usage`: tokens and their cost, from the files that agents write.

use serde_json::{Value, json};

use snell_test_support::process::spawn_with_stdin;

use crate::support::CliSandbox;

/// A line of Claude Code: a request of this model with so much output.
fn request(number: u32, model: &str, output: u64) -> String {
    let usage = json!({"input_tokens": 1000, "output_tokens": output, "cache_read_input_tokens": 1_000_000});
    let line = json!({
        "type": "assistant", "sessionId": "s1", "cwd": "/work/api", "timestamp": format!("2026-03-01T{number:02}:30:00Z"),
        "requestId": format!("req_{number}"),
        "message": {"id": format!("msg_{number}"), "model": model, "usage": usage}
    });
    format!("{line}\n")
}

fn create_sandbox() -> CliSandbox {
    let lines = [request(1, "claude-opus-4-6", 1000), request(23, "claude-opus-4-6", 2000)].concat();
    CliSandbox::with_frozen_clock().home_file(".claude/projects/p/s1.jsonl", &lines)
}

fn usage_json(sandbox: &CliSandbox, args: &[&str]) -> Value {
    let ran = sandbox.run_snell(&[&["usage", "--json"], args].concat(), "");
    assert_eq!(ran.code, 0, "{ran:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn without_transcripts_it_says_so_and_makes_nothing() {
    let sandbox = CliSandbox::with_frozen_clock();
    let ran = sandbox.run_snell(&["usage"], "");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.starts_with("No usage yet."), "{}", ran.stdout);
    assert_eq!(usage_json(&sandbox, &[])["total"], json!(null));
    assert_eq!(std::fs::read_dir(sandbox.data()).unwrap().count(), 0);
}

#[test]
fn tokens_and_their_cost_are_a_table() {
    let sandbox = create_sandbox();
    let ran = sandbox.run_snell(&["usage"], "");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    insta::assert_snapshot!(ran.stdout, @r"
    DAY         REQUESTS  INPUT  OUTPUT  CACHE READ  CACHE WRITE  COST
    2026-03-01  2         2,000  3,000   2,000,000   0            $1.08
    total       2         2,000  3,000   2,000,000   0            $1.08
    ");
    let again = sandbox.run_snell(&["usage", "--by", "session"], "").stdout;
    assert!(again.lines().nth(1).unwrap().starts_with("s1 "), "{again}");
}

#[test]
fn days_are_those_of_the_users_time_zone() {
    for (zone, args, expected) in [
        ("UTC", &[][..], &["2026-03-01"][..]),
        ("America/Los_Angeles", &[], &["2026-02-28", "2026-03-01"]),
        ("Asia/Kathmandu", &[], &["2026-03-01", "2026-03-02"]),
        ("Asia/Kathmandu", &["--utc"], &["2026-03-01"]),
    ] {
        let sandbox = create_sandbox().env("TZ", zone);
        let days = usage_json(&sandbox, args)["parts"].clone();
        let days: Vec<_> = days.as_array().unwrap().iter().map(|part| part["day"].as_str().unwrap()).collect();
        assert_eq!(days, expected, "{zone} {args:?}");
    }
}

#[test]
fn unknown_models_are_unknown_until_the_user_sets_a_price() {
    let sandbox = CliSandbox::with_frozen_clock()
        .home_file(".claude/projects/p/s1.jsonl", &request(1, "new-model-20260101", 1000));
    let ran = sandbox.run_snell(&["usage"], "");
    assert!(ran.stdout.lines().nth(1).unwrap().ends_with("unknown"), "{}", ran.stdout);
    assert!(ran.stderr.contains("the price of these models is unknown: new-model-20260101"), "{}", ran.stderr);
    assert_eq!(usage_json(&sandbox, &[])["total"]["cost_usd"], json!(null));
    let config = "[usage.prices.\"new-*\"]\ninput = 10\noutput = 20.5\ncache_read = 0\n";
    let sandbox = sandbox.home_file(".config/snell/snell.toml", config);
    assert_eq!(usage_json(&sandbox, &[])["total"]["cost_usd"], json!(0.0305));
    assert_eq!(sandbox.run_snell(&["usage"], "").stderr, "");
}

#[test]
fn faulty_prices_are_named_and_do_not_apply() {
    let config = "[usage.prices.\"a\"]\ninput = -1\noutput = \"2\"\n[usage.prices.\"b\"]\ninput = 1\nouput = 2\n";
    let sandbox = create_sandbox().home_file(".config/snell/snell.toml", config);
    let ran = sandbox.run_snell(&["lint"], "");
    for expected in [
        "\"input\" must be a number of US dollars per million tokens",
        "\"output\" must be a number of US dollars per million tokens",
        "[usage.prices.\"b\"] has no \"output\" (no price applies)",
        "ouput",
    ] {
        assert!(ran.stdout.contains(expected), "{expected}: {}", ran.stdout);
    }
    assert_eq!(sandbox.run_snell(&["usage"], "").code, 0);
}

#[test]
fn requests_of_recorded_sessions_have_an_agent() {
    let sandbox = create_sandbox();
    let transcript = sandbox.home().join(".claude/projects/p/s1.jsonl");
    sandbox.send_hook_event("11:00:00", "SessionStart", json!({"session_id": "s1", "transcript_path": transcript}));
    // A transcript elsewhere, which only an event names.
    let elsewhere = sandbox.home().join("elsewhere.jsonl");
    std::fs::write(&elsewhere, request(5, "claude-opus-4-6", 10).replace("s1", "s2")).unwrap();
    sandbox.send_hook_event(
        "11:00:00",
        "SessionStart",
        json!({"session_id": "s2", "transcript_path": elsewhere, "cwd": sandbox.home()}),
    );
    let by_agent = usage_json(&sandbox, &["--by", "agent"]);
    let requests: Vec<_> =
        by_agent["parts"].as_array().unwrap().iter().map(|part| (&part["agent_id"], &part["requests"])).collect();
    assert_eq!(requests, [(&json!(1), &json!(2)), (&json!(2), &json!(1))]);
    assert_eq!(usage_json(&sandbox, &["--agent", "2"])["total"]["requests"], json!(1));
    assert_eq!(usage_json(&sandbox, &["--agent", "claude"])["total"]["requests"], json!(3));
    assert_eq!(usage_json(&sandbox, &["--project", "/work/api"])["total"]["requests"], json!(3));
    assert_eq!(usage_json(&sandbox, &["--since", "2026-03-01T05:00"])["total"]["requests"], json!(2));
    assert_eq!(usage_json(&sandbox, &["--until", "2026-03-01T05:00"])["total"]["requests"], json!(1));
    let agents = sandbox.run_snell(&["agents"], "").stdout;
    let header = agents.lines().next().unwrap();
    assert!(header.contains("COST") && agents.contains("$1.08"), "{agents}");
    assert!(sandbox.run_snell(&["usage", "--session", "none"], "").stderr.contains("no matching requests"));
}

#[test]
fn two_processes_that_count_at_once_count_everything_once() {
    let lines: String = (0..20).map(|number| request(number, "claude-opus-4-6", 10)).collect();
    let mut sandbox = CliSandbox::with_frozen_clock();
    for file in 0..30 {
        let lines = lines.replace("\"req_", &format!("\"req_{file}_"));
        sandbox = sandbox.home_file(&format!(".claude/projects/p/{file}.jsonl"), &lines);
    }
    let counters: Vec<_> = (0..4).map(|_| spawn_with_stdin(&mut sandbox.command(&["usage"]), "")).collect();
    for counter in counters {
        assert!(counter.wait_with_output().unwrap().status.success());
    }
    assert_eq!(usage_json(&sandbox, &[])["total"]["requests"], json!(600));
}
