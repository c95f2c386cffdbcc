//! Turns: commands, answers and messages.

use serde_json::json;
use snell_store::{ReconcileScope, TimestampSource};

use crate::support::{
    SentEvent, TestStore, build_answer_line, build_event, build_prompt, build_prompt_line, build_stop, make_timestamp,
};

#[test]
fn a_prompt_opens_a_command_or_answers_a_question() {
    let mut kept = TestStore::new();
    kept.ingest_event(build_prompt("s", "Add a test."));
    kept.ingest_event(build_stop("s", "In which file should it go?").at_second(1));
    kept.ingest_event(build_prompt("s", "The new one.").at_second(2));
    kept.ingest_event(build_stop("s", "The test is added.").at_second(3));
    kept.ingest_event(build_prompt("s", "Thanks. Now the next.").at_second(4));
    assert_eq!(
        kept.list_turn_texts("s"),
        [
            "USER command: Add a test.",
            "AGENT question: In which file should it go?",
            "USER answer: The new one.",
            "AGENT completion: The test is added.",
            "USER command: Thanks. Now the next.",
        ]
    );
    let turns = kept.list_turns("s");
    let commands: Vec<_> = turns.iter().map(|turn| turn.command_id).collect();
    assert_eq!(commands[..4], [commands[0]; 4]);
    assert_ne!(commands[3], commands[4]);
    assert!(turns.iter().all(|turn| turn.timestamp_source == TimestampSource::Server));
    assert_eq!(kept.expect_single_agent().last_words.as_deref(), Some("Thanks. Now the next."));
}

#[test]
fn a_storm_of_identical_prompts_is_one_turn() {
    let mut kept = TestStore::new();
    for second in 0..50 {
        kept.ingest_event(build_prompt("s", "Are you there?").at_second(second));
    }
    assert_eq!(kept.list_turn_texts("s"), ["USER command: Are you there?"]);
    assert_eq!(kept.list_events().len(), 50);
    // After a message of the agent, the same prompt is a new turn.
    kept.ingest_event(build_stop("s", "Yes, I am.").at_second(50));
    kept.ingest_event(build_prompt("s", "Are you there?").at_second(51));
    assert_eq!(kept.list_turn_texts("s").len(), 3);
}

#[test]
fn texts_and_their_times_are_read_from_the_transcript() {
    let mut kept = TestStore::new();
    let path = kept.write_transcript(&[]);
    kept.ingest_event(build_prompt("s", "Fix it.").with_field("transcript_path", path.as_str()).at_second(2));
    kept.write_transcript(&[
        build_prompt_line("s", 1, "Fix it."),
        build_answer_line("s", 3, "I look for the cause."),
        build_answer_line("s", 5, "It is fixed."),
    ]);
    kept.ingest_event(build_stop("s", "It is fixed.").with_field("transcript_path", path.as_str()).at_second(6));
    let turns = kept.list_turns("s");
    let listed: Vec<_> = turns.iter().map(|turn| (turn.text.as_str(), turn.timestamp, turn.timestamp_source)).collect();
    assert_eq!(
        listed,
        [
            ("Fix it.", make_timestamp(1), TimestampSource::Jsonl),
            ("I look for the cause.", make_timestamp(3), TimestampSource::Jsonl),
            ("It is fixed.", make_timestamp(5), TimestampSource::Jsonl),
        ]
    );
    assert_eq!(
        kept.list_turn_texts("s"),
        ["USER command: Fix it.", "AGENT progress: I look for the cause.", "AGENT completion: It is fixed."]
    );
}

#[test]
fn the_last_message_comes_from_the_transcript_if_the_event_has_none() {
    let mut kept = TestStore::new();
    kept.ingest_event(build_prompt("s", "Choose."));
    let path = kept.write_transcript(&[build_answer_line("s", 3, "Should I take the red one?")]);
    let receipt = kept.ingest_event(build_event("Stop", "s").with_field("transcript_path", path).at_second(4));
    assert_eq!(receipt.state.as_str(), "awaiting_input");
    assert_eq!(kept.list_turn_texts("s")[1], "AGENT question: Should I take the red one?");
}

#[test]
fn a_late_text_is_added_with_the_next_event() {
    type TranscriptFollowUp = fn(&mut TestStore, &str);
    let next: [(&str, TranscriptFollowUp); 2] = [
        ("an event", |kept, path| {
            let idle = json!({"notification_type": "idle_prompt", "transcript_path": path});
            kept.ingest_event(build_event("Notification", "s").with_fields(&idle).at_second(9));
        }),
        ("a reconciliation", |kept, _| kept.store.reconcile_agents(ReconcileScope::All, make_timestamp(9)).unwrap()),
    ];
    for (who, next) in next {
        for (words, state, intent) in
            [("Shall I go on?", "awaiting_input", "question"), ("It is done.", "idle", "completion")]
        {
            let mut kept = TestStore::new();
            let path = kept.write_transcript(&[build_prompt_line("s", 1, "Do it.")]);
            kept.ingest_event(build_prompt("s", "Do it.").with_field("transcript_path", path.as_str()).at_second(1));
            kept.ingest_event(build_event("Stop", "s").with_field("transcript_path", path.as_str()).at_second(2));
            assert_eq!(kept.expect_single_agent().state.as_str(), "idle", "{who}");
            kept.write_transcript(&[build_answer_line("s", 2, words)]);
            next(&mut kept, &path);
            assert_eq!(kept.list_turn_texts("s")[1], format!("AGENT {intent}: {words}"), "{who}");
            assert_eq!(kept.expect_single_agent().state.as_str(), state, "{who}");
        }
    }
}

#[test]
fn reconciling_repeatedly_changes_nothing() {
    let mut kept = TestStore::new();
    let path = kept.write_transcript(&[build_prompt_line("s", 1, "Do it."), build_answer_line("s", 2, "Done.")]);
    kept.ingest_event(build_prompt("s", "Do it.").with_field("transcript_path", path.as_str()).at_second(1));
    kept.ingest_event(build_stop("s", "Done.").with_field("transcript_path", path.as_str()).at_second(3));
    kept.write_transcript(&[build_answer_line("s", 4, "By the way, it rains."), build_prompt_line("s", 5, "I see.")]);
    kept.store.reconcile_agents(ReconcileScope::All, make_timestamp(6)).unwrap();
    let (agent, turns) = (kept.expect_single_agent(), kept.list_turns("s"));
    for second in 7..20 {
        kept.store.reconcile_agents(ReconcileScope::All, make_timestamp(second)).unwrap();
        kept.store.reconcile_agents(ReconcileScope::Agent(agent.agent_id), make_timestamp(second)).unwrap();
    }
    // Another process does not repeat it either.
    let mut other = kept.open_another();
    other.reconcile_agents(ReconcileScope::All, make_timestamp(20)).unwrap();
    assert_eq!((kept.expect_single_agent(), kept.list_turns("s")), (agent, turns));
}

#[test]
fn a_repeated_event_does_not_lose_texts_of_the_transcript() {
    let tool = json!({"tool_name": "Bash", "tool_use_id": "t1"});
    let mut kept = TestStore::new();
    let path = kept.write_transcript(&[]);
    let with_path = |sent: SentEvent| sent.with_field("transcript_path", path.as_str());
    kept.ingest_event(with_path(build_event("PreToolUse", "s").with_fields(&tool)).at_second(1));
    kept.write_transcript(&[build_answer_line("s", 2, "I am about to run it.")]);
    kept.ingest_event(with_path(build_event("PreToolUse", "s").with_fields(&tool)).at_second(3));
    kept.write_transcript(&[build_answer_line("s", 4, "It ran.")]);
    kept.ingest_event(with_path(build_stop("s", "It ran.")).at_second(5));
    let commands: Vec<_> = kept.list_turns("s").iter().map(|turn| turn.command_id).collect();
    assert_eq!(commands.len(), 2);
    assert_eq!(commands[0], commands[1], "both belong to one command");
}

#[test]
fn a_missing_transcript_is_no_error() {
    let mut kept = TestStore::new();
    for path in ["/nowhere/at/all.jsonl", "/", "", "relative.jsonl", "/dev/null", "/dev/zero"] {
        kept.ingest_event(build_prompt("s", "Go.").with_field("transcript_path", path));
    }
    assert_eq!(kept.list_turn_texts("s"), ["USER command: Go."]);
}

#[test]
fn texts_of_other_sessions_and_of_subagents_are_ignored() {
    let mut kept = TestStore::new();
    let mut sidechain = build_answer_line("s", 2, "I am a subagent.");
    sidechain["isSidechain"] = true.into();
    let path = kept.write_transcript(&[build_answer_line("before", 1, "I was forked from."), sidechain]);
    kept.ingest_event(build_event("Stop", "s").with_field("transcript_path", path).at_second(3));
    assert_eq!(kept.list_turn_texts("s"), Vec::<String>::new());
}

#[test]
fn a_prompt_that_comes_after_its_line_in_the_transcript_is_one_turn() {
    let mut kept = TestStore::new();
    let path = kept.write_transcript(&[
        build_prompt_line("s", 1, "Fix it."),
        build_answer_line("s", 2, "I look for the cause."),
        build_answer_line("s", 3, "It is fixed."),
    ]);
    let with_path = |sent: SentEvent| sent.with_field("transcript_path", path.as_str());
    kept.ingest_event(with_path(build_prompt("s", "Fix it.")).at_second(1).with_delay());
    kept.ingest_event(with_path(build_stop("s", "It is fixed.")).at_second(4));
    assert_eq!(
        kept.list_turn_texts("s"),
        ["USER command: Fix it.", "AGENT progress: I look for the cause.", "AGENT completion: It is fixed."]
    );
    let mut commands: Vec<_> = kept.list_turns("s").iter().map(|turn| turn.command_id).collect();
    commands.dedup();
    assert_eq!(commands.len(), 1);
}

/// A transcript of an earlier day.
fn write_old_transcript(kept: &TestStore) -> String {
    kept.write_transcript(&[
        build_prompt_line("s", 1, "Fix it."),
        build_answer_line("s", 2, "It is fixed."),
        build_prompt_line("s", 3, "Now the next."),
        build_answer_line("s", 4, "I begin."),
        build_answer_line("s", 5, "Shall I go on?"),
    ])
}

#[test]
fn entries_from_before_a_session_start_are_not_turns() {
    for source in ["startup", "resume", "compact"] {
        let mut kept = TestStore::new();
        let path = write_old_transcript(&kept);
        let with_path = |sent: SentEvent| sent.with_field("transcript_path", path.as_str());
        let receipt =
            kept.ingest_event(with_path(build_event("SessionStart", "s").with_field("source", source)).at_second(10));
        assert_eq!((kept.list_turn_texts("s"), receipt.state.as_str()), (vec![], "idle"), "{source}");
        kept.write_transcript(&[build_prompt_line("s", 11, "Yes."), build_answer_line("s", 12, "It is done.")]);
        kept.ingest_event(with_path(build_prompt("s", "Yes.")).at_second(11));
        kept.ingest_event(with_path(build_stop("s", "It is done.")).at_second(13));
        assert_eq!(kept.list_turn_texts("s"), ["USER command: Yes.", "AGENT completion: It is done."], "{source}");
    }
}

#[test]
fn the_first_read_of_a_transcript_stores_only_its_current_part() {
    let mut kept = TestStore::new();
    let path = write_old_transcript(&kept);
    let tool = json!({"tool_name": "Bash", "transcript_path": path});
    kept.ingest_event(build_event("PreToolUse", "s").with_fields(&tool).at_second(10));
    let texts: Vec<_> = kept.list_turns("s").into_iter().map(|turn| turn.text).collect();
    assert_eq!(texts, ["Now the next.", "I begin.", "Shall I go on?"]);
}

#[test]
fn long_texts_are_classified_by_their_end() {
    for (end, state, intent) in
        [("Shall I push it?", "awaiting_input", "question"), ("All of it is done.", "idle", "completion")]
    {
        let mut kept = TestStore::new();
        let words = format!("{}\n\n{end}", "The cause is not known yet. ".repeat(100_000));
        kept.ingest_event(build_prompt("s", "Go."));
        let receipt = kept.ingest_event(build_stop("s", &words).at_second(1));
        assert_eq!(receipt.state.as_str(), state);
        let last = kept.list_turns("s").pop().unwrap();
        assert_eq!(last.intent.as_str(), intent);
        assert!(last.text.starts_with("The cause") && last.text.ends_with(end));
        assert!(last.text.len() < 100_000, "{}", last.text.len());
    }
}
