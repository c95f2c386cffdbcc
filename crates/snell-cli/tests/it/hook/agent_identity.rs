//! Who an agent is, as its environment tells it.

use serde_json::json;
use snell_test_support::process::LiveProcess;

use super::run_in_both_modes;

#[test]
fn the_environment_tells_who_the_agent_is() {
    run_in_both_modes(|watched| {
        let agent = LiveProcess::new();
        let variables = [
            ("CLAUDE_PID", agent.pid().to_string()),
            ("CLAUDE_SESSION_ID", "launched".to_owned()),
            ("CLAUDE_SESSION_ROLE", "builder".to_owned()),
            ("CLAUDE_SESSION_MODE", "mission".to_owned()),
            ("MISSION_EXECUTION_ID", "m1".to_owned()),
            ("CLAUDE_HEADSPACE_SESSION_ID", "h1".to_owned()),
            ("CLAUDE_HEADSPACE_TMUX_SESSION", "work".to_owned()),
            ("TMUX", "/tmp/tmux-0/default,4711,3".to_owned()),
            ("TMUX_PANE", "%7".to_owned()),
        ];
        let variables: Vec<_> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let start =
            watched.build_payload("own", "SessionStart", json!({"source": "startup", "model": "claude-opus-4-5"}));
        watched.run_hook_with_env(&variables, &start).assert_silent();
        let known = &watched.query_rows("SELECT * FROM agents")[0];
        assert_eq!(known["pid"].to_string(), agent.pid().to_string());
        assert_eq!(known["product"], "claude");
        assert_eq!(known["session_id"], "own");
        assert_eq!((&known["tmux_pane"], &known["tmux_session"]), (&json!("%7"), &json!("work")));
        assert_eq!(
            (&known["tmux_server"], &known["headspace_session_id"]),
            (&json!("/tmp/tmux-0/default"), &json!("h1"))
        );
        let session = &watched.query_rows("SELECT * FROM sessions")[0];
        assert_eq!(session["session_id"], "launched");
        assert_eq!((&session["role"], &session["mode"]), (&json!("builder"), &json!("mission")));
        assert_eq!((&session["mission_execution_id"], &session["model"]), (&json!("m1"), &json!("claude-opus-4-5")));
        assert_eq!(session["project_path"], watched.sandbox.project().canonicalize().unwrap().to_str().unwrap());
        assert_eq!(watched.count_rows("missions WHERE mission_execution_id = 'm1' AND session_id = 'launched'"), 1);
    });
}

#[test]
fn a_shell_between_the_agent_and_its_hook_is_not_the_agent() {
    run_in_both_modes(|watched| {
        let payload = watched.build_payload("s1", "SessionStart", json!({}));
        for line in ["\"$0\" \"$@\"; exit $?", "sh -c '\"$0\" \"$@\"; exit $?' \"$0\" \"$@\"; exit $?"] {
            let mut command = watched.sandbox.shell(line, &["hook"]);
            let output = snell_test_support::process::spawn_with_stdin(&mut command, payload.to_string())
                .wait_with_output()
                .unwrap();
            assert!(output.status.success());
            assert_eq!(watched.query_value("SELECT pid FROM agents"), std::process::id());
        }
    });
}

#[test]
fn an_event_that_is_sent_twice_is_stored_once() {
    run_in_both_modes(|watched| {
        let tool = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "toolu_01"});
        for _ in 0..3 {
            watched.send_silent_event("s1", "PreToolUse", tool.clone());
            watched.send_silent_event("s1", "PostToolUse", tool.clone());
            watched.send_silent_event("s1", "Notification", json!({"event_id": "e1", "message": "m"}));
        }
        assert_eq!(watched.count_rows("events"), 3);
        assert_eq!(watched.count_rows("payloads"), 3);
    });
}

#[test]
fn a_storm_of_identical_prompts_from_many_processes_is_one_turn() {
    run_in_both_modes(|watched| {
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..5).for_each(|_| watched.send_prompt("s1", "Are you there?")));
            }
        });
        assert_eq!(
            (watched.count_rows("events"), watched.count_rows("turns"), watched.count_rows("commands")),
            (40, 1, 1)
        );
    });
}

#[test]
fn two_agents_in_one_project_are_told_apart_by_their_processes() {
    run_in_both_modes(|watched| {
        let agents = [LiveProcess::new(), LiveProcess::new()];
        for (session, agent) in ["s1", "s2"].iter().zip(&agents) {
            let pid = agent.pid().to_string();
            let start = watched.build_payload(session, "SessionStart", json!({"source": "startup"}));
            watched.run_hook_with_env(&[("CLAUDE_PID", &pid)], &start).assert_silent();
        }
        assert_eq!(watched.count_rows("agents"), 2);
        // The first one is cleared: a new session of the same process.
        let pid = agents[0].pid().to_string();
        let start = watched.build_payload("s3", "SessionStart", json!({"source": "clear"}));
        watched.run_hook_with_env(&[("CLAUDE_PID", &pid)], &start).assert_silent();
        assert_eq!(watched.count_rows("agents"), 2);
        assert_eq!(watched.query_value("SELECT agent_id FROM sessions WHERE session_id = 's3'"), 1);
    });
}
