//! Agents without recent events: transcripts and processes show their state.

use serde_json::json;
use snell::AgentProduct;
use snell_store::{AgentState, ReconcileScope, StateConfidence, StateSource, TranscriptDirectory};
use snell_test_support::files::write_file;

use crate::support::{
    LiveProcess, SentEvent, TestStore, build_answer_line, build_api_error_line, build_event, build_interruption_line,
    build_prompt, build_prompt_line, make_timestamp,
};

/// A working agent with a transcript.
fn create_working_agent(sender: impl Fn(SentEvent) -> SentEvent) -> (TestStore, String) {
    let mut kept = TestStore::new();
    let path = kept.write_transcript(&[]);
    let tool = json!({"tool_name": "Bash", "tool_use_id": "t1", "transcript_path": path});
    kept.ingest_event(sender(build_prompt("s", "Work.").with_field("transcript_path", path.as_str()).at_second(1)));
    kept.write_transcript(&[build_prompt_line("s", 1, "Work."), build_answer_line("s", 2, "I begin.")]);
    kept.ingest_event(sender(build_event("PreToolUse", "s").with_fields(&tool).at_second(2)));
    assert_eq!(kept.expect_single_agent().state, AgentState::Processing);
    (kept, path)
}

#[test]
fn a_turn_that_ended_without_an_event_is_found_in_the_transcript() {
    let mut for_tool = build_interruption_line("s", 4);
    for_tool["message"]["content"][0]["text"] = "[Request interrupted by user for tool use]".into();
    let cases = [
        (vec![build_interruption_line("s", 4)], "the user interrupted it"),
        (vec![for_tool], "the user interrupted it"),
        (
            vec![build_api_error_line("s", 4, "API Error: 529 overloaded")],
            "its turn ended with an error: API Error: 529 overloaded",
        ),
    ];
    for (lines, why) in cases {
        let (mut kept, _) = create_working_agent(|sent| sent);
        kept.write_transcript(&lines);
        kept.store.reconcile_agents(ReconcileScope::All, make_timestamp(9)).unwrap();
        let agent = kept.expect_single_agent();
        assert_eq!((agent.state, agent.why.as_str()), (AgentState::Idle, why));
        assert_eq!((agent.state_source, agent.confidence), (StateSource::Transcript, StateConfidence::Medium));
        assert_eq!((agent.current_tool, agent.state_since), (None, make_timestamp(9)));
    }
}

#[test]
fn the_next_event_shows_it_as_well() {
    let lines = [build_interruption_line("s", 4), build_api_error_line("s", 4, "API Error")];
    for line in lines {
        let (mut kept, path) = create_working_agent(|sent| sent);
        kept.write_transcript(&[line]);
        let fields = json!({"notification_type": "auth_success", "transcript_path": path});
        let receipt = kept.ingest_event(build_event("Notification", "s").with_fields(&fields).at_second(9));
        assert_eq!((receipt.state, receipt.state_changed), (AgentState::Idle, true));
    }
}

#[test]
fn an_agent_that_continues_after_an_interruption_works() {
    let (mut kept, path) = create_working_agent(|sent| sent);
    kept.write_transcript(&[build_interruption_line("s", 4), build_prompt_line("s", 5, "Go on, but differently.")]);
    kept.ingest_event(build_prompt("s", "Go on, but differently.").with_field("transcript_path", path).at_second(5));
    kept.store.reconcile_agents(ReconcileScope::All, make_timestamp(9)).unwrap();
    assert_eq!(kept.expect_single_agent().state, AgentState::Processing);
    assert_eq!(kept.list_turn_texts("s").len(), 3);
}

#[test]
fn a_repeated_event_does_not_hide_an_interruption() {
    let (mut kept, path) = create_working_agent(|sent| sent);
    kept.write_transcript(&[build_interruption_line("s", 4)]);
    let tool = json!({"tool_name": "Bash", "tool_use_id": "t1", "transcript_path": path});
    kept.ingest_event(build_event("PreToolUse", "s").with_fields(&tool).at_second(5));
    kept.store.reconcile_agents(ReconcileScope::All, make_timestamp(9)).unwrap();
    assert_eq!(kept.expect_single_agent().state, AgentState::Idle);
}

#[test]
fn an_agent_whose_process_is_gone_has_ended() {
    let mut process = LiveProcess::new();
    let (mut kept, _) = create_working_agent(|sent| sent.with_process(&process));
    kept.store.reconcile_agents(ReconcileScope::All, make_timestamp(8)).unwrap();
    assert_eq!(kept.expect_single_agent().state, AgentState::Processing);
    let pid = process.process.pid;
    process.terminate();
    for second in 9..12 {
        kept.store.reconcile_agents(ReconcileScope::All, make_timestamp(second)).unwrap();
    }
    let agent = kept.expect_single_agent();
    assert_eq!(agent.state, AgentState::Ended);
    assert_eq!((agent.ended_at, agent.end_reason.as_deref()), (Some(make_timestamp(9)), Some("process_gone")));
    assert_eq!((agent.state_source, agent.confidence), (StateSource::Process, StateConfidence::Medium));
    assert!(agent.why.contains(&pid.to_string()), "{}", agent.why);
    assert_eq!(kept.expect_session("s").end_reason.as_deref(), Some("process_gone"));
}

#[test]
fn a_process_that_cannot_be_checked_is_not_gone() {
    let mut process = LiveProcess::new();
    let (mut kept, _) = create_working_agent(|sent| sent.with_process(&process).with_host("far-away"));
    process.terminate();
    kept.store.reconcile_agents(ReconcileScope::All, make_timestamp(9)).unwrap();
    assert_eq!(kept.expect_single_agent().state, AgentState::Processing);
    let (mut unknown, _) = create_working_agent(|sent| sent);
    unknown.store.reconcile_agents(ReconcileScope::All, make_timestamp(9)).unwrap();
    assert_eq!(unknown.expect_single_agent().state, AgentState::Processing);
}

#[test]
fn an_agent_that_seemed_gone_and_sends_events_has_not_ended() {
    let mut process = LiveProcess::new();
    let (mut kept, _) = create_working_agent(|sent| sent.with_process(&process));
    process.terminate();
    kept.store.reconcile_agents(ReconcileScope::All, make_timestamp(9)).unwrap();
    assert_eq!(kept.expect_single_agent().state, AgentState::Ended);
    let event = build_event("PostToolUse", "s").with_field("tool_name", "Bash").with_process(&LiveProcess::new());
    kept.ingest_event(event.at_second(12));
    assert_eq!((kept.expect_single_agent().state, kept.expect_single_agent().ended_at), (AgentState::Processing, None));
    assert_eq!(kept.expect_session("s").ended_at, None);
}

#[test]
fn a_process_that_was_seen_only_once_may_be_a_wrapper() {
    // Columns: how often events came from the process, and whether its agent reported it.
    for (times, told, expected) in [
        (1, false, AgentState::Idle),
        (2, false, AgentState::Ended),
        (3, false, AgentState::Ended),
        (1, true, AgentState::Ended),
    ] {
        let mut kept = TestStore::new();
        let mut process = LiveProcess::new();
        for second in 0..times {
            let mut sent = build_event("SessionStart", "s").with_process(&process).at_second(second);
            sent.sender.process_is_told = told;
            kept.ingest_event(sent);
        }
        process.terminate();
        kept.store.reconcile_agents(ReconcileScope::All, make_timestamp(9)).unwrap();
        assert_eq!(kept.expect_single_agent().state, expected, "{times} {told}");
    }
}

#[test]
fn an_agent_with_a_new_wrapper_for_each_event_lives_on() {
    let mut kept = TestStore::new();
    let events = [build_event("SessionStart", "s"), build_prompt("s", "Go."), build_event("PreToolUse", "s")];
    for (second, event) in (0..).zip(events) {
        let mut messenger = LiveProcess::new();
        kept.ingest_event(event.with_process(&messenger).at_second(second));
        messenger.terminate();
        kept.store.reconcile_agents(ReconcileScope::All, make_timestamp(second)).unwrap();
        assert_ne!(kept.expect_single_agent().state, AgentState::Ended, "{second}");
    }
    assert_eq!(kept.expect_single_agent().state, AgentState::Processing);
}

/// A line of a transcript: the agent uses a tool.
fn build_tool_line(session: &str, seconds: i64, tool: &str) -> serde_json::Value {
    json!({
        "type": "assistant", "sessionId": session, "timestamp": make_timestamp(seconds).to_string(), "isSidechain": false,
        "message": {"role": "assistant", "model": "m", "stop_reason": "tool_use",
            "content": [{"type": "tool_use", "id": "t", "name": tool, "input": {}}]},
    })
}

/// A line of a transcript: a tool has answered.
fn build_result_line(session: &str, seconds: i64) -> serde_json::Value {
    json!({
        "type": "user", "sessionId": session, "timestamp": make_timestamp(seconds).to_string(), "isSidechain": false,
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "ok"}]},
    })
}

/// A line of a transcript: the last message of a turn.
fn build_final_line(session: &str, seconds: i64, text: &str) -> serde_json::Value {
    let mut line = build_answer_line(session, seconds, text);
    line["message"]["stop_reason"] = "end_turn".into();
    line
}

#[test]
fn without_hook_events_the_transcript_shows_the_state() {
    // Columns: the state from hooks at second 2, the transcript, and the state afterwards.
    let rows = [
        (AgentState::Idle, vec![build_prompt_line("s", 5, "Go.")], "processing"),
        (AgentState::Idle, vec![build_prompt_line("s", 5, "Go."), build_tool_line("s", 6, "Bash")], "processing Bash"),
        (AgentState::Idle, vec![build_tool_line("s", 6, "Bash"), build_result_line("s", 7)], "processing"),
        (AgentState::Processing, vec![build_final_line("s", 5, "It is done.")], "idle"),
        (AgentState::Processing, vec![build_final_line("s", 5, "Shall I go on?")], "awaiting_input"),
        (AgentState::Processing, vec![build_answer_line("s", 5, "I look.")], "processing"),
        (AgentState::AwaitingInput, vec![build_result_line("s", 5)], "processing"),
        (AgentState::AwaitingInput, vec![build_tool_line("s", 5, "Read")], "awaiting_input Write"),
        // Entries from before the hook event change nothing.
        (AgentState::Idle, vec![build_prompt_line("s", 1, "Go."), build_tool_line("s", 1, "Bash")], "idle"),
        (AgentState::Processing, vec![build_final_line("s", 1, "It is done.")], "processing"),
        (AgentState::AwaitingInput, vec![build_result_line("s", 2)], "awaiting_input Write"),
        (AgentState::Processing, vec![build_interruption_line("s", -9)], "processing"),
    ];
    for (state, lines, expected) in rows {
        let mut kept = TestStore::new();
        let path = kept.write_transcript(&[]);
        let event = match state {
            AgentState::Processing => build_prompt("s", "Work."),
            AgentState::AwaitingInput => build_event("PermissionRequest", "s").with_field("tool_name", "Write"),
            _ => build_event("Stop", "s"),
        };
        kept.ingest_event(build_event("SessionStart", "s").with_field("transcript_path", path.as_str()).at_second(0));
        kept.ingest_event(event.with_field("transcript_path", path.as_str()).at_second(2));
        assert_eq!(kept.expect_single_agent().state, state);
        kept.write_transcript(&lines);
        kept.store.reconcile_agents(ReconcileScope::All, make_timestamp(9)).unwrap();
        let agent = kept.expect_single_agent();
        let tool = agent.current_tool.map(|tool| format!(" {tool}")).unwrap_or_default();
        assert_eq!(format!("{}{tool}", agent.state), expected, "{state} {lines:?}");
        let source = if agent.state == state { StateSource::Hook } else { StateSource::Transcript };
        assert_eq!(agent.state_source, source, "{state} {lines:?}");
        // The next event takes precedence.
        kept.ingest_event(build_prompt("s", "And now this.").at_second(10));
        let agent = kept.expect_single_agent();
        assert_eq!((agent.state, agent.confidence), (AgentState::Processing, StateConfidence::High));
    }
}

/// A transcript where Claude Code would write it.
fn write_home_transcript(kept: &TestStore, session: &str, lines: &[serde_json::Value]) -> std::path::PathBuf {
    let path = kept.path_of(&format!("home/projects/-somewhere/{session}.jsonl"));
    write_file(&path, lines.iter().map(|line| format!("{line}\n")).collect::<String>());
    path
}

fn build_transcript_directory(kept: &TestStore) -> TranscriptDirectory {
    let product = AgentProduct::find_by_name("claude").unwrap();
    TranscriptDirectory { product, path: kept.path_of("home/projects") }
}

fn set_file_age(path: &std::path::Path, seconds: u64) {
    set_file_age_at(path, seconds, 9);
}

/// Sets the age that the file has at this second.
fn set_file_age_at(path: &std::path::Path, seconds: u64, now: i64) {
    let then = std::time::SystemTime::from(make_timestamp(now)) - std::time::Duration::from_secs(seconds);
    std::fs::File::options().write(true).open(path).unwrap().set_modified(then).unwrap();
}

#[test]
fn a_session_that_no_hook_reported_is_found_by_its_transcript() {
    let mut kept = TestStore::new();
    let projects = [build_transcript_directory(&kept)];
    let in_project = |mut line: serde_json::Value| {
        line["cwd"] = kept.project_dir().to_str().unwrap().into();
        line
    };
    let lines = [build_prompt_line("lost", 1, "Find me."), build_tool_line("lost", 2, "Grep")].map(in_project);
    let path = write_home_transcript(&kept, "lost", &lines);
    write_home_transcript(&kept, "agent-12", &lines);
    write_home_transcript(&kept, "other", &lines);
    write_home_transcript(&kept, "empty", &[]);
    let old = write_home_transcript(&kept, "old", &[in_project(build_prompt_line("old", 1, "Long ago."))]);
    set_file_age(&old, 7200);
    assert_eq!(kept.store.discover_sessions(&projects, make_timestamp(9)).unwrap(), 1);
    let agent = kept.expect_single_agent();
    assert_eq!(
        (agent.session_id.as_deref(), agent.state, agent.current_tool.as_deref()),
        (Some("lost"), AgentState::Processing, Some("Grep"))
    );
    assert_eq!((agent.state_source, agent.confidence), (StateSource::Transcript, StateConfidence::Medium));
    assert_eq!(agent.project_path, kept.project_dir().to_str().unwrap());
    assert_eq!(kept.list_turn_texts("lost"), ["USER command: Find me."]);
    // Once.
    assert_eq!(kept.store.discover_sessions(&projects, make_timestamp(10)).unwrap(), 0);
    // It is followed like other sessions, and later hook events find it.
    std::fs::write(
        &path,
        lines.map(|line| format!("{line}\n")).concat() + &format!("{}\n", build_final_line("lost", 12, "Found.")),
    )
    .unwrap();
    kept.store.reconcile_agents(ReconcileScope::All, make_timestamp(13)).unwrap();
    assert_eq!(kept.expect_single_agent().state, AgentState::Idle);
    let receipt = kept.ingest_event(build_prompt("lost", "Thanks.").at_second(20));
    assert_eq!((receipt.is_new_agent, receipt.state), (false, AgentState::Processing));
    assert_eq!(kept.list_agents().len(), 1);
}

#[test]
fn an_old_transcript_without_a_live_process_is_no_session() {
    let living = std::process::id();
    let dead = snell_test_support::process::spawn_dead_pid();
    // Columns: the age of the transcript in seconds, the session files as processes and sessions, the number of sessions found.
    let rows = [
        (10, None, 1),
        (180, None, 0),
        (10, Some(vec![]), 0),
        (10, Some(vec![(dead, "lost")]), 0),
        (10, Some(vec![(living, "another")]), 0),
        (10, Some(vec![(living, "lost")]), 1),
        (1800, Some(vec![(dead, "another"), (living, "lost")]), 1),
    ];
    for (age, files, expected) in rows {
        let mut kept = TestStore::new();
        let mut line = build_prompt_line("lost", 1, "Find me.");
        line["cwd"] = kept.project_dir().to_str().unwrap().into();
        set_file_age(&write_home_transcript(&kept, "lost", &[line]), age);
        if let Some(files) = &files {
            std::fs::create_dir_all(kept.path_of("home/sessions")).unwrap();
            for (pid, session) in files {
                let text = serde_json::json!({"sessionId": session, "status": "idle"}).to_string();
                write_file(&kept.path_of(&format!("home/sessions/{pid}.json")), text);
            }
        }
        let found = kept.store.discover_sessions(&[build_transcript_directory(&kept)], make_timestamp(9)).unwrap();
        assert_eq!(found, expected, "{age} s, {files:?}");
    }
}

#[test]
fn a_discovered_session_ends_when_it_stays_silent() {
    let mut kept = TestStore::new();
    let mut line = build_prompt_line("lost", 1, "Find me.");
    line["cwd"] = kept.project_dir().to_str().unwrap().into();
    let path = write_home_transcript(&kept, "lost", &[line]);
    kept.store.discover_sessions(&[build_transcript_directory(&kept)], make_timestamp(2)).unwrap();
    for (age, state) in
        [(10, AgentState::Processing), (90, AgentState::Processing), (150, AgentState::Idle), (2000, AgentState::Ended)]
    {
        set_file_age(&path, age);
        kept.store.reconcile_agents(ReconcileScope::All, make_timestamp(9)).unwrap();
        let agent = kept.expect_single_agent();
        assert_eq!(agent.state, state, "after {age} s");
        let expected = if age < 150 { StateConfidence::Medium } else { StateConfidence::Low };
        assert_eq!(agent.confidence, expected, "after {age} s");
    }
}

#[test]
fn a_pane_that_is_closed_or_shows_a_shell_holds_no_agent() {
    let pane = |id: &str, command: &str, is_dead: bool| snell_store::TmuxPane {
        id: id.into(),
        command: command.into(),
        is_dead,
    };
    // Columns: the panes of the server, whether the agent's process is known, and the state afterwards.
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
        let living = LiveProcess::new();
        let mut kept = TestStore::new();
        for second in [1, 2] {
            let event =
                build_prompt("s", &format!("{second}")).with_pane("%1").with_tmux_server("/tmp/x").at_second(second);
            kept.ingest_event(if has_process { event.with_process(&living) } else { event });
        }
        assert_eq!(kept.store.list_tmux_servers().unwrap(), [Some("/tmp/x".to_owned())]);
        let seen = |socket: &str| [snell_store::TmuxServerPanes { socket: Some(socket.into()), panes: panes.clone() }];
        // Another server's panes do not affect it, and neither do panes from before the last event.
        kept.store.reconcile_panes(&seen("/tmp/y"), make_timestamp(9)).unwrap();
        kept.store.reconcile_panes(&seen("/tmp/x"), make_timestamp(1)).unwrap();
        assert_eq!(kept.expect_single_agent().state, AgentState::Processing);
        kept.store.reconcile_panes(&seen("/tmp/x"), make_timestamp(9)).unwrap();
        let agent = kept.expect_single_agent();
        assert_eq!(format!("{} {}", agent.state, agent.confidence), expected, "{panes:?}");
        if agent.state == AgentState::Ended {
            assert_eq!(agent.state_source, StateSource::Poll);
        }
    }
}

/// An agent whose user has just submitted a prompt, with a transcript where Claude Code would write it.
fn create_prompted_agent(kept: &mut TestStore, process: &LiveProcess) -> std::path::PathBuf {
    let path = write_home_transcript(kept, "s", &[build_prompt_line("s", 1, "Work.")]);
    let field = path.to_str().unwrap();
    kept.ingest_event(build_event("SessionStart", "s").with_process(process).with_field("transcript_path", field));
    let prompt = build_prompt("s", "Work.").with_process(process).with_field("transcript_path", field).at_second(2);
    kept.ingest_event(prompt);
    path
}

#[test]
fn a_prompt_that_was_taken_back_is_found_in_the_session_file() {
    let ms = |seconds: i64| make_timestamp(seconds).as_millisecond();
    let idle =
        |session: &str, seconds: i64| json!({"sessionId": session, "status": "idle", "statusUpdatedAt": ms(seconds)});
    let permission = build_event("PermissionRequest", "s").with_field("tool_name", "Bash");
    let background = build_event("Stop", "s").with_field("background_tasks", json!([{"id": "b", "status": "running"}]));
    let question = build_event("Stop", "s").with_field("last_assistant_message", "Shall I?");
    // Columns: an event after the prompt at second 2, the session file, and the state afterwards.
    let cases = [
        (None, Some(idle("s", 5)), "idle process medium"),
        (None, Some(json!({"sessionId": "s", "status": "busy", "statusUpdatedAt": ms(5)})), "processing hook high"),
        (None, Some(json!({"sessionId": "s", "status": "shell", "statusUpdatedAt": ms(5)})), "processing hook high"),
        // From before the prompt.
        (None, Some(idle("s", 1)), "processing hook high"),
        (None, Some(idle("another", 5)), "processing hook high"),
        (None, Some(json!({"sessionId": "s"})), "processing hook high"),
        (None, Some(json!([])), "processing hook high"),
        (None, None, "processing hook high"),
        (Some(permission), Some(idle("s", 5)), "idle process medium"),
        (Some(background), Some(idle("s", 5)), "idle process medium"),
        (Some(question), Some(idle("s", 5)), "awaiting_input hook high"),
    ];
    for (event, file, expected) in cases {
        let mut kept = TestStore::new();
        let process = LiveProcess::new();
        create_prompted_agent(&mut kept, &process);
        if let Some(event) = event.clone() {
            kept.ingest_event(event.with_process(&process).at_second(3));
        }
        if let Some(file) = &file {
            write_file(&kept.path_of(&format!("home/sessions/{}.json", process.process.pid)), file.to_string());
        }
        for second in 9..11 {
            kept.store.reconcile_agents(ReconcileScope::All, make_timestamp(second)).unwrap();
        }
        let agent = kept.expect_single_agent();
        let found = format!("{} {} {}", agent.state, agent.state_source, agent.confidence);
        assert_eq!(found, expected, "{event:?} {file:?}");
        assert_eq!(agent.current_tool, None, "{event:?} {file:?}");
    }
}

#[test]
fn a_prompt_that_nothing_follows_was_taken_back() {
    // Columns: the age of the transcript, the seconds since the prompt, and the state afterwards.
    for (age, seconds, expected) in [
        (700, 700, (AgentState::Idle, StateConfidence::Low)),
        (500, 700, (AgentState::Processing, StateConfidence::High)),
        (700, 500, (AgentState::Processing, StateConfidence::High)),
    ] {
        let mut kept = TestStore::new();
        let process = LiveProcess::new();
        let path = create_prompted_agent(&mut kept, &process);
        kept.store.reconcile_agents(ReconcileScope::All, make_timestamp(3)).unwrap();
        set_file_age_at(&path, age, 2 + seconds);
        kept.store.reconcile_agents(ReconcileScope::Agent(1), make_timestamp(2 + seconds)).unwrap();
        let agent = kept.expect_single_agent();
        assert_eq!((agent.state, agent.confidence), expected, "{age} {seconds}");
    }
}

/// The state of an agent that only its transcript shows, after silence for so many seconds.
fn find_silent_state(lines: &[serde_json::Value], seconds: u64) -> (TestStore, String) {
    let mut kept = TestStore::new();
    let projects = [build_transcript_directory(&kept)];
    let in_project = |mut line: serde_json::Value| {
        line["cwd"] = kept.project_dir().to_str().unwrap().into();
        line
    };
    let lines: Vec<_> = lines.iter().cloned().map(in_project).collect();
    let path = write_home_transcript(&kept, "s", &lines);
    kept.store.discover_sessions(&projects, make_timestamp(9)).unwrap();
    set_file_age_at(&path, seconds, 10);
    kept.store.reconcile_agents(ReconcileScope::All, make_timestamp(10)).unwrap();
    let agent = kept.expect_single_agent();
    let state = format!("{} {}", agent.state, agent.confidence);
    (kept, state)
}

#[test]
fn a_call_that_stays_open_without_hooks_asks_the_user() {
    let cases = [
        // The call itself asks.
        ("AskUserQuestion", 1, "awaiting_input medium"),
        ("Write", 3, "processing medium"),
        ("Write", 6, "awaiting_input low"),
        ("Bash", 5, "processing medium"),
        ("Bash", 45, "processing medium"),
        ("Bash", 65, "awaiting_input low"),
        ("mcp__db__query", 65, "awaiting_input low"),
        ("Read", 300, "processing medium"),
        ("Task", 300, "processing medium"),
    ];
    for (tool, seconds, expected) in cases {
        let call = build_tool_line("s", 6, tool);
        let (_, state) = find_silent_state(&[build_prompt_line("s", 5, "Go."), call], seconds);
        assert_eq!(state, expected, "{tool} after {seconds} s");
    }
}

#[test]
fn an_answered_call_ends_the_guess_that_it_asks() {
    let lines = [build_prompt_line("s", 5, "Go."), build_tool_line("s", 6, "Write")];
    let (mut kept, state) = find_silent_state(&lines, 60);
    assert_eq!(state, "awaiting_input low");
    let lines = [&lines[..], &[build_result_line("s", 11)]].concat();
    write_home_transcript(&kept, "s", &lines);
    kept.store.reconcile_agents(ReconcileScope::All, make_timestamp(12)).unwrap();
    assert_eq!(kept.expect_single_agent().state, AgentState::Processing);
}

#[test]
fn an_agent_that_works_without_a_sign_of_life_is_marked_and_keeps_its_state() {
    let mut kept = TestStore::new();
    kept.ingest_event(build_prompt("s", "Work."));
    let look = |kept: &mut TestStore, at: i64| {
        kept.store.reconcile_agents(ReconcileScope::All, make_timestamp(at)).unwrap();
        let agent = kept.expect_single_agent();
        (agent.state, agent.silent_since)
    };
    let began = kept.expect_single_agent().last_seen_at;
    assert_eq!(look(&mut kept, 240), (AgentState::Processing, None));
    assert_eq!(look(&mut kept, 720), (AgentState::Processing, Some(began)));
    kept.ingest_event(build_event("PreToolUse", "s").with_field("tool_name", "Bash").at_second(730));
    assert_eq!(kept.expect_single_agent().silent_since, None, "an event is a sign of life");
    assert_eq!(look(&mut kept, 731), (AgentState::Processing, None));
    kept.ingest_event(build_event("Stop", "s").at_second(740));
    assert_eq!(look(&mut kept, 3000), (AgentState::Idle, None), "an idle agent may be silent");
}
