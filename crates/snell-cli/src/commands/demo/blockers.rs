//! Who blocked which call, as it was recorded.

use std::collections::HashMap;
use std::path::Path;

use snell_store::{EventRecorder, ExportLine, GuardVerdictView, HookRunView, Store};

use super::cast::DemoAgent;

/// What can block a call.
pub(super) const BLOCKERS: [&str; 3] = [GUARD, HOOKS, MESSAGES];
const GUARD: &str = "the guard";
const HOOKS: &str = "hooks";
const MESSAGES: &str = "the rules about messages";

/// What blocked each call, by the id of the call.
pub(super) type BlockersByCall = HashMap<String, &'static str>;

/// Reads what was recorded in this directory.
pub(super) fn load_blockers(data: &Path) -> anyhow::Result<BlockersByCall> {
    let mut store = Store::open_read_only(&EventRecorder::database_path(data))?;
    let mut blocks = BlockersByCall::new();
    for who in DemoAgent::ALL {
        for session in store.find_sessions(who.profile().name)? {
            store.export_session(&session, &mut |line| {
                insert_blocker(line, &mut blocks);
                true
            })?;
        }
    }
    Ok(blocks)
}

fn insert_blocker(line: ExportLine, blocks: &mut BlockersByCall) {
    let ExportLine::Event { event, hook_runs, guard_verdicts } = line else {
        return;
    };
    let call = event.payload["tool_use_id"].as_str();
    if let (Some("block"), Some(call)) = (event.decision.as_deref(), call) {
        blocks.insert(call.to_owned(), find_blocker(&hook_runs, &guard_verdicts));
    }
}

/// What blocked an event. The guard decides before the hooks do; a block by neither of them comes from the rules.
fn find_blocker(runs: &[HookRunView], verdicts: &[GuardVerdictView]) -> &'static str {
    if verdicts.iter().any(|verdict| verdict.decision == "deny") {
        GUARD
    } else if runs.iter().any(|run| run.status == "blocked") {
        HOOKS
    } else {
        MESSAGES
    }
}
