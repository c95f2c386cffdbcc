//! Events that come late, out of order, or more than once.

use std::collections::BTreeMap;

use proptest::prelude::*;
use snell_store::EventRecord;

use crate::support::{TestStore, build_event, build_prompt, build_stop};

/// The events of two agents in two projects, in order.
fn build_story(kept: &TestStore) -> Vec<EventRecord> {
    let other = kept.create_other_project("other");
    let in_other = |mut observation: EventRecord| {
        observation.payload.insert("cwd".into(), other.as_str().into());
        observation
    };
    let project = kept.project_dir();
    let mut all = Vec::new();
    for (session, elsewhere) in [("s1", false), ("s2", true)] {
        let tool = |name: &str| {
            build_event(name, session).with_field("tool_name", "Bash").with_field("tool_use_id", format!("{session}-t"))
        };
        let events = [
            build_event("SessionStart", session).with_field("source", "startup"),
            build_prompt(session, "Begin."),
            tool("PreToolUse"),
            tool("PostToolUse"),
            build_stop(session, "Which of the two?"),
            build_prompt(session, "The first."),
            build_stop(session, "It is done."),
        ];
        for (second, event) in (0..).zip(events) {
            let observation = event.at_second(second).with_delay().into_record_in(&project);
            all.push(if elsewhere { in_other(observation) } else { observation });
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn events_in_any_order_and_number_are_stored_once(
        order in prop::collection::vec(0_usize..14, 0..30),
        batch in 1_usize..6,
    ) {
        let mut kept = TestStore::new();
        let story = build_story(&kept);
        // A random sequence with repetitions, then every event once, so that none is missing.
        let sequence: Vec<_> = order.iter().copied().chain(0..story.len()).map(|index| story[index].clone()).collect();
        for some in sequence.chunks(batch) {
            kept.store.ingest_all(some.to_vec()).unwrap();
        }
        let mut seen = BTreeMap::new();
        for event in kept.list_events() {
            *seen.entry((event.session_id.unwrap(), event.event, event.at)).or_insert(0) += 1;
        }
        prop_assert_eq!(seen.len(), story.len());
        prop_assert!(seen.values().all(|count| *count == 1));
        let agents = kept.list_agents();
        prop_assert_eq!(agents.len(), 2);
        // The latest event determines the state, in any order of arrival.
        for agent in agents {
            prop_assert_eq!(agent.state.as_str(), "idle");
            prop_assert_eq!(agent.current_tool, None);
        }
    }
}

#[test]
fn a_late_event_does_not_undo_later_ones() {
    let mut kept = TestStore::new();
    kept.ingest_event(build_event("SessionStart", "s"));
    kept.ingest_event(build_stop("s", "Done.").at_second(5));
    kept.ingest_event(build_event("PreToolUse", "s").with_field("tool_name", "Bash").at_second(3).with_delay());
    assert_eq!(kept.expect_single_agent().state.as_str(), "idle");
    kept.ingest_event(build_event("SessionEnd", "s").at_second(4).with_delay());
    assert_eq!(kept.expect_single_agent().state.as_str(), "idle");
    assert_eq!(kept.list_events().len(), 4);
    // A late event that is the latest one counts.
    kept.ingest_event(build_prompt("s", "Go on.").at_second(9).with_delay());
    assert_eq!(kept.expect_single_agent().state.as_str(), "processing");
}

#[test]
fn a_late_prompt_is_not_the_current_command() {
    let mut kept = TestStore::new();
    kept.ingest_event(build_prompt("s", "Second.").at_second(5));
    kept.ingest_event(build_prompt("s", "First.").at_second(1).with_delay());
    assert_eq!(kept.expect_single_agent().last_words.as_deref(), Some("Second."));
    kept.ingest_event(build_stop("s", "The second is done.").at_second(6));
    let turns = kept.list_turns("s");
    let command = |text: &str| turns.iter().find(|turn| turn.text == text).unwrap().command_id;
    assert_eq!(command("The second is done."), command("Second."));
}
