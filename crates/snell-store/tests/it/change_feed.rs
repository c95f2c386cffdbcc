//! The change feed: every change of every process, once and in order.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use snell::{Decision, HookRunStatus};
use snell_store::{
    ChangeKind, ChangeRange, ChangeRow, ChangeWatcher, DecisionRecord, FinishedHookRun, GuardVerdictRecord,
    HookRunRecord, ReconcileScope, Store, TurnFilter,
};

use crate::support::{
    LiveProcess, TestStore, build_answer_line, build_event, build_prompt, build_prompt_line, build_stop, make_timestamp,
};

impl TestStore {
    fn list_changes(&mut self) -> Vec<ChangeRow> {
        self.store.list_changes_after(0, u32::MAX).unwrap()
    }

    /// The kinds of the changes after this one.
    fn list_kinds_after(&mut self, after: i64) -> Vec<&'static str> {
        let changes = self.store.list_changes_after(after, u32::MAX).unwrap();
        changes.iter().map(|change| change.kind.as_str()).collect()
    }

    fn newest_change_id(&mut self) -> i64 {
        self.store.change_range().unwrap().newest
    }

    /// The data of the only change of this kind.
    fn expect_single_change(&mut self, kind: ChangeKind) -> Value {
        let mut found = self.list_changes();
        found.retain(|change| change.kind == kind);
        assert_eq!(found.len(), 1, "{found:?}");
        parse_change_data(&found[0])
    }
}

fn parse_change_data(change: &ChangeRow) -> Value {
    serde_json::from_str(&change.data).unwrap()
}

#[test]
fn each_event_adds_its_changes_to_the_feed() {
    let mut kept = TestStore::new();
    let transcript = kept.write_transcript(&[]);
    let rows = [
        (
            build_event("SessionStart", "s").with_field("source", "startup").at_second(1),
            vec!["session_created", "state_changed", "card_refresh"],
        ),
        (build_prompt("s", "Do it.").at_second(2), vec!["turn_created", "state_changed", "card_refresh"]),
        (build_event("PreToolUse", "s").with_field("tool_name", "Bash").at_second(3), vec!["card_refresh"]),
        (build_event("PostToolUse", "s").with_field("tool_name", "Bash").at_second(4), vec!["card_refresh"]),
        (build_event("Notification", "s").at_second(5), vec!["card_refresh"]),
        (build_stop("s", "Done.").at_second(6), vec!["turn_created", "state_changed", "card_refresh"]),
        (
            build_event("SessionEnd", "s").with_field("reason", "logout").at_second(7),
            vec!["state_changed", "card_refresh", "session_ended"],
        ),
    ];
    for (event, expected) in rows {
        let before = kept.newest_change_id();
        kept.ingest_event(event.clone().with_field("transcript_path", transcript.as_str()));
        assert_eq!(kept.list_kinds_after(before), expected, "{event:?}");
    }
}

#[test]
fn a_change_of_a_turn_has_all_data_that_a_page_needs() {
    let mut kept = TestStore::new();
    let receipt = kept.ingest_event(build_prompt("s", "Why?").at_second(3));
    let change = kept.expect_single_change(ChangeKind::TurnCreated);
    assert_eq!(
        change,
        json!({
            "agent_id": receipt.agent_id, "project_id": receipt.project_id, "turn_id": 1, "command_id": 1,
            "actor": "USER", "intent": "command", "text": "Why?",
            "timestamp": make_timestamp(3).to_string(), "timestamp_source": "server",
        })
    );
    let state = kept.expect_single_change(ChangeKind::StateChanged);
    assert_eq!(
        (&state["state"], &state["confidence"], &state["state_source"], &state["turn_id"]),
        (&json!("processing"), &json!("high"), &json!("hook"), &json!(1))
    );
    assert_eq!(state["timestamp"], make_timestamp(3).to_string());
}

#[test]
fn changes_have_the_stored_times() {
    let mut kept = TestStore::new();
    let mut observation = build_prompt("s", "When?").into_record_in(&kept.project_dir());
    observation.at = "2026-03-01T12:00:00.123456789Z".parse().unwrap();
    kept.store.ingest(observation).unwrap();
    let change = kept.expect_single_change(ChangeKind::TurnCreated);
    let turn = &kept.list_turns("s")[0];
    assert_eq!(change["timestamp"], turn.timestamp.to_string());
    assert_eq!(
        kept.expect_single_change(ChangeKind::CardRefresh)["last_seen_at"],
        kept.expect_single_agent().last_seen_at.to_string()
    );
}

#[test]
fn the_transcripts_time_and_missed_turns_are_changes_too() {
    let mut kept = TestStore::new();
    let path = kept.write_transcript(&[]);
    let with_path = |event: crate::support::SentEvent| event.with_field("transcript_path", path.as_str());
    kept.ingest_event(with_path(build_event("SessionStart", "s")).at_second(1));
    kept.ingest_event(with_path(build_prompt("s", "Count.")).at_second(3));
    let before = kept.newest_change_id();
    kept.write_transcript(&[build_prompt_line("s", 2, "Count."), build_answer_line("s", 4, "One, two.")]);
    kept.store.reconcile_agents(ReconcileScope::All, make_timestamp(5)).unwrap();
    let changes = kept.store.list_changes_after(before, 100).unwrap();
    let times: Vec<_> = changes
        .iter()
        .map(|change| (change.kind.as_str(), parse_change_data(change)))
        .filter(|(kind, _)| kind.starts_with("turn"))
        .map(|(kind, data)| format!("{kind} {} {} {}", data["text"], data["timestamp"], data["timestamp_source"]))
        .collect();
    assert_eq!(
        times,
        [
            format!("turn_updated \"Count.\" \"{}\" \"jsonl\"", make_timestamp(2)),
            format!("turn_created \"One, two.\" \"{}\" \"jsonl\"", make_timestamp(4)),
        ]
    );
    let before = kept.newest_change_id();
    kept.store.reconcile_agents(ReconcileScope::All, make_timestamp(6)).unwrap();
    assert_eq!(kept.list_kinds_after(before), [""; 0]);
}

#[test]
fn several_events_in_one_transaction_give_a_change_for_each_state() {
    let mut kept = TestStore::new();
    let project = kept.project_dir();
    let events = [
        build_prompt("s", "One.").at_second(1),
        build_stop("s", "Done.").at_second(2),
        build_prompt("s", "Two.").at_second(3),
    ];
    let observations = events.map(|event| event.into_record_in(&project)).to_vec();
    for receipt in kept.store.ingest_all(observations).unwrap() {
        assert!(receipt.state_changed);
    }
    let states: Vec<_> = kept
        .list_changes()
        .iter()
        .filter(|change| change.kind == ChangeKind::StateChanged)
        .map(|change| format!("{} {}", parse_change_data(change)["previous_state"], parse_change_data(change)["state"]))
        .collect();
    assert_eq!(states, [r#"null "processing""#, r#""processing" "idle""#, r#""idle" "processing""#]);
    assert_eq!(kept.expect_single_agent().state, snell_store::AgentState::Processing);
}

#[test]
fn hook_runs_and_verdicts_are_changes() {
    let mut kept = TestStore::new();
    let mut observation =
        build_event("PreToolUse", "s").with_field("tool_name", "Bash").into_record_in(&kept.project_dir());
    let run = HookRunRecord {
        contract: "snell".into(),
        source: "snell.toml".into(),
        line: 3,
        command: "true".into(),
        status: Some(HookRunStatus::Started),
        ..HookRunRecord::default()
    };
    observation.judgement = Some(DecisionRecord {
        runs: vec![run.clone()],
        guard: vec![GuardVerdictRecord {
            decision: Decision::Deny,
            rule: "delete-root".into(),
            tier: "catastrophic".into(),
            reason: "it deletes everything".into(),
            advice: None,
            would: Decision::None,
            of_changed_input: false,
        }],
        ..DecisionRecord::default()
    });
    kept.store.ingest(observation).unwrap();
    assert_eq!(kept.expect_single_change(ChangeKind::HookRun)["status"], "started");
    let verdict = kept.expect_single_change(ChangeKind::GuardVerdict);
    assert_eq!((&verdict["rule"], &verdict["decision"]), (&json!("delete-root"), &json!("deny")));
    let finished = FinishedHookRun {
        session_id: "s".into(),
        event: "PreToolUse".into(),
        at: make_timestamp(9),
        run: HookRunRecord { status: Some(HookRunStatus::Ok), duration_us: 2500, ..run },
    };
    let before = kept.newest_change_id();
    assert!(kept.store.finish_hook_run(&finished).unwrap());
    assert_eq!(kept.list_kinds_after(before), ["hook_run"]);
    let last = parse_change_data(&kept.list_changes().pop().unwrap());
    assert_eq!((&last["status"], &last["duration_ms"]), (&json!("ok"), &json!(2.5)));
}

#[test]
fn a_repeated_event_is_one_change() {
    let mut kept = TestStore::new();
    let observation = build_prompt("s", "Once.").into_record_in(&kept.project_dir());
    kept.store.ingest(observation.clone()).unwrap();
    let before = kept.newest_change_id();
    assert!(kept.store.ingest(observation).unwrap().duplicate);
    assert_eq!(kept.newest_change_id(), before);
}

#[test]
fn the_end_of_a_process_is_a_change() {
    let mut living = LiveProcess::new();
    let mut kept = TestStore::new();
    kept.ingest_event(build_prompt("s", "One.").with_process(&living).at_second(1));
    kept.ingest_event(build_prompt("s", "Two.").with_process(&living).at_second(2));
    let before = kept.newest_change_id();
    living.terminate();
    kept.store.reconcile_agents(ReconcileScope::All, make_timestamp(3)).unwrap();
    assert_eq!(kept.list_kinds_after(before), ["session_ended", "state_changed", "card_refresh"]);
}

#[test]
fn ids_increase_and_are_never_reused() {
    let mut kept = TestStore::new();
    kept.ingest_event(build_prompt("s", "One.").at_second(1));
    let newest = kept.newest_change_id();
    kept.store.prune(make_timestamp(1000), &mut |_| {}).unwrap();
    assert_eq!(kept.store.change_range().unwrap(), ChangeRange { oldest: newest, newest });
    let mut kept = kept.reopen();
    kept.ingest_event(build_prompt("s", "Two.").at_second(2000));
    let ids: Vec<_> = kept.list_changes().iter().map(|change| change.id).collect();
    assert!(ids.is_sorted() && ids[0] == newest && ids[1] == newest + 1, "{ids:?}");
    assert_eq!(kept.store.list_changes_after(newest, 2).unwrap().len(), 2);
}

#[test]
fn a_wait_ends_when_another_connection_writes() {
    let mut kept = TestStore::new();
    let location = kept.location();
    let mut tail = ChangeWatcher::open_at(&location).unwrap();
    let (ready, go) = std::sync::mpsc::channel::<()>();
    let project = kept.project_dir();
    let writer = std::thread::spawn(move || {
        let mut other = Store::open_at(&location).unwrap().store;
        go.recv().unwrap();
        other.ingest(build_prompt("s", "Hello.").into_record_in(&project)).unwrap();
    });
    // No process writes, so it waits until the time limit.
    wait_until_idle(&mut tail);
    ready.send(()).unwrap();
    let begun = Instant::now();
    while kept.list_changes().is_empty() {
        tail.wait(Duration::from_secs(60)).unwrap();
        assert!(begun.elapsed() < Duration::from_secs(50), "nobody told");
    }
    writer.join().unwrap();
    // A waker ends the wait.
    let waker = tail.waker().unwrap();
    wait_until_idle(&mut tail);
    waker.wake();
    assert!(measure_wait(&mut tail, Duration::from_secs(60)) < Duration::from_secs(50));
}

/// Waits until a whole wait passes without a write.
fn wait_until_idle(tail: &mut ChangeWatcher) {
    let (begun, long) = (Instant::now(), Duration::from_millis(150));
    while measure_wait(tail, long) < long {
        assert!(begun.elapsed() < Duration::from_secs(50), "it never rests");
    }
}

fn measure_wait(tail: &mut ChangeWatcher, at_most: Duration) -> Duration {
    let begun = Instant::now();
    tail.wait(at_most).unwrap();
    begun.elapsed()
}

#[test]
fn events_since_a_row_are_counted() {
    let mut kept = TestStore::new();
    let nothing = kept.store.summarize_events_since(None).unwrap();
    assert_eq!((nothing.last_row, nothing.last_at), (0, None));
    kept.ingest_event(build_prompt("s", "One.").at_second(5));
    kept.ingest_event(build_stop("s", "Done.").at_second(9));
    kept.ingest_event(build_event("Notification", "s").at_second(7).with_delay());
    let activity = kept.store.summarize_events_since(Some(1)).unwrap();
    assert_eq!(
        (activity.events, activity.last_row, activity.last_at, activity.last_event.as_deref()),
        (2, 3, Some(make_timestamp(9)), Some("Notification"))
    );
    assert_eq!(kept.store.summarize_events_since(Some(3)).unwrap().events, 0);
}

#[test]
fn turns_are_paged_from_the_newest() {
    let mut kept = TestStore::new();
    for number in 0..5 {
        kept.ingest_event(build_prompt("s", &format!("{number}")).at_second(number));
    }
    let mut filter = TurnFilter { agent_id: 1, before_id: None, limit: 2, ..TurnFilter::default() };
    let mut seen = Vec::new();
    loop {
        let page = kept.store.list_turns(&filter).unwrap();
        let Some(last) = page.last() else { break };
        filter.before_id = Some(last.turn_id);
        seen.extend(page.into_iter().map(|turn| turn.text));
    }
    assert_eq!(seen, ["4", "3", "2", "1", "0"]);
}
