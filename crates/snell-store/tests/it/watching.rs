//! What those who watch are told: every change, once, in order, whoever made it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use snell_store::{
    Change, ChangeKind, ChangeRange, FinishedRun, GuardVerdict, Judgement, Run, Store, Tail, TurnFilter, Which,
};

use crate::support::{Kept, Living, at, prompt, prompt_line, sent, stop, words_line};

impl Kept {
    fn changes(&mut self) -> Vec<Change> {
        self.store.changes_after(0, u32::MAX).unwrap()
    }

    /// The kinds of the changes after this one.
    fn kinds_after(&mut self, after: i64) -> Vec<&'static str> {
        let changes = self.store.changes_after(after, u32::MAX).unwrap();
        changes.iter().map(|change| change.kind.as_str()).collect()
    }

    fn newest(&mut self) -> i64 {
        self.store.change_range().unwrap().newest
    }

    /// What was told of the only change of this kind.
    fn only(&mut self, kind: ChangeKind) -> Value {
        let mut found = self.changes();
        found.retain(|change| change.kind == kind);
        assert_eq!(found.len(), 1, "{found:?}");
        data(&found[0])
    }
}

fn data(change: &Change) -> Value {
    serde_json::from_str(&change.data).unwrap()
}

#[test]
fn each_event_tells_what_it_changes() {
    let mut kept = Kept::new();
    let transcript = kept.write_transcript(&[]);
    let rows = [
        (
            sent("SessionStart", "s").with("source", "startup").at(1),
            vec!["session_created", "state_changed", "card_refresh"],
        ),
        (
            prompt("s", "Do it.").at(2),
            vec!["turn_created", "state_changed", "card_refresh"],
        ),
        (
            sent("PreToolUse", "s").with("tool_name", "Bash").at(3),
            vec!["card_refresh"],
        ),
        (
            sent("PostToolUse", "s").with("tool_name", "Bash").at(4),
            vec!["card_refresh"],
        ),
        (sent("Notification", "s").at(5), vec!["card_refresh"]),
        (
            stop("s", "Done.").at(6),
            vec!["turn_created", "state_changed", "card_refresh"],
        ),
        (
            sent("SessionEnd", "s").with("reason", "logout").at(7),
            vec!["state_changed", "card_refresh", "session_ended"],
        ),
    ];
    for (event, expected) in rows {
        let before = kept.newest();
        kept.take(event.clone().with("transcript_path", transcript.as_str()));
        assert_eq!(kept.kinds_after(before), expected, "{event:?}");
    }
}

#[test]
fn a_turn_is_told_with_everything_that_a_page_needs() {
    let mut kept = Kept::new();
    let receipt = kept.take(prompt("s", "Why?").at(3));
    let told = kept.only(ChangeKind::TurnCreated);
    assert_eq!(
        told,
        json!({
            "agent_id": receipt.agent_id, "project_id": receipt.project_id, "turn_id": 1, "command_id": 1,
            "actor": "USER", "intent": "command", "text": "Why?",
            "timestamp": at(3).to_string(), "timestamp_source": "server",
        })
    );
    let state = kept.only(ChangeKind::StateChanged);
    assert_eq!(
        (
            &state["state"],
            &state["confidence"],
            &state["state_source"],
            &state["turn_id"]
        ),
        (&json!("processing"), &json!("high"), &json!("hook"), &json!(1))
    );
    assert_eq!(state["timestamp"], at(3).to_string());
}

#[test]
fn what_is_told_has_the_times_that_are_kept() {
    let mut kept = Kept::new();
    let mut observation = prompt("s", "When?").observed_in(&kept.project());
    observation.at = "2026-03-01T12:00:00.123456789Z".parse().unwrap();
    kept.store.ingest(observation).unwrap();
    let told = kept.only(ChangeKind::TurnCreated);
    let turn = &kept.turns("s")[0];
    assert_eq!(told["timestamp"], turn.timestamp.to_string());
    assert_eq!(
        kept.only(ChangeKind::CardRefresh)["last_seen_at"],
        kept.agent().last_seen_at.to_string()
    );
}

#[test]
fn the_transcripts_time_and_missed_turns_are_told_as_well() {
    let mut kept = Kept::new();
    let path = kept.write_transcript(&[]);
    let with_path = |event: crate::support::Sent| event.with("transcript_path", path.as_str());
    kept.take(with_path(sent("SessionStart", "s")).at(1));
    kept.take(with_path(prompt("s", "Count.")).at(3));
    let before = kept.newest();
    kept.write_transcript(&[prompt_line("s", 2, "Count."), words_line("s", 4, "One, two.")]);
    kept.store.reconcile(Which::All, at(5)).unwrap();
    let changes = kept.store.changes_after(before, 100).unwrap();
    let told: Vec<_> = changes
        .iter()
        .map(|change| (change.kind.as_str(), data(change)))
        .filter(|(kind, _)| kind.starts_with("turn"))
        .map(|(kind, data)| {
            format!(
                "{kind} {} {} {}",
                data["text"], data["timestamp"], data["timestamp_source"]
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            format!("turn_updated \"Count.\" \"{}\" \"jsonl\"", at(2)),
            format!("turn_created \"One, two.\" \"{}\" \"jsonl\"", at(4)),
        ]
    );
    let before = kept.newest();
    kept.store.reconcile(Which::All, at(6)).unwrap();
    assert_eq!(kept.kinds_after(before), [""; 0]);
}

#[test]
fn several_events_in_one_transaction_tell_of_each_state_between() {
    let mut kept = Kept::new();
    let project = kept.project();
    let events = [
        prompt("s", "One.").at(1),
        stop("s", "Done.").at(2),
        prompt("s", "Two.").at(3),
    ];
    let observations = events.map(|event| event.observed_in(&project)).to_vec();
    for receipt in kept.store.ingest_all(observations).unwrap() {
        assert!(receipt.state_changed);
    }
    let states: Vec<_> = kept
        .changes()
        .iter()
        .filter(|change| change.kind == ChangeKind::StateChanged)
        .map(|change| format!("{} {}", data(change)["previous_state"], data(change)["state"]))
        .collect();
    assert_eq!(
        states,
        [
            r#"null "processing""#,
            r#""processing" "idle""#,
            r#""idle" "processing""#
        ]
    );
    assert_eq!(kept.agent().state, snell_store::State::Processing);
}

#[test]
fn what_hooks_and_the_guard_did_is_told() {
    let mut kept = Kept::new();
    let mut observation = sent("PreToolUse", "s")
        .with("tool_name", "Bash")
        .observed_in(&kept.project());
    let run = Run {
        contract: "snell".into(),
        source: "snell.toml".into(),
        line: 3,
        command: "true".into(),
        status: "started".into(),
        ..Run::default()
    };
    observation.judgement = Some(Judgement {
        runs: vec![run.clone()],
        guard: vec![GuardVerdict {
            decision: "deny".into(),
            rule: "delete-root".into(),
            tier: "catastrophic".into(),
            reason: "it deletes everything".into(),
            advice: None,
            would: None,
            of_changed_input: false,
        }],
        ..Judgement::default()
    });
    kept.store.ingest(observation).unwrap();
    assert_eq!(kept.only(ChangeKind::HookRun)["status"], "started");
    let verdict = kept.only(ChangeKind::GuardVerdict);
    assert_eq!(
        (&verdict["rule"], &verdict["decision"]),
        (&json!("delete-root"), &json!("deny"))
    );
    let finished = FinishedRun {
        session_id: "s".into(),
        event: "PreToolUse".into(),
        at: at(9),
        run: Run {
            status: "ok".into(),
            duration_us: 2500,
            ..run
        },
    };
    let before = kept.newest();
    assert!(kept.store.finish_run(&finished).unwrap());
    assert_eq!(kept.kinds_after(before), ["hook_run"]);
    let last = data(&kept.changes().pop().unwrap());
    assert_eq!((&last["status"], &last["duration_ms"]), (&json!("ok"), &json!(2.5)));
}

#[test]
fn an_event_that_comes_twice_is_told_once() {
    let mut kept = Kept::new();
    let observation = prompt("s", "Once.").observed_in(&kept.project());
    kept.store.ingest(observation.clone()).unwrap();
    let before = kept.newest();
    assert!(kept.store.ingest(observation).unwrap().duplicate);
    assert_eq!(kept.newest(), before);
}

#[test]
fn a_process_that_is_gone_is_told() {
    let mut living = Living::new();
    let mut kept = Kept::new();
    kept.take(prompt("s", "One.").process(&living).at(1));
    kept.take(prompt("s", "Two.").process(&living).at(2));
    let before = kept.newest();
    living.dies();
    kept.store.reconcile(Which::All, at(3)).unwrap();
    assert_eq!(
        kept.kinds_after(before),
        ["session_ended", "state_changed", "card_refresh"]
    );
}

#[test]
fn numbers_increase_and_are_never_given_twice() {
    let mut kept = Kept::new();
    kept.take(prompt("s", "One.").at(1));
    let newest = kept.newest();
    kept.store.prune(at(1000), &mut |_| {}).unwrap();
    assert_eq!(
        kept.store.change_range().unwrap(),
        ChangeRange { oldest: newest, newest }
    );
    let mut kept = kept.reopened();
    kept.take(prompt("s", "Two.").at(2000));
    let ids: Vec<_> = kept.changes().iter().map(|change| change.id).collect();
    assert!(ids.is_sorted() && ids[0] == newest && ids[1] == newest + 1, "{ids:?}");
    assert_eq!(kept.store.changes_after(newest, 2).unwrap().len(), 2);
}

#[test]
fn whoever_waits_is_let_go_when_another_writes() {
    let mut kept = Kept::new();
    let path = kept.path("snell.db");
    let mut tail = Tail::of(&path).unwrap();
    let (ready, go) = std::sync::mpsc::channel::<()>();
    let project = kept.project();
    let writer = std::thread::spawn(move || {
        let mut other = Store::open(&path).unwrap().store;
        go.recv().unwrap();
        other.ingest(prompt("s", "Hello.").observed_in(&project)).unwrap();
    });
    // Nothing is written, so it waits as long as it may.
    comes_to_rest(&mut tail);
    ready.send(()).unwrap();
    let begun = Instant::now();
    while kept.changes().is_empty() {
        tail.wait(Duration::from_secs(60)).unwrap();
        assert!(begun.elapsed() < Duration::from_secs(50), "nobody told");
    }
    writer.join().unwrap();
    // And it can be woken.
    let waker = tail.waker().unwrap();
    comes_to_rest(&mut tail);
    waker.wake();
    assert!(tail_waits(&mut tail, Duration::from_secs(60)) < Duration::from_secs(50));
}

/// Waits until it waits as long as it may.
fn comes_to_rest(tail: &mut Tail) {
    let (begun, long) = (Instant::now(), Duration::from_millis(150));
    while tail_waits(tail, long) < long {
        assert!(begun.elapsed() < Duration::from_secs(50), "it never rests");
    }
}

fn tail_waits(tail: &mut Tail, at_most: Duration) -> Duration {
    let begun = Instant::now();
    tail.wait(at_most).unwrap();
    begun.elapsed()
}

#[test]
fn how_much_was_heard_since_is_known() {
    let mut kept = Kept::new();
    let nothing = kept.store.heard_since(None).unwrap();
    assert_eq!((nothing.last_row, nothing.last_at), (0, None));
    kept.take(prompt("s", "One.").at(5));
    kept.take(stop("s", "Done.").at(9));
    kept.take(sent("Notification", "s").at(7).delayed());
    let heard = kept.store.heard_since(Some(1)).unwrap();
    assert_eq!(
        (heard.events, heard.last_row, heard.last_at, heard.last_event.as_deref()),
        (2, 3, Some(at(9)), Some("Notification"))
    );
    assert_eq!(kept.store.heard_since(Some(3)).unwrap().events, 0);
}

#[test]
fn turns_are_paged_from_the_newest() {
    let mut kept = Kept::new();
    for number in 0..5 {
        kept.take(prompt("s", &format!("{number}")).at(number));
    }
    let mut filter = TurnFilter {
        agent_id: 1,
        before_id: None,
        limit: 2,
        ..TurnFilter::default()
    };
    let mut seen = Vec::new();
    loop {
        let page = kept.store.turns(&filter).unwrap();
        let Some(last) = page.last() else { break };
        filter.before_id = Some(last.turn_id);
        seen.extend(page.into_iter().map(|turn| turn.text));
    }
    assert_eq!(seen, ["4", "3", "2", "1", "0"]);
}
