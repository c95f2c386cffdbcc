//! Which agent an event belongs to.

use serde_json::json;
use snell_store::{Correlation, State};

use crate::support::{Kept, Living, Sent, at, prompt, sent, stop};

/// A session that was started.
fn started(session: &str) -> Sent {
    sent("SessionStart", session).with("source", "startup")
}

#[test]
fn each_strategy_finds_what_the_ones_before_it_cannot() {
    use Correlation::{Created, DbSessionId, HeadspaceSessionId, SessionId, TmuxPaneId, WorkingDirectory};
    let [one, other] = [Living::new(), Living::new()];
    let mut gone = Living::new();
    gone.dies();
    // What there was, what comes, how its agent is found.
    let cases: Vec<(&str, Vec<Sent>, Sent, Correlation)> = vec![
        ("nothing is known", vec![], started("s1"), Created),
        (
            "the session is known",
            vec![started("s1")],
            prompt("s1", "Go."),
            SessionId,
        ),
        (
            "headspace before pane",
            vec![started("s1").headspace("h").pane("%1")],
            started("s2").headspace("h").pane("%1"),
            HeadspaceSessionId,
        ),
        (
            "the launcher's id in the payload",
            vec![started("s1").headspace("h")],
            started("s2").with("headspace_session_id", "h"),
            HeadspaceSessionId,
        ),
        (
            "headspace though it ended",
            vec![started("s1").headspace("h"), sent("SessionEnd", "s1")],
            started("s2").headspace("h"),
            HeadspaceSessionId,
        ),
        (
            "the same pane",
            vec![started("s1").pane("%1")],
            started("s2").pane("%1"),
            TmuxPaneId,
        ),
        (
            "the same pane, busy",
            vec![started("s1").pane("%1"), prompt("s1", "Go.").pane("%1")],
            started("s2").pane("%1"),
            TmuxPaneId,
        ),
        (
            "the same pane, another process",
            vec![started("s1").pane("%1").process(&one)],
            started("s2").pane("%1").process(&other),
            TmuxPaneId,
        ),
        (
            "the same pane, busy in another process",
            vec![
                started("s1").pane("%1").process(&one),
                prompt("s1", "Go.").pane("%1").process(&one),
            ],
            started("s2").pane("%1").process(&other),
            Created,
        ),
        (
            "the same pane, asking in another process",
            vec![
                started("s1").pane("%1").process(&one),
                stop("s1", "Which one?").pane("%1").process(&one),
            ],
            started("s2").pane("%1").process(&other),
            Created,
        ),
        (
            "the same pane, busy until its process was gone",
            vec![
                started("s1").pane("%1").process(&gone),
                prompt("s1", "Go.").pane("%1").process(&gone),
            ],
            started("s2").pane("%1").process(&other),
            TmuxPaneId,
        ),
        (
            "a launcher's id that a busy one handed on",
            vec![
                started("s1").launcher("l").process(&one),
                prompt("s1", "Go.").launcher("l").process(&one),
            ],
            started("s2").launcher("l").process(&other),
            Created,
        ),
        (
            "a launcher's id of an idle one",
            vec![started("s1").launcher("l").process(&one)],
            started("s2").launcher("l").process(&other),
            SessionId,
        ),
        (
            "a headspace that a busy one handed on",
            vec![
                started("s1").headspace("h").process(&one),
                prompt("s1", "Go.").headspace("h").process(&one),
            ],
            started("s2").headspace("h").process(&other),
            Created,
        ),
        (
            "a headspace of an idle one",
            vec![started("s1").headspace("h").process(&one)],
            started("s2").headspace("h").process(&other),
            HeadspaceSessionId,
        ),
        (
            "the same pane in the payload",
            vec![started("s1").with("tmux_pane", "%1")],
            started("s2").with("tmux_pane", "%1"),
            TmuxPaneId,
        ),
        (
            "another server's pane",
            vec![started("s1").pane("%1").tmux_server("/a")],
            started("s2").pane("%1").tmux_server("/b"),
            Created,
        ),
        (
            "another host's pane",
            vec![started("s1").pane("%1").host("a")],
            started("s2").pane("%1").host("b"),
            Created,
        ),
        (
            "another pane",
            vec![started("s1").pane("%1")],
            started("s2").pane("%2"),
            Created,
        ),
        (
            "a pane whose agent ended",
            vec![started("s1").pane("%1"), sent("SessionEnd", "s1").pane("%1")],
            started("s2").pane("%1"),
            Created,
        ),
        (
            "an idle one in the same project",
            vec![started("s1")],
            started("s2"),
            WorkingDirectory,
        ),
        (
            "an idle one of the same process",
            vec![started("s1").process(&one)],
            started("s2").process(&one),
            WorkingDirectory,
        ),
        (
            "an idle one of another process",
            vec![started("s1").process(&one)],
            started("s2").process(&other),
            Created,
        ),
        (
            "an idle one whose process is unlike ours",
            vec![started("s1").process(&one)],
            started("s2"),
            Created,
        ),
        (
            "an idle one in a pane",
            vec![started("s1").pane("%1")],
            started("s2"),
            Created,
        ),
        (
            "a busy one",
            vec![started("s1"), prompt("s1", "Go.")],
            started("s2"),
            Created,
        ),
        (
            "a busy one of the same process",
            vec![started("s1").process(&one), prompt("s1", "Go.").process(&one)],
            started("s2").process(&one),
            Created,
        ),
        (
            "a busy one that was cleared",
            vec![started("s1").process(&one), prompt("s1", "Go.").process(&one)],
            sent("SessionStart", "s2").with("source", "clear").process(&one),
            WorkingDirectory,
        ),
        (
            "one that awaits an answer",
            vec![started("s1"), stop("s1", "Which one?")],
            started("s2"),
            Created,
        ),
        (
            "one that ended",
            vec![started("s1"), sent("SessionEnd", "s1")],
            started("s2"),
            Created,
        ),
        (
            "one without a session",
            vec![sent("PreToolUse", "").with("tool_name", "Bash")],
            started("s2"),
            WorkingDirectory,
        ),
    ];
    let mut wrong = Vec::new();
    for (what, before, event, expected) in cases {
        let mut kept = Kept::new();
        let taken: Vec<_> = before.into_iter().map(|sent| kept.take(sent).agent_id).collect();
        let first = taken.first().copied();
        let receipt = kept.take(event.at(5));
        if receipt.correlation_method != expected {
            wrong.push(format!("{what}: {}, not {expected}", receipt.correlation_method));
        }
        let same = first == Some(receipt.agent_id);
        assert_eq!(same, receipt.correlation_method != Created, "{what}");
        assert_eq!(receipt.is_new_agent, receipt.correlation_method == Created, "{what}");
        let kept_as = kept.events().pop().unwrap().correlation_method;
        assert_eq!(kept_as, receipt.correlation_method.as_str(), "{what}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    let mut kept = Kept::new();
    kept.take(started("s1"));
    let receipt = kept.reopened().take(prompt("s1", "Go."));
    assert_eq!(receipt.correlation_method, DbSessionId);
}

#[test]
fn an_idle_agent_whose_process_is_gone_may_be_continued() {
    let mut kept = Kept::new();
    let mut one = Living::new();
    kept.take(started("s1").process(&one));
    one.dies();
    let receipt = kept.take(started("s2").process(&Living::new()));
    assert_eq!(receipt.correlation_method, Correlation::WorkingDirectory);
    assert_eq!(kept.session("s1").end_reason.as_deref(), Some("replaced"));
}

#[test]
fn a_process_of_another_host_is_never_known_to_be_gone() {
    let mut kept = Kept::new();
    let mut one = Living::new();
    kept.take(started("s1").process(&one).host("far-away"));
    one.dies();
    let receipt = kept.take(started("s2").process(&Living::new()).host("near"));
    assert_eq!(receipt.correlation_method, Correlation::Created);
}

#[test]
fn a_pane_in_which_another_project_is_worked_on_has_another_agent_once_the_first_is_gone() {
    let mut kept = Kept::new();
    let elsewhere = kept.other_project("elsewhere");
    let mut one = Living::new();
    kept.take(started("s1").pane("%1").process(&one));
    one.dies();
    let receipt = kept.take(started("s2").pane("%1").process(&Living::new()).with("cwd", elsewhere));
    assert_eq!(receipt.correlation_method, Correlation::Created);
    let states: Vec<_> = kept.agents().iter().map(|agent| agent.state).collect();
    assert_eq!(states, [State::Ended, State::Idle]);
    assert_eq!(kept.session("s1").end_reason.as_deref(), Some("pane_reused"));
}

#[test]
fn any_of_its_session_ids_finds_an_agent() {
    let mut kept = Kept::new();
    let first = kept.take(started("own").launcher("launched"));
    assert_eq!(kept.session("own").session_id, "launched");
    // The launcher's alone, the agent's own alone, and the launcher's with a new one.
    let elsewhere = kept.other_project("elsewhere");
    for sent in [
        sent("PreToolUse", "launched"),
        sent("PreToolUse", "own"),
        sent("SessionStart", "cleared").launcher("launched"),
        sent("PreToolUse", "cleared"),
    ] {
        let receipt = kept.take(sent.clone().with("cwd", elsewhere.as_str()).at(2));
        assert_eq!(receipt.agent_id, first.agent_id, "{sent:?}");
    }
    let mut ids = kept.session("launched").session_ids;
    ids.sort();
    assert_eq!(ids, ["cleared", "launched", "own"]);
    let mut kept = kept.reopened();
    assert_eq!(kept.take(prompt("own", "Back again.").at(3)).agent_id, first.agent_id);
}

#[test]
fn a_late_event_of_a_replaced_session_does_not_touch_the_new_one() {
    let late = [
        sent("PreToolUse", "s1").with("tool_name", "Bash"),
        sent("PostToolUse", "s1").with("tool_name", "Bash"),
        stop("s1", "Which one?"),
        sent("SessionEnd", "s1").with("reason", "other"),
        sent("Notification", "s1").with("notification_type", "permission_prompt"),
    ];
    for late in late {
        let mut kept = Kept::new();
        kept.take(started("s1").pane("%1"));
        kept.take(prompt("s1", "Go.").pane("%1").at(1));
        kept.take(started("s2").pane("%1").at(2));
        let before = kept.agent();
        let receipt = kept.take(late.clone().pane("%1").at(3));
        assert_eq!(receipt.agent_id, before.agent_id);
        let after = kept.agent();
        assert_eq!(after, before, "{late:?}");
        assert_eq!(
            kept.session("s1").end_reason.as_deref(),
            Some("pane_reused"),
            "{late:?}"
        );
        assert_eq!(kept.session("s2").ended_at, None, "{late:?}");
        assert_eq!(kept.events().len(), 4, "{late:?}");
    }
}

#[test]
fn a_replaced_session_that_is_resumed_is_the_current_one_again() {
    let mut kept = Kept::new();
    kept.take(started("s1").pane("%1"));
    kept.take(started("s2").pane("%1").at(1));
    kept.take(sent("SessionStart", "s1").with("source", "resume").pane("%1").at(2));
    assert_eq!(kept.agent().session_id.as_deref(), Some("s1"));
    assert_eq!(kept.session("s1").ended_at, None);
    assert_eq!(kept.session("s2").end_reason.as_deref(), Some("pane_reused"));
    kept.take(prompt("s2", "I was forked.").at(3));
    assert_eq!(kept.agent().session_id.as_deref(), Some("s2"));
}

#[test]
fn a_delayed_beginning_of_a_replaced_session_does_not_touch_the_new_one_either() {
    let late = [started("s1"), prompt("s1", "Go.")];
    for late in late {
        let mut kept = Kept::new();
        kept.take(sent("PreToolUse", "s1").pane("%1").at(1));
        kept.take(started("s2").pane("%1").at(2));
        kept.take(late.clone().pane("%1").at(0).delayed());
        assert_eq!(kept.agent().session_id.as_deref(), Some("s2"), "{late:?}");
        assert_eq!(kept.session("s2").ended_at, None, "{late:?}");
        assert_eq!(
            kept.session("s1").end_reason.as_deref(),
            Some("pane_reused"),
            "{late:?}"
        );
    }
}

#[test]
fn the_tmux_session_is_stored_once_and_never_overwritten() {
    let mut kept = Kept::new();
    kept.take(started("s"));
    assert_eq!(kept.agent().tmux_session, None);
    kept.take(prompt("s", "Go.").tmux_session("work"));
    kept.take(stop("s", "Done.").tmux_session("play"));
    assert_eq!(kept.agent().tmux_session.as_deref(), Some("work"));
}

#[test]
fn the_pane_is_where_the_agent_was_last_seen() {
    let mut kept = Kept::new();
    kept.take(started("s").pane("%1"));
    kept.take(prompt("s", "Go.").pane("%2"));
    kept.take(stop("s", "Done."));
    assert_eq!(kept.agent().tmux_pane.as_deref(), Some("%2"));
}

#[test]
fn the_same_event_twice_is_stored_once() {
    let call =
        |id: &str, command: &str| json!({"tool_use_id": id, "tool_name": "Bash", "tool_input": {"command": command}});
    let twice = [
        (json!({"event_id": "e1"}), json!({"event_id": "e1"}), 1),
        (json!({"event_id": "e1"}), json!({"event_id": "e2"}), 2),
        (
            json!({"tool_use_id": "t1", "tool_name": "Bash"}),
            json!({"tool_use_id": "t1", "tool_name": "Bash"}),
            1,
        ),
        (
            json!({"tool_use_id": "t1", "tool_name": "Bash"}),
            json!({"tool_use_id": "t2", "tool_name": "Bash"}),
            2,
        ),
        (json!({"tool_name": "Bash"}), json!({"tool_name": "Bash"}), 2),
        // Not every model gives each call an id of its own.
        (call("functions.Bash:0", "ls"), call("functions.Bash:0", "ls"), 1),
        (call("functions.Bash:0", "ls"), call("functions.Bash:0", "pwd"), 2),
        (call("", "ls"), call("", "ls"), 2),
    ];
    for (first, second, expected) in twice {
        let mut kept = Kept::new();
        kept.take(sent("PreToolUse", "s").fields(&first));
        let receipt = kept.take(sent("PreToolUse", "s").fields(&second).at(1));
        assert_eq!(
            (receipt.duplicate, kept.events().len()),
            (expected == 1, expected),
            "{first} {second}"
        );
    }
    // The same use of a tool has a beginning and an end, and another agent's is another one.
    let mut kept = Kept::new();
    let elsewhere = kept.other_project("elsewhere");
    let tool = json!({"tool_use_id": "t1", "tool_name": "Bash"});
    kept.take(sent("PreToolUse", "s").fields(&tool));
    kept.take(sent("PostToolUse", "s").fields(&tool));
    kept.take(sent("PreToolUse", "other").fields(&tool).with("cwd", elsewhere));
    assert_eq!(kept.events().len(), 3);
}

#[test]
fn a_call_of_the_same_id_in_another_session_is_another_one() {
    let mut kept = Kept::new();
    let tool = json!({"tool_use_id": "call_0", "tool_name": "Bash", "tool_input": {"command": "ls"}});
    kept.take(started("s1").pane("%1"));
    kept.take(sent("PreToolUse", "s1").fields(&tool).pane("%1").at(1));
    kept.take(started("s2").pane("%1").at(2));
    let receipt = kept.take(sent("PreToolUse", "s2").fields(&tool).pane("%1").at(3));
    assert_eq!((receipt.duplicate, kept.events().len()), (false, 4));
    let agent = kept.agent();
    assert_eq!(
        (agent.state, agent.current_tool.as_deref()),
        (State::Processing, Some("Bash"))
    );
}

#[test]
fn an_event_that_comes_twice_leaves_no_trace_of_its_second_coming() {
    let mut kept = Kept::new();
    let elsewhere = kept.other_project("elsewhere");
    kept.take(started("s1").with("event_id", "e1"));
    let before = kept.agents();
    kept.take(started("s2").with("event_id", "e1").with("cwd", elsewhere).at(1));
    assert_eq!(kept.agents(), before);
}

#[test]
fn a_new_agent_is_known_since_its_first_event() {
    let mut kept = Kept::new();
    kept.take(started("s").at(7));
    let agent = kept.agent();
    assert_eq!(
        (agent.started_at, agent.last_seen_at, agent.state_since),
        (at(7), at(7), at(7))
    );
}

#[test]
fn two_that_are_at_work_in_one_project_are_two_whoever_took_whose_place() {
    let mut kept = Kept::new();
    let first = kept.take(started("s1")).agent_id;
    assert_eq!(kept.take(started("s2").at(1)).agent_id, first, "nobody was at work");
    assert_eq!(kept.take(prompt("s1", "Go.").at(2)).agent_id, first);
    let other = kept.take(prompt("s2", "Go, too.").at(3)).agent_id;
    assert_ne!(other, first);
    assert_eq!(kept.take(sent("Stop", "s1").at(4)).agent_id, first);
    assert_eq!(kept.take(sent("Stop", "s2").at(5)).agent_id, other);
    assert_eq!(kept.agents().len(), 2);
}

#[test]
fn what_runs_on_another_host_is_another_agent() {
    // What both events have in common beside the directory.
    let rows: [fn(crate::support::Sent) -> crate::support::Sent; 3] =
        [|sent| sent, |sent| sent.pane("%1"), |sent| sent.headspace("h")];
    for common in rows {
        let mut kept = Kept::new();
        let first = kept.take(common(started("s1").host("a"))).agent_id;
        assert_ne!(kept.take(common(started("s2").host("b").at(1))).agent_id, first);
        assert_eq!(kept.take(common(started("s3").host("a").at(2))).agent_id, first);
    }
}

#[test]
fn who_does_not_say_where_it_is_shares_no_directory_with_anybody() {
    for told in ["", ".", "~/x", "some/where"] {
        let mut kept = Kept::new();
        let first = kept.take(started("s1").with("cwd", told)).agent_id;
        assert_ne!(
            kept.take(started("s2").with("cwd", told).at(1)).agent_id,
            first,
            "{told}"
        );
        assert_eq!(kept.agents()[0].project_path, "", "{told}");
    }
    let mut kept = Kept::new();
    kept.take(started("s1").with("cwd", "/no/such/dir/x/../y/."));
    assert_eq!(kept.agent().project_path, "/no/such/dir/y");
}

#[test]
fn a_transcript_on_another_host_is_not_looked_for_here() {
    let mut kept = Kept::new();
    let path = kept.write_transcript(&[crate::support::prompt_line("s", 1, "Of another machine.")]);
    let event = sent("PreToolUse", "s")
        .with("transcript_path", path.as_str())
        .host("far-away");
    kept.take(event.at(2));
    kept.store
        .reconcile(snell_store::Which::All, crate::support::at(3))
        .unwrap();
    assert_eq!(kept.said("s"), [""; 0]);
}
