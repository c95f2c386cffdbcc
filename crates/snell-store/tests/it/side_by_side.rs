//! Agents that live side by side, and could be taken for each other.

use snell_store::{Correlation, State};

use crate::support::{Kept, Living, Sent, at, prompt, sent, stop};

fn started(session: &str, source: &str) -> Sent {
    sent("SessionStart", session).with("source", source)
}

/// Whatever a process inherits from the agent that starts it.
fn inherited(sent: Sent) -> Sent {
    sent.pane("%1").tmux_server("/tmp/tmux").launcher("l").headspace("h")
}

#[test]
fn an_agent_that_is_started_by_one_at_work_is_another_one_from_beginning_to_end() {
    let mut kept = Kept::new();
    let [one, other] = [Living::new(), Living::new()];
    let parent = |sent: Sent| inherited(sent).process(&one);
    let child = |sent: Sent| inherited(sent).process(&other);
    let bash = |name: &str| sent(name, "s1").with("tool_name", "Bash").with("tool_use_id", "t1");
    kept.take(parent(started("s1", "startup")));
    kept.take(parent(prompt("s1", "Ask the other one.").at(1)));
    kept.take(parent(bash("PreToolUse").at(2)));
    let before = kept.agent();
    let steps = [
        (started("s2", "startup"), State::Idle),
        (prompt("s2", "What do you think?"), State::Processing),
        (sent("PreToolUse", "s2").with("tool_name", "Read"), State::Processing),
        (stop("s2", "It is good."), State::Idle),
        (sent("SessionEnd", "s2").with("reason", "other"), State::Ended),
    ];
    for (second, (step, state)) in (3..).zip(steps) {
        let receipt = kept.take(child(step).at(second));
        assert_ne!(receipt.agent_id, before.agent_id);
        assert_eq!(receipt.state, state);
        assert_eq!(kept.agents()[0], before);
    }
    assert_eq!(kept.session("s1").ended_at, None);
    assert_eq!(kept.agents().len(), 2);
    kept.take(parent(bash("PostToolUse").at(9)));
    let receipt = kept.take(parent(stop("s1", "It likes it. Shall I go on?").at(10)));
    assert_eq!(
        (receipt.agent_id, receipt.state),
        (before.agent_id, State::AwaitingInput)
    );
}

#[test]
fn a_session_that_its_agent_has_left_and_that_is_resumed_elsewhere_is_a_new_agents() {
    for begins in [started("a", "resume"), prompt("a", "Where were we?")] {
        let mut kept = Kept::new();
        let [one, other] = [Living::new(), Living::new()];
        let first = |sent: Sent| sent.pane("%1").process(&one);
        let second = |sent: Sent| sent.pane("%2").process(&other);
        kept.take(first(started("a", "startup")));
        kept.take(first(started("b", "clear").at(1)));
        kept.take(first(prompt("b", "Go.").at(2)));
        let before = kept.agent();
        let receipt = kept.take(second(begins.clone()).at(3));
        assert_eq!(
            (receipt.is_new_agent, receipt.correlation_method),
            (true, Correlation::Created),
            "{begins:?}"
        );
        assert_eq!(kept.agents()[0], before, "{begins:?}");
        assert_eq!(kept.session("b").ended_at, None, "{begins:?}");
        // From now on each has its own.
        let tool = |session: &str| sent("PreToolUse", session).with("tool_name", "Grep");
        let theirs = [kept.take(first(tool("b")).at(4)), kept.take(second(tool("a")).at(5))];
        assert_eq!(
            theirs.map(|receipt| receipt.agent_id),
            [before.agent_id, receipt.agent_id],
            "{begins:?}"
        );
        kept.take(first(stop("b", "Shall I go on?").at(6)));
        let states: Vec<_> = kept.agents().iter().map(|agent| agent.state).collect();
        assert_eq!(states, [State::AwaitingInput, State::Processing], "{begins:?}");
    }
}

/// Two sessions in one directory of which nothing else is known. The second has taken the place of the first, which was
/// idle.
fn twins() -> Kept {
    let mut kept = Kept::new();
    kept.take(started("s1", "startup"));
    kept.take(prompt("s1", "Go.").at(1));
    kept.take(stop("s1", "Done.").at(2));
    let receipt = kept.take(started("s2", "startup").at(10));
    assert_eq!(receipt.correlation_method, Correlation::WorkingDirectory);
    kept
}

/// Everything by which a session shows that it goes on, and the state it is in then.
fn signs_of_life() -> Vec<(Sent, State)> {
    let bash = |name: &str| sent(name, "s1").with("tool_name", "Bash").with("tool_use_id", "t1");
    let told = |kind: &str| sent("Notification", "s1").with("notification_type", kind);
    vec![
        (started("s1", "resume"), State::Idle),
        (prompt("s1", "Go on."), State::Processing),
        (bash("PreToolUse"), State::Processing),
        (bash("PostToolUse"), State::Processing),
        (bash("PermissionRequest"), State::AwaitingInput),
        (told("permission_prompt"), State::AwaitingInput),
        (told("idle_prompt"), State::Idle),
        (stop("s1", "Shall I go on?"), State::AwaitingInput),
        (stop("s1", "It is done."), State::Idle),
    ]
}

#[test]
fn a_session_that_goes_on_while_its_agent_is_at_work_on_another_one_is_an_agent_of_its_own() {
    for (event, state) in signs_of_life() {
        // Also when it says itself when it happened.
        for event in [event.clone(), event.clone().delayed()] {
            let mut kept = twins();
            kept.take(prompt("s2", "Go, too.").at(11));
            let before = kept.agent();
            let receipt = kept.take(event.clone().at(12));
            assert_eq!((receipt.is_new_agent, receipt.state), (true, state), "{event:?}");
            let agents = kept.agents();
            assert_eq!(agents[0], before, "{event:?}");
            assert_eq!(agents[1].session_id.as_deref(), Some("s1"), "{event:?}");
            assert_eq!(kept.session("s1").ended_at, None, "{event:?}");
            assert_eq!(kept.session("s2").ended_at, None, "{event:?}");
            // From now on each has its own.
            assert_eq!(kept.take(stop("s2", "Done.").at(13)).agent_id, before.agent_id);
            assert_eq!(kept.take(stop("s1", "Done.").at(14)).agent_id, receipt.agent_id);
            assert_eq!(kept.agents().len(), 2, "{event:?}");
        }
    }
}

#[test]
fn a_session_that_goes_on_while_nobody_is_at_work_has_its_agent_back() {
    for (event, state) in signs_of_life() {
        for ends_first in [false, true] {
            let mut kept = twins();
            if ends_first {
                kept.take(sent("SessionEnd", "s2").with("reason", "other").at(11));
            }
            let receipt = kept.take(event.clone().at(12));
            assert_eq!(receipt.state, state, "{event:?} {ends_first}");
            let agent = kept.agent();
            assert_eq!(agent.session_id.as_deref(), Some("s1"), "{event:?} {ends_first}");
            assert_eq!(agent.state, state, "{event:?} {ends_first}");
        }
    }
}

#[test]
fn what_a_replaced_session_sends_late_or_at_its_end_makes_no_agent() {
    let bash = |name: &str| sent(name, "s1").with("tool_name", "Bash").with("tool_use_id", "t0");
    let mut rows = vec![
        sent("SessionEnd", "s1").with("reason", "other").at(12),
        sent("SessionEnd", "s1").with("reason", "clear").at(12),
        // What was told before, told once more.
        bash("PreToolUse").at(12),
    ];
    rows.extend(signs_of_life().into_iter().map(|(event, _)| event.at(3).delayed()));
    for late in rows {
        let mut kept = Kept::new();
        kept.take(bash("PreToolUse").at(1));
        kept.take(stop("s1", "Done.").at(2));
        kept.take(started("s2", "startup").at(10));
        kept.take(prompt("s2", "Go.").at(11));
        let before = kept.agent();
        kept.take(late.clone());
        assert_eq!(kept.agent(), before, "{late:?}");
        let session = kept.session("s1");
        assert_eq!(
            (session.end_reason.as_deref(), session.ended_at),
            (Some("replaced"), Some(at(10))),
            "{late:?}"
        );
    }
}

#[test]
fn a_late_event_of_a_session_whose_launcher_has_begun_another_one_makes_no_agent() {
    for (late, _) in signs_of_life().into_iter().skip(2) {
        let mut kept = Kept::new();
        kept.take(prompt("s1", "Go.").headspace("h"));
        kept.take(started("s2", "compact").headspace("h").at(1));
        let before = kept.agent();
        kept.take(late.clone().headspace("h").at(2));
        assert_eq!(kept.agent(), before, "{late:?}");
    }
}

#[test]
fn a_session_that_becomes_an_agent_of_its_own_keeps_its_project() {
    // What it sends, whether it says that it is elsewhere, and whether it then belongs there.
    let rows = [
        (prompt("s1", "Go on."), false, false),
        (stop("s1", "Which?"), false, false),
        (stop("s1", "Which?"), true, false),
        (started("s1", "resume"), false, false),
        (started("s1", "resume"), true, true),
    ];
    for (event, says_elsewhere, belongs_elsewhere) in rows {
        let mut kept = twins();
        kept.take(prompt("s2", "Go, too.").at(11));
        let project = kept.agent().project_path;
        let elsewhere = kept.other_project("elsewhere");
        let told = if says_elsewhere { elsewhere.as_str() } else { "" };
        kept.take(event.clone().with("cwd", told).at(12));
        let expected = if belongs_elsewhere { &elsewhere } else { &project };
        assert_eq!(&kept.agents()[1].project_path, expected, "{event:?} {told}");
    }
}
