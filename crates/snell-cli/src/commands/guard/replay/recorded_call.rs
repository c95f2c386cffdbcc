//! A recorded call.

use std::collections::HashMap;

use serde_json::Value;
use snell::Timestamp;
use snell_guard::GuardDecision;
use snell_store::{AgentFilter, GuardVerdictView, LogEntry, LogFilter, Result, Store};

/// A recorded call, and the guard's decision at the time.
#[derive(Debug)]
pub(super) struct RecordedCall {
    pub(super) entry: LogEntry,
    /// The project of its agent.
    pub(super) project: String,
    /// The directory of the call.
    pub(super) cwd: String,
    /// The recorded verdict; `None` if the guard allowed the call or did not run.
    pub(super) verdict: Option<GuardVerdictView>,
}

impl RecordedCall {
    /// One page of calls.
    pub(super) fn load_page(
        store: &mut Store,
        filter: &LogFilter,
        projects: &mut AgentProjectCache,
    ) -> Result<Vec<Self>> {
        let entries = store.query_log(filter)?;
        let rows: Vec<_> = entries.iter().map(|entry| entry.id).collect();
        let mut verdicts: HashMap<i64, GuardVerdictView> = HashMap::new();
        for (row, verdict) in store.list_guard_verdicts(&rows)? {
            // A call that a hook changed was judged again; the strictest decision applied.
            let is_worse =
                verdicts.get(&row).is_none_or(|before| recorded_decision(&verdict) > recorded_decision(before));
            if is_worse {
                verdicts.insert(row, verdict);
            }
        }
        let mut calls = Vec::with_capacity(entries.len());
        for entry in entries {
            let project = projects.get_or_load(entry.agent_id, store)?;
            let cwd = entry.payload.get("cwd").and_then(Value::as_str);
            let cwd = cwd.filter(|cwd| cwd.starts_with('/')).unwrap_or(&project);
            calls.push(Self { cwd: cwd.to_owned(), project, verdict: verdicts.remove(&entry.id), entry });
        }
        Ok(calls)
    }

    /// The recorded input of the tool.
    pub(super) fn input(&self) -> &Value {
        self.entry.payload.get("tool_input").unwrap_or(&Value::Null)
    }

    /// The decision at the time.
    pub(super) fn decision(&self) -> GuardDecision {
        self.verdict.as_ref().map_or(GuardDecision::Allow, recorded_decision)
    }
}

/// The guard's own decision: a recorded "deny" was an "ask" if the agent could not ask.
fn recorded_decision(verdict: &GuardVerdictView) -> GuardDecision {
    match (verdict.decision.as_str(), verdict.would.as_deref()) {
        ("ask", _) | ("deny", Some("ask")) => GuardDecision::Ask,
        ("deny", _) => GuardDecision::Deny,
        _ => GuardDecision::Allow,
    }
}

/// The projects of agents.
#[derive(Debug, Default)]
pub(super) struct AgentProjectCache(HashMap<i64, String>);

impl AgentProjectCache {
    fn get_or_load(&mut self, agent_id: i64, store: &mut Store) -> Result<String> {
        if let Some(known) = self.0.get(&agent_id) {
            return Ok(known.clone());
        }
        let filter =
            AgentFilter { agent_id: Some(agent_id), ended_after: Some(Timestamp::MIN), ..AgentFilter::default() };
        let found = store.list_agents(&filter)?.pop();
        // Agents that never reported a directory have no project.
        let known = found.map(|agent| agent.project_path).filter(|path| !path.is_empty());
        let project = known.unwrap_or_else(|| "/".to_owned());
        self.0.insert(agent_id, project.clone());
        Ok(project)
    }
}
