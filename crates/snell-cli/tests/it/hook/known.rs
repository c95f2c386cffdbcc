//! Who an agent is, as its environment tells it.

use serde_json::json;

use super::{Living, in_both_modes};

#[test]
fn the_environment_tells_who_the_agent_is() {
    in_both_modes(|watched| {
        let agent = Living::new();
        let variables = [
            ("CLAUDE_PID", agent.pid()),
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
        let start = watched.payload(
            "own",
            "SessionStart",
            json!({"source": "startup", "model": "claude-opus-4-5"}),
        );
        watched.hook_from(&variables, &start).is_silent();
        let known = &watched.rows("SELECT * FROM agents")[0];
        assert_eq!(known["pid"].to_string(), agent.pid());
        assert_eq!(known["product"], "claude");
        assert_eq!(known["session_id"], "own");
        assert_eq!(
            (&known["tmux_pane"], &known["tmux_session"]),
            (&json!("%7"), &json!("work"))
        );
        assert_eq!(
            (&known["tmux_server"], &known["headspace_session_id"]),
            (&json!("/tmp/tmux-0/default"), &json!("h1"))
        );
        let session = &watched.rows("SELECT * FROM sessions")[0];
        assert_eq!(session["session_id"], "launched");
        assert_eq!(
            (&session["role"], &session["mode"]),
            (&json!("builder"), &json!("mission"))
        );
        assert_eq!(
            (&session["mission_execution_id"], &session["model"]),
            (&json!("m1"), &json!("claude-opus-4-5"))
        );
        assert_eq!(
            session["project_path"],
            watched.sandbox.project().canonicalize().unwrap().to_str().unwrap()
        );
        assert_eq!(
            watched.count("missions WHERE mission_execution_id = 'm1' AND session_id = 'launched'"),
            1
        );
    });
}

#[test]
fn a_shell_between_the_agent_and_its_hook_is_not_the_agent() {
    in_both_modes(|watched| {
        let payload = watched.payload("s1", "SessionStart", json!({}));
        for line in [
            "\"$0\" \"$@\"; exit $?",
            "sh -c '\"$0\" \"$@\"; exit $?' \"$0\" \"$@\"; exit $?",
        ] {
            let mut command = watched.sandbox.shell(line, &["hook"]);
            let output = crate::support::start(&mut command, &payload.to_string())
                .wait_with_output()
                .unwrap();
            assert!(output.status.success());
            assert_eq!(watched.value("SELECT pid FROM agents"), std::process::id());
        }
    });
}

#[test]
fn an_event_that_is_sent_twice_is_stored_once() {
    in_both_modes(|watched| {
        let tool = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "toolu_01"});
        for _ in 0..3 {
            watched.event("s1", "PreToolUse", tool.clone());
            watched.event("s1", "PostToolUse", tool.clone());
            watched.event("s1", "Notification", json!({"event_id": "e1", "message": "m"}));
        }
        assert_eq!(watched.count("events"), 3);
        assert_eq!(watched.count("payloads"), 3);
    });
}

#[test]
fn a_storm_of_identical_prompts_from_many_processes_is_one_turn() {
    in_both_modes(|watched| {
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..5).for_each(|_| watched.prompt("s1", "Are you there?")));
            }
        });
        assert_eq!(
            (
                watched.count("events"),
                watched.count("turns"),
                watched.count("commands")
            ),
            (40, 1, 1)
        );
    });
}

#[test]
fn two_agents_in_one_project_are_told_apart_by_their_processes() {
    in_both_modes(|watched| {
        let agents = [Living::new(), Living::new()];
        for (session, agent) in ["s1", "s2"].iter().zip(&agents) {
            let pid = agent.pid();
            let start = watched.payload(session, "SessionStart", json!({"source": "startup"}));
            watched.hook_from(&[("CLAUDE_PID", &pid)], &start).is_silent();
        }
        assert_eq!(watched.count("agents"), 2);
        // The first one is cleared: a new session of the same process.
        let pid = agents[0].pid();
        let start = watched.payload("s3", "SessionStart", json!({"source": "clear"}));
        watched.hook_from(&[("CLAUDE_PID", &pid)], &start).is_silent();
        assert_eq!(watched.count("agents"), 2);
        assert_eq!(
            watched.value("SELECT agent_id FROM sessions WHERE session_id = 's3'"),
            1
        );
    });
}
