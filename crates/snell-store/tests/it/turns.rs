//! Who said what.

use serde_json::json;
use snell_store::{Store, TimestampSource, Which};

use crate::support::{Kept, Sent, at, prompt, prompt_line, sent, stop, words_line};

#[test]
fn a_prompt_opens_a_command_or_answers_a_question() {
    let mut kept = Kept::new();
    kept.take(prompt("s", "Add a test."));
    kept.take(stop("s", "In which file should it go?").at(1));
    kept.take(prompt("s", "The new one.").at(2));
    kept.take(stop("s", "The test is added.").at(3));
    kept.take(prompt("s", "Thanks. Now the next.").at(4));
    assert_eq!(
        kept.said("s"),
        [
            "USER command: Add a test.",
            "AGENT question: In which file should it go?",
            "USER answer: The new one.",
            "AGENT completion: The test is added.",
            "USER command: Thanks. Now the next.",
        ]
    );
    let turns = kept.turns("s");
    let commands: Vec<_> = turns.iter().map(|turn| turn.command_id).collect();
    assert_eq!(commands[..4], [commands[0]; 4]);
    assert_ne!(commands[3], commands[4]);
    assert!(
        turns
            .iter()
            .all(|turn| turn.timestamp_source == TimestampSource::Server)
    );
    assert_eq!(kept.agent().last_words.as_deref(), Some("Thanks. Now the next."));
}

#[test]
fn a_storm_of_identical_prompts_is_one_turn() {
    let mut kept = Kept::new();
    for second in 0..50 {
        kept.take(prompt("s", "Are you there?").at(second));
    }
    assert_eq!(kept.said("s"), ["USER command: Are you there?"]);
    assert_eq!(kept.events().len(), 50);
    // Once the agent has spoken, the same words are said anew.
    kept.take(stop("s", "Yes, I am.").at(50));
    kept.take(prompt("s", "Are you there?").at(51));
    assert_eq!(kept.said("s").len(), 3);
}

#[test]
fn words_and_their_time_are_taken_from_the_transcript() {
    let mut kept = Kept::new();
    let path = kept.write_transcript(&[]);
    kept.take(prompt("s", "Fix it.").with("transcript_path", path.as_str()).at(2));
    kept.write_transcript(&[
        prompt_line("s", 1, "Fix it."),
        words_line("s", 3, "I look for the cause."),
        words_line("s", 5, "It is fixed."),
    ]);
    kept.take(stop("s", "It is fixed.").with("transcript_path", path.as_str()).at(6));
    let turns = kept.turns("s");
    let said: Vec<_> = turns
        .iter()
        .map(|turn| (turn.text.as_str(), turn.timestamp, turn.timestamp_source))
        .collect();
    assert_eq!(
        said,
        [
            ("Fix it.", at(1), TimestampSource::Jsonl),
            ("I look for the cause.", at(3), TimestampSource::Jsonl),
            ("It is fixed.", at(5), TimestampSource::Jsonl),
        ]
    );
    assert_eq!(
        kept.said("s"),
        [
            "USER command: Fix it.",
            "AGENT progress: I look for the cause.",
            "AGENT completion: It is fixed."
        ]
    );
}

#[test]
fn the_last_words_come_from_the_transcript_if_the_event_does_not_tell_them() {
    let mut kept = Kept::new();
    kept.take(prompt("s", "Choose."));
    let path = kept.write_transcript(&[words_line("s", 3, "Should I take the red one?")]);
    let receipt = kept.take(sent("Stop", "s").with("transcript_path", path).at(4));
    assert_eq!(receipt.state.as_str(), "awaiting_input");
    assert_eq!(kept.said("s")[1], "AGENT question: Should I take the red one?");
}

#[test]
fn late_words_are_filled_in_by_whoever_comes_next() {
    type Next = fn(&mut Kept, &str);
    let next: [(&str, Next); 2] = [
        ("an event", |kept, path| {
            let idle = json!({"notification_type": "idle_prompt", "transcript_path": path});
            kept.take(sent("Notification", "s").fields(&idle).at(9));
        }),
        ("a reconciliation", |kept, _| {
            kept.store.reconcile(Which::All, at(9)).unwrap()
        }),
    ];
    for (who, next) in next {
        for (words, state, intent) in [
            ("Shall I go on?", "awaiting_input", "question"),
            ("It is done.", "idle", "completion"),
        ] {
            let mut kept = Kept::new();
            let path = kept.write_transcript(&[prompt_line("s", 1, "Do it.")]);
            kept.take(prompt("s", "Do it.").with("transcript_path", path.as_str()).at(1));
            kept.take(sent("Stop", "s").with("transcript_path", path.as_str()).at(2));
            assert_eq!(kept.agent().state.as_str(), "idle", "{who}");
            kept.write_transcript(&[words_line("s", 2, words)]);
            next(&mut kept, &path);
            assert_eq!(kept.said("s")[1], format!("AGENT {intent}: {words}"), "{who}");
            assert_eq!(kept.agent().state.as_str(), state, "{who}");
        }
    }
}

#[test]
fn reconciling_again_and_again_changes_nothing() {
    let mut kept = Kept::new();
    let path = kept.write_transcript(&[prompt_line("s", 1, "Do it."), words_line("s", 2, "Done.")]);
    kept.take(prompt("s", "Do it.").with("transcript_path", path.as_str()).at(1));
    kept.take(stop("s", "Done.").with("transcript_path", path.as_str()).at(3));
    kept.write_transcript(&[
        words_line("s", 4, "By the way, it rains."),
        prompt_line("s", 5, "I see."),
    ]);
    kept.store.reconcile(Which::All, at(6)).unwrap();
    let (agent, turns) = (kept.agent(), kept.turns("s"));
    for second in 7..20 {
        kept.store.reconcile(Which::All, at(second)).unwrap();
        kept.store.reconcile(Which::Agent(agent.agent_id), at(second)).unwrap();
    }
    // Nor does another process that does the same.
    let mut other = Store::open(&kept.path("snell.db")).unwrap().store;
    other.reconcile(Which::All, at(20)).unwrap();
    assert_eq!((kept.agent(), kept.turns("s")), (agent, turns));
}

#[test]
fn a_duplicate_of_an_event_does_not_cost_what_the_transcript_says() {
    let tool = json!({"tool_name": "Bash", "tool_use_id": "t1"});
    let mut kept = Kept::new();
    let path = kept.write_transcript(&[]);
    let told = |sent: Sent| sent.with("transcript_path", path.as_str());
    kept.take(told(sent("PreToolUse", "s").fields(&tool)).at(1));
    kept.write_transcript(&[words_line("s", 2, "I am about to run it.")]);
    kept.take(told(sent("PreToolUse", "s").fields(&tool)).at(3));
    kept.write_transcript(&[words_line("s", 4, "It ran.")]);
    kept.take(told(stop("s", "It ran.")).at(5));
    let commands: Vec<_> = kept.turns("s").iter().map(|turn| turn.command_id).collect();
    assert_eq!(commands.len(), 2);
    assert_eq!(commands[0], commands[1], "both belong to one command");
}

#[test]
fn a_transcript_that_is_not_there_is_no_trouble() {
    let mut kept = Kept::new();
    for path in [
        "/nowhere/at/all.jsonl",
        "/",
        "",
        "relative.jsonl",
        "/dev/null",
        "/dev/zero",
    ] {
        kept.take(prompt("s", "Go.").with("transcript_path", path));
    }
    assert_eq!(kept.said("s"), ["USER command: Go."]);
}

#[test]
fn words_of_other_sessions_and_of_subagents_are_not_the_agents() {
    let mut kept = Kept::new();
    let mut sidechain = words_line("s", 2, "I am a subagent.");
    sidechain["isSidechain"] = true.into();
    let path = kept.write_transcript(&[words_line("before", 1, "I was forked from."), sidechain]);
    kept.take(sent("Stop", "s").with("transcript_path", path).at(3));
    assert_eq!(kept.said("s"), Vec::<String>::new());
}

#[test]
fn a_prompt_that_comes_later_than_its_line_in_the_transcript_is_said_once() {
    let mut kept = Kept::new();
    let path = kept.write_transcript(&[
        prompt_line("s", 1, "Fix it."),
        words_line("s", 2, "I look for the cause."),
        words_line("s", 3, "It is fixed."),
    ]);
    let told = |sent: Sent| sent.with("transcript_path", path.as_str());
    kept.take(told(prompt("s", "Fix it.")).at(1).delayed());
    kept.take(told(stop("s", "It is fixed.")).at(4));
    assert_eq!(
        kept.said("s"),
        [
            "USER command: Fix it.",
            "AGENT progress: I look for the cause.",
            "AGENT completion: It is fixed."
        ]
    );
    let mut commands: Vec<_> = kept.turns("s").iter().map(|turn| turn.command_id).collect();
    commands.dedup();
    assert_eq!(commands.len(), 1);
}

/// A transcript of an earlier day.
fn an_old_transcript(kept: &Kept) -> String {
    kept.write_transcript(&[
        prompt_line("s", 1, "Fix it."),
        words_line("s", 2, "It is fixed."),
        prompt_line("s", 3, "Now the next."),
        words_line("s", 4, "I begin."),
        words_line("s", 5, "Shall I go on?"),
    ])
}

#[test]
fn what_was_said_before_a_session_began_is_not_said_now() {
    for source in ["startup", "resume", "compact"] {
        let mut kept = Kept::new();
        let path = an_old_transcript(&kept);
        let told = |sent: Sent| sent.with("transcript_path", path.as_str());
        let receipt = kept.take(told(sent("SessionStart", "s").with("source", source)).at(10));
        assert_eq!((kept.said("s"), receipt.state.as_str()), (vec![], "idle"), "{source}");
        kept.write_transcript(&[prompt_line("s", 11, "Yes."), words_line("s", 12, "It is done.")]);
        kept.take(told(prompt("s", "Yes.")).at(11));
        kept.take(told(stop("s", "It is done.")).at(13));
        assert_eq!(
            kept.said("s"),
            ["USER command: Yes.", "AGENT completion: It is done."],
            "{source}"
        );
    }
}

#[test]
fn of_a_transcript_that_is_new_to_us_only_what_is_going_on_counts() {
    let mut kept = Kept::new();
    let path = an_old_transcript(&kept);
    let tool = json!({"tool_name": "Bash", "transcript_path": path});
    kept.take(sent("PreToolUse", "s").fields(&tool).at(10));
    let texts: Vec<_> = kept.turns("s").into_iter().map(|turn| turn.text).collect();
    assert_eq!(texts, ["Now the next.", "I begin.", "Shall I go on?"]);
}

#[test]
fn long_words_are_judged_by_their_end() {
    for (end, state, intent) in [
        ("Shall I push it?", "awaiting_input", "question"),
        ("All of it is done.", "idle", "completion"),
    ] {
        let mut kept = Kept::new();
        let words = format!("{}\n\n{end}", "The cause is not known yet. ".repeat(100_000));
        kept.take(prompt("s", "Go."));
        let receipt = kept.take(stop("s", &words).at(1));
        assert_eq!(receipt.state.as_str(), state);
        let last = kept.turns("s").pop().unwrap();
        assert_eq!(last.intent.as_str(), intent);
        assert!(last.text.starts_with("The cause") && last.text.ends_with(end));
        assert!(last.text.len() < 100_000, "{}", last.text.len());
    }
}
