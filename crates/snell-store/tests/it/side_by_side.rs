//! Agents that live side by side, and could be taken for each other.

use snell_store::{Correlation, State};

use crate::support::{Kept, Living, Sent, prompt, sent, stop};

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
