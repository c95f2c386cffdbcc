//! A recorded call that the guard asked about.

use serde_json::Value;
use snell::{EventName, Timestamp};
use snell_store::{AgentFilter, LogEntry, LogFilter, Redactions, Result, Store};

use crate::output::CommandError;
use crate::record::open_store::StoreHandle;

/// The decision of calls that were asked about, as the log keeps it.
const ASK: &str = "ask";
/// How many of them are examined.
const MAX_ASKED: u32 = 100;
/// How many later events of a session and of one name are searched for the end of a call.
const MAX_LATER: u32 = 500;
/// The ends of a call that ran. A command that failed ran too, so the user had agreed.
const END_EVENTS: [EventName; 2] = [EventName::PostToolUse, EventName::PostToolUseFailure];

/// A call that the guard asked about.
#[derive(Debug)]
pub(super) struct AskedCall {
    pub(super) at: Timestamp,
    pub(super) tool: String,
    pub(super) input: Value,
    pub(super) project: String,
    pub(super) cwd: String,
    pub(super) agent: Option<String>,
}

impl AskedCall {
    /// The call of this event, or the last one that ran, of this session or of any.
    pub(super) fn find(
        session: Option<&str>,
        event: Option<i64>,
        store_handle: &mut StoreHandle,
    ) -> anyhow::Result<Self> {
        if store_handle.has_no_records() {
            return Err(CommandError::new("nothing has been recorded yet").into());
        }
        let found = match event {
            Some(id) => Some(find_event(id, store_handle)?),
            None => store_handle.query(|store| find_last(store, session))?,
        };
        let Some(entry) = found else {
            let error = CommandError::new("the guard has asked about no recorded call that then ran");
            return Err(error.with_hint("run `snell log --verdict ask` for calls that the guard asked about").into());
        };
        let input = entry.payload.get("tool_input").cloned().unwrap_or_default();
        let losses = Redactions::from_value(&input);
        if losses.masked || losses.shortened {
            let what = if losses.masked { "has a secret, which is masked" } else { "is too long and was shortened" };
            let error = CommandError::new(format!("the recorded call {what}, so its entry is unknown"));
            return Err(error.with_hint("write the entry by hand").into());
        }
        let agent_id = entry.agent_id;
        let agent = store_handle.query(|store| {
            let filter =
                AgentFilter { agent_id: Some(agent_id), ended_after: Some(Timestamp::MIN), ..AgentFilter::default() };
            Ok(store.list_agents(&filter)?.pop())
        })?;
        let project = agent.as_ref().map(|agent| agent.project_path.clone()).filter(|path| !path.is_empty());
        let project = project.unwrap_or_else(|| "/".to_owned());
        let cwd = entry.payload.get("cwd").and_then(Value::as_str).filter(|cwd| cwd.starts_with('/'));
        let platform = entry.payload.get("platform").and_then(Value::as_str).map(str::to_owned);
        Ok(Self {
            at: store_handle.now(),
            tool: entry.tool.clone().unwrap_or_default(),
            cwd: cwd.unwrap_or(&project).to_owned(),
            project,
            agent: platform.or_else(|| agent.and_then(|agent| agent.product)),
            input,
        })
    }

    /// Today, in UTC.
    pub(super) fn day(&self) -> String {
        self.at.strftime("%Y-%m-%d").to_string()
    }
}

/// The call with this id, if the guard asked about it.
fn find_event(id: i64, store_handle: &mut StoreHandle) -> anyhow::Result<LogEntry> {
    let filter = LogFilter { before_id: Some(id.saturating_add(1)), limit: 1, ..LogFilter::default() };
    let found = store_handle.query(|store| store.query_log(&filter))?.pop().filter(|entry| entry.id == id);
    let Some(entry) = found else {
        let error = CommandError::new(format!("no event {id} is recorded"));
        return Err(error.with_hint("run `snell log --verdict ask --json` for ids").into());
    };
    if entry.event != EventName::PreToolUse.as_str() || entry.decision.as_deref() != Some(ASK) {
        let error = CommandError::new(format!("event {id} is not a call that the guard asked about"));
        return Err(error.with_hint("run `snell log --verdict ask --json` for ids").into());
    }
    Ok(entry)
}

/// The last call that was asked about and then ran.
fn find_last(store: &mut Store, session: Option<&str>) -> Result<Option<LogEntry>> {
    let filter = LogFilter {
        session: session.map(str::to_owned),
        event: Some(EventName::PreToolUse.as_str().to_owned()),
        decision: Some(ASK.to_owned()),
        limit: MAX_ASKED,
        ..LogFilter::default()
    };
    for asked in store.query_log(&filter)? {
        for event in &END_EVENTS {
            let later = LogFilter {
                agent_id: Some(asked.agent_id),
                session: asked.session_id.clone(),
                event: Some(event.as_str().to_owned()),
                after_id: Some(asked.id),
                limit: MAX_LATER,
                ..LogFilter::default()
            };
            if store.query_log(&later)?.iter().any(|later| is_end_of_call(&asked, later)) {
                return Ok(Some(asked));
            }
        }
    }
    Ok(None)
}

/// Whether an event is the end of a call: by the id of the call, or else by the tool and its input.
fn is_end_of_call(asked: &LogEntry, later: &LogEntry) -> bool {
    let field = |entry: &LogEntry, key: &str| entry.payload.get(key).cloned();
    match (field(asked, "tool_use_id"), field(later, "tool_use_id")) {
        (Some(begun), Some(ended)) => begun == ended,
        _ => asked.tool == later.tool && field(asked, "tool_input") == field(later, "tool_input"),
    }
}
