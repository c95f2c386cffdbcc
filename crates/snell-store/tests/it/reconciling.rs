//! Agents of which nothing was heard: what no hook tells, their transcripts and processes do.

use serde_json::json;
use snell_store::{Confidence, Source, State, Which};

use crate::support::{
    Kept, Living, Sent, api_error_line, at, interruption_line, prompt, prompt_line, sent, words_line,
};

/// An agent in the middle of its work, with a transcript.
fn working(sender: impl Fn(Sent) -> Sent) -> (Kept, String) {
    let mut kept = Kept::new();
    let path = kept.write_transcript(&[]);
    let tool = json!({"tool_name": "Bash", "tool_use_id": "t1", "transcript_path": path});
    kept.take(sender(
        prompt("s", "Work.").with("transcript_path", path.as_str()).at(1),
    ));
    kept.write_transcript(&[prompt_line("s", 1, "Work."), words_line("s", 2, "I begin.")]);
    kept.take(sender(sent("PreToolUse", "s").fields(&tool).at(2)));
    assert_eq!(kept.agent().state, State::Processing);
    (kept, path)
}

#[test]
fn a_turn_that_ended_without_a_word_to_us_is_seen_in_the_transcript() {
    let mut for_tool = interruption_line("s", 4);
    for_tool["message"]["content"][0]["text"] = "[Request interrupted by user for tool use]".into();
    let cases = [
        (vec![interruption_line("s", 4)], "the user interrupted it"),
        (vec![for_tool], "the user interrupted it"),
        (
            vec![api_error_line("s", 4, "API Error: 529 overloaded")],
            "its turn ended with an error: API Error: 529 overloaded",
        ),
    ];
    for (lines, why) in cases {
        let (mut kept, _) = working(|sent| sent);
        kept.write_transcript(&lines);
        kept.store.reconcile(Which::All, at(9)).unwrap();
        let agent = kept.agent();
        assert_eq!((agent.state, agent.why.as_str()), (State::Idle, why));
        assert_eq!(
            (agent.state_source, agent.confidence),
            (Source::Transcript, Confidence::Medium)
        );
        assert_eq!((agent.current_tool, agent.state_since), (None, at(9)));
    }
}

#[test]
fn the_next_event_shows_it_as_well() {
    let lines = [interruption_line("s", 4), api_error_line("s", 4, "API Error")];
    for line in lines {
        let (mut kept, path) = working(|sent| sent);
        kept.write_transcript(&[line]);
        let told = json!({"notification_type": "auth_success", "transcript_path": path});
        let receipt = kept.take(sent("Notification", "s").fields(&told).at(9));
        assert_eq!((receipt.state, receipt.state_changed), (State::Idle, true));
    }
}

#[test]
fn an_agent_that_went_on_after_an_interruption_works() {
    let (mut kept, path) = working(|sent| sent);
    kept.write_transcript(&[
        interruption_line("s", 4),
        prompt_line("s", 5, "Go on, but differently."),
    ]);
    kept.take(
        prompt("s", "Go on, but differently.")
            .with("transcript_path", path)
            .at(5),
    );
    kept.store.reconcile(Which::All, at(9)).unwrap();
    assert_eq!(kept.agent().state, State::Processing);
    assert_eq!(kept.said("s").len(), 3);
}

#[test]
fn an_event_that_comes_twice_does_not_hide_an_interruption() {
    let (mut kept, path) = working(|sent| sent);
    kept.write_transcript(&[interruption_line("s", 4)]);
    let tool = json!({"tool_name": "Bash", "tool_use_id": "t1", "transcript_path": path});
    kept.take(sent("PreToolUse", "s").fields(&tool).at(5));
    kept.store.reconcile(Which::All, at(9)).unwrap();
    assert_eq!(kept.agent().state, State::Idle);
}

#[test]
fn an_agent_whose_process_is_gone_has_ended() {
    let mut process = Living::new();
    let (mut kept, _) = working(|sent| sent.process(&process));
    kept.store.reconcile(Which::All, at(8)).unwrap();
    assert_eq!(kept.agent().state, State::Processing);
    let pid = process.process.pid;
    process.dies();
    for second in 9..12 {
        kept.store.reconcile(Which::All, at(second)).unwrap();
    }
    let agent = kept.agent();
    assert_eq!(agent.state, State::Ended);
    assert_eq!(
        (agent.ended_at, agent.end_reason.as_deref()),
        (Some(at(9)), Some("process_gone"))
    );
    assert_eq!(
        (agent.state_source, agent.confidence),
        (Source::Process, Confidence::Medium)
    );
    assert!(agent.why.contains(&pid.to_string()), "{}", agent.why);
    assert_eq!(kept.session("s").end_reason.as_deref(), Some("process_gone"));
}

#[test]
fn a_process_that_cannot_be_looked_for_is_not_gone() {
    let mut process = Living::new();
    let (mut kept, _) = working(|sent| sent.process(&process).host("far-away"));
    process.dies();
    kept.store.reconcile(Which::All, at(9)).unwrap();
    assert_eq!(kept.agent().state, State::Processing);
    let (mut unknown, _) = working(|sent| sent);
    unknown.store.reconcile(Which::All, at(9)).unwrap();
    assert_eq!(unknown.agent().state, State::Processing);
}

#[test]
fn an_agent_that_was_thought_gone_and_is_heard_again_has_not_ended() {
    let mut process = Living::new();
    let (mut kept, _) = working(|sent| sent.process(&process));
    process.dies();
    kept.store.reconcile(Which::All, at(9)).unwrap();
    assert_eq!(kept.agent().state, State::Ended);
    let heard = sent("PostToolUse", "s")
        .with("tool_name", "Bash")
        .process(&Living::new());
    kept.take(heard.at(12));
    assert_eq!((kept.agent().state, kept.agent().ended_at), (State::Processing, None));
    assert_eq!(kept.session("s").ended_at, None);
}

#[test]
fn a_process_that_was_seen_only_once_may_have_been_a_messenger() {
    // How often events came from the process, and whether its agent named it.
    for (times, told, expected) in [
        (1, false, State::Idle),
        (2, false, State::Ended),
        (3, false, State::Ended),
        (1, true, State::Ended),
    ] {
        let mut kept = Kept::new();
        let mut process = Living::new();
        for second in 0..times {
            let mut sent = sent("SessionStart", "s").process(&process).at(second);
            sent.sender.process_is_told = told;
            kept.take(sent);
        }
        process.dies();
        kept.store.reconcile(Which::All, at(9)).unwrap();
        assert_eq!(kept.agent().state, expected, "{times} {told}");
    }
}

#[test]
fn an_agent_with_another_messenger_for_each_event_lives_on() {
    let mut kept = Kept::new();
    let events = [sent("SessionStart", "s"), prompt("s", "Go."), sent("PreToolUse", "s")];
    for (second, event) in (0..).zip(events) {
        let mut messenger = Living::new();
        kept.take(event.process(&messenger).at(second));
        messenger.dies();
        kept.store.reconcile(Which::All, at(second)).unwrap();
        assert_ne!(kept.agent().state, State::Ended, "{second}");
    }
    assert_eq!(kept.agent().state, State::Processing);
}
