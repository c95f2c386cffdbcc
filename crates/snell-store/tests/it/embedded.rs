//! An agent that embeds the engine and records by itself: the example is what everybody starts from, so it must work.

use snell_store::{AgentFilter, LogFilter, Recorder, State};

#[allow(dead_code, reason = "`main` is for those who run it")]
#[path = "../../examples/embed_and_record.rs"]
mod example;

#[tokio::test]
async fn what_the_example_does_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    example::play(directory.path()).await;
    let mut recorder = Recorder::new(directory.path());
    let store = recorder.store().unwrap();
    let ended = AgentFilter {
        ended_after: Some(snell::Timestamp::MIN),
        ..AgentFilter::default()
    };
    let agents = store.agents(&ended).unwrap();
    assert_eq!(agents.len(), 1, "{agents:?}");
    let agent = &agents[0];
    assert_eq!(
        (agent.product.as_deref(), agent.state, agent.session_id.as_deref()),
        (Some("lantern"), State::Ended, Some("session-1"))
    );
    let all = LogFilter {
        limit: 100,
        ..LogFilter::default()
    };
    let mut events = store.log(&all).unwrap();
    events.reverse();
    let names: Vec<_> = events.iter().map(|entry| entry.event.as_str()).collect();
    assert_eq!(
        names,
        ["SessionStart", "UserPromptSubmit", "PreToolUse", "Stop", "SessionEnd"]
    );
    let push = &events[2];
    assert_eq!(
        (push.decision.as_deref(), push.tool.as_deref()),
        (Some("block"), Some("Bash"))
    );
    assert!(push.hooks > 0, "{push:?}");
    assert_eq!(push.payload["tool_input"]["command"], "git push --force origin main");
}
