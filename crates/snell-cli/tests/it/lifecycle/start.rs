//! The start of a session: who it is, where it sits, which mission it carries out.

use serde_json::{Value, json};
use snell_test_support::process::LiveProcess;

use super::{LifecycleSandbox, format_stored_time, run_in_both_modes};
use crate::support::CliSandbox;

#[test]
fn a_session_is_recorded_as_its_launcher_says() {
    let all = [
        ("CLAUDE_SESSION_ID", "ours"),
        ("CLAUDE_SESSION_ROLE", "chief"),
        ("CLAUDE_SESSION_MODE", "mission"),
        ("MISSION_EXECUTION_ID", "m7"),
        ("TMUX", "/nowhere/tmux.sock,1,0"),
        ("TMUX_PANE", "%7"),
    ];
    let cases: [(&[(&str, &str)], Value); 4] = [
        (&all, json!(["ours", "chief", "mission", "m7", "%7"])),
        (&all[..1], json!(["ours", null, null, null, null])),
        (&all[1..], json!(["s1", "chief", "mission", "m7", "%7"])),
        (&[], json!(["s1", null, null, null, null])),
    ];
    run_in_both_modes(|stage| {
        for (variables, expected) in &cases {
            let stage = stage(CliSandbox::new()).with_launcher_env(variables).begin_session();
            let columns = "session_id, role, mode, mission_execution_id, tmux_pane";
            let sql = format!(
                "SELECT json_array({columns}) AS it, current_state, started_at, last_seen_at, ended_at, end_reason, \
                 context_warning_level FROM sessions"
            );
            let rows = stage.watched.query_rows(&sql);
            assert_eq!(rows.len(), 1, "{rows:?}");
            let row = &rows[0];
            let who: Value = serde_json::from_str(row["it"].as_str().unwrap()).unwrap();
            assert_eq!(&who, expected);
            assert_eq!(
                (&row["started_at"], &row["last_seen_at"]),
                (&format_stored_time("12:00:00"), &format_stored_time("12:00:00"))
            );
            assert_eq!((&row["current_state"], &row["context_warning_level"]), (&json!("idle"), &json!(0)));
            assert_eq!((&row["ended_at"], &row["end_reason"]), (&Value::Null, &Value::Null));
        }
    });
}

#[test]
fn the_launchers_id_counts_for_every_event_and_the_agents_own_id_changes_nothing() {
    let stage = LifecycleSandbox::new().with_launcher_env(&[("CLAUDE_SESSION_ID", "ours")]).begin_session();
    let tool = json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "ls"}});
    let seen = || stage.column_of_session("ours", "last_seen_at");
    stage.send_prompt("12:00:10", "Go.").assert_silent();
    assert_eq!(seen(), format_stored_time("12:00:10"));
    stage.send_event("12:00:20", "PreToolUse", tool.clone()).assert_silent();
    assert_eq!(stage.column_of_session("ours", "current_state"), "tool_active");
    stage.send_event("12:00:30", "PostToolUse", tool).assert_silent();
    stage.send_stop("12:00:40").assert_silent();
    assert_eq!(stage.column_of_session("ours", "current_state"), "idle");
    // Its agent takes another id for itself, as after `/clear`.
    stage.send_event("12:00:50", "SessionStart", json!({"session_id": "s2", "source": "clear"})).assert_silent();
    assert_eq!(seen(), format_stored_time("12:00:50"));
    stage.send_event("12:01:00", "SessionEnd", json!({"session_id": "s2", "reason": "logout"})).assert_silent();
    assert_eq!(stage.column_of_session("ours", "end_reason"), "logout");
    assert_eq!(stage.watched.query_rows("SELECT * FROM sessions").len(), 1);
}

#[test]
fn a_session_that_starts_again_is_the_same_row() {
    for source in ["startup", "resume", "clear", "compact", "fork"] {
        let stage =
            LifecycleSandbox::new().with_launcher_env(&[("CLAUDE_SESSION_MODE", "interactive")]).begin_session();
        stage.send_event("12:01:00", "SessionEnd", json!({"reason": "other"})).assert_silent();
        assert_eq!(stage.session_column("ended_at"), format_stored_time("12:01:00"), "{source}");
        let variables = [("CLAUDE_SESSION_ROLE", "chief"), ("CLAUDE_SESSION_MODE", "mission")];
        stage.send_event_with_env("12:02:00", &variables, "SessionStart", json!({"source": source})).assert_silent();
        let rows = stage.watched.query_rows(
            "SELECT session_id, role, mode, current_state, last_seen_at, ended_at, end_reason FROM sessions",
        );
        let expected = json!({
            "session_id": "s1", "role": "chief", "mode": "mission", "current_state": "idle",
            "last_seen_at": format_stored_time("12:02:00"), "ended_at": null, "end_reason": null,
        });
        assert_eq!(rows, [expected], "{source}");
    }
}

#[test]
fn whoever_was_in_the_pane_before_is_gone() {
    const SERVER: &str = "/nowhere/one.sock,1,0";
    const OTHER_SERVER: &str = "/nowhere/two.sock,2,0";
    let cases = [
        ("another agent", SERVER, "%1", true, json!("pane_reused")),
        ("the same agent", SERVER, "%1", false, json!("pane_reused")),
        ("another pane", SERVER, "%2", true, Value::Null),
        ("another server's pane of the same name", OTHER_SERVER, "%1", true, Value::Null),
    ];
    run_in_both_modes(|stage| {
        for (what, server, pane, other_process, expected) in &cases {
            let stage = stage(CliSandbox::new());
            let agents = [LiveProcess::new(), LiveProcess::new()];
            let start = |time: &str, agent: &LiveProcess, server: &str, pane: &str, session: &str| {
                let variables = [("CLAUDE_PID", &*agent.pid().to_string()), ("TMUX", server), ("TMUX_PANE", pane)]
                    .map(|(name, value)| (name, value.to_owned()));
                let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
                stage
                    .send_event_with_env(
                        time,
                        &variables,
                        "SessionStart",
                        json!({"session_id": session, "source": "startup"}),
                    )
                    .assert_silent();
            };
            start("12:00:00", &agents[0], SERVER, "%1", "s1");
            assert_eq!(stage.session_column("tmux_pane"), "%1", "{what}");
            start("12:05:00", &agents[usize::from(*other_process)], server, pane, "s2");
            assert_eq!(stage.session_column("end_reason"), *expected, "{what}");
            let ended = if expected.is_null() { Value::Null } else { format_stored_time("12:05:00") };
            assert_eq!(stage.session_column("ended_at"), ended, "{what}");
            let state = if expected.is_null() { "idle" } else { "ended" };
            stage.assert_session_state(state);
            assert_eq!(
                (stage.column_of_session("s2", "current_state"), stage.column_of_session("s2", "tmux_pane")),
                (json!("idle"), json!(pane)),
                "{what}"
            );
        }
    });
}

/// Tells that a session begins in a pane, with this process as its agent.
fn begin_in_pane(stage: &LifecycleSandbox, time: &str, agent: &LiveProcess, pane: &str, fields: Value) {
    let pid = agent.pid().to_string();
    let variables = [("CLAUDE_PID", pid.as_str()), ("TMUX", "/nowhere/one.sock,1,0"), ("TMUX_PANE", pane)];
    stage.send_event_with_env(time, &variables, "SessionStart", fields).assert_silent();
}

#[test]
fn a_session_that_is_resumed_in_the_pane_of_another_ends_it() {
    let stage = LifecycleSandbox::new();
    let agents = [LiveProcess::new(), LiveProcess::new()];
    begin_in_pane(&stage, "12:00:00", &agents[0], "%1", json!({"source": "startup"}));
    begin_in_pane(&stage, "12:01:00", &agents[1], "%2", json!({"session_id": "s2", "source": "startup"}));
    assert_eq!(stage.session_column("end_reason"), Value::Null);
    begin_in_pane(&stage, "12:02:00", &agents[1], "%1", json!({"session_id": "s2", "source": "resume"}));
    assert_eq!(
        (stage.session_column("end_reason"), stage.session_column("ended_at"), stage.session_column("current_state")),
        (json!("pane_reused"), format_stored_time("12:02:00"), json!("ended"))
    );
    assert_eq!(
        (stage.column_of_session("s2", "tmux_pane"), stage.column_of_session("s2", "ended_at")),
        (json!("%1"), Value::Null)
    );
}

#[test]
fn who_died_in_the_pane_of_another_project_has_left_it() {
    let stage = LifecycleSandbox::new();
    let elsewhere = stage.sandbox().home();
    let agents = [LiveProcess::new(), LiveProcess::new()];
    begin_in_pane(&stage, "12:00:00", &agents[0], "%1", json!({"source": "startup", "cwd": elsewhere}));
    let [former, later] = agents;
    drop(former);
    begin_in_pane(&stage, "12:05:00", &later, "%1", json!({"session_id": "s2", "source": "startup"}));
    assert_eq!(
        (stage.session_column("end_reason"), stage.session_column("ended_at")),
        (json!("pane_reused"), format_stored_time("12:05:00"))
    );
    assert_ne!(stage.session_column("agent_id"), stage.column_of_session("s2", "agent_id"));
}

#[test]
fn an_agent_at_work_that_starts_another_in_its_pane_goes_on() {
    let stage = LifecycleSandbox::new();
    let agents = [LiveProcess::new(), LiveProcess::new()];
    begin_in_pane(&stage, "12:00:00", &agents[0], "%1", json!({"source": "startup"}));
    let pid = agents[0].pid().to_string();
    let prompt = json!({"prompt": "Ask somebody else."});
    stage.send_event_with_env("12:00:10", &[("CLAUDE_PID", pid.as_str())], "UserPromptSubmit", prompt).assert_silent();
    begin_in_pane(&stage, "12:00:20", &agents[1], "%1", json!({"session_id": "s2", "source": "startup"}));
    assert_eq!(stage.session_column("end_reason"), Value::Null);
    stage.assert_session_state("active");
}

#[test]
fn without_a_pane_nobody_is_ended() {
    let stage = LifecycleSandbox::new();
    let agents = [LiveProcess::new(), LiveProcess::new()];
    for (agent, session) in agents.iter().zip(["s1", "s2"]) {
        stage
            .send_event_with_env(
                "12:00:00",
                &[("CLAUDE_PID", &agent.pid().to_string())],
                "SessionStart",
                json!({"session_id": session}),
            )
            .assert_silent();
    }
    assert_eq!(stage.watched.query_rows("SELECT * FROM sessions WHERE ended_at IS NULL").len(), 2);
}

#[test]
fn a_mission_is_linked_to_the_session_that_carries_it_out() {
    run_in_both_modes(|stage| {
        let stage = stage(CliSandbox::new());
        let agents = [LiveProcess::new(), LiveProcess::new()];
        let missions = || {
            stage
                .watched
                .query_rows("SELECT mission_execution_id AS m, session_id AS s FROM missions ORDER BY m")
                .iter()
                .map(|row| format!("{} {}", row["m"].as_str().unwrap(), row["s"].as_str().unwrap()))
                .collect::<Vec<_>>()
        };
        let start = |time: &str, agent: &LiveProcess, session: &str, mission: Option<&str>| {
            let pid = agent.pid().to_string();
            let mission = mission.map(|mission| ("MISSION_EXECUTION_ID", mission));
            let variables: Vec<_> =
                [("CLAUDE_PID", pid.as_str()), ("CLAUDE_SESSION_ID", session)].into_iter().chain(mission).collect();
            stage
                .send_event_with_env(time, &variables, "SessionStart", json!({"session_id": format!("own-{session}")}))
                .assert_silent();
        };
        start("12:00:00", &agents[0], "a", None);
        assert_eq!(missions(), [""; 0]);
        start("12:01:00", &agents[0], "a", Some("m1"));
        assert_eq!(missions(), ["m1 a"]);
        start("12:02:00", &agents[1], "b", Some("m2"));
        assert_eq!(missions(), ["m1 a", "m2 b"]);
        // Another session takes it over.
        start("12:03:00", &agents[1], "b", Some("m1"));
        assert_eq!(missions(), ["m1 b", "m2 b"]);
        assert_eq!(stage.column_of_session("b", "mission_execution_id"), "m1");
        // And a session that is told of no mission any more keeps what it had.
        start("12:04:00", &agents[1], "b", None);
        assert_eq!(missions(), ["m1 b", "m2 b"]);
    });
}
