//! Who kept agents from doing something, as it was recorded.

use std::collections::HashMap;
use std::path::Path;

use snell_store::{Exported, GuardVerdictView, HookRunView, Recorder, Store};

use super::cast::Who;

/// Who can do that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blocker {
    Guard,
    Hooks,
    /// What is said in the settings about who may send messages.
    Messages,
}

impl Blocker {
    pub(super) const ALL: &[Self] = &[Self::Guard, Self::Hooks, Self::Messages];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Guard => "the guard",
            Self::Hooks => "hooks",
            Self::Messages => "the rules about messages",
        }
    }

    /// Who blocked an event. The guard speaks before the hooks do, and what neither of them said was said by the rules.
    fn of(runs: &[HookRunView], verdicts: &[GuardVerdictView]) -> Self {
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
pub(super) type Blocks = HashMap<String, Blocker>;

/// Looks into what was recorded in this directory.
pub(super) fn look(data: &Path) -> anyhow::Result<Blocks> {
    let mut store = Store::open_to_look(&Recorder::database_in(data))?;
    let mut blocks = Blocks::new();
    for who in Who::ALL {
        for session in store.sessions(who.part().name)? {
            store.export(&session, &mut |line| {
                note(line, &mut blocks);
                true
            })?;
        }
    }
    Ok(blocks)
}

fn note(line: Exported, blocks: &mut Blocks) {
    let Exported::Event {
        event,
        hook_runs,
        guard_verdicts,
    } = line
    else {
        return;
    };
    let call = event.payload["tool_use_id"].as_str();
    if let (Some("block"), Some(call)) = (event.decision.as_deref(), call) {
        blocks.insert(call.to_owned(), Blocker::of(&hook_runs, &guard_verdicts));
    }
}
