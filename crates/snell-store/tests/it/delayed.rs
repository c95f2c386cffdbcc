//! Observations that come late, out of order, or more than once.

use std::collections::BTreeMap;

use proptest::prelude::*;
use snell_store::Observation;

use crate::support::{Kept, prompt, sent, stop};

/// What two agents in two projects do, in the order in which they do it.
fn story(kept: &Kept) -> Vec<Observation> {
    let other = kept.other_project("other");
    let in_other = |mut observation: Observation| {
        observation.payload.insert("cwd".into(), other.as_str().into());
        observation
    };
    let project = kept.project();
    let mut all = Vec::new();
    for (session, elsewhere) in [("s1", false), ("s2", true)] {
        let tool = |name: &str| {
            sent(name, session)
                .with("tool_name", "Bash")
                .with("tool_use_id", format!("{session}-t"))
        };
        let events = [
            sent("SessionStart", session).with("source", "startup"),
            prompt(session, "Begin."),
            tool("PreToolUse"),
            tool("PostToolUse"),
            stop(session, "Which of the two?"),
            prompt(session, "The first."),
            stop(session, "It is done."),
        ];
        for (second, event) in (0..).zip(events) {
            let observation = event.at(second).delayed().observed_in(&project);
            all.push(if elsewhere { in_other(observation) } else { observation });
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn whatever_comes_when_and_how_often_is_stored_once(
        order in prop::collection::vec(0_usize..14, 0..30),
        batch in 1_usize..6,
    ) {
        let mut kept = Kept::new();
        let story = story(&kept);
        // In any order and as often as it likes; then everything, so that nothing is missing.
        let sequence: Vec<_> = order.iter().copied().chain(0..story.len()).map(|index| story[index].clone()).collect();
        for some in sequence.chunks(batch) {
            kept.store.ingest_all(some.to_vec()).unwrap();
        }
        let mut seen = BTreeMap::new();
        for event in kept.events() {
            *seen.entry((event.session_id.unwrap(), event.event, event.at)).or_insert(0) += 1;
        }
        prop_assert_eq!(seen.len(), story.len());
        prop_assert!(seen.values().all(|count| *count == 1));
        let agents = kept.agents();
        prop_assert_eq!(agents.len(), 2);
        // The latest event says how it stands, whenever it came.
        for agent in agents {
            prop_assert_eq!(agent.state.as_str(), "idle");
            prop_assert_eq!(agent.current_tool, None);
        }
    }
}

#[test]
fn a_late_event_does_not_undo_what_came_after_it() {
    let mut kept = Kept::new();
    kept.take(sent("SessionStart", "s"));
    kept.take(stop("s", "Done.").at(5));
    kept.take(sent("PreToolUse", "s").with("tool_name", "Bash").at(3).delayed());
    assert_eq!(kept.agent().state.as_str(), "idle");
    kept.take(sent("SessionEnd", "s").at(4).delayed());
    assert_eq!(kept.agent().state.as_str(), "idle");
    assert_eq!(kept.events().len(), 4);
    // One that is late and yet the latest counts.
    kept.take(prompt("s", "Go on.").at(9).delayed());
    assert_eq!(kept.agent().state.as_str(), "processing");
}

#[test]
fn a_late_prompt_is_not_what_is_worked_on_now() {
    let mut kept = Kept::new();
    kept.take(prompt("s", "Second.").at(5));
    kept.take(prompt("s", "First.").at(1).delayed());
    assert_eq!(kept.agent().last_words.as_deref(), Some("Second."));
    kept.take(stop("s", "The second is done.").at(6));
    let turns = kept.turns("s");
    let command = |text: &str| turns.iter().find(|turn| turn.text == text).unwrap().command_id;
    assert_eq!(command("The second is done."), command("Second."));
}
