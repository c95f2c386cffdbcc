//! The agent of an event.

use serde_json::json;
use snell_store::{AgentState, CorrelationMethod};

use crate::support::{LiveProcess, SentEvent, TestStore, build_event, build_prompt, build_stop, make_timestamp};

/// A session start that does not report its source.
fn build_session_start(session: &str) -> SentEvent {
    build_event("SessionStart", session)
}

/// The session start of a program that was started.
fn build_program_start(session: &str) -> SentEvent {
    build_session_start(session).with_field("source", "startup")
}

#[test]
fn each_strategy_finds_agents_that_the_earlier_ones_cannot() {
    use CorrelationMethod::{Created, DbSessionId, HeadspaceSessionId, SessionId, TmuxPaneId, WorkingDirectory};
    let [one, other] = [LiveProcess::new(), LiveProcess::new()];
    let mut gone = LiveProcess::new();
    gone.terminate();
    // Columns: the name, the events before, the event, and the expected method.
    let cases: Vec<(&str, Vec<SentEvent>, SentEvent, CorrelationMethod)> = vec![
        ("nothing is known", vec![], build_session_start("s1"), Created),
        ("the session is known", vec![build_session_start("s1")], build_prompt("s1", "Go."), SessionId),
        (
            "headspace before pane",
            vec![build_session_start("s1").with_headspace("h").with_pane("%1")],
            build_session_start("s2").with_headspace("h").with_pane("%1"),
            HeadspaceSessionId,
        ),
        (
            "the launcher's id in the payload",
            vec![build_session_start("s1").with_headspace("h")],
            build_session_start("s2").with_field("headspace_session_id", "h"),
            HeadspaceSessionId,
        ),
        (
            "headspace though it ended",
            vec![build_session_start("s1").with_headspace("h"), build_event("SessionEnd", "s1")],
            build_session_start("s2").with_headspace("h"),
            HeadspaceSessionId,
        ),
        (
            "the same pane",
            vec![build_session_start("s1").with_pane("%1")],
            build_session_start("s2").with_pane("%1"),
            TmuxPaneId,
        ),
        (
            "the same pane, busy",
            vec![build_session_start("s1").with_pane("%1"), build_prompt("s1", "Go.").with_pane("%1")],
            build_session_start("s2").with_pane("%1"),
            TmuxPaneId,
        ),
        (
            "the same pane, another process",
            vec![build_session_start("s1").with_pane("%1").with_process(&one)],
            build_session_start("s2").with_pane("%1").with_process(&other),
            TmuxPaneId,
        ),
        (
            "the same pane, busy in another process",
            vec![
                build_session_start("s1").with_pane("%1").with_process(&one),
                build_prompt("s1", "Go.").with_pane("%1").with_process(&one),
            ],
            build_session_start("s2").with_pane("%1").with_process(&other),
            Created,
        ),
        (
            "the same pane, asking in another process",
            vec![
                build_session_start("s1").with_pane("%1").with_process(&one),
                build_stop("s1", "Which one?").with_pane("%1").with_process(&one),
            ],
            build_session_start("s2").with_pane("%1").with_process(&other),
            Created,
        ),
        (
            "the same pane, busy until its process exited",
            vec![
                build_session_start("s1").with_pane("%1").with_process(&gone),
                build_prompt("s1", "Go.").with_pane("%1").with_process(&gone),
            ],
            build_session_start("s2").with_pane("%1").with_process(&other),
            TmuxPaneId,
        ),
        (
            "a launcher's id that a busy one handed on",
            vec![
                build_session_start("s1").with_launcher("l").with_process(&one),
                build_prompt("s1", "Go.").with_launcher("l").with_process(&one),
            ],
            build_session_start("s2").with_launcher("l").with_process(&other),
            Created,
        ),
        (
            "a launcher's id of an idle one",
            vec![build_session_start("s1").with_launcher("l").with_process(&one)],
            build_session_start("s2").with_launcher("l").with_process(&other),
            SessionId,
        ),
        (
            "a headspace that a busy one handed on",
            vec![
                build_session_start("s1").with_headspace("h").with_process(&one),
                build_prompt("s1", "Go.").with_headspace("h").with_process(&one),
            ],
            build_session_start("s2").with_headspace("h").with_process(&other),
            Created,
        ),
        (
            "a headspace of an idle one",
            vec![build_session_start("s1").with_headspace("h").with_process(&one)],
            build_session_start("s2").with_headspace("h").with_process(&other),
            HeadspaceSessionId,
        ),
        (
            "the same pane in the payload",
            vec![build_session_start("s1").with_field("tmux_pane", "%1")],
            build_session_start("s2").with_field("tmux_pane", "%1"),
            TmuxPaneId,
        ),
        (
            "another server's pane",
            vec![build_session_start("s1").with_pane("%1").with_tmux_server("/a")],
            build_session_start("s2").with_pane("%1").with_tmux_server("/b"),
            Created,
        ),
        (
            "another host's pane",
            vec![build_session_start("s1").with_pane("%1").with_host("a")],
            build_session_start("s2").with_pane("%1").with_host("b"),
            Created,
        ),
        (
            "another pane",
            vec![build_session_start("s1").with_pane("%1")],
            build_session_start("s2").with_pane("%2"),
            Created,
        ),
        (
            "a pane whose agent ended",
            vec![build_session_start("s1").with_pane("%1"), build_event("SessionEnd", "s1").with_pane("%1")],
            build_session_start("s2").with_pane("%1"),
            Created,
        ),
        (
            "an idle one in the same project",
            vec![build_session_start("s1")],
            build_session_start("s2"),
            WorkingDirectory,
        ),
        (
            "an idle one of the same process",
            vec![build_session_start("s1").with_process(&one)],
            build_session_start("s2").with_process(&one),
            WorkingDirectory,
        ),
        (
            "an idle one of another process",
            vec![build_session_start("s1").with_process(&one)],
            build_session_start("s2").with_process(&other),
            Created,
        ),
        (
            "an idle one whose process is unlike ours",
            vec![build_session_start("s1").with_process(&one)],
            build_session_start("s2"),
            Created,
        ),
        ("an idle one in a pane", vec![build_session_start("s1").with_pane("%1")], build_session_start("s2"), Created),
        ("a busy one", vec![build_session_start("s1"), build_prompt("s1", "Go.")], build_session_start("s2"), Created),
        (
            "a busy one of the same process",
            vec![build_session_start("s1").with_process(&one), build_prompt("s1", "Go.").with_process(&one)],
            build_session_start("s2").with_process(&one),
            Created,
        ),
        (
            "a busy one that was cleared",
            vec![build_session_start("s1").with_process(&one), build_prompt("s1", "Go.").with_process(&one)],
            build_event("SessionStart", "s2").with_field("source", "clear").with_process(&one),
            WorkingDirectory,
        ),
        (
            "one that awaits an answer",
            vec![build_session_start("s1"), build_stop("s1", "Which one?")],
            build_session_start("s2"),
            Created,
        ),
        (
            "one that ended",
            vec![build_session_start("s1"), build_event("SessionEnd", "s1")],
            build_session_start("s2"),
            Created,
        ),
        ("a program beside an idle one", vec![build_program_start("s1")], build_program_start("s2"), Created),
        ("a program beside one without a source", vec![build_session_start("s1")], build_program_start("s2"), Created),
        (
            "Copilot's word for a started program",
            vec![build_program_start("s1")],
            build_session_start("s2").with_field("source", "new"),
            Created,
        ),
        (
            "a program in the idle one's process",
            vec![build_program_start("s1").with_process(&one)],
            build_program_start("s2").with_process(&one),
            WorkingDirectory,
        ),
        (
            "a program where the idle one's process is gone",
            vec![build_program_start("s1").with_process(&gone)],
            build_program_start("s2").with_process(&other),
            Created,
        ),
        (
            "a program in the idle one's pane",
            vec![build_program_start("s1").with_pane("%1")],
            build_program_start("s2").with_pane("%1"),
            TmuxPaneId,
        ),
        (
            "a program of the idle one's launcher",
            vec![build_program_start("s1").with_headspace("h")],
            build_program_start("s2").with_headspace("h"),
            HeadspaceSessionId,
        ),
        (
            "a program beside one without a session",
            vec![build_event("PreToolUse", "").with_field("tool_name", "Bash")],
            build_program_start("s2"),
            WorkingDirectory,
        ),
        (
            "a resumed session beside an idle one",
            vec![build_program_start("s1")],
            build_session_start("s2").with_field("source", "resume"),
            WorkingDirectory,
        ),
        (
            "one without a session",
            vec![build_event("PreToolUse", "").with_field("tool_name", "Bash")],
            build_session_start("s2"),
            WorkingDirectory,
        ),
    ];
    let mut wrong = Vec::new();
    for (what, before, event, expected) in cases {
        let mut kept = TestStore::new();
        let taken: Vec<_> = before.into_iter().map(|sent| kept.ingest_event(sent).agent_id).collect();
        let first = taken.first().copied();
        let receipt = kept.ingest_event(event.at_second(5));
        if receipt.correlation_method != expected {
            wrong.push(format!("{what}: {}, not {expected}", receipt.correlation_method));
        }
        let same = first == Some(receipt.agent_id);
        assert_eq!(same, receipt.correlation_method != Created, "{what}");
        assert_eq!(receipt.is_new_agent, receipt.correlation_method == Created, "{what}");
        let kept_as = kept.list_events().pop().unwrap().correlation_method;
        assert_eq!(kept_as, receipt.correlation_method.as_str(), "{what}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    let mut kept = TestStore::new();
    kept.ingest_event(build_session_start("s1"));
    let receipt = kept.reopen().ingest_event(build_prompt("s1", "Go."));
    assert_eq!(receipt.correlation_method, DbSessionId);
}

#[test]
fn an_idle_agent_whose_process_is_gone_may_be_continued() {
    let mut kept = TestStore::new();
    let mut one = LiveProcess::new();
    kept.ingest_event(build_session_start("s1").with_process(&one));
    one.terminate();
    let receipt = kept.ingest_event(build_session_start("s2").with_process(&LiveProcess::new()));
    assert_eq!(receipt.correlation_method, CorrelationMethod::WorkingDirectory);
    assert_eq!(kept.expect_session("s1").end_reason.as_deref(), Some("replaced"));
}

#[test]
fn a_process_of_another_host_is_never_known_to_be_gone() {
    let mut kept = TestStore::new();
    let mut one = LiveProcess::new();
    kept.ingest_event(build_session_start("s1").with_process(&one).with_host("far-away"));
    one.terminate();
    let receipt = kept.ingest_event(build_session_start("s2").with_process(&LiveProcess::new()).with_host("near"));
    assert_eq!(receipt.correlation_method, CorrelationMethod::Created);
}

#[test]
fn a_pane_with_another_project_has_another_agent_once_the_first_is_gone() {
    let mut kept = TestStore::new();
    let elsewhere = kept.create_other_project("elsewhere");
    let mut one = LiveProcess::new();
    kept.ingest_event(build_session_start("s1").with_pane("%1").with_process(&one));
    one.terminate();
    let receipt = kept.ingest_event(
        build_session_start("s2").with_pane("%1").with_process(&LiveProcess::new()).with_field("cwd", elsewhere),
    );
    assert_eq!(receipt.correlation_method, CorrelationMethod::Created);
    let states: Vec<_> = kept.list_agents().iter().map(|agent| agent.state).collect();
    assert_eq!(states, [AgentState::Ended, AgentState::Idle]);
    assert_eq!(kept.expect_session("s1").end_reason.as_deref(), Some("pane_reused"));
}

#[test]
fn any_of_its_session_ids_finds_an_agent() {
    let mut kept = TestStore::new();
    let first = kept.ingest_event(build_session_start("own").with_launcher("launched"));
    assert_eq!(kept.expect_session("own").session_id, "launched");
    // The launcher's id alone, the agent's own id alone, and the launcher's with a new one.
    let elsewhere = kept.create_other_project("elsewhere");
    for sent in [
        build_event("PreToolUse", "launched"),
        build_event("PreToolUse", "own"),
        build_event("SessionStart", "cleared").with_launcher("launched"),
        build_event("PreToolUse", "cleared"),
    ] {
        let receipt = kept.ingest_event(sent.clone().with_field("cwd", elsewhere.as_str()).at_second(2));
        assert_eq!(receipt.agent_id, first.agent_id, "{sent:?}");
    }
    let mut ids = kept.expect_session("launched").session_ids;
    ids.sort();
    assert_eq!(ids, ["cleared", "launched", "own"]);
    let mut kept = kept.reopen();
    assert_eq!(kept.ingest_event(build_prompt("own", "Back again.").at_second(3)).agent_id, first.agent_id);
}

#[test]
fn a_late_event_of_a_replaced_session_does_not_touch_the_new_one() {
    let late = [
        build_event("PreToolUse", "s1").with_field("tool_name", "Bash"),
        build_event("PostToolUse", "s1").with_field("tool_name", "Bash"),
        build_stop("s1", "Which one?"),
        build_event("SessionEnd", "s1").with_field("reason", "other"),
        build_event("Notification", "s1").with_field("notification_type", "permission_prompt"),
    ];
    for late in late {
        let mut kept = TestStore::new();
        kept.ingest_event(build_session_start("s1").with_pane("%1"));
        kept.ingest_event(build_prompt("s1", "Go.").with_pane("%1").at_second(1));
        kept.ingest_event(build_session_start("s2").with_pane("%1").at_second(2));
        let before = kept.expect_single_agent();
        let receipt = kept.ingest_event(late.clone().with_pane("%1").at_second(3));
        assert_eq!(receipt.agent_id, before.agent_id);
        let after = kept.expect_single_agent();
        assert_eq!(after, before, "{late:?}");
        assert_eq!(kept.expect_session("s1").end_reason.as_deref(), Some("pane_reused"), "{late:?}");
        assert_eq!(kept.expect_session("s2").ended_at, None, "{late:?}");
        assert_eq!(kept.list_events().len(), 4, "{late:?}");
    }
}

#[test]
fn a_replaced_session_that_is_resumed_is_the_current_one_again() {
    let mut kept = TestStore::new();
    kept.ingest_event(build_session_start("s1").with_pane("%1"));
    kept.ingest_event(build_session_start("s2").with_pane("%1").at_second(1));
    kept.ingest_event(build_event("SessionStart", "s1").with_field("source", "resume").with_pane("%1").at_second(2));
    assert_eq!(kept.expect_single_agent().session_id.as_deref(), Some("s1"));
    assert_eq!(kept.expect_session("s1").ended_at, None);
    assert_eq!(kept.expect_session("s2").end_reason.as_deref(), Some("pane_reused"));
    kept.ingest_event(build_prompt("s2", "I was forked.").at_second(3));
    assert_eq!(kept.expect_single_agent().session_id.as_deref(), Some("s2"));
}

#[test]
fn a_late_start_of_a_replaced_session_does_not_touch_the_new_one_either() {
    let late = [build_session_start("s1"), build_prompt("s1", "Go.")];
    for late in late {
        let mut kept = TestStore::new();
        kept.ingest_event(build_event("PreToolUse", "s1").with_pane("%1").at_second(1));
        kept.ingest_event(build_session_start("s2").with_pane("%1").at_second(2));
        kept.ingest_event(late.clone().with_pane("%1").at_second(0).with_delay());
        assert_eq!(kept.expect_single_agent().session_id.as_deref(), Some("s2"), "{late:?}");
        assert_eq!(kept.expect_session("s2").ended_at, None, "{late:?}");
        assert_eq!(kept.expect_session("s1").end_reason.as_deref(), Some("pane_reused"), "{late:?}");
    }
}

#[test]
fn the_tmux_session_is_stored_once_and_never_overwritten() {
    let mut kept = TestStore::new();
    kept.ingest_event(build_session_start("s"));
    assert_eq!(kept.expect_single_agent().tmux_session, None);
    kept.ingest_event(build_prompt("s", "Go.").with_tmux_session("work"));
    kept.ingest_event(build_stop("s", "Done.").with_tmux_session("play"));
    assert_eq!(kept.expect_single_agent().tmux_session.as_deref(), Some("work"));
}

#[test]
fn the_pane_is_where_the_agent_was_last_seen() {
    let mut kept = TestStore::new();
    kept.ingest_event(build_session_start("s").with_pane("%1"));
    kept.ingest_event(build_prompt("s", "Go.").with_pane("%2"));
    kept.ingest_event(build_stop("s", "Done."));
    assert_eq!(kept.expect_single_agent().tmux_pane.as_deref(), Some("%2"));
}

#[test]
fn the_same_event_twice_is_stored_once() {
    let call =
        |id: &str, command: &str| json!({"tool_use_id": id, "tool_name": "Bash", "tool_input": {"command": command}});
    let twice = [
        (json!({"event_id": "e1"}), json!({"event_id": "e1"}), 1),
        (json!({"event_id": "e1"}), json!({"event_id": "e2"}), 2),
        (json!({"tool_use_id": "t1", "tool_name": "Bash"}), json!({"tool_use_id": "t1", "tool_name": "Bash"}), 1),
        (json!({"tool_use_id": "t1", "tool_name": "Bash"}), json!({"tool_use_id": "t2", "tool_name": "Bash"}), 2),
        (json!({"tool_name": "Bash"}), json!({"tool_name": "Bash"}), 2),
        // Some models reuse the ids of calls.
        (call("functions.Bash:0", "ls"), call("functions.Bash:0", "ls"), 1),
        (call("functions.Bash:0", "ls"), call("functions.Bash:0", "pwd"), 2),
        (call("", "ls"), call("", "ls"), 2),
    ];
    for (first, second, expected) in twice {
        let mut kept = TestStore::new();
        kept.ingest_event(build_event("PreToolUse", "s").with_fields(&first));
        let receipt = kept.ingest_event(build_event("PreToolUse", "s").with_fields(&second).at_second(1));
        assert_eq!((receipt.duplicate, kept.list_events().len()), (expected == 1, expected), "{first} {second}");
    }
    // The same call has a start and an end, and another agent's call is another one.
    let mut kept = TestStore::new();
    let elsewhere = kept.create_other_project("elsewhere");
    let tool = json!({"tool_use_id": "t1", "tool_name": "Bash"});
    kept.ingest_event(build_event("PreToolUse", "s").with_fields(&tool));
    kept.ingest_event(build_event("PostToolUse", "s").with_fields(&tool));
    kept.ingest_event(build_event("PreToolUse", "other").with_fields(&tool).with_field("cwd", elsewhere));
    assert_eq!(kept.list_events().len(), 3);
}

#[test]
fn a_call_of_the_same_id_in_another_session_is_another_one() {
    let mut kept = TestStore::new();
    let tool = json!({"tool_use_id": "call_0", "tool_name": "Bash", "tool_input": {"command": "ls"}});
    kept.ingest_event(build_session_start("s1").with_pane("%1"));
    kept.ingest_event(build_event("PreToolUse", "s1").with_fields(&tool).with_pane("%1").at_second(1));
    kept.ingest_event(build_session_start("s2").with_pane("%1").at_second(2));
    let receipt = kept.ingest_event(build_event("PreToolUse", "s2").with_fields(&tool).with_pane("%1").at_second(3));
    assert_eq!((receipt.duplicate, kept.list_events().len()), (false, 4));
    let agent = kept.expect_single_agent();
    assert_eq!((agent.state, agent.current_tool.as_deref()), (AgentState::Processing, Some("Bash")));
}

#[test]
fn a_repeated_event_changes_nothing() {
    let mut kept = TestStore::new();
    let elsewhere = kept.create_other_project("elsewhere");
    kept.ingest_event(build_session_start("s1").with_field("event_id", "e1"));
    let before = kept.list_agents();
    kept.ingest_event(build_session_start("s2").with_field("event_id", "e1").with_field("cwd", elsewhere).at_second(1));
    assert_eq!(kept.list_agents(), before);
}

#[test]
fn a_new_agent_starts_with_its_first_event() {
    let mut kept = TestStore::new();
    kept.ingest_event(build_session_start("s").at_second(7));
    let agent = kept.expect_single_agent();
    assert_eq!(
        (agent.started_at, agent.last_seen_at, agent.state_since),
        (make_timestamp(7), make_timestamp(7), make_timestamp(7))
    );
}

#[test]
fn every_started_program_is_an_agent_of_its_own() {
    let mut kept = TestStore::new();
    let mut agents = std::collections::HashSet::new();
    for number in 0..60 {
        let session = format!("s{number}");
        agents.insert(kept.ingest_event(build_program_start(&session).at_second(number)).agent_id);
        let stop = kept.ingest_event(build_stop(&session, "Done.").at_second(number));
        assert!(agents.contains(&stop.agent_id), "{session}");
    }
    assert_eq!(agents.len(), 60);
    assert_eq!(kept.list_agents().len(), 60);
}

#[test]
fn two_working_sessions_in_one_project_are_two_agents() {
    let mut kept = TestStore::new();
    let first = kept.ingest_event(build_session_start("s1")).agent_id;
    assert_eq!(kept.ingest_event(build_session_start("s2").at_second(1)).agent_id, first, "nobody was at work");
    assert_eq!(kept.ingest_event(build_prompt("s1", "Go.").at_second(2)).agent_id, first);
    let other = kept.ingest_event(build_prompt("s2", "Go, too.").at_second(3)).agent_id;
    assert_ne!(other, first);
    assert_eq!(kept.ingest_event(build_event("Stop", "s1").at_second(4)).agent_id, first);
    assert_eq!(kept.ingest_event(build_event("Stop", "s2").at_second(5)).agent_id, other);
    assert_eq!(kept.list_agents().len(), 2);
}

#[test]
fn a_session_on_another_host_is_another_agent() {
    // The data that both events share apart from the directory.
    let rows: [fn(crate::support::SentEvent) -> crate::support::SentEvent; 3] =
        [|sent| sent, |sent| sent.with_pane("%1"), |sent| sent.with_headspace("h")];
    for common in rows {
        let mut kept = TestStore::new();
        let first = kept.ingest_event(common(build_session_start("s1").with_host("a"))).agent_id;
        assert_ne!(kept.ingest_event(common(build_session_start("s2").with_host("b").at_second(1))).agent_id, first);
        assert_eq!(kept.ingest_event(common(build_session_start("s3").with_host("a").at_second(2))).agent_id, first);
    }
}

#[test]
fn events_without_a_directory_are_not_matched_by_directory() {
    for told in ["", ".", "~/x", "some/where"] {
        let mut kept = TestStore::new();
        let first = kept.ingest_event(build_session_start("s1").with_field("cwd", told)).agent_id;
        assert_ne!(
            kept.ingest_event(build_session_start("s2").with_field("cwd", told).at_second(1)).agent_id,
            first,
            "{told}"
        );
        assert_eq!(kept.list_agents()[0].project_path, "", "{told}");
    }
    let mut kept = TestStore::new();
    kept.ingest_event(build_session_start("s1").with_field("cwd", "/no/such/dir/x/../y/."));
    assert_eq!(kept.expect_single_agent().project_path, "/no/such/dir/y");
}

#[test]
fn a_transcript_of_another_host_is_not_read() {
    let mut kept = TestStore::new();
    let path = kept.write_transcript(&[crate::support::build_prompt_line("s", 1, "Of another machine.")]);
    let event = build_event("PreToolUse", "s").with_field("transcript_path", path.as_str()).with_host("far-away");
    kept.ingest_event(event.at_second(2));
    kept.store.reconcile_agents(snell_store::ReconcileScope::All, crate::support::make_timestamp(3)).unwrap();
    assert_eq!(kept.list_turn_texts("s"), [""; 0]);
}
