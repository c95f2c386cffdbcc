//! Agents that run in parallel, and must not be confused with each other.

use snell_store::{AgentState, CorrelationMethod};

use crate::support::{LiveProcess, SentEvent, TestStore, build_event, build_prompt, build_stop, make_timestamp};

fn build_session_start(session: &str, source: &str) -> SentEvent {
    build_event("SessionStart", session).with_field("source", source)
}

/// The variables and the process that a child inherits from its agent.
fn with_inherited_sender(sent: SentEvent) -> SentEvent {
    sent.with_pane("%1").with_tmux_server("/tmp/tmux").with_launcher("l").with_headspace("h")
}

#[test]
fn an_agent_started_by_a_working_agent_stays_another_one() {
    let mut kept = TestStore::new();
    let [one, other] = [LiveProcess::new(), LiveProcess::new()];
    let parent = |sent: SentEvent| with_inherited_sender(sent).with_process(&one);
    let child = |sent: SentEvent| with_inherited_sender(sent).with_process(&other);
    let bash = |name: &str| build_event(name, "s1").with_field("tool_name", "Bash").with_field("tool_use_id", "t1");
    kept.ingest_event(parent(build_session_start("s1", "startup")));
    kept.ingest_event(parent(build_prompt("s1", "Ask the other one.").at_second(1)));
    kept.ingest_event(parent(bash("PreToolUse").at_second(2)));
    let before = kept.expect_single_agent();
    let steps = [
        (build_session_start("s2", "startup"), AgentState::Idle),
        (build_prompt("s2", "What do you think?"), AgentState::Processing),
        (build_event("PreToolUse", "s2").with_field("tool_name", "Read"), AgentState::Processing),
        (build_stop("s2", "It is good."), AgentState::Idle),
        (build_event("SessionEnd", "s2").with_field("reason", "other"), AgentState::Ended),
    ];
    for (second, (step, state)) in (3..).zip(steps) {
        let receipt = kept.ingest_event(child(step).at_second(second));
        assert_ne!(receipt.agent_id, before.agent_id);
        assert_eq!(receipt.state, state);
        assert_eq!(kept.list_agents()[0], before);
    }
    assert_eq!(kept.expect_session("s1").ended_at, None);
    assert_eq!(kept.list_agents().len(), 2);
    kept.ingest_event(parent(bash("PostToolUse").at_second(9)));
    let receipt = kept.ingest_event(parent(build_stop("s1", "It likes it. Shall I go on?").at_second(10)));
    assert_eq!((receipt.agent_id, receipt.state), (before.agent_id, AgentState::AwaitingInput));
}

#[test]
fn a_replaced_session_that_is_resumed_elsewhere_gets_a_new_agent() {
    for begins in [build_session_start("a", "resume"), build_prompt("a", "Where were we?")] {
        let mut kept = TestStore::new();
        let [one, other] = [LiveProcess::new(), LiveProcess::new()];
        let first = |sent: SentEvent| sent.with_pane("%1").with_process(&one);
        let second = |sent: SentEvent| sent.with_pane("%2").with_process(&other);
        kept.ingest_event(first(build_session_start("a", "startup")));
        kept.ingest_event(first(build_session_start("b", "clear").at_second(1)));
        kept.ingest_event(first(build_prompt("b", "Go.").at_second(2)));
        let before = kept.expect_single_agent();
        let receipt = kept.ingest_event(second(begins.clone()).at_second(3));
        assert_eq!(
            (receipt.is_new_agent, receipt.correlation_method),
            (true, CorrelationMethod::Created),
            "{begins:?}"
        );
        assert_eq!(kept.list_agents()[0], before, "{begins:?}");
        assert_eq!(kept.expect_session("b").ended_at, None, "{begins:?}");
        // From now on each session has its own agent.
        let tool = |session: &str| build_event("PreToolUse", session).with_field("tool_name", "Grep");
        let theirs =
            [kept.ingest_event(first(tool("b")).at_second(4)), kept.ingest_event(second(tool("a")).at_second(5))];
        assert_eq!(theirs.map(|receipt| receipt.agent_id), [before.agent_id, receipt.agent_id], "{begins:?}");
        kept.ingest_event(first(build_stop("b", "Shall I go on?").at_second(6)));
        let states: Vec<_> = kept.list_agents().iter().map(|agent| agent.state).collect();
        assert_eq!(states, [AgentState::AwaitingInput, AgentState::Processing], "{begins:?}");
    }
}

/// Two sessions in one directory without other data. The second has replaced the first, which was idle.
fn create_twin_sessions() -> TestStore {
    let mut kept = TestStore::new();
    kept.ingest_event(build_session_start("s1", "startup"));
    kept.ingest_event(build_prompt("s1", "Go.").at_second(1));
    kept.ingest_event(build_stop("s1", "Done.").at_second(2));
    let receipt = kept.ingest_event(build_session_start("s2", "resume").at_second(10));
    assert_eq!(receipt.correlation_method, CorrelationMethod::WorkingDirectory);
    kept
}

/// Every event that shows activity of a session, and the state after it.
fn list_activity_events() -> Vec<(SentEvent, AgentState)> {
    let bash = |name: &str| build_event(name, "s1").with_field("tool_name", "Bash").with_field("tool_use_id", "t1");
    let notification = |kind: &str| build_event("Notification", "s1").with_field("notification_type", kind);
    vec![
        (build_session_start("s1", "resume"), AgentState::Idle),
        (build_prompt("s1", "Go on."), AgentState::Processing),
        (bash("PreToolUse"), AgentState::Processing),
        (bash("PostToolUse"), AgentState::Processing),
        (bash("PermissionRequest"), AgentState::AwaitingInput),
        (notification("permission_prompt"), AgentState::AwaitingInput),
        (notification("idle_prompt"), AgentState::Idle),
        (build_stop("s1", "Shall I go on?"), AgentState::AwaitingInput),
        (build_stop("s1", "It is done."), AgentState::Idle),
    ]
}

#[test]
fn a_replaced_session_that_continues_while_its_agent_works_becomes_its_own_agent() {
    for (event, state) in list_activity_events() {
        // Also if the event is late.
        for event in [event.clone(), event.clone().with_delay()] {
            let mut kept = create_twin_sessions();
            kept.ingest_event(build_prompt("s2", "Go, too.").at_second(11));
            let before = kept.expect_single_agent();
            let receipt = kept.ingest_event(event.clone().at_second(12));
            assert_eq!((receipt.is_new_agent, receipt.state), (true, state), "{event:?}");
            let agents = kept.list_agents();
            assert_eq!(agents[0], before, "{event:?}");
            assert_eq!(agents[1].session_id.as_deref(), Some("s1"), "{event:?}");
            assert_eq!(kept.expect_session("s1").ended_at, None, "{event:?}");
            assert_eq!(kept.expect_session("s2").ended_at, None, "{event:?}");
            // From now on each session has its own agent.
            assert_eq!(kept.ingest_event(build_stop("s2", "Done.").at_second(13)).agent_id, before.agent_id);
            assert_eq!(kept.ingest_event(build_stop("s1", "Done.").at_second(14)).agent_id, receipt.agent_id);
            assert_eq!(kept.list_agents().len(), 2, "{event:?}");
        }
    }
}

#[test]
fn a_replaced_session_that_continues_while_its_agent_is_idle_gets_its_agent_back() {
    for (event, state) in list_activity_events() {
        for ends_first in [false, true] {
            let mut kept = create_twin_sessions();
            if ends_first {
                kept.ingest_event(build_event("SessionEnd", "s2").with_field("reason", "other").at_second(11));
            }
            let receipt = kept.ingest_event(event.clone().at_second(12));
            assert_eq!(receipt.state, state, "{event:?} {ends_first}");
            let agent = kept.expect_single_agent();
            assert_eq!(agent.session_id.as_deref(), Some("s1"), "{event:?} {ends_first}");
            assert_eq!(agent.state, state, "{event:?} {ends_first}");
        }
    }
}

#[test]
fn late_and_final_events_of_a_replaced_session_create_no_agent() {
    let bash = |name: &str| build_event(name, "s1").with_field("tool_name", "Bash").with_field("tool_use_id", "t0");
    let mut rows = vec![
        build_event("SessionEnd", "s1").with_field("reason", "other").at_second(12),
        build_event("SessionEnd", "s1").with_field("reason", "clear").at_second(12),
        // Repetitions of earlier events.
        bash("PreToolUse").at_second(12),
    ];
    rows.extend(list_activity_events().into_iter().map(|(event, _)| event.at_second(3).with_delay()));
    for late in rows {
        let mut kept = TestStore::new();
        kept.ingest_event(bash("PreToolUse").at_second(1));
        kept.ingest_event(build_stop("s1", "Done.").at_second(2));
        kept.ingest_event(build_session_start("s2", "resume").at_second(10));
        kept.ingest_event(build_prompt("s2", "Go.").at_second(11));
        let before = kept.expect_single_agent();
        kept.ingest_event(late.clone());
        assert_eq!(kept.expect_single_agent(), before, "{late:?}");
        let session = kept.expect_session("s1");
        assert_eq!(
            (session.end_reason.as_deref(), session.ended_at),
            (Some("replaced"), Some(make_timestamp(10))),
            "{late:?}"
        );
    }
}

#[test]
fn a_late_event_of_a_session_whose_launcher_started_another_one_creates_no_agent() {
    for (late, _) in list_activity_events().into_iter().skip(2) {
        let mut kept = TestStore::new();
        kept.ingest_event(build_prompt("s1", "Go.").with_headspace("h"));
        kept.ingest_event(build_session_start("s2", "compact").with_headspace("h").at_second(1));
        let before = kept.expect_single_agent();
        kept.ingest_event(late.clone().with_headspace("h").at_second(2));
        assert_eq!(kept.expect_single_agent(), before, "{late:?}");
    }
}

#[test]
fn a_session_that_becomes_its_own_agent_keeps_its_project() {
    // Columns: the event, whether it names another place, and whether it then belongs there.
    let rows = [
        (build_prompt("s1", "Go on."), false, false),
        (build_stop("s1", "Which?"), false, false),
        (build_stop("s1", "Which?"), true, false),
        (build_session_start("s1", "resume"), false, false),
        (build_session_start("s1", "resume"), true, true),
    ];
    for (event, says_elsewhere, belongs_elsewhere) in rows {
        let mut kept = create_twin_sessions();
        kept.ingest_event(build_prompt("s2", "Go, too.").at_second(11));
        let project = kept.expect_single_agent().project_path;
        let elsewhere = kept.create_other_project("elsewhere");
        let cwd = if says_elsewhere { elsewhere.as_str() } else { "" };
        kept.ingest_event(event.clone().with_field("cwd", cwd).at_second(12));
        let expected = if belongs_elsewhere { &elsewhere } else { &project };
        assert_eq!(&kept.list_agents()[1].project_path, expected, "{event:?} {cwd}");
    }
}
