//! A tiny agent that embeds the engine, and records its events as `snell hook` does.
//!
//! The records are in the directory of its argument, else in a temporary one. Run it in the repository, then list them:
//! `cargo run -p snell-store --example embed_and_record -- /tmp/lantern; SNELL_HOME=/tmp/lantern snell log`.

#![allow(clippy::print_stdout, reason = "an agent talks to its user")]

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::json;
use snell::{Engine, Event, EventName, Timestamp, Verdict};
use snell_store::{DecisionRecord, EventRecord, EventRecorder, EventSender, ProcessIdentity};

/// The name that Snell shows for this agent.
const NAME: &str = "lantern";

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let directory = std::env::args_os().nth(1).map(PathBuf::from);
    let directory = directory.unwrap_or_else(|| std::env::temp_dir().join(format!("lantern-{}", std::process::id())));
    run_session(&directory).await;
    println!("recorded in {}", directory.display());
}

/// A session from its start to its end.
pub async fn run_session(directory: &Path) {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/guarded");
    let (engine, _) = Engine::builder().project(&project).env(std::env::vars_os()).load();
    let mut agent = RecordingAgent { engine, project, recorder: EventRecorder::new(directory) };
    agent.fire_event(Event::new(EventName::SessionStart)).await;
    agent.fire_event(Event::user_prompt("Publish it, please.")).await;
    let push = json!({ "command": "git push --force origin main" });
    let verdict = agent.fire_event(Event::pre_tool_use("Bash", push)).await;
    if verdict.is_blocked() {
        println!("blocked: {}", verdict.reason.unwrap_or_default());
    }
    agent.fire_event(Event::new(EventName::Stop)).await;
    agent.fire_event(Event::new(EventName::SessionEnd)).await;
    agent.engine.wait_for_background().await;
    agent.recorder.close();
}

struct RecordingAgent {
    engine: Engine,
    project: PathBuf,
    recorder: EventRecorder,
}

impl RecordingAgent {
    /// Fires an event, and records it with the decision.
    async fn fire_event(&mut self, event: Event) -> Verdict {
        // All events of a session have the same id.
        let event = event.in_session("session-1");
        let (at, started) = (Timestamp::now(), Instant::now());
        let verdict = self.engine.fire(event.clone()).await;
        let mut record = EventRecord::new(&event, at);
        record.sender = EventSender {
            product: Some(NAME.into()),
            process: Some(ProcessIdentity::from_pid(std::process::id())),
            process_is_told: true,
            cwd: Some(self.project.clone()),
            ..EventSender::default()
        };
        record.judgement = Some(DecisionRecord::from_verdict(&verdict, started.elapsed()));
        // Other events may have been recorded while the hooks ran.
        record.delayed = !verdict.hooks.is_empty();
        self.recorder.record_events(vec![record]);
        // Continue after a failure: events that could not be stored wait beside the database.
        for remark in self.recorder.take_warnings() {
            println!("about what is recorded: {remark}");
        }
        verdict
    }
}
