//! Who kept agents from doing something, as it was recorded.

use std::collections::HashMap;
use std::path::Path;

use snell_store::{EventRecorder, ExportLine, GuardVerdictView, HookRunView, Store};

use super::cast::DemoAgent;

/// Who can do that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DemoBlocker {
    Guard,
    Hooks,
    /// What is said in the settings about who may send messages.
    Messages,
}

impl DemoBlocker {
    pub(super) const ALL: &[Self] = &[Self::Guard, Self::Hooks, Self::Messages];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Guard => "the guard",
            Self::Hooks => "hooks",
            Self::Messages => "the rules about messages",
        }
    }

    /// Who blocked an event. The guard speaks before the hooks do, and what neither of them said was said by the rules.
    fn from_runs_and_verdicts(runs: &[HookRunView], verdicts: &[GuardVerdictView]) -> Self {
        if verdicts.iter().any(|verdict| verdict.decision == "deny") {
            Self::Guard
        } else if runs.iter().any(|run| run.status == "blocked") {
            Self::Hooks
        } else {
            Self::Messages
        }
    }
}

/// Who blocked each call, by the id of the call.
pub(super) type BlockersByCall = HashMap<String, DemoBlocker>;

/// Looks into what was recorded in this directory.
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
        blocks.insert(call.to_owned(), DemoBlocker::from_runs_and_verdicts(&hook_runs, &guard_verdicts));
    }
}
