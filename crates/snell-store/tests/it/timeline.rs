//! What an agent did, event by event, with what hangs on each.

use serde_json::json;
use snell_store::{
    GuardVerdict, Judgement, SessionFilter, SightingFilter, SightingView, State, TimelineEvent, TimelineFilter,
    TurnFilter, Which, With,
};

use crate::support::{Kept, Living, at, prompt, sent, stop};

fn of(agent_id: i64, limit: u32) -> TimelineFilter {
    TimelineFilter {
        agent_id,
        limit,
        ..TimelineFilter::default()
    }
}

fn ids(events: &[TimelineEvent]) -> Vec<i64> {
    events.iter().map(|event| event.id).collect()
}

/// Events of two agents in turns: those of the first have odd numbers.
fn two() -> Kept {
    let mut kept = Kept::new();
    let other = kept.other_project("other");
    for number in 0..6 {
        kept.take(prompt("s", &format!("{number}")).at(number));
        kept.take(prompt("t", &format!("{number}")).with("cwd", other.as_str()).at(number));
    }
    kept
}

#[test]
fn events_of_one_agent_are_read_from_either_end() {
    let mut kept = two();
    let cases = [
        (of(1, 10), vec![11, 9, 7, 5, 3, 1]),
        (of(1, 2), vec![11, 9]),
        (
            TimelineFilter {
                before_id: Some(9),
                ..of(1, 2)
            },
            vec![7, 5],
        ),
        (
            TimelineFilter {
                after_id: Some(5),
                ..of(1, 2)
            },
            vec![7, 9],
        ),
        (
            TimelineFilter {
                after_id: Some(0),
                ..of(2, 10)
            },
            vec![2, 4, 6, 8, 10, 12],
        ),
        (of(99, 10), vec![]),
    ];
    for (filter, expected) in cases {
        assert_eq!(ids(&kept.store.timeline(&filter).unwrap()), expected, "{filter:?}");
    }
    assert_eq!(kept.store.event_further_back(1, None, 2).unwrap(), Some((7, at(3))));
    assert_eq!(kept.store.event_further_back(1, None, 6).unwrap(), None);
}

#[test]
fn turns_are_read_from_either_end() {
    let mut kept = two();
    let mut read = |before_id: Option<i64>, after_id: Option<i64>| -> Vec<i64> {
        let filter = TurnFilter {
            agent_id: 1,
            before_id,
            after_id,
            actor: None,
            limit: 2,
        };
        kept.store
            .turns(&filter)
            .unwrap()
            .iter()
            .map(|turn| turn.turn_id)
            .collect()
    };
    assert_eq!(read(None, None), [11, 9]);
    assert_eq!(read(Some(9), None), [7, 5]);
    assert_eq!(read(None, Some(0)), [1, 3]);
    assert_eq!(read(None, Some(9)), [11]);
}

#[test]
fn an_event_comes_with_all_that_hangs_on_it() {
    let mut kept = Kept::new();
    let call = |name: &str, id: &str| {
        let input = json!({"command": "make"});
        sent(name, "s")
            .with("tool_name", "Bash")
            .with("tool_use_id", id)
            .with("tool_input", input)
    };
    kept.take(sent("SessionStart", "s").with("source", "startup"));
    kept.take(prompt("s", "Go").at(1));
    let mut judged = call("PreToolUse", "a").at(2).observed_in(&kept.project());
    judged.judgement = Some(Judgement {
        decision: Some("block".into()),
        reason: Some("no".into()),
        guard: vec![GuardVerdict {
            decision: "deny".into(),
            rule: "a-rule".into(),
            tier: "t".into(),
            reason: "no".into(),
            advice: None,
            would: None,
            of_changed_input: false,
        }],
        ..Judgement::default()
    });
    kept.store.ingest(judged).unwrap();
    kept.take(call("PreToolUse", "b").at(3));
    kept.take(call("PostToolUse", "b").at(5));
    kept.take(call("PostToolUse", "unannounced").at(6));
    kept.take(sent("Notification", "s").with("message", "Hello").at(7));
    kept.take(stop("s", "Done").at(8));
    let events = kept
        .store
        .timeline(&TimelineFilter {
            after_id: Some(0),
            ..of(1, 50)
        })
        .unwrap();
    let states: Vec<_> = events.iter().map(|event| (event.state_before, event.state)).collect();
    assert_eq!(states[0], (None, State::Idle));
    assert_eq!(states[1], (Some(State::Idle), State::Processing));
    assert!(states.windows(2).all(|pair| pair[1].0 == Some(pair[0].1)), "{states:?}");
    assert_eq!(events[0].message.as_deref(), Some("startup"));
    assert_eq!(events[6].message.as_deref(), Some("Hello"));
    let blocked = &events[2];
    assert_eq!(
        (blocked.decision.as_deref(), blocked.guard_verdicts[0].rule.as_str()),
        (Some("block"), "a-rule")
    );
    let told: Vec<_> = events[2..6]
        .iter()
        .map(|event| (event.tool_duration_ms, event.ended_by.as_deref(), event.is_end_of_call))
        .collect();
    let ended = Some("PostToolUse");
    let expected = [
        (None, None, false),
        (Some(2000.0), ended, false),
        (Some(2000.0), None, true),
        (None, None, false),
    ];
    assert_eq!(told, expected);
    let guarded = TimelineFilter {
        with: vec![With::Verdict],
        ..of(1, 50)
    };
    assert_eq!(ids(&kept.store.timeline(&guarded).unwrap()), [3]);
}

#[test]
fn sessions_of_one_agent_are_listed() {
    let mut kept = two();
    let filter = SessionFilter {
        agent_id: Some(2),
        ended_too: true,
        ..SessionFilter::default()
    };
    let found: Vec<_> = kept
        .store
        .session_rows(&filter)
        .unwrap()
        .into_iter()
        .map(|row| row.session_id)
        .collect();
    assert_eq!(found, ["t"]);
}

/// What was seen of an agent beside its events: after which, when, from what to what, how it is known, and why.
fn seen(kept: &mut Kept, agent_id: i64) -> Vec<String> {
    let events = kept.store.timeline(&of(agent_id, 50)).unwrap();
    let before = SightingFilter {
        agent_id,
        first_event: events.last().map(|event| event.id),
        limit: 50,
        ..SightingFilter::default()
    };
    let mut seen = kept.store.seen_before(&before).unwrap();
    seen.reverse();
    seen.extend(events.into_iter().rev().flat_map(|event| event.seen_after));
    let told = |seen: &SightingView| {
        let before = seen.state_before.map_or("-", State::as_str);
        let second = seen.at.as_second() - at(0).as_second();
        let (after, state, source, why) = (seen.after_event, seen.state, seen.source, &seen.why);
        format!("{after} {second} {before} {state} {source} {why}")
    };
    seen.iter().map(told).collect()
}

#[test]
fn what_no_event_tells_is_seen_after_the_last_one() {
    let mut kept = Kept::new();
    let mut living = Living::new();
    kept.take(prompt("s", "Go").process(&living).at(1));
    kept.take(sent("Notification", "s").process(&living).at(2));
    living.dies();
    kept.store.reconcile(Which::All, at(9)).unwrap();
    let told = seen(&mut kept, 1);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].starts_with("2 9 processing ended process its process ("),
        "{told:?}"
    );
    kept.take(prompt("s", "Again").at(10));
    let newest = kept.store.timeline(&of(1, 1)).unwrap().remove(0);
    assert_eq!(
        (newest.state_before, newest.state),
        (Some(State::Ended), State::Processing)
    );
}

#[test]
fn whoever_loses_its_pane_to_another_ends_without_an_event_of_its_own() {
    let mut kept = Kept::new();
    let (mut first, second) = (Living::new(), Living::new());
    let other = kept.other_project("other");
    kept.take(stop("s", "Done.").pane("%7").process(&first).at(1));
    first.dies();
    let began = sent("SessionStart", "t").with("cwd", other).pane("%7").process(&second);
    assert_eq!(kept.take(began.at(2)).agent_id, 2);
    assert_eq!(
        seen(&mut kept, 1),
        ["1 2 idle ended hook another session began in its pane"]
    );
    assert_eq!(seen(&mut kept, 2), [""; 0]);
}

#[test]
fn what_was_seen_goes_when_it_is_old() {
    let mut kept = Kept::new();
    let mut living = Living::new();
    kept.take(prompt("s", "Go").process(&living).at(1));
    kept.take(prompt("s", "Go on").process(&living).at(2));
    living.dies();
    kept.store.reconcile(Which::All, at(9)).unwrap();
    kept.take(prompt("s", "Go on").at(20));
    kept.store.prune(at(5), &mut |_| {}).unwrap();
    let told = seen(&mut kept, 1);
    assert!(
        told[0].starts_with("2 9 processing ended process"),
        "its event is gone, and it is not: {told:?}"
    );
    kept.store.prune(at(100), &mut |_| {}).unwrap();
    assert_eq!(kept.texts("SELECT why FROM sightings"), [""; 0]);
}
