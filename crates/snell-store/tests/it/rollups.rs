//! Hourly counts: the cost of hooks, and the guard's verdicts.

use serde_json::json;
use snell::Decision;
use snell_store::{
    DecisionRecord, FinishedHookRun, GuardFilter, GuardOutcome, GuardVerdictRecord, HookRunRecord, HookStats, LogFilter,
};

use crate::support::{TestStore, build_event, make_timestamp};

const HOUR: i64 = 3600;

fn build_hook_run(command: &str, status: &str, duration_us: u64) -> HookRunRecord {
    let run = json!({
        "contract": "snell", "source": "snell.toml", "line": 3, "command": command, "status": status,
        "duration_us": duration_us,
    });
    serde_json::from_value(run).unwrap()
}

fn build_guard_verdict(rule: &str, decision: &str, reason: &str) -> GuardVerdictRecord {
    let tier = if rule == "a" { "high" } else { "low" };
    serde_json::from_value(json!({"decision": decision, "rule": rule, "tier": tier, "reason": reason})).unwrap()
}

impl TestStore {
    fn take_judged_call(&mut self, seconds: i64, runs: Vec<HookRunRecord>, guard: Vec<GuardVerdictRecord>) {
        let mut observation = build_event("PreToolUse", "s").at_second(seconds).into_record_in(&self.project_dir());
        observation.judgement = Some(DecisionRecord { runs, guard, ..DecisionRecord::default() });
        self.store.ingest(observation).unwrap();
    }

    fn read_hook_stats(&mut self, since: i64) -> Vec<HookStats> {
        self.store.list_hook_stats(make_timestamp(since)).unwrap()
    }
}

#[test]
fn each_hook_is_counted_with_its_durations() {
    let mut kept = TestStore::new();
    kept.take_judged_call(10, vec![build_hook_run("a", "ok", 1000), build_hook_run("b", "ok", 50_000)], vec![]);
    kept.take_judged_call(
        20,
        vec![
            build_hook_run("a", "failed", 2000),
            build_hook_run("a", "timed_out", 10_000),
            build_hook_run("a", "blocked", 500),
            build_hook_run("a", "skipped", 0),
            build_hook_run("c", "skipped", 0),
        ],
        vec![],
    );
    let stats = kept.read_hook_stats(0);
    let commands: Vec<_> = stats.iter().map(|hook| hook.command.as_str()).collect();
    assert_eq!(commands, ["b", "a"], "what took the most time comes first, what never ran not at all");
    let a = &stats[1];
    assert_eq!((a.runs, a.failures, a.timeouts, a.blocks), (4, 1, 1, 1));
    assert_eq!((a.p50_ms, a.p95_ms, a.max_ms, a.total_ms), (1.0, 10.0, 10.0, 13.5));
    assert_eq!((a.last_run_at, a.line, a.contract.as_str()), (make_timestamp(20), 3, "snell"));
}

#[test]
fn runs_are_counted_from_the_exact_time_on() {
    let mut kept = TestStore::new();
    for minute in 0..240 {
        kept.take_judged_call(minute * 60, vec![build_hook_run("a", "ok", 1000)], vec![]);
    }
    for since in [0, 1, 60, 61, HOUR - 1, HOUR, HOUR + 1, 2 * HOUR, 239 * 60, 239 * 60 + 1, 10 * HOUR] {
        let expected = (0..240).filter(|minute| minute * 60 >= since).count();
        let found = kept.read_hook_stats(since).first().map_or(0, |hook| hook.runs);
        assert_eq!(usize::try_from(found).unwrap(), expected, "since {since}");
    }
    let hours = kept.store.list_hook_hours(make_timestamp(HOUR + 5), None).unwrap();
    let listed: Vec<_> = hours.iter().map(|hour| (hour.begins, hour.runs, hour.p95_ms)).collect();
    assert_eq!(
        listed,
        [(make_timestamp(HOUR), 60, 1.0), (make_timestamp(2 * HOUR), 60, 1.0), (make_timestamp(3 * HOUR), 60, 1.0)]
    );
}

#[test]
fn hours_are_listed_for_all_hooks_or_for_one() {
    let mut kept = TestStore::new();
    kept.take_judged_call(0, vec![build_hook_run("a", "ok", 1000), build_hook_run("b", "ok", 9000)], vec![]);
    kept.take_judged_call(5 * HOUR, vec![build_hook_run("b", "ok", 3000)], vec![]);
    let hours = |kept: &mut TestStore, hook| -> Vec<_> {
        let hours = kept.store.list_hook_hours(make_timestamp(0), hook).unwrap();
        hours.iter().map(|hour| (hour.begins, hour.runs, hour.max_ms)).collect()
    };
    let b = kept.read_hook_stats(0).iter().find(|hook| hook.command == "b").unwrap().hook_id;
    assert_eq!(hours(&mut kept, None), [(make_timestamp(0), 2, 9.0), (make_timestamp(5 * HOUR), 1, 3.0)]);
    assert_eq!(hours(&mut kept, Some(b)), [(make_timestamp(0), 1, 9.0), (make_timestamp(5 * HOUR), 1, 3.0)]);
    assert_eq!(hours(&mut kept, Some(99)), []);
}

#[test]
fn a_background_hook_counts_when_it_has_ended() {
    let mut kept = TestStore::new();
    kept.take_judged_call(0, vec![build_hook_run("a", "started", 0)], vec![]);
    assert_eq!(kept.read_hook_stats(0), []);
    let finished = FinishedHookRun {
        session_id: "s".into(),
        event: "PreToolUse".into(),
        at: make_timestamp(2 * HOUR),
        run: build_hook_run("a", "failed", 7_200_000_000),
    };
    assert!(kept.store.finish_hook_run(&finished).unwrap());
    let stats = kept.read_hook_stats(0);
    assert_eq!((stats[0].runs, stats[0].failures, stats[0].max_ms), (1, 1, 7_200_000.0));
    // It belongs to the hour of its start, as its run does.
    assert_eq!(kept.read_hook_stats(HOUR), []);
}

#[test]
fn an_impossible_duration_does_not_spoil_the_sum() {
    let mut kept = TestStore::new();
    kept.take_judged_call(
        0,
        vec![build_hook_run("a", "ok", u64::MAX), build_hook_run("a", "ok", u64::MAX), build_hook_run("a", "ok", 1)],
        vec![],
    );
    let stats = kept.read_hook_stats(0);
    assert_eq!((stats[0].runs, stats[0].max_ms), (3, 1e9));
}

#[test]
fn verdicts_are_counted_by_rule_and_outcome() {
    let mut kept = TestStore::new();
    let watched = GuardVerdictRecord { would: Decision::Deny, ..build_guard_verdict("a", "allow", "no") };
    kept.take_judged_call(
        0,
        vec![],
        vec![build_guard_verdict("a", "deny", "no"), build_guard_verdict("b", "ask", "sure?")],
    );
    kept.take_judged_call(60, vec![], vec![build_guard_verdict("a", "deny", "no")]);
    kept.take_judged_call(HOUR, vec![], vec![watched, build_guard_verdict("b", "allow", "you said so")]);
    let hours = kept.store.list_guard_hours(make_timestamp(0)).unwrap();
    let listed: Vec<_> = hours
        .iter()
        .map(|hour| (hour.begins, hour.rule.as_str(), hour.tier.as_str(), hour.outcome, hour.verdicts, hour.last_at))
        .collect();
    assert_eq!(
        listed,
        [
            (make_timestamp(0), "a", "high", GuardOutcome::Denied, 2, make_timestamp(60)),
            (make_timestamp(0), "b", "low", GuardOutcome::Asked, 1, make_timestamp(0)),
            (make_timestamp(HOUR), "a", "high", GuardOutcome::WouldDeny, 1, make_timestamp(HOUR)),
            (make_timestamp(HOUR), "b", "low", GuardOutcome::Allowed, 1, make_timestamp(HOUR)),
        ]
    );
    assert_eq!(kept.store.list_guard_hours(make_timestamp(HOUR)).unwrap().len(), 2);
    let numbers = |kept: &mut TestStore, outcome, tier: Option<&str>| -> Vec<_> {
        let filter = GuardFilter { outcome, tier: tier.map(str::to_owned), limit: 10, ..GuardFilter::default() };
        let found = kept.store.query_guard_log(&filter).unwrap();
        found.iter().map(|entry| entry.guard_verdict_id).collect()
    };
    assert_eq!(numbers(&mut kept, None, None), [5, 4, 3, 2, 1]);
    assert_eq!(numbers(&mut kept, None, Some("low")), [5, 2]);
    assert_eq!(numbers(&mut kept, Some(GuardOutcome::Denied), None), [3, 1]);
    assert_eq!(numbers(&mut kept, Some(GuardOutcome::WouldDeny), None), [4]);
}

#[test]
fn a_call_that_was_denied_instead_of_asking_counts_as_denied() {
    let mut kept = TestStore::new();
    let mut judgement = DecisionRecord {
        decision: Decision::Ask,
        guard: vec![build_guard_verdict("a", "ask", "sure?"), build_guard_verdict("b", "allow", "you said so")],
        ..DecisionRecord::default()
    };
    judgement.override_with_refusal("sure? Nobody can be asked.");
    kept.take_judged_call(0, vec![], judgement.guard);
    let hours = kept.store.list_guard_hours(make_timestamp(0)).unwrap();
    let outcomes: Vec<_> = hours.iter().map(|hour| (hour.rule.as_str(), hour.outcome)).collect();
    assert_eq!(outcomes, [("a", GuardOutcome::Denied), ("b", GuardOutcome::Allowed)]);
    let mut found = |outcome| {
        let filter = GuardFilter { outcome: Some(outcome), limit: 10, ..GuardFilter::default() };
        let found = kept.store.query_guard_log(&filter).unwrap();
        let decisions = found.into_iter().map(|entry| (entry.verdict.decision, entry.verdict.would));
        decisions.collect::<Vec<_>>()
    };
    assert_eq!(found(GuardOutcome::Denied), [("deny".to_owned(), Some("ask".to_owned()))]);
    assert_eq!(found(GuardOutcome::Allowed), [("allow".to_owned(), None)]);
    assert_eq!(found(GuardOutcome::Asked), []);
    assert_eq!(found(GuardOutcome::WouldAsk), []);
    let log = kept.store.query_log(&LogFilter { limit: 10, ..LogFilter::default() }).unwrap();
    assert_eq!(log[0].would, None, "the guard does not only watch");
}

#[test]
fn old_counts_are_removed_with_their_rows() {
    let mut kept = TestStore::new();
    kept.take_judged_call(0, vec![build_hook_run("old", "ok", 1)], vec![build_guard_verdict("a", "deny", "no")]);
    kept.take_judged_call(3 * HOUR, vec![build_hook_run("new", "ok", 1)], vec![build_guard_verdict("b", "deny", "no")]);
    kept.store.prune(make_timestamp(2 * HOUR), &mut |_| {}).unwrap();
    let commands: Vec<_> = kept.read_hook_stats(0).into_iter().map(|hook| hook.command).collect();
    assert_eq!(commands, ["new"]);
    let rules: Vec<_> =
        kept.store.list_guard_hours(make_timestamp(0)).unwrap().into_iter().map(|hour| hour.rule).collect();
    assert_eq!(rules, ["b"]);
}

/// The cost of counting: the same events, with a hook that has run and with one that has not.
/// `docs/internals/performance.md` describes how to run it.
#[test]
#[ignore = "it prints how long events take to be stored, and judges nothing"]
fn storing_with_and_without_counting() {
    const EVENTS: i64 = 20_000;
    let mut kept = TestStore::new();
    for round in 0..4 {
        for (what, status) in [("not counted", "skipped"), ("counted", "ok")] {
            let began = std::time::Instant::now();
            for number in 0..EVENTS {
                let us = 500 + u64::try_from(number * 7919 % 40_000).unwrap();
                kept.take_judged_call(number / 10, vec![build_hook_run("a", status, us)], vec![]);
            }
            let us = began.elapsed().as_secs_f64() * 1e6 / EVENTS as f64;
            let line = format!("  round {round}, {what:<12} {us:.1} µs for each event\n");
            std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes()).unwrap();
        }
    }
}
