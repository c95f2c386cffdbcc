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

/// A line of a transcript: the agent uses a tool.
fn tool_line(session: &str, seconds: i64, tool: &str) -> serde_json::Value {
    json!({
        "type": "assistant", "sessionId": session, "timestamp": at(seconds).to_string(), "isSidechain": false,
        "message": {"role": "assistant", "model": "m", "stop_reason": "tool_use",
            "content": [{"type": "tool_use", "id": "t", "name": tool, "input": {}}]},
    })
}

/// A line of a transcript: a tool has answered.
fn result_line(session: &str, seconds: i64) -> serde_json::Value {
    json!({
        "type": "user", "sessionId": session, "timestamp": at(seconds).to_string(), "isSidechain": false,
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "ok"}]},
    })
}

/// A line of a transcript: the last words of a turn.
fn end_line(session: &str, seconds: i64, text: &str) -> serde_json::Value {
    let mut line = words_line(session, seconds, text);
    line["message"]["stop_reason"] = "end_turn".into();
    line
}

#[test]
fn where_hooks_fell_silent_the_transcript_shows_the_state() {
    // What the transcript says after hooks told, at second 2, of a state; and what the state is then.
    let rows = [
        (State::Idle, vec![prompt_line("s", 5, "Go.")], "processing"),
        (
            State::Idle,
            vec![prompt_line("s", 5, "Go."), tool_line("s", 6, "Bash")],
            "processing Bash",
        ),
        (
            State::Idle,
            vec![tool_line("s", 6, "Bash"), result_line("s", 7)],
            "processing",
        ),
        (State::Processing, vec![end_line("s", 5, "It is done.")], "idle"),
        (
            State::Processing,
            vec![end_line("s", 5, "Shall I go on?")],
            "awaiting_input",
        ),
        (State::Processing, vec![words_line("s", 5, "I look.")], "processing"),
        (State::AwaitingInput, vec![result_line("s", 5)], "processing"),
        (
            State::AwaitingInput,
            vec![tool_line("s", 5, "Read")],
            "awaiting_input Write",
        ),
        // What is older than what the hooks told changes nothing.
        (
            State::Idle,
            vec![prompt_line("s", 1, "Go."), tool_line("s", 1, "Bash")],
            "idle",
        ),
        (State::Processing, vec![end_line("s", 1, "It is done.")], "processing"),
        (State::AwaitingInput, vec![result_line("s", 2)], "awaiting_input Write"),
        (State::Processing, vec![interruption_line("s", -9)], "processing"),
    ];
    for (state, lines, expected) in rows {
        let mut kept = Kept::new();
        let path = kept.write_transcript(&[]);
        let told = match state {
            State::Processing => prompt("s", "Work."),
            State::AwaitingInput => sent("PermissionRequest", "s").with("tool_name", "Write"),
            _ => sent("Stop", "s"),
        };
        kept.take(sent("SessionStart", "s").with("transcript_path", path.as_str()).at(0));
        kept.take(told.with("transcript_path", path.as_str()).at(2));
        assert_eq!(kept.agent().state, state);
        kept.write_transcript(&lines);
        kept.store.reconcile(Which::All, at(9)).unwrap();
        let agent = kept.agent();
        let tool = agent.current_tool.map(|tool| format!(" {tool}")).unwrap_or_default();
        assert_eq!(format!("{}{tool}", agent.state), expected, "{state} {lines:?}");
        let source = if agent.state == state {
            Source::Hook
        } else {
            Source::Transcript
        };
        assert_eq!(agent.state_source, source, "{state} {lines:?}");
        // The next event counts for more.
        kept.take(prompt("s", "And now this.").at(10));
        let agent = kept.agent();
        assert_eq!((agent.state, agent.confidence), (State::Processing, Confidence::High));
    }
}

/// A transcript where Claude Code would write it.
fn transcript_in_home(kept: &Kept, session: &str, lines: &[serde_json::Value]) -> std::path::PathBuf {
    let path = kept.path(&format!("home/projects/-somewhere/{session}.jsonl"));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(&path, text).unwrap();
    path
}

fn set_age(path: &std::path::Path, seconds: u64) {
    let then = std::time::SystemTime::now() - std::time::Duration::from_secs(seconds);
    std::fs::File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_modified(then)
        .unwrap();
}

#[test]
fn a_session_that_no_hook_reported_is_found_by_its_transcript() {
    let mut kept = Kept::new();
    let projects = [kept.path("home/projects")];
    let in_project = |mut line: serde_json::Value| {
        line["cwd"] = kept.project().to_str().unwrap().into();
        line
    };
    let lines = [prompt_line("lost", 1, "Find me."), tool_line("lost", 2, "Grep")].map(in_project);
    let path = transcript_in_home(&kept, "lost", &lines);
    transcript_in_home(&kept, "agent-12", &lines);
    transcript_in_home(&kept, "other", &lines);
    transcript_in_home(&kept, "empty", &[]);
    let old = transcript_in_home(&kept, "old", &[in_project(prompt_line("old", 1, "Long ago."))]);
    set_age(&old, 7200);
    assert_eq!(kept.store.discover(&projects, at(9)).unwrap(), 1);
    let agent = kept.agent();
    assert_eq!(
        (agent.session_id.as_deref(), agent.state, agent.current_tool.as_deref()),
        (Some("lost"), State::Processing, Some("Grep"))
    );
    assert_eq!(
        (agent.state_source, agent.confidence),
        (Source::Transcript, Confidence::Medium)
    );
    assert_eq!(agent.project_path, kept.project().to_str().unwrap());
    assert_eq!(kept.said("lost"), ["USER command: Find me."]);
    // Once.
    assert_eq!(kept.store.discover(&projects, at(10)).unwrap(), 0);
    // It is followed like others, and hooks that come after all find it.
    std::fs::write(
        &path,
        lines.map(|line| format!("{line}\n")).concat() + &format!("{}\n", end_line("lost", 12, "Found.")),
    )
    .unwrap();
    kept.store.reconcile(Which::All, at(13)).unwrap();
    assert_eq!(kept.agent().state, State::Idle);
    let receipt = kept.take(prompt("lost", "Thanks.").at(20));
    assert_eq!((receipt.is_new_agent, receipt.state), (false, State::Processing));
    assert_eq!(kept.agents().len(), 1);
}

#[test]
fn one_that_was_only_found_ends_when_it_stays_silent() {
    let mut kept = Kept::new();
    let mut line = prompt_line("lost", 1, "Find me.");
    line["cwd"] = kept.project().to_str().unwrap().into();
    let path = transcript_in_home(&kept, "lost", &[line]);
    kept.store.discover(&[kept.path("home/projects")], at(2)).unwrap();
    for (age, state) in [(10, State::Processing), (90, State::Idle), (2000, State::Ended)] {
        set_age(&path, age);
        kept.store.reconcile(Which::All, at(9)).unwrap();
        let agent = kept.agent();
        assert_eq!(agent.state, state, "after {age} s");
        let expected = if age == 10 { Confidence::Medium } else { Confidence::Low };
        assert_eq!(agent.confidence, expected, "after {age} s");
    }
}

#[test]
fn a_pane_that_is_closed_or_shows_a_shell_holds_no_agent() {
    let pane = |id: &str, command: &str, is_dead: bool| snell_store::Pane {
        id: id.into(),
        command: command.into(),
        is_dead,
    };
    // What the panes of the server show, whether the agent's process is known, and what follows.
    let rows = [
        (vec![pane("%1", "claude", false)], false, "processing high"),
        (vec![pane("%2", "claude", false)], false, "ended medium"),
        (vec![], false, "ended medium"),
        (vec![pane("%1", "claude", true)], false, "ended medium"),
        (vec![pane("%1", "-zsh", false)], false, "ended low"),
        (vec![pane("%1", "zsh", false)], true, "processing high"),
        (vec![], true, "processing high"),
    ];
    for (panes, has_process, expected) in rows {
        let living = Living::new();
        let mut kept = Kept::new();
        for second in [1, 2] {
            let event = prompt("s", &format!("{second}"))
                .pane("%1")
                .tmux_server("/tmp/x")
                .at(second);
            kept.take(if has_process { event.process(&living) } else { event });
        }
        assert_eq!(kept.store.tmux_servers().unwrap(), [Some("/tmp/x".to_owned())]);
        let seen = |socket: &str| {
            [snell_store::PaneServer {
                socket: Some(socket.into()),
                panes: panes.clone(),
            }]
        };
        // Another server says nothing about it, and neither does a look that is older than what was heard.
        kept.store.see_panes(&seen("/tmp/y"), at(9)).unwrap();
        kept.store.see_panes(&seen("/tmp/x"), at(1)).unwrap();
        assert_eq!(kept.agent().state, State::Processing);
        kept.store.see_panes(&seen("/tmp/x"), at(9)).unwrap();
        let agent = kept.agent();
        assert_eq!(format!("{} {}", agent.state, agent.confidence), expected, "{panes:?}");
        if agent.state == State::Ended {
            assert_eq!(agent.state_source, Source::Poll);
        }
    }
}
