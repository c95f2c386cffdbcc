//! Runs the hooks of `snell.toml` files on an event that follows from a change of state.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Map, Value, json};
use snell::{AgentProduct, Engine, Event, EventName, NoticeKind, Timestamp};
use snell_store::{DecisionRecord, DispatchView, EventRecord, EventSender};
use tokio::signal::unix::{SignalKind, signal};

use super::plan::WantedSince;
use crate::commands::is_hook_for_event;
use crate::env::caller::CallerEnv;

/// Variables of the session of an agent. The daemon has those of the hook that started it, whichever agent that was.
const SESSION_VARIABLES: &[&str] = &["TMUX", "TMUX_PANE", "SNELL_DEPTH"];
const SESSION_VARIABLE_PREFIXES: &[&str] =
    &["CLAUDE", "CODEX_", "GEMINI_SESSION", "GROK_SESSION", "QWEN_", "COPILOT_CLI"];

/// The event that follows from a change; none for a blocked call and a request, whose own events have hooks.
fn name_event(kind: NoticeKind) -> Option<EventName> {
    match kind {
        NoticeKind::NeedsUser => Some(EventName::NeedsUser),
        NoticeKind::Idle => Some(EventName::AgentIdle),
        NoticeKind::Ended => Some(EventName::AgentEnded),
        NoticeKind::Blocked | NoticeKind::Request => None,
    }
}

/// The event that follows from a change.
pub(super) fn build_event(change: &DispatchView) -> Option<Event> {
    let name = name_event(change.kind)?;
    let state = match change.kind {
        NoticeKind::NeedsUser | NoticeKind::Request => "awaiting_input",
        NoticeKind::Idle => "idle",
        NoticeKind::Ended | NoticeKind::Blocked => "ended",
    };
    let mut fields = Map::new();
    let mut put = |key: &str, value: Value| {
        if !value.is_null() {
            fields.insert(key.to_owned(), value);
        }
    };
    put("event_id", json!(change.uid));
    put("session_id", json!(change.session_id));
    put("cwd", json!(change.project_path));
    put("project_dir", json!(change.project_path));
    put("platform", json!(change.product));
    put("agent_number", json!(change.agent_id));
    put("state", json!(state));
    put("since", json!(change.at));
    put("reason", json!(change.text));
    match change.kind {
        NoticeKind::NeedsUser => put("question", json!(change.text)),
        NoticeKind::Idle => put("last_message", json!(change.last_words)),
        NoticeKind::Ended => put("end_reason", json!(change.end_reason)),
        NoticeKind::Blocked | NoticeKind::Request => {}
    }
    let payload = Value::Object(fields).to_string();
    Event::from_json(Some(name.as_str()), payload.as_bytes()).ok().map(|(event, _)| event)
}

/// An event, the engine for it, and since when a file has a hook for it.
pub(super) struct HookReaction {
    pub(super) engine: Engine,
    pub(super) event: Event,
    pub(super) since: WantedSince,
}

/// The reaction to a change, if any hook reacts to it. The files are read each time: they, and the trust in them, may have
/// changed.
pub(super) fn find_reaction(change: &DispatchView) -> Option<HookReaction> {
    let event = build_event(change)?;
    let product = AgentProduct::for_recorded_name(change.product.as_deref());
    let builder = CallerEnv::engine_builder(PathBuf::from(&change.project_path)).ok()?;
    let (engine, _) = builder.env(read_environment()).guest(product).load();
    let hooks = engine.hooks();
    let reacting = hooks.iter().filter(|hook| is_hook_for_event(hook, &event));
    let since = reacting.map(|hook| read_wanted_since(&hook.origin.path)).min()?;
    Some(HookReaction { engine, event, since })
}

/// Since when this file is as it is.
pub(super) fn read_wanted_since(path: &Path) -> WantedSince {
    let written = std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    WantedSince::from_last_write(written.and_then(|time| Timestamp::try_from(time).ok()), Timestamp::now())
}

/// The environment of hooks, without variables of an agent's session.
fn read_environment() -> Vec<(OsString, OsString)> {
    let is_of_session = |name: &OsString| {
        let name = name.to_string_lossy();
        SESSION_VARIABLES.contains(&&*name) || SESSION_VARIABLE_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    };
    std::env::vars_os().filter(|(name, _)| !is_of_session(name)).collect()
}

/// Runs the hooks, and returns the record of the event.
pub(super) fn fire_event(engine: &Engine, event: &Event, now: Timestamp) -> Result<EventRecord, String> {
    let started = Instant::now();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    let verdict = runtime.block_on(async {
        // If the parent ignores SIGCHLD, this process does too, and the exit status of every hook is lost.
        let _children = signal(SignalKind::child());
        engine.fire(event.clone()).await
    });
    let mut record = EventRecord::new(event, now);
    record.sender = EventSender { product: event.platform.clone(), ..EventSender::default() };
    record.judgement = Some(DecisionRecord::from_verdict(&verdict, started.elapsed()));
    Ok(record)
}
