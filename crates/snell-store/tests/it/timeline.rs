//! The timeline of an agent.

use serde_json::json;
use snell::Decision;
use snell_store::{
    AgentState, DecisionRecord, GuardVerdictRecord, ReconcileScope, SessionFilter, SightingFilter, SightingView,
    TimelineAspect, TimelineEvent, TimelineFilter, TurnFilter,
};

use crate::support::{LiveProcess, TestStore, build_event, build_prompt, build_stop, make_timestamp};

fn build_timeline_filter(agent_id: i64, limit: u32) -> TimelineFilter {
    TimelineFilter { agent_id, limit, ..TimelineFilter::default() }
}

fn list_event_ids(events: &[TimelineEvent]) -> Vec<i64> {
    events.iter().map(|event| event.id).collect()
}

/// Events of two agents in turns: those of the first have odd numbers.
fn create_two_agents() -> TestStore {
    let mut kept = TestStore::new();
    let other = kept.create_other_project("other");
    for number in 0..6 {
        kept.ingest_event(build_prompt("s", &format!("{number}")).at_second(number));
        kept.ingest_event(build_prompt("t", &format!("{number}")).with_field("cwd", other.as_str()).at_second(number));
    }
    kept
}

#[test]
fn events_of_one_agent_are_read_from_either_end() {
    let mut kept = create_two_agents();
    let cases = [
        (build_timeline_filter(1, 10), vec![11, 9, 7, 5, 3, 1]),
        (build_timeline_filter(1, 2), vec![11, 9]),
        (TimelineFilter { before_id: Some(9), ..build_timeline_filter(1, 2) }, vec![7, 5]),
        (TimelineFilter { after_id: Some(5), ..build_timeline_filter(1, 2) }, vec![7, 9]),
        (TimelineFilter { after_id: Some(0), ..build_timeline_filter(2, 10) }, vec![2, 4, 6, 8, 10, 12]),
        (build_timeline_filter(99, 10), vec![]),
    ];
    for (filter, expected) in cases {
        assert_eq!(list_event_ids(&kept.store.query_timeline(&filter).unwrap()), expected, "{filter:?}");
    }
    assert_eq!(kept.store.find_earlier_event(1, None, 2).unwrap(), Some((7, make_timestamp(3))));
    assert_eq!(kept.store.find_earlier_event(1, None, 6).unwrap(), None);
}

#[test]
fn turns_are_read_from_either_end() {
    let mut kept = create_two_agents();
    let mut read = |before_id: Option<i64>, after_id: Option<i64>| -> Vec<i64> {
        let filter = TurnFilter { agent_id: 1, before_id, after_id, actor: None, limit: 2 };
        kept.store.list_turns(&filter).unwrap().iter().map(|turn| turn.turn_id).collect()
    };
    assert_eq!(read(None, None), [11, 9]);
    assert_eq!(read(Some(9), None), [7, 5]);
    assert_eq!(read(None, Some(0)), [1, 3]);
    assert_eq!(read(None, Some(9)), [11]);
}

#[test]
fn an_event_has_its_hook_runs_verdicts_and_changes() {
    let mut kept = TestStore::new();
    let call = |name: &str, id: &str| {
        let input = json!({"command": "make"});
        build_event(name, "s")
            .with_field("tool_name", "Bash")
            .with_field("tool_use_id", id)
            .with_field("tool_input", input)
    };
    kept.ingest_event(build_event("SessionStart", "s").with_field("source", "startup"));
    kept.ingest_event(build_prompt("s", "Go").at_second(1));
    let mut judged = call("PreToolUse", "a").at_second(2).into_record_in(&kept.project_dir());
    judged.judgement = Some(DecisionRecord {
        decision: Decision::Deny,
        reason: Some("no".into()),
        guard: vec![GuardVerdictRecord {
            decision: Decision::Deny,
            rule: "a-rule".into(),
            tier: "t".into(),
            reason: "no".into(),
            advice: None,
            would: Decision::None,
            of_changed_input: false,
        }],
        ..DecisionRecord::default()
    });
    kept.store.ingest(judged).unwrap();
    kept.ingest_event(call("PreToolUse", "b").at_second(3));
    kept.ingest_event(call("PostToolUse", "b").at_second(5));
    kept.ingest_event(call("PostToolUse", "unannounced").at_second(6));
    kept.ingest_event(build_event("Notification", "s").with_field("message", "Hello").at_second(7));
    kept.ingest_event(build_stop("s", "Done").at_second(8));
    let events =
        kept.store.query_timeline(&TimelineFilter { after_id: Some(0), ..build_timeline_filter(1, 50) }).unwrap();
    let states: Vec<_> = events.iter().map(|event| (event.state_before, event.state)).collect();
    assert_eq!(states[0], (None, AgentState::Idle));
    assert_eq!(states[1], (Some(AgentState::Idle), AgentState::Processing));
    assert!(states.windows(2).all(|pair| pair[1].0 == Some(pair[0].1)), "{states:?}");
    assert_eq!(events[0].message.as_deref(), Some("startup"));
    assert_eq!(events[6].message.as_deref(), Some("Hello"));
    let blocked = &events[2];
    assert_eq!((blocked.decision.as_deref(), blocked.guard_verdicts[0].rule.as_str()), (Some("block"), "a-rule"));
    let listed: Vec<_> = events[2..6]
        .iter()
        .map(|event| (event.tool_duration_ms, event.ended_by.as_deref(), event.is_end_of_call))
        .collect();
    let ended = Some("PostToolUse");
    let expected = [(None, None, false), (Some(2000.0), ended, false), (Some(2000.0), None, true), (None, None, false)];
    assert_eq!(listed, expected);
    let guarded = TimelineFilter { with: vec![TimelineAspect::Verdict], ..build_timeline_filter(1, 50) };
    assert_eq!(list_event_ids(&kept.store.query_timeline(&guarded).unwrap()), [3]);
}

#[test]
fn sessions_of_one_agent_are_listed() {
    let mut kept = create_two_agents();
    let filter = SessionFilter { agent_id: Some(2), ended_too: true, ..SessionFilter::default() };
    let found: Vec<_> = kept.store.list_sessions(&filter).unwrap().into_iter().map(|row| row.session_id).collect();
    assert_eq!(found, ["t"]);
}

/// Changes of state without events: after which event, when, from which state to which, the source, and the reason.
fn list_sightings(kept: &mut TestStore, agent_id: i64) -> Vec<String> {
    let events = kept.store.query_timeline(&build_timeline_filter(agent_id, 50)).unwrap();
    let before = SightingFilter {
        agent_id,
        first_event: events.last().map(|event| event.id),
        limit: 50,
        ..SightingFilter::default()
    };
    let mut seen = kept.store.list_sightings(&before).unwrap();
    seen.reverse();
    seen.extend(events.into_iter().rev().flat_map(|event| event.seen_after));
    let format_sighting = |seen: &SightingView| {
        let before = seen.state_before.map_or("-", AgentState::as_str);
        let second = seen.at.as_second() - make_timestamp(0).as_second();
        let (after, state, source, why) = (seen.after_event, seen.state, seen.source, &seen.why);
        format!("{after} {second} {before} {state} {source} {why}")
    };
    seen.iter().map(format_sighting).collect()
}

#[test]
fn changes_of_state_without_events_come_after_the_last_event() {
    let mut kept = TestStore::new();
    let mut living = LiveProcess::new();
    kept.ingest_event(build_prompt("s", "Go").with_process(&living).at_second(1));
    kept.ingest_event(build_event("Notification", "s").with_process(&living).at_second(2));
    living.terminate();
    kept.store.reconcile_agents(ReconcileScope::All, make_timestamp(9)).unwrap();
    let sightings = list_sightings(&mut kept, 1);
    assert_eq!(sightings.len(), 1, "{sightings:?}");
    assert!(sightings[0].starts_with("2 9 processing ended process its process ("), "{sightings:?}");
    kept.ingest_event(build_prompt("s", "Again").at_second(10));
    let newest = kept.store.query_timeline(&build_timeline_filter(1, 1)).unwrap().remove(0);
    assert_eq!((newest.state_before, newest.state), (Some(AgentState::Ended), AgentState::Processing));
}

#[test]
fn an_agent_whose_pane_is_reused_ends_without_its_own_event() {
    let mut kept = TestStore::new();
    let (mut first, second) = (LiveProcess::new(), LiveProcess::new());
    let other = kept.create_other_project("other");
    kept.ingest_event(build_stop("s", "Done.").with_pane("%7").with_process(&first).at_second(1));
    first.terminate();
    let began = build_event("SessionStart", "t").with_field("cwd", other).with_pane("%7").with_process(&second);
    assert_eq!(kept.ingest_event(began.at_second(2)).agent_id, 2);
    assert_eq!(list_sightings(&mut kept, 1), ["1 2 idle ended hook another session started in its tmux pane"]);
    assert_eq!(list_sightings(&mut kept, 2), [""; 0]);
}

#[test]
fn old_changes_of_state_are_removed() {
    let mut kept = TestStore::new();
    let mut living = LiveProcess::new();
    kept.ingest_event(build_prompt("s", "Go").with_process(&living).at_second(1));
    kept.ingest_event(build_prompt("s", "Go on").with_process(&living).at_second(2));
    living.terminate();
    kept.store.reconcile_agents(ReconcileScope::All, make_timestamp(9)).unwrap();
    kept.ingest_event(build_prompt("s", "Go on").at_second(20));
    kept.store.prune(make_timestamp(5), &mut |_| {}).unwrap();
    let sightings = list_sightings(&mut kept, 1);
    assert!(
        sightings[0].starts_with("2 9 processing ended process"),
        "its event is gone, and it is not: {sightings:?}"
    );
    kept.store.prune(make_timestamp(100), &mut |_| {}).unwrap();
    assert_eq!(kept.query_texts("SELECT why FROM sightings"), [""; 0]);
}
