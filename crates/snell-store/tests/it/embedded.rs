//! The example of an agent that embeds the engine and records its events must work.

use snell_store::{AgentFilter, AgentState, EventRecorder, LogFilter};

#[allow(dead_code, reason = "`main` is for those who run it")]
#[path = "../../examples/embed_and_record.rs"]
mod example;

#[tokio::test]
async fn the_events_of_the_example_are_stored() {
    let directory = tempfile::tempdir().unwrap();
    example::run_session(directory.path()).await;
    let mut recorder = EventRecorder::new(directory.path());
    let store = recorder.open_store().unwrap();
    let ended = AgentFilter { ended_after: Some(snell::Timestamp::MIN), ..AgentFilter::default() };
    let agents = store.list_agents(&ended).unwrap();
    assert_eq!(agents.len(), 1, "{agents:?}");
    let agent = &agents[0];
    assert_eq!(
        (agent.product.as_deref(), agent.state, agent.session_id.as_deref()),
        (Some("lantern"), AgentState::Ended, Some("session-1"))
    );
    let all = LogFilter { limit: 100, ..LogFilter::default() };
    let mut events = store.query_log(&all).unwrap();
    events.reverse();
    let names: Vec<_> = events.iter().map(|entry| entry.event.as_str()).collect();
    assert_eq!(names, ["SessionStart", "UserPromptSubmit", "PreToolUse", "Stop", "SessionEnd"]);
    let push = &events[2];
    assert_eq!((push.decision.as_deref(), push.tool.as_deref()), (Some("block"), Some("Bash")));
    assert!(push.hooks > 0, "{push:?}");
    assert_eq!(push.payload["tool_input"]["command"], "git push --force origin main");
}
